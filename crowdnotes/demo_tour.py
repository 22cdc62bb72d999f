"""The demonstration, step by step: what a presenter does with *Next*, on a case of its own.

Each act goes through the same functions as a person's click, as the presenter, and *Next* says beforehand what it does:
no reading is made up. The case is made from an example of the pack, with recorded answers instead of a language model
(see `engines.llm.recorded`), and as of the day of its post, so that the same questions are asked whenever it is shown.
The other examples have recorded answers too, for people who go through them alone; `practise` asks all that there is to
ask.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from enum import StrEnum
from itertools import combinations

from crowdnotes.cases import actions, approval, intake
from crowdnotes.cases.tag_suggestions import suggest_tags
from crowdnotes.domain import Case, DecisionKind, Evidence, JuryVerdict, Verdict, text_sha256
from crowdnotes.errors import JobError, WorkflowError
from crowdnotes.evidence.demo_pages import Example, example_of, examples
from crowdnotes.jobs import JobRecord
from crowdnotes.workspace import Workspace

PRESENTED_EXAMPLE = "lake-algae"
DEMONSTRATION_REASON = "Decided by the demonstration."


class TourPlace(StrEnum):
    """What is on the screen; in the order of showing."""

    POST = "post"
    SOURCES = "sources"
    READING = "reading"
    NOTES = "notes"
    TEMPTING = "tempting"
    MENDED = "mended"
    JURY = "jury"
    DECISION = "decision"


class TourAction(StrEnum):
    """What *Next* does."""

    FIND = "find"
    OPEN = "open"
    USE_AND_OPEN = "use and open"
    USE_AND_WRITE = "use and write"
    TEMPT = "tempt"
    MEND = "mend"
    SHOW_JURY = "show jury"
    DECIDE = "decide"
    APPROVE = "approve"
    SHOW = "show"
    END = "end"


def presented() -> Example:
    """Return the example that is shown step by step."""
    return next(example for example in examples() if example.id == PRESENTED_EXAMPLE)


def begin(workspace: Workspace, example: Example) -> Case:
    """Begin a new case of an example, with recorded answers."""
    day = example.post.posted_at.date() if example.post.posted_at else None
    return intake.create_case(
        workspace.cases, example.post.text, mode=example.mode, urls=example.urls, until=day, recorded_answers=True
    )


def practise(workspace: Workspace, example: Example, used: Collection[str]) -> Iterator[Case]:
    """Go through an example with the pages at these addresses in use; yield the case after each job.

    Each proposed note is scored, and so is the tempting one; then each over more pages too, as when a person reads on.
    Raises JobError when a job fails.
    """
    case = begin(workspace, example)
    case = _wait_for_case(workspace, workspace.start(case.id, "gather"))
    yield case
    _judge_passages(workspace, case, used)
    case = _wait_for_case(workspace, workspace.start(case.id, "write"))
    yield case
    notes = [draft.sha256 for draft in case.candidates]
    for wider in choices(example):
        if set(used) <= set(wider):
            _judge_passages(workspace, case, wider)
            for note in notes:
                workspace.cases.apply(case.id, actions.choose_candidate, note)
                yield _wait_for_case(workspace, workspace.start(case.id, "assess"))
            if example.tempting_note:
                yield _wait_for_case(workspace, _show_tempting_note(workspace, workspace.cases.get(case.id)))


def choices(example: Example) -> Sequence[tuple[str, ...]]:
    """Return each choice of pages that a person may use, by their addresses: all of them first."""
    sizes = range(len(example.urls), 0, -1)
    return [chosen for size in sizes for chosen in combinations(example.urls, size)]


def _judge_passages(workspace: Workspace, case: Case, used: Collection[str]) -> None:
    """Open each passage; use those of these pages, and judge the others as background."""
    for item in case.evidence:
        workspace.cases.apply(case.id, actions.open_passage, item.id)
        verdict = Verdict.USE if item.source.url in used else Verdict.BACKGROUND
        workspace.cases.apply(case.id, actions.judge, item.id, verdict, DEMONSTRATION_REASON)


def _wait_for_case(workspace: Workspace, job: JobRecord) -> Case:
    """Return the case when the job is done. Raises JobError."""
    job = workspace.runner.wait(job.id)
    failed = next((step for step in job.steps if step.error), None)
    if failed is not None:
        raise JobError(failed.error, failed.next_step)
    return workspace.cases.get(job.case_id)


def before_eyes(case: Case) -> list[Evidence]:
    """Return the passages that are opened and not judged yet; *Next* uses them."""
    return [item for item in case.evidence if item.reviews and item.verdict is None]


def jury_change(case: Case) -> tuple[JuryVerdict, JuryVerdict] | None:
    """Return what the jury says of the tempting and of the current note; None unless it judged both."""
    tempting = text_sha256(_require_example(case).tempting_note or "")
    before, after = case.verdict_on(tempting), case.verdict_on(case.draft.sha256 if case.draft else "")
    return (before, after) if before and after and before is not after else None


def has_its_note(case: Case, place: TourPlace) -> bool:
    """Return whether the case has the note that this place of the tour is about; True if it is about none."""
    if not case.candidates or place not in _PLACES_OF_ONE_NOTE:
        return True
    tempting = text_sha256(_require_example(case).tempting_note or "")
    own = tempting if place is TourPlace.TEMPTING else case.candidates[0].sha256
    return case.draft is not None and case.draft.sha256 == own


def next_action(case: Case, place: TourPlace) -> TourAction:
    """Return what *Next* does at that place. What was done before is only shown again; a changed note is put back."""
    if case.decision is None and not has_its_note(case, place):
        return TourAction.TEMPT if place is TourPlace.TEMPTING else TourAction.MEND
    if place is TourPlace.DECISION:
        return TourAction.END if case.decision else TourAction.APPROVE
    if place is not TourPlace.POST and not case.evidence:
        return TourAction.FIND  # again: it failed, or nothing was found
    if place is TourPlace.READING and unopened(case):
        return TourAction.USE_AND_OPEN
    if place not in _PLACES_BEFORE_NOTES and not case.candidates and case.decision is None:
        return TourAction.USE_AND_WRITE
    action, done_before = _ACTION_BY_PLACE[place]
    return TourAction.SHOW if case.decision or done_before(case) else action


def advance(workspace: Workspace, case: Case, place: TourPlace) -> tuple[TourPlace, JobRecord | None]:
    """Do what *Next* does at that place; return the place to show then, and the job that was started.

    Raises what the act raises: WorkflowError, JobError and others.
    """
    _require_example(case)
    action = next_action(case, place)
    # An action of an earlier place, or one that opens the next source, does not move the tour on.
    stays = place is TourPlace.DECISION or action not in {TourAction.SHOW, _ACTION_BY_PLACE[place][0]}
    job = _perform(workspace, case, action)
    places = list(TourPlace)
    return (place if stays else places[places.index(place) + 1]), job


def unopened(case: Case) -> list[Evidence]:
    """Return the passages that are not opened yet."""
    return [item for item in case.evidence if not item.reviews]


_PLACES_OF_ONE_NOTE = frozenset({TourPlace.TEMPTING, TourPlace.MENDED, TourPlace.JURY, TourPlace.DECISION})
_PLACES_BEFORE_NOTES = frozenset({TourPlace.POST, TourPlace.SOURCES, TourPlace.READING})
_ACTION_BY_PLACE: dict[TourPlace, tuple[TourAction, Callable[[Case], object]]] = {
    TourPlace.POST: (TourAction.FIND, lambda case: case.evidence),
    TourPlace.SOURCES: (TourAction.OPEN, lambda case: not unopened(case)),
    TourPlace.READING: (TourAction.USE_AND_WRITE, lambda case: case.candidates),
    TourPlace.NOTES: (TourAction.TEMPT, lambda _: False),
    TourPlace.TEMPTING: (TourAction.MEND, lambda _: False),
    TourPlace.MENDED: (TourAction.SHOW_JURY, lambda _: False),
    TourPlace.JURY: (TourAction.DECIDE, lambda _: False),
}
"""What *Next* does at a place, and whether that was done before."""


def _perform(workspace: Workspace, case: Case, action: TourAction) -> JobRecord | None:
    """Do what *Next* does; return the job that was started, if any."""
    apply = workspace.cases.apply
    if action in {TourAction.USE_AND_OPEN, TourAction.USE_AND_WRITE}:
        for item in before_eyes(case):
            apply(case.id, actions.judge, item.id, Verdict.USE, DEMONSTRATION_REASON)
    if action is TourAction.FIND:
        return workspace.start(case.id, "gather")
    if action is TourAction.USE_AND_WRITE:
        return workspace.start(case.id, "write")
    if action is TourAction.TEMPT:
        return _show_tempting_note(workspace, case)
    if action is TourAction.MEND:
        if not case.candidates:
            raise WorkflowError("no note", "No note was written.", "Write one, or choose another AI.")
        apply(case.id, actions.choose_candidate, case.candidates[0].sha256)
        return workspace.start(case.id, "assess")
    if action in {TourAction.OPEN, TourAction.USE_AND_OPEN}:
        apply(case.id, actions.open_passage, unopened(case)[0].id)
    elif action is TourAction.DECIDE:
        for suggested in suggest_tags(case):
            apply(case.id, actions.tick_tag, suggested.tag, ticked=True)
    elif action is TourAction.APPROVE:
        seen = case.draft.sha256 if case.draft else None
        approval.decide_case(workspace.cases, case.id, DecisionKind.APPROVED, reason=DEMONSTRATION_REASON, seen=seen)
    return None  # the other acts only show what is there


def _show_tempting_note(workspace: Workspace, case: Case) -> JobRecord:
    note = _require_example(case).tempting_note or ""
    workspace.cases.apply(case.id, actions.edit_draft, note, based_on=case.draft.sha256 if case.draft else None)
    return workspace.start(case.id, "assess")


def _require_example(case: Case) -> Example:
    example = example_of(case)
    if example is None:
        raise WorkflowError("no demonstration", "This is not a demonstration.")
    return example
