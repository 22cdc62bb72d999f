"""The texts of the screen: each name that a page says is there, each text is said, and no place in one is left open."""

from __future__ import annotations

import ast
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from pages.view.words import catalogue, say

_ROOT = Path(__file__).parents[2]
_FILES = [_ROOT / "app.py", *sorted((_ROOT / "pages").rglob("*.py"))]


def _nodes() -> Iterator[tuple[Path, ast.AST]]:
    for file in _FILES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            yield file, node


def _places(name: str) -> set[str]:
    words = catalogue()[name]
    forms = words.values() if isinstance(words, dict) else [words]
    places = {place for form in forms for _, place, _, _ in string.Formatter().parse(form) if place is not None}
    return places | {"n"} if isinstance(words, dict) else places


def test_every_text_that_a_page_says_is_there_with_its_places_filled() -> None:
    wrong = []
    for file, node in _nodes():
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say"):
            continue
        name = node.args[0]
        if not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
            continue  # from a table of names
        given = {keyword.arg for keyword in node.keywords}
        if name.value not in catalogue() or (None not in given and given != _places(name.value)):
            wrong.append(f"{file.name}:{node.lineno} {name.value}")
    assert wrong == []


def test_every_text_is_said_somewhere() -> None:
    constants = {node.value for _, node in _nodes() if isinstance(node, ast.Constant)}
    assert sorted(name for name in catalogue() if name not in constants) == []


def test_a_text_with_two_forms_has_both() -> None:
    assert all(words.keys() == {"one", "other"} for words in catalogue().values() if isinstance(words, dict))


def test_a_name_that_is_not_there_is_told() -> None:
    with pytest.raises(KeyError):
        say("nowhere.nothing")
