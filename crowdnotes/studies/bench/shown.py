"""`crowdnotes bench jury` on HealthNotes: does the simulated intercept know which notes X showed?

Each note stands before the jury of the time when it was written. Notes that the shipped head was trained on are known
by a mark of their ids; of those the chance counts that a cross-validation gave, by a head that had not seen their
post.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from crowdnotes.domain import Noun
from crowdnotes.errors import InputError
from crowdnotes.jury import Jury
from crowdnotes.jury.shown import TODAY, shown_blocks
from crowdnotes.studies.data_files import HealthNote, note_mark
from crowdnotes.studies.measures import area_under_curve, auc, bootstrap_auc, calibration_error, wilson

Ends = tuple[float, float]


class ShownFigures(Noun):
    """Of n notes: how well the intercept tells those that X showed, and which shares of both kinds reach the line.

    ece: of the chance that X shows a note. splits_auc: how well dividing alone tells the notes that X did not show.
    undated_intercept_auc: as if all notes were written today, by their words alone; None where some were seen in
    training, whose undated chances are not kept. Intervals are of 95 %.
    """

    intercept_auc: float | None
    intercept_auc_interval: Ends | None
    undated_intercept_auc: float | None
    reached: float | None
    reached_interval: Ends
    wrongly_reached: float | None
    wrongly_reached_interval: Ends
    ece: float
    splits_auc: float | None
    n: int
    n_shown: int
    lowest: float
    highest: float
    seen_in_training: int
    seen_judged_by: str


def bench_shown(jury: Jury, notes: Sequence[HealthNote], held_out: Mapping[int, float]) -> ShownFigures:
    """Put every note before one jury. `held_out` has the chances of notes trained on, by mark.

    Raises InputError when the jury has no head that tells what X shows.
    """
    if jury.shown is None:
        raise InputError("This model of the jury does not tell what X shows.", "Train one on HealthNotes, or unset it.")
    pairs = [(note.post, note.note) for note in notes]
    known = [held_out.get(note_mark(note.note_id)) for note in notes]
    seen = np.array([chance is not None for chance in known])
    blocks = shown_blocks(jury.shown.reader, jury.shown.head.embedder, pairs, [note.created_at_ms for note in notes])
    undated = jury.shown.chances({**blocks, "season": np.full((len(notes), 1), TODAY)})
    chances = np.where(seen, [chance or 0.0 for chance in known], jury.shown.chances(blocks))
    predicted = jury.with_chances(jury.features_of([note.note for note in notes]), chances)
    intercepts = jury.rank(predicted).intercepts
    truth = np.array([note.is_helpful for note in notes])
    reach = intercepts >= jury.bridging.helpful_intercept
    both = 0 < truth.sum() < len(truth)
    one = np.ones(len(truth))
    splits = None if predicted.splits is None else auc(predicted.splits, 1.0 - truth, 1.0 * truth)
    return ShownFigures(
        intercept_auc=_rounded(area_under_curve(truth, intercepts)),
        intercept_auc_interval=_ends(bootstrap_auc(truth, intercepts, np.arange(len(truth)))) if both else None,
        undated_intercept_auc=None if seen.any() else _rounded(area_under_curve(truth, undated)),
        reached=_rounded(float(reach[truth].mean())) if truth.any() else None,
        reached_interval=_ends(wilson(int(reach[truth].sum()), int(truth.sum()))),
        wrongly_reached=_rounded(float(reach[~truth].mean())) if not truth.all() else None,
        wrongly_reached_interval=_ends(wilson(int(reach[~truth].sum()), int((~truth).sum()))),
        ece=round(calibration_error(chances, truth.astype(np.float64), one), 4),
        splits_auc=_rounded(splits),
        n=len(truth),
        n_shown=int(truth.sum()),
        lowest=round(float(intercepts.min()), 4),
        highest=round(float(intercepts.max()), 4),
        seen_in_training=int(seen.sum()),
        seen_judged_by="cross-validation, by a head that saw neither note nor post" if seen.any() else "",
    )


def _ends(ends: Ends) -> Ends:
    return round(ends[0], 4), round(ends[1], 4)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
