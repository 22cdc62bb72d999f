"""The public data, as downloaded, to Parquet: streamed, so that tables larger than memory are fine.

Files, zipped or not, come as blocks of whole lines; each block becomes typed columns, at full speed when all is
well and value by value when something is off. Parquet keeps today's column names; ratings gain `helpfulNum`.
What was dropped is counted by reason.
"""

from __future__ import annotations

import os
import tempfile
import time
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

from crowdnotes.bridging.columns import RATINGS, TABLES, ColumnKind, TableSpec, unread_table
from crowdnotes.domain import FrozenModel
from crowdnotes.errors import InputError
from crowdnotes.text.table_files import most_unpacked, rounded_number

BLOCK_BYTES = 16_000_000  # some 80,000 ratings: big enough to parse at full speed, small enough to hold many
_MAX_LINE_BYTES = 64_000_000  # no row of the public data comes near; past it the file is not what it says
_DOWNLOAD_SUFFIXES = (".tsv", ".zip")
_PARQUET_SUFFIXES = (".parquet", ".pq")


def find_shards(spec: TableSpec, data: Path) -> list[Path]:
    """Return the files of a table under a folder, in order: `ratings-00000.tsv`, `ratings/*.tsv`, zipped or not.

    Of several downloads of one file the one with the newest rows; `passed_over` names the others. A path to a file is
    taken as it is. Empty when the folder has none.
    """
    return _choose_shards(spec, data)[0]


def passed_over(data: Path, specs: Sequence[TableSpec] = TABLES) -> list[str]:
    """Return a sentence on each file of a folder that looks like public data and is not read."""
    if not data.is_dir():
        return []
    sentences, taken = list[str](), set[Path]()
    for spec in specs:
        shards, of_table = _choose_shards(spec, data)
        sentences += of_table
        taken.update(shards)
        ready = data / f"{spec.name}.parquet"
        if ready.is_file() and ready_table(spec, data) is None:
            sentences.append(f"We read {shards[-1].name}: {ready.name} is older.")
    for path in sorted(data.iterdir()):
        if path.name.startswith(".") or path in taken or any(path.name in sentence for sentence in sentences):
            continue
        if what := unread_table(path.name):
            sentences.append(f"We did not read {path.name}: {what} are not used.")
        elif any(spec.is_packed_otherwise(path.name) for spec in TABLES):
            sentences.append(
                f"We did not read {path.name}: it is neither .tsv nor .zip. Finish its download, or unpack it."
            )
        elif path.name.lower().endswith(_DOWNLOAD_SUFFIXES) and not any(spec.place_of(path.name) for spec in TABLES):
            sentences.append(f"We did not read {path.name}: it has no table's name.")
    return sentences


def _choose_shards(spec: TableSpec, data: Path) -> tuple[list[Path], list[str]]:
    """Return the files to read, and a sentence on each that another of the same place in the table is newer than."""
    if data.is_file():
        return [data], []
    if not data.is_dir():
        raise InputError(f"There is no file or folder {data}.", "Check the path.")
    found = [path for path in data.iterdir() if spec.place_of(path.name)]
    for folder in (data / stem for stem in spec.stems):
        if folder.is_dir():
            found += [path for path in folder.iterdir() if path.name.lower().endswith(_DOWNLOAD_SUFFIXES)]
    by_place: dict[str, list[Path]] = {}
    for path in sorted(set(found)):
        if path.is_file() and not path.name.startswith("."):
            by_place.setdefault(spec.place_of(path.name) or path.name, []).append(path)
    chosen, sentences = [], []
    for paths in by_place.values():
        ages = {path: _find_age(spec, path) if len(paths) > 1 else (0, 0, "") for path in paths}
        chosen.append(newest := max(ages, key=ages.__getitem__))
        read, names = newest.relative_to(data), {path: path.relative_to(data).as_posix() for path in paths}
        why = {it: f"it cannot be read, {read} was" if age[0] < 0 else f"{read} is newer" for it, age in ages.items()}
        sentences += [f"We did not read {names[path]}: {why[path]}." for path in paths if path != newest]
    return sorted(chosen), sentences


def _find_age(spec: TableSpec, path: Path) -> tuple[int, int, str]:
    """Return how new a download is: its newest row, then when it came; lowest if it cannot be read."""
    found = path.stat()
    try:
        newest = _find_newest_time(path, spec.changed, found.st_mtime_ns)
    except InputError:
        newest = -1
    return newest, found.st_mtime_ns, path.name


