"""What a person may do to a case that makes one note from many, as pure functions (see `actions`).

The notes and which of them are used, the candidate that becomes the draft, and the note as it was posted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import zip_longest
from typing import cast

from crowdnotes.bridging.thresholds import THRESHOLDS
from crowdnotes.cases import intake
from crowdnotes.cases.actions import reopen, with_candidate, with_event
from crowdnotes.cases.cases import Cases
from crowdnotes.cases.intake import search_scope_of, usable_urls
from crowdnotes.cases.permissions import require, requires
from crowdnotes.domain import (
    Act,
    Actor,
    Candidate,
    Case,
    DecisionKind,
    Draft,
    Event,
    ExistingNote,
    Mode,
    Person,
    PostedNote,
    SentenceSupport,
    Suggestion,
    SupernoteRound,
    SupernoteWork,
    Support,
)
from crowdnotes.errors import InputError, WorkflowError
from crowdnotes.notes import existing_notes, ranking
from crowdnotes.notes.existing_notes import links_of, renumbered, worth_replacing
from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.urls import canonical_url

MAX_CANDIDATES = 300  # candidates of one round; with more a case opens slowly
_MAX_KEPT_ROUNDS = 20


def require_work(case: Case) -> SupernoteWork:
    """Return the case's supernote; WorkflowError of a case that was not begun with notes."""
    if case.supernote is None:
        raise WorkflowError("no notes", "This case is not a supernote.", "Begin a supernote.")
    return case.supernote


# --- the notes ---


def links_of_used(work: SupernoteWork) -> tuple[str, ...]:
    """Return the readable links of the used notes, as many as a case takes: each note's first before any second."""
    of_each = [links_of(note) for note in work.used]
    taken, _ = usable_urls([url for row in zip_longest(*of_each) for url in row if url])
    return taken


def create_supernote(
    cases: Cases,
    text: str,
    *,
    notes: Sequence[ExistingNote],
    url: str | None = None,
    wanted: int | None = None,
    until: date | None = None,
) -> Case:
    """Store a new case that makes one note from these; the job "supernote" does it.

    A post whose `url` is known needs no words. `wanted` candidates, or as many as the setting says. Raises InputError
    as `create_case` does, without a note, and for an impossible number of candidates.
    """
    at, settings, by = cases.now(), cases.settings, cases.require(Act.BEGIN)
    case = Case(
        id=intake.new_case_id(),
        created_at=at,
        updated_at=at,
        owner=by.person,
        mode=Mode.AUGMENTATION,
        post=intake.checked_post(text, url, has_notes=True),
        until=until,
        supernote=SupernoteWork(),
        events=(Event(at=at, by=by.name, by_key=by.key, kind="created", detail="from notes"),),
    )
    case = set_notes(case, at, by, notes)
    return cases.add(set_candidate_count(case, at, by, settings.supernote.candidates if wanted is None else wanted))


def duplicate_case(cases: Cases, case_id: str) -> Case:
    """Create a case with the same post, notes and places to search."""
    case = cases.get(case_id, only_counted=True)  # copying a case shows none of its findings
    post, work = case.post, case.supernote
    if work is not None:
        return create_supernote(cases, post.text, notes=work.notes, url=post.url, wanted=work.wanted, until=case.until)
    pictures = [
        intake.Attachment(cases.image(case_id, image.sha256), image.name, image.text, image.shows)
        for image in post.images
    ]
    return intake.create_case(
        cases, post.text, mode=case.mode, url=post.url, urls=case.urls, libraries=case.libraries,
        services=case.services, read_through=case.read_through, until=case.until, attached=pictures,
        recorded_answers=case.recorded_answers, context=post.context,
    )  # fmt: skip


@requires(Act.EDIT)
def set_notes(case: Case, at: datetime, by: Person, notes: Sequence[ExistingNote]) -> Case:
    """Replace the notes; the pages that they link to are read next.

    InputError without one.
    """
    before = require_work(case)
    if not notes:
        raise InputError("There is no note yet.", "Paste at least one note.")
    # An id is never used for another note.
    ever = {note.id: note for made in before.rounds for note in made.notes} | {note.id: note for note in before.notes}
    numbered = renumbered(tuple(ever.values()), notes)
    return _replace_notes(case, at, by, numbered, "notes set", f"{len(numbered)} notes")


@requires(Act.EDIT)
def choose_note(case: Case, at: datetime, by: Person, note_id: str, chosen: bool | None) -> Case:
    """Use a note, leave it out, or (None) go by the rule of eligibility again."""
    work = require_work(case)
    if all(note.id != note_id for note in work.notes):
        raise InputError(f"There is no note {note_id}.", "It may have been replaced meanwhile.")
    notes = tuple(note.replace(chosen=chosen) if note.id == note_id else note for note in work.notes)
    says = {True: "used", False: "left out", None: "by the rule"}[chosen]
    return _replace_notes(case, at, by, notes, "note chosen", f"{note_id}: {says}")


