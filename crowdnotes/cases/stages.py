"""The stages that the program works through, in one table, and the runner that makes steps of a job of them.

A step reads the newest case, does its stage's work, and writes the result and a record of itself in one transaction. A
recorded stage does not run again, so that a job resumes. Posts, follow-up searches and supernotes use the same table: a
plan chooses stages from it and replaces what is particular to one run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

from crowdnotes.cases import (
    follow_up_stages,
    gathering_stages,
    intake,
    suggestions,
    supernote_actions,
    supernote_stages,
    writing_stages,
)
from crowdnotes.cases.actions import add_event, require_open, require_still_open, with_event
from crowdnotes.cases.cases import Cases
from crowdnotes.cases.follow_up_stages import SearchSelector, SearchWork
from crowdnotes.cases.gathering_stages import Changes, StageContext, StageResult
from crowdnotes.cases.intake import GATHERING_STAGES, search_scope_of
from crowdnotes.cases.permissions import require_editable
from crowdnotes.domain import (
    PROGRAM,
    Act,
    Actor,
    Aim,
    Case,
    Event,
    FollowUpKind,
    Image,
    Mode,
    Person,
    StageName,
    StageOutcome,
    StageRecord,
    Usage,
)
from crowdnotes.engines import ImageReading
from crowdnotes.engines.metering import Budget, Meter, metered
from crowdnotes.errors import EngineError, JobCancelled, StoreError, WorkflowError
from crowdnotes.jobs import Fence, JobRecord, Progress, Step
from crowdnotes.logs import count_in_span

_MAX_MODEL_WORDS_CHARACTERS = 160  # characters of what a model says, while it says it
_SECONDS_BETWEEN_LOOKS = 0.5  # at a case, for whether a result is still wanted: a model streams many words a second


class Touches(StrEnum):
    """What a stage changes, and so who may run it while the case is with the moderators."""

    CASE = "the case"
    SCORES = "scores"
    LINK_CHECKS = "link checks"

    def require(self, case: Case, by: Person) -> None:
        """Raise WorkflowError where that person may not: see `require_editable`. Everybody may check the links."""
        if self is not Touches.LINK_CHECKS:
            require_editable(case, by, by_reviewers=self is Touches.SCORES)


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage as a job runs it. It stores nothing but texts of sources; the runner stores its result.

    `skip` returns how it ended before, or why it need not run. A job runs a stage once, even if another worker takes
    the job over; a `resumable` stage is not run by later jobs either. `search` finds the follow-up search that the
    stage belongs to and is stored with. `again` marks the second run of a stage in one job. `step` names the step,
    where it is not named as the stage. `meanwhile` is a stage that runs at the same time; its result is stored at once.
    `is_wanted` returns whether the result still says something of the case as it is now; the stage stops when not.
    """

    name: StageName
    title: str
    run: Callable[[Case, Progress, StageContext], StageResult]
    skip: Callable[[Case], StageOutcome | None] = lambda _: None
    resumable: bool = False
    touches: Touches = Touches.CASE
    search: SearchSelector | None = None
    again: bool = False
    step: str = ""
    meanwhile: Stage | None = None
    is_wanted: Callable[[Case], bool] = lambda _: True


def _in_round(name: StageName, title: str, run: Callable[[Case, Progress, StageContext], StageResult]) -> Stage:
    """Return a stage of making a supernote."""
    return Stage(name, title, run, skip=partial(supernote_stages.done_before, name=name))