@lru_cache(maxsize=64)
def _find_newest_time(path: Path, column: str, _mtime: int) -> int:
    """Return the newest time in a column, in milliseconds; 0 without one."""
    newest = 0
    for header, block in read_blocks(path):
        if column in header:
            times, _ = _decode_column(_read_csv_block(block, header, {column: pa.binary()}, Counter())[column])
            valid = pc.if_else(_mask_valid_values(times, ColumnKind.TIME), times, pa.scalar(None, pa.string()))
            newest = max(newest, pc.max(valid.cast(pa.int64())).as_py() or 0)
    return newest


def ready_table(spec: TableSpec, data: Path) -> Path | None:
    """Return the Parquet file made of the downloads in the same folder; None where there is none, or they are newer."""
    if data.suffix.lower() in _PARQUET_SUFFIXES:
        return data if data.is_file() else None
    ready = data / f"{spec.name}.parquet"
    if not ready.is_file():
        return None
    # When a download came here: some programs give it the time of X's server.
    came = (max(found.st_mtime_ns, found.st_ctime_ns) for found in (path.stat() for path in find_shards(spec, data)))
    return ready if max(came, default=0) <= ready.stat().st_mtime_ns else None


def read_header(path: Path) -> list[str]:
    """Return the column names of a file (of the first member of a zip)."""
    with open_members(path) as members:
        for member in members:
            return header_of(member, path)
    raise InputError(f"{path.name} is empty.", "Download it again.")


def read_blocks(path: Path) -> Iterator[tuple[list[str], bytes]]:
    """Yield the column names and the next whole lines, block after block; a zip's members one after the other.

    Raises InputError when the file is cut short, damaged, or not text in columns.
    """
    with open_members(path) as members:
        for member in members:
            columns = header_of(member, path)
            for block in whole_lines(member, path):
                yield columns, block if block.endswith(b"\n") else block + b"\n"


@contextmanager
def open_members(path: Path) -> Iterator[Iterator[IO[bytes]]]:
    """Open the file, or a zip's members, to read them one after the other. Raises InputError when it is damaged."""
    try:
        if path.name.lower().endswith(".zip"):
            with zipfile.ZipFile(path) as archive:
                # A Mac adds a file of its own to each.
                names = [
                    info
                    for info in archive.infolist()
                    if info.filename.lower().endswith(".tsv")
                    and not info.filename.startswith("__MACOSX/")
                    and not info.filename.rpartition("/")[2].startswith(".")
                ]
                if not names:
                    raise InputError(f"{path.name} holds no .tsv file.", "Download it again.")
                allowed = most_unpacked(path.stat().st_size)
                if sum(info.file_size for info in names) > allowed:  # no more than it says is unpacked of a member
                    raise InputError(
                        f"{path.name} would unpack to more than {allowed / 1e6:,.0f} MB, which no real table does.",
                        "Download it again.",
                    )
                yield (archive.open(info) for info in names)
        else:
            with path.open("rb") as stream:
                yield iter((stream,))
    except (zipfile.BadZipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path.name} is cut short or damaged ({error}).", "Download it again.") from error
    except (RuntimeError, NotImplementedError) as error:  # of zipfile: a password, an odd packing
        raise InputError(
            f"{path.name} cannot be unpacked ({error}).", "Unpack it yourself, and give the TSV."
        ) from error
    except OSError as error:
        raise InputError(f"{path.name} cannot be read: {error.strerror or error}.", "Check the file.") from error


def header_of(stream: IO[bytes], path: Path) -> list[str]:
    """Return the column names, read from the first line. Raises InputError when it has none."""
    line = stream.readline(1_000_000)
    try:
        columns = line.decode("utf-8-sig").rstrip("\r\n").split("\t")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path.name} is not text in UTF-8.", "Give the TSV file as downloaded, zipped or not."
        ) from error
    if not line.strip():
        raise InputError(f"{path.name} is empty.", "Download it again.")
    if len(set(columns)) < len(columns):
        raise InputError(f"{path.name} names a column twice.", "Download it again.")
    return columns


def whole_lines(stream: IO[bytes], path: Path) -> Iterator[bytes]:
    """Yield the rest of a file in blocks of whole lines; only the last may lack its line break."""
    rest = b""
    while chunk := stream.read(BLOCK_BYTES):
        cut = chunk.rfind(b"\n") + 1
        if not cut:
            rest += chunk
            if len(rest) > _MAX_LINE_BYTES:
                raise InputError(f"{path.name} has a line without end.", "It is no TSV file of the public data.")
            continue
        yield rest + chunk[:cut]
        rest = chunk[cut:]
    if rest.strip():
        yield rest


