"""What authors and moderators do with a submitted case, as pure functions, like `actions`.

A moderator has a claimed case to themselves for 15 minutes after their last act (`CLAIM_DURATION`). Callers pass the
database's time as `at`. What a moderator finds of each sentence and passage is stored as they go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from crowdnotes.cases.actions import (
    checked_reason,
    own_check,
    require_open,
    require_passage,
    with_check,
    with_event,
    with_review,
)
from crowdnotes.cases.blinding import (
    ONE_READER_DETAIL,
    counted_readings,
    hide_other_reviews,
    informed_keys,
    is_claimed_by_others,
    may_not_read_yet,
    pairs,
    reading_by,
    still_current,
    waits_for_readers,
    was_open_to_all,
    was_shown_findings,
    with_sight,
)
from crowdnotes.cases.cases import Cases
from crowdnotes.cases.export import is_demonstration
from crowdnotes.cases.permissions import Clock, requires
from crowdnotes.domain import (
    CLAIM_DURATION,
    FINDINGS,
    MAX_COUNTED_LINES,
    Act,
    Actor,
    Case,
    Comment,
    DeskState,
    DeskWork,
    Lease,
    Pair,
    PairFinding,
    Person,
    QueueItem,
    QueueQuery,
    QueueScope,
    Reading,
    Return,
    Review,
    Role,
    Suggestion,
    Support,
    Verdict,
    is_reason,
    text_sha256,
)
from crowdnotes.errors import CaseNotFoundError, InputError, WorkflowError
from crowdnotes.wording import plural

_MAX_COMMENTS = 50
_FAVOURABLE_FINDINGS = frozenset({Support.SUPPORTED, Support.PARTLY})


# --- the author ---


def submit(case: Case, at: datetime, by: Person, message: str = "", *, readers: int = 1) -> Case:
    """Send a case to the moderators; after a return each comment needs an answer first.

    Without a note the message has to say why none is needed. `readers` is how many moderators have to read it.
    """
    require_open(case)
    work, message = case.desk, checked_reason(message)
    if work.state is DeskState.SUBMITTED:
        raise WorkflowError(
            "submitted", "The moderators already have this case.", "To send it again, take it back first."
        )
    owed = open_comments(case)
    if owed:
        raise WorkflowError(
            "comments",
            plural(len(owed), "1 comment needs an answer.", "{n} comments need an answer."),
            "Answer, then send the case again.",
        )
    has_note = case.draft is not None and bool(case.draft.text.strip())
    if not has_note and not message:
        raise InputError("There is no note yet.", "Write one, or say why this post needs none.")
    fresh = {
        "state": DeskState.SUBMITTED,
        "submitted_at": at,
        "submitted_sha256": case.draft.sha256 if case.draft else "",
        "message": message,
        "lease": None,
        "readers": max(work.readers, readers),
        "readings": (),
        "earlier_readings": work.all_readings,
    }
    return _change_desk(case, at, by, "submitted", message, **fresh)


def submit_case(cases: Cases, case_id: str, message: str = "", *, readers: int = 1) -> Case:
    """Send a case to the moderators, see `submit`; by the setting `two_readers` two or more have to read it."""
    at, readers = cases.now(Clock.DATABASE), max(readers, 2 if cases.settings.two_readers else 1)
    return cases.update(Act.SUBMIT, case_id, lambda case, by: submit(case, at, by, message, readers=readers))


@requires(Act.SUBMIT, Clock.DATABASE)
def withdraw(case: Case, at: datetime, by: Person) -> Case:
    """Take a case back from the moderators, unless one of them has claimed it."""
    _require_submitted(case)
    lease = case.desk.lease
    if lease is not None and lease.holds(at) and lease.holder.key != by.key:
        raise WorkflowError("claimed", _describe_holder(lease), "Wait for the review to end.")
    return _change_desk(case, at, by, "withdrawn", state=DeskState.DRAFTING, lease=None)


def open_comments(case: Case) -> tuple[Suggestion, ...]:
    """Return the moderators' comments that have no answer yet."""
    return tuple(item for item in case.suggestions if item.owed and item.waits)


