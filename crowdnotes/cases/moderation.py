"""What authors and moderators do with a submitted case, as pure functions, like `actions`.

A moderator claims a case and has it to themselves for 15 minutes after what they last did (`LEASE`), by the database's
clock, which every caller gives as `at`. What they find of each sentence and passage is kept as they go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from crowdnotes.cases.actions import (
    checked_reason,
    own_check,
    require_open,
    require_passage,
    with_check,
    with_event,
)
from crowdnotes.domain import (
    FINDINGS,
    LEASE,
    PROGRAM,
    Act,
    Actor,
    Assessment,
    Case,
    ClaimMatch,
    Comment,
    DeskState,
    DeskWork,
    Evidence,
    Lease,
    Pair,
    PairFinding,
    Person,
    Reading,
    Return,
    Review,
    Suggestion,
    Support,
    Verdict,
    may,
    text_sha256,
)
from crowdnotes.errors import InputError, WorkflowError
from crowdnotes.notes.gates import with_checks
from crowdnotes.wording import plural

_MAX_COMMENTS = 50
_FAVOURABLE_FINDINGS = frozenset({Support.SUPPORTED, Support.PARTLY})


def counted_readings(case: Case) -> tuple[Reading, ...]:
    """The finished readings, of this submission, of the very note and post, and of each passage that the note rests on.

    A note that says the post is not misleading, of the same words, is another one.

    The findings of others are empty where they are hidden (`hide_other_reviews`).
    """
    text, posts = case.draft.sha256 if case.draft else "", ("", case.post.identity)
    passages, kinds = {pair.evidence_id for pair in pairs(case)}, (None, case.classification)
    texts = {item.id: item.identity for item in case.evidence}
    return tuple(
        reading
        for reading in case.desk.readings
        if reading.text_sha256 == text
        and reading.post_sha256 in posts
        and reading.classification in kinds
        and all(it.passage_sha256 in ("", texts.get(it.evidence_id, "")) for it in reading.findings)
        and (not reading.findings or passages <= {found.evidence_id for found in reading.findings})
    )


def readers_disagree(case: Case) -> bool:
    """Whether two readers found different things of the same sentence and passage."""
    found: dict[tuple[str, str], Support] = {}
    return any(
        found.setdefault(pair, support) is not support
        for reading in counted_readings(case)
        for pair, support in reading.by_pair.items()
    )


def waits_for_readers(case: Case, at_least: int = 1) -> int:
    """How many moderators still have to read the note as it is; two who disagree ask for a third.

    `at_least` is how many have to read every case.
    """
    wanted = max(case.desk.readers, at_least)
    if wanted > 1 and readers_disagree(case):
        wanted = max(wanted, 3)
    return max(0, wanted - len(counted_readings(case)))


def reading_by(case: Case, key: str) -> Reading | None:
    """The finished reading of that `Person.key`, of the note as it is."""
    return next((reading for reading in counted_readings(case) if reading.reader.key == key), None)


def require_editable(case: Case, by: Person, *, by_reviewers: bool = False) -> None:
    """Refuse changes to a case that is with the moderators: only its author makes them, and nobody while it is claimed.

    `by_reviewers`: whoever holds the claim may too, and any moderator while nobody does.
    """
    lease = case.desk.lease
    if case.desk_state not in (DeskState.SUBMITTED, DeskState.IN_REVIEW):
        return
    if lease is not None and not (by_reviewers and lease.holder.key == by.key):
        if lease.holder.key == by.key:
            raise WorkflowError("claimed", "You are reviewing this case.", "Give it back, then change it.")
        raise WorkflowError("claimed", "A moderator is reviewing this case.", "Wait until the review is finished.")
    if by.key != case.owner_key and not by_reviewers:
        raise WorkflowError(
            "submitted",
            "This case is with the moderators, so only its author may change it.",
            "Send it back with a comment that says what should change.",
        )


# --- the author ---


def submit(case: Case, at: datetime, by: Person, message: str = "", *, readers: int = 1) -> Case:
    """Send a case to the moderators; after a return each comment needs an answer first.

    Without a note the message has to say why none is needed. `readers` is how many moderators have to read it.
    """
    require_open(case)
    work, message = case.desk, checked_reason(message)
    if work.state is DeskState.SUBMITTED:
        raise WorkflowError(
            "submitted", "This case is with the moderators already.", "Take it back first if you want to send it again."
        )
    owed = open_comments(case)
    if owed:
        raise WorkflowError(
            "comments",
            plural(len(owed), "1 comment has no answer yet.", "{n} comments have no answer yet."),
            "Answer each comment, then send the case again.",
        )
    has_note = case.draft is not None and bool(case.draft.text.strip())
    if not has_note and not message:
        raise InputError("There is no note to send.", "Write a note, or say why this post needs none.")
    fresh = {
        "state": DeskState.SUBMITTED,
        "submitted_at": at,
        "submitted_sha256": case.draft.sha256 if case.draft else "",
        "message": message,
        "lease": None,
        "readers": max(work.readers, readers),
        "readings": (),
        "earlier_readings": (*work.earlier_readings, *work.readings),
    }
    return _change_desk(case, at, by, "submitted", message, **fresh)


def withdraw(case: Case, at: datetime, by: Person) -> Case:
    """Take a case back from the moderators, unless one of them is at it."""
    _require_submitted(case)
    lease = case.desk.lease
    if lease is not None and lease.holds(at) and lease.holder.key != by.key:
        raise WorkflowError("claimed", _describe_holder(lease), "Wait until the review is finished.")
    return _change_desk(case, at, by, "withdrawn", state=DeskState.DRAFTING, lease=None)


def open_comments(case: Case) -> tuple[Suggestion, ...]:
    """The moderators' comments that have no answer yet."""
    return tuple(item for item in case.suggestions if item.owed and item.waits)


