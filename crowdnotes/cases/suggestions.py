"""Readers' suggestions on a case's note: made by anyone who may see it, answered by a person or by the model in use.

What readers write is untrusted; see `engines.llm.supernote_tasks` for how a model is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from crowdnotes.cases import supernote_actions
from crowdnotes.cases.actions import checked_reason, with_event, with_revision
from crowdnotes.cases.gathering_stages import StageContext, StageResult
from crowdnotes.cases.intake import NEVER_IN_TEXT
from crowdnotes.cases.permissions import requires
from crowdnotes.cases.supernote_stages import after_filters, result_origin, usable
from crowdnotes.domain import (
    Act,
    Case,
    Draft,
    ExistingNote,
    LinkCheck,
    Person,
    StageOutcome,
    Suggestion,
    SuggestionAnswer,
)
from crowdnotes.engines import NoteSentence, SupernoteBrief
from crowdnotes.errors import EngineError, InputError, WorkflowError
from crowdnotes.jobs import Progress
from crowdnotes.notes.candidates import budget_for, build_candidate

_MAX_SUGGESTION_CHARACTERS = 2_000  # characters
_MAX_SUGGESTIONS = 200
_SUGGESTIONS_PER_CALL = 20


@requires(Act.SUGGEST)
def suggest(case: Case, at: datetime, by: Person, texts: Iterable[str], *, said_by: str = "") -> Case:
    """Add readers' comments on the current note, each in a text of its own; `said_by` is a reader without an account.

    InputError for an empty or over-long one and for too many; WorkflowError while there is no note.
    """
    draft = case.draft
    if draft is None or not draft.text.strip():
        raise WorkflowError("no note", "There is no note yet.", "Write the note first.")
    said = [NEVER_IN_TEXT.sub("", text).replace("\r\n", "\n").strip() for text in texts]
    said = list(dict.fromkeys(text for text in said if text))
    if not said:
        raise InputError("The suggestion is empty.", "Say what should change.")
    longest = max(map(len, said))
    if longest > _MAX_SUGGESTION_CHARACTERS:
        raise InputError(
            f"The suggestion is too long: {longest:,} characters.", f"Keep it under {_MAX_SUGGESTION_CHARACTERS:,}."
        )
    before = {(item.text, item.about) for item in case.suggestions}
    fresh = [text for text in said if (text, draft.sha256) not in before]
    if not fresh:
        return case
    if len(case.suggestions) + len(fresh) > _MAX_SUGGESTIONS:
        raise InputError(f"A case takes {_MAX_SUGGESTIONS} suggestions.", "Leave out what others said.")
    first = len(case.suggestions) + 1
    added = tuple(
        Suggestion(
            id=f"S{number}", text=text, by=said_by.strip() or by.name, at=at, about=draft.sha256, typed_by=by.key
        )
        for number, text in enumerate(fresh, first)
    )
    detail = ", ".join(item.id for item in added)
    return with_event(case, at, by, "suggestion made", detail, suggestions=(*case.suggestions, *added))


@requires(Act.EDIT)
def answer_suggestion(
    case: Case,
    at: datetime,
    by: Person,
    suggestion_id: str,
    answer: SuggestionAnswer,
    reason: str,
    *,
    changed: str = "",
) -> Case:
    """Store a person's answer, which may replace an earlier one.

    `changed` says what changed in the note for it; not needed where the note shows it (`is_seen_changed`), nor then a
    reason, if all was granted. InputError for what else is missing.
    """
    asked = next((item for item in case.suggestions if item.id == suggestion_id), None)
    if asked is None:
        raise InputError(f"There is no suggestion {suggestion_id}.")
    reason, changed = checked_reason(reason), checked_reason(changed)
    granted, is_seen = answer is not SuggestionAnswer.NO, is_seen_changed(asked, case.draft)
    if granted and not changed and not is_seen:
        left = "Say what you changed in the note." if reason else "Say what you changed in the note, and why."
        raise InputError(left, "Change the note first, or answer “not changed”.")
    if not reason and not (answer is SuggestionAnswer.YES and is_seen):
        raise InputError("Say briefly why.")
    if (asked.answer, asked.reason, asked.changed) == (answer, reason, changed):
        return case
    return with_answers(case, at, by, [answered(asked, case.draft, at, answer, reason, changed, by.name)])


def is_seen_changed(asked: Suggestion, draft: Draft | None) -> bool:
    """Return whether the note shows a change since then: of the words that it is about; of any, if it names none."""
    if draft is None or draft.sha256 == asked.about:
        return False
    return asked.words not in draft.text if asked.words else True


def answered(
    asked: Suggestion,
    draft: Draft | None,
    at: datetime,
    answer: SuggestionAnswer,
    reason: str,
    changed: str,
    by: str,
) -> Suggestion:
    """Return the suggestion with its answer; `draft` is the note that takes it up, where it was granted."""
    granted = answer is not SuggestionAnswer.NO and draft is not None and draft.sha256 != asked.about
    return asked.replace(
        answer=answer,
        reason=reason,
        changed=changed if answer is not SuggestionAnswer.NO else "",
        became=draft.sha256 if granted and draft is not None else None,
        answered_by=by,
        answered_at=at,
    )


def with_answers(case: Case, at: datetime, by: Person, answers: Sequence[Suggestion], **changes: object) -> Case:
    """Return the case with these suggestions answered, in one event."""
    by_id = {item.id: item for item in answers}
    every = tuple(by_id.get(item.id, item) for item in case.suggestions)
    said = "; ".join(f"{item.id} {item.answer.as_text}" for item in answers if item.answer is not None)
    return with_event(case, at, by, "suggestion answered", said, suggestions=every, **changes)


def open_suggestions(case: Case) -> tuple[Suggestion, ...]:
    """Return those that nobody has answered or resolved, oldest first."""
    return tuple(item for item in case.suggestions if item.waits)


def answer_stage(case: Case, _: Progress, context: StageContext) -> StageResult:
    """Answer the open suggestions by a model, and redraft the note where one is granted.

    A redraft that fails the filters changes nothing: the suggestions granted for it are then answered with no.
    """
    writer, waiting, draft = context.engine.supernotes, open_suggestions(case), case.draft
    if writer is None or draft is None or not waiting:
        return {}, StageOutcome.not_needed("There is no suggestion.")
    some = waiting[:_SUGGESTIONS_PER_CALL]
    made = case.supernote.newest if case.supernote else None
    # A note that is not made from others is its own source of links and words.
    notes = made.used if made is not None else (ExistingNote(id="N1", text=draft.text),)
    links = made.links if made is not None else ()
    given = SupernoteBrief(context.brief(case), notes, usable(case), budget_for(notes))
    replies = writer.answer(given, draft.text, [item.text for item in some])
    redraft, refused = None, ""
    if replies.final is not None:
        redraft, refused = _redraft_note(replies.final, notes, links, case, context)
    answers = []
    for item, reply in zip(some, replies.replies, strict=True):
        answer, reason = reply.answer, reply.reason
        if refused and answer is not SuggestionAnswer.NO:
            answer, reason = SuggestionAnswer.NO, f"The AI agreed, but {refused}"
        at, name = context.clock(), result_origin(context).engine
        answers.append(answered(item, redraft, at, answer, reason, reply.changed, name))
    changes: dict[str, object] = {"suggestions": tuple(answers)}
    if redraft is not None and redraft.sha256 != draft.sha256:
        redraft = redraft.replace(changes=" ".join(item.changed for item in answers if item.changed))
        others = [other for other in case.candidates if other.sha256 not in {draft.sha256, redraft.sha256}]
        changes |= {"draft": redraft, "revisions": with_revision(case), "candidates": (redraft, draft, *others)}
    left = len(waiting) - len(some)
    parts = [f"{sum(item.answer is not SuggestionAnswer.NO for item in answers)} of {len(answers)} granted"]
    parts += [refused] if refused else []
    parts += [f"{left} left for later"] if left else []
    return changes, StageOutcome(summary="; ".join(parts))


def _redraft_note(
    sentences: Sequence[NoteSentence],
    notes: Sequence[ExistingNote],
    links: Sequence[LinkCheck],
    case: Case,
    context: StageContext,
) -> tuple[Draft | None, str]:
    """Return the redrafted note; or None and why it is not used."""
    evidence = usable(case)
    try:
        found = build_candidate(sentences, notes, evidence, result_origin(context), links)
    except EngineError as error:
        return None, f"the new draft is not a note: {error.message}"
    (found,) = after_filters([found], notes, links, case, context)
    if found.failed is not None:
        return None, f"the new draft did not pass “{found.failed.as_text}”: {found.why}"
    return supernote_actions.draft_of(case, found, context.clock()), ""
