"""Trains the helpfulness head on HealthNotes, and measures it beside simple rivals in nested cross-validation.

Grouped: no post and no note stands in two folds, nor do near duplicates of either. A second measure is by time: the
newest quarter, judged by a head of the older notes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedGroupKFold

from crowdnotes.embedding import Embedder
from crowdnotes.engines.local.heads.head import Blocks, Head, letter_counts, linked_hosts, note_words, word_counts
from crowdnotes.engines.local.helpfulness import helpfulness_blocks
from crowdnotes.errors import InputError
from crowdnotes.studies.data_files import HealthNote
from crowdnotes.studies.measures import area_under_curve, bootstrap_auc, macro_f1
from crowdnotes.studies.train.heads import Labels, Recipe, fitted_head, group_texts, joined_groups, nested_scores
from crowdnotes.text.stems import content_tokens, plain_post

FOLDS = 5
FOLD_SETS = 2
_NEWEST = 0.25
_WEIGHTS = (0.1, 0.2, 0.4)
RECIPE = Recipe(("words",), ("note", "post"), penalties=(1.0, 3.0), weights=_WEIGHTS)
RIVALS = {
    "embeddings": Recipe((), ("plain note", "plain post"), penalties=(0.01, 0.1, 1.0, 10.0)),
    "n-grams": Recipe(("words", "letters", "post words"), penalties=(0.3, 1.0, 3.0, 10.0)),
    "six plain features": Recipe((), ("plain features",), penalties=(0.1, 1.0, 10.0)),
}


@dataclass(frozen=True, slots=True)
class TrainedHead:
    """The head of all notes, the probabilities of the first fold set, and what was measured."""

    head: Head
    probabilities: npt.NDArray[np.float64]
    figures: dict[str, object]


def grouped_notes(notes: Sequence[HealthNote], embedder: Embedder) -> tuple[Blocks, Labels, Labels]:
    """The plain blocks of notes and posts, which were helpful (n,), and which may not be parted by a fold (n,).

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
    return plain, labels, groups


def train_helpfulness(
    notes: Sequence[HealthNote], reader: Embedder | None, embedder: Embedder, progress: Callable[[str], None]
) -> TrainedHead:
    """Measure, fit and calibrate. Deterministic for the same notes, reader and embedder; words alone without a reader.

    Raises InputError when there are too few notes of either kind.
    """
    progress(f"reading {len(notes)} notes")
    plain, labels, groups = grouped_notes(notes, embedder)
    blocks: Blocks = {
        **helpfulness_blocks(reader, reader.name if reader else "", [(note.as_post, note.note) for note in notes]),
        **plain,
        "plain features": np.array([_plain_features(note) for note in notes]),
    }
    recipe = RECIPE if reader is not None else Recipe(RECIPE.counts, penalties=RECIPE.penalties)
    scores = _fold_sets("head", recipe, blocks, labels, groups, progress)
    head, calibrated = fitted_head(recipe, blocks, labels, groups, scores[0], reader.name if reader else embedder.name)
    rivals = {
        name: _mean_auc(labels, _fold_sets(name, rival, blocks, labels, groups, progress))
        for name, rival in RIVALS.items()
    }
    truth = labels.astype(bool)
    figures: dict[str, object] = {
        "notes": len(notes),
        "base_rate": round(float(labels.mean()), 4),
        "folds": FOLDS,
        "fold_sets": FOLD_SETS,
        "nested_auc": _mean_auc(labels, scores),
        "nested_auc_interval": [round(end, 4) for end in bootstrap_auc(truth, np.mean(scores, axis=0), groups)],
        "nested_macro_f1": round(float(np.mean([macro_f1(truth, calibrated(each) >= 0.5) for each in scores])), 4),
        "newest_quarter_auc": _by_time(recipe, blocks, labels, groups, notes),
        "rivals_nested_auc": rivals,
    }
    return TrainedHead(head, calibrated(scores[0]), figures)


def _fold_sets(
    name: str,
    recipe: Recipe,
    blocks: Blocks,
    labels: Labels,
    groups: npt.NDArray[np.int64],
    progress: Callable[[str], None],
) -> list[npt.NDArray[np.float64]]:
    found = []
    for seed in range(FOLD_SETS):
        splitter = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed)
        found.append(nested_scores(recipe, blocks, labels, groups, splitter.split(labels, labels, groups)))
        progress(f"{name}, fold set {seed + 1} of {FOLD_SETS}: AUC {_mean_auc(labels, found[-1:]):.3f}")
    return found


def _mean_auc(labels: Labels, scores: Sequence[npt.NDArray[np.float64]]) -> float:
    return round(float(np.mean([area_under_curve(labels.astype(bool), each) or 0.0 for each in scores])), 4)


def _by_time(
    recipe: Recipe, blocks: Blocks, labels: Labels, groups: npt.NDArray[np.int64], notes: Sequence[HealthNote]
) -> float | None:
    """Notes without a time, and near duplicates of older ones, are left out of the newest; None without either kind."""
    order = np.argsort([note.created_at_ms or 0 for note in notes], kind="stable")
    older, newest = np.split(order, [round(len(order) * (1 - _NEWEST))])
    newest = np.array([row for row in newest if groups[row] not in set(groups[older])], dtype=np.int64)
    if min(len(set(labels[older])), len(set(labels[newest]))) < 2:
        return None
    scores = nested_scores(recipe, blocks, labels, groups, [(older, newest)])
    return round(area_under_curve(labels[newest].astype(bool), scores[newest]) or 0.0, 4)


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
