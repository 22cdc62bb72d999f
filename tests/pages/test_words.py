"""The texts of the screen: each name that a page says is there, each text is said, and no place in one is left open."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from crowdnotes.domain import Kind
from crowdnotes.wording import catalogue, key_of, say

_ROOT = Path(__file__).parents[2]
_SCREEN = [_ROOT / "app.py", *sorted((_ROOT / "pages").rglob("*.py"))]
_PROGRAM = {str(file.relative_to(_ROOT / "crowdnotes")): file for file in sorted((_ROOT / "crowdnotes").rglob("*.py"))}
_FILES = [*_SCREEN, *_PROGRAM.values()]
_SAYING = (
    "bridging/",
    "cases/",
    "comparisons/",
    "crowd/",
    "demonstration.py",
    "domain/",
    "drafting.py",
    "embedding.py",
    "engines/",
    "errors.py",
    "evidence/",
    "gates/",
    "handoff.py",
    "jobs/",
    "jury/",
    "overview/",
    "people.py",
    "presenting.py",
    "settings.py",
    "storage/",
    "supernotes/",
    "text/",
    "workspace.py",
    "x_api/",
)
"""Files and folders of crowdnotes/ whose sentences a person reads on the screen: they stand in the catalogue too."""
_OF_OTHERS = (
    "crowd/fitting.py",
    "crowd/indexing.py",
    "crowd/loading.py",
    "crowd/made_data.py",
    "domain/upgrade.py",
    "engines/llm/claims.py",
    "engines/llm/parsing.py",
    "engines/llm/question.py",
    "engines/llm/revising.py",
    "engines/llm/searching.py",
    "engines/llm/self_test.py",
    "engines/llm/supernotes.py",
    "engines/llm/writing.py",
    "engines/local/queries.py",
    "engines/local/tone.py",
    "engines/local/topics.py",
    "evidence/reading/document.py",
    "evidence/search/current_events.py",
    "evidence/search/europe_pmc.py",
    "evidence/search/google_fact_check.py",
    "evidence/search/service.py",
    "evidence/search/who_iris.py",
    "evidence/search/who_outbreaks.py",
    "text/publishers.py",
)
"""Files there that hold words which are looked for, said to models, databases, search services or the command line,
stored, or X's own."""
_WITHOUT_TEXT = [
    *_SCREEN,
    *(file for name, file in _PROGRAM.items() if name.startswith(_SAYING) and name not in _OF_OTHERS),
]

_NOT_SHOWN = frozenset(
    {
        "as pasted",
        "edited elsewhere",
        "evidence changed",
        "No note: ",
        "NOT RUN: ",
        "NOT RUN: {} ",
        "US cents",
        "bottom center",
        "top center",
        "a retraction notice",
        "expression of concern",
        "linked to",
        "answer cache",
        "search cache",
        "embedding cache",
        "at least",
        "different configuration",
        "one row stands on the left",
        "at most",
        "Value error, ",
        "final decision",
        "LM Studio",
        "recorded answers",
        "the model",
        "trained head",
        "per cent",
        "unexpected end of data",
        "expected after",
        "field larger",
        "access through your institution",
        "Brave Search",
        "Jina Reader",
        "Tavily Extract",
        "corrected since",
        "rate limit",
        "measles vaccine",
        "the post itself",
        "in the order of the search",
        "NOT RUN",
        "interpreter shutdown",
        "job heartbeat",
        "job worker",
        "stage assess",
        "stage passages",
        "after the cutoff",
        "The Wayback Machine",
    }
)
"""Names of kinds, rules, units and services, words that are looked for, what studies alone say, and beginnings."""
_LOOK = re.compile(r":[a-z-]+\[|:material/\w+:")  # Streamlit's colours and icons
_CODE = re.compile(
    r"[<.^]|.*\((?:\?:|SELECT\b)|\s*(?:ALTER|BEGIN|CREATE|DELETE|DROP|INSERT|PRAGMA|SELECT|SET|UPDATE|WITH)\b"
)
"""The beginnings of HTML, CSS and SQL, and patterns."""
_TWO_WORDS = re.compile(r"[^\W\d_]{2,}[,.:;]?(?: \{\})*[ *“”]+[^\W\d_]{2,}")


_TO_OTHERS = frozenset({"Block", "Field", "ValueError", "cast"})
"""What is said to a model, to programmers, and in the list of settings."""


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


def _texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and words of each string that may reach the screen; {} stands for what is filled in."""
    passed_over = {id(node) for told in ast.walk(tree) for node in _never_shown(told)}
    for node in ast.walk(tree):
        if id(node) in passed_over:
            continue
        if isinstance(node, ast.JoinedStr):
            passed_over.update(id(part) for part in node.values if isinstance(part, ast.Constant))
            parts = (str(part.value) if isinstance(part, ast.Constant) else " {} " for part in node.values)
            yield node.lineno, re.sub(" +", " ", "".join(parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def _never_shown(node: ast.AST) -> Iterator[ast.AST]:
    """Docstrings, patterns, types, values of kinds, names of rules, and what is said to the log or to programmers."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        yield node.value
    if isinstance(node, ast.ClassDef) and {"StrEnum", "Kind"} & set(map(ast.unparse, node.bases)):
        yield from (part.value for part in node.body if isinstance(part, ast.Assign))
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func)
        if called in _TO_OTHERS or called.startswith(("_log.", "_logger.", "re.")):
            arguments = (*node.args, *(keyword.value for keyword in node.keywords))
            yield from (part for argument in arguments for part in ast.walk(argument))
        elif called == "WorkflowError":
            yield node.args[0]
        elif isinstance(node.func, ast.Attribute) and node.func.attr in ("split", "replace"):
            yield node.func.value


def _is_named(text: str) -> bool:
    """Whether it is not shown, or stored, and shown in words that are in the catalogue."""
    return text in _NOT_SHOWN or not catalogue().keys().isdisjoint(_named(text))


def _named(value: str) -> set[str]:
    return {f"{section}.{key_of(value)}" for section in ("events", "kinds", "rule_names", "wins", "x", "x_next")}


def _in_code(file: Path) -> list[str]:
    """Two words beside each other are a text, unless they are HTML, a selector of CSS, or a name in the program."""
    return [
        f"{file.name}:{line}: {text}"
        for line, text in _texts(ast.parse(file.read_text(encoding="utf-8")))
        if _TWO_WORDS.search(_LOOK.sub("", text)) and not _CODE.match(text) and not _is_named(text)
    ]


@pytest.mark.parametrize("file", _WITHOUT_TEXT, ids=lambda file: file.stem)
def test_no_text_of_the_screen_stands_in_code(file: Path) -> None:
    assert _in_code(file) == [], "say them from assets/words.toml"


def test_every_text_is_said_somewhere() -> None:
    constants = {node.value for _, node in _nodes() if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    said = constants.union(*map(_named, constants))
    assert sorted(name for name in catalogue() if name not in said) == []


def test_every_kind_that_is_shown_has_words() -> None:
    values = [str(value) for kind in Kind.__subclasses__() for value in kind]
    assert [value for value in values if f"kinds.{key_of(value)}" not in catalogue()] == []


def test_a_text_with_two_forms_has_both() -> None:
    assert all(words.keys() == {"one", "other"} for words in catalogue().values() if isinstance(words, dict))


def test_a_name_that_is_not_there_is_told() -> None:
    with pytest.raises(KeyError):
        say("nowhere.nothing")
