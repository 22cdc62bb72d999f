"""Trains the helpfulness head on HealthNotes and measures it by grouped cross-validation.

No post and no note stands in two folds, nor do near duplicates of either. Each fold's verdicts come from a head
that saw none of it, calibrated on the other folds' held-out scores, so that the line at 0.5 was not chosen on
them either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedGroupKFold

from crowdnotes.embedding import Embedder
from crowdnotes.engines.local.heads.head import Head, Sample, sigmoid
from crowdnotes.engines.local.heads.likeness import FEATURES
from crowdnotes.engines.local.heads.note_reader import NoteReader
from crowdnotes.engines.local.heads.readings import Readings
from crowdnotes.engines.local.heads.samples import note_words, pair_sample, taught_reads
from crowdnotes.errors import InputError
from crowdnotes.studies.data_files import HealthNote
from crowdnotes.studies.head_fitting import Labels, Recipe, calibration, fit_head, scores
from crowdnotes.studies.likeness_fitting import LikenessRecipe
from crowdnotes.studies.measures import area_under_curve, macro_f1
from crowdnotes.studies.near_duplicates import group_texts, joined_groups
from crowdnotes.text.stems import plain_post

FOLDS = 5
FOLD_SETS = tuple(range(10, 30))  # seeds; one alone swings by a point
# Chosen on fold sets of other seeds; neighbours within a factor of 1.5 do as well within the noise.
RECIPE = Recipe(
    inverse_penalty=0.5,
    features=0.15,
    grams={"words": 2.0, "post words": 2.0},
    vectors={"note": 0.015, "post": 0.015, "both": 0.015},
    likeness=LikenessRecipe(
        penalty=3.0, width=0.1, share=0.75, blocks={FEATURES: 1.0, "note as read": 0.3, "post as read": 0.3}
    ),
)


@dataclass(frozen=True, slots=True)
class HeldOut:
    """One cross-validation: for each note the probability from a head that did not see its post."""

    probabilities: npt.NDArray[np.float64]
    macro_f1: float
    auc: float


@dataclass(frozen=True, slots=True)
class TrainedHead:
    """The head of all notes, calibrated, and the cross-validation of each fold set, in their order."""

    head: Head
    fold_sets: tuple[HeldOut, ...]

    @property
    def middle(self) -> HeldOut:
        """The fold set with the median macro-F1."""
        return sorted(self.fold_sets, key=lambda one: one.macro_f1)[len(self.fold_sets) // 2]


def train_helpfulness(
    notes: Sequence[HealthNote],
    readings: Readings,
    reader: NoteReader | None,
    embedder: Embedder,
    progress: Callable[[str], None],
) -> TrainedHead:
    """Fit, cross-validate and calibrate. Deterministic for the same notes, readings, reader and embedder.

    Raises InputError when there are too few notes of either kind.
    """
    progress(f"reading {len(notes)} notes")
    samples, groups = _samples(notes, readings, reader, embedder)
    labels: Labels = np.array([note.is_helpful for note in notes], dtype=np.int64)
    if min(len(set(groups[labels == label])) for label in (0, 1)) < FOLDS:
        raise InputError(
            f"For {FOLDS} folds there must be {FOLDS} helpful and {FOLDS} unhelpful notes that differ.",
            "Add more notes.",
        )
    measured, found = [], []
    for number, seed in enumerate(FOLD_SETS, 1):
        held_out, folds = _held_out_scores(samples, labels, groups, seed, embedder.name)
        found.append(held_out)
        measured.append(_measured(held_out, folds, labels))
        progress(f"cross-validation {number} of {len(FOLD_SETS)}: macro-F1 {measured[-1].macro_f1:.3f}")
    slope, offset = calibration(np.concatenate(found), np.tile(labels, len(found)))
    head = replace(fit_head(samples, labels, RECIPE, embedder.name), slope=slope, offset=offset)
    return TrainedHead(head, tuple(measured))


def _samples(
    notes: Sequence[HealthNote], readings: Readings, reader: NoteReader | None, embedder: Embedder
) -> tuple[list[Sample], npt.NDArray[np.int64]]:
    posts = embedder.encode([plain_post(note.post) for note in notes])
    words = [note_words(note.note) for note in notes]
    own = embedder.encode(words)
    pairs = [(note.as_post, note.note) for note in notes]
    taught = taught_reads(reader, pairs) if reader is not None else [None] * len(notes)
    samples = [
        pair_sample(*pair, readings, *vectors, said)
        for pair, vectors, said in zip(pairs, zip(posts, own, strict=True), taught, strict=True)
    ]
    return samples, joined_groups(group_texts([note.post for note in notes], posts), group_texts(words, own))


def _held_out_scores(
    samples: Sequence[Sample], labels: Labels, groups: npt.NDArray[np.int64], seed: int, embedder: str
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Each sample's score from a head of the other folds, and its fold."""
    splitter = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed)
    found, folds = np.zeros(len(labels)), np.zeros(len(labels), dtype=np.int64)
    for fold, (train, test) in enumerate(splitter.split(labels, labels, groups)):
        head = fit_head([samples[row] for row in train], labels[train], RECIPE, embedder)
        found[test] = scores(head, [samples[row] for row in test])
        folds[test] = fold
    return found, folds


def _measured(held_out: npt.NDArray[np.float64], folds: npt.NDArray[np.int64], labels: Labels) -> HeldOut:
    probabilities = np.zeros(len(labels))
    for fold in range(FOLDS):
        inside = folds == fold
        slope, offset = calibration(held_out[~inside], labels[~inside])
        probabilities[inside] = [sigmoid(slope * score + offset) for score in held_out[inside]]
    truth = [bool(label) for label in labels]
    auc = area_under_curve(truth, probabilities)
    return HeldOut(probabilities, macro_f1(truth, [bool(p >= 0.5) for p in probabilities]), auc or 0.0)
