"""Files whose rows are posts: a table (.csv, .tsv), JSON or Parquet, row by row, so that memory stays bounded.

A row that cannot be used has a sentence that says why, and the rest is read on.
"""

from __future__ import annotations

import csv
import html
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from crowdnotes.errors import InputError
from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.pasted import post_number
from crowdnotes.text.table_files import Encoding, encoding_of, most_unpacked, open_text, rounded_number, table_reader

_ROWS_PER_CHUNK = 1_000  # rows in memory at most
_BYTES_PER_CHUNK = 32_000_000  # of them: a file of a few kB may hold a text of megabytes in each of a million rows
_MAX_ROW_CHARACTERS = 200_000  # characters of a row
_MAX_SAMPLED_ROWS = 100  # rows that show a file's columns
_MAX_SAMPLED_LENGTH = 2_000  # characters of a cell, or items of its list
_MAX_PREVIEW_ROWS = 5  # rows in a preview, of each kind
_CELL_BYTES = 8  # of a cell at least, so that a thousand million empty ones are counted too
_OFFSET_PATTERN = re.compile(r"[+-]\d\d:?\d\d")  # as pyarrow takes one in the place of a zone's name
_MAX_COLUMN_NAMES_CHARACTERS = 300  # characters of columns' names
_OUR_COLUMNS = ("id", "text", "links", "url")
# What others call the column of posts, the likeliest first; taken where the file has no “text”.
_POST_COLUMNS = ("post", "tweet", "post_text", "tweet_text", "posts", "tweets", "content", "body", "message", "caption")
# What others call the column of links is made of these words; “url” alone is the post's own address.
_LINK_WORDS = frozenset("link links url urls source sources evidence reference references citation citations".split())
_LINK_BREAK_PATTERN = re.compile(r"[,;|](?=\s|$|https?://)", re.IGNORECASE)
_MAX_COMPARED_POSTS, _MAX_REPEATS_NAMED = 200_000, 3
_WORDS_COLUMN = "full_text"  # of X's API v1.1, and of what others made of its answers
_MAX_JSON_BYTES = 20_000_000  # of a list, which is read at once
# Where an answer of X's API, or another's file, has its posts.
_JSON_LISTS = ("data", "posts", "tweets", "items", "statuses")
# What X's API says of a post, and nobody else: such a post's words are escaped for HTML.
_X_FIELDS = frozenset(
    {"author_id", "edit_history_tweet_ids", "edit_history_post_ids", "conversation_id", "id_str", _WORDS_COLUMN}
)


@dataclass(frozen=True, slots=True)
class Row:
    """One of a file, as it was read; `problem` says why it cannot be used."""

    number: int
    name: str = ""
    text: str = ""
    links: tuple[str, ...] = ()
    url: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Preview:
    """What a file would become: its columns, how many rows can be used and how many cannot, and the first of each.

    `posts` and `links` are the columns that hold the posts and the links to their sources, "" where there is none,
    `link_columns` those that could hold the links, `unlinked` how many usable rows have no link. `repeats` is how many
    rows have the post of an earlier one, and `repeated` the first of them with that earlier one. `remark`: what to
    check before it is used.
    """

    columns: tuple[str, ...]
    posts: str
    links: str
    link_columns: tuple[str, ...]
    usable: int
    bad: int
    first: tuple[Row, ...]
    broken: tuple[Row, ...]
    unlinked: int = 0
    repeats: int = 0
    repeated: tuple[tuple[int, int], ...] = ()
    remark: str = ""


class UnknownColumnsError(InputError):
    """A file has no column that looks like posts; `columns` are those it has."""

    def __init__(self, columns: Sequence[str]) -> None:
        there = ", ".join(columns)[:_MAX_COLUMN_NAMES_CHARACTERS]
        super().__init__(
            f"The file has no column “text” or “links”. It has: {there}.",
            "Add a column “text”; “id”, “links” and “url” are optional.",
        )
        self.columns = tuple(columns)


