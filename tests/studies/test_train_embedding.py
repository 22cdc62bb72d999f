"""What the reader is taught, and that teaching works, on notes made here."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from crowdnotes.engines.local.trained_models import AdaptedMiniLM, Adapter
from crowdnotes.studies.data_files import HealthNote
from crowdnotes.studies.train.embedding import QUESTIONS, Answered, answered_questions, teach_reader, without_judged
from tests.fakes import HashingEmbedder
from tests.shared import minilm

_CAMP = pd.DataFrame(
    {
        "note_id": [1, 2, 3],
        "text": ["The report counts ten cases.", "Only liars say so.", "Tax is theft."],
        "kind": ["bridging", "bridging", "polarising"],
        "content_label": ["sourced_factual_information", "opinion_or_speculation", None],
        "approval_0": [np.nan, np.nan, 1.0],
        "approval_1": [np.nan, np.nan, 0.0],
        "bridge_score": [1.0, 0.5, 0.0],
        "global_approval": [0.9, 0.6, 0.4],
    }
)
_PILOT = pd.DataFrame(
    {"summary": ["Old news.", "One rating."], "misleading": [True, False], "helpful": [0.25, 1.0], "ratings": [4, 1]}
)


def _answers(answered: Answered, row: int) -> dict[str, float]:
    known = zip(QUESTIONS, answered.answers[row].tolist(), strict=True)
    return {name: answer for name, answer in known if not np.isnan(answer)}


def test_a_note_answers_only_the_questions_its_crowd_was_asked() -> None:
    answered = answered_questions(_CAMP, _PILOT)
    assert len(answered.texts) == 4  # the pilot's note with one rating is left out
    assert _answers(answered, 0) == pytest.approx(
        {
            "both camps approve": 1,
            "approval": 0.9,
            "opinion or hostile": 0,
            "sourced fact": 1,
            "trivial": 0,
            "strength of agreement": 1,
        }
    )
    assert _answers(answered, 2) == pytest.approx({"both camps approve": 0, "approval": 0.4, "which camp approves": 1})
    assert _answers(answered, 3) == pytest.approx({"helpful in the pilot": 0.25, "calls the post misleading": 1})


def test_notes_that_are_to_be_judged_are_left_out_by_id_words_or_likeness() -> None:
    def judged(note_id: str, note: str) -> HealthNote:
        return HealthNote(note_id=note_id, post="A post.", note=note, status="CURRENTLY_RATED_HELPFUL")

    left = without_judged(
        _CAMP, [judged("3", "Else."), judged("9", "The report counts ten cases now.")], HashingEmbedder()
    )
    assert left["note_id"].tolist() == [2]


def _taught() -> Adapter:
    texts = [f"{kind} number {count}" for count in range(24) for kind in ("The report counts cases", "Stupid liars")]
    answers = np.full((len(texts), len(QUESTIONS)), np.nan, dtype=np.float32)
    answers[:, list(QUESTIONS).index("sourced fact")] = np.arange(len(texts)) % 2 == 0
    return teach_reader(Answered(texts, answers), lambda _: None, epochs=4)


@pytest.mark.deep
@pytest.mark.model
def test_teaching_parts_notes_by_their_answers_and_is_the_same_each_time() -> None:
    taught = _taught()
    assert taught.mark == _taught().mark
    texts = ["The report counts cases number 99", "Stupid liars number 99"]
    before, after = (embedder.encode(texts) for embedder in (minilm(), AdaptedMiniLM(taught)))
    assert after[0] @ after[1] < before[0] @ before[1]
