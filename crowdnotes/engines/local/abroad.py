"""Posts in Spanish, French, German, Portuguese and Italian: their language, and their health words in English.

A table of the commonest words (health_words_abroad.toml), no translator: what it does not hold is left out.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from crowdnotes.engines.local.words import STOP_WORDS, fold, tokens

_TABLE = Path(__file__).with_name("health_words_abroad.toml")
_LANGUAGES = ("es", "fr", "de", "pt", "it")
_FEWEST = 2  # words that mark a language; one may be a name or a quotation


def language_of_post(text: str) -> str | None:
    """The ISO 639-1 code of one of the five languages, when more words mark it than mark English or another."""
    found = [token.folded for token in tokens(text)]
    english = sum(word in STOP_WORDS for word in found)
    counts = {code: sum(word in marks for word in found) for code, marks in _marks().items()}
    best = max(counts, key=lambda code: counts[code])
    return best if counts[best] >= _FEWEST and counts[best] > english else None


def in_english(text: str, language: str) -> list[str]:
    """The English of the health words in a text, each once, in order; empty for a language without a table."""
    table = _words().get(language, {})
    found = (token.folded.rpartition("'")[2] for token in tokens(text))  # "l'autisme"
    return list(dict.fromkeys(table[word] for word in found if word in table))


def denial_words(language: str) -> str:
    """How a text in the language says that there is no evidence."""
    return str(_table()["denials"][language])


@cache
def _marks() -> dict[str, frozenset[str]]:
    return {code: frozenset(map(fold, words.split())) - STOP_WORDS for code, words in _table()["marks"].items()}


@cache
def _words() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {code: {} for code in _LANGUAGES}
    for english, line in _table()["words"].items():
        columns: Sequence[str] = line.split("|")
        for code, column in zip(_LANGUAGES, columns, strict=True):
            for word in column.split():
                found[code].setdefault(fold(word), english)
    return found


@cache
def _table() -> dict[str, Any]:
    with _TABLE.open("rb") as file:
        return tomllib.load(file)