def rows_of(file: Path, posts: str = "", links: str = "") -> Iterator[Row]:
    """Yield the rows of a file of `FILE_KINDS`, one after the other.

    `posts` is the column that holds the posts; without it a column “text”, or one that others call their posts. `links`
    is the column of links to sources; without it “links”, or one that others call so and that holds web addresses.
    Raises InputError for another file, for one in which such a column occurs twice or `links` does not, and
    UnknownColumnsError without posts.
    """
    reader = _READER_BY_KIND.get(file.suffix.lower().removeprefix("."))
    if reader is None:
        raise InputError(
            f"Give a file of one of these kinds: {', '.join(FILE_KINDS)}.",
            "Save a table as “CSV UTF-8” with a column “text”; “id”, “links” and “url” are optional.",
        )
    try:
        columns = _find_columns(file, reader, posts, links)
        for number, found in enumerate(reader(file, {columns.posts, columns.links}), 1):
            yield _parse_row(number, found, columns)
    except (OSError, ValueError, OverflowError) as error:  # pyarrow's errors are of the first two kinds
        raise InputError(f"{file.name} cannot be read ({error}).") from error


def other_columns(file: Path, posts: str, links: str) -> str:
    """Return which columns `rows_of` takes that it would not take by “links” and by the name of posts; "" if none."""
    reader = _READER_BY_KIND.get(file.suffix.lower().removeprefix("."))
    if reader is None:
        return ""
    try:
        columns = _find_columns(file, reader, posts, links)
    except (OSError, ValueError, OverflowError):
        return ""  # `rows_of` says what is wrong
    usual = _find_post_column([_normalise_column_name(name) for name in columns.names])
    other = "" if not posts or columns.posts == usual else posts
    return other if columns.links in ("", "links") else f"{other}\0{columns.links}"


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns of a file; `posts` and `links` in small letters, `holding_links` those that hold web addresses."""

    names: tuple[str, ...]
    posts: str
    links: str
    holding_links: tuple[str, ...]


def _find_columns(file: Path, reader: _Reader, posts: str, links: str) -> _Columns:
    names = _read_column_names(file, reader)
    named = [_normalise_column_name(name) for name in names]
    if any("\0" in name for name in named):
        raise InputError(f"{file.name} is not a text file.", "Save the table as “CSV UTF-8”.")
    column = _normalise_column_name(posts) or _find_post_column(named)
    holding = [name for name in _find_columns_of_links(file, reader) if _normalise_column_name(name) != column]
    link_column = _normalise_column_name(links) or _find_link_column(named, holding)
    if twice := [name for name in (*_OUR_COLUMNS, column, link_column) if name and named.count(name) > 1]:
        raise InputError(f"The file has two columns “{twice[0]}”.", "Rename one of them.")
    if names and column not in named and (posts or "links" not in named):
        raise UnknownColumnsError(names)
    if names and link_column and link_column not in named:
        there = ", ".join(names)[:_MAX_COLUMN_NAMES_CHARACTERS]
        raise InputError(f"The file has no column “{links}”. It has: {there}.", "Name the column with the links.")
    return _Columns(names, column, link_column, tuple(holding))


def _find_columns_of_links(file: Path, reader: _Reader) -> list[str]:
    """Return the columns whose cells hold web addresses, but for “url” where it has the addresses of posts on X."""
    rows = read_parquet(file) if reader is _read_parquet_rows else reader(file, set())
    found: dict[str, str] = {}
    for row in islice(rows, _MAX_SAMPLED_ROWS):
        for name, cell in row.items() if isinstance(row, Mapping) else ():
            sample = cell[:_MAX_SAMPLED_LENGTH] if isinstance(cell, str | list) else ""
            if name and (links := _read_links(sample, only_addresses=True)):
                found.setdefault(str(name), links[0])
    return [name for name, link in found.items() if _normalise_column_name(name) != "url" or post_number(link) is None]


def _find_link_column(named: Sequence[str], holding: Sequence[str]) -> str:
    """Return the column of links, by its name; "" without one."""
    if "links" in named:
        return "links"
    for name in map(_normalise_column_name, holding):
        words = {*re.findall(r"[^\W\d_]+", name)} - {"of", "to", "the", "s"}
        if words and words <= _LINK_WORDS and words != {"url"}:
            return name
    return ""


def _read_links(cell: object, *, only_addresses: bool) -> tuple[str, ...]:
    """Return the links of a cell, a list or a text; `only_addresses` leaves out its other words."""
    if isinstance(cell, list) and not only_addresses:
        return tuple(str(link).strip() for link in cell if str(link).strip())
    text = _LINK_BREAK_PATTERN.sub(" ", " ".join(map(str, cell)) if isinstance(cell, list) else str(cell or ""))
    if not only_addresses:
        return tuple(text.split())
    # X's API names under “source” the program that sent a post, as HTML.
    return () if text.lstrip().startswith("<") else tuple(span.url for span in find_urls(text))


def _find_post_column(named: Sequence[str]) -> str:
    """Return the column that holds the posts, by its name; "" without one."""
    return next((name for name in ("text", _WORDS_COLUMN, *_POST_COLUMNS) if name in named), "")


def preview_of(file: Path, name: str = "", posts: str = "", links: str = "") -> Preview:
    """Look at all rows and keep none. `name` is what people call the file. Raises as `rows_of`."""
    first, broken, n = list[Row](), list[Row](), Counter[bool]()
    number_by_post, unlinked, repeats, repeated = dict[int, int](), 0, 0, list[tuple[int, int]]()
    for row in rows_of(file, posts, links):
        unlinked += not (row.problem or row.links)
        n[is_bad := bool(row.problem)] += 1
        if n[is_bad] <= _MAX_PREVIEW_ROWS:
            (broken if is_bad else first).append(row)
        post = hash((row.text, row.links))
        if not is_bad and len(number_by_post) < _MAX_COMPARED_POSTS:
            number_by_post.setdefault(post, row.number)
        earlier = row.number if is_bad else number_by_post.get(post, row.number)
        if earlier != row.number:
            repeats += 1
            repeated += [(row.number, earlier)] if repeats <= _MAX_REPEATS_NAMED else []
    columns = _find_columns(file, _READER_BY_KIND[file.suffix.lower().removeprefix(".")], posts, links)
    named = {_normalise_column_name(column): column for column in columns.names}
    link_column = named.get(columns.links, "")
    return Preview(
        columns=columns.names,
        posts=named.get(columns.posts, ""),
        links=link_column,
        link_columns=tuple(dict.fromkeys((*([link_column] if link_column else []), *columns.holding_links))),
        usable=n[False],
        bad=n[True],
        first=tuple(first),
        broken=tuple(broken),
        unlinked=unlinked,
        repeats=repeats,
        repeated=tuple(repeated),
        remark=remark_on(file, name),
    )


def remark_on(file: Path, name: str = "") -> str:
    """Return what to check of a file that `rows_of` reads before it is used; "" without."""
    if file.suffix.lower() == ".parquet":
        return ""
    with file.open("rb") as raw:
        return encoding_of(raw).remark(name or file.name)


def _read_column_names(file: Path, reader: _Reader) -> tuple[str, ...]:
    """As the file names them; of one of JSON those of its first objects."""
    if reader is _read_parquet_rows:
        import pyarrow.parquet as pq

        return tuple(pq.read_schema(file).names)
    if reader is _read_table_rows:
        with open_text(file) as (lines, _):
            return tuple(name for name in next(table_reader(lines, strict=False), []) if name)
    found = (row for row in islice(reader(file, set()), _MAX_SAMPLED_ROWS) if not isinstance(row, str))
    return tuple(dict.fromkeys(str(name) for row in found for name in row))


_TEXT_ID_PATTERN = re.compile(r"^(?:=\"|')(\d{1,20})\"?$")  # how spreadsheets mark a number as text


def _normalise_column_name(name: object) -> str:
    return str(name).strip().lower()


def _parse_row(number: int, found: Mapping[str, object] | str, columns: _Columns) -> Row:
    if isinstance(found, str):
        return Row(number, str(number), problem=found)
    found = {_normalise_column_name(name): value for name, value in found.items()}
    name = str(found.get("id_str") or found.get("id") or number)[:200]  # many programs round a number of that length
    name = _TEXT_ID_PATTERN.sub(r"\1", name)
    urls = _read_links(found.get(columns.links) if columns.links else "", only_addresses=columns.links != "links")
    url = "" if columns.links == "url" else str(found.get("url") or "").strip()[:2_000]
    if columns.posts not in {"", "text", _WORDS_COLUMN}:
        words = {"text": found.get(columns.posts)}
        found = {name: cell for name, cell in found.items() if name != _WORDS_COLUMN} | words
    said = _read_words(found)
    row = Row(number, name, said, urls, url)
    problem = ""
    if len(said) + sum(map(len, urls)) > _MAX_ROW_CHARACTERS:
        problem = f"Too long: over {_MAX_ROW_CHARACTERS:,} characters."
    elif _CELL_ERROR_PATTERN.fullmatch(said):
        problem = f"A spreadsheet left an error instead of the text: {said}. Copy the text again."
    elif not said and not urls:
        problem = "No text and no links: fill in one of them."
    elif found.get("truncated") is True and not found.keys() & {"extended_tweet", "note_tweet", _WORDS_COLUMN}:
        problem = "X's API cut the text off: get it again with tweet_mode=extended."
    elif rounded := rounded_number(row.url) or rounded_number(name):
        problem = (
            f"A spreadsheet rounded this number, so we cannot tell which post it is: {rounded}. Copy the ids "
            "again, as text."
        )
    return Row(number, name, problem=problem) if problem else row


def _read_words(found: Mapping[str, object]) -> str:
    """Return the words of a post; X's API has those of a long or shared one in a field of their own."""
    if isinstance(shared := found.get("retweeted_status"), Mapping):
        return _read_words(shared)
    whole = found.get("note_tweet") or found.get("note_post") or found.get("extended_tweet")
    words = (whole.get("text") or whole.get(_WORDS_COLUMN)) if isinstance(whole, Mapping) else None
    words = found.get(_WORDS_COLUMN) if words is None else words
    words = found.get("text") if words is None else words
    said = "" if words is None else str(words).strip()
    return html.unescape(said) if found.keys() & _X_FIELDS else said


