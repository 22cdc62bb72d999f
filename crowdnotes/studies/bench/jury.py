"""`crowdnotes bench jury`: does the jury's model know which notes divide the camps, and whom they please?

Measured on a file of the camp schema or, where there is none, on numbers of held-out notes that ship with the model:
hashed features, vectors and votes, without ids and text, so that the pinned figures can be checked anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from crowdnotes.domain import Noun
from crowdnotes.embedding import Embedder
from crowdnotes.errors import ConfigurationError
from crowdnotes.jury.model import COLUMNS, CampModel, Features, Rarity, Score, features, load_model
from crowdnotes.jury.raters import ASSETS, Floats
from crowdnotes.studies.camp_notes import read_camps
from crowdnotes.studies.measures import auc, brier, calibration_error

_HELD_OUT = "held_out.npz"


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


def bench_camps(data: Path, model: CampModel, embedder: Embedder) -> CampFigures:
    """Measure a model on a file of the camp schema."""
    notes = read_camps(data)
    read = features(notes.texts, embedder if embedder.name == model.embedder else None)
    return measure_camps(model, notes.divides, notes.approvals, notes.raters, read, notes.dropped)


def measure_camps(
    model: CampModel,
    divides: npt.NDArray[np.bool_],
    approvals: Floats,
    raters: Floats,
    read: Features,
    dropped: dict[str, int],
) -> CampFigures:
    """Divides (n,); approvals and raters (n, 2) as in `CampNotes`. Votes count by their camp's raters."""
    said = model.camp_chances(read)
    one = np.ones(len(divides))
    truth = divides.astype(np.float64)
    likes = (approvals[divides, 1] > approvals[divides, 0]).astype(np.float64)
    camp = said.positive_likes[divides]
    share = approvals[divides].ravel()
    weight = raters[divides].ravel()
    chance = model.camp_shares(said)[divides].ravel()
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


@dataclass(frozen=True)
class HeldOut:
    """Some notes that the twin did not learn from, and the twin."""

    twin: CampModel
    divides: npt.NDArray[np.bool_]
    approvals: Floats
    raters: Floats
    read: Features

    def measure(self) -> CampFigures:
        """The twin's figures on these notes."""
        return measure_camps(self.twin, self.divides, self.approvals, self.raters, self.read, {})

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
        np.savez_compressed(folder / _HELD_OUT, **arrays)

    @classmethod
    def load(cls, folder: Path = ASSETS) -> HeldOut:
        """The twin is the model in the same folder with its own weights. Raises ConfigurationError when damaged."""
        model = load_model(folder / "model")
        try:
            with np.load(folder / _HELD_OUT, allow_pickle=False) as stored:
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


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
