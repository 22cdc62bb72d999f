"""`crowdnotes bench jury`: whether the jury knows which notes X showed, which divide the camps, and whom they please.

Measured on HealthNotes, on a file of the camp schema or, where there is none, on numbers of held-out notes that ship
with the model: hashed features, vectors and votes, without ids and text, so that the pinned figures can be checked
anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from crowdnotes.bridging.thresholds import THRESHOLDS
from crowdnotes.errors import ConfigurationError, InputError
from crowdnotes.jury import Jury
from crowdnotes.jury.model import COLUMNS, SHIPPED_MODEL, CampModel, Features, Rarity, Score, load_model
from crowdnotes.jury.raters import ASSETS, Floats
from crowdnotes.jury.shown_odds import STRICTNESS_TODAY, shown_blocks
from crowdnotes.settings_sections import JurySettings
from crowdnotes.studies.data_files import CampNotes, HealthNote, note_mark, read_camps, read_held_out
from crowdnotes.studies.measures import (
    area_under_curve,
    auc,
    bootstrap_auc,
    brier,
    calibration_error,
    rounded,
    rounded_ends,
    wilson,
)

_HELD_OUT_FILE = "held_out.npz"


def bench_camps(data: Path, jury: Jury) -> dict[str, Any]:
    """Measure a jury's model on a file of the camp schema. Raises InputError for a model that learned from ratings."""
    if not isinstance(jury.model, CampModel):
        raise InputError("The jury's model was trained on ratings, not on camps.", "Unset CROWDNOTES_JURY_MODEL.")
    notes = read_camps(data)
    return measure_camps(jury.model, notes, jury.features_of(notes.texts))


def measure_camps(model: CampModel, notes: CampNotes | HeldOut, read: Features) -> dict[str, Any]:
    """Figures on n notes and what was read of them, None where the file does not say.

    polarising_auc, brier and ece are of "this note divides the camps"; camp_auc and camp_ece of which camp likes a
    divided note; rating_auc, rating_brier and rating_ece of single votes on divided notes ("helpful" or not, each
    camp's share counting as its raters' votes) against the share the model expects on that side.
    """
    said = model.camp_chances(read)
    divides, approvals, raters = notes.divides, notes.approvals, notes.raters
    truth, one = divides.astype(np.float64), np.ones(len(divides))
    likes = (approvals[divides, 1] > approvals[divides, 0]).astype(np.float64)
    camp = said.positive_likes[divides]
    share, weight = approvals[divides].ravel(), raters[divides].ravel()
    chance = model.camp_shares(said)[divides].ravel()
    some = bool(divides.any())
    return {
        "polarising_auc": rounded(auc(said.splits, truth, 1 - truth)),
        "camp_auc": rounded(auc(camp, likes, 1 - likes)),
        "rating_auc": rounded(auc(chance, weight * share, weight * (1 - share))),
        "brier": rounded(brier(said.splits, truth, one)),
        "ece": rounded(calibration_error(said.splits, truth, one)),
        "camp_ece": rounded(calibration_error(camp, likes, np.ones(len(likes)))) if some else None,
        "rating_brier": rounded(brier(chance, share, weight)) if some else None,
        "rating_ece": rounded(calibration_error(chance, share, weight)) if some else None,
        "n": len(divides),
        "n_polarising": int(divides.sum()),
        "dropped": notes.dropped,
    }


def shown_held_out(jury: Jury, settings: JurySettings) -> dict[int, float]:
    """By mark what cross-validation said of the notes that the jury's head was trained on."""
    return {} if jury.shown is None else read_held_out("shown", settings.model or SHIPPED_MODEL).by_mark()


