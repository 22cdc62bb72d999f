"""A block of lines to typed columns: at full speed when all is well, value by value when something is off."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from crowdnotes.bridging.columns import RATINGS, Kind, TableSpec
from crowdnotes.bridging.shards import Block
from crowdnotes.errors import InputError

TYPES = {
    Kind.ID: pa.int64(),
    Kind.TIME: pa.int64(),
    Kind.FLAG: pa.bool_(),
    Kind.NUMBER: pa.float64(),
    Kind.NAME: pa.dictionary(pa.int32(), pa.string()),
    Kind.TEXT: pa.string(),
}
_LEVELS = {"HELPFUL": 1.0, "SOMEWHAT_HELPFUL": 0.5, "NOT_HELPFUL": 0.0}
_WHOLE_NUMBER = r"^-?[0-9]{1,18}$|^-?[1-8][0-9]{18}$|^-?9[01][0-9]{17}$|^-?92[01][0-9]{16}$|^-?922[0-2][0-9]{15}$"
_EMPTY = ["", "NA", "NaN", "nan", "null", "None"]


def plan(spec: TableSpec, header: list[str]) -> dict[str, Kind]:
    """The known columns of a file, under today's names. Raises InputError when a needed one is missing."""
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


def parse(spec: TableSpec, header: list[str], block: Block, dropped: Counter[str]) -> pa.Table:
    """The usable rows of a block, as typed columns under today's names; `dropped` counts the rest by reason."""
    names = [spec.canonical(name) for name in header]
    wanted = plan(spec, header)
    try:
        table = _read(block, names, {name: TYPES[kind] for name, kind in wanted.items()}, dropped)
    except pa.ArrowInvalid:
        table = _read_by_value(block, names, wanted, spec, dropped)
    for name in spec.required:
        table = _keep(table, table[name].is_valid(), f"no {name}", dropped)
    return _with_helpful_num(table, dropped) if spec is RATINGS else table


def _read(block: Block, names: list[str], types: dict[str, pa.DataType], dropped: Counter[str]) -> pa.Table:
    wrong_width = 0

    def skip(_: csv.InvalidRow) -> str:
        nonlocal wrong_width
        wrong_width += 1
        return "skip"

    table = csv.read_csv(
        pa.BufferReader(block.lines),
        read_options=csv.ReadOptions(column_names=names, use_threads=True),
        parse_options=csv.ParseOptions(delimiter="\t", quote_char=False, invalid_row_handler=skip),
        convert_options=csv.ConvertOptions(
            include_columns=list(types),
            column_types=types,
            null_values=_EMPTY,
            strings_can_be_null=True,
            true_values=["1"],
            false_values=["0"],
        ),
    )
    if wrong_width:
        dropped["rows cut short or with the wrong number of columns"] += wrong_width
    return table


def _read_by_value(
    block: Block, names: list[str], wanted: dict[str, Kind], spec: TableSpec, dropped: Counter[str]
) -> pa.Table:
    """The slow way, for a block in which some value is not what its column should hold.

    In a needed column such a value drops the row; in another it becomes "not known", and is counted.
    """
    try:
        table = _read(block, names, dict.fromkeys(wanted, pa.binary()), dropped)
    except pa.ArrowInvalid as error:
        raise InputError(f"The {spec.name} cannot be split into columns ({error}).", "Download them again.") from error
    for place, (name, kind) in enumerate(wanted.items()):
        raw = _as_text(table[name])
        valid = _valid(raw, kind)
        wrong = pc.and_(raw.is_valid(), pc.invert(valid))
        bad = pc.sum(wrong).as_py() or 0
        column = _convert(pc.if_else(valid, raw, pa.scalar(None, pa.string())), kind)
        table = table.set_column(place, name, column)
        if bad and name in spec.required:
            keep = pc.invert(wrong)
            table = table.filter(keep)
            dropped[f"{name} is not a {kind}"] += bad
        elif bad:
            dropped[f"(value left out, row kept) {name} is not a {kind}"] += bad
    return table


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Bytes to text; what is not UTF-8 loses its stray bytes rather than the row."""
    try:
        return column.cast(pa.string())
    except pa.ArrowInvalid:
        values = [None if value is None else value.decode("utf-8", "replace") for value in column.to_pylist()]
        return pa.chunked_array([pa.array(values, pa.string())])


def _valid(raw: pa.ChunkedArray, kind: Kind) -> pa.ChunkedArray:
    if kind in {Kind.ID, Kind.TIME}:
        good = pc.match_substring_regex(raw, _WHOLE_NUMBER)
    elif kind is Kind.FLAG:
        good = pc.is_in(raw, pa.array(["0", "1"]))
    elif kind is Kind.NUMBER:
        good = pc.match_substring_regex(raw, r"^-?[0-9]+(\.[0-9]*)?$")
    else:
        good = raw.is_valid()
    return pc.fill_null(good, False)


def _convert(raw: pa.ChunkedArray, kind: Kind) -> pa.ChunkedArray:
    if kind is Kind.FLAG:
        return pc.equal(raw, "1")
    if kind is Kind.NAME:
        return raw.combine_chunks().dictionary_encode()
    return raw.cast(TYPES[kind])


def _with_helpful_num(table: pa.Table, dropped: Counter[str]) -> pa.Table:
    """Adds helpfulNum: 1 HELPFUL, 0.5 SOMEWHAT_HELPFUL, 0 NOT_HELPFUL; from the flags where there is no level."""
    empty = pa.nulls(table.num_rows, pa.float32())
    number: pa.Array | pa.ChunkedArray = empty
    if "helpful" in table.column_names:
        number = pc.if_else(pc.fill_null(table["helpful"], False), pa.scalar(1.0, pa.float32()), number)
    if "notHelpful" in table.column_names:
        number = pc.if_else(pc.fill_null(table["notHelpful"], False), pa.scalar(0.0, pa.float32()), number)
    if "helpfulnessLevel" in table.column_names:
        level = table["helpfulnessLevel"].cast(pa.string())
        for word, value in _LEVELS.items():
            number = pc.if_else(pc.fill_null(pc.equal(level, word), False), pa.scalar(value, pa.float32()), number)
        unknown = pc.and_(level.is_valid(), pc.invert(pc.is_in(level, pa.array(list(_LEVELS)))))
        number = pc.if_else(pc.fill_null(unknown, False), pa.scalar(None, pa.float32()), number)
    return _keep(
        table.append_column("helpfulNum", number), pc.is_valid(number), "neither helpful nor not helpful", dropped
    )


def _keep(table: pa.Table, mask: pa.ChunkedArray, reason: str, dropped: Counter[str]) -> pa.Table:
    lost = table.num_rows - (pc.sum(mask).as_py() or 0)
    if not lost:
        return table
    dropped[reason] += lost
    return table.filter(mask)
