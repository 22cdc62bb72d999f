"""Every text of the screen, by its name in assets/words.toml."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

_FILE = Path(__file__).parents[1] / "assets" / "words.toml"
_Words = str | dict[str, str]


def say(name: str, /, **values: object) -> str:
    """The text of that name ("note.undo"), its {places} filled in as they are: escape what comes from outside.

    Where the text has two forms, `n` chooses: one for 1, other for the rest. Raises KeyError for a name or a value
    that is not there.
    """
    words = catalogue()[name]
    if isinstance(words, dict):
        words = words["one" if values["n"] == 1 else "other"]
    return words.format_map(values) if values else words


@cache
def catalogue() -> dict[str, _Words]:
    """All texts: "section.name" to the words, or to {one, other}."""
    sections = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {f"{section}.{name}": words for section, texts in sections.items() for name, words in texts.items()}
