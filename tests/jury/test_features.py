"""A note's text as numbers."""

from __future__ import annotations

import hashlib

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdnotes.jury.features import BITS, features
from crowdnotes.jury.style import NAMES, style
from crowdnotes.testing import HashingEmbedder

_NOTES = (
    "This is false. The clinic closed in 2019. https://www.example.org/news/clinic-closed-in-spring",
    "NNN: opinion! See https://x.com/SomeOne/status/123",
    "これは誤りです。",
)


def test_the_shipped_weights_still_meet_the_columns_that_they_were_trained_on() -> None:
    # A change of what is read from a text must raise features.VERSION and train the model again.
    read = features(_NOTES, None)
    digest = hashlib.sha256()
    for name in BITS:
        block = read.blocks[name].sorted_indices()
        digest.update(np.asarray(block.indices, dtype=np.int64).tobytes())
        digest.update(np.asarray(block.indptr, dtype=np.int64).tobytes())
    digest.update(read.manner.round(6).tobytes())
    assert digest.hexdigest()[:16] == "2f4f794285ca2d02"


def test_an_account_linked_to_counts_beside_its_host() -> None:
    with_account, host_alone = (
        features([f"Look: {link}"], None).blocks["sources"]
        for link in ("https://x.com/SomeOne/status/1", "https://x.com")
    )
    assert with_account.nnz == 2
    assert host_alone.nnz == 1
    assert set(host_alone.indices) < set(with_account.indices)


def test_the_words_of_a_links_path_count_as_words() -> None:
    with_path = features(["See https://a.example.org/clinic-closed"], None).blocks["words"]
    without = features(["See https://a.example.org/"], None).blocks["words"]
    assert with_path.nnz > without.nnz


def test_no_notes_give_no_rows() -> None:
    read = features([], HashingEmbedder())
    assert len(read) == 0
    assert read.blocks["words"].shape == (0, 1 << BITS["words"])


@settings(max_examples=60)
@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    read = features([text], None)
    assert read.manner.shape == (1, len(NAMES))
    assert np.isfinite(read.manner).all()


def test_manner_counts_links_and_capitals() -> None:
    calm, loud = style(["The clinic closed. https://a.example.org/x", "THE CLINIC CLOSED!!!"])
    assert calm[NAMES.index("links")] == 0.5
    assert loud[NAMES.index("no link")] == 1
    assert loud[NAMES.index("exclamation marks")] == 3
    assert loud[NAMES.index("words in capitals")] > calm[NAMES.index("words in capitals")]
