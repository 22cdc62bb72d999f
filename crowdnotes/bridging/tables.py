"""One public table as Parquet, wherever it is: our own file of it, or the download, read for the moment."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from crowdnotes.bridging.columns import TableSpec
from crowdnotes.bridging.reading import read_table
from crowdnotes.bridging.shards import find_shards
from crowdnotes.errors import InputError

_PARQUET = (".parquet", ".pq")


@dataclass(frozen=True)
class FoundTable:
    """Where the Parquet file lies, and what reading the download dropped, by reason; nothing of a file of our own."""

    parquet: Path
    dropped: dict[str, int]


@contextmanager
def found_table(spec: TableSpec, data: Path) -> Iterator[FoundTable | None]:
    """The table at a path: a file of it, or the folder that holds it, Parquet of ours before TSV, zipped or not.

    None when the folder has none. Raises InputError when there is no such path, or the download cannot be read.
    """
    ready = data if data.suffix.lower() in _PARQUET else data / f"{spec.name}.parquet"
    if ready.is_file():
        yield FoundTable(ready, {})
        return
    shards = find_shards(spec, data)
    if not shards:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="crowdnotes-table-") as scratch:
        parquet = Path(scratch) / f"{spec.name}.parquet"
        report = read_table(spec, shards, parquet)
        yield FoundTable(parquet, report.dropped)


def column_names(parquet: Path) -> list[str]:
    """The columns of a Parquet file. Raises InputError when it is none, or is cut short."""
    try:
        names: list[str] = pq.read_schema(parquet).names
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"{parquet.name} is no Parquet file, or is cut short.", "Make or download it again."
        ) from error
    return names


def read_column(parquet: Path, name: str) -> pa.ChunkedArray:
    """One column, words as a dictionary: at 20 million ratings that is a gigabyte less than all at once.

    Raises InputError when the file is damaged.
    """
    try:
        return pq.read_table(parquet, columns=[name], read_dictionary=[name])[name]
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"The column {name} of {parquet.name} is damaged ({error}).", "Make or download it again."
        ) from error