# --- claiming ---


@requires(Act.REVIEW, Clock.DATABASE)
def claim(case: Case, at: datetime, by: Person) -> Case:
    """Claim a submitted case; if an earlier lease ran out, as a takeover on record. Claiming again renews.

    Refused while another moderator holds it. Where others have to read it, also for a moderator who has read it already
    or who saw what others found before they read anything.
    """
    _require_submitted(case)
    work = case.desk
    lease = work.lease
    if lease is not None and lease.holder.key != by.key and lease.holds(at):
        raise WorkflowError("claimed", _describe_holder(lease), "Take another case, or take over this one.")
    _require_unread(case, by)
    if lease is not None and lease.holder.key == by.key:
        return renew(case, at, by)
    return _assign_lease(case, at, by)


@requires(Act.REVIEW, Clock.DATABASE)
def take_over(case: Case, at: datetime, by: Person) -> Case:
    """Claim a case that another moderator holds, on record; they are informed at their next act."""
    _require_submitted(case)
    _require_unread(case, by)
    return _assign_lease(case, at, by)


def _require_unread(case: Case, by: Person) -> None:
    if reading_by(case, by.key) is not None and waits_for_readers(case):
        raise WorkflowError(
            "read already", "You have read this case. Now another moderator must read it.", "Take the next case."
        )
    if may_not_read_yet(case, by.key):
        raise WorkflowError("seen before", SEEN_BEFORE, WHO_READS_INSTEAD)


SEEN_BEFORE = "You saw what other moderators found, so your reading would not count."
WHO_READS_INSTEAD = "Another moderator must read it, or an admin must admit you."


def _assign_lease(case: Case, at: datetime, by: Person) -> Case:
    before = case.desk.lease
    kind = "claimed" if before is None or before.holder.key == by.key else "taken over"
    detail = f"from {before.holder.name}" if before is not None and kind == "taken over" else ""
    return _change_desk(case, at, by, kind, detail, lease=Lease(holder=by.person, since=at, until=at + CLAIM_DURATION))


@requires(Act.REVIEW, Clock.DATABASE)
def renew(case: Case, at: datetime, by: Person) -> Case:
    """Start the whole time again, also where it ran out and nobody else took the case. No event.

    WorkflowError where another moderator has it now, or nobody claimed it.
    """
    require_open(case)
    lease = case.desk.lease
    if lease is None:
        raise WorkflowError(
            "not claimed", _explain_missing_claim(case, by), "Claim it again and read the note as it is now."
        )
    if lease.holder.key != by.key:
        raise WorkflowError(
            "claimed",
            f"{lease.holder.name} took over this case.",
            "Your choices are kept. Take another case, or take this one over again.",
        )
    renewed = lease.replace(until=max(lease.until, at + CLAIM_DURATION))
    return case.replace(desk=case.desk.replace(lease=renewed))


def _explain_missing_claim(case: Case, by: Person) -> str:
    """Return the error of a person without a claim, also where its author took the case back."""
    since: list[str] = []
    for event in reversed(case.events):
        if event.by_key == by.key and event.kind in ("claimed", "taken over"):
            break
        since.append(event.kind)
    else:
        return "You have not claimed this case."
    if "withdrawn" not in since:
        return "You have not claimed this case."
    again = " and sent it again" if case.desk.state is DeskState.SUBMITTED else ""
    return f"The author took this case back{again} after you claimed it."


def taken_over_by(case: Case, key: str) -> str:
    """Return the name of who took the case over from the person of that `Person.key` and has it; "" for nobody."""
    lease, kinds = case.desk.lease, ("claimed", "taken over", "released")
    claims = [event for event in case.events if event.kind in kinds]
    own = max((number for number, event in enumerate(claims) if event.by_key == key), default=None)
    if lease is None or lease.holder.key == key or own is None or claims[own].kind == "released":
        return ""
    return lease.holder.name if any(event.kind == "taken over" for event in claims[own + 1 :]) else ""


