"""What a person may do to a case, as pure functions: only the rules that never bend.

Each function takes a case and returns the next one with a line in its audit trail, or raises WorkflowError with the
name of the rule that refuses. Pages and commands follow the same rules. Approval itself is in `approval.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from crowdnotes.cases.cases import Cases
from crowdnotes.cases.permissions import requires
from crowdnotes.domain import (
    FINDINGS,
    Act,
    Actor,
    Assessment,
    Case,
    ClaimMatch,
    Classification,
    Draft,
    Event,
    Evidence,
    EvidenceSet,
    FetchOutcome,
    Pair,
    Person,
    Quotation,
    Review,
    SentenceCheck,
    Source,
    Support,
    TypedWords,
    Verdict,
    text_sha256,
)
from crowdnotes.errors import InputError, JobCancelled, WorkflowError
from crowdnotes.notes.drafting import with_quotation
from crowdnotes.notes.gates import with_checks
from crowdnotes.text.note_rules import NOTE_LIMIT, note_length, tags_of
from crowdnotes.text.urls import linkable
from crowdnotes.wording import plural

MAX_NOTE_CHARACTERS = 5_000  # far over any note: a longer text is an article pasted by mistake
MAX_REASON_CHARACTERS = 2_000
_MAX_KEPT_REVISIONS = 100
_MAX_KEPT_ASSESSMENTS = 10
_MAX_KEPT_SENTENCE_CHECKS = 300  # of all readers together


def with_event(case: Case, at: datetime, by: Person, kind: str, detail: str = "", **changes: object) -> Case:
    """Return the case with `changes` made and the event appended; `by` is the person who acted, or PROGRAM.

    Of a decided case only the decision may change: WorkflowError.
    """
    return add_event(case, Event(at=at, by=by.name, by_key=by.key, kind=kind, detail=detail), changes)


def add_event(case: Case, event: Event, changes: Mapping[str, object]) -> Case:
    """Do the same as `with_event`, for an event with more than text."""
    if "decision" not in changes:
        require_open(case)
    changed = case.replace(**changes, updated_at=event.at, events=(*case.events, event))
    return with_sentence_checks(_with_known_scores(changed, case.assessment))


def with_sentence_checks(case: Case) -> Case:
    """Return the case with people's newest findings of the note's sentences in its current assessment."""
    if case.decision is not None or case.draft is None or case.assessment is None or not case.assessment_is_current:
        return case
    judged = with_checks(case.assessment, case.draft.text, case.used_evidence, case.sentence_checks)
    return case if judged == case.assessment else case.replace(assessment=judged)


def _with_known_scores(case: Case, before: Assessment | None) -> Case:
    """Return the case with earlier scores of this text over these passages, if any: undo brings them back."""
    kept, current = case.earlier_assessments, case.assessment
    if before is not None and current is not None and current is not before:
        kept = (*kept, before)[-_MAX_KEPT_ASSESSMENTS:]
    if case.draft is not None and current is not None and not case.assessment_is_current:
        wanted = (case.draft.sha256, case.basis_sha256)
        known = next((item for item in reversed(kept) if (item.text_sha256, item.basis_sha256) == wanted), None)
        if known is not None:
            kept = (*(item for item in kept if item is not known), current)
            current = known
    if kept is case.earlier_assessments:
        return case
    return case.replace(assessment=current, earlier_assessments=kept)


def require_open(case: Case) -> None:
    """Refuse changes to a decided case: reopen it first."""
    if case.decision is not None:
        raise WorkflowError(
            "decided", f"This case is decided: {case.decision.kind.as_text}.", "Reopen it to change it."
        )


def require_still_open(case: Case) -> None:
    """Stop work on a case that was decided meanwhile: JobCancelled, because nothing went wrong."""
    if case.decision is not None:
        raise JobCancelled("The case was decided meanwhile.", "Reopen it to go on.")


def with_revision(case: Case) -> tuple[Draft, ...]:
    """Return the revisions with the current draft as the newest; only the last hundred are kept."""
    if case.draft is None:
        return case.revisions
    return (*case.revisions, case.draft)[-_MAX_KEPT_REVISIONS:]


def change_draft(case: Case, draft: Draft) -> dict[str, object]:
    """Return the change that makes a note the draft; none if it is, or if the draft is in a person's own words."""
    if case.draft is not None and (case.draft.engine == "person" or case.draft.sha256 == draft.sha256):
        return {}
    return {"draft": draft, "revisions": with_revision(case)}


