"""Gates and jury in one sentence."""

from __future__ import annotations

import pytest

from crowdnotes.domain import (
    Assessment,
    GateName,
    GateResult,
    GateStatus,
    JuryVerdict,
    SideVotes,
    gates_and_jury,
)
from crowdnotes.testing import FixedClock, make_case
from tests.jury.models import small_jury

_NOTE = "A lovely note about the clinic that closed in spring."


def _assessment(status: GateStatus) -> Assessment:
    gates = tuple(
        GateResult(gate=name, status=status if name is GateName.CORRECTNESS else GateStatus.PASS, reason="So.")
        for name in GateName
    )
    return Assessment(
        text_sha256="t",
        basis_sha256="b",
        gates=gates,
        principles=(),
        sentences=(),
        lint=(),
        engine="made",
        assessed_at=FixedClock()(),
    )


def _verdict(intercept: float, **changes: object) -> JuryVerdict:
    known = small_jury().verdict(None, _NOTE, jurors=50)
    return known.model_copy(update={"note_intercept": intercept, "means_nothing": False, **changes})


_APART = {
    "negative": SideVotes(side="−", helpful=90, somewhat_helpful=0, not_helpful=10),
    "positive": SideVotes(side="+", helpful=40, somewhat_helpful=0, not_helpful=60),
}


@pytest.mark.parametrize(
    ("status", "intercept", "changes", "words"),
    [
        (GateStatus.PASS, 0.45, {}, "gates and jury agree"),
        (GateStatus.PASS, 0.30, {"chance_of_shown": 0.33}, "but of 100 such notes on which X decided only about 35"),
        (GateStatus.PASS, 0.30, _APART, "but side + of the simulated jury would find it helpful less often"),
        (GateStatus.PASS, 0.30, {}, "Clear and sourced, but the simulated jury's intercept stays under the line"),
        (GateStatus.FAIL, 0.45, {}, "did not pass correctness: pleasing words do not mend that"),
        (GateStatus.FAIL, 0.10, {}, "Gates and jury agree that it is not ready"),
        (GateStatus.NOT_RUN, 0.45, {}, "reaches the line, but correctness was not run"),
        (GateStatus.PASS, 0.45, {"means_nothing": True}, "The gates alone count here"),
    ],
)
def test_one_sentence_reconciles_gates_and_jury(
    status: GateStatus, intercept: float, changes: dict[str, object], words: str
) -> None:
    said = gates_and_jury(_assessment(status), _verdict(intercept, **changes))
    assert words in said
    assert said.endswith(".")


def test_a_case_that_was_not_judged_has_no_such_sentence() -> None:
    assert make_case().agreement == ""


def test_a_verdict_of_before_the_chance_was_told_still_opens() -> None:
    stored = small_jury().verdict(None, _NOTE, jurors=50).model_dump(mode="json")
    del stored["chance_of_shown"], stored["quality"]["intercept_auc"]
    assert JuryVerdict.model_validate(stored).shown_of_100 is None
