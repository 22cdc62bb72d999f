"""When to ask whom: a register is asked only where a claim speaks of what it registers; see when_to_ask.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

from crowdnotes.engines.local.health_terms import known_words
from crowdnotes.text.languages import language_of
from crowdnotes.text.plain_letters import plain_letters


class _HasName(Protocol):
    @property
    def name(self) -> str: ...


Provider = TypeVar("Provider", bound=_HasName)


def relevant_providers(providers: Sequence[Provider], words: str) -> list[Provider]:
    """Return those of the providers that words call for: what a claim says, or what a person typed.

    Where that would be none, it is all: a person who chose only registers wants them asked.
    """
    text = _add_english_words(plain_letters(words))
    return [one for one in providers if _is_relevant(one.name, text)] or list(providers)


def is_register(name: str) -> bool:
    """Return whether the provider of that name is asked only when it is called for."""
    return name in _load_table()["ask"]


def words_of(thing: str, text: str) -> list[str]:
    """Return the words of a text that speak of a thing of the table, in lower case, each once."""
    return list(dict.fromkeys(match.group().lower() for match in _compile_pattern(thing).finditer(text)))


def _is_relevant(name: str, text: str) -> bool:
    things: Sequence[str] | None = _load_table()["ask"].get(name)
    return things is None or any(_compile_pattern(thing).search(text) for thing in things)


def _add_english_words(text: str) -> str:
    language = language_of(text) or "en"
    return text if language == "en" else " ".join([text, *(word.english for word in known_words(text, language))])


@cache
def _load_table() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@cache
def _compile_pattern(thing: str) -> re.Pattern[str]:
    words: Sequence[str] = _load_table()["things"][thing]
    return re.compile(rf"\b(?:{'|'.join(map(_build_word_pattern, words))})\b", re.IGNORECASE)


def _build_word_pattern(word: str) -> str:
    pattern = r"\w*".join(map(re.escape, word.split("*"))).replace(r"\ ", r"\s+")
    return f"(?-i:{pattern})" if word.isupper() else pattern
