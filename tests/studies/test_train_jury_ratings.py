"""Training on public data: against parameters that are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crowdnotes.bridging.thresholds import THRESHOLDS
from crowdnotes.errors import InputError
from crowdnotes.jury.model import features, load_model
from crowdnotes.jury.votes import OrdinalModel
from crowdnotes.studies.train.jury_ratings import (
    class_aucs,
    load_public,
    precision_at_one,
    run_public_training,
    split_chronologically,
)
from tests.fakes import HashingEmbedder
from tests.jury.made_public_data import ORDINAL, make_public_data


@pytest.mark.deep
def test_the_newest_ratings_are_told_apart_nearly_as_well_as_by_the_true_chances(tmp_path: Path) -> None:
    made = make_public_data(tmp_path / "data", notes=1_000, raters=150, ratings_per_note=25)
    figures = run_public_training(tmp_path / "data", tmp_path / "out", HashingEmbedder(), THRESHOLDS)
    notes, _ = load_public(tmp_path / "data")
    best = made.best_auc(notes.ids[notes.part == 2])
    assert best - 0.02 <= figures["helpful_auc"] <= best + 0.01
    assert figures["ece"] < 0.05
    for row in figures["precision_at_1"][:1]:
        assert row["precision"] > row["chance"]
    model = load_model(tmp_path / "out" / "model")
    assert model.ordinal.width == pytest.approx(ORDINAL.width, rel=0.2)
    assert not model.reads_post


def test_posts_are_read_where_they_are_there(tmp_path: Path) -> None:
    make_public_data(tmp_path / "data", notes=400, raters=120, ratings_per_note=20, with_posts=True)
    figures = run_public_training(tmp_path / "data", tmp_path / "out", HashingEmbedder(), THRESHOLDS)
    model = load_model(tmp_path / "out" / "model")
    assert figures["reads_posts"]
    assert model.reads_post
    embedder = HashingEmbedder()
    note, posts = features(["bake lili nunu"] * 2, embedder), features(["baba keke", "nunu mopra"], embedder)
    read = model.predict(note, posts)
    assert read.appeal[0] != read.appeal[1]
    assert model.predict(note, None).appeal[0] != read.appeal[0]


def test_notes_are_split_by_time_and_a_posts_notes_stay_together() -> None:
    written = np.arange(20, dtype=np.int64)
    posts = np.arange(20, dtype=np.int64)
    posts[0] = 19  # the oldest note stands on the newest one's post
    posts[16] = posts[5]
    part = split_chronologically(written, posts)
    assert part.tolist() == [-1, 0, 0, 0, 0, -1, *[0] * 10, 1, 1, 2, 2]


def test_notes_without_a_known_post_bind_nothing() -> None:
    part = split_chronologically(np.arange(10, dtype=np.int64), np.full(10, -1, dtype=np.int64))
    assert part.tolist() == [0] * 8 + [1, 2]


def test_a_folder_without_notes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="lacks notes or ratings"):
        load_public(tmp_path)


def test_a_class_that_does_not_occur_has_no_auc() -> None:
    helpful, somewhat, not_helpful = class_aucs(np.asarray([1.0, -1.0]), OrdinalModel(1.0, 0.5), np.asarray([1.0, 0.0]))
    assert (helpful, somewhat, not_helpful) == (1.0, None, 1.0)


def test_precision_at_one_counts_posts_with_enough_ratings() -> None:
    note = np.repeat(np.arange(5, dtype=np.int32), 5)
    value = np.repeat([1.0, 0.0, 0.0, 1.0, 1.0], 5)
    posts = np.asarray([7, 7, 8, 8, -1])
    found = precision_at_one(np.asarray([0.9, 0.1, 0.9, 0.1, 0.5]), note, value, posts)
    assert found == [{"notes_on_post": "2", "posts": 2, "precision": 0.5, "chance": 0.5}]