# --- claiming ---


def claim(case: Case, at: datetime, by: Person) -> Case:
    """Have a submitted case to oneself; one whose lease ran out is taken over, on record. Claiming again renews.

    Refused while somebody else holds it, and for who has read it already where others have to.
    """
    _require_submitted(case)
    work = case.desk
    lease = work.lease
    if lease is not None and lease.holder.key != by.key and lease.holds(at):
        raise WorkflowError("claimed", _describe_holder(lease), "Take another case, or take this one over.")
    _require_unread(case, by)
    if lease is not None and lease.holder.key == by.key:
        return renew(case, at, by)
    return _assign_lease(case, at, by)


def take_over(case: Case, at: datetime, by: Person) -> Case:
    """Claim a case that somebody else holds, on record; they are told at their next act."""
    _require_submitted(case)
    _require_unread(case, by)
    return _assign_lease(case, at, by)


def _require_unread(case: Case, by: Person) -> None:
    if reading_by(case, by.key) is not None and waits_for_readers(case):
        raise WorkflowError(
            "read already", "You have read this case. Another moderator has to read it now.", "Take the next case."
        )


def _assign_lease(case: Case, at: datetime, by: Person) -> Case:
    before = case.desk.lease
    kind = "claimed" if before is None or before.holder.key == by.key else "taken over"
    detail = f"from {before.holder.name}" if before is not None and kind == "taken over" else ""
    return _change_desk(case, at, by, kind, detail, lease=Lease(holder=by.person, since=at, until=at + LEASE))


def renew(case: Case, at: datetime, by: Person) -> Case:
    """The whole time anew, also where it ran out and nobody else took the case. No line in the audit trail.

    WorkflowError where somebody else has it now, or nobody claimed it.
    """
    require_open(case)
    lease = case.desk.lease
    if lease is None:
        raise WorkflowError("not claimed", _explain_missing_claim(case, by), "Claim it and read the note as it is now.")
    if lease.holder.key != by.key:
        raise WorkflowError(
            "claimed",
            f"{lease.holder.name} has taken over this case.",
            "What you chose so far is kept. Take another case, or take this one over again.",
        )
    renewed = lease.model_copy(update={"until": max(lease.until, at + LEASE)})
    return case.model_copy(update={"desk": case.desk.model_copy(update={"lease": renewed})})