@requires(Act.REVIEW, Clock.DATABASE)
def release(case: Case, at: datetime, by: Person) -> Case:
    """Give a case back to the queue."""
    renew(case, at, by)
    return _change_desk(case, at, by, "released", lease=None)


def require_free(case: Case, by: Person) -> None:
    """Refuse what ends a review while another moderator has claimed the case: their work would be lost."""
    lease = case.desk.lease
    if lease is not None and lease.holder.key != by.key:
        raise WorkflowError("claimed", _describe_holder(lease), "Take another case, or take over this one.")


# --- validating ---


@requires(Act.REVIEW, Clock.DATABASE)
def judge_pair(case: Case, at: datetime, by: Person, words: str, evidence_id: str, support: Support) -> Case:
    """Store what a moderator finds of one pair, which also counts as reading it; renews their claim.

    By finding that a passage supports the sentence, or partly, they also judge that the note may use it.
    """
    renewed = renew(case, at, by)
    if Pair(words, evidence_id) not in pairs(hide_other_reviews(case, by)):
        raise WorkflowError("edited elsewhere", "This sentence no longer belongs to that source.")
    if support not in FINDINGS:
        raise InputError("Choose one of the five findings.")
    item = require_passage(case, evidence_id)
    review = item.review_by(by.key) or Review(reader=by.person, opened_at=at)
    if review.verdict is None and support in _FAVOURABLE_FINDINGS:
        # A passage that the author keeps as background stays so: the author chooses the note's sources.
        verdict = Verdict.USE if item.used or item.verdict is None else Verdict.BACKGROUND
        review = review.replace(verdict=verdict, judged_at=at)
    elif (
        review.verdict is Verdict.USE
        and support not in _FAVOURABLE_FINDINGS
        and not _has_support_for_other_sentence(case, by, words, item.id)
    ):
        review = review.replace(verdict=None, judged_at=None)
    evidence = with_review(case, evidence_id, review)
    sentence = next((it for it in case.sentences if case.draft and it.words_in(case.draft.text) == words), None)
    doubts = sentence.doubts if sentence is not None else ()
    settled = support is Support.SUPPORTED  # the moderator saw the hints with both texts
    return with_check(
        renewed, at, by, words, evidence_id, support, doubts=doubts, settled=settled and bool(doubts), evidence=evidence
    )


def _has_support_for_other_sentence(case: Case, by: Person, words: str, evidence_id: str) -> bool:
    others = (pair.words for pair in pairs(case) if pair.evidence_id == evidence_id and pair.words != words)
    checks = (own_check(case, by.key, other, evidence_id) for other in others)
    return any(check is not None and check.support in _FAVOURABLE_FINDINGS for check in checks)


def finishes_in_own_step(case: Case, key: str) -> bool:
    """Return whether this reader says themselves that they are done, after their last finding.

    So it is where several have to read: others' findings are then shown to them, and theirs stay as they are.
    """
    return case.desk.readers > 1 and reading_by(case, key) is None


@requires(Act.REVIEW, Clock.DATABASE)
def finish_reading(case: Case, at: datetime, by: Person) -> Case:
    """Finish a moderator's reading once every pair is judged; the case returns to the queue if others have to read it.

    A second reader never sees the first one's findings before they finish: see `hide_other_reviews`.
    """
    renewed = renew(case, at, by)
    found = {
        pair: own_check(case, by.key, pair.words, pair.evidence_id) for pair in pairs(hide_other_reviews(case, by))
    }
    if case.draft is not None and not found:
        raise WorkflowError("unread", "The note has no source.", "Send it back with a comment.")
    left = sum(check is None or check.support is Support.UNCHECKED for check in found.values())
    if left:
        raise WorkflowError("unread", plural(left, "1 source left to check.", "{n} sources left to check."))
    passages = {item.id: item.identity for item in case.evidence}
    findings = tuple(
        PairFinding(
            words=pair.words,
            evidence_id=pair.evidence_id,
            support=check.support,
            passage_sha256=passages.get(pair.evidence_id, ""),
        )
        for pair, check in found.items()
        if check is not None
    )
    text, kind = case.draft.sha256 if case.draft else "", case.classification
    reading = Reading(reader=by.person, at=at, text_sha256=text, classification=kind, findings=findings)
    reading = reading.replace(post_sha256=case.post.identity)
    work = renewed.desk
    before = reading_by(case, by.key)
    if before is not None and before.findings == findings:
        return renewed
    counted = counted_readings(case)
    readings = (*(other for other in counted if other is not before), reading)
    # The blind findings stay on record, even if they change their mind after seeing the others'.
    earlier = tuple(other for other in work.readings if other not in counted or other is before)
    update = {"readings": readings, "earlier_readings": (*work.earlier_readings, *earlier)}
    read = renewed.replace(desk=work.replace(**update))
    lease = None if waits_for_readers(read) else work.lease
    detail = plural(len(findings), "1 source checked", "{n} sources checked")
    return _change_desk(renewed, at, by, "read through", detail, lease=lease, **update)