STAGES = {
    stage.name: stage
    for stage in (
        Stage(StageName.QUERIES, "Choose search words", gathering_stages.queries, resumable=True),
        Stage(StageName.SEARCH, "Search", gathering_stages.search, resumable=True),
        Stage(StageName.READ, "Choose and read sources", gathering_stages.read, resumable=True),
        Stage(StageName.PASSAGES, "Find the text that matters", gathering_stages.passages, resumable=True),
        Stage(
            StageName.SETTLE,
            "Check whether they settle the claim",
            follow_up_stages.settle,
            skip=follow_up_stages.is_settled,
        ),
        Stage(StageName.DRAFT, "Write notes, or find sentences to quote", writing_stages.draft),
        Stage(StageName.REVISE, "Compare drafts and improve the best", writing_stages.revise),
        Stage(StageName.ASSESS, "Score the note", writing_stages.score, touches=Touches.SCORES),
        Stage(StageName.JURY, "Ask simulated readers", writing_stages.vote, touches=Touches.SCORES),
        Stage(StageName.LINKS, "Check the links", writing_stages.check_links, touches=Touches.LINK_CHECKS),
        _in_round(StageName.CANDIDATES, "Write drafts from the notes", supernote_stages.candidates),
        _in_round(StageName.FILTER, "Check the drafts", supernote_stages.filter_stage),
        _in_round(StageName.RANK, "Let simulated readers choose", supernote_stages.rank_stage),
        _in_round(StageName.COMPARE, "Compare and improve the best", supernote_stages.compare_stage),
        _in_round(StageName.CREDIT, "Credit the original notes", supernote_stages.credit_stage),
        Stage(StageName.SUGGESTIONS, "Answer the suggestions", suggestions.answer_stage),
    )
}


# --- plans: which stages a job runs, of a case as it is ---


def gathering(case: Case, context: StageContext) -> list[Stage]:
    """Search in automation, read the pages, find passages, and ask a model whether they settle the claim.

    Raises InputError when there is nowhere to look.
    """
    nowhere = intake.missing_scope_error(search_scope_of(case))
    if nowhere is not None:
        raise nowhere
    searches, thinks = case.mode is Mode.AUTOMATION, context.engine.uses_language_model
    first = [STAGES[StageName.QUERIES]] if searches or thinks else []
    stages = [STAGES[StageName.SEARCH]] if searches else []
    stages += [STAGES[StageName.READ], STAGES[StageName.PASSAGES], *(_settling(case) if thinks else [])]
    return first + [replace(stage, skip=partial(_wait_for_wish, skip=stage.skip)) for stage in stages]


def _wait_for_wish(case: Case, skip: Callable[[Case], StageOutcome | None]) -> StageOutcome | None:
    """Skip the stage until a person says that they want a note although raters may not."""
    unwanted = StageOutcome.not_needed("Not done: readers may want no note") if case.unwanted else None
    return skip(case) or unwanted


def _settling(case: Case) -> list[Stage]:
    """Ask whether the passages settle the claim; in automation, if none states it, search once more and ask again."""
    settle = STAGES[StageName.SETTLE]
    if case.mode is not Mode.AUTOMATION:
        return [settle]
    again = [
        replace(stage, step=f"{stage.name.value} again", title=f"{stage.title} once more", skip=_skip_second_search)
        for stage in _search_stages(FollowUpKind.SETTLE, follow_up_stages.second_search)
    ]
    first = replace(settle, run=partial(follow_up_stages.settle, may_search=True))
    return [first, *again, replace(settle, step=f"{settle.name.value} again", again=True)]


def _skip_second_search(case: Case) -> StageOutcome | None:
    return None if follow_up_stages.second_search(case) else StageOutcome.not_needed("Not needed")


def _search_stages(kind: FollowUpKind, search: SearchSelector) -> list[Stage]:
    """Return the stages of a follow-up search."""

    def run(case: Case, progress: Progress, context: StageContext, do: SearchWork) -> StageResult:
        return do(case, follow_up_stages.unfinished(search(case)), progress, context)

    work = follow_up_stages.stages_of(kind)
    return [replace(STAGES[name], run=partial(run, do=do), search=search) for name, do in work]


def following_up(case: Case, context: StageContext) -> list[Stage]:
    """Run what is left of the follow-up search that a person asked for. Raises WorkflowError when there is none."""
    asked = follow_up_stages.unfinished(case.open_search)
    stages = _search_stages(asked.kind, follow_up_stages.with_id(asked.id))
    thinks = context.engine.uses_language_model and asked.aim is Aim.JUDGE
    return [*stages, STAGES[StageName.SETTLE]] if thinks else stages


