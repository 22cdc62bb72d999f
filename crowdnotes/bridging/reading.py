"""The public data, as downloaded, to Parquet: streamed, so that tables larger than memory are fine.

Parquet keeps today's column names; ratings gain `helpfulNum`. What was dropped is told by reason.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from crowdnotes.bridging.columns import RATINGS, TABLES, TableSpec
from crowdnotes.bridging.parsing import TYPES, parse, plan
from crowdnotes.bridging.repeats import RepeatFinder
from crowdnotes.bridging.shards import find_shards, read_blocks, read_header
from crowdnotes.domain import Noun
from crowdnotes.errors import InputError

Progress = Callable[[str, int], None]


class TableReport(Noun):
    """What came of one table.

    dropped: rows left out, by reason (values that were left out while the row stayed say so).
    missing_columns: of today's schema; unknown_columns: of the file, not kept.
    """

    table: str
    files: tuple[str, ...]
    rows: int
    dropped: dict[str, int]
    missing_columns: tuple[str, ...]
    unknown_columns: tuple[str, ...]
    parquet: str
    seconds: float


def read_public_data(data: Path, out: Path, progress: Progress | None = None) -> tuple[TableReport, ...]:
    """Read every table found under `data` into `out`, one Parquet file each.

    Raises InputError when there is no table at all, one cannot be read, or `out` cannot be written.
    """
    if data.is_file():
        raise InputError(f"{data} is a file.", "Give the folder that holds it.")
    found = {spec.name: find_shards(spec, data) for spec in TABLES}
    if not any(found.values()):
        raise InputError(
            f"{data} holds no public data.", "It should have files such as notes-00000.tsv and ratings-00000.zip."
        )
    return tuple(
        read_table(spec, found[spec.name], out / f"{spec.name}.parquet", progress)
        for spec in TABLES
        if found[spec.name]
    )


def read_table(spec: TableSpec, shards: list[Path], parquet: Path, progress: Progress | None = None) -> TableReport:
    """Read the shards of one table into one Parquet file, repeated rows left out (the first stays)."""
    began = time.perf_counter()
    headers = [read_header(shard) for shard in shards]
    present = {name for header in headers for name in plan(spec, header)}
    schema = _schema(spec, present)
    dropped: Counter[str] = Counter()
    unfinished = parquet.with_suffix(".unfinished")
    try:
        parquet.parent.mkdir(parents=True, exist_ok=True)
        with RepeatFinder(parquet.parent) as keys:
            rows = _write(spec, shards, schema, unfinished, keys, dropped, progress)
            repeated = keys.repeated_rows()
        if len(repeated):
            dropped["repeated " + " and ".join(spec.key)] += len(repeated)
            _leave_out(unfinished, repeated)
        os.replace(unfinished, parquet)
    except OSError as error:  # what goes wrong with the shards is told by their reader
        raise InputError(
            f"The folder {parquet.parent} cannot be written: {error.strerror or error}.", "Choose another folder."
        ) from error
    finally:
        with suppress(OSError):
            unfinished.unlink()
    return TableReport(
        table=spec.name,
        files=tuple(shard.name for shard in shards),
        rows=rows - len(repeated),
        dropped=dict(dropped),
        missing_columns=tuple(name for name in spec.columns if name not in present),
        unknown_columns=tuple(
            dict.fromkeys(name for header in headers for name in header if spec.canonical(name) not in spec.columns)
        ),
        parquet=str(parquet),
        seconds=time.perf_counter() - began,
    )


def _write(
    spec: TableSpec,
    shards: list[Path],
    schema: pa.Schema,
    target: Path,
    keys: RepeatFinder,
    dropped: Counter[str],
    progress: Progress | None,
) -> int:
    rows = 0
    with pq.ParquetWriter(target, schema, compression="zstd", compression_level=1) as writer:
        for shard in shards:
            for header, block in read_blocks(shard):
                table = parse(spec, header, block, dropped)
                writer.write_table(_shaped(table, schema))
                keys.add([table[name] for name in spec.key])
                rows += table.num_rows
                if progress:
                    progress(spec.name, rows)
    return rows


def _schema(spec: TableSpec, present: set[str]) -> pa.Schema:
    fields = [pa.field(name, TYPES[kind]) for name, kind in spec.columns.items() if name in present]
    if spec is RATINGS:
        fields.append(pa.field("helpfulNum", pa.float32()))
    return pa.schema(fields)


def _shaped(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """All shards in one shape; a column that this shard lacks is empty."""
    columns = [
        table[field.name] if field.name in table.column_names else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


def _leave_out(parquet: Path, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
    """Write the file again without those rows."""
    shorter = parquet.with_suffix(".shorter")
    first = 0
    with (
        pq.ParquetFile(parquet) as source,
        pq.ParquetWriter(shorter, source.schema_arrow, compression="zstd") as writer,
    ):
        for group in range(source.num_row_groups):
            table = source.read_row_group(group)
            keep = np.ones(table.num_rows, dtype=bool)
            inside = rows[(rows >= first) & (rows < first + table.num_rows)]
            keep[inside - first] = False
            writer.write_table(table.filter(pa.array(keep)))
            first += table.num_rows
    os.replace(shorter, parquet)
