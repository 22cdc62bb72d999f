"""Trains the judges: the helpfulness head on HealthNotes, the opinion head on notes that both camps approve.

Helpfulness is measured beside simple rivals in nested cross-validation: no post and no note stands in two folds, nor do
near duplicates of either. A second measure is by time: the newest quarter, judged by a head of the older notes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from crowdnotes.engines.embedding import Embedder
from crowdnotes.engines.local.helpfulness import helpfulness_blocks
from crowdnotes.engines.local.principles import opinion_blocks
from crowdnotes.engines.local.trained_models import Blocks, Head, letter_counts, linked_hosts, note_words, word_counts
from crowdnotes.errors import InputError
from crowdnotes.studies.camp_notes import OPINION_LABELS
from crowdnotes.studies.data_files import HealthNote
from crowdnotes.studies.measures import bootstrap_auc, macro_f1, rounded_ends
from crowdnotes.studies.train.heads import (
    Labels,
    Recipe,
    Sample,
    Scores,
    fitted_head,
    group_texts,
    joined_groups,
    mean_auc,
    nested_scores,
    newest_quarter,
    rivals_auc,
)
from crowdnotes.text.stems import content_tokens, plain_post

FOLDS = 5
FOLD_SETS = 2
_WEIGHTS = (0.1, 0.2, 0.4)
HELPFULNESS = Recipe(("words",), ("note", "post"), penalties=(1.0, 3.0), weights=_WEIGHTS)
OPINION = Recipe(("words", "letters"), ("note", "features"), penalties=(1.0,), weights=(1.0,))  # without the newest
RIVALS = {
    "embeddings": Recipe((), ("plain note", "plain post"), penalties=(0.01, 0.1, 1.0, 10.0)),
    "n-grams": Recipe(("words", "letters", "post words"), penalties=(0.3, 1.0, 3.0, 10.0)),
    "six plain features": Recipe((), ("plain features",), penalties=(0.1, 1.0, 10.0)),
}


@dataclass(frozen=True, slots=True)
class TrainedHead:
    """The head of all notes, each note's label and held-out probability (n,), and what was measured."""

    head: Head
    labels: npt.NDArray[np.bool_]
    probabilities: Scores
    figures: dict[str, object]


def sample_of(notes: Sequence[HealthNote], embedder: Embedder) -> Sample:
    """The plain blocks of notes and posts, which were helpful, and which may not be parted by a fold.

    Raises InputError when there are too few notes of either kind.
    """
    posts, words = [plain_post(note.post) for note in notes], [note_words(note.note) for note in notes]
    plain: Blocks = {
        "plain post": embedder.encode(posts),
        "plain note": embedder.encode(words),
        "letters": letter_counts([note.note for note in notes]),
        "post words": word_counts(posts),
    }
    groups = joined_groups(group_texts(posts, plain["plain post"]), group_texts(words, plain["plain note"]))
    labels: Labels = np.array([note.is_helpful for note in notes], dtype=np.int64)
    if min(len(set(groups[labels == label])) for label in (0, 1)) < FOLDS:
        raise InputError(
            f"For {FOLDS} folds there must be {FOLDS} helpful and {FOLDS} unhelpful notes that differ.",
            "Add more notes.",
        )
    return Sample(plain, labels, groups)


def train_helpfulness(
    notes: Sequence[HealthNote], reader: Embedder | None, embedder: Embedder, progress: Callable[[str], None]
) -> TrainedHead:
    """Measure, fit and calibrate. Deterministic for the same notes, reader and embedder; words alone without a reader.

    Raises InputError when there are too few notes of either kind.
    """
    progress(f"reading {len(notes)} notes")
    plain = sample_of(notes, embedder)
    blocks: Blocks = {
        **helpfulness_blocks(reader, reader.name if reader else "", [(note.as_post, note.note) for note in notes]),
        **plain.blocks,
        "plain features": np.array([_plain_features(note) for note in notes]),
    }
    sample = Sample(blocks, plain.labels, plain.groups)
    recipe = HELPFULNESS if reader is not None else Recipe(HELPFULNESS.counts, penalties=HELPFULNESS.penalties)
    folds = [sample.folds(FOLDS, seed) for seed in range(FOLD_SETS)]
    scores = [nested_scores(recipe, sample, each)[0] for each in folds]
    progress(f"head: AUC {mean_auc(sample.truth, scores):.3f}")
    head, calibrated = fitted_head(recipe, sample, scores[0], reader.name if reader else embedder.name)
    interval = bootstrap_auc(sample.truth, np.mean(scores, axis=0), sample.groups)
    by_time = newest_quarter([note.created_at_ms for note in notes], sample)
    newest = None
    if by_time is not None:
        rows = by_time[1]
        newest = mean_auc(sample.truth[rows], [nested_scores(recipe, sample, [by_time])[0][rows]])
    macro = np.mean([macro_f1(sample.truth, calibrated(each) >= 0.5) for each in scores])
    figures: dict[str, object] = {
        "notes": len(notes),
        "base_rate": round(float(sample.labels.mean()), 4),
        "folds": FOLDS,
        "fold_sets": FOLD_SETS,
        "nested_auc": mean_auc(sample.truth, scores),
        "nested_auc_interval": rounded_ends(interval),
        "nested_macro_f1": round(float(macro), 4),
        "newest_quarter_auc": newest,
        "rivals_nested_auc": rivals_auc(RIVALS, sample, folds, progress),
    }
    return TrainedHead(head, sample.truth, calibrated(scores[0]), figures)


def _plain_features(note: HealthNote) -> list[float]:
    hosts = linked_hosts(note.note)
    words = {token.stem for token in content_tokens(note_words(note.note))}
    in_post = {token.stem for token in content_tokens(plain_post(note.post))}
    return [
        float(len(hosts)),
        float(len(set(hosts))),
        float(any(host.endswith((".gov", ".edu", "who.int", "nhs.uk")) for host in hosts)),
        float(len(note.note)),
        len(words & in_post) / max(1, len(words)),
        float(note.note.count("!") + note.note.count("?")),
    ]


def train_opinion(notes: pd.DataFrame, embedder: Embedder, progress: Callable[[str], None]) -> TrainedHead:
    """Fit and measure on `labelled_bridging` notes, oldest first: opinion, speculation or hostility against the rest.

    Five blocks by time: each is judged by a head of the other four, so that the newest fifth is judged by a head
    of older notes alone, and that is the figure. Deterministic.
    """
    texts = [str(text) for text in notes["text"]]
    progress(f"reading {len(texts)} notes")
    labels: Labels = notes["content_label"].isin(OPINION_LABELS).to_numpy().astype(np.int64)
    every = np.arange(len(texts))
    sample = Sample(opinion_blocks(embedder, embedder.name, texts), labels, every)
    fifths = np.array_split(every, FOLDS)
    held_out = nested_scores(OPINION, sample, [(np.setdiff1d(every, fifth), fifth) for fifth in fifths])[0]
    auc = mean_auc(sample.truth[fifths[-1]], [held_out[fifths[-1]]])
    progress(f"newest fifth: AUC {auc:.3f}; fitting to all")
    head, calibrated = fitted_head(OPINION, sample, held_out, embedder.name)
    figures: dict[str, object] = {
        "notes": len(notes),
        "opinion_or_hostile": int(labels.sum()),
        "newest_fifth": len(fifths[-1]),
        "auc_on_newest_fifth": auc,
    }
    return TrainedHead(head, sample.truth, calibrated(held_out), figures)