TYPES = {
    ColumnKind.ID: pa.int64(),
    ColumnKind.TIME: pa.int64(),
    ColumnKind.FLAG: pa.bool_(),
    ColumnKind.NUMBER: pa.float64(),
    ColumnKind.NAME: pa.dictionary(pa.int32(), pa.string()),
    ColumnKind.TEXT: pa.string(),
}
_VALUE_BY_LEVEL = {"HELPFUL": 1.0, "SOMEWHAT_HELPFUL": 0.5, "NOT_HELPFUL": 0.0}
_WHOLE_NUMBER = r"^-?[0-9]{1,18}$|^-?[1-8][0-9]{18}$|^-?9[01][0-9]{17}$|^-?92[01][0-9]{16}$|^-?922[0-2][0-9]{15}$"
_LEAST_ROUNDED_ID = 10**17
_ROUNDED_TO = 1_000  # spreadsheets keep 15 digits
_LEAST_IDS = 3  # by chance as many end so once in a thousand million files
_EMPTY_VALUES = ["", "NA", "NaN", "nan", "null", "None"]


def plan(spec: TableSpec, header: list[str]) -> dict[str, ColumnKind]:
    """Return the known columns of a file, under today's names. Raises InputError when a needed one is missing."""
    present = {spec.canonical(name) for name in header}
    missing = [name for name in spec.required if name not in present]
    if spec is RATINGS and not present & {"helpfulnessLevel", "helpful"}:
        missing.append("helpfulnessLevel")
    if missing:
        raise InputError(
            f"The {spec.name} lack the column {', '.join(missing)}.",
            f"They have: {', '.join(header[:8])}… Give a file of the public data, as downloaded.",
        )
    return {name: kind for name, kind in spec.columns.items() if name in present}


def parse(spec: TableSpec, header: list[str], block: bytes, dropped: Counter[str]) -> pa.Table:
    """Return the usable rows of a block, as typed columns under today's names; `dropped` counts the rest by reason."""
    names = [spec.canonical(name) for name in header]
    wanted = plan(spec, header)
    try:
        table = _read_csv_block(block, names, {name: TYPES[kind] for name, kind in wanted.items()}, dropped)
    except pa.ArrowInvalid:
        table = _read_by_value(block, names, wanted, spec, dropped)
    for name in spec.required:
        table = _filter_rows(table, table[name].is_valid(), f"no {name}", dropped)
    _refuse_short_ids(spec, table)
    return _add_helpful_num(table, dropped) if spec is RATINGS else table


def _read_csv_block(block: bytes, names: list[str], types: dict[str, pa.DataType], dropped: Counter[str]) -> pa.Table:
    wrong_width = 0

    def skip(_: csv.InvalidRow) -> str:
        nonlocal wrong_width
        wrong_width += 1
        return "skip"

    table = csv.read_csv(
        pa.BufferReader(block),
        read_options=csv.ReadOptions(column_names=names, use_threads=True),
        parse_options=csv.ParseOptions(delimiter="\t", quote_char=False, invalid_row_handler=skip),
        convert_options=csv.ConvertOptions(
            include_columns=list(types),
            column_types=types,
            null_values=_EMPTY_VALUES,
            strings_can_be_null=True,
            true_values=["1"],
            false_values=["0"],
        ),
    )
    if wrong_width:
        dropped["rows cut short or with the wrong number of columns"] += wrong_width
    return table


def _read_by_value(
    block: bytes, names: list[str], wanted: dict[str, ColumnKind], spec: TableSpec, dropped: Counter[str]
) -> pa.Table:
    """Convert a block value by value, for one in which some value is not what its column should hold.

    In a needed column such a value drops the row; in another it becomes "not known", and is counted.
    """
    try:
        table = _read_csv_block(block, names, dict.fromkeys(wanted, pa.binary()), dropped)
    except pa.ArrowInvalid as error:
        raise InputError(f"The {spec.name} cannot be split into columns ({error}).", "Download them again.") from error
    for place, (name, kind) in enumerate(wanted.items()):
        raw, lost = _decode_column(table[name])
        if lost:
            dropped[f"(letters lost, row kept) {name} is not in UTF-8"] += lost
        valid = _mask_valid_values(raw, kind)
        if kind in {ColumnKind.ID, ColumnKind.TIME}:
            _refuse_rounded(spec, name, raw.filter(pc.invert(valid)))
        wrong = pc.and_(raw.is_valid(), pc.invert(valid))
        bad = pc.sum(wrong).as_py() or 0
        column = _convert_column(pc.if_else(valid, raw, pa.scalar(None, pa.string())), kind)
        table = table.set_column(place, name, column)
        if bad and name in spec.required:
            keep = pc.invert(wrong)
            table = table.filter(keep)
            dropped[f"{name} is not a {kind}"] += bad
        elif bad:
            dropped[f"(value left out, row kept) {name} is not a {kind}"] += bad
    return table


