"""Which words move the sides."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from crowdnotes.jury.features import features
from crowdnotes.jury.influence import influences
from crowdnotes.testing import HashingEmbedder
from tests.jury.models import small_model


def _influences(note: str) -> list[tuple[str, float, float, bool]]:
    embedder = HashingEmbedder()
    found = influences(note, features([note], embedder), None, small_model(), embedder)
    return [(one.words, one.on_negative, one.on_positive, one.whole_sentence) for one in found]


def test_the_word_that_pleases_one_side_is_found_with_its_direction() -> None:
    words = {word: (negative, positive) for word, negative, positive, _ in _influences("divisive plus clinic closed")}
    assert words["plus"][0] < -0.1
    assert words["plus"][1] > 0.1
    assert "clinic" not in words


def test_a_sentence_is_weighed_as_a_whole() -> None:
    found = _influences("The clinic closed in spring. This is a divisive thing to say.")
    sentence = next(one for one in found if one[3])
    assert sentence[0] == "This is a divisive thing to say."
    assert sentence[1] < -0.1
    assert sentence[2] < -0.1


def test_a_note_without_known_words_has_no_influences() -> None:
    assert _influences("The clinic closed in spring.") == []


@settings(max_examples=25, deadline=None)
@given(st.text(alphabet="ab .!?\n\u3042lovely https://x.com/", min_size=1, max_size=80))
def test_every_influence_names_words_where_they_stand(note: str) -> None:
    embedder = HashingEmbedder()
    for found in influences(note, features([note], embedder), None, small_model(), embedder):
        assert note[found.span.start : found.span.end] == found.words
        assert -1 <= found.on_negative <= 1
