"""The taught reader: what it is given, what it answers, its file, and its change of the embedding model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.embedding import MiniLMEmbedder
from crowdnotes.engines.local.heads.adapter import AdaptedMiniLM, Adapter, adapter_of
from crowdnotes.engines.local.heads.note_reader import (
    LIKENESS,
    SHARPNESS,
    NoteReader,
    load_note_reader,
    readable_note,
    save_note_reader,
    taught_features,
)
from crowdnotes.engines.local.heads.shipped import READER, note_reader_for
from crowdnotes.errors import ModelFilesError
from crowdnotes.testing import HashingEmbedder

_LAYER = "encoder.layer.5.attention.output.dense"


def _adapter(up: float) -> Adapter:
    rising = np.linspace(0, up, 768, dtype=np.float32)
    return Adapter({_LAYER: rising.reshape(384, 2)}, {_LAYER: rising.reshape(2, 384)})


def _saved(folder: Path, up: float = 0.25) -> Path:
    weights = np.linspace(0, 1, 768, dtype=np.float32).reshape(2, 384)
    save_note_reader(folder / READER, _adapter(up), ["sourced", "hostile"], weights, np.array([0.5, -0.5], np.float32))
    return folder / READER


def test_a_note_is_read_with_the_names_of_the_pages_it_links_to() -> None:
    note = "Rates fell &amp; stayed low.  https://www.who.int/news/article/measles-cases-fall.html?id=1"
    assert readable_note(note) == "Rates fell & stayed low. [SEP] who.int news measles cases fall"


def test_a_note_without_links_is_read_as_its_words() -> None:
    assert readable_note("Rates\n\nfell  twice.") == "Rates fell twice."


@given(st.text(max_size=80))
def test_any_note_can_be_read_on_one_line(text: str) -> None:
    read = readable_note(f"{text} https://[ {text}")
    assert not set(read) & set("\n\r\t")


def test_a_reader_answers_each_question_by_its_own_weights() -> None:
    embedder = HashingEmbedder()
    study, rant = embedder.encode(["study"])[0], embedder.encode(["rant"])[0]
    reader = NoteReader(embedder, ("sourced", "hostile"), np.stack([study, rant]), np.array([0, -1], dtype=np.float32))
    (post, note) = reader.read(["rant", "study"])
    assert note.answers == pytest.approx({"sourced": SHARPNESS, "hostile": -1})
    features = taught_features(post, note)
    assert features["note is read: sourced"] == pytest.approx(SHARPNESS)
    assert post.answers == pytest.approx({"sourced": 0, "hostile": SHARPNESS - 1})
    assert features[LIKENESS] == pytest.approx(0)


def test_a_saved_reader_is_the_same_when_it_is_loaded(tmp_path: Path) -> None:
    reader = load_note_reader(_saved(tmp_path))
    assert reader.questions == ("sourced", "hostile")
    assert reader.encoder.name == f"{MiniLMEmbedder.name}+{adapter_of(_adapter(0.25).arrays()).mark}"
    assert reader.weights.shape == (2, 384)
    assert reader.bias.tolist() == [0.5, -0.5]


def test_readers_with_other_numbers_have_other_names(tmp_path: Path) -> None:
    first, second = (load_note_reader(_saved(tmp_path, up)).encoder.name for up in (0.25, 0.5))
    assert first != second


def test_a_damaged_reader_is_refused_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / READER).write_bytes(b"not weights")
    with pytest.raises(ModelFilesError, match="missing or damaged"):
        load_note_reader(tmp_path / READER)


def test_a_change_whose_sides_do_not_fit_is_refused() -> None:
    arrays = _adapter(1.0).arrays()
    arrays[f"down/{_LAYER}"] = arrays[f"down/{_LAYER}"][:1]
    with pytest.raises(ModelFilesError, match="damaged"):
        adapter_of(arrays)


def test_another_embedding_model_has_no_reader() -> None:
    assert note_reader_for(HashingEmbedder()) is None


@pytest.mark.model
def test_the_change_is_added_to_the_installed_model() -> None:
    texts = ["Measles is a disease.", "The post is right."]
    plain, unchanged, changed = (
        embedder.encode(texts)
        for embedder in (MiniLMEmbedder(), AdaptedMiniLM(_adapter(0.0)), AdaptedMiniLM(_adapter(1.0)))
    )
    assert np.allclose(plain, unchanged, atol=1e-3)
    assert not np.allclose(plain, changed, atol=1e-2)


@pytest.mark.model
def test_a_change_of_another_model_is_refused_with_a_way_out() -> None:
    other = Adapter(
        {"encoder.layer.99": np.ones((384, 2), np.float32)}, {"encoder.layer.99": np.ones((2, 384), np.float32)}
    )
    with pytest.raises(ModelFilesError, match="another embedding model"):
        AdaptedMiniLM(other).encode(["A note."])
