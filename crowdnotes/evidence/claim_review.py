"""ClaimReview data, as pages, feeds and tables hold it, to a FactCheck.

https://schema.org/ClaimReview

Nothing here trusts a shape: every field may be missing, a list, a text in the place of an item, or hold HTML.
A table's columns are the same names joined by dots ("reviewRating.alternateName"), as Fact-Check Insights writes them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from html import unescape
from typing import Any

from crowdnotes.domain import FactCheck
from crowdnotes.evidence.reading.plain_text import plain_text, tidy_line
from crowdnotes.text.dates import parse_date
from crowdnotes.text.languages import language_of
from crowdnotes.text.urls import is_web_address

_MAX_CLAIM_CHARACTERS = 1_000  # characters; some publishers put the whole post there
_MAX_NAME_CHARACTERS = 100
MAX_VERDICT_CHARACTERS = 120  # some publishers put a paragraph there
_MAX_NUMBER_CHARACTERS = 12
_LANGUAGE_CODE_PATTERN = re.compile(r"([a-z]{2})(?![a-z])", re.IGNORECASE)
_CLAIM_REVIEW_TYPE_PATTERN = re.compile(r"(?:^|[/:])ClaimReview$")
Item = Mapping[str, object]


def claim_reviews(data: object) -> Iterator[Item]:
    """Every ClaimReview in parsed JSON, however deep, in order."""
    pending = [data]
    while pending:
        one = pending.pop()
        if isinstance(one, list):
            pending.extend(reversed(one))
        elif isinstance(one, dict):
            if _is_claim_review(one):
                yield one
            else:
                pending.extend(reversed(one.values()))


def reviews_in_text(text: str) -> Iterator[Item]:
    """Yield the same of one JSON-LD text; one whose marks nobody can mend is passed over: see `holds_review`."""
    found = [item for data in loose_json(text) for item in claim_reviews(data)]
    if not found and holds_review(text):
        found = [item for data in loose_json(mend_quotes(unescape(text))) for item in claim_reviews(data)]
    yield from found


def holds_review(text: str) -> bool:
    """Return whether a text of JSON-LD names a ClaimReview, readable or not."""
    return "ClaimReview" in text or "claimReviewed" in text


_MARK_PATTERN = re.compile(r"[\"'“”]|[{}\[\]:,]|[A-Za-z_$@][\w$@-]{0,60}")
_KEY_END_PATTERN = re.compile(r"\s{0,20}(?::|,|\]|\Z)")
_VALUE_END_PATTERN = re.compile(
    r"\s{0,20}(?:[}\]]|\Z|,\s{0,200}[\"'“”{\[}\]\d-]|,\s{0,200}(?:true|false|null|[A-Za-z_$@]{1,40}\s?:))"
)
_CLOSER_BY_OPENER = {"{": "}", "[": "]"}
_LITERALS = {"true": "true", "false": "false", "null": "null", "True": "true", "False": "false"}


def mend_quotes(text: str) -> str:
    """JSON with one kind of quotation marks, those within strings escaped, and brackets that are missing at its end.

    A string ends at a mark behind which the structure goes on: a comma and the next string, a bracket, or a colon.
    """
    pieces: list[str] = []
    open_brackets: list[str] = []
    at, is_key = 0, False
    while (found := _MARK_PATTERN.search(text, at)) is not None:
        pieces.append(text[at : found.start()])
        mark, at = found.group(), found.end()
        if mark in "\"'“”":
            end = _end_of_string(text, at, mark, is_key)
            words = text[at:end].replace('\\"', '"').replace("\\'", "'")
            pieces.append(json.dumps(words) if "\\" not in words else f'"{words.replace(chr(34), chr(92) + chr(34))}"')
            at = end + 1
            continue
        if mark in _CLOSER_BY_OPENER:
            open_brackets.append(_CLOSER_BY_OPENER[mark])
        elif mark in "}]" and open_brackets:
            open_brackets.pop()
        elif len(mark) > 1 or mark.isalpha():
            is_name = is_key and text[at : at + 20].lstrip().startswith(":")
            mark = json.dumps(mark) if is_name else _LITERALS.get(mark, "null")
        is_key = is_key if mark[0] in '"tfn' else mark in "{,"
        pieces.append(mark)
    return "".join([*pieces, text[at:].rstrip(), *reversed(open_brackets)])


def _end_of_string(text: str, start: int, mark: str, is_key: bool) -> int:
    """Return where the string that begins at `start` ends; the text's end where nothing ends it."""
    marks = "“”" if mark in "“”" else mark
    ends = _KEY_END_PATTERN if is_key else _VALUE_END_PATTERN
    for found in re.compile(f"[{marks}]").finditer(text, start):
        if text[found.start() - 1] != "\\" and ends.match(text, found.end()):
            return found.start()
    return len(text)


