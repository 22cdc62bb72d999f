"""Measure a jury model on a file of the camp schema: does it know which notes divide, and whom they please?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crowdnotes.domain import Noun
from crowdnotes.jury.camp_model import CampChances, CampModel
from crowdnotes.studies.measures import auc, brier, calibration_error

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class CampFigures(Noun):
    """Figures on n notes; None where the file cannot tell.

    polarising_auc, brier and ece are of "this note divides the camps"; camp_auc and camp_ece of which
    camp likes a divided note; rating_auc, rating_brier and rating_ece of single votes on divided
    notes ("helpful" or not, each camp's share counting as its raters' votes) against the share the model
    expects on that side.
    """

    polarising_auc: float | None
    camp_auc: float | None
    rating_auc: float | None
    brier: float
    ece: float
    camp_ece: float | None
    rating_brier: float | None
    rating_ece: float | None
    n: int
    n_polarising: int
    dropped: dict[str, int]


def measure_camps(
    model: CampModel, said: CampChances, divides: Bools, approvals: Floats, raters: Floats, dropped: dict[str, int]
) -> CampFigures:
    """Divides (n,); approvals and raters (n, 2) as in `CampNotes`. Votes count by their camp's raters."""
    one = np.ones(len(divides))
    truth = divides.astype(np.float64)
    likes = (approvals[divides, 1] > approvals[divides, 0]).astype(np.float64)
    camp = said.positive_likes[divides]
    share = approvals[divides].ravel()
    weight = raters[divides].ravel()
    chance = model.side_shares(said)[divides].ravel()
    some = bool(divides.any())
    return CampFigures(
        polarising_auc=_rounded(auc(said.splits, truth, 1 - truth)),
        camp_auc=_rounded(auc(camp, likes, 1 - likes)),
        rating_auc=_rounded(auc(chance, weight * share, weight * (1 - share))),
        brier=round(brier(said.splits, truth, one), 4),
        ece=round(calibration_error(said.splits, truth, one), 4),
        camp_ece=round(calibration_error(camp, likes, np.ones(len(likes))), 4) if some else None,
        rating_brier=round(brier(chance, share, weight), 4) if some else None,
        rating_ece=round(calibration_error(chance, share, weight), 4) if some else None,
        n=len(divides),
        n_polarising=int(divides.sum()),
        dropped=dropped,
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
