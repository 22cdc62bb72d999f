"""The stages that the program works through, as steps for a job: each is saved before the next starts.

A step reads the newest case, does its work, and writes its result and a line about itself in one
transaction. A stage that is on record is not run again: that is what resuming is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from crowdnotes.cases import gathering, intake, links
from crowdnotes.cases.follow_up import Looker
from crowdnotes.cases.gathering import FOR_PEOPLE, Tools, Ways
from crowdnotes.cases.intake import GATHERING, nowhere_to_look, places_of
from crowdnotes.cases.store import Store
from crowdnotes.cases.workflow import PROGRAM, require_open, require_still_open, with_event, with_revision
from crowdnotes.domain import Aim, Case, JuryVerdict, Mode, Stage, StageName, Usage
from crowdnotes.drafting import write_candidates
from crowdnotes.engines.metering import Budget, Meter, metered
from crowdnotes.errors import CrowdNotesError, WorkflowError
from crowdnotes.gates import assess
from crowdnotes.jobs import Progress, Step
from crowdnotes.jury import Jury
from crowdnotes.settings import LlmSettings

_SHOWN = 160  # characters of a candidate, while it is written

Changes = Mapping[str, object]
Work = Callable[[Case, Progress], tuple[Changes, str]]

_TITLES = {
    StageName.QUERIES: "Think of searches",
    StageName.SEARCH: "Search",
    StageName.READ: "Choose and read sources",
    StageName.PASSAGES: "Find the passages that matter",
    StageName.DRAFT: "Write candidate notes",
    StageName.ASSESS: "Score the note",
    StageName.JURY: "Hear the jury (a simulation)",
    StageName.LINKS: "Check the links",
}


class StageRunner:
    """Makes the steps of each job; holds no case."""

    def __init__(self, store: Store, tools: Tools, clock: Callable[[], datetime], ways: Ways = FOR_PEOPLE) -> None:
        self._store = store
        self._tools = tools
        self._clock = clock
        self._ways = ways

    def gather(self, case_id: str) -> list[Step]:
        """Queries and search (automation), reading, passages. Raises InputError when there is nowhere to look."""
        case = self._store.get(case_id)
        require_open(case)
        looking = case.mode is Mode.AUTOMATION
        nowhere = nowhere_to_look(places_of(case))
        if nowhere is not None:
            raise nowhere
        tools, ways = self._tools, self._ways
        work: list[tuple[StageName, Work]] = [
            (StageName.READ, lambda case, progress: gathering.read(case, progress, tools, self._store, ways)),
            (StageName.PASSAGES, lambda case, progress: gathering.passages(case, progress, tools, self._store.text)),
        ]
        if looking:
            work[:0] = [
                (StageName.QUERIES, lambda case, _: gathering.queries(case, tools, ways)),
                (StageName.SEARCH, lambda case, progress: gathering.search(case, progress, tools)),
            ]
        steps = [self._step(case_id, name, do, resumable=True) for name, do in work]
        if tools.engine.sees and intake.unread_images(case):
            steps.insert(0, intake.reading_step(case_id, tools.engine, self._store, self._clock))
        return self._metered(case_id, steps)

    def look(self, case_id: str) -> list[Step]:
        """See `looking.Looker`."""
        return self._metered(case_id, Looker(self._store, self._tools, self._clock).steps(case_id))

    def write(self, case_id: str, *, before_inspection: bool) -> list[Step]:
        """Candidate notes. Raises WorkflowError while no passage is in use, unless only proposing."""
        case = self._store.get(case_id)
        require_open(case)
        if not case.used_evidence and not before_inspection:
            raise WorkflowError("evidence first", "No passage is in use yet.", "Open a passage and choose “use”.")

        def do(case: Case, progress: Progress) -> tuple[Changes, str]:
            return self._draft(case, progress, before_inspection=before_inspection)

        return self._metered(case_id, [self._step(case_id, StageName.DRAFT, do)])

    def assess(self, case_id: str, *, before_inspection: bool, scores_only: bool = False) -> list[Step]:
        """One assessment of the text, the jury, and the links.

        With `scores_only` the assessment alone, for studies. Raises WorkflowError when there is no text.
        """
        case = self._store.get(case_id)
        require_open(case)
        if (case.draft is None or not case.draft.text.strip()) and not before_inspection:
            raise WorkflowError("no note", "There is no note to score yet.", "Write or generate a draft.")

        def score(case: Case, _: Progress) -> tuple[Changes, str]:
            return self._assess(case, before_inspection=before_inspection)

        def ask(case: Case, progress: Progress) -> tuple[Changes, str]:
            return links.check_links(case, progress, self._tools.links, self._clock, afresh=False)

        work: list[tuple[StageName, Work]] = [(StageName.ASSESS, score)]
        if not scores_only:
            work.append((StageName.JURY, lambda case, _: vote(case, self._tools.jury)))
            work.append((StageName.LINKS, ask))
        return self._metered(case_id, [self._step(case_id, name, do) for name, do in work])

    def check_links(self, case_id: str) -> list[Step]:
        """The note's links, all asked again. Raises WorkflowError when the case is decided."""
        require_open(self._store.get(case_id))

        def ask(case: Case, progress: Progress) -> tuple[Changes, str]:
            return links.check_links(case, progress, self._tools.links, self._clock, afresh=True)

        return [self._step(case_id, StageName.LINKS, ask)]

    def _metered(self, case_id: str, steps: list[Step]) -> list[Step]:
        return metered_steps(steps, case_id, self._store, self._tools.settings.llm)

    def _draft(self, case: Case, progress: Progress, *, before_inspection: bool) -> tuple[Changes, str]:
        proposed = tuple(item for item in case.evidence if item.aim is Aim.JUDGE)  # the other side waits for a tick
        evidence = proposed if before_inspection and not case.used_evidence else case.used_evidence
        drafted = write_candidates(
            self._tools.engine,
            case.post.as_read,
            evidence,
            self._clock,
            on_text=lambda number, text: progress.count(number, 0, text[-_SHOWN:]),
        )
        if not drafted.candidates:
            return {"candidates": ()}, drafted.summary
        changes: dict[str, object] = {"candidates": drafted.candidates}
        best = drafted.candidates[0]
        untouched = case.draft is None or case.draft.engine != "person"
        if untouched and (case.draft is None or case.draft.sha256 != best.sha256):  # a person's own words stay
            changes |= {"draft": best, "revisions": with_revision(case)}
        return changes, drafted.summary

    def _assess(self, case: Case, *, before_inspection: bool) -> tuple[Changes, str]:
        if case.draft is None:
            return {}, "There is no note to score."
        cited = case.draft.evidence_ids
        proposed = tuple(item for item in case.evidence if item.id in cited)
        evidence = proposed if before_inspection and not case.used_evidence else case.used_evidence
        assessment = assess(self._tools.engine, case.post.as_read, case.draft.text, evidence, self._clock)
        summary = ", ".join(f"{gate.gate.value} {gate.status.value.replace('_', ' ')}" for gate in assessment.gates)
        return {"assessment": assessment}, summary

    def _step(self, case_id: str, name: StageName, work: Work, *, resumable: bool = False) -> Step:
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
            self._store.update(case_id, lambda newest: self._recorded(newest, case, name, changes, summary, seconds))
            return summary

        return Step(name=name.value, title=_TITLES[name], run=run, finished=finished)

    def _recorded(
        self, newest: Case, worked_on: Case, name: StageName, changes: Changes, summary: str, seconds: float
    ) -> Case:
        """The newest case with the stage's result, merged with what a person did meanwhile."""
        require_still_open(newest)
        if newest.post.whole_text != worked_on.post.whole_text:
            raise WorkflowError("post changed", "The post was changed while this was at work.", "Start it again.")
        if name in GATHERING and places_of(newest) != places_of(worked_on):
            raise WorkflowError(
                "sources changed", "Other sources were chosen while this was at work.", "Start it again to read those."
            )
        at = self._clock()
        merged = gathering.merged(newest, worked_on, changes)
        stage = Stage(name=name, finished_at=at, seconds=seconds, summary=summary, engine=self._tools.engine.name)
        others = tuple(other for other in newest.stages if other.name is not name)
        return with_event(newest, at, PROGRAM, f"stage {name.value}", summary, **merged, stages=(*others, stage))