_MAX_STARTS = 100  # brackets at which reading begins anew
# A string without an end goes to the end of the text: to begin anew at each mark in it takes the square of its length.
_STRING_OR_MARK_PATTERN = re.compile(
    r'"(?:[^"\\]|\\.)*+"?|//[^\n]*|/\*(?:(?!\*/).)*+\*/|,(?=\s*[}\]])|<!--|-->|<!\[CDATA\[|\]\]>', re.DOTALL
)
_BAD_ESCAPE_PATTERN = re.compile(r'(\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))|\\')
_BRACKET_PATTERN = re.compile(r"[{\[]")


def loose_json(text: str, object_hook: Callable[[dict[str, Any]], object] | None = None) -> Iterator[object]:
    """Each object or list of a text of JSON as sites write it, from bracket to bracket.

    Raw line ends, comments, commas before a bracket, false escapes and text around the brackets do no harm.
    """
    text = _STRING_OR_MARK_PATTERN.sub(_mend_token, text)
    decoder = json.JSONDecoder(strict=False, object_hook=object_hook)
    at = 0
    for _ in range(_MAX_STARTS):
        start = _BRACKET_PATTERN.search(text, at)
        if start is None:
            return
        at = start.end()
        with suppress(ValueError, RecursionError):
            value, at = decoder.raw_decode(text, start.start())
            yield value


def _mend_token(found: re.Match[str]) -> str:
    token = found.group()
    if token[0] != '"':
        return " "
    return _BAD_ESCAPE_PATTERN.sub(lambda escape: escape[1] or "", token) if "\\" in token else token


def _is_claim_review(item: Item) -> bool:
    kinds = item.get("@type")
    named = kinds if isinstance(kinds, list) else [kinds]
    return "claimReviewed" in item or any(
        isinstance(kind, str) and _CLAIM_REVIEW_TYPE_PATTERN.search(kind) for kind in named
    )


def fact_check(item: Item) -> FactCheck | None:
    """Return what one ClaimReview says; None where it names no claim."""
    claim = _read_text(_look_up(item, "claimReviewed"), _MAX_CLAIM_CHARACTERS)
    if not claim:
        return None
    url = _read_text(_look_up(item, "url"), 2_000)
    verdict, scale = _read_rating(item)
    return FactCheck(
        claim=claim,
        claimant=_read_name(item, "itemReviewed", "author") or _read_name(item, "itemReviewed", "appearance", "author"),
        verdict=verdict,
        scale=scale,
        publisher=_read_name(item, "author") or _read_name(item, "publisher"),
        published=_parse_past_day(_look_up(item, "datePublished")),
        language=_parse_language_code(_look_up(item, "inLanguage")) or language_of(claim),
        url=url if is_web_address(url) else None,
    )


def _look_up(item: Item, *keys: str) -> object:
    """Return the value under a chain of keys, or in the column of that name; of a list the first."""
    if (column := ".".join(keys)) in item:
        return item[column]
    found: object = item
    for key in keys:
        found = found[0] if isinstance(found, list) and found else found
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _read_text(value: object, most: int) -> str:
    for _ in range(3):
        if isinstance(value, list):
            value = value[0] if value else ""
        elif isinstance(value, dict):
            value = value.get("@value", value.get("name"))
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = str(value) if not isinstance(value, int) or abs(value) < 10**18 else ""
    return plain_text(text, most) if "<" in text or "&" in text else tidy_line(text[: 10 * most], most)


def _read_name(item: Item, *keys: str) -> str:
    return _read_text(_look_up(item, *keys, "name") or _look_up(item, *keys), _MAX_NAME_CHARACTERS)


def _read_rating(item: Item) -> tuple[str, str]:
    """Return the verdict as text and the number with its scale, each as it was given, "" where it was not."""
    words = _read_text(_look_up(item, "reviewRating", "alternateName"), MAX_VERDICT_CHARACTERS)
    given = [
        _read_text(_look_up(item, "reviewRating", key), MAX_VERDICT_CHARACTERS)
        for key in ("ratingValue", "worstRating", "bestRating")
    ]
    value, worst, best = (_parse_number(text) for text in given)
    if value is None:
        whole = _look_up(item, "reviewRating")
        return words or given[0] or (_read_text(whole, MAX_VERDICT_CHARACTERS) if isinstance(whole, str) else ""), ""
    if worst is None or best is None or worst == best:
        return words, "" if words else f"{given[0]}, with no scale given"
    inside = min(worst, best) <= value <= max(worst, best)
    scale = f"scale from {given[1]}, worst, to {given[2]}, best"
    return words, f"{given[0]} on a {scale}" if inside else f"{given[0]}, outside its own {scale}"


def _parse_number(text: str) -> float | None:
    with suppress(ValueError):
        number = float(text.replace(",", "."))
        return number if math.isfinite(number) and len(text) <= _MAX_NUMBER_CHARACTERS else None
    return None


def _parse_past_day(value: object) -> date | None:
    """Return the day, unless it is yet to come: a slip of the pen would make a library look newer than it is."""
    day = parse_date(value)
    return day if day is not None and day <= datetime.now(UTC).date() + timedelta(days=1) else None


def _parse_language_code(value: object) -> str | None:
    found = _LANGUAGE_CODE_PATTERN.match(_read_text(value, _MAX_NAME_CHARACTERS))
    return found[1].lower() if found else None