def _refuse_short_ids(spec: TableSpec, table: pa.Table) -> None:
    """Raise InputError where all ids end in zeros, as a spreadsheet or a fraction leaves them."""
    ids = table["noteId"].to_numpy() if "noteId" in table.column_names else np.empty(0, dtype=np.int64)
    long = np.unique(ids[ids >= _LEAST_ROUNDED_ID])
    if len(long) >= _LEAST_IDS and not (long % _ROUNDED_TO).any():
        raise InputError(
            f"A program rounded the ids of the {spec.name}: all end in zeros, as in {long[0]}.",
            "Download the file again, and do not save it in a spreadsheet.",
        )


def _refuse_rounded(spec: TableSpec, name: str, wrong: pa.ChunkedArray) -> None:
    """Raise InputError where a spreadsheet saved the file: its other ids are not right either."""
    for value in wrong.to_pylist():
        if value and (rounded := rounded_number(value)):
            raise InputError(
                f"A spreadsheet rounded numbers of the {spec.name}: {name} is {rounded}.",
                "Download the file again, and do not save it in a spreadsheet.",
            )


def _decode_column(column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, int]:
    """Bytes to text, and how many values are not UTF-8: these lose their stray bytes rather than the row."""
    try:
        return column.cast(pa.string()), 0
    except pa.ArrowInvalid:
        values = [None if value is None else value.decode("utf-8", "replace") for value in column.to_pylist()]
        lost = sum(
            value is not None and value.encode() != raw for value, raw in zip(values, column.to_pylist(), strict=True)
        )
        return pa.chunked_array([pa.array(values, pa.string())]), lost


def _mask_valid_values(raw: pa.ChunkedArray, kind: ColumnKind) -> pa.ChunkedArray:
    if kind in {ColumnKind.ID, ColumnKind.TIME}:
        good = pc.match_substring_regex(raw, _WHOLE_NUMBER)
    elif kind is ColumnKind.FLAG:
        good = pc.is_in(raw, pa.array(["0", "1"]))
    elif kind is ColumnKind.NUMBER:
        good = pc.match_substring_regex(raw, r"^-?[0-9]+(\.[0-9]*)?$")
    else:
        good = raw.is_valid()
    return pc.fill_null(good, False)


def _convert_column(raw: pa.ChunkedArray, kind: ColumnKind) -> pa.ChunkedArray:
    if kind is ColumnKind.FLAG:
        return pc.equal(raw, "1")
    if kind is ColumnKind.NAME:
        return raw.combine_chunks().dictionary_encode()
    return raw.cast(TYPES[kind])


def _add_helpful_num(table: pa.Table, dropped: Counter[str]) -> pa.Table:
    """Add helpfulNum: 1 HELPFUL, 0.5 SOMEWHAT_HELPFUL, 0 NOT_HELPFUL; from the flags where there is no level."""
    empty = pa.nulls(table.num_rows, pa.float32())
    number: pa.Array | pa.ChunkedArray = empty
    if "helpful" in table.column_names:
        number = pc.if_else(pc.fill_null(table["helpful"], False), pa.scalar(1.0, pa.float32()), number)
    if "notHelpful" in table.column_names:
        number = pc.if_else(pc.fill_null(table["notHelpful"], False), pa.scalar(0.0, pa.float32()), number)
    if "helpfulnessLevel" in table.column_names:
        level = table["helpfulnessLevel"].cast(pa.string())
        for word, value in _VALUE_BY_LEVEL.items():
            number = pc.if_else(pc.fill_null(pc.equal(level, word), False), pa.scalar(value, pa.float32()), number)
        unknown = pc.and_(level.is_valid(), pc.invert(pc.is_in(level, pa.array(list(_VALUE_BY_LEVEL)))))
        number = pc.if_else(pc.fill_null(unknown, False), pa.scalar(None, pa.float32()), number)
    return _filter_rows(
        table.append_column("helpfulNum", number), pc.is_valid(number), "neither helpful nor not helpful", dropped
    )


def _filter_rows(table: pa.Table, mask: pa.ChunkedArray, reason: str, dropped: Counter[str]) -> pa.Table:
    lost = table.num_rows - (pc.sum(mask).as_py() or 0)
    if not lost:
        return table
    dropped[reason] += lost
    return table.filter(mask)