@requires(Act.JUDGE)
def open_passage(case: Case, at: datetime, by: Person, evidence_id: str) -> Case:
    """Note that a person opened a passage. Opening it again changes nothing."""
    if require_passage(case, evidence_id).review_by(by.key) is not None:
        return case
    review = Review(reader=by.person, opened_at=at)
    return with_event(case, at, by, "passage opened", evidence_id, evidence=with_review(case, evidence_id, review))


@requires(Act.JUDGE)
def judge(case: Case, at: datetime, by: Person, evidence_id: str, verdict: Verdict | None, reason: str) -> Case:
    """Set, change or (None) take back a person's verdict on a passage that they opened.

    It is then the newest, which counts for the note; without it the newest of another reader counts.
    """
    item = require_passage(case, evidence_id)
    own = item.review_by(by.key)
    if own is None:
        raise WorkflowError("unopened", f"You have not opened {evidence_id}.", "Open and read it first.")
    reason = checked_reason(reason)
    if verdict is Verdict.REJECT and not reason:
        raise WorkflowError("reason needed", f"Say briefly why you reject {evidence_id}.")
    counts = verdict is None or own is item.working
    if (own.verdict, own.reason) == (verdict, reason) and counts:
        return case
    judged_at = at if verdict is not None else None
    review = own.replace(verdict=verdict, judged_at=judged_at, reason=reason)
    said = verdict.as_text if verdict else "no verdict"
    detail = f"{evidence_id}: {said}" + (f" ({reason})" if reason else "")
    return with_event(case, at, by, "passage judged", detail, evidence=with_review(case, evidence_id, review))


@requires(Act.EDIT)
def edit_draft(case: Case, at: datetime, by: Person, text: str, *, based_on: str | None) -> Case:
    """Replace the note's text; without words there is no note.

    `based_on` is the sha256 of the text that was edited (None: there was none).
    Refused when another person changed the text meanwhile, so that neither version is lost, and before a passage is in
    use: evidence comes before words.
    """
    if not case.used_evidence:
        raise WorkflowError(
            "evidence first", "You use no source yet.", "Open a source and choose “Use”, then write the note."
        )
    text = _check_note_text(text)
    current, wanted = case.draft.sha256 if case.draft else None, text_sha256(text) if text.strip() else None
    if current == wanted:
        return case
    if current != based_on:
        raise WorkflowError(
            "edited elsewhere",
            "The note changed in another tab, or someone else changed it.",
            "Compare the two texts and save one.",
        )
    used = tuple(item.id for item in case.used_evidence)
    draft = Draft(text=text, evidence_ids=used, engine="person", written_at=at) if wanted else None
    return with_event(case, at, by, "note edited", text, draft=draft, revisions=with_revision(case))


@requires(Act.EDIT)
def quote(case: Case, at: datetime, by: Person, quotation: Quotation) -> Case:
    """Put an offered sentence of a passage in use into the note, with its publisher and its link."""
    item = next((item for item in case.used_evidence if item.id == quotation.evidence_id), None)
    if item is None or quotation not in case.quotations:
        raise InputError("This sentence is no longer offered.", "Find sentences to quote again.")
    text, based_on = (case.draft.text, case.draft.sha256) if case.draft else ("", None)
    return edit_draft(case, at, by, with_quotation(text, item, quotation), based_on=based_on)


@requires(Act.EDIT)
def add_link(case: Case, at: datetime, by: Person, evidence_id: str) -> Case:
    """Put the link of a source in use at the end of the note; refused where X would not take the longer note."""
    item = next((item for item in case.used_evidence if item.id == evidence_id), None)
    if item is None or not item.source.url or case.draft is None:
        raise InputError(f"You do not use {evidence_id} any more, or it has no link.", "Use another source.")
    text = f"{case.draft.text.rstrip()} {linkable(item.source.url)}"
    if (over := note_length(text) - NOTE_LIMIT) > 0:
        much = plural(over, "1 character", "{n} characters")
        raise InputError("The link does not fit into the note.", f"Shorten the note by {much} first.")
    return edit_draft(case, at, by, text, based_on=case.draft.sha256)


