"""Sentences with a number in them, and texts of tables with values filled in."""

from __future__ import annotations


def plural(n: int, one: str, other: str, /, **values: object) -> str:
    """Give `one` for 1 and `other` for the rest, with {n} and the values filled in as they are."""
    return (one if n == 1 else other).format(n=n, **values)


def fill(text: str | tuple[str, str], /, **values: object) -> str:
    """Fill the values into a text from a table as they are; of a pair, `n` chooses."""
    if isinstance(text, tuple):
        text = text[0 if values["n"] == 1 else 1]
    return text.format(**values)