def repeated(keys: Sequence[npt.NDArray[np.int32]]) -> npt.NDArray[np.bool_]:
    """Return which rows repeat an earlier one: keys, (m,) each, are one or two whole numbers a row, from 0 up."""
    first, *second = keys
    together = first.astype(np.int64)
    for other in second:
        together = together * (int(other.max(initial=0)) + 1) + other
    return pd.Series(together).duplicated().to_numpy()


def _find_repeated_rows(parquet: Path, key: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return which rows of a file repeat an earlier key; the key columns must fit into memory as numbers."""
    numbers = []
    for name in key:
        column = read_column(parquet, name).dictionary_encode().unify_dictionaries()
        numbers.append(pa.chunked_array([part.indices for part in column.chunks], pa.int32()).to_numpy())
    return repeated(numbers)


Progress = Callable[[str, int], None]


class TableReport(FrozenModel):
    """The result of one table.

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
    schema = _build_schema(spec, present)
    dropped: Counter[str] = Counter()
    unfinished = parquet.with_suffix(".unfinished")
    try:
        parquet.parent.mkdir(parents=True, exist_ok=True)
        rows = _write_parquet(spec, shards, schema, unfinished, dropped, progress)
        again = _find_repeated_rows(unfinished, spec.key)
        if again.any():
            dropped["repeated " + " and ".join(spec.key)] += int(again.sum())
            _drop_rows(unfinished, again)
        os.replace(unfinished, parquet)
    except OSError as error:  # errors of the shards are raised by their reader
        raise InputError(
            f"The folder {parquet.parent} cannot be written: {error.strerror or error}.",
            "Choose another folder.",
        ) from error
    finally:
        with suppress(OSError):
            unfinished.unlink()
    return TableReport(
        table=spec.name,
        files=tuple(shard.name for shard in shards),
        rows=rows - int(again.sum()),
        dropped=dict(dropped),
        missing_columns=tuple(name for name in spec.columns if name not in present),
        unknown_columns=tuple(
            dict.fromkeys(name for header in headers for name in header if spec.canonical(name) not in spec.columns)
        ),
        parquet=str(parquet),
        seconds=time.perf_counter() - began,
    )


def _write_parquet(
    spec: TableSpec,
    shards: list[Path],
    schema: pa.Schema,
    target: Path,
    dropped: Counter[str],
    progress: Progress | None,
) -> int:
    rows = 0
    with pq.ParquetWriter(target, schema, compression="zstd", compression_level=1) as writer:
        for shard in shards:
            for header, block in read_blocks(shard):
                table = parse(spec, header, block, dropped)
                writer.write_table(_fit_to_schema(table, schema))
                rows += table.num_rows
                if progress:
                    progress(spec.name, rows)
    return rows


def _build_schema(spec: TableSpec, present: set[str]) -> pa.Schema:
    fields = [pa.field(name, TYPES[kind]) for name, kind in spec.columns.items() if name in present]
    if spec is RATINGS:
        fields.append(pa.field("helpfulNum", pa.float32()))
    return pa.schema(fields)


def _fit_to_schema(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Bring all shards into one shape; a column that this shard lacks is empty."""
    columns = [
        table[field.name] if field.name in table.column_names else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


def _drop_rows(parquet: Path, rows: npt.NDArray[np.bool_]) -> None:
    """Write the file again without those rows (m,)."""
    shorter = parquet.with_suffix(".shorter")
    first = 0
    with (
        pq.ParquetFile(parquet) as source,
        pq.ParquetWriter(shorter, source.schema_arrow, compression="zstd") as writer,
    ):
        for group in range(source.num_row_groups):
            table = source.read_row_group(group)
            writer.write_table(table.filter(pa.array(~rows[first : first + table.num_rows])))
            first += table.num_rows
    os.replace(shorter, parquet)


@dataclass(frozen=True)
class FoundTable:
    """Where the Parquet file lies, and what reading the download dropped, by reason; nothing of a file of our own."""

    parquet: Path
    dropped: dict[str, int]


@contextmanager
def found_table(spec: TableSpec, data: Path) -> Iterator[FoundTable | None]:
    """Find the table at a path: a file, or the folder that holds it, our Parquet before TSV, zipped or not.

    None when the folder has none. Raises InputError when there is no such path, or the download cannot be read.
    """
    ready = ready_table(spec, data)
    if ready is not None:
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
    """Return the columns of a Parquet file. Raises InputError when it is none, or is cut short."""
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