def writing(case: Case, context: StageContext, *, before_inspection: bool) -> list[Stage]:
    """Write candidate notes from the passages in use; a model compares them and revises the best.

    `before_inspection` writes from all passages, and revises only where a check gives a reason; else WorkflowError
    while none is in use.
    """
    if not case.used_evidence and not before_inspection:
        raise WorkflowError("evidence first", "You use no source yet.", "Open a source and choose “Use”.")
    draft = partial(writing_stages.draft, before_inspection=before_inspection)
    if not context.engine.uses_language_model:
        return [replace(STAGES[StageName.DRAFT], run=draft)]
    written = replace(STAGES[StageName.DRAFT], run=draft, skip=writing_stages.written_before)
    revise = partial(writing_stages.revise, before_inspection=before_inspection)
    return [written, replace(STAGES[StageName.REVISE], run=revise)]


def scoring(case: Case, _: StageContext, *, before_inspection: bool, scores_only: bool) -> list[Stage]:
    """Score the note, simulate the jury and check the links; with `scores_only` score it alone, for studies.

    `before_inspection` judges over the passages that the note cites; else WorkflowError when there is no note.
    """
    if (case.draft is None or not case.draft.text.strip()) and not before_inspection:
        raise WorkflowError("no note", "There is no note yet.", "Write the note first.")
    score, links = partial(writing_stages.score, before_inspection=before_inspection), STAGES[StageName.LINKS]
    assess = replace(STAGES[StageName.ASSESS], run=score, meanwhile=None if scores_only else links)
    stages = [assess] if scores_only else [assess, STAGES[StageName.JURY], links]
    if before_inspection:  # the note is written and repaired by the same job
        return stages
    return [replace(stage, is_wanted=partial(_has_basis, basis=case.scoring_basis)) for stage in stages]


def _has_basis(case: Case, basis: str) -> bool:
    return case.scoring_basis == basis


def combining(case: Case, context: StageContext) -> list[Stage]:
    """Read the linked pages, then make, filter and rank candidates; a model compares the best; credit the notes.

    Stopped work resumes. Raises WorkflowError for a case without notes, or when none is used.
    """
    if not supernote_actions.require_work(case).used:
        raise WorkflowError("no notes", "You use no note.", "Tick a note. Each says why it is left out.")

    def needs(there: Callable[[Case], object], otherwise: StageOutcome) -> Callable[[Case], StageOutcome | None]:
        return lambda newest: None if there(newest) else otherwise

    wordless = needs(lambda newest: newest.post.has_words, StageOutcome.not_run("The post has no text"))
    linkless = needs(lambda newest: newest.urls, StageOutcome.not_needed("No note you use has a link"))
    pageless = needs(lambda newest: newest.urls, StageOutcome.not_needed("There is no page"))
    queries = [replace(STAGES[StageName.QUERIES], skip=wordless)] if context.engine.uses_language_model else []
    pages = [replace(STAGES[StageName.READ], skip=linkless), replace(STAGES[StageName.PASSAGES], skip=pageless)]
    compares = [STAGES[StageName.COMPARE]] if context.engine.supernotes is not None else []
    first, last = (StageName.CANDIDATES, StageName.FILTER, StageName.RANK), STAGES[StageName.CREDIT]
    return [*queries, *pages, *(STAGES[name] for name in first), *compares, last]


def answering(case: Case, context: StageContext) -> list[Stage]:
    """Let the model answer the open suggestions. Raises WorkflowError without a model or an open suggestion."""
    if context.engine.supernotes is None:
        raise WorkflowError("no model", "Only an AI can do this.", "Answer them yourself.")
    if not suggestions.open_suggestions(case) or case.draft is None:
        raise WorkflowError("none open", "Every suggestion has an answer.")
    return [STAGES[StageName.SUGGESTIONS]]


def checking_links(_: Case, __: StageContext) -> list[Stage]:
    """Ask all links of the note again."""
    return [replace(STAGES[StageName.LINKS], run=partial(writing_stages.check_links, afresh=True))]


