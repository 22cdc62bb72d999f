"""Which words two texts do not share."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.text.quotes import changed_words


def words(text: str, other: str) -> tuple[list[str], list[str]]:
    before, after = changed_words(text, other)
    return [text[s.start : s.end] for s in before], [other[s.start : s.end] for s in after]


def test_added_and_removed_words_are_found_in_runs() -> None:
    assert words("Tap water is never safe.", "Boiled tap water is safe to drink.") == (
        ["never"],
        ["Boiled", "to drink."],
    )


def test_case_punctuation_and_lines_do_not_count() -> None:
    assert words("Water, twice", "water\ntwice.") == ([], [])


def test_a_link_is_the_same_wherever_it_stands() -> None:
    assert words("https://a.example/b Water is safe.", "Water is safe. https://a.example/b") == ([], [])


def test_a_lone_small_word_does_not_cut_a_changed_run() -> None:
    assert words("Limescale of the kettle", "Chalk of old pots") == (["Limescale of the kettle"], ["Chalk of old pots"])


@given(st.text(max_size=80), st.text(max_size=80))
def test_spans_are_in_order_and_within_the_texts(before: str, after: str) -> None:
    for text, spans in zip((before, after), changed_words(before, after), strict=True):
        edges = [edge for span in spans for edge in (span.start, span.end)]
        assert edges == sorted(edges)
        assert all(0 <= edge <= len(text) for edge in edges)
    assert changed_words(before, before)[0] == changed_words(before, before)[1]
