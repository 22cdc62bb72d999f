"""The documents in docs/, to be read in the app."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parents[2] / "docs"
_FOR_USERS = ("models", "people", "presenting", "settings")  # first; the others are for those who change the program
_LINK = re.compile(r"\]\((\w+)\.md(?:#[^)]*)?\)")


@cache
def documents() -> dict[str, str]:
    """The title of each document, by its name."""
    names = sorted((path.stem for path in _FOLDER.glob("*.md")), key=lambda name: (name not in _FOR_USERS, name))
    return {name: _text(name).split("\n", 1)[0].removeprefix("# ") for name in names}


def document(name: str) -> str:
    """Its Markdown below the title; links to other documents lead to them in the app."""
    return _LINK.sub(r"](help?document=\1)", _text(name).split("\n", 1)[1])


def _text(name: str) -> str:
    return (_FOLDER / f"{name}.md").read_text(encoding="utf-8")
