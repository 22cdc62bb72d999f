"""Health terms in a text, with what medical sources call them and where authorities file them (health_terms.toml)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_TABLE = Path(__file__).with_name("health_terms.toml")
_PLURAL = r"(?:e?s|[’']s)?"


@dataclass(frozen=True, slots=True)
class HealthTerm:
    """A term of the table at text[start:end].

    `medical` is the term that means the same, "" when the word is the term. `headings` are broader.
    `is_broad` marks words that tell little of what a text is about ("virus", "children").
    """

    text: str
    start: int
    end: int
    medical: str = ""
    headings: tuple[str, ...] = ()
    is_broad: bool = False


def find_terms(text: str) -> list[HealthTerm]:
    """The terms of the table in a text, in order; of those that overlap the longest.

    Abbreviations count in capitals only ("MS", not "ms"), and not in a text that is all capitals.
    """
    plain = text.replace("’", "'")
    found = [_lay_term(match) for match in _lay_pattern().finditer(plain)]
    if not plain.isupper():
        found += [_abbreviation(match) for match in _abbreviations().finditer(plain)]
    found.sort(key=lambda term: (term.start, term.start - term.end))
    kept: list[HealthTerm] = []
    for term in found:
        if not kept or term.start >= kept[-1].end:
            kept.append(term)
    return kept


@cache
def other_names() -> Mapping[str, str]:
    """Lay words of the table, in lower case and the singular, and the medical term that means the same."""
    table = _table()
    return {**table["same"], **table["also"]}


def medical_name(word: str) -> str | None:
    """What medical sources call a lay word in lower case, whether it is a plural or not; None for other words."""
    names = other_names()
    return names.get(word) or names.get(word.removesuffix("s"))


def _lay_term(match: re.Match[str]) -> HealthTerm:
    table = _table()
    key = match.group("key").lower()
    medical = table["same"].get(key, "")
    headings = table["headings"].get(key) or table["headings"].get(medical)
    broad = table["broad"].get(key)
    return HealthTerm(
        match.group(), match.start(), match.end(), medical, tuple(headings or broad or ()), bool(broad) and not headings
    )


def _abbreviation(match: re.Match[str]) -> HealthTerm:
    table = _table()
    key = match.group("key").lower()
    return HealthTerm(
        match.group(), match.start(), match.end(), table["short"][key], tuple(table["headings"].get(key, ()))
    )


@cache
def _table() -> dict[str, dict[str, Any]]:
    with _TABLE.open("rb") as file:
        return tomllib.load(file)


@cache
def _lay_pattern() -> re.Pattern[str]:
    table = _table()
    keys = {*table["same"], *table["headings"], *table["broad"]}
    return re.compile(_alternatives(keys), re.IGNORECASE)


@cache
def _abbreviations() -> re.Pattern[str]:
    return re.compile(_alternatives({key.upper() for key in _table()["short"]}))


def _alternatives(keys: set[str]) -> str:
    longest_first = "|".join(re.escape(key) for key in sorted(keys, key=lambda key: (-len(key), key)))
    return rf"(?<![\w-])(?P<key>{longest_first}){_PLURAL}(?![\w-])"