# --- sending back ---


@requires(Act.REVIEW, Clock.DATABASE)
def send_back(case: Case, at: datetime, by: Person, comments: Sequence[Comment], words: str = "") -> Case:
    """Return a case to its author with comments; each has to be answered before it comes back.

    `words` is a comment on the whole note.
    """
    _require_submitted(case)
    require_free(case, by)
    words = checked_reason(words)
    said = [item for item in (*comments, Comment(words)) if item.text.strip()]
    if not said:
        raise InputError("Say what the author should change.", "Comment on the note or one of its sources.")
    if len(said) > _MAX_COMMENTS:
        raise InputError(f"Send at most {_MAX_COMMENTS} comments at once.")
    note = case.draft.text if case.draft else ""
    for item in said:
        if item.evidence_id:
            require_passage(case, item.evidence_id)
        if item.words and item.words not in note:
            raise InputError(f"These words are not in the note: “{item.words}”.", "Copy them from the note.")
    first = len(case.suggestions) + 1
    added = tuple(
        Suggestion(
            id=f"S{number}",
            text=checked_reason(item.text),
            by=by.name,
            at=at,
            about=case.draft.sha256 if case.draft else "",
            evidence_id=item.evidence_id,
            words=item.words,
            owed=by.key,
        )
        for number, item in enumerate(said, first)
    )
    detail = "; ".join(filter(None, (words, ", ".join(item.id for item in added))))
    returned = Return(by=by.person, at=at, words=words, note=note)
    work = case.desk.replace(state=DeskState.RETURNED, lease=None, returns=(*case.desk.returns, returned))
    return with_event(case, at, by, "sent back", detail, suggestions=(*case.suggestions, *added), desk=work)


@requires(Act.REVIEW, Clock.DATABASE)
def resolve_comment(case: Case, at: datetime, by: Person, suggestion_id: str) -> Case:
    """Mark a comment as needing no answer any more, as a moderator."""
    asked = next((item for item in case.suggestions if item.id == suggestion_id and item.owed and item.waits), None)
    if asked is None:
        raise InputError(f"There is no suggestion {suggestion_id}.")
    every = tuple(it.replace(resolved_by=by.name) if it is asked else it for it in case.suggestions)
    return with_event(case, at, by, "suggestion answered", f"{suggestion_id} needs no answer", suggestions=every)


@requires(Act.REVIEW)
def show_comments(case: Case, at: datetime, by: Person) -> Case:
    """Show a moderator what others wrote when they sent a case back, and record it: they no longer read it blind."""
    return case if was_shown_findings(case, by.key) else with_sight(case, at, by)


# --- order and people ---


@requires(Act.ASSIGN, Clock.DATABASE)
def assign(case: Case, at: datetime, by: Person, to: Person | None) -> Case:
    """Say who should take a case; None for nobody."""
    _require_submitted(case)
    if (case.desk.assigned and case.desk.assigned.key) == (to and to.key):
        return case
    name = to.name if to else "nobody"
    return _change_desk(case, at, by, "assigned", name, assigned=to.person if to else None)


@requires(Act.ASSIGN, Clock.DATABASE)
def prioritise(case: Case, at: datetime, by: Person, first: bool) -> Case:
    """Put a case before all others, or take that back."""
    _require_submitted(case)
    if case.desk.raised == first:
        return case
    return _change_desk(case, at, by, "put first" if first else "no longer first", raised=first)