def bench_shown(jury: Jury, notes: Sequence[HealthNote], held_out: Mapping[int, float]) -> dict[str, Any]:
    """Measure how well the intercept finds the notes that X showed, each judged by a jury as of its own date.

    reached, wrongly_reached: which shares of the shown and of the others reach the line. ece: of the chance that X
    shows a note. splits_auc: how well dividing alone finds the notes that X did not show. undated_intercept_auc: as if
    all were written today, by their words alone; None where some were seen in training, whose undated chances are not
    kept. Of those counts the chance of `held_out`, by a head that had not seen their post. Intervals are of 95 %.
    Raises InputError when the jury has no head that predicts what X shows.
    """
    if jury.shown is None:
        raise InputError(
            "This model of the jury does not predict what X shows.", "Train one on HealthNotes, or unset it."
        )
    pairs = [(note.post, note.note) for note in notes]
    known = [held_out.get(note_mark(note.note_id)) for note in notes]
    seen = np.array([chance is not None for chance in known])
    blocks = shown_blocks(pairs, [note.created_at_ms for note in notes])
    undated = jury.shown.chances({**blocks, "season": np.full((len(notes), 1), STRICTNESS_TODAY)})
    chances = np.where(seen, [chance or 0.0 for chance in known], jury.shown.chances(blocks))
    predicted = jury.with_chances(jury.features_of([note.note for note in notes]), chances)
    intercepts = jury.rank(predicted).intercepts
    truth = np.array([note.is_helpful for note in notes])
    reach = intercepts >= THRESHOLDS.helpful_intercept
    found: dict[str, Any] = {
        "intercept_auc": rounded(area_under_curve(truth, intercepts)),
        "intercept_auc_interval": None,
        "undated_intercept_auc": None if seen.any() else rounded(area_under_curve(truth, undated)),
    }
    if 0 < truth.sum() < len(truth):
        found["intercept_auc_interval"] = rounded_ends(bootstrap_auc(truth, [intercepts], np.arange(len(truth))))
    for name, of in (("reached", truth), ("wrongly_reached", ~truth)):
        found[name] = rounded(float(reach[of].mean())) if of.any() else None
        found[f"{name}_interval"] = rounded_ends(wilson(int(reach[of].sum()), int(of.sum())))
    splits = None if predicted.splits is None else auc(predicted.splits, 1.0 - truth, 1.0 * truth)
    return found | {
        "ece": rounded(calibration_error(chances, truth.astype(np.float64), np.ones(len(truth)))),
        "splits_auc": rounded(splits),
        "n": len(truth),
        "n_shown": int(truth.sum()),
        "lowest": rounded(float(intercepts.min())),
        "highest": rounded(float(intercepts.max())),
        "seen_in_training": int(seen.sum()),
        "seen_judged_by": "cross-validation, by a head that saw neither note nor post" if seen.any() else "",
    }


@dataclass(frozen=True)
class HeldOut:
    """Some notes that the twin did not learn from, and the twin."""

    twin: CampModel
    divides: npt.NDArray[np.bool_]
    approvals: Floats
    raters: Floats
    read: Features
    dropped: Mapping[str, int] = field(default_factory=dict)

    def measure(self) -> dict[str, Any]:
        """Return the twin's figures on these notes."""
        return measure_camps(self.twin, self, self.read)

    def save(self, folder: Path) -> None:
        """Write the notes' numbers and the twin's weights of the columns that these notes have."""
        hashed = self.read.hashed
        used = np.unique(hashed.indices)
        arrays: dict[str, Any] = {
            "used": used.astype(np.int32),
            "columns": np.searchsorted(used, hashed.indices).astype(np.uint16 if len(used) < 2**16 else np.int32),
            "rows": hashed.indptr.astype(np.int32),
            "vectors": self.read.vectors.astype(np.float16),
            "divides": self.divides,
            "approvals": self.approvals.astype(np.float32),
            "raters": self.raters.astype(np.float32),
            "rarity": self.twin.rarity.weights[used].astype(np.float16),
            "shares": np.asarray([self.twin.likes, self.twin.dislikes, self.twin.joined]),
        }
        for name, score in self.twin.scores.items():
            arrays[f"{name}/hashed"] = score.hashed[used].astype(np.float16)
            arrays[f"{name}/meaning"] = score.meaning.astype(np.float16)
            arrays[f"{name}/constants"] = np.asarray([score.constant, *score.alone])
        np.savez_compressed(folder / _HELD_OUT_FILE, **arrays)

    @classmethod
    def load(cls, folder: Path = ASSETS) -> HeldOut:
        """Open the twin, in the same folder with its own weights. Raises ConfigurationError when damaged."""
        model = load_model(folder / "model")
        try:
            with np.load(folder / _HELD_OUT_FILE, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
        except (OSError, ValueError) as error:
            raise ConfigurationError("The held-out notes cannot be read.", "Install the program again.") from error
        if not isinstance(model, CampModel):
            raise ConfigurationError("The jury's model is not one of camps.", "Train the jury again.")
        used = arrays["used"]

        def spread(values: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
            wide = np.zeros(COLUMNS, dtype=np.float32)
            wide[used] = values
            return wide

        scores = {}
        for name in model.scores:
            constant, alone, slope = arrays[f"{name}/constants"].tolist()
            meaning = arrays[f"{name}/meaning"].astype(np.float32)
            scores[name] = Score(spread(arrays[f"{name}/hashed"]), meaning, constant, (alone, slope))
        likes, dislikes, joined = arrays["shares"].tolist()
        twin = replace(
            model, rarity=Rarity(spread(arrays["rarity"])), scores=scores, likes=likes, dislikes=dislikes, joined=joined
        )
        columns = used[arrays["columns"]]
        hashed = csr_matrix(
            (np.ones(len(columns), dtype=np.float32), columns, arrays["rows"]), shape=(len(arrays["divides"]), COLUMNS)
        )
        return cls(
            twin,
            arrays["divides"],
            arrays["approvals"].astype(np.float64),
            arrays["raters"].astype(np.float64),
            Features(hashed, arrays["vectors"].astype(np.float32)),
        )
