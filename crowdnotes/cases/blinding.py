"""What moderators have read of a note, when each sees the others' findings, and what is kept without the author."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from crowdnotes.domain import (
    PROGRAM,
    Act,
    Actor,
    Assessment,
    Case,
    ClaimMatch,
    DecisionKind,
    DeskState,
    DeskWork,
    Event,
    Evidence,
    EvidenceSet,
    Pair,
    Person,
    Post,
    Reading,
    Review,
    Support,
    may,
)
from crowdnotes.notes.gates import with_checks

_EVENTS_SEEN_BY_BLIND = frozenset(
    "submitted;withdrawn;claimed;taken over;released;assigned;put first;no longer first;readers wanted;read through;"
    "shared;no longer shared;reopened;shown;readers admitted".split(";")
)
"""What others did at the desk that does not give away what they found."""


def hide_other_reviews(case: Case, reader: Person) -> Case:
    """Return the case without what others found at the desk, for a person who has not finished reading the note.

    Where another moderator has claimed it, or comments are left out, an event says that something is not shown.

    Nothing is hidden:
    - before the case is first submitted;
    - from its author, unless the author is a moderator and the case is with the moderators;
    - once it is decided. Two exceptions, as the person could reopen the case and seem to read it for the first time:
      moderators, while several have to read it and not all have; and one who took it over and ended it without a note.
    """
    if reading_by(case, reader.key) is not None:
        return case
    is_at_desk = case.desk.state is DeskState.SUBMITTED
    is_moderator = isinstance(reader, Actor) and may(reader, Act.REVIEW)
    if case.decision is not None:
        has_ended_it = case.decision.by_key == reader.key and case.decision.kind is not DecisionKind.APPROVED
        has_cut_short = has_ended_it and is_claimed_by_others(case, reader.key)
        if not (is_moderator and (has_cut_short or (case.desk.readers > 1 and waits_for_readers(case)))):
            return case
    if case.owner_key == reader.key and not (is_at_desk and is_moderator):
        return case
    return _without_findings_of_others(case, reader)


def _without_findings_of_others(case: Case, reader: Person) -> Case:
    times, is_at_desk = _find_times_at_desk(case), case.desk.state is DeskState.SUBMITTED
    if not times:
        return case
    creator = next((event.by_key for event in case.events if event.kind == "created"), None)  # even if erased
    known = {reader.key, PROGRAM.key, case.owner_key, creator}
    claimed = {event.by_key for event in case.events if event.kind in ("claimed", "taken over")}
    not_readers = known - (claimed - {reader.key})  # an author who is also a reader counts as a reader

    def shown(key: str, at: datetime, of_whom: set[str | None] = not_readers) -> bool:
        return key in of_whom or not any(began <= at <= ended for began, ended in times)

    def blind(items: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
        # The author's reviews stay: the note is made from the passages they use.
        def kept(review: Review) -> bool:
            return shown(review.reader.key, review.judged_at or review.opened_at, known)

        return tuple(it.replace(reviews=tuple(filter(kept, it.reviews))) for it in items)

    def stripped(readings: tuple[Reading, ...]) -> tuple[Reading, ...]:  # the readers' names stay
        return tuple(it if it.reader.key == reader.key else it.replace(findings=()) for it in readings)

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
        "earlier_evidence": tuple(it.replace(evidence=blind(it.evidence)) for it in case.earlier_evidence),
        "sentence_checks": checks,
        "assessment": unchecked(case.assessment) if case.assessment else None,
        "earlier_assessments": tuple(map(unchecked, case.earlier_assessments)),
        "claim_matches": _find_claim_matches(case, shown),
        "typed_words": tuple(it for it in case.typed_words if it.by_key == reader.key),
        "decision_words": {},
    }
    are_comments_hidden = False
    if is_at_desk or must_ask_for_comments(case, reader):
        made = ((it, it.owed or it.typed_by) for it in case.suggestions)
        changed["suggestions"] = suggestions = tuple(it for it, key in made if shown(key, it.at))
        update["returns"] = returns = tuple(
            it if it.by.key == reader.key else it.replace(words="") for it in work.returns
        )
        are_comments_hidden = suggestions != case.suggestions or returns != work.returns
    events = [it for it in case.events if it.kind in _EVENTS_SEEN_BY_BLIND or shown(it.by_key, it.at)]
    if are_comments_hidden or is_claimed_by_others(case, reader.key):
        why = "what other moderators found, until you have read this note to its end"
        events.append(Event(at=case.updated_at, by=PROGRAM.name, by_key=PROGRAM.key, kind="not shown", detail=why))
    return case.replace(**changed, events=tuple(events), desk=work.replace(**update))


def is_claimed_by_others(case: Case, key: str) -> bool:
    """Return whether anyone but the person of that `Person.key` has claimed the case since it was last sent."""
    return any(event.kind in ("claimed", "taken over") and event.by_key != key for event in _events_since_sent(case))


def was_open_to_all(case: Case) -> bool:
    """Return whether the case was reopened after it was last sent, so that all could see the findings."""
    return _has_findings_hidden_in(_without_findings_of_others(case, PROGRAM), case) and any(
        event.kind == "reopened" for event in _events_since_sent(case)
    )


def _has_findings_hidden_in(seen: Case, case: Case) -> bool:
    fields = ("evidence", "sentence_checks", "suggestions", "claim_matches")
    return seen.desk.returns != case.desk.returns or any(getattr(seen, it) != getattr(case, it) for it in fields)


def record_sight(case: Case, at: datetime, reader: Person) -> Case:
    """Return the case with an event if this moderator now sees others' findings and never finished a reading.

    They form no opinion of their own first, so that their readings do not count where several have to read. Who has
    read an earlier text does count: they judged this post and its sources without the others.
    """
    if not isinstance(reader, Actor) or not may(reader, Act.REVIEW) or was_shown_findings(case, reader.key):
        return case
    has_read = any(it.reader.key == reader.key for it in case.desk.all_readings)
    if has_read or hide_other_reviews(case, reader) is not case:
        return case
    if not _has_findings_hidden_in(_without_findings_of_others(case, reader), case):
        return case
    return with_sight(case, at, reader)


def with_sight(case: Case, at: datetime, reader: Person) -> Case:
    """Return the case with the event that this person saw what others found, see `was_shown_findings`."""
    event = Event(at=at, by=reader.name, by_key=reader.key, kind="shown", detail="what other moderators found")
    return case.replace(events=(*case.events, event))


def must_ask_for_comments(case: Case, reader: Person) -> bool:
    """Return whether this moderator has to ask for the comments of a returned case, as they may review it later.

    Everybody else who works on it needs them at once.
    """
    is_moderator = isinstance(reader, Actor) and may(reader, Act.REVIEW)
    has_finished = any(it.reader.key == reader.key for it in case.desk.readings)
    return is_moderator and not has_finished and not was_shown_findings(case, reader.key)


def is_something_hidden(case: Case) -> bool:
    """Return whether the case, as `hide_other_reviews` returned it, says that something is left out."""
    return any(event.kind == "not shown" for event in case.events)


def was_shown_findings(case: Case, key: str) -> bool:
    """Return whether that person saw others' findings before they read, and no admin has admitted them since."""
    return any(key == by_key for by_key, _ in _list_informed(case))