def _replace_notes(
    case: Case, at: datetime, by: Person, notes: tuple[ExistingNote, ...], kind: str, detail: str
) -> Case:
    before = require_work(case)
    if notes == before.notes:
        return case
    work = before.replace(notes=notes)
    changed = with_event(case, at, by, kind, detail, supernote=work)
    theirs = set(links_of_used(before))
    own = [url for url in case.urls if url not in theirs]
    urls, _ = usable_urls([*own, *links_of_used(work)])
    if set(urls) == set(case.urls):
        return changed
    places = search_scope_of(changed)
    wanted = replace(places, urls=urls, own_words="")
    return intake.change_sources(changed, at, by, wanted)


@requires(Act.EDIT)
def set_candidate_count(case: Case, at: datetime, by: Person, wanted: int) -> Case:
    """Set how many candidates the next round makes. InputError outside 1 to 300."""
    work = require_work(case)
    if not 1 <= wanted <= MAX_CANDIDATES:
        raise InputError(f"We cannot make {wanted} drafts.", f"Choose 1 to {MAX_CANDIDATES}.")
    if wanted == work.wanted:
        return case
    changed = work.replace(wanted=wanted)
    return with_event(case, at, by, "candidates wanted", str(wanted), supernote=changed)


def update_notes(cases: Cases, case_id: str, notes: Sequence[ExistingNote]) -> Case:
    """Add newer notes and ratings, see `add_newer_notes`; refused to people who may not reopen a decided case."""

    def change(case: Case, by: Actor) -> Case:
        if case.decision is not None:
            require(by, Act.REOPEN, case)
        return add_newer_notes(case, cases.now(), by, notes)

    return cases.update(Act.EDIT, case_id, change)


def add_newer_notes(case: Case, at: datetime, by: Person, notes: Sequence[ExistingNote]) -> Case:
    """Add new notes or ratings; an approved case, whose supernote may be posted, is reopened for them.

    The approved text counts as posted, unless the posted note is known.
    """
    work, decision = require_work(case), case.decision
    if decision is not None:
        case = reopen(case, at, by)
        if decision.kind is DecisionKind.APPROVED and work.posted is None and case.draft is not None:
            case = set_posted(case, at, by, PostedNote(text=case.draft.text, at=decision.at))
    return set_notes(case, at, by, notes)


@requires(Act.EDIT)
def set_posted(case: Case, at: datetime, by: Person, posted: PostedNote | None) -> Case:
    """Set the posted supernote and its ratings; None where it is not posted.

    InputError without its words.
    """
    work = require_work(case)
    if posted is not None and not posted.text.strip():
        raise InputError("The posted note's text is missing.", "Paste it from X.")
    if posted == work.posted:
        return case
    changed = work.replace(posted=posted)
    status = posted.status.value if posted and posted.status else "status not known"
    said = f"{status}: {posted.text}" if posted else "not posted"
    return with_event(case, at, by, "posted note told", said, supernote=changed)


def no_note_needed(case: Case) -> str:
    """Return why the post needs no note, see `existing_notes.no_note_needed`; "" of a case without notes."""
    return existing_notes.no_note_needed(case.supernote.notes) if case.supernote else ""


def remarks_on_notes(case: Case) -> tuple[str, ...]:
    """Return what a person should know of the notes, see `existing_notes.remarks`."""
    return existing_notes.remarks(case.supernote.notes) if case.supernote else ()


def random_candidate(case: Case, seed: int = 0) -> Candidate | None:
    """Return any candidate of the newest round that passed the filters, but the winner: for the ablation."""
    newest = require_work(case).newest
    return ranking.random_candidate(newest, seed) if newest else None


@dataclass(frozen=True, slots=True)
class SupernoteUpdate:
    """What newer notes and ratings mean, as sentences, each "" where nothing is known.

    `changes` since the newest round; whether a `better` note was found than the posted one, or than the choice of the
    round before; whether it is `crossing` the line at which X shows a note; whether to `replace` the posted note, and
    `why` (None and "" where nothing is posted, None with a reason where a person has to decide).
    """

    changes: str = ""
    better: str = ""
    crossing: str = ""
    replace: bool | None = None
    why: str = ""


def rate_source_notes(made: SupernoteRound, candidate: Candidate) -> float | None:
    """Return the mean rating (0 to 1) of a candidate's notes, where it decided its place among equals; else None."""
    if len(made.tied) < 2 or candidate not in made.tied or not any(note.ratings.count for note in made.notes):
        return None
    return ranking.rate_source_notes(candidate, made.notes)