@requires(Act.JUDGE, by_reviewers=True)
def compare_sentence(
    case: Case,
    at: datetime,
    by: Person,
    words: str,
    evidence_id: str,
    support: Support,
    *,
    doubts_settled: bool = False,
) -> Case:
    """Store what a person found when they compared a sentence of the note, by its words, with that passage.

    Refused while the scores are of another text, where a model judges correctness, and when the sentence now rests on
    another passage than the person saw. Of a submitted case only its author and moderators compare sentences.
    """
    draft, assessment = case.draft, case.assessment
    if draft is None or assessment is None or not case.assessment_is_current:
        raise WorkflowError("stale", "The note or its sources changed since it was scored.", "Score it again.")
    if not assessment.is_compared_by_person:
        raise WorkflowError("judged by a model", "The AI checks the sentences here.")
    places = ((item.words_in(draft.text), item.evidence_id) for item in assessment.sentences)
    number = next((number for number, place in enumerate(places) if place == (words, evidence_id)), None)
    if number is None:
        raise WorkflowError("edited elsewhere", "This sentence no longer belongs to that source.")
    sentence = assessment.sentences[number]
    settled = doubts_settled and support is Support.SUPPORTED
    own = own_check(case, by.key, words, evidence_id)
    is_counted = (sentence.support, sentence.doubts_settled, sentence.by) == (support.in_scores, settled, by.name)
    if is_counted and own is not None and own.support is support:
        return case
    return with_check(case, at, by, words, evidence_id, support, doubts=sentence.doubts, settled=settled)


def own_check(case: Case, key: str, words: str, evidence_id: str) -> SentenceCheck | None:
    """Return that reader's finding of a sentence, by its words, and the current words of a passage."""
    item = case.evidence_by_id(evidence_id)
    place = (words, evidence_id, text_sha256(item.passage.text) if item else "", key)
    known = reversed(case.sentence_checks)
    return next((it for it in known if (it.words, it.evidence_id, it.passage_sha256, it.by_key) == place), None)


def own_finding(case: Case, key: str, pair: Pair) -> Support | None:
    """Return what the reader with that `Person.key` found of a pair, one of `FINDINGS`; None before."""
    check = own_check(case, key, pair.words, pair.evidence_id)
    return check.support if check is not None and check.support in FINDINGS else None


def with_check(
    case: Case,
    at: datetime,
    by: Person,
    words: str,
    evidence_id: str,
    support: Support,
    *,
    doubts: tuple[str, ...] = (),
    settled: bool = False,
    **changes: object,
) -> Case:
    """Return the case with what a reader found of a sentence and a passage, instead of what they found before."""
    check = SentenceCheck(
        words=words,
        evidence_id=evidence_id,
        passage_sha256=text_sha256(require_passage(case, evidence_id).passage.text),
        support=support,
        doubts=doubts,
        doubts_settled=settled,
        by=by.name,
        by_key=by.key,
        at=at,
    )
    place = (words, evidence_id, by.key)
    others = (known for known in case.sentence_checks if (known.words, known.evidence_id, known.by_key) != place)
    detail = f"{evidence_id}: {support.as_text}{'; hints settled' if settled else ''}: “{words}”"
    checks = (*others, check)[-_MAX_KEPT_SENTENCE_CHECKS:]
    return with_event(case, at, by, "sentence compared", detail, sentence_checks=checks, **changes)


@requires(Act.EDIT)
def choose_candidate(case: Case, at: datetime, by: Person, sha256: str) -> Case:
    """Make the candidate of that text the draft; the replaced text stays in the revisions.

    By its text and not by its place: new candidates may have come since the person saw the list.
    """
    chosen = next((candidate for candidate in case.candidates if candidate.sha256 == sha256), None)
    return with_candidate(case, at, by, chosen)


def with_candidate(case: Case, at: datetime, by: Person, chosen: Draft | None) -> Case:
    """Return the case with that candidate as the draft; InputError for None: it was replaced meanwhile."""
    if chosen is None:
        raise InputError("This draft was replaced meanwhile.", "Choose one of the drafts shown now.")
    if case.draft is not None and case.draft.sha256 == chosen.sha256:
        return case
    return with_event(case, at, by, "candidate chosen", chosen.text, draft=chosen, revisions=with_revision(case))


@requires(Act.EDIT)
def undo_edit(case: Case, at: datetime, by: Person) -> Case:
    """Go back to the text before the last change."""
    if not case.revisions:
        raise WorkflowError("nothing to undo", "There is no earlier text.")
    earlier = case.revisions[-1]
    return with_event(case, at, by, "edit undone", earlier.text, draft=earlier, revisions=case.revisions[:-1])