def _list_informed(case: Case) -> list[tuple[str, str]]:
    """Return the key and name of each person who was shown findings since an admin last admitted such readers."""
    admitted = (number for number, event in enumerate(case.events) if event.kind == "readers admitted")
    since = case.events[max(admitted, default=0) :]
    return list(dict.fromkeys((event.by_key, event.by) for event in since if event.kind == "shown"))


def may_not_read_yet(case: Case, key: str) -> bool:
    """Return whether a reading by that person would not count, where a moderator still has to read the case blind."""
    return waits_for_readers(case) > 0 and case.desk.readers > 1 and was_shown_findings(case, key)


def possible_readers(case: Case, moderators: Iterable[Person], *, four_eyes: bool) -> tuple[Person, ...]:
    """Return who of these can still read the case as another reader; with four eyes nobody reads their own."""
    return tuple(
        it
        for it in moderators
        if reading_by(case, it.key) is None
        and not may_not_read_yet(case, it.key)
        and not (four_eyes and it.key == case.owner_key)
    )


def informed_keys(case: Case) -> list[str]:
    """Return the keys of the people whose readings do not count, while moderators still have to read the case."""
    return [key for key, _ in _list_informed(case) if may_not_read_yet(case, key)]


def remarks(case: Case) -> tuple[str, ...]:
    """Return sentences for the reader of a case: where fewer readings count than asked for, or are not shown."""
    since, sentences = _events_since_sent(case), []
    if case.decision is None and any(event.kind == "reopened" for event in since):
        sentences.append("This case was decided and reopened. In between, moderators could see the findings.")
    informed = [name for key, name in _list_informed(case) if may_not_read_yet(case, key)]
    if informed and case.decision is None:
        sentences.append(
            f"Already saw what others found: {', '.join(informed)}. This case waits for another moderator. An "
            "admin can admit them."
        )
    sentences += [
        f"{event.by} admitted readers who had seen what others found: {event.detail}"
        for event in since
        if event.kind == "readers admitted"
    ]
    sentences += [
        f"{event.by} asked for one reader instead of two after a moderator began to read."
        for event in since
        if event.kind == "readers wanted" and event.detail == ONE_READER_DETAIL
    ]
    if case.decision is not None and is_something_hidden(case):
        sentences.append("You see other moderators' findings once you have read this note to its end.")
    return tuple(sentences)


