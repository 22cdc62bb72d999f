"""Posts, results and runs of HealthNotes, made for tests."""

from __future__ import annotations

from crowdnotes.domain import GateStatus, Mode
from crowdnotes.studies.bench.healthnotes import Outcome, PostResult, StudyOptions


def options(**changes: object) -> StudyOptions:
    """An automation over one library, unless `changes` say so."""
    made = StudyOptions(data_sha256="0" * 64, mode=Mode.AUTOMATION, libraries=("topics",), engine={"writing": "made"})
    return made.model_copy(update=changes)


def result(number: int, passes: int, *, helpful: bool = True, **changes: object) -> PostResult:
    """A judged note that passes the first `passes` gates and fails the next."""
    states = [GateStatus.PASS] * passes + [GateStatus.FAIL] * (passes < 3) + [GateStatus.NOT_RUN] * 2
    made = PostResult(
        note_id=str(number),
        is_helpful=helpful,
        outcome=Outcome.JUDGED,
        relevance=states[0],
        correctness=states[1],
        helpfulness=states[2],
        note=f"Note {number}.",
    )
    return made.model_copy(update=changes)
