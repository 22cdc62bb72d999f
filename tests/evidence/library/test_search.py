"""What a query finds in a library: words, topics and the best window of a text."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from crowdnotes.evidence.library import search
from crowdnotes.evidence.library.search import (
    WINDOW_CHARACTERS,
    best_window,
    build_expression,
    embed_topics,
    nearest_topics,
    topics_of,
)
from crowdnotes.text.tokens import spaced
from tests.fakes import HashingEmbedder


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


def test_each_word_is_asked_once_stop_words_and_links_are_left_out_and_very_long_texts_are_cut() -> None:
    assert build_expression("What is the heart attack? https://t.co/abc").terms == ("heart", "attack")
    assert build_expression("flu Flu FLU").terms == ("flu",)
    assert len(build_expression(" ".join(f"word{i}" for i in range(500))).terms) == 24
    assert build_expression("!!! \u200b …").fts == ""
    assert build_expression("").terms == ()


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("ECLAIR", [2]),
        ("vaccine", [2]),
        ("疫苗", [1]),
        ("टीका", [3]),
        ("heart NOT attack", [0]),
        ('body:"heart" OR f* NEAR(x, 2) AND ^', [0, 2]),
    ],
)
def test_accents_forms_and_other_scripts_are_found_and_full_text_syntax_is_only_words(
    index: sqlite3.Connection, text: str, rows: list[int]
) -> None:
    assert _found(index, text) == rows


@given(st.text())
@example('"')
@example('" OR 1=1; DROP TABLE f; --')
@example("NEAR(a b, 10) AND NOT body : x* ^ {a}")
@example("\x00\ud800")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_text_breaks_the_search(index: sqlite3.Connection, text: str) -> None:
    expression = build_expression(text)
    assert bool(expression.fts) == bool(expression.terms)
    _found(index, text)


def test_what_most_titles_share_is_no_topic_and_few_titles_lose_only_stop_words() -> None:
    titles = [f"What are the symptoms of disease{i} ?" for i in range(300)]
    assert topics_of(titles)[:2] == ["disease0", "disease1"]
    assert topics_of(["What is flu?", "What is a cold?"]) == ["flu", "cold"]


def test_equal_topics_share_a_row_and_empty_ones_have_none() -> None:
    heard: list[float] = []
    vectors, rows = embed_topics(["flu", "", "cold", "flu"], HashingEmbedder(), heard.append)
    assert rows == [0, None, 1, 0]
    assert vectors.shape == (2, 256)
    assert heard[-1] == 1
    assert nearest_topics(vectors, HashingEmbedder().encode(["the cold"])[0], 1) == [1]


def test_no_titles_give_no_vectors_and_past_the_limit_records_have_no_topic() -> None:
    vectors, rows = embed_topics([], HashingEmbedder(), lambda share: None)
    assert (vectors.shape, rows) == ((0, 256), [])
    many = [f"t{i}" for i in range(search.MOST_TOPICS + 5)]
    vectors, rows = embed_topics(many, HashingEmbedder(), lambda share: None)
    assert len(vectors) == search.MOST_TOPICS
    assert rows[-1] is None
    assert np.isfinite(vectors).all()


FILLER = "The weather in the valley stayed mild. "
WEIGHTS = {"heart": 2.0, "vaccin": 3.0}


def test_the_sentence_deep_in_a_text_is_found_or_without_a_match_its_beginning() -> None:
    for times in (10, 2000):
        text = FILLER * times + "Vaccines spare the heart. " + FILLER * times
        window = best_window(text, WEIGHTS)
        assert "Vaccines spare the heart." in text[window.start : window.end]
    assert best_window(FILLER * 50, WEIGHTS).start == 0
    assert best_window("", WEIGHTS).end == 0


@given(st.text(), st.integers(1, 300), st.dictionaries(st.text(min_size=1, max_size=6), st.floats(0.1, 9), max_size=5))
def test_a_window_is_short_and_lies_in_the_text(text: str, times: int, weights: dict[str, float]) -> None:
    window = best_window(text * times, weights)
    assert 0 <= window.start <= window.end <= len(text) * times
    assert window.end - window.start <= WINDOW_CHARACTERS