@requires(Act.EDIT)
def set_classification(case: Case, at: datetime, by: Person, classification: Classification) -> Case:
    """Choose the kind of note that X's form asks first; tags of the other kind are removed."""
    if classification is case.classification:
        return case
    tags = tuple(tag for tag in case.tags if tag in tags_of(classification))
    return with_event(case, at, by, "classified", classification.value, classification=classification, tags=tags)


@requires(Act.JUDGE, by_reviewers=True)
def match_claim(case: Case, at: datetime, by: Person, check: str, match: ClaimMatch | None) -> Case:
    """Say whether a fact-check, by its link or title, checks the post's claim; None takes it back."""
    matches = {name: found for name, found in case.claim_matches.items() if name != check}
    matches |= {check: match} if match else {}
    found = match.value if match else ""
    event = Event(
        at=at,
        by=by.name,
        by_key=by.key,
        kind="claim matched",
        detail=f"{found or 'none'}: {check}",
        subject=check,
        result=found,
    )
    return add_event(case, event, {"claim_matches": matches})


@requires(Act.EDIT, by_reviewers=True)
def set_tags(case: Case, at: datetime, by: Person, tags: Sequence[str]) -> Case:
    """Tick exactly these tags (columns of X's data)."""
    allowed = tags_of(case.classification)
    unknown = [tag for tag in tags if tag not in allowed]
    if unknown:
        raise InputError(f"X has no tag “{unknown[0]}” for this kind of note.")
    ordered = tuple(tag for tag in allowed if tag in set(tags))
    if ordered == case.tags:
        return case
    return with_event(case, at, by, "tags chosen", ", ".join(ordered) or "none", tags=ordered)


@requires(Act.EDIT, by_reviewers=True)
def tick_tag(case: Case, at: datetime, by: Person, tag: str, *, ticked: bool) -> Case:
    """Tick or untick one tag and keep the others; see `set_tags`."""
    others = tuple(other for other in case.tags if other != tag)
    return set_tags(case, at, by, (*others, tag) if ticked else others)


@requires(Act.DECIDE)
def save_decision_text(case: Case, at: datetime, by: Person, field: str, text: str) -> Case:
    """Keep what a person is writing towards the decision; nothing is decided yet, so without an event."""
    require_open(case)
    text = checked_reason(text)
    if text == case.words_of(by.key, field):
        return case
    others = (item for item in case.typed_words if (item.by_key, item.field) != (by.key, field))
    words = (*others, TypedWords(by_key=by.key, field=field, text=text))
    return case.replace(typed_words=words, updated_at=at)


@requires(Act.REOPEN)
def reopen(case: Case, at: datetime, by: Person) -> Case:
    """Take back a decision; it stays in the audit trail."""
    if case.decision is None:
        raise WorkflowError("not decided", "This case is already open.")
    return with_event(case, at, by, "reopened", f"was {case.decision.kind.as_text}", decision=None)


@requires(Act.SHARE)
def set_shared(case: Case, at: datetime, by: Person, shared: bool) -> Case:
    """Share a case with everybody who may see any, or stop sharing it; also when it is decided."""
    if shared == case.shared:
        return case
    event = Event(at=at, by=by.name, by_key=by.key, kind="shared" if shared else "no longer shared")
    return case.replace(shared=shared, updated_at=at, events=(*case.events, event))


def use_own_engine(cases: Cases, case_id: str) -> Case:
    """Let a demonstration ask the engine in use instead of recorded answers, by people who may begin such cases."""
    cases.require(Act.BEGIN)

    def change(case: Case, by: Actor) -> Case:
        if not case.recorded_answers:
            return case
        return with_event(case, cases.now(), by, "recorded answers left", recorded_answers=False)

    return cases.update(Act.EDIT, case_id, change)


def checked_reason(reason: str) -> str:
    """Return the reason without white space around it; InputError when it is too long."""
    reason = reason.strip()
    if len(reason) > MAX_REASON_CHARACTERS:
        raise InputError(f"Keep the reason under {MAX_REASON_CHARACTERS:,} characters.")
    return reason


