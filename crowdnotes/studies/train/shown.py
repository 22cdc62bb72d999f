"""`crowdnotes train jury` on HealthNotes: how likely X shows a note, from post, note and time; measured, then fitted.

Nested cross-validation as for the helpfulness gate: no post and no note, nor near duplicates of either, stand in two
folds, and what is chosen or fitted is so without the fold that is judged. Each figure is told twice: with the
notes' times, by which the jury judges old notes, and without, as if all were written today, which is how well words
alone tell notes apart. A third measure is by time: the newest quarter, by a head of the older notes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedGroupKFold

from crowdnotes.embedding import Embedder
from crowdnotes.engines.local.heads.head import Blocks, Head
from crowdnotes.jury.shown import SHOWN, SHOWN_FIGURES, TODAY, shown_blocks
from crowdnotes.jury.votes import CAREFUL
from crowdnotes.studies.data_files import HealthNote, note_mark
from crowdnotes.studies.judge_files import HeldOutVerdicts, write_held_out
from crowdnotes.studies.measures import area_under_curve, bootstrap_auc, bootstrap_share, calibration_error
from crowdnotes.studies.train.heads import Labels, Recipe, fitted_head
from crowdnotes.studies.train.helpfulness import FOLDS, grouped_notes

Numbers = npt.NDArray[np.float64]
Groups = npt.NDArray[np.int64]
FOLD_SETS = 3
_NEWEST = 0.25
_WEIGHTS = (0.1, 0.2, 0.4)
RECIPE = Recipe(("words",), ("note", "post", "manner", "under", "likeness", "season"), (1.0, 3.0), _WEIGHTS)
WITHOUT_READER = Recipe(RECIPE.counts, ("manner", "under", "season"), (1.0, 3.0), _WEIGHTS)
RIVALS = {
    "embeddings": Recipe((), ("plain note", "plain post"), (0.01, 0.1, 1.0, 10.0)),
    "n-grams": Recipe(("words", "letters", "post words"), (), (0.3, 1.0, 3.0, 10.0)),
    "manner alone": Recipe((), ("manner", "under"), (0.1, 1.0, 10.0)),
    "n-grams and time": Recipe(("words", "letters", "post words"), ("season",), (0.3, 1.0, 3.0, 10.0), (1.0, 3.0)),
    "the helpfulness gate's blocks": Recipe(("words",), ("note", "post"), (1.0, 3.0), _WEIGHTS),
}


@dataclass(frozen=True, slots=True)
class TrainedShown:
    """The head of all notes, the chances of the first fold set, and what was measured."""

    head: Head
    held_out: Numbers
    figures: dict[str, object]


@dataclass(frozen=True, slots=True)
class _Table:
    blocks: Blocks
    labels: Labels
    groups: Groups

    @property
    def truth(self) -> npt.NDArray[np.bool_]:
        return self.labels.astype(bool)


def train_shown(
    notes: Sequence[HealthNote], reader: Embedder | None, embedder: Embedder, progress: Callable[[str], None]
) -> TrainedShown:
    """Measure, fit and calibrate. Deterministic for the same notes, reader and embedder.

    Raises InputError when there are too few notes of either kind.
    """
    progress(f"reading {len(notes)} notes")
    table = _table(notes, reader, embedder)
    recipe = (
        RECIPE if reader is not None else Recipe(RECIPE.counts, ("manner", "under", "season"), (1.0, 3.0), _WEIGHTS)
    )
    sets = [_fold_set(recipe, table, seed, progress) for seed in range(FOLD_SETS)]
    dated, undated = [each[0] for each in sets], [each[1] for each in sets]
    head, calibrated = fitted_head(
        recipe, table.blocks, table.labels, table.groups, dated[0], reader.name if reader else embedder.name
    )
    chances = [calibrated(each) for each in dated]
    figures: dict[str, object] = {
        "notes": len(notes),
        "base_rate": round(float(table.labels.mean()), 4),
        "folds": FOLDS,
        "fold_sets": FOLD_SETS,
        **_measured("", table.truth, chances, table.groups),
        "undated_intercept_auc": _mean_auc(table.truth, undated),
        "undated_intercept_auc_interval": _rounded(bootstrap_auc(table.truth, np.mean(undated, axis=0), table.groups)),
        **_by_time(recipe, table, notes, progress),
        "rivals_intercept_auc": _rivals(table, progress) if reader is not None else {},
    }
    return TrainedShown(head, chances[0], figures)


def write_shown(trained: TrainedShown, notes: Sequence[HealthNote], folder: Path) -> None:
    """The head, what it said of notes that it had not seen, and its figures with the head's checksum."""
    folder.mkdir(parents=True, exist_ok=True)
    trained.head.save(folder / SHOWN)
    marks = np.array([note_mark(note.note_id) for note in notes], dtype=np.uint64)
    labels = np.array([note.is_helpful for note in notes])
    write_held_out(folder, "shown", HeldOutVerdicts(marks, trained.held_out, labels))
    checksum = hashlib.sha256((folder / SHOWN).read_bytes()).hexdigest()
    content = {**trained.figures, "weights_sha256": checksum}
    (folder / SHOWN_FIGURES).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _table(notes: Sequence[HealthNote], reader: Embedder | None, embedder: Embedder) -> _Table:
    plain, labels, groups = grouped_notes(notes, embedder)
    pairs = [(note.post, note.note) for note in notes]
    blocks = {
        **shown_blocks(reader, reader.name if reader else "", pairs, [note.created_at_ms for note in notes]),
        **plain,
    }
    return _Table(blocks, labels, groups)


