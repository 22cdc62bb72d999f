"""Trains the opinion head: opinion, speculation or hostility against the rest, among notes both camps approve.

Five blocks by time: each is judged by a head of the other four, so that the newest fifth is judged by a head
of older notes alone, and that is the figure. The shipped head is then fitted to all notes, calibrated on the
held-out scores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from crowdnotes.embedding import Embedder
from crowdnotes.engines.local.heads.head import Head, sigmoid
from crowdnotes.engines.local.heads.samples import note_sample, note_words
from crowdnotes.studies.camp_notes import OPINION_LABELS
from crowdnotes.studies.head_fitting import Labels, Recipe, calibration, fit_head, scores
from crowdnotes.studies.measures import area_under_curve

BLOCKS = 5
_BATCH = 1_000
RECIPE = Recipe(
    inverse_penalty=1.0, features=0.3, grams={"words": 1.0, "letters": 1.0}, vectors={"note": 0.1}, rarest=3
)


@dataclass(frozen=True, slots=True)
class TrainedOpinion:
    """The head of all notes, each note's label and held-out probability, oldest first, and the newest fifth's AUC."""

    head: Head
    labels: npt.NDArray[np.bool_]
    probabilities: npt.NDArray[np.float64]
    newest: int
    auc: float


def train_opinion(notes: pd.DataFrame, embedder: Embedder, progress: Callable[[str], None]) -> TrainedOpinion:
    """Fit and measure on `labelled_bridging` notes, oldest first. Deterministic."""
    texts = [str(text) for text in notes["text"]]
    vectors = []
    for start in range(0, len(texts), _BATCH):
        progress(f"reading notes {start} to {min(len(texts), start + _BATCH)} of {len(texts)}")
        vectors.append(embedder.encode([note_words(text) for text in texts[start : start + _BATCH]]))
    samples = [note_sample(text, vector) for text, vector in zip(texts, np.concatenate(vectors), strict=True)]
    labels: Labels = notes["content_label"].isin(OPINION_LABELS).to_numpy().astype(np.int64)
    held_out = np.zeros(len(samples))
    blocks = np.array_split(np.arange(len(samples)), BLOCKS)
    for number, block in enumerate(blocks, 1):
        progress(f"fitting without fifth {number} of {BLOCKS} by time")
        others = np.setdiff1d(np.arange(len(samples)), block)
        head = fit_head([samples[row] for row in others], labels[others], RECIPE, embedder.name)
        held_out[block] = scores(head, [samples[row] for row in block])
    newest = blocks[-1]
    auc = area_under_curve([bool(label) for label in labels[newest]], held_out[newest]) or 0.0
    progress(f"newest fifth: AUC {auc:.3f}; fitting to all")
    slope, offset = calibration(held_out, labels)
    head = replace(fit_head(samples, labels, RECIPE, embedder.name), slope=slope, offset=offset)
    probabilities = np.array([sigmoid(slope * score + offset) for score in held_out])
    return TrainedOpinion(head, labels.astype(bool), probabilities, len(newest), auc)