def set_readers(case: Case, at: datetime, by: Person, readers: int) -> Case:
    """Set how many moderators have to read the case, each without the others' findings: one or two.

    Fewer only by the person who asked for two, before another begins to read; or by an admin, if no second one can read
    it.
    """
    _require_submitted(case)
    if readers not in (1, 2):
        raise InputError("Choose one or two readers.")
    if case.desk.readers == readers:
        return case
    has_begun = is_claimed_by_others(case, by.key)
    asked_by = next((it.by_key for it in reversed(case.events) if it.kind == "readers wanted"), None)
    may_lower = (asked_by == by.key and not has_begun) or (isinstance(by, Actor) and by.role is Role.ADMIN)
    if readers < case.desk.readers and not may_lower:
        # Else one moderator could approve it alone, or end it, see other findings, reopen it and read it as if blind.
        why = "A moderator already began to read this case." if has_begun else "Two readers were asked for."
        raise WorkflowError("being read", why, "Let a second one read it too, or ask an admin to change it.")
    if readers > case.desk.readers and was_open_to_all(case):
        raise WorkflowError(
            "seen before",
            "Moderators saw the earlier findings, so a second reading would not be independent.",
            "The author can take it back and send it again. Then ask for two readers.",
        )
    detail = ONE_READER_DETAIL if readers == 1 and is_claimed_by_others(case, "") else str(readers)
    changed = _change_desk(case, at, by, "readers wanted", detail, readers=readers)
    lease = changed.desk.lease
    if lease is None or reading_by(changed, lease.holder.key) is None or not waits_for_readers(changed):
        return changed
    return changed.replace(desk=changed.desk.replace(lease=None))  # its holder has finished: another has to read it


def set_case_readers(cases: Cases, case_id: str, readers: int) -> Case:
    """Say how many moderators read a case, see `set_readers`. InputError for fewer than `two_readers` asks for."""
    if readers < 2 and cases.settings.two_readers:
        raise InputError("Two moderators read every case here.")
    at = cases.now(Clock.DATABASE)
    return cases.update(Act.ASSIGN, case_id, lambda case, by: set_readers(case, at, by, readers))


@requires(Act.PEOPLE, Clock.DATABASE)
def admit_readers(case: Case, at: datetime, by: Person, reason: str) -> Case:
    """Let the readings count of everybody who saw what others found before they read, with an admin's reason."""
    _require_submitted(case)
    reason = checked_reason(reason)
    if not informed_keys(case):
        raise WorkflowError("nobody", "Nobody waits to be admitted to this case.")
    if not is_reason(reason):
        raise InputError("Say why they may read this case.", "Write a short sentence.")
    return _change_desk(case, at, by, "readers admitted", reason)


# --- the queue ---


def queue_page(
    cases: Cases, query: QueueQuery, limit: int, offset: int = 0
) -> tuple[list[QueueItem], int, dict[str, list[str]]]:
    """Return a page of the queue, how many lines it has in all, and by case who else has it open."""
    queue, who = cases.queue, cases.actor
    query = replace(query, without_own=cases.settings.four_eyes)
    items = queue.items(who, query, limit, offset)
    return items, queue.count(who, query), queue.looking([item.case_id for item in items], who)


def row_facts(cases: Cases, case_id: str) -> tuple[bool, str]:
    """Return whether a case is a demonstration, and how it ended and by whom; "" while it waits for moderators."""
    case = cases.get(case_id, only_counted=True)
    if case.decision is not None:
        return is_demonstration(case), f"{case.decision.as_text}, by {case.decision.by}"
    is_back = case.desk.state is DeskState.RETURNED and case.desk.returns
    return is_demonstration(case), f"sent back by {case.desk.returns[-1].by.name}" if is_back else ""


