import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from crowdnotes.evidence.library.search import build_expression
from crowdnotes.text.stems import spaced


@pytest.fixture(scope="module")
def index() -> Iterator[sqlite3.Connection]:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE f USING fts5(body, content='', tokenize='porter unicode61 remove_diacritics 2')")
    for row, text in enumerate(["heart attack", "新冠疫苗安全", "the éclair near vaccines", "टीका सुरक्षित है"]):
        db.execute("INSERT INTO f(rowid, body) VALUES (?, ?)", (row, spaced(text)))
    yield db
    db.close()


def _found(index: sqlite3.Connection, text: str) -> list[int]:
    fts = build_expression(text).fts
    return (
        [row for (row,) in index.execute("SELECT rowid FROM f WHERE f MATCH ? ORDER BY rowid", (fts,))] if fts else []
    )


def test_stop_words_and_links_are_left_out() -> None:
    assert build_expression("What is the heart attack? https://t.co/abc").terms == ("heart", "attack")


def test_repeated_words_are_asked_once_and_very_long_texts_are_cut() -> None:
    assert build_expression("flu Flu FLU").terms == ("flu",)
    assert len(build_expression(" ".join(f"word{i}" for i in range(500))).terms) == 24


def test_a_text_without_words_gives_an_empty_expression() -> None:
    assert build_expression("!!! \u200b …").fts == ""
    assert build_expression("").terms == ()


def test_accents_forms_and_other_scripts_are_found(index: sqlite3.Connection) -> None:
    assert _found(index, "ECLAIR") == [2]
    assert _found(index, "vaccine") == [2]
    assert _found(index, "疫苗") == [1]
    assert _found(index, "टीका") == [3]


def test_full_text_syntax_is_only_words(index: sqlite3.Connection) -> None:
    assert _found(index, "heart NOT attack") == [0]
    assert _found(index, 'body:"heart" OR f* NEAR(x, 2) AND ^') == [0, 2]


@given(st.text())
@example('"')
@example('" OR 1=1; DROP TABLE f; --')
@example("NEAR(a b, 10) AND NOT body : x* ^ {a}")
@example("\x00\ud800")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
def test_no_text_breaks_the_search(index: sqlite3.Connection, text: str) -> None:
    expression = build_expression(text)
    assert bool(expression.fts) == bool(expression.terms)
    _found(index, text)
