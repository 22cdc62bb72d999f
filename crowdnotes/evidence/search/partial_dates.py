"""Dates that name a year or a month only, as the literature has them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

_MONTHS = {
    name: number
    for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1)
}  # fmt: skip


def month_number(text: str) -> int | None:
    """1 to 12 from "03", "3", "Mar" or "March"; else None."""
    text = text.strip().lower()
    if text.isascii() and text.isdigit():
        return int(text) if 1 <= int(text[:3]) <= 12 else None
    return _MONTHS.get(text[:3])


def settle(year: int | None, month: int | None, day: int | None, registered: Iterable[date] = ()) -> date | None:
    """The day, where one is named; else the first day on which the record is known to have existed within
    the month or year named; else None, because a guessed day would mislead.
    """
    if year is None:
        return None
    if month is not None and day is not None:
        return _day(year, month, day)
    within = (known for known in registered if known.year == year and month in (None, known.month))
    return min(within, default=None)


def first_day(year: int | None, month: int | None) -> date | None:
    """The first day of the month or year named; None when neither is, or there is no such day."""
    return None if year is None else _day(year, month or 1, 1)


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except (ValueError, OverflowError):
        return None