def why_none_is_free(cases: Cases) -> tuple[str, ...]:
    """Return in sentences what goes on with the waiting cases that this person cannot take, or nothing without any."""
    queue, who = cases.queue, cases.actor
    at, every = queue.now(), QueueQuery(QueueScope.ALL, without_own=cases.settings.four_eyes)
    why: Counter[tuple[str, str, str]] = Counter()
    for item in queue.items(who, every, MAX_COUNTED_LINES):
        if item.held_by_another(who.key, at):
            why["1 case is with {name}.", "{n} cases are with {name}.", item.holder_name] += 1
        elif item.readers and f"\n{who.key}\n" in item.read_by:
            why["1 case that you read waits for another reader.", "{n} that you read wait for another reader.", ""] += 1
        elif item.readers and f"\n!{who.key}\n" in item.read_by:
            blind = "a moderator who has not seen what others found"
            why[f"1 case waits for {blind}.", f"{{n}} cases wait for {blind}.", ""] += 1
        elif item.assigned not in (None, who.key):
            why["1 case is assigned to {name}.", "{n} cases are assigned to {name}.", item.assigned_name] += 1
    return tuple(plural(n, one, many, name=name) for (one, many, name), n in why.most_common())


def claim_next(cases: Cases) -> Case | None:
    """Claim the case that is the person's turn: what is assigned to them first; None where nothing waits."""
    for case_id in cases.queue.next_for(cases.actor, without_own=cases.settings.four_eyes):
        with suppress(WorkflowError, CaseNotFoundError):  # another moderator was faster
            return cases.apply(case_id, claim)
    return None


# --- what follows from it ---


def versions(case: Case) -> tuple[tuple[datetime, str, str], ...]:
    """Return every known text of the note: when, by whom, the words. Oldest first, each text once."""
    written = {"note edited", "candidate chosen", "edit undone"}
    known = [(event.at, event.by, event.detail) for event in case.events if event.kind in written and event.detail]
    drafts = (*case.revisions, *((case.draft,) if case.draft else ()))
    known += [(draft.written_at, "" if draft.engine == "person" else draft.engine, draft.text) for draft in drafts]
    known += [(it.at, it.by.name, it.note) for it in case.desk.returns if it.note]
    first: dict[str, tuple[datetime, str, str]] = {}
    for at, by, text in sorted(known, key=lambda version: version[0]):
        first.setdefault(text, (at, by, text))
    return tuple(first.values())


def text_read_before(case: Case, key: str) -> str | None:
    """Return the other text of the note that the reader of that `Person.key` read last; "" if it is not known any more.

    None where they read this one, or none.
    """
    last = _find_last_reading_by(case, key)
    if last is None or (case.draft is not None and last.text_sha256 == case.draft.sha256):
        return None
    return next((text for _, _, text in versions(case) if text_sha256(text) == last.text_sha256), "")


def what_changed(case: Case, key: str) -> str:
    """Return what changed since that reader read this text of the note; "" where nothing did, or they never read it."""
    last = _find_last_reading_by(case, key)
    text = case.draft.sha256 if case.draft else ""
    if last is None or last.text_sha256 != text or is_as_read(case, key):
        return ""
    if last.post_sha256 not in ("", case.post.identity):
        return "The post"
    return "A source" if last.classification in (None, case.classification) else "What the note says about the post"


def is_as_read(case: Case, key: str) -> bool:
    """Return whether the note, its sources and its post are as that reader last read them, in whatever submission."""
    last = _find_last_reading_by(case, key)
    return last is not None and bool(still_current(case, [last]))


def _find_last_reading_by(case: Case, key: str) -> Reading | None:
    return next((it for it in reversed(case.desk.all_readings) if it.reader.key == key), None)


def _require_submitted(case: Case) -> None:
    require_open(case)
    if case.desk.state is not DeskState.SUBMITTED:
        raise WorkflowError("not submitted", "The moderators do not have this case.", "The author must send it first.")


def _describe_holder(lease: Lease) -> str:
    return f"{lease.holder.name} is working on this case."


def _change_desk(case: Case, at: datetime, by: Person, kind: str, detail: str = "", **work: object) -> Case:
    changed: DeskWork = case.desk.replace(**work)
    return with_event(case, at, by, kind, detail, desk=changed)
