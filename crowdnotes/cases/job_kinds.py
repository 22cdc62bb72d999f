"""The kinds of long work on a case. A new kind is a function that makes its steps, and one line in JOB_KINDS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from crowdnotes.cases.service import CaseService
from crowdnotes.engines.choice import EngineChoice
from crowdnotes.jobs import JobRecord, JobRunner, Step


@dataclass(frozen=True, slots=True)
class JobKind:
    """What a person can start on a case.

    `steps` makes them from a case's id, and may refuse with a WorkflowError or InputError. `doing` is what is shown
    while it is at work; `place` is the step of the Draft page, or else the page, at which it is started, watched and
    taken up again.
    """

    name: str
    doing: str
    place: str
    steps: Callable[[CaseService, str], list[Step]]


def _write_and_score(service: CaseService, case_id: str) -> list[Step]:
    # A draft comes with its scores; there is no text yet when the steps are made.
    return [*service.write_steps(case_id), *service.assess_steps(case_id, before_inspection=True)]


def _gather_write_and_score(service: CaseService, case_id: str) -> list[Step]:
    # Of a post in a batch. Nobody has read anything yet, and nothing is decided by it.
    write = service.write_steps(case_id, before_inspection=True)
    return [*service.gather_steps(case_id), *write, *service.assess_steps(case_id, before_inspection=True)]


JOB_KINDS = {
    kind.name: kind
    for kind in (
        JobKind("gather", "Finding sources", "Evidence", CaseService.gather_steps),
        JobKind("follow_up", "Searching again", "Evidence", CaseService.follow_up_steps),
        JobKind("write", "Writing and scoring candidate notes", "Draft", _write_and_score),
        JobKind("assess", "Scoring the note", "Review", CaseService.assess_steps),
        JobKind("whole", "Finding sources, then writing and scoring notes", "Evidence", _gather_write_and_score),
        JobKind("supernote", "Making one note from many", "Candidates", CaseService.supernote_steps),
        JobKind("suggestions", "Answering the suggestions", "Suggestions", CaseService.suggestion_steps),
        JobKind("links", "Checking the links", "Decide", CaseService.check_link_steps),
    )
}


def job_steps(service: CaseService, job: JobRecord) -> list[Step]:
    """The steps of a job, from what is on record of it. Raises as `JobKind.steps` does."""
    return JOB_KINDS[job.kind].steps(service.with_fence(job), job.case_id)


def start(
    service: CaseService, runner: JobRunner, case_id: str, kind: str, engine: EngineChoice | None = None
) -> JobRecord:
    """Begin work of that kind, or take it up again: what was finished before is kept.

    `engine` is the service's, by which another process makes it too.
    """
    steps = JOB_KINDS[kind].steps(service, case_id)
    engine = engine or EngineChoice()
    make = partial(job_steps, service)
    by = service.actor
    return runner.ask(case_id, kind, steps, make, by=by, engine=engine.base_url, model=engine.model)