_Found = Mapping[str, object] | str  # of a row: its cells, or why it cannot be read
# UTF-8 that was read as cp1252 and saved so: "Ã¤" for "ä", "â€™" for "’".
_GARBLED_PATTERN = re.compile(r"[ÃÂ][\u0080-\u00bfƒ†‡ˆ‰Š‹ŒŽ•˜™š›œžŸ]|â€[œ™˜“”¦¢\u009d]|ðŸ")
_CELL_ERROR_PATTERN = re.compile(r"#(?:NAME\?|REF!|VALUE!|N/A|DIV/0!|NULL!|NUM!|WERT!|BEZUG!|NV|#{2,})")
_LOST_LETTERS = "Some letters are unreadable: save the file as “CSV UTF-8”."


def _read_table_rows(file: Path, _: Set[str]) -> Iterator[_Found]:
    with open_text(file) as (lines, encoding):
        reader = table_reader(lines)
        head: list[str] | None = None
        while True:
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield (
                    f"We cannot read it ({error}). Check that no quotation mark is missing and those inside a "
                    "text are doubled."
                )
                continue
            if head is None:
                head = cells
            elif not cells:
                continue
            elif any(cell.strip() for cell in cells[len(head) :]):
                yield "More cells than the heading: put quotation marks around text with commas."
            elif encoding.has_lost(" ".join(cells)):
                yield _LOST_LETTERS
            elif garbled := _GARBLED_PATTERN.search(" ".join(cells)):
                yield f"Its letters were garbled in another program (“{garbled[0]}”): save the original as “CSV UTF-8”."
            else:
                yield dict(zip(head, cells, strict=False))