ONE_READER_DETAIL = "1, after a moderator had begun to read"
"""What the record says of a case that two were to read, where an admin asked for one."""


def _events_since_sent(case: Case) -> tuple[Event, ...]:
    sent = (number for number, event in enumerate(case.events) if event.kind == "submitted")
    return case.events[max(sent, default=len(case.events)) :]


def _find_times_at_desk(case: Case) -> list[tuple[datetime, datetime]]:
    """Return each time, from and until, that the case was with the moderators; the last may end in the future."""
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
    """Return what people whose findings are shown said of fact-checks, by their acts."""
    matches = dict(case.claim_matches)
    said = [event for event in case.events if event.kind == "claim matched"]
    hidden = {event.subject for event in said if not shown(event.by_key, event.at)}
    for name in hidden:
        matches.pop(name, None)
    for event in said:
        if event.subject in hidden and shown(event.by_key, event.at):
            if event.result:
                matches[event.subject] = ClaimMatch(event.result)
            else:
                matches.pop(event.subject, None)
    return matches


def pairs(case: Case) -> tuple[Pair, ...]:
    """Return what a moderator has to judge: each sentence with its passage, and passages in use that support none."""
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


def counted_readings(case: Case) -> tuple[Reading, ...]:
    """Return the finished readings of this submission that are `still_current`.

    The findings of others are empty where they are hidden (`hide_other_reviews`).
    """
    return still_current(case, case.desk.readings)


def still_current(case: Case, readings: Iterable[Reading]) -> tuple[Reading, ...]:
    """Return the readings of this very note, its post, and each passage that it rests on.

    If the note's kind changed ("not misleading"), the same words are another note.
    """
    text, posts = case.draft.sha256 if case.draft else "", ("", case.post.identity)
    passages, kinds = {pair.evidence_id for pair in pairs(case)}, (None, case.classification)
    texts = {item.id: item.identity for item in case.evidence}
    return tuple(
        reading
        for reading in readings
        if reading.text_sha256 == text
        and reading.post_sha256 in posts
        and reading.classification in kinds
        and all(it.passage_sha256 in ("", texts.get(it.evidence_id, "")) for it in reading.findings)
        and (not reading.findings or passages <= {found.evidence_id for found in reading.findings})
    )


def reading_by(case: Case, key: str) -> Reading | None:
    """Return the finished reading of that `Person.key`, of the current note."""
    return next((reading for reading in counted_readings(case) if reading.reader.key == key), None)


def readers_disagree(case: Case) -> bool:
    """Return whether two readers found different things of the same sentence and passage."""
    return _disagree(counted_readings(case))


