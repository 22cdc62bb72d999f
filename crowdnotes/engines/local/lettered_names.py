"""Names that a single letter tells apart: vitamin C and B vitamins, hepatitis B and C.

Words of one letter carry no meaning elsewhere and are dropped, so these are read on their own.
"""

from __future__ import annotations

import re

_SERIES = re.compile(
    r"\b(?P<name>vitamin|hepatitis|influenza)s?[\s-]+"
    r"(?P<letters>[a-z]\d{0,2}\b(?:(?:\s*(?:,|/|&|\band\b|\bor\b))+\s*[a-z]\d{0,2}\b)*)",
    re.IGNORECASE,
)
_LETTER_FIRST = re.compile(r"\b(?P<letters>[B-HJ-Z])[\s-](?:(?:group|complex)[\s-])?(?P<name>vitamin)s?\b")
_LETTER = re.compile(r"\b([A-Za-z])\d{0,2}\b")


def lettered_names(text: str) -> dict[str, str]:
    """Each such name, as "vitamin c", with its first mention as a reader would write it: "vitamin C".

    "vitamin B12" is a "vitamin b". A small "a" or "i" is a word, as in "a vitamin a day".
    """
    found: dict[str, str] = {}
    for match in [*_SERIES.finditer(text), *_LETTER_FIRST.finditer(text)]:
        name = match["name"].lower()
        for letter in _LETTER.findall(match["letters"]):
            if letter not in "ai":
                found.setdefault(f"{name} {letter.lower()}", f"{name} {letter.upper()}")
    return found


def names_another(wanted: str, names: frozenset[str]) -> bool:
    """Whether names hold the same name with other letters only: "vitamin b" where "vitamin c" is wanted."""
    start = f"{wanted.split(maxsplit=1)[0]} "
    return wanted not in names and any(name.startswith(start) for name in names)