def _fold_set(
    recipe: Recipe, table: _Table, seed: int, progress: Callable[[str], None], name: str = "head"
) -> tuple[Numbers, Numbers]:
    """The held-out log odds of one set of folds: at each note's time, and as if written today."""
    splitter = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed)
    rows = recipe.rows(table.blocks)
    now = recipe.rows({**table.blocks, "season": np.full((len(table.labels), 1), TODAY)})
    dated, undated = np.full(len(table.labels), np.nan), np.full(len(table.labels), np.nan)
    for train, test in splitter.split(table.labels, table.labels, table.groups):
        pipeline = recipe.chosen(table.blocks, rows[train], table.labels[train], table.groups[train])
        dated[test], undated[test] = pipeline.decision_function(rows[test]), pipeline.decision_function(now[test])
    progress(f"{name}, fold set {seed + 1}: AUC {_mean_auc(table.truth, [dated]):.3f}")
    return dated, undated


def _rivals(table: _Table, progress: Callable[[str], None]) -> dict[str, float]:
    found = {}
    for name, rival in RIVALS.items():
        scores = [_fold_set(rival, table, seed, progress, name)[0] for seed in range(FOLD_SETS)]
        found[name] = _mean_auc(table.truth, scores)
    return found


def _by_time(
    recipe: Recipe, table: _Table, notes: Sequence[HealthNote], progress: Callable[[str], None]
) -> Mapping[str, object]:
    """Of the newest quarter without near duplicates of older notes, by a head that only the older notes made."""
    order = np.argsort([note.created_at_ms or 0 for note in notes], kind="stable")
    older, newest = np.split(order, [round(len(order) * (1 - _NEWEST))])
    newest = np.array([row for row in newest if table.groups[row] not in set(table.groups[older])], dtype=np.int64)
    if min(len(set(table.labels[older])), len(set(table.labels[newest]))) < 2:
        return {}
    rows = recipe.rows(table.blocks)
    pipeline = recipe.chosen(table.blocks, rows[older], table.labels[older], table.groups[older])
    progress("the newest quarter")
    chances = pipeline.predict_proba(rows[newest])[:, 1]
    return {
        "newest_quarter_notes": len(newest),
        "newest_quarter_base_rate": round(float(table.labels[newest].mean()), 4),
        **_measured("newest_quarter_", table.truth[newest], [chances], table.groups[newest]),
    }


def _measured(name: str, truth: npt.NDArray[np.bool_], chances: Sequence[Numbers], groups: Groups) -> dict[str, object]:
    """AUC, shares that reach the line, calibration: means over fold sets, with intervals of 1,000 draws of groups."""
    mean, one = np.mean(chances, axis=0), np.ones(len(truth))
    reach = [each >= CAREFUL for each in chances]
    found: dict[str, object] = {
        "intercept_auc": _mean_auc(truth, chances),
        "intercept_auc_interval": _rounded(bootstrap_auc(truth, mean, groups)),
    }
    for what, of in (("reached", truth), ("wrongly_reached", ~truth)):
        share = np.mean([each[of] for each in reach], axis=0)
        found[what] = round(float(share.mean()), 4)
        found[f"{what}_interval"] = _rounded(bootstrap_share(share, groups[of]))
    said = [calibration_error(each, truth.astype(np.float64), one) for each in chances]
    found["ece"] = round(float(np.mean(said)), 4)
    return {name + key: value for key, value in found.items()}


def _mean_auc(truth: npt.NDArray[np.bool_], scores: Sequence[Numbers]) -> float:
    return round(float(np.mean([area_under_curve(truth, each) or 0.0 for each in scores])), 4)


def _rounded(ends: tuple[float, float]) -> list[float]:
    return [round(end, 4) for end in ends]
