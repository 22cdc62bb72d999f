"""Which column of a table is the text, the title, the link, the date, the publisher: by name and by content."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from crowdnotes.errors import LibraryError
from crowdnotes.evidence.library.records import Columns
from crowdnotes.text.dates import parse_date

_TITLES = ("title", "question", "headline", "name", "page_title", "subject", "heading", "topic", "focus")
_URLS = ("url", "link", "source_url", "page_url", "canonical_url", "href", "uri", "document_url")
_DATES = ("date", "published", "published_at", "publication_date", "pub_date", "created", "created_at", "updated")
_PUBLISHERS = ("publisher", "source", "site", "site_name", "outlet", "journal", "organization", "domain")
_TEXTS = ("text", "answer", "body", "content", "article", "abstract", "passage", "document", "full_text")
_SHORTEST_TEXT = 20  # characters on average; below it a column holds labels, unless its name says otherwise
_URL = re.compile(r"https?://\S+", re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?[\d.,\s]+%?")

Rows = Sequence[Mapping[str, object]]


def choose_columns(names: Sequence[str], sample: Rows, named: Mapping[str, str | None]) -> Columns:
    """The parts of a table. `named` holds what the user named, by part; the rest is guessed from `sample`.

    Text is the column with the longest mean text. Raises LibraryError for a named column that is
    not there, and for a table in which no column holds text.
    """
    for part, name in named.items():
        if name is not None and name not in names:
            raise LibraryError(
                f"The table has no column “{name}” for the {part}.", f"Its columns are: {', '.join(names)}."
            )
    text = named.get("text") or _guess_text(names, sample)
    taken = {text} | {name for name in named.values() if name}
    chosen: dict[str, str | None] = {}
    guesses = (("title", _TITLES), ("url", _URLS), ("date", _DATES), ("publisher", _PUBLISHERS))
    for part, known in guesses:
        name = named.get(part)
        if name is None:
            name = next((n for n in _by_name(names, known) if n not in taken and _fits(part, n, sample)), None)
        if name is None and part == "url":
            name = next((n for n in names if n not in taken and _mostly(n, sample, _is_url)), None)
        if name is not None:
            taken.add(name)
        chosen[part] = name
    return Columns(text=text, **chosen)


def _by_name(names: Sequence[str], known: Sequence[str]) -> list[str]:
    plain = {name: re.sub(r"[\s-]+", "_", name.strip().lower()) for name in names}
    return [name for wanted in known for name in names if plain[name] == wanted]


def _guess_text(names: Sequence[str], sample: Rows) -> str:
    best, longest = None, 0.0
    for name in names:
        values = [value for value in (row.get(name) for row in sample) if isinstance(value, str) and value.strip()]
        prose = [
            v for v in values if not (_is_url(v) or _NUMBER.fullmatch(v.strip()) or (len(v) < 40 and parse_date(v)))
        ]
        if len(prose) * 2 <= len(values):
            continue
        mean = sum(len(value) for value in prose) / len(values)
        if mean < _SHORTEST_TEXT and not _by_name([name], _TEXTS):
            continue
        if mean > longest:
            best, longest = name, mean
    if best is None:
        raise LibraryError(
            "The table has no column that holds text.",
            f"Name the column with the text; its columns are: {', '.join(names) or 'none'}.",
        )
    return best


def _fits(part: str, name: str, sample: Rows) -> bool:
    if part == "url":
        return _mostly(name, sample, _is_url)
    if part == "date":
        return _mostly(name, sample, lambda value: parse_date(value) is not None)
    return _mostly(name, sample, lambda value: isinstance(value, str) and not _is_url(value))


def _mostly(name: str, sample: Rows, test: Callable[[object], bool]) -> bool:
    values = [value for value in (row.get(name) for row in sample) if value not in (None, "")]
    return bool(values) and sum(bool(test(value)) for value in values) * 2 > len(values)


def _is_url(value: object) -> bool:
    return isinstance(value, str) and _URL.fullmatch(value.strip()) is not None
