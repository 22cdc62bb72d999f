"""Dates as tables write them. Unsure means None: a guessed date would mislead the reader."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from functools import partial

_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:$|[T\s])")
_WRITTEN = ("%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y", "%Y/%m/%d", "%Y%m%d")


def parse_date(value: object) -> date | None:
    """A date from a date, a datetime, ISO 8601, RFC 2822 or an English written date; else None.

    "03/04/2020" is None: it is March to some and April to others.
    """
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    text = value.strip() if isinstance(value, str) else ""
    iso = _ISO.match(text)
    readers: list[Callable[[str], date]] = [partial(_written, pattern=pattern) for pattern in _WRITTEN]
    readers = [lambda _: date(int(iso[1]), int(iso[2]), int(iso[3]))] if iso else [*readers, _in_mail]
    for read in readers:
        with suppress(ValueError, IndexError, OverflowError):
            return read(text)
    return None


def _written(text: str, pattern: str) -> date:
    return datetime.strptime(text, pattern).date()  # noqa: DTZ007 - a day alone has no zone


def _in_mail(text: str) -> date:
    return parsedate_to_datetime(text).date()
