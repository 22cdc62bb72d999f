"""One post of HealthNotes as a case of the program: the very stages that a person's case goes through."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime

from crowdnotes.cases.service import CaseService
from crowdnotes.domain import Case, FetchOutcome, GateStatus, Mode, ProviderState, StageName
from crowdnotes.errors import EngineError, InputError, ModelServerError
from crowdnotes.jobs import Step
from crowdnotes.studies.bench.healthnotes import PAPERS_GATES, Outcome, PostResult, StudyOptions
from crowdnotes.studies.data_files import HealthNote
from crowdnotes.text.note_rules import find_urls, x_storage_form

_BY = "study"


class _Unwatched:
    """A `Progress` that is told to nobody: the command counts posts."""

    def count(self, done: int, total: int, note: str = "") -> None:
        """Unseen."""

    def check(self) -> None:
        """Never asked to stop: Ctrl+C ends the command itself."""


def run_post(service: CaseService, note: HealthNote, options: StudyOptions) -> PostResult:
    """Gather, write and judge for one post; the case stays in the run's database.

    What the engine cannot do for this post is a result; a server that is not there, a search that nobody
    answered and a stop are raised, and the unfinished case is taken away.
    """
    began = time.perf_counter()
    try:
        case = service.create(
            note.post,
            mode=options.mode,
            by=_BY,
            urls=links_of(note) if options.mode is Mode.AUGMENTATION else (),
            libraries=options.libraries,
            services=options.services,
            until=note_day(note) if options.mode is Mode.AUTOMATION else None,
        )
    except InputError as error:  # a post or a link that no case takes
        return _result(note, None, began, Outcome.FAILED, error.message)
    try:
        outcome, reason = _worked(service, case)
    except ModelServerError:
        service.delete(case.id)
        raise
    except EngineError as error:
        outcome, reason = Outcome.FAILED, error.message
    except BaseException:
        service.delete(case.id)
        raise
    return _result(note, service.get(case.id), began, outcome, reason)


def links_of(note: HealthNote) -> list[str]:
    """The web addresses that the contributor gave, in order."""
    return [span.url for span in find_urls(x_storage_form(note.note)) if span.has_scheme]


def note_day(note: HealthNote) -> date | None:
    """The day on which the contributor wrote, in UTC; None when the data does not say."""
    return None if note.created_at_ms is None else datetime.fromtimestamp(note.created_at_ms / 1000, UTC).date()


def _worked(service: CaseService, case: Case) -> tuple[Outcome, str]:
    if case.mode is Mode.AUGMENTATION and not case.urls:
        return Outcome.NO_EVIDENCE, "The contributor's note has no link."
    _run(service.gather_steps(case.id))
    case = service.get(case.id)
    if not case.evidence:
        silent = _unanswered(case)
        if silent:
            return Outcome.FAILED, f"No evidence was read, and a search was not answered: {', '.join(silent)}."
        return Outcome.NO_EVIDENCE, _unread_sentence(case)
    _run(service.write_steps(case.id, before_inspection=True))
    case = service.get(case.id)
    if case.draft is None:
        written = next(stage.summary for stage in case.stages if stage.name is StageName.DRAFT)
        return Outcome.ABSTAINED, written.removeprefix("No note: ")
    # The jury and the links' answers are no part of the paper's figures.
    _run(service.assess_steps(case.id, before_inspection=True, scores_only=True))
    assessment = service.get(case.id).assessment
    if assessment is None:
        raise EngineError("The note was not judged.")
    stopped = next((gate for gate in assessment.gates if gate.status is not GateStatus.PASS), None)
    if stopped is None:
        return Outcome.JUDGED, ""
    outcome = Outcome.FAILED if stopped.status is GateStatus.NOT_RUN else Outcome.JUDGED
    return outcome, f"{stopped.gate.value}: {stopped.reason}"


def _run(steps: Sequence[Step]) -> None:
    for step in steps:
        if step.finished() is None:
            step.run(_Unwatched())


def _result(note: HealthNote, case: Case | None, began: float, outcome: Outcome, reason: str) -> PostResult:
    result = PostResult(
        note_id=note.note_id,
        is_helpful=note.is_helpful,
        outcome=outcome,
        reason=reason,
        seconds=round(time.perf_counter() - began, 2),
    )
    if case is None:
        return result
    judged = case.assessment
    gates = {gate.value: judged.gate(gate).status for gate in PAPERS_GATES} if judged else {}
    return result.model_copy(
        update={
            **gates,
            "note": case.draft.text if case.draft else "",
            "passages": len(case.evidence),
            "unread": _unread(case),
            "unanswered": _unanswered(case),
            "case_id": case.id,
        }
    )


def _unread(case: Case) -> dict[str, int]:
    ended = (source.outcome for source in case.sources)
    return dict(Counter(outcome.value for outcome in ended if outcome is not FetchOutcome.READ))


def _unread_sentence(case: Case) -> str:
    unread = ", ".join(f"{count} {how}" for how, count in _unread(case).items())
    return f"Sources: {unread}." if unread else "Nothing was found."


def _unanswered(case: Case) -> tuple[str, ...]:
    return tuple(item.label for item in case.outcomes if item.state is not ProviderState.ANSWERED)