def _explain_missing_claim(case: Case, by: Person) -> str:
    """Why that person holds no claim, also where its author took the case back from them."""
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
    return f"After you had claimed this case its author took it back{again}."


def release(case: Case, at: datetime, by: Person) -> Case:
    """Give a case back to the queue."""
    renew(case, at, by)
    return _change_desk(case, at, by, "released", lease=None)


def require_free(case: Case, by: Person) -> None:
    """Refuse what ends a review while somebody else has claimed the case: they would work for nothing."""
    lease = case.desk.lease
    if lease is not None and lease.holder.key != by.key:
        raise WorkflowError("claimed", _describe_holder(lease), "Take another case, or take this one over.")


# --- validating ---


def pairs(case: Case) -> tuple[Pair, ...]:
    """What a moderator has to find: each sentence with its passage, and passages in use that carry none."""
    draft = case.draft
    if draft is None or not draft.text.strip():
        return ()
    found = [
        Pair(item.words_in(draft.text), item.evidence_id)
        for item in case.sentences
        if item.evidence_id is not None and case.evidence_by_id(item.evidence_id) is not None
    ]
    carrying = {pair.evidence_id for pair in found}
    leans = (item.id for item in case.evidence if item.used or item.id in draft.evidence_ids)
    rest = [Pair(draft.text, name) for name in leans if name not in carrying]
    return tuple(dict.fromkeys((*found, *rest)))


def judge_pair(case: Case, at: datetime, by: Person, words: str, evidence_id: str, support: Support) -> Case:
    """What a moderator finds of one pair, which they read by that; renews their claim.

    Who finds that a passage supports the sentence, or partly, has also judged that the note may use it.
    """
    renewed = renew(case, at, by)
    if Pair(words, evidence_id) not in pairs(hide_other_reviews(case, by)):
        raise WorkflowError("edited elsewhere", "This sentence is no longer compared with that passage.")
    if support not in FINDINGS:
        raise InputError("Choose one of the five findings.")
    item = require_passage(case, evidence_id)
    review = item.review_by(by.key) or Review(reader=by.person, opened_at=at)
    if review.verdict is None and support in _FAVOURABLE_FINDINGS:
        # A passage that its author keeps as background stays that: the note's sources are the author's to choose.
        verdict = Verdict.USE if item.used or item.verdict is None else Verdict.BACKGROUND
        review = review.model_copy(update={"verdict": verdict, "judged_at": at})
    elif (
        review.verdict is Verdict.USE
        and support not in _FAVOURABLE_FINDINGS
        and not _has_support_for_other_sentence(case, by, words, item.id)
    ):
        review = review.model_copy(update={"verdict": None, "judged_at": None})
    others = (other for other in item.reviews if other.reader.key != by.key)
    reviewed = item.model_copy(update={"reviews": (*others, review)})
    evidence = tuple(reviewed if it.id == evidence_id else it for it in case.evidence)
    sentence = next((it for it in case.sentences if case.draft and it.words_in(case.draft.text) == words), None)
    doubts = sentence.doubts if sentence is not None else ()
    settled = support is Support.SUPPORTED  # who read both, with the hints beside them, has weighed those
    return with_check(
        renewed, at, by, words, evidence_id, support, doubts=doubts, settled=settled and bool(doubts), evidence=evidence
    )


def _has_support_for_other_sentence(case: Case, by: Person, words: str, evidence_id: str) -> bool:
    others = (pair.words for pair in pairs(case) if pair.evidence_id == evidence_id and pair.words != words)
    checks = (own_check(case, by.key, other, evidence_id) for other in others)
    return any(check is not None and check.support in _FAVOURABLE_FINDINGS for check in checks)


