"""The kinds of long work on a case. A new kind is a function that makes its steps, and one line in JOBS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from crowdnotes.cases.stages import StageRunner
from crowdnotes.jobs import Step


@dataclass(frozen=True, slots=True)
class Job:
    """What a person can start on a case.

    `doing` is shown while it runs; `place` is the step of the Draft page, or else the page, at which it is started,
    watched and resumed. `steps` makes them from a case's id, and may refuse with a WorkflowError or InputError.
    """

    doing: str
    place: str
    steps: Callable[[StageRunner, str], list[Step]]


def _write_and_score(stages: StageRunner, case_id: str) -> list[Step]:
    # A draft comes with its scores; there is no text yet when the steps are made.
    return [*stages.write_steps(case_id), *stages.assess_steps(case_id, before_inspection=True)]


def _gather_write_and_score(stages: StageRunner, case_id: str) -> list[Step]:
    # For a post in a batch: before anybody has read it, and without a decision.
    write = stages.write_steps(case_id, before_inspection=True)
    return [*stages.gather_steps(case_id), *write, *stages.assess_steps(case_id, before_inspection=True)]


JOBS = {
    "gather": Job("Finding sources", "Evidence", StageRunner.gather_steps),
    "follow_up": Job("Searching again", "Evidence", StageRunner.follow_up_steps),
    "write": Job("Writing and scoring drafts", "Draft", _write_and_score),
    "assess": Job("Scoring the note", "Review", StageRunner.assess_steps),
    "whole": Job("Finding sources, then writing and scoring notes", "Evidence", _gather_write_and_score),
    "supernote": Job("Making one note from many", "Candidates", StageRunner.supernote_steps),
    "suggestions": Job("Answering suggestions", "Suggestions", StageRunner.suggestion_steps),
    "links": Job("Checking the links", "Decide", StageRunner.check_link_steps),
}
"""By name, which is stored with each job."""
