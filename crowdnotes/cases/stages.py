"""The stages that the program works through, as steps for a job: each is saved before the next starts.

A step reads the newest case, does its work, and writes its result and a line about itself in one
transaction. A stage that is on record is not run again: that is what resuming is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import datetime

from crowdnotes.cases import gathering, reading, searching
from crowdnotes.cases.intake import GATHERING
from crowdnotes.cases.store import Store
from crowdnotes.cases.tools import Tools
from crowdnotes.cases.workflow import require_open, with_event, with_revision
from crowdnotes.domain import Case, Mode, Stage, StageName
from crowdnotes.drafting import write_candidates
from crowdnotes.errors import InputError, WorkflowError
from crowdnotes.gates import assess
from crowdnotes.jobs import Progress, Step

Changes = Mapping[str, object]
Work = Callable[[Case, Progress], tuple[Changes, str]]

_TITLES = {
    StageName.QUERIES: "Think of searches",
    StageName.SEARCH: "Search",
    StageName.READ: "Choose and read sources",
    StageName.PASSAGES: "Find the passages that matter",
    StageName.DRAFT: "Write candidate notes",
    StageName.ASSESS: "Score the note",
}


class StageRunner:
    """Makes the steps of each job; holds no case."""

    def __init__(self, store: Store, tools: Tools, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._tools = tools
        self._clock = clock

    def gather(self, case_id: str, by: str) -> list[Step]:
        """Queries and search (automation), reading, passages. Raises InputError when there is nowhere to look."""
        case = self._store.get(case_id)
        require_open(case)
        looking = case.mode is Mode.AUTOMATION
        if looking and not (case.libraries or case.services):
            raise InputError("There is nothing to search.", "Choose a library or service, or bring links instead.")
        if not looking and not case.urls:
            raise InputError("There is no source to read.", "Bring a link, or let the program search a library.")
        tools = self._tools
        work: list[tuple[StageName, Work]] = [
            (StageName.READ, lambda case, progress: reading.read(case, progress, tools, self._store)),
            (StageName.PASSAGES, lambda case, progress: gathering.passages(case, progress, tools, self._store.text)),
        ]
        if looking:
            work[:0] = [
                (StageName.QUERIES, lambda case, _: searching.queries(case, tools)),
                (StageName.SEARCH, lambda case, progress: searching.search(case, progress, tools)),
            ]
        return [self._step(case_id, by, name, do, resumable=True) for name, do in work]

    def write(self, case_id: str, by: str, *, before_inspection: bool) -> list[Step]:
        """Candidate notes. Raises WorkflowError while no passage is in use, unless only proposing."""
        case = self._store.get(case_id)
        require_open(case)
        if not case.used_evidence and not before_inspection:
            raise WorkflowError("evidence first", "No passage is in use yet.", "Open a passage and choose “use”.")
        return [
            self._step(
                case_id, by, StageName.DRAFT, lambda case, _: self._draft(case, before_inspection=before_inspection)
            )
        ]

    def assess(self, case_id: str, by: str, *, before_inspection: bool) -> list[Step]:
        """One assessment of the current text. Raises WorkflowError when there is no text."""
        case = self._store.get(case_id)
        require_open(case)
        if (case.draft is None or not case.draft.text.strip()) and not before_inspection:
            raise WorkflowError("no note", "There is no note to score yet.", "Write or generate a draft.")
        return [
            self._step(
                case_id, by, StageName.ASSESS, lambda case, _: self._assess(case, before_inspection=before_inspection)
            )
        ]

    def _draft(self, case: Case, *, before_inspection: bool) -> tuple[Changes, str]:
        evidence = case.evidence if before_inspection and not case.used_evidence else case.used_evidence
        drafted = write_candidates(self._tools.engine, case.post, evidence, self._clock)
        if not drafted.candidates:
            return {"candidates": ()}, f"No note: {drafted.abstained}"
        changes: dict[str, object] = {"candidates": drafted.candidates}
        best = drafted.candidates[0]
        untouched = case.draft is None or case.draft.engine != "person"
        if untouched and (case.draft is None or case.draft.sha256 != best.sha256):  # a person's own words stay
            changes |= {"draft": best, "revisions": with_revision(case)}
        return changes, f"{len(drafted.candidates)} candidates"

    def _assess(self, case: Case, *, before_inspection: bool) -> tuple[Changes, str]:
        if case.draft is None:
            return {}, "There is no note to score."
        cited = case.draft.evidence_ids
        proposed = tuple(item for item in case.evidence if item.id in cited)
        evidence = proposed if before_inspection and not case.used_evidence else case.used_evidence
        assessment = assess(self._tools.engine, case.post, case.draft.text, evidence, self._clock)
        summary = ", ".join(f"{gate.gate.value} {gate.status.value.replace('_', ' ')}" for gate in assessment.gates)
        return {"assessment": assessment}, summary

    def _step(self, case_id: str, by: str, name: StageName, work: Work, *, resumable: bool = False) -> Step:
        def finished() -> str | None:
            if not resumable:
                return None
            stages = self._store.get(case_id).stages
            return next((stage.summary for stage in stages if stage.name is name), None)

        def run(progress: Progress) -> str:
            begun = time.perf_counter()
            case = self._store.get(case_id)
            changes, summary = work(case, progress)
            seconds = time.perf_counter() - begun
            progress.check()
            self._store.update(
                case_id, lambda newest: self._recorded(newest, case, name, by, changes, summary, seconds)
            )
            return summary

        return Step(name=name.value, title=_TITLES[name], run=run, finished=finished)

    def _recorded(
        self, newest: Case, worked_on: Case, name: StageName, by: str, changes: Changes, summary: str, seconds: float
    ) -> Case:
        """The newest case with the stage's result, merged with what a person did meanwhile."""
        require_open(newest)
        if newest.post.text != worked_on.post.text:
            raise WorkflowError("post changed", "The post was changed while this was at work.", "Start it again.")
        if name in GATHERING and _where(newest) != _where(worked_on):
            raise WorkflowError(
                "sources changed", "Other sources were chosen while this was at work.", "Start it again to read those."
            )
        at = self._clock()
        merged = gathering.merged(newest, worked_on, changes)
        stage = Stage(name=name, finished_at=at, seconds=seconds, summary=summary, engine=self._tools.engine.name)
        others = tuple(other for other in newest.stages if other.name is not name)
        return with_event(newest, at, by, f"stage {name.value}", summary, **merged, stages=(*others, stage))


def _where(case: Case) -> tuple[object, ...]:
    """Where a gathering looks; a stage that looked elsewhere must not count as done."""
    return case.mode, case.urls, case.libraries, case.services, case.until