def supernote_update(case: Case) -> SupernoteUpdate:
    """Return what newer notes mean for a case whose candidates were made."""
    work = require_work(case)
    newest = work.newest
    if newest is None:
        return SupernoteUpdate()
    replace, why = worth_replacing(work.posted, newest) if work.posted else (None, "")
    return SupernoteUpdate(
        changes=existing_notes.changes(newest.notes, work.notes).as_text,
        better=_compare_with_earlier_winner(work, newest),
        crossing=_describe_score_against_line(newest, THRESHOLDS.helpful_intercept),
        replace=replace,
        why=why,
    )


def _compare_with_earlier_winner(work: SupernoteWork, newest: SupernoteRound) -> str:
    earlier = work.rounds[-2].winning if len(work.rounds) > 1 else None
    before, name = (work.posted, "the posted note") if work.posted else (earlier, "the earlier winner")
    winner = newest.winning
    if before is None:
        return ""
    if winner is None:
        return "No draft passed the checks, so there is no better note."
    if winner.text == before.text:
        return f"No gain: {name} wins again."
    known = existing_notes.score_of_posted(before.text, newest)
    if known is None or winner.score is None:
        return f"The winner is not {name}. We cannot say which is better: simulated readers have not rated both."
    scores = f"{winner.score.intercept:.2f} and {known.intercept:.2f} in the simulation"
    if winner.score.intercept > known.intercept:
        return f"Better than {name}: {scores}."
    return f"No gain over {name}: {scores}."


def _describe_score_against_line(newest: SupernoteRound, line: float) -> str:
    crosses, score = existing_notes.crosses(newest, line), newest.winning.score if newest.winning else None
    if crosses is None or score is None:
        return ""
    if crosses:
        return f"Simulated score {score.intercept:.2f}, enough for X ({line:.2f} needed)."
    return f"Simulated score {score.intercept:.2f}, too low for X ({line:.2f} needed)."


# --- rounds and candidates ---


def with_round(work: SupernoteWork, made: SupernoteRound) -> SupernoteWork:
    """Return the supernote with this round as the newest, replacing its earlier state; earlier rounds keep only the
    winner.
    """
    others = [trimmed(other) for other in work.rounds if other.number != made.number]
    return work.replace(rounds=(*others, made)[-_MAX_KEPT_ROUNDS:])


def trimmed(made: SupernoteRound) -> SupernoteRound:
    """Return an earlier round with its notes and its winner alone, so that a case does not grow with each."""
    winner = (made.winning,) if made.winning else ()
    return made.replace(candidates=winner, lost=(), links=(), existing={}, asked=())


def merged(newest: Case, worked_on: Case, changes: Mapping[str, object]) -> Mapping[str, object]:
    """Return a stage's result with what a person did meanwhile: other notes, suggestions and answers.

    Raises WorkflowError when the note that suggestions were answered on has changed.
    """
    result = dict(changes)
    made = cast("SupernoteWork | None", result.get("supernote"))
    if made is not None and made.newest is not None and newest.supernote is not None:
        result["supernote"] = with_round(newest.supernote, made.newest)
    if "suggestions" in result:
        if newest.draft != worked_on.draft:
            raise WorkflowError("note changed", "The note changed meanwhile.", "Start it again.")
        answers = {item.id: item for item in cast("tuple[Suggestion, ...]", result["suggestions"])}
        result["suggestions"] = tuple(answers.get(item.id, item) if item.waits else item for item in newest.suggestions)
    return result


def draft_of(case: Case, candidate: Candidate, at: datetime) -> Draft:
    """Return a candidate as a draft, which rests on passages that support it and on those of its links."""
    pages = {canonical_url(url.url, papers=False) for url in find_urls(candidate.text)}
    by_page = ((item.id, item.source.url) for item in case.evidence if item.source.url)
    linked = (name for name, url in by_page if canonical_url(url, papers=False) in pages)
    carried = (name for name in candidate.evidence_ids if case.evidence_by_id(name) is not None)
    sentences = tuple(
        SentenceSupport(
            span=sentence.span,
            support=Support.UNCHECKED,
            score=0.0,
            evidence_id=sentence.carriers[0].evidence_id,
            carrier=sentence.carriers[0].span,
        )
        for sentence in candidate.sentences
        if sentence.carriers and case.evidence_by_id(sentence.carriers[0].evidence_id) is not None
    )
    return Draft(
        text=candidate.text,
        evidence_ids=tuple(dict.fromkeys((*carried, *linked))),
        sentences=sentences,
        engine=candidate.engine,
        prompt_version=candidate.prompt_version,
        written_at=at,
        objections=candidate.objections,
        changes=candidate.revised,
    )


@requires(Act.EDIT)
def use_candidate(case: Case, at: datetime, by: Person, sha256: str) -> Case:
    """Make any candidate of the newest round the draft; the replaced text stays in the revisions."""
    newest = require_work(case).newest
    found = next((item for item in newest.candidates if item.sha256 == sha256), None) if newest else None
    return with_candidate(case, at, by, draft_of(case, found, at) if found else None)