def _check_note_text(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\x00", "")
    if len(text) > MAX_NOTE_CHARACTERS:
        raise InputError(
            f"Too long for the note box: {len(text):,} characters, limit {MAX_NOTE_CHARACTERS:,}.",
            "A note has 280. Paste a source's text as a source instead.",
        )
    return text


def require_passage(case: Case, evidence_id: str) -> Evidence:
    """Return the passage of that id; InputError without one."""
    item = case.evidence_by_id(evidence_id)
    if item is None:
        raise InputError(f"This case has no source {evidence_id}.", "A new search may have replaced it.")
    return item


def with_review(case: Case, evidence_id: str, review: Review) -> tuple[Evidence, ...]:
    """Return the passages with that review as the last of its passage, instead of that reader's earlier one."""

    def reviews(item: Evidence) -> tuple[Review, ...]:
        return (*(other for other in item.reviews if other.reader.key != review.reader.key), review)

    return tuple(item.replace(reviews=reviews(item)) if item.id == evidence_id else item for item in case.evidence)


def archive_evidence(case: Case, at: datetime, why: str) -> tuple[EvidenceSet, ...]:
    """Return the earlier sets with the current one as the newest; `why` is what changes it. No set is kept twice."""
    if not case.evidence or (case.earlier_evidence and case.earlier_evidence[-1].evidence == case.evidence):
        return case.earlier_evidence
    return (*case.earlier_evidence, EvidenceSet(at=at, why=why, evidence=case.evidence))


@requires(Act.EDIT)
def restore_passage(case: Case, at: datetime, by: Person, evidence_id: str) -> Case:
    """Bring a removed passage back, under its own id and with the review it had."""
    item = next((item for item in case.taken_away if item.id == evidence_id), None)
    if item is None:
        raise InputError(f"{evidence_id} is not among the earlier sources.", "It may be back already.")
    evidence = (*case.evidence, with_cutoff_notice(item, case))
    why = f"{evidence_id} was brought back"
    return _with_evidence(case, at, by, "passage brought back", evidence_id, evidence, why)


@requires(Act.EDIT)
def restore_evidence_set(case: Case, at: datetime, by: Person, number: int) -> Case:
    """Make an earlier set (from 0, oldest first) the current one; what the note uses is kept too.

    A passage that is in both keeps its current review. The replaced set goes on record.
    """
    if not 0 <= number < len(case.earlier_evidence):
        raise InputError("There is no such earlier set of sources.")
    earlier = case.earlier_evidence[number].evidence
    now = {item.source.id: item for item in case.evidence}
    back = [now[item.source.id] if item.source.id in now else with_cutoff_notice(item, case) for item in earlier]
    there = {item.source.id for item in back}
    kept = [item for item in case.evidence if item.source.id not in there and is_used_by_note(case, item)]
    restored = [item.id for item in (*back, *kept)]
    if restored == [item.id for item in case.evidence]:
        raise WorkflowError("same evidence", "These sources are already here.")
    why = "an earlier set was brought back"
    return _with_evidence(case, at, by, "evidence brought back", ", ".join(restored), (*back, *kept), why)


def _with_evidence(
    case: Case, at: datetime, by: Person, kind: str, detail: str, evidence: Sequence[Evidence], why: str
) -> Case:
    """Return the case with other passages; the set before them goes on record with `why`."""
    return with_event(
        case,
        at,
        by,
        kind,
        detail,
        evidence=ranked(evidence),
        sources=with_sources(case, [item.source for item in evidence]),
        earlier_evidence=archive_evidence(case, at, why),
    )


def with_cutoff_notice(item: Evidence, case: Case) -> Evidence:
    """Return a person's passage, with a notice if its source is past the case's current cutoff."""
    return item.replace(source=item.source.kept_by_a_person(case.until))


def is_used_by_note(case: Case, item: Evidence) -> bool:
    """Return whether the note is made from this passage, or may be: it is in use, or the draft names it."""
    return item.used or (case.draft is not None and item.id in case.draft.evidence_ids)


def ranked(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Return the passages, numbered in their order from 1."""
    return tuple(item.replace(rank=rank) for rank, item in enumerate(evidence, start=1))


def with_sources(case: Case, added: Iterable[Source]) -> tuple[Source, ...]:
    """Return the case's sources and those added; one that was read replaces one that could not be."""
    sources = {source.id: source for source in case.sources}
    for source in added:
        known = sources.get(source.id)
        if known is None or known.outcome is not FetchOutcome.READ:
            sources[source.id] = source
    return tuple(sources.values())