Plan = Callable[[Case, StageContext], list[Stage]]


# --- running ---


def _keep_stage_result(newest: Case, worked_on: Case, changes: Changes, stage: StageRecord) -> Case:
    """Return the newest case with a stage's result, merged with what a person did meanwhile.

    Raises WorkflowError when what the stage worked for is gone.
    """
    if newest.post.whole_text != worked_on.post.whole_text:
        raise WorkflowError("post changed", "The post changed meanwhile.", "Start it again.")
    if stage.name in GATHERING_STAGES and search_scope_of(newest) != search_scope_of(worked_on):
        raise WorkflowError("sources changed", "You chose other sources meanwhile.", "Start again to read those.")
    merged = gathering_stages.merged(newest, worked_on, supernote_actions.merged(newest, worked_on, changes))
    stages = (*(other for other in newest.stages if other.name is not stage.name), stage)
    by, kind, verdicts = PROGRAM, f"stage {stage.name.value}", stage.verdicts
    event = Event(at=stage.finished_at, by=by.name, by_key=by.key, kind=kind, detail=stage.summary, verdicts=verdicts)
    return add_event(newest, event, {**merged, "stages": stages})


class StageRunner:
    """Makes the steps of long work on a case, for a job runner; holds no case.

    The steps act as the person of `cases`: permissions are checked before each works and before it stores its result.
    """

    def __init__(self, cases: Cases, context: StageContext) -> None:
        self.cases = cases
        self.context = replace(context, cases=cases)

    def with_fence(self, job: JobRecord) -> StageRunner:
        """Return a runner for the steps of a job: it stores nothing more once another worker took the job over."""
        return StageRunner(self.cases.with_fence(Fence(job.id, job.fence)), self.context)

    def gather_steps(self, case_id: str) -> list[Step]:
        """See `gathering`; an engine that sees first reads the images."""
        steps = self._steps(case_id, gathering)
        unread = intake.unread_images(self.cases.get(case_id, Act.WORK))
        images = [self._image_step(case_id)] if self.context.engine.sees and unread else []
        return [*images, *steps]

    def follow_up_steps(self, case_id: str) -> list[Step]:
        """Return the steps of `following_up`."""
        return self._steps(case_id, following_up)

    def write_steps(self, case_id: str, *, before_inspection: bool = False) -> list[Step]:
        """Return the steps of `writing`."""
        return self._steps(case_id, partial(writing, before_inspection=before_inspection))

    def assess_steps(self, case_id: str, *, before_inspection: bool = False, scores_only: bool = False) -> list[Step]:
        """See `scoring`."""
        plan = partial(scoring, before_inspection=before_inspection, scores_only=scores_only)
        return self._steps(case_id, plan, Touches.SCORES)

    def supernote_steps(self, case_id: str) -> list[Step]:
        """Return the steps of `combining`."""
        return self._steps(case_id, combining)

    def supernote_cost(self, case: Case) -> str:
        """Return what the next round is expected to take of a model, as text."""
        return supernote_stages.expected_cost(case, self.context).as_text()

    def possible_candidates(self, case: Case) -> int:
        """Return how many candidates the next round can make without a model, at most as many as are wanted."""
        return supernote_stages.possible_candidates(case, self.context)

    def suggestion_steps(self, case_id: str) -> list[Step]:
        """Return the steps of `answering`."""
        return self._steps(case_id, answering)

    def check_link_steps(self, case_id: str) -> list[Step]:
        """Return the steps of `checking_links`."""
        return self._steps(case_id, checking_links, Touches.LINK_CHECKS)

    def _steps(self, case_id: str, plan: Plan, touches: Touches = Touches.CASE) -> list[Step]:
        """Return the steps of the stages that the plan chooses of the case as it is.

        Raises WorkflowError where the case is decided, or the actor may not change so much of it, and what the plan
        raises.
        """
        case = self.cases.get(case_id, Act.WORK)
        require_open(case)
        touches.require(case, self.cases.actor)
        begun: dict[StageName, Future[None]] = {}
        return [self._step(case_id, stage, begun) for stage in plan(case, self.context)]

    def _step(self, case_id: str, stage: Stage, begun: dict[StageName, Future[None]]) -> Step:
        """Return the step that runs a stage and stores its result; `begun` are those that run at the same time."""
        job_id = self.cases.job_id
        mark = f"{job_id} again" if stage.again else job_id

        def stages(case: Case) -> tuple[StageRecord, ...]:
            holder = case if stage.search is None else stage.search(case)
            return holder.stages if holder is not None else ()

        def is_finished(record: StageRecord) -> bool:
            by_this_job = bool(job_id) and record.job in {mark, f"{job_id} again"}
            return record.name is stage.name and (stage.resumable or by_this_job)

        def finished() -> StageOutcome | None:
            case = self.cases.get(case_id, Act.WORK)
            return next(filter(is_finished, stages(case)), None) or stage.skip(case)

        def run(progress: Progress) -> StageOutcome:
            if stage.meanwhile is not None:
                begun[stage.meanwhile.name] = self._begin(case_id, stage.meanwhile, progress)
            while stage.name in begun and not wait([begun[stage.name]], timeout=0.05).done:
                progress.check()  # if it failed, it runs again below and fails there
            started = time.perf_counter()
            case = self.cases.get(case_id, Act.WORK)
            changes, ended = stage.run(case, progress, self.context)
            seconds = time.perf_counter() - started
            progress.check()

            def keep(newest: Case, actor: Actor) -> Case:
                require_still_open(newest)
                (Touches.CASE if "draft" in changes else stage.touches).require(newest, actor)
                at, engine = self.context.clock(), self.context.engine.name
                record = StageRecord(
                    **dict(ended), name=stage.name, finished_at=at, seconds=seconds, engine=engine, job=mark
                )
                if stage.search is not None:
                    return follow_up_stages.keep(newest, case, stage.search, changes, record)
                return _keep_stage_result(newest, case, changes, record)

            return stages(self.cases.update(Act.WORK, case_id, keep))[-1]

        run_metered = self._metered(case_id, run)

        def run_while_wanted(progress: Progress) -> StageOutcome:
            watched = _WantedProgress(progress, lambda: stage.is_wanted(self.cases.get(case_id, Act.WORK)))
            watched.stop_if_unwanted()
            return run_metered(watched)

        name = stage.step or stage.name.value
        return Step(name=name, title=stage.title, run=run_while_wanted, finished=finished)

    def _begin(self, case_id: str, stage: Stage, progress: Progress) -> Future[None]:
        """Run a stage on its own thread, and store its changes as soon as they are there, without a record."""

        def work() -> None:
            changes, _ = stage.run(self.cases.get(case_id, Act.WORK), progress, self.context)

            def keep(newest: Case, _: Actor) -> Case:
                require_still_open(newest)
                return newest.replace(**changes)

            self.cases.update(Act.WORK, case_id, keep)

        pool = ThreadPoolExecutor(1, thread_name_prefix="crowdnotes-meanwhile")
        future = pool.submit(work)
        pool.shutdown(wait=False)
        return future

    def _metered(self, case_id: str, run: Callable[[Progress], StageOutcome]) -> Callable[[Progress], StageOutcome]:
        """Return the same work; its use of a language model is added to `Case.usage`, also when it fails.

        The budget holds for the case as a whole.
        """
        bounds = self.context.settings.llm
        budget = Budget(bounds.budget_dollars, bounds.budget_tokens)

        def run_metered(progress: Progress) -> StageOutcome:
            shown = _ModelProgress(progress)
            meter = Meter(budget, self.cases.get(case_id, Act.WORK).used, progress.check, shown.show_words)
            try:
                with metered(meter):
                    return run(shown)
            finally:  # usage counts whatever the result, and even if the person may no longer work
                if meter.by_step:
                    spent = sum(meter.by_step.values(), Usage())
                    count_in_span(calls=spent.calls, input_tokens=spent.input_tokens, output_tokens=spent.output_tokens)
                    self.cases.add_usage(case_id, meter.by_step, meter.chain)

        return run_metered

    def _image_step(self, case_id: str) -> Step:
        """Return the step in which an engine that sees reads the images that nobody has read.

        An image that it cannot read is left for a person, with an event that says so; one that was removed meanwhile
        is skipped. The other images and the rest of the job go on.
        """
        cases, engine, clock = self.cases, self.context.engine, self.context.clock

        def kept(case: Case, actor: Actor, image: Image, reading: ImageReading) -> Case:
            now = intake.find_image(case, image.sha256)
            if now is None or now.read_by:  # removed, or described by a person, meanwhile
                return case
            require_still_open(case)
            require_editable(case, actor)
            text, shows = (words[: intake.MAX_IMAGE_WORDS] for words in (reading.text, reading.shows))
            return intake.describe_image(case, clock(), PROGRAM, image.sha256, text, shows, read_by=engine.name)

        def with_failure(case: Case, _: Actor, detail: str) -> Case:
            require_still_open(case)
            return with_event(case, clock(), PROGRAM, "image not read", detail)

        def run(progress: Progress) -> StageOutcome:
            waiting = intake.unread_images(cases.get(case_id, Act.WORK))
            failed: list[str] = []
            gone = 0
            for number, image in enumerate(waiting):
                progress.count(number, len(waiting), image.name)
                try:
                    reading = engine.read_image(cases.image(case_id, image.sha256, Act.WORK), image.media_type)
                except (EngineError, StoreError) as error:
                    if intake.find_image(cases.get(case_id, Act.WORK), image.sha256) is None:
                        gone += 1
                        continue
                    failed.append(f"{image.name}: {error.message}")
                    cases.update(Act.WORK, case_id, partial(with_failure, detail=failed[-1]))
                    continue
                cases.update(Act.WORK, case_id, partial(kept, image=image, reading=reading))
            counts = f"{len(waiting) - gone - len(failed)} of {len(waiting) - gone} read"
            left = f"; type what the others say. {' '.join(failed)}" if failed else ""
            return StageOutcome(summary=f"{counts}{left}", reason=" ".join(failed))

        def finished() -> StageOutcome | None:
            done = not intake.unread_images(cases.get(case_id, Act.WORK))
            return StageOutcome(summary="Read before") if done else None

        return Step(name="images", title="Read the images", run=self._metered(case_id, run), finished=finished)


