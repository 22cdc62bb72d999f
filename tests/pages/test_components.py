"""Pieces of marked text add up to the text they were cut from; numbers in bars can be read on whatever colour."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright._impl._driver import compute_driver_executable

from crowdnotes.domain import Passage, SentenceSupport, Span, Support
from pages.common import components
from pages.common.charts import _ink_on
from pages.common.components import Piece, note_pieces, passage_pieces, passage_words, sentence_pieces
from tests.pages.conftest import ROOT

words = st.text(alphabet="abc .\n<é", max_size=60)


def joined(pieces: list[Piece]) -> str:
    return "".join(piece["text"] for piece in pieces)


@st.composite
def texts_with_spans(draw: st.DrawFn) -> tuple[str, list[Span]]:
    text = draw(words)
    ends = st.integers(min_value=0, max_value=len(text))
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=5))
    return text, [Span(start=min(pair), end=max(pair)) for pair in pairs]


def test_the_script_of_each_component_can_be_read(tmp_path: Path) -> None:
    scripts = sorted((ROOT / "assets" / "components").glob("*.js"))
    assert scripts
    for script in scripts:
        module = tmp_path / f"{script.stem}.mjs"
        module.write_bytes(script.read_bytes())
        done = subprocess.run([compute_driver_executable()[0], "--check", module], check=False, capture_output=True)
        assert not done.returncode, done.stderr.decode()


@given(texts_with_spans(), words, words)
def test_a_passage_is_whole_whatever_is_marked(cut: tuple[str, list[Span]], before: str, after: str) -> None:
    text, marks = cut
    passage = Passage(
        text=text, span=Span(start=0, end=len(text)), similarity=0, before=before, after=after, marks=tuple(marks)
    )
    assert joined(passage_pieces(passage)) == before + text + after


@given(texts_with_spans(), st.sampled_from(Support))
def test_a_note_is_whole_whatever_its_sentences_are_called(cut: tuple[str, list[Span]], support: Support) -> None:
    text, spans = cut
    sentences = [SentenceSupport(span=span, support=support, score=0.5) for span in spans]
    assert joined(note_pieces(text, sentences)) == text


def test_doubted_words_are_marked_with_the_doubt() -> None:
    note = "One. Two hundred people."
    sentence = SentenceSupport(
        span=Span(start=5, end=24),
        support=Support.PARTLY,
        score=0.5,
        doubts=("E1 says 20",),
        doubted=(Span(start=5, end=16),),
    )
    pieces = sentence_pieces(note, sentence)
    assert [(piece["text"], piece["kind"], piece["title"]) for piece in pieces] == [
        ("Two hundred", "doubt", "E1 says 20"),
        (" people.", "", ""),
    ]


def test_a_table_in_a_passage_is_shown_as_words_whatever_is_cut_within_its_rows() -> None:
    before, after = "Reports\n| Year | Repo", "\n| 2023 | 11 |\nThe end."
    text = "rts |\n|---|---|\n| 2024 | 12 |"
    marks = tuple(Span(start=text.index(word), end=text.index(word) + len(word)) for word in ("24 | 1", "2 |"))
    passage = Passage(
        text=text, span=Span(start=0, end=len(text)), similarity=0, before=before, after=after, marks=marks
    )
    assert [(piece["text"], piece["kind"]) for piece in passage_pieces(passage)] == [
        ("Reports\nYear · Repo", "context"),
        ("rts\n20", ""),
        ("24 · 1", "mark"),
        ("2", "mark"),
        ("\n2023 · 11\nThe end.", "context"),
    ]


def test_what_is_shown_before_a_passage_begins_at_a_sentence_unless_the_page_begins_there() -> None:
    before, text = "second time. It stays the same. ", "Boiling kills germs."
    within = Passage(text=text, span=Span(start=500, end=520), similarity=0, before=before)
    assert joined(passage_pieces(within)) == f"It stays the same. {text}"
    assert joined(passage_pieces(within.replace(before="a good many kettles "))) == text
    first = within.replace(span=Span(start=len(before), end=len(before) + len(text)))
    assert joined(passage_pieces(first)) == before + text


def test_a_mark_that_begins_at_a_cell_does_not_glue_its_number_to_the_one_before() -> None:
    text = "| 2024 | 12 | 3 |\n| 2023 | 11 | 4 |"
    mark = Span(start=text.index("| 12"), end=text.index("\n"))
    passage = Passage(text=text, span=Span(start=0, end=len(text)), similarity=0, marks=(mark,))
    pieces = passage_pieces(passage)
    assert joined(pieces) == "2024 · 12 · 3\n2023 · 11 · 4"
    assert [piece["text"] for piece in pieces if piece["kind"] == "mark"] == ["12 · 3"]
    assert passage_words(passage, mark) == "12 · 3"


def test_a_quote_from_a_row_reads_as_the_card_does_though_the_rest_of_the_table_stands_before_the_passage() -> None:
    text = "| 2024 | 12 |\nThe end."
    before = "| Year | Reports |\n|---|---|\n"
    passage = Passage(text=text, span=Span(start=0, end=len(text)), similarity=0, before=before)
    assert passage_words(passage, Span(start=0, end=len("| 2024 | 12 |"))) == "2024 · 12"


@given(st.integers(min_value=0, max_value=0xFFFFFF))
def test_ink_has_the_contrast_that_small_words_need_on_any_colour(number: int) -> None:
    colour = f"#{number:06x}"
    lighter, darker = sorted((luminance(colour), luminance(_ink_on(colour))), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance."""
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize(("place", "passed_on"), [(1, [1]), (2, []), (-1, []), ("1", []), (True, []), (None, [])])
def test_a_click_on_the_map_counts_only_where_there_is_a_point(
    monkeypatch: pytest.MonkeyPatch, place: object, passed_on: list[int]
) -> None:
    drawn: dict[str, Any] = {}
    monkeypatch.setattr(components, "_note_map_component", drawn.update)
    monkeypatch.setattr("streamlit.session_state", {"map": SimpleNamespace(chosen=place)})
    chosen: list[int] = []
    components.note_map({"points": [{}, {}]}, on_choice=chosen.append, key="map")
    drawn["on_chosen_change"]()
    assert chosen == passed_on