def metered_steps(steps: Iterable[Step], case_id: str, store: Store, bounds: LlmSettings) -> list[Step]:
    """The same steps; what each uses is added to `Case.usage`, and the budget holds for the case as a whole."""
    budget = Budget(bounds.budget_dollars, bounds.budget_tokens)
    return [_metered(step, case_id, store, budget) for step in steps]


def _metered(step: Step, case_id: str, store: Store, budget: Budget) -> Step:
    def run(progress: Progress) -> str:
        meter = Meter(budget, store.get(case_id).used)
        try:
            with metered(meter):
                return step.run(progress)
        finally:  # what was spent stays spent, whatever came of it
            found = meter.by_step
            if found:
                store.update(case_id, lambda case: _with_usage(case, found))

    return replace(step, run=run)


def _with_usage(case: Case, found: Mapping[str, Usage]) -> Case:
    usage = dict(case.usage)
    for name, used in found.items():
        usage[name] = usage.get(name, Usage()) + used
    return case.model_copy(update={"usage": usage})


_KEPT = 20  # verdicts on record, so that an edit can be compared with what stood before it

Result = tuple[Mapping[str, object], str]


def vote(case: Case, open_jury: Callable[[], Jury]) -> Result:
    """A verdict on the note as it stands, with the words that move it, and one on each candidate.

    All stand before the same jurors. What cannot be judged is NOT RUN with its reason in the summary.
    """
    if case.draft is None:
        return {}, "NOT RUN: there is no note."
    post, text = case.post.as_read.text, case.draft.text
    others = [candidate.text for candidate in case.candidates if candidate.sha256 != case.draft.sha256]
    try:
        jury = open_jury()
        verdict = jury.verdict(post, text)
    except CrowdNotesError as error:
        return {}, f"NOT RUN: {error.message}"
    known = {item.text_sha256 for item in case.jury if item.post_sha256 == verdict.post_sha256}
    beside = [item for item in jury.compare(post, others) if item.text_sha256 not in known]
    earlier = tuple(item for item in case.jury if item.text_sha256 != verdict.text_sha256)
    kept = (*earlier, *beside)[-(_KEPT - 1) :]
    return {"jury": (*kept, verdict)}, _summary(verdict)


def _summary(verdict: JuryVerdict) -> str:
    return f"simulated note intercept {verdict.note_intercept:.2f} of the {verdict.helpful_line:.2f} needed"
