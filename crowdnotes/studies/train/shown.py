"""`crowdnotes train jury` on HealthNotes: how likely X shows a note, from post, note and time; measured, then fitted.

Nested cross-validation as for the helpfulness gate: no post and no note, nor near duplicates of either, stand in two
folds, and what is chosen or fitted is so without the fold that is judged. Each figure is told twice: with the
notes' times, by which the jury judges old notes, and without, as if all were written today, which is how well words
alone tell notes apart. A third measure is by time: the newest quarter, by a head of the older notes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from crowdnotes.engines.embedding import Embedder
from crowdnotes.engines.local.trained_models import Blocks
from crowdnotes.jury.shown_odds import SHOWN, SHOWN_FIGURES, TODAY, shown_blocks
from crowdnotes.jury.votes import CAREFUL
from crowdnotes.studies.data_files import HealthNote, write_held_out
from crowdnotes.studies.measures import bootstrap_auc, bootstrap_share, calibration_error, rounded_ends
from crowdnotes.studies.train.heads import (
    Labels,
    Recipe,
    Sample,
    Scores,
    fitted_head,
    mean_auc,
    nested_scores,
    newest_quarter,
    rivals_auc,
)
from crowdnotes.studies.train.judges import FOLDS, TrainedHead, sample_of

FOLD_SETS = 3
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


def train_shown(
    notes: Sequence[HealthNote], reader: Embedder | None, embedder: Embedder, progress: Callable[[str], None]
) -> TrainedHead:
    """Measure, fit and calibrate. Deterministic for the same notes, reader and embedder.

    Raises InputError when there are too few notes of either kind.
    """
    progress(f"reading {len(notes)} notes")
    plain, written = sample_of(notes, embedder), [note.created_at_ms for note in notes]
    pairs = [(note.post, note.note) for note in notes]
    read = shown_blocks(reader, reader.name if reader else "", pairs, written)
    sample = Sample({**read, **plain.blocks}, plain.labels, plain.groups)
    recipe = RECIPE if reader is not None else WITHOUT_READER
    folds = [sample.folds(FOLDS, seed) for seed in range(FOLD_SETS)]
    today: Blocks = {**sample.blocks, "season": np.full((len(notes), 1), TODAY)}
    sets = [nested_scores(recipe, sample, each, today) for each in folds]
    dated, undated = [each[0] for each in sets], [each[1] for each in sets]
    progress(f"head: AUC {mean_auc(sample.truth, dated):.3f}")
    head, calibrated = fitted_head(recipe, sample, dated[0], reader.name if reader else embedder.name)
    chances = [calibrated(each) for each in dated]
    figures: dict[str, object] = {
        "notes": len(notes),
        "base_rate": round(float(sample.labels.mean()), 4),
        "folds": FOLDS,
        "fold_sets": FOLD_SETS,
        **_measured("", sample.truth, chances, sample.groups),
        "undated_intercept_auc": mean_auc(sample.truth, undated),
        "undated_intercept_auc_interval": rounded_ends(
            bootstrap_auc(sample.truth, np.mean(undated, axis=0), sample.groups)
        ),
    }
    by_time = newest_quarter(written, sample)
    if by_time is not None:
        newest = by_time[1]
        odds = nested_scores(recipe, sample, [by_time])[0][newest]
        figures["newest_quarter_notes"] = len(newest)
        figures["newest_quarter_base_rate"] = round(float(sample.labels[newest].mean()), 4)
        figures |= _measured("newest_quarter_", sample.truth[newest], [expit(odds)], sample.groups[newest])
    figures["rivals_intercept_auc"] = {} if reader is None else rivals_auc(RIVALS, sample, folds, progress)
    return TrainedHead(head, sample.truth, chances[0], figures)


def write_shown(trained: TrainedHead, notes: Sequence[HealthNote], folder: Path) -> None:
    """The head, what it said of notes that it had not seen, and its figures with the head's checksum."""
    folder.mkdir(parents=True, exist_ok=True)
    trained.head.save(folder / SHOWN)
    write_held_out(folder, "shown", [note.note_id for note in notes], trained.probabilities, trained.labels)
    checksum = hashlib.sha256((folder / SHOWN).read_bytes()).hexdigest()
    content = {**trained.figures, "weights_sha256": checksum}
    (folder / SHOWN_FIGURES).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _measured(name: str, truth: npt.NDArray[np.bool_], chances: Sequence[Scores], groups: Labels) -> dict[str, object]:
    """AUC, shares that reach the line, calibration: means over fold sets, with intervals of 1,000 draws of groups."""
    mean, one = np.mean(chances, axis=0), np.ones(len(truth))
    reach = [each >= CAREFUL for each in chances]
    found: dict[str, object] = {
        "intercept_auc": mean_auc(truth, chances),
        "intercept_auc_interval": rounded_ends(bootstrap_auc(truth, mean, groups)),
    }
    for what, of in (("reached", truth), ("wrongly_reached", ~truth)):
        share = np.mean([each[of] for each in reach], axis=0)
        found[what] = round(float(share.mean()), 4)
        found[f"{what}_interval"] = rounded_ends(bootstrap_share(share, groups[of]))
    said = [calibration_error(each, truth.astype(np.float64), one) for each in chances]
    found["ece"] = round(float(np.mean(said)), 4)
    return {name + key: value for key, value in found.items()}