def _read_json_rows(file: Path, _: Set[str]) -> Iterator[_Found]:
    """Yield an object a line, or one list of them, as X's API and many programs write."""
    with open_text(file) as (lines, encoding):
        is_list = file.suffix.lower() == ".json" or lines.read(_MAX_ROW_CHARACTERS).lstrip()[:1] == "["
        lines.seek(0)
        listed = _load_list(file, encoding) if is_list else None
        for found in _read_lines_of_json(lines) if listed is None else listed:
            has_lost = not isinstance(found, str) and encoding.has_lost(str(found))
            yield _LOST_LETTERS if has_lost else found


def _load_list(file: Path, encoding: Encoding) -> list[_Found] | None:
    """Return the posts of one JSON document; None where it is none, as in a file with an object on each line."""
    if file.stat().st_size > _MAX_JSON_BYTES:
        if file.suffix.lower() != ".json":
            return None
        raise InputError(
            f"{file.name} has more than {_MAX_JSON_BYTES / 1e6:.0f} MB.",
            "Use a file with one object a line (.jsonl).",
        )
    try:
        content = _load_json(file.read_bytes().decode(encoding.codec, encoding.errors))
    except (ValueError, RecursionError):
        return None
    if isinstance(content, Mapping):
        content = next((content[name] for name in _JSON_LISTS if isinstance(content.get(name), list | dict)), content)
    return [_to_found(one) for one in (content if isinstance(content, list) else [content])]