class _WantedProgress:
    """A step's progress that stops the step once nobody wants its result any more; it looks twice a second."""

    def __init__(self, progress: Progress, is_wanted: Callable[[], bool]) -> None:
        self._progress, self._is_wanted, self._looked = progress, is_wanted, float("-inf")

    def count(self, done: int, total: int, note: str = "") -> None:
        """Show progress, see `Progress.count`."""
        self._progress.count(done, total, note)
        self.stop_if_unwanted()

    def check(self) -> None:
        """See `Progress.check`."""
        self._progress.check()
        self.stop_if_unwanted()

    def stop_if_unwanted(self) -> None:
        """Raise JobCancelled where the result is not wanted any more."""
        if time.monotonic() - self._looked < _SECONDS_BETWEEN_LOOKS:
            return
        self._looked = time.monotonic()
        if not self._is_wanted():
            raise JobCancelled("The note or its sources changed.")


class _ModelProgress:
    """A step's progress, with the model's newest words after the counts."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._counted, self._note = (0, 0), ""
        self.check = progress.check

    def count(self, done: int, total: int, note: str = "") -> None:
        """Show progress, see `Progress.count`."""
        self._counted, self._note = (done, total), note
        self._progress.count(done, total, note)

    def show_words(self, _: str, words: str) -> None:
        """Show the model's words, see `Meter`."""
        newest = words if len(words) <= _MAX_MODEL_WORDS_CHARACTERS else f"…{words[-_MAX_MODEL_WORDS_CHARACTERS:]}"
        self._progress.count(*self._counted, f"{self._note} · {newest}" if self._note else newest)