def finish_reading(case: Case, at: datetime, by: Person) -> Case:
    """Keep what a moderator found of every pair; where others have to read it too, it goes back into the queue.

    What two find is never known to the second before they are done: see `hide_other_reviews`.
    """
    renewed = renew(case, at, by)
    found = {
        pair: own_check(case, by.key, pair.words, pair.evidence_id) for pair in pairs(hide_other_reviews(case, by))
    }
    if case.draft is not None and not found:
        raise WorkflowError("unread", "The note has no source to check.", "Send it back with a comment.")
    left = sum(check is None or check.support is Support.UNCHECKED for check in found.values())
    if left:
        raise WorkflowError("unread", plural(left, "1 passage is left to check.", "{n} passages are left to check."))
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
    text, post, kind = case.draft.sha256 if case.draft else "", case.post.identity, case.classification
    reading = Reading(
        reader=by.person, at=at, text_sha256=text, post_sha256=post, classification=kind, findings=findings
    )
    work = renewed.desk
    before = reading_by(case, by.key)
    if before is not None and before.findings == findings:
        return renewed
    counted = counted_readings(case)
    readings = (*(other for other in counted if other is not before), reading)
    # What they found blind stays on record, also where they changed their mind when they saw what others found.
    earlier = tuple(other for other in work.readings if other not in counted or other is before)
    update = {"readings": readings, "earlier_readings": (*work.earlier_readings, *earlier)}
    read = renewed.model_copy(update={"desk": work.model_copy(update=update)})
    lease = None if waits_for_readers(read) else work.lease
    detail = plural(len(findings), "1 passage checked", "{n} passages checked")
    return _change_desk(renewed, at, by, "read through", detail, lease=lease, **update)


_EVENTS_SEEN_BY_BLIND = frozenset(
    "submitted;withdrawn;claimed;taken over;released;assigned;put first;no longer first;readers wanted;read through;"
    "shared;no longer shared".split(";")
)
"""What others did at the desk, which tells nothing of what they found."""