def _load_json(text: str) -> Any:
    """Return what JSON holds; None for NaN, which pandas writes for an empty cell."""
    return json.loads(text, parse_constant=lambda _: None)


def _to_found(value: object) -> _Found:
    try:
        str(value)
    except RecursionError:  # lists that Python can read and not write
        return "We cannot read it: too many nested lists."
    if isinstance(value, dict) and isinstance(value.get("tweet"), dict):  # as X's archive of one's own posts has it
        return dict(value["tweet"])
    return value if isinstance(value, dict) else "Not a JSON object."


def _read_lines_of_json(lines: TextIO) -> Iterator[_Found]:
    while line := lines.readline(_MAX_ROW_CHARACTERS):
        if len(line) >= _MAX_ROW_CHARACTERS:
            while not line.endswith("\n") and line:
                line = lines.readline(_MAX_ROW_CHARACTERS)
            yield f"Too long: over {_MAX_ROW_CHARACTERS:,} characters."
            continue
        if not line.strip():
            continue
        try:
            yield _to_found(_load_json(line))
        except (ValueError, RecursionError) as error:
            yield f"We cannot read it: {error}."


def _read_parquet_rows(file: Path, columns: Set[str]) -> Iterator[_Found]:
    import pyarrow.parquet as pq

    names = pq.read_schema(file).names
    ours = [name for name in names if _normalise_column_name(name) in {*_OUR_COLUMNS, _WORDS_COLUMN, *columns}]
    lost = object()
    for row in read_parquet(file, ours, lost):
        is_lost = any(cell is lost for cell in row.values())
        yield "A time lies outside the years 1 to 9999." if is_lost else row


def read_parquet(file: Path, columns: Sequence[str] | None = None, lost: object = None) -> Iterator[dict[str, Any]]:
    """Yield the rows of a parquet file, or these columns of them, with few bytes in memory whatever a row holds.

    `lost` replaces a time that Python cannot hold; one in an unknown zone is in UTC. Raises pyarrow's
    errors, OSError, ValueError, and InputError as `check_expansion` does.
    """
    for batch, size in _read_batches(file, columns):
        step = _rows_within(batch.num_rows, size)
        for at in range(0, batch.num_rows, step):
            cells = [_cells_of(column.slice(at, step), lost) for column in batch.columns]
            yield from (dict(zip(batch.schema.names, row, strict=True)) for row in zip(*cells, strict=True))