def _disagree(readings: Iterable[Reading]) -> bool:
    found: dict[tuple[str, str], Support] = {}
    return any(
        found.setdefault(pair, support) is not support
        for reading in readings
        for pair, support in reading.by_pair.items()
    )


def waits_for_readers(case: Case, at_least: int = 1) -> int:
    """Return how many moderators still have to read the current note; two who disagree ask for a third.

    `at_least` is how many have to read every case. Where several have to, only blind readings count.
    """
    wanted, readings = max(case.desk.readers, at_least), counted_readings(case)
    if wanted > 1:
        readings = tuple(it for it in readings if not was_shown_findings(case, it.reader.key))
        if _disagree(readings):
            wanted = max(wanted, 3)
    return max(0, wanted - len(readings))


# --- what stays when the author is erased ---


def is_reviewed(case: Case, author: str) -> bool:
    """Return whether another person finished reading the case, sent it back or decided it."""
    work = case.desk
    by = [*(it.reader.key for it in work.all_readings), *(it.by.key for it in work.returns)]
    by += [case.decision.by_key] if case.decision is not None else []
    return any(key not in ("", author) for key in by)


_KINDS_WITHOUT_WORDS_OF_AUTHOR = frozenset(
    "decided;reopened;sent back;passage opened;passage judged;claimed;taken over;released;assigned;put first;"
    "no longer first;readers wanted;read through;shown".split(";")
)


def keep_reviews(case: Case, author: str, at: datetime) -> Case:
    """Return what moderators found of a case and the passages that they read, without anything that its author wrote.

    A sentence of the note is called by its number. The case is then with neither author nor moderators.
    """
    numbers: dict[str, str] = {}

    def named(words: str) -> str:
        return numbers.setdefault(words, f"sentence {len(numbers) + 1}") if words else ""

    def reviewed(items: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
        return tuple(it.replace(reviews=tuple(one for one in it.reviews if one.reader.key != author)) for it in items)

    def without_words(readings: tuple[Reading, ...]) -> tuple[Reading, ...]:
        return tuple(
            it.replace(findings=tuple(one.replace(words=named(one.words)) for one in it.findings))
            for it in readings
            if it.reader.key != author
        )

    work, decision = case.desk, case.decision
    desk = DeskWork(
        submitted_at=work.submitted_at,
        submitted_sha256=work.submitted_sha256,
        readers=work.readers,
        readings=without_words(work.readings),
        earlier_readings=without_words(work.earlier_readings),
        returns=tuple(it.replace(note="") for it in work.returns if it.by.key != author),
    )
    if decision is not None and decision.by_key == author:
        decision = decision.replace(reason="", overrides=())
    events = [
        it
        if it.by_key not in (author, PROGRAM.key) and it.kind in _KINDS_WITHOUT_WORDS_OF_AUTHOR
        else it.replace(detail="", subject="")
        for it in case.events
    ]
    detail = "the note and all that its author wrote, not the moderators' findings"
    events.append(Event(at=at, by=PROGRAM.name, by_key=PROGRAM.key, kind="author erased", detail=detail))
    checks = (it for it in case.sentence_checks if it.by_key not in ("", author))
    comments = (it for it in case.suggestions if (it.owed or it.typed_by) not in ("", author))
    return Case(
        id=case.id,
        created_at=case.created_at,
        updated_at=at,
        version=case.version,
        owner=case.owner,
        mode=case.mode,
        post=Post(text=case.post.text, url=case.post.url),
        evidence=reviewed(case.evidence),
        earlier_evidence=tuple(
            EvidenceSet(at=it.at, why=it.why, evidence=reviewed(it.evidence)) for it in case.earlier_evidence
        ),
        sentence_checks=tuple(it.replace(words=named(it.words), doubts=()) for it in checks),
        classification=case.classification,
        tags=case.tags,
        typed_words=tuple(it for it in case.typed_words if it.by_key != author),
        decision=decision,
        events=tuple(events),
        suggestions=tuple(it.replace(words="", reason="", changed="") for it in comments),
        desk=desk,
        recorded_answers=case.recorded_answers,
    )
