"""ClaimReview data, as pages, feeds and tables hold it, to a FactCheck. https://schema.org/ClaimReview

Nothing here trusts a shape: every field may be missing, a list, a text in the place of an item, or hold HTML.
A table's columns are the same names joined by dots ("reviewRating.alternateName"), as Fact-Check Insights writes them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta

from crowdnotes.domain import FactCheck
from crowdnotes.evidence.reading.plain_text import plain_text, tidy_line
from crowdnotes.text.dates import parse_date
from crowdnotes.text.languages import language_of
from crowdnotes.text.urls import is_web_address

_CLAIM = 1_000  # characters; some publishers put the whole post there
_NAME = 100
_VERDICT = 120  # some publishers put a paragraph there
_NUMBER = 12
_LANGUAGE = re.compile(r"([a-z]{2})(?![a-z])", re.IGNORECASE)
_TYPE = re.compile(r"(?:^|[/:])ClaimReview$")
Item = Mapping[str, object]


def claim_reviews(data: object) -> Iterator[Item]:
    """Every ClaimReview in parsed JSON, however deep, in order."""
    pending = [data]
    while pending:
        one = pending.pop()
        if isinstance(one, list):
            pending.extend(reversed(one))
        elif isinstance(one, dict):
            if _is_review(one):
                yield one
            else:
                pending.extend(reversed(one.values()))


def reviews_in_text(text: str) -> Iterator[Item]:
    """The same of one JSON-LD text; nothing of what is broken."""
    with suppress(ValueError, RecursionError):
        yield from claim_reviews(json.loads(text))


def _is_review(item: Item) -> bool:
    kinds = item.get("@type")
    named = kinds if isinstance(kinds, list) else [kinds]
    return "claimReviewed" in item or any(isinstance(kind, str) and _TYPE.search(kind) for kind in named)


def fact_check(item: Item) -> FactCheck | None:
    """What one ClaimReview says; None where it names no claim."""
    claim = _text(_at(item, "claimReviewed"), _CLAIM)
    if not claim:
        return None
    url = _text(_at(item, "url"), 2_000)
    verdict, scale = _rating(item)
    return FactCheck(
        claim=claim,
        claimant=_name(item, "itemReviewed", "author") or _name(item, "itemReviewed", "appearance", "author"),
        verdict=verdict,
        scale=scale,
        publisher=_name(item, "author") or _name(item, "publisher"),
        published=_day(_at(item, "datePublished")),
        language=_language(_at(item, "inLanguage")) or language_of(claim),
        url=url if is_web_address(url) else None,
    )


def _at(item: Item, *keys: str) -> object:
    """What stands under a chain of keys, or in the column of that name; of a list the first."""
    if (column := ".".join(keys)) in item:
        return item[column]
    found: object = item
    for key in keys:
        found = found[0] if isinstance(found, list) and found else found
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _text(value: object, most: int) -> str:
    for _ in range(3):
        if isinstance(value, list):
            value = value[0] if value else ""
        elif isinstance(value, dict):
            value = value.get("@value", value.get("name"))
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = str(value) if not isinstance(value, int) or abs(value) < 10**18 else ""
    return plain_text(text, most) if "<" in text or "&" in text else tidy_line(text[: 10 * most], most)


def _name(item: Item, *keys: str) -> str:
    return _text(_at(item, *keys, "name") or _at(item, *keys), _NAME)


def _rating(item: Item) -> tuple[str, str]:
    """The verdict in words and the number with its scale, each as it was given, "" where it was not."""
    words = _text(_at(item, "reviewRating", "alternateName"), _VERDICT)
    given = [_text(_at(item, "reviewRating", key), _VERDICT) for key in ("ratingValue", "worstRating", "bestRating")]
    value, worst, best = (_number(text) for text in given)
    if value is None:
        whole = _at(item, "reviewRating")
        return words or given[0] or (_text(whole, _VERDICT) if isinstance(whole, str) else ""), ""
    if worst is None or best is None or worst == best:
        return words, "" if words else f"{given[0]}, with no scale given"
    inside = min(worst, best) <= value <= max(worst, best)
    scale = f"scale from {given[1]}, worst, to {given[2]}, best"
    return words, f"{given[0]} on a {scale}" if inside else f"{given[0]}, outside its own {scale}"


def _number(text: str) -> float | None:
    with suppress(ValueError):
        number = float(text.replace(",", "."))
        return number if math.isfinite(number) and len(text) <= _NUMBER else None
    return None


def _day(value: object) -> date | None:
    """The day, unless it is yet to come: a slip of the pen would make a library look newer than it is."""
    day = parse_date(value)
    return day if day is not None and day <= datetime.now(UTC).date() + timedelta(days=1) else None


def _language(value: object) -> str | None:
    found = _LANGUAGE.match(_text(value, _NAME))
    return found[1].lower() if found else None
