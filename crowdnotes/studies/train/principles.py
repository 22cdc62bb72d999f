"""Trains the opinion head: opinion, speculation or hostility against the rest, among notes both camps approve.

Five blocks by time: each is judged by a head of the other four, so that the newest fifth is judged by a head
of older notes alone, and that is the figure. The shipped head is then fitted to all notes, calibrated on the
held-out scores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from crowdnotes.embedding import Embedder
from crowdnotes.engines.local.heads.head import Head
from crowdnotes.engines.local.principles import opinion_blocks
from crowdnotes.studies.camp_notes import OPINION_LABELS
from crowdnotes.studies.measures import area_under_curve
from crowdnotes.studies.train.heads import Labels, Recipe, fitted_head, nested_scores

BLOCKS = 5
RECIPE = Recipe(
    ("words", "letters"), ("note", "features"), penalties=(1.0,), weights=(1.0,)
)  # chosen without the newest


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
    progress(f"reading {len(texts)} notes")
    blocks = opinion_blocks(embedder, embedder.name, texts)
    labels: Labels = notes["content_label"].isin(OPINION_LABELS).to_numpy().astype(np.int64)
    every = np.arange(len(texts))
    fifths = np.array_split(every, BLOCKS)
    folds = [(np.setdiff1d(every, fifth), fifth) for fifth in fifths]
    held_out = nested_scores(RECIPE, blocks, labels, every, folds)
    newest = fifths[-1]
    auc = area_under_curve(labels[newest].astype(bool), held_out[newest]) or 0.0
    progress(f"newest fifth: AUC {auc:.3f}; fitting to all")
    head, calibrated = fitted_head(RECIPE, blocks, labels, every, held_out, embedder.name)
    return TrainedOpinion(head, labels.astype(bool), calibrated(held_out), len(newest), auc)
