"""A note's text as numbers, and which of its words move the sides."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.jury.model import BLOCKS, COLUMNS, features, hosts_of
from crowdnotes.jury.raters import Floats
from crowdnotes.jury.verdict import influences
from tests.fakes import HashingEmbedder
from tests.jury.models import small_model

_NOTES = (
    "This is false. The clinic closed in 2019. https://www.example.org/news/clinic-closed-in-spring",
    "NNN: opinion! See https://x.com/SomeOne/status/123",
    "これは誤りです。",
)


def test_the_shipped_weights_still_meet_the_columns_that_they_were_trained_on() -> None:
    # A change of what is read from a text must raise features.VERSION and train the model again.
    read = features(_NOTES, None).hashed.sorted_indices()
    digest = hashlib.sha256(np.asarray(read.indices, dtype=np.int64).tobytes())
    digest.update(np.asarray(read.indptr, dtype=np.int64).tobytes())
    assert digest.hexdigest()[:16] == "6f0742ccf1d09cb2"


@pytest.mark.parametrize(
    ("note", "found"),
    [
        ("See https://www.Example.org/a and https://m.example.com/b", ["example.org", "example.com"]),
        ("See https://x.com/SomeOne/status/1", ["x.com", "@someone"]),
        ("See https://twitter.com", ["twitter.com"]),
        ("No link at all.", []),
    ],
)
def test_hosts_and_accounts_come_in_order(note: str, found: list[str]) -> None:
    assert hosts_of(note) == found
    assert features([note], None).hashed[:, BLOCKS["hosts"]].nnz == len(found)


def test_the_words_of_a_links_path_count_as_words() -> None:
    with_path, without = (
        features([f"See {link}"], None).hashed[:, BLOCKS["words"]].nnz
        for link in ("https://a.example.org/clinic-closed", "https://a.example.org/")
    )
    assert with_path > without


def test_no_notes_give_no_rows() -> None:
    read = features([], HashingEmbedder())
    assert len(read) == 0
    assert read.hashed.shape == (0, COLUMNS)


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    assert len(features([text], None)) == 1


def _shares(texts: Sequence[str]) -> Floats:
    model = small_model()
    return model.side_shares(model.predict(features(texts, HashingEmbedder())))


def _influences(note: str) -> list[tuple[str, float, float, bool]]:
    found = influences(note, _shares, _shares)
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


@given(st.text(alphabet="ab .!?\n\u3042lovely https://x.com/", min_size=1, max_size=80))
def test_every_influence_names_words_where_they_stand(note: str) -> None:
    for found in influences(note, _shares, _shares):
        assert note[found.span.start : found.span.end] == found.words
        assert -1 <= found.on_negative <= 1