def hide_other_reviews(case: Case, reader: Person) -> Case:
    """The case as somebody may see it who has not finished reading the note: without what others found at the desk.

    Nothing is hidden before a case is submitted first; nor from its author, unless it is with the moderators now and
    the author is one of them; nor once it is decided, but from moderators where several have to read it and not all
    have: one of them might end it, look, reopen it and read it as if for the first time.
    """
    times = _find_times_at_desk(case)
    if not times or reading_by(case, reader.key) is not None:
        return case
    is_at_desk = case.desk.state is DeskState.SUBMITTED
    is_moderator = isinstance(reader, Actor) and may(reader, Act.REVIEW)
    if case.decision is not None and not (is_moderator and case.desk.readers > 1 and waits_for_readers(case)):
        return case
    if case.owner_key == reader.key and not (is_at_desk and is_moderator):
        return case
    known = {reader.key, PROGRAM.key, case.owner_key}
    claimed = {event.by_key for event in case.events if event.kind in ("claimed", "taken over")}
    not_readers = known - (claimed - {reader.key})  # an author who is a reader too finds as one

    def shown(key: str, at: datetime, of_whom: set[str | None] = not_readers) -> bool:
        return key in of_whom or not any(began <= at <= ended for began, ended in times)

    def blind(items: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
        # The author's own stay: the note is made from what they use.
        def kept(review: Review) -> bool:
            return shown(review.reader.key, review.judged_at or review.opened_at, known)

        return tuple(it.model_copy(update={"reviews": tuple(filter(kept, it.reviews))}) for it in items)

    def stripped(readings: tuple[Reading, ...]) -> tuple[Reading, ...]:  # who has read it stays known
        return tuple(it if it.reader.key == reader.key else it.model_copy(update={"findings": ()}) for it in readings)

    checks = tuple(check for check in case.sentence_checks if shown(check.by_key, check.at))
    texts = {draft.sha256: draft.text for draft in (*case.revisions, *((case.draft,) if case.draft else ()))}

    def unchecked(assessment: Assessment) -> Assessment:
        known_text = texts.get(assessment.text_sha256)
        return with_checks(assessment, known_text or "", case.evidence, checks if known_text else ())

    work, counted = case.desk, counted_readings(case)
    of_other_notes = tuple(it for it in work.readings if it not in counted)
    update: dict[str, object] = {
        "readings": stripped(counted),
        "earlier_readings": stripped((*work.earlier_readings, *of_other_notes)),
    }
    changed: dict[str, object] = {
        "evidence": blind(case.evidence),
        "earlier_evidence": tuple(
            it.model_copy(update={"evidence": blind(it.evidence)}) for it in case.earlier_evidence
        ),
        "sentence_checks": checks,
        "assessment": unchecked(case.assessment) if case.assessment else None,
        "earlier_assessments": tuple(map(unchecked, case.earlier_assessments)),
        "events": tuple(it for it in case.events if it.kind in _EVENTS_SEEN_BY_BLIND or shown(it.by_key, it.at)),
        "claim_matches": _find_claim_matches(case, shown),
        "typed_words": tuple(it for it in case.typed_words if it.by_key == reader.key),
        "decision_words": {},
    }
    if is_at_desk:  # of one that was sent back the comments are for everybody who works on it
        made = ((it, it.owed or it.typed_by) for it in case.suggestions)
        changed["suggestions"] = tuple(it for it, key in made if shown(key, it.at))
        update["returns"] = tuple(
            it if it.by.key == reader.key else it.model_copy(update={"words": ""}) for it in work.returns
        )
    return case.model_copy(update={**changed, "desk": work.model_copy(update=update)})


def _find_times_at_desk(case: Case) -> list[tuple[datetime, datetime]]:
    """From when until when the case was with the moderators, each time; the end of the newest may lie ahead."""
    times: list[tuple[datetime, datetime]] = []
    began: datetime | None = None
    for event in case.events:
        if event.kind == "submitted":
            began = event.at
        elif began is not None and event.kind in ("withdrawn", "sent back"):
            times.append((began, event.at))
            began = None
    return times if began is None else [*times, (began, datetime.max.replace(tzinfo=UTC))]


def _find_claim_matches(case: Case, shown: Callable[[str, datetime], bool]) -> dict[str, ClaimMatch]:
    """What was said of fact-checks by those whose findings are shown, as their acts tell it."""
    matches = dict(case.claim_matches)
    said = [event for event in case.events if event.kind == "claim matched"]
    hidden = {event.detail.partition(": ")[2] for event in said if not shown(event.by_key, event.at)}
    for name in hidden:
        matches.pop(name, None)
    for event in said:
        match, _, name = event.detail.partition(": ")
        if name in hidden and shown(event.by_key, event.at):
            matches |= {name: ClaimMatch(match)} if match in list(ClaimMatch) else {}
            if match == "none":
                matches.pop(name, None)
    return matches


# --- sending back ---


def send_back(case: Case, at: datetime, by: Person, comments: Sequence[Comment], words: str = "") -> Case:
    """Return a case to its author with comments; each has to be answered before it comes back."""
    _require_submitted(case)
    require_free(case, by)
    said, words = [item for item in comments if item.text.strip()], checked_reason(words)
    if not said and not words:
        raise InputError("Say what the author should change.", "Write a comment on the note or on one of its passages.")
    if len(said) > _MAX_COMMENTS:
        raise InputError(f"A case takes at most {_MAX_COMMENTS} comments at once.")
    note = case.draft.text if case.draft else ""
    for item in said:
        if item.evidence_id:
            require_passage(case, item.evidence_id)
        if item.words and item.words not in note:
            raise InputError(f"The note does not have the words “{item.words}” any more.")
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
    work = case.desk.model_copy(
        update={"state": DeskState.RETURNED, "lease": None, "returns": (*case.desk.returns, returned)}
    )
    return with_event(case, at, by, "sent back", detail, suggestions=(*case.suggestions, *added), desk=work)


def resolve_comment(case: Case, at: datetime, by: Person, suggestion_id: str) -> Case:
    """A comment needs no answer any more, says a moderator."""
    asked = next((item for item in case.suggestions if item.id == suggestion_id and item.owed and item.waits), None)
    if asked is None:
        raise InputError(f"There is no suggestion {suggestion_id}.")
    every = tuple(it.model_copy(update={"resolved_by": by.name}) if it is asked else it for it in case.suggestions)
    return with_event(case, at, by, "suggestion answered", f"{suggestion_id} needs no answer", suggestions=every)


# --- order and people ---


def assign(case: Case, at: datetime, by: Person, to: Person | None) -> Case:
    """Say who should take a case; None for nobody."""
    _require_submitted(case)
    if (case.desk.assigned and case.desk.assigned.key) == (to and to.key):
        return case
    name = to.name if to else "nobody"
    return _change_desk(case, at, by, "assigned", name, assigned=to.person if to else None)


def prioritise(case: Case, at: datetime, by: Person, first: bool) -> Case:
    """Put a case before all that are not, or take that back."""
    _require_submitted(case)
    if case.desk.raised == first:
        return case
    return _change_desk(case, at, by, "put first" if first else "no longer first", raised=first)


def set_readers(case: Case, at: datetime, by: Person, readers: int) -> Case:
    """How many moderators have to read the case, each without the others' findings: one or two."""
    _require_submitted(case)
    if readers not in (1, 2):
        raise InputError("A case is read by one or two moderators.")
    if case.desk.readers == readers:
        return case
    # Else one of them might lower it, end the case, look at what another found, reopen it and read it as if blind.
    others = {it.by_key for it in case.events if it.kind in ("claimed", "taken over")} - {by.key}
    if readers < case.desk.readers and others:
        raise WorkflowError("being read", "A moderator has begun to read this case.", "Let a second one read it too.")
    return _change_desk(case, at, by, "readers wanted", str(readers), readers=readers)


# --- what follows from it ---


def versions(case: Case) -> tuple[tuple[datetime, str, str], ...]:
    """Every text that the note had, as far as known: when, by whom, the words. Oldest first, each text once."""
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
    """The other text of the note that the reader of that `Person.key` read last; "" where it is not known any more.

    None where they read this one, or none.
    """
    readings = (*case.desk.earlier_readings, *case.desk.readings)
    read = [reading.text_sha256 for reading in readings if reading.reader.key == key]
    if not read or (case.draft is not None and read[-1] == case.draft.sha256):
        return None
    return next((text for _, _, text in versions(case) if text_sha256(text) == read[-1]), "")


def what_changed(case: Case, key: str) -> str:
    """What was changed since the reader of that `Person.key` read this text of the note; "" where nothing was."""
    readings = (*case.desk.earlier_readings, *case.desk.readings)
    last = next((reading for reading in reversed(readings) if reading.reader.key == key), None)
    text = case.draft.sha256 if case.draft else ""
    if last is None or last.text_sha256 != text or reading_by(case, key) is not None:
        return ""
    if last.post_sha256 not in ("", case.post.identity):
        return "The post"
    return "A source" if last.classification in (None, case.classification) else "What the note says of the post"


def _require_submitted(case: Case) -> None:
    require_open(case)
    if case.desk.state is not DeskState.SUBMITTED:
        raise WorkflowError("not submitted", "This case is not with the moderators.", "Its author sends it first.")


def _describe_holder(lease: Lease) -> str:
    return f"{lease.holder.name} is working on this case."


def _change_desk(case: Case, at: datetime, by: Person, kind: str, detail: str = "", **work: object) -> Case:
    changed: DeskWork = case.desk.model_copy(update=work)
    return with_event(case, at, by, kind, detail, desk=changed)
