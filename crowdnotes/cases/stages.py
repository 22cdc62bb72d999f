"""The stages that the program works through, as steps for a job: each is saved before the next starts.

A step reads the newest case, does its work, and writes its result and a line about itself in one transaction. A stage
that is on record is not run again: that is what resuming is. Gathering and follow-up searches run on the same steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from functools import partial

from crowdnotes.cases import (
    approval,
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
from crowdnotes.cases.gathering_stages import Changes, StageContext, StageResult, Work
from crowdnotes.cases.intake import GATHERING, search_scope_of
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
    StageName,
    StageOutcome,
    StageRecord,
    Usage,
)
from crowdnotes.engines import ImageReading
from crowdnotes.engines.metering import Budget, Meter, metered
from crowdnotes.errors import EngineError, StoreError, WorkflowError
from crowdnotes.jobs import Fence, JobRecord, Progress, Step
from crowdnotes.logs import count_in_span

_MAX_MODEL_WORDS_CHARACTERS = 160  # characters of what a model says, while it says it

_SCORING_STAGES = frozenset({StageName.ASSESS, StageName.JURY})  # they leave the note as it is

_TITLE_BY_STAGE = {
    StageName.QUERIES: "Write search words",
    StageName.SEARCH: "Search",
    StageName.READ: "Choose and read sources",
    StageName.PASSAGES: "Find the passages that matter",
    StageName.SETTLE: "Check whether they answer the claim",
    StageName.DRAFT: "Write notes, or find sentences to quote",
    StageName.REVISE: "Compare the notes and improve the best",
    StageName.ASSESS: "Score the note",
    StageName.JURY: "Simulate the jury",
    StageName.LINKS: "Check the links",
    StageName.CANDIDATES: "Make candidates from the notes",
    StageName.FILTER: "Filter the candidates",
    StageName.RANK: "Let the jury choose (a simulation)",
    StageName.COMPARE: "Compare the best and improve one",
    StageName.CREDIT: "Credit the notes",
    StageName.SUGGESTIONS: "Answer the suggestions",
}


def _never(_: Case) -> StageOutcome | None:
    return None


def _keep_stage_result(newest: Case, worked_on: Case, changes: Changes, stage: StageRecord) -> Case:
    """The newest case with a stage's result, merged with what a person did meanwhile.

    Raises WorkflowError when what the stage worked for is gone.
    """
    if newest.post.whole_text != worked_on.post.whole_text:
        raise WorkflowError("post changed", "The post was changed while this was running.", "Start it again.")
    if stage.name in GATHERING and search_scope_of(newest) != search_scope_of(worked_on):
        raise WorkflowError(
            "sources changed", "Other sources were chosen while this was running.", "Start it again to read those."
        )
    merged = gathering_stages.merged(newest, worked_on, supernote_actions.merged(newest, worked_on, changes))
    stages = (*(other for other in newest.stages if other.name is not stage.name), stage)
    by, kind, verdicts = PROGRAM, f"stage {stage.name.value}", stage.verdicts
    event = Event(at=stage.finished_at, by=by.name, by_key=by.key, kind=kind, detail=stage.summary, verdicts=verdicts)
    return add_event(newest, event, {**merged, "stages": stages})


class StageRunner:
    """Makes the steps of long work on a case, for a job runner; holds no case.

    The steps act as the person of `cases`: each asks again, before it works and before it keeps what came of it.
    """

    def __init__(self, cases: Cases, context: StageContext) -> None:
        self.cases = self._cases = cases
        self.context = self._tools = context

    def with_fence(self, job: JobRecord) -> StageRunner:
        """Return the same for the steps of a job: nothing more is kept once another worker took it over."""
        fence = Fence(job.id, job.fence)
        context = replace(self._tools, store=self._tools.store.with_fence(fence))
        return StageRunner(self._cases.with_fence(fence), context)

    def gather_steps(self, case_id: str) -> list[Step]:
        """Queries and search (automation), reading, passages. Raises InputError when there is nowhere to look."""
        case = self._open(case_id)
        nowhere = intake.missing_scope_error(search_scope_of(case))
        if nowhere is not None:
            raise nowhere
        tools = self._tools
        searches, thinks = case.mode is Mode.AUTOMATION, tools.engine.uses_language_model
        work: list[tuple[StageName, Callable[..., StageResult]]] = [
            *([(StageName.QUERIES, gathering_stages.queries)] if searches or thinks else []),
            *([(StageName.SEARCH, gathering_stages.search)] if searches else []),
            (StageName.READ, gathering_stages.read),
            (StageName.PASSAGES, gathering_stages.passages),
        ]
        steps = [self._step(case_id, name, partial(do, tools=tools), resumable=True) for name, do in work]
        if thinks:
            steps += self._settle_steps(case_id, case.mode)
        steps = [step if step.name == StageName.QUERIES else self._hold_step(case_id, step) for step in steps]
        if tools.engine.sees and intake.unread_images(case):
            steps.insert(0, self._image_step(case_id))
        return self._metered(case_id, steps)

    def _hold_step(self, case_id: str, step: Step) -> Step:
        """Return the step, skipped until a person says that they want a note although raters may not."""

        def finished() -> StageOutcome | None:
            ended = step.finished()
            if ended is None and self._cases.get(case_id, Act.WORK).unwanted:
                return StageOutcome.not_needed("Not done: raters may want no note")
            return ended

        return replace(step, finished=finished)

    def follow_up_steps(self, case_id: str) -> list[Step]:
        """What is left to do for the follow-up search that was asked for. Raises WorkflowError when none was."""
        asked = follow_up_stages.unfinished(self._open(case_id).open_search)
        which, work = follow_up_stages.with_id(asked.id), follow_up_stages.stages_of(asked.kind, self._tools)
        steps = [self._search_step(case_id, name, do, which) for name, do in work]
        if self._tools.engine.uses_language_model and asked.aim is Aim.JUDGE:
            steps.append(self._settle_step(case_id))
        return self._metered(case_id, steps)

    def _settle_steps(self, case_id: str, mode: Mode) -> list[Step]:
        """Whether the passages settle the claim; and where none states it, one more search, and the question again."""
        settle = self._settle_step(case_id)
        if mode is not Mode.AUTOMATION:
            return [settle]
        steps = [self._settle_step(case_id, may_search=True)]

        def finished(step: Step) -> StageOutcome | None:
            needed = follow_up_stages.second_search(self._cases.get(case_id, Act.WORK)) is not None
            return step.finished() if needed else StageOutcome.not_needed("Not needed")

        for name, do in follow_up_stages.stages_of(FollowUpKind.SETTLE, self._tools):
            step = self._search_step(case_id, name, do, follow_up_stages.second_search)
            again, title = f"{name.value} again", f"{step.title} once more"
            steps.append(replace(step, name=again, title=title, finished=partial(finished, step)))
        settle = self._settle_step(case_id, again=True)
        return [*steps, replace(settle, name=f"{settle.name} again")]

    def _settle_step(self, case_id: str, *, may_search: bool = False, again: bool = False) -> Step:
        settle = partial(follow_up_stages.settle, tools=self._tools, may_search=may_search)
        return self._step(case_id, StageName.SETTLE, settle, done=follow_up_stages.is_settled, again=again)

    def write_steps(self, case_id: str, *, before_inspection: bool = False) -> list[Step]:
        """Candidate notes from the passages in use, compared and the best one revised.

        `before_inspection` proposes from all of them; else WorkflowError while no passage is in use.
        """
        case = self._open(case_id)
        if not case.used_evidence and not before_inspection:
            raise WorkflowError("evidence first", "No source is in use yet.", "Open a source and choose to use it.")
        thinks = self._tools.engine.uses_language_model
        draft = partial(writing_stages.draft, tools=self._tools, before_inspection=before_inspection)
        done = writing_stages.written_before if thinks else _never
        steps = [self._step(case_id, StageName.DRAFT, draft, done=done)]
        if thinks:
            steps.append(self._step(case_id, StageName.REVISE, partial(writing_stages.revise, tools=self._tools)))
        return self._metered(case_id, steps)

    def assess_steps(self, case_id: str, *, before_inspection: bool = False, scores_only: bool = False) -> list[Step]:
        """One assessment of the text, the jury, and the links; with `scores_only` the assessment alone, for studies.

        `before_inspection` judges over the passages that the text cites; else WorkflowError when there is no text.
        """
        case = self._open(case_id, by_reviewers=True)
        if (case.draft is None or not case.draft.text.strip()) and not before_inspection:
            raise WorkflowError("no note", "There is no note to score yet.", "Write the note first.")
        work: list[tuple[StageName, Work]] = [
            (StageName.ASSESS, partial(writing_stages.score, tools=self._tools, before_inspection=before_inspection)),
            (StageName.JURY, partial(writing_stages.vote, tools=self._tools)),
            (StageName.LINKS, partial(self._ask_links, afresh=False)),
        ]
        steps = [self._step(case_id, name, do) for name, do in (work[:1] if scores_only else work)]
        metered_steps = self._metered(case_id, steps)
        return metered_steps if scores_only else self._asking_links(case_id, *metered_steps)

    def _asking_links(self, case_id: str, score: Step, vote: Step, check: Step) -> list[Step]:
        """The same steps; the links are asked while the note is scored, and the last one then finds their answers."""
        asking: list[Future[None]] = []

        def ask(progress: Progress) -> None:
            changes, _ = self._ask_links(self._cases.get(case_id, Act.WORK), progress, afresh=False)

            def keep(newest: Case, _: Actor) -> Case:
                require_still_open(newest)
                return newest.replace(**changes)

            self._cases.update(Act.WORK, case_id, keep)

        def run_score(progress: Progress) -> StageOutcome:
            pool = ThreadPoolExecutor(1, thread_name_prefix="crowdnotes-links")
            asking.append(pool.submit(ask, progress))
            pool.shutdown(wait=False)
            return score.run(progress)

        def run_check(progress: Progress) -> StageOutcome:
            while asking and not wait(asking, timeout=0.05).done:
                progress.check()
            return check.run(progress)  # where asking failed it is done here, and fails here

        return [replace(score, run=run_score), vote, replace(check, run=run_check)]

    def supernote_steps(self, case_id: str) -> list[Step]:
        """The linked pages, candidates, filters, the jury, the judge of the best where a model is at work, credit.

        One that was stopped goes on where it was. Raises WorkflowError of a case without notes, or when none is used.
        """
        case, tools = self._open(case_id), self._tools
        if not supernote_actions.require_work(case).used:
            raise WorkflowError("no notes", "No note is used.", "Choose one to use: the reasons are beside them.")
        no_link = StageOutcome.not_needed("No used note has a link")
        no_page = StageOutcome.not_needed("There is no page")
        wordless = StageOutcome.not_run("The post's words are not known")
        pages: list[tuple[StageName, Callable[..., StageResult], Callable[[Case], StageOutcome | None]]] = [
            (StageName.READ, gathering_stages.read, lambda case: None if case.urls else no_link),
            (StageName.PASSAGES, gathering_stages.passages, lambda case: None if case.urls else no_page),
        ]
        if tools.engine.uses_language_model:
            pages.insert(
                0, (StageName.QUERIES, gathering_stages.queries, lambda case: None if case.post.has_words else wordless)
            )
        steps = [
            self._step(case_id, name, partial(do, tools=tools), resumable=True, done=done) for name, do, done in pages
        ]
        thinks = tools.engine.supernotes is not None
        for name, do in supernote_stages.ROUND:
            if thinks or name is not StageName.COMPARE:
                done = partial(supernote_stages.done_before, name=name)
                steps.append(self._step(case_id, name, partial(do, tools=tools), done=done))
        return self._metered(case_id, steps)

    def supernote_cost(self, case: Case) -> str:
        """Return what the next round is expected to take of a model, as text."""
        return supernote_stages.expected_cost(case, self._tools).as_text()

    def suggestion_steps(self, case_id: str) -> list[Step]:
        """Open suggestions, answered by the model at work. Raises WorkflowError where there is nothing to do."""
        case = self._open(case_id)
        if self._tools.engine.supernotes is None:
            raise WorkflowError("no model", "No language model is in use.", "Answer them yourself.")
        if not suggestions.open_suggestions(case) or case.draft is None:
            raise WorkflowError("none open", "No suggestion waits for an answer.")
        answer = partial(suggestions.answer_stage, tools=self._tools)
        return self._metered(case_id, [self._step(case_id, StageName.SUGGESTIONS, answer)])

    def check_link_steps(self, case_id: str) -> list[Step]:
        """The note's links, all asked again. Raises WorkflowError when the case is decided."""
        require_open(self._cases.get(case_id, Act.WORK))
        return [self._step(case_id, StageName.LINKS, partial(self._ask_links, afresh=True))]

    def _open(self, case_id: str, *, by_reviewers: bool = False) -> Case:
        """The case as it is, for work that changes it. Raises WorkflowError where `require_editable` refuses it."""
        case = self._cases.get(case_id, Act.WORK)
        require_open(case)
        require_editable(case, self._cases.actor, by_reviewers=by_reviewers)
        return case

    def _image_step(self, case_id: str) -> Step:
        """A step in which an engine that sees reads the images that nobody has read.

        One that cannot be read is told and left for a person, one that is taken off meanwhile is passed over; the
        others and the rest of the job go on.
        """
        cases, engine, clock = self._cases, self._tools.engine, self._tools.clock

        def kept(case: Case, actor: Actor, image: Image, reading: ImageReading) -> Case:
            now = intake.find_image(case, image.sha256)
            if now is None or now.read_by:  # taken off, or described by a person, meanwhile
                return case
            require_still_open(case)
            require_editable(case, actor)
            text, shows = (words[: intake.MAX_IMAGE_WORDS] for words in (reading.text, reading.shows))
            return intake.describe_image(case, clock(), PROGRAM, image.sha256, text, shows, read_by=engine.name)

        def told_unread(case: Case, _: Actor, detail: str) -> Case:
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
                    cases.update(Act.WORK, case_id, partial(told_unread, detail=failed[-1]))
                    continue
                cases.update(Act.WORK, case_id, partial(kept, image=image, reading=reading))
            told = f"{len(waiting) - gone - len(failed)} of {len(waiting) - gone} read"
            left = f"; type what the others say. {' '.join(failed)}" if failed else ""
            return StageOutcome(summary=f"{told}{left}", reason=" ".join(failed))

        def finished() -> StageOutcome | None:
            done = not intake.unread_images(cases.get(case_id, Act.WORK))
            return StageOutcome(summary="Read before") if done else None

        return Step(name="images", title="Read the images", run=run, finished=finished)

    def _ask_links(self, case: Case, progress: Progress, *, afresh: bool) -> StageResult:
        return approval.check_links(case, progress, self._tools.links, self._tools.clock, afresh=afresh)

    def _step(
        self,
        case_id: str,
        name: StageName,
        work: Work,
        which: SearchSelector | None = None,
        *,
        resumable: bool = False,
        done: Callable[[Case], StageOutcome | None] = _never,
        again: bool = False,
    ) -> Step:
        """A stage of the case itself, or of `which` follow-up search, where it is then kept.

        `done` says how it ended before or why it need not run; a `resumable` one is not run again once it is on record,
        nor any by the job that did it, whichever worker has that job now. `again` where the job does it a second time.
        """
        job_id = self._tools.store.job_id
        mark = f"{job_id} again" if again else job_id

        def is_finished(stage: StageRecord) -> bool:
            by_this_job = bool(job_id) and stage.job in {mark, f"{job_id} again"}
            return stage.name is name and (resumable or by_this_job)

        def stages(case: Case) -> tuple[StageRecord, ...]:
            asked = case if which is None else which(case)
            return asked.stages if asked is not None else ()

        def finished() -> StageOutcome | None:
            case = self._cases.get(case_id, Act.WORK)
            stage = next(filter(is_finished, stages(case)), None)
            return stage or done(case)

        def run(progress: Progress) -> StageOutcome:
            begun = time.perf_counter()
            case = self._cases.get(case_id, Act.WORK)
            changes, ended = work(case, progress)
            seconds = time.perf_counter() - begun
            progress.check()

            def keep(newest: Case, actor: Actor) -> Case:
                require_still_open(newest)
                if name is not StageName.LINKS:
                    is_score = name in _SCORING_STAGES and "draft" not in changes
                    require_editable(newest, actor, by_reviewers=is_score)
                at, engine = self._tools.clock(), self._tools.engine.name
                stage = StageRecord(**dict(ended), name=name, finished_at=at, seconds=seconds, engine=engine, job=mark)
                if which is not None:
                    return follow_up_stages.keep(newest, case, which, changes, stage)
                return _keep_stage_result(newest, case, changes, stage)

            return stages(self._cases.update(Act.WORK, case_id, keep))[-1]

        return Step(name=name.value, title=_TITLE_BY_STAGE[name], run=run, finished=finished)

    def _search_step(self, case_id: str, name: StageName, do: SearchWork, which: SearchSelector) -> Step:
        """A stage of a follow-up search."""

        def work(case: Case, progress: Progress) -> StageResult:
            return do(case, follow_up_stages.unfinished(which(case)), progress)

        return self._step(case_id, name, work, which, resumable=True)

    def _metered(self, case_id: str, steps: list[Step]) -> list[Step]:
        """The same steps; what each asks of a language model is added to `Case.usage`, also when it fails.

        The budget holds for the case as a whole.
        """
        bounds = self._tools.settings.llm
        budget = Budget(bounds.budget_dollars, bounds.budget_tokens)

        def run(step: Step, progress: Progress) -> StageOutcome:
            heard = _ModelProgress(progress)
            meter = Meter(budget, self._cases.get(case_id, Act.WORK).used, progress.check, heard.tell)
            try:
                with metered(meter):
                    return step.run(heard)
            finally:  # what was spent stays spent, whatever came of it and whoever may still work
                if meter.by_step:
                    spent = sum(meter.by_step.values(), Usage())
                    count_in_span(calls=spent.calls, input_tokens=spent.input_tokens, output_tokens=spent.output_tokens)
                    self._tools.store.with_fence(None).update(case_id, lambda case: _add_usage(case, meter))

        return [replace(step, run=partial(run, step)) for step in steps]


class _ModelProgress:
    """A step's progress, with the words of its model behind the counts while the model speaks."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._counted, self._note = (0, 0), ""
        self.check = progress.check

    def count(self, done: int, total: int, note: str = "") -> None:
        """See `Progress.count`."""
        self._counted, self._note = (done, total), note
        self._progress.count(done, total, note)

    def tell(self, _: str, words: str) -> None:
        """See `Meter`."""
        newest = words if len(words) <= _MAX_MODEL_WORDS_CHARACTERS else f"…{words[-_MAX_MODEL_WORDS_CHARACTERS:]}"
        self._progress.count(*self._counted, f"{self._note} · {newest}" if self._note else newest)


def _add_usage(case: Case, meter: Meter) -> Case:
    usage = dict(case.usage)
    for name, used in meter.by_step.items():
        usage[name] = usage.get(name, Usage()) + used
    last = next(reversed(usage))
    usage[last] = usage[last] + Usage(chain=meter.chain)  # of the work as a whole
    return case.replace(usage=usage)
