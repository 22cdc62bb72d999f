"""Sentences with a number in them, and texts of tables with values filled in."""

from __future__ import annotations

from math import ceil


def plural(n: int, one: str, other: str, /, **values: object) -> str:
    """Give `one` for 1 and `other` for the rest, with {n} and the values filled in as they are."""
    return (one if n == 1 else other).format(n=n, **values)


def fill(text: str | tuple[str, str], /, **values: object) -> str:
    """Fill the values into a text from a table as they are; of a pair, `n` chooses."""
    if isinstance(text, tuple):
        text = text[0 if values["n"] == 1 else 1]
    return text.format(**values)


def duration(seconds: float) -> str:
    """Give a time to wait, rounded up, in the unit people would use: 40 seconds, 14 minutes, 6 hours, 3 days."""
    for size, one, other, most in _UNITS:
        if seconds <= size * most:
            return plural(max(1, ceil(seconds / size)), one, other)
    return plural(ceil(seconds / 86_400), "{n} day", "{n} days")


_UNITS = (
    (1, "{n} second", "{n} seconds", 120),
    (60, "{n} minute", "{n} minutes", 120),
    (3_600, "{n} hour", "{n} hours", 48),
)
