"""Pieces of marked text always add up to the text they were cut from."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import Passage, SentenceSupport, Span, Support
from pages.parts.components import Piece, note_pieces, passage_pieces, sentence_pieces

words = st.text(alphabet="abc .\n<é", max_size=60)


def joined(pieces: list[Piece]) -> str:
    return "".join(piece["text"] for piece in pieces)


@st.composite
def texts_with_spans(draw: st.DrawFn) -> tuple[str, list[Span]]:
    text = draw(words)
    ends = st.integers(min_value=0, max_value=len(text))
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=5))
    return text, [Span(start=min(pair), end=max(pair)) for pair in pairs]


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


def test_a_table_in_a_passage_is_shown_as_words() -> None:
    table = "Reports\n| Year | Reports |\n|---|---|\n| 2024 | 12 |\nThe end."
    mark = Span(start=0, end=len("Reports\n| Year | Reports |"))
    passage = Passage(
        text=table, span=Span(start=0, end=len(table)), similarity=0, before="| a | b |", after="", marks=(mark,)
    )
    assert joined(passage_pieces(passage)) == "a · bReports\nYear · Reports\n2024 · 12\nThe end."