def check_expansion(file: Path) -> None:
    """Raise InputError where a parquet file holds far more than its size says: no real table repeats itself so often.

    Raises pyarrow's errors and OSError too.
    """
    for _ in _read_batches(file):
        pass


def _read_batches(file: Path, columns: Sequence[str] | None = None) -> Iterator[tuple[Any, int]]:
    """Rows as they lie in the file, each value that many of them share once; and their bytes without that."""
    import pyarrow.parquet as pq

    fields = [field.name for field in pq.read_schema(file) if columns is None or field.name in columns]
    with pq.ParquetFile(file) as table:
        leaves = [table.schema.column(at) for at in range(len(table.schema))]
        packed = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
        groups = [table.metadata.row_group(number) for number in range(table.num_row_groups)]
        parts = [[group.column(at) for at in range(group.num_columns)] for group in groups]
    allowed, size = most_unpacked(file.stat().st_size), 0
    declared = [sum(max(part.total_uncompressed_size, _CELL_BYTES * part.num_values) for part in it) for it in parts]
    _require_within(file, sum(declared), allowed)
    with pq.ParquetFile(file, read_dictionary=packed) as table:
        for number, group in enumerate(groups):
            rows = _rows_within(group.num_rows, declared[number])
            for batch in table.iter_batches(rows, row_groups=[number], columns=fields):
                in_full = sum(map(_bytes_of, batch.columns))
                size += in_full
                _require_within(file, size, allowed)
                yield batch, in_full


def _require_within(file: Path, size: int, allowed: int) -> None:
    if size > allowed:
        raise InputError(
            f"{file.name} has {file.stat().st_size:,} bytes and would unpack to more than {allowed / 1e6:,.0f} MB.",
            "Is it the right file? It repeats the same values over and over.",
        )


def _rows_within(rows: int, size: int) -> int:
    """Return how many of these rows, which have `size` bytes together, are taken at once."""
    return max(1, min(_ROWS_PER_CHUNK, rows * _BYTES_PER_CHUNK // max(size, 1)))


def _bytes_of(column: Any) -> int:
    """Of a column once each row has its own value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_nested(kind) and hasattr(column, "flatten"):
        inner = column.flatten()
        return sum(map(_bytes_of, inner if isinstance(inner, list) else [inner]))
    if not pa.types.is_dictionary(kind) or not (
        pa.types.is_string(kind.value_type) or pa.types.is_binary(kind.value_type)
    ):
        return int(column.nbytes)
    return int(pc.sum(pc.binary_length(column.dictionary).take(column.indices)).as_py() or 0)


def _cells_of(column: Any, lost: object) -> list[Any]:
    import pyarrow as pa

    if not pa.types.is_temporal(column.type):
        return list(column.to_pylist())
    if pa.types.is_timestamp(column.type) and column.type.tz is not None and not _is_zone(column.type.tz):
        column = column.cast(pa.timestamp(column.type.unit, "UTC"))
    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)  # pandas alone has nanoseconds
    return [_time_of(cell, lost) for cell in column]


def _is_zone(name: str) -> bool:
    from zoneinfo import ZoneInfo

    try:
        return _OFFSET_PATTERN.fullmatch(name) is not None or bool(ZoneInfo(name))
    except (ValueError, OSError, KeyError):
        return False


def _time_of(cell: Any, lost: object) -> Any:
    try:
        return cell.as_py()
    except (ValueError, OverflowError):
        return lost


_Reader = Callable[[Path, Set[str]], Iterator[_Found]]  # the columns that hold the posts and the links
_READER_BY_KIND: dict[str, _Reader] = {
    "csv": _read_table_rows,
    "tsv": _read_table_rows,
    "jsonl": _read_json_rows,
    "json": _read_json_rows,
    "parquet": _read_parquet_rows,
}
FILE_KINDS = tuple(_READER_BY_KIND)
