"""What the reader is taught: texts of camp notes and pilot notes, and the answers that their crowds gave."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from crowdnotes.engines.local.heads.note_reader import readable_note
from crowdnotes.studies.camp_notes import OPINION_LABELS, SOURCED_LABEL, TRIVIAL_LABEL

# Each question, and how much its loss counts: less where a model answered it, or few notes do.
QUESTIONS = {
    "both camps approve": 1.0,
    "approval": 1.0,
    "which camp approves": 0.5,
    "opinion or hostile": 1.0,
    "sourced fact": 0.5,
    "trivial": 0.5,
    "strength of agreement": 0.7,
    "helpful in the pilot": 1.0,
    "calls the post misleading": 0.5,
}
_FEWEST_RATINGS = 2  # of a pilot note; one rater is not a crowd


@dataclass(frozen=True, slots=True)
class Answered:
    """Texts as the reader takes them, and `answers` in [0, 1], shape (texts, questions), NaN where unknown."""

    texts: list[str]
    answers: npt.NDArray[np.float32]


def answered_questions(camp: pd.DataFrame, pilot: pd.DataFrame) -> Answered:
    """All camp notes, and the pilot's that were rated more than once."""
    pilot = pilot[pilot["ratings"] >= _FEWEST_RATINGS]
    agreed = camp["kind"].eq("bridging")
    label = camp["content_label"].where(agreed)
    told = {
        "both camps approve": agreed.astype(float),
        "approval": camp["global_approval"],
        "which camp approves": _known(camp["approval_0"] > camp["approval_1"], ~agreed),
        "opinion or hostile": _known(label.isin(OPINION_LABELS), label.notna()),
        "sourced fact": _known(label.eq(SOURCED_LABEL), label.notna()),
        "trivial": _known(label.eq(TRIVIAL_LABEL), label.notna()),
        "strength of agreement": 2 * camp["bridge_score"].where(agreed) - 1,  # it begins at one half
    }
    in_pilot = {
        "helpful in the pilot": pilot["helpful"],
        "calls the post misleading": pilot["misleading"].astype(float),
    }
    answers = np.full((len(camp) + len(pilot), len(QUESTIONS)), np.nan, dtype=np.float32)
    for column, name in enumerate(QUESTIONS):
        if name in told:
            answers[: len(camp), column] = told[name]
        else:
            answers[len(camp) :, column] = in_pilot[name]
    return Answered([readable_note(text) for text in [*camp["text"], *pilot["summary"]]], np.clip(answers, 0, 1))


def _known(answer: pd.Series, where: pd.Series) -> pd.Series:
    return answer.astype(float).where(where)
