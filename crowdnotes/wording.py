"""Every text of the screen, by its name in assets/words.toml."""

from __future__ import annotations

import re
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


def name_of(section: str, value: str) -> str:
    """The words for a value that is stored ("events", "note edited"); the value where only another version has them."""
    return str(catalogue().get(f"{section}.{key_of(value)}", value))


def key_of(value: str) -> str:
    """A stored value as the name of a text: "note edited" is note_edited."""
    return re.sub(r"\W+", "_", value.lower())


@cache
def catalogue() -> dict[str, _Words]:
    """All texts: "section.name" to the words, or to {one, other}."""
    sections = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {f"{section}.{name}": words for section, texts in sections.items() for name, words in texts.items()}
