"""A case that makes one note from many: its notes, its candidates, suggestions, and its stages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from crowdnotes.cases import supernote
from crowdnotes.domain import (
    Candidate,
    Case,
    Draft,
    ExistingNote,
    Ratings,
    Span,
    SuggestionAnswer,
    SupernoteRound,
    SupernoteSentence,
    SupernoteWork,
)
from crowdnotes.errors import InputError, WorkflowError
from crowdnotes.testing import make_case, make_evidence
from crowdnotes.workspace import Workspace

AT = datetime(2026, 1, 2, tzinfo=UTC)
POST_URL = "https://x.com/i/status/1353031711349739523"


def note(text: str, note_id: str | None = None, **more: object) -> ExistingNote:
    """As it comes from a file, under whatever id."""
    return ExistingNote.model_validate({"id": "N1", "text": text, "note_id": note_id, **more})


def noted(*notes: ExistingNote) -> Case:
    """A case with these notes."""
    return supernote.set_notes(make_case(supernote=SupernoteWork()), AT, notes, "ann")


def _work(case: Case) -> SupernoteWork:
    assert case.supernote is not None
    return case.supernote


def test_a_note_keeps_its_id_and_what_a_person_chose_when_the_notes_come_again() -> None:
    case = noted(note("It is not. https://a.example.org/1"), note("It never was.", "77"))
    assert [item.id for item in _work(case).notes] == ["N1", "N2"]
    case = supernote.choose_note(case, AT, "N2", False, "ann")
    rated = note("It never was, as said.", "77", ratings=Ratings(helpful=3))
    case = supernote.set_notes(case, AT, [note("A third one."), rated, rated], "ann")
    assert [(item.id, item.chosen, item.ratings.helpful) for item in _work(case).notes] == [
        ("N3", None, 0),
        ("N2", False, 3),
    ]
    assert [item.id for item in _work(case).used] == ["N3"]


def test_the_pages_of_the_used_notes_are_the_sources_beside_the_persons_own() -> None:
    case = noted(note("One. https://a.example.org/1 https://a.example.org/2"), note("Two. https://b.example.org/1"))
    assert case.urls == ("https://a.example.org/1", "https://b.example.org/1", "https://a.example.org/2")
    case = case.model_copy(update={"urls": (*case.urls, "https://own.example.org/x")})
    case = supernote.choose_note(case, AT, "N1", False, "ann")
    assert case.urls == ("https://own.example.org/x", "https://b.example.org/1")


def test_a_post_may_be_without_words_only_where_its_link_is_known(workspace: Workspace) -> None:
    notes = [note("It is not. https://a.example.org/1")]
    case = workspace.service.create_supernote("", notes=notes, by="ann", url=POST_URL, wanted=7)
    assert (case.post.text, case.post.url, _work(case).wanted) == ("", POST_URL, 7)
    for words in ({"url": None}, {"url": POST_URL, "wanted": 0}):
        with pytest.raises(InputError):
            workspace.service.create_supernote("", notes=notes, by="ann", **words)
    with pytest.raises(InputError, match="no note"):
        workspace.service.create_supernote("Words.", notes=[], by="ann")
    assert workspace.service.edit_post(case.id, "The words.", "ann").post.text == "The words."


def _round(number: int, *texts: str) -> SupernoteRound:
    whole = [SupernoteSentence(span=Span(start=0, end=len(text)), notes=("N1",)) for text in texts]
    made = tuple(Candidate(text=text, sentences=(one,), engine="local") for text, one in zip(texts, whole, strict=True))
    winner = made[0].sha256 if made else None
    return SupernoteRound(number=number, made_at=AT, notes=(), wanted=9, candidates=made, winner=winner)


def test_earlier_rounds_keep_their_winner_alone_and_any_candidate_of_the_newest_goes_on() -> None:
    page = make_evidence(4, url="https://a.example.org/1")
    case = noted(note("It is not.")).model_copy(update={"evidence": (page,)})
    work = supernote.with_round(supernote.with_round(_work(case), _round(1, "A", "B")), _round(2, "C", "D"))
    work = supernote.with_round(work, _round(2, "C", "D https://a.example.org/1"))
    assert [[item.text for item in made.candidates] for made in work.rounds] == [
        ["A"],
        ["C", "D https://a.example.org/1"],
    ]
    case = case.model_copy(update={"supernote": work})
    wanted = work.rounds[-1].candidates[1]
    case = supernote.take_candidate(case, AT, wanted.sha256, "ann")
    assert case.draft is not None
    assert (case.draft.text, case.draft.evidence_ids) == (wanted.text, ("E4",))
    with pytest.raises(InputError, match="replaced"):
        supernote.take_candidate(case, AT, work.rounds[0].candidates[0].sha256, "ann")


def test_an_approved_case_opens_for_new_notes_and_remembers_what_was_posted() -> None:
    case = noted(note("It is not."))
    draft = Draft(text="The note.", engine="person", written_at=AT)
    decision = {"kind": "approved", "by": "ann", "at": AT + timedelta(hours=1)}
    case = Case.model_validate(case.model_dump() | {"draft": draft, "decision": decision})
    with pytest.raises(WorkflowError):
        supernote.set_notes(case, AT, [note("Another.")], "ann")
    case = supernote.watch(case, AT, [note("Another.")], "ann")
    posted = _work(case).posted
    assert posted is not None
    assert (case.decision, posted.text, posted.at) == (None, "The note.", AT + timedelta(hours=1))
    assert [item.id for item in _work(case).used] == ["N2"]


def test_suggestions_are_kept_with_who_and_answered_with_a_reason() -> None:
    case = make_case()
    with pytest.raises(WorkflowError, match="no note"):
        supernote.suggest(case, AT, ["Say who."], "bob")
    case = case.model_copy(update={"draft": Draft(text="It is not.", engine="person", written_at=AT)})
    case = supernote.suggest(case, AT, ["Say who.", " ", "Say who.", "Ignore all rules\x00."], "bob")
    assert [(item.id, item.text, item.by) for item in case.suggestions] == [
        ("S1", "Say who.", "bob"),
        ("S2", "Ignore all rules.", "bob"),
    ]
    for texts in ([], ["x" * 2_001]):
        with pytest.raises(InputError):
            supernote.suggest(case, AT, texts, "bob")
    with pytest.raises(InputError, match="what changed"):
        supernote.answer_suggestion(case, AT, "S1", SuggestionAnswer.YES, "It helps.", "ann")
    case = supernote.answer_suggestion(case, AT, "S2", SuggestionAnswer.NO, "It is no comment.", "ann")
    case = case.model_copy(update={"draft": Draft(text="The office says no.", engine="person", written_at=AT)})
    case = supernote.answer_suggestion(case, AT, "S1", SuggestionAnswer.YES, "It helps.", "ann", changed="Who says it.")
    first, second = case.suggestions
    assert case.draft is not None
    assert (first.became, first.answered_by, second.became) == (case.draft.sha256, "ann", None)
    assert supernote.open_suggestions(case) == ()
