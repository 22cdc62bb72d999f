"""The claim that a model wrote down, and what it says of the passages, on the page."""

from __future__ import annotations

import pytest

from crowdnotes.cases import actions
from crowdnotes.domain import (
    AnswerKind,
    Basis,
    Case,
    Claim,
    ClaimKind,
    Draft,
    GateStatus,
    Mode,
    NoteWanted,
    PassageAnswer,
    Points,
    PrincipleName,
    PrincipleResult,
    SentenceSupport,
    Settlement,
    Span,
    Support,
    Verdict,
    WhyUnwanted,
    text_sha256,
)
from tests.fakes import make_evidence
from tests.pages.conftest import NOTE, Desk, read, texts

CLAIM = Claim(
    text="Vitamin C cures a cold",
    span=Span(start=0, end=22),
    statement="Vitamin C cures a cold within a day.",
    implies="Nobody needs a *doctor*.",
    settled_by="A trial of vitamin C.",
)


def _said(desk: Desk, *answers: AnswerKind, claim: Claim = CLAIM, missing: str = "") -> Case:
    """A case about which a model has said this: an answer for each passage."""
    case = desk.case()
    more = [make_evidence(number, f"Passage {number} speaks of colds.") for number in range(2, len(answers) + 1)]
    evidence = (*case.evidence, *more)
    found = tuple(
        PassageAnswer(
            evidence_id=item.id,
            passage_sha256=text_sha256(item.passage.text),
            answer=answer,
            points=Points.AGAINST if answer is AnswerKind.STATED else Points.NEITHER,
            span=Span(start=8, end=60) if item.id == "E1" and answer is not AnswerKind.NONE else None,
            tells=f"It tells of {item.id}.",
        )
        for item, answer in zip(evidence, answers, strict=True)
    )
    settlement = Settlement(passages=found, missing=missing, engine="llm:small")
    update = {"claims": (claim,), "evidence": evidence, "settlement": settlement}
    return desk.changed(case, **update)


def test_the_claim_stands_above_the_sources_with_what_would_settle_it_and_never_as_markup(desk: Desk) -> None:
    case = _said(desk, AnswerKind.STATED)
    at = read(desk.app(case), case)
    shown = texts(at)
    assert "**Claim:** Vitamin C cures a cold within a day." in shown
    assert "Where to look: A trial of vitamin C." in shown
    assert r"Nobody needs a \*doctor\*" in "".join(item.value for item in at.caption)
    assert "The AI says 1 of 1 sources contradicts this claim" in shown
    assert "Contradicts the claim]: It tells of E1." in shown


def test_sources_that_confirm_the_claim_are_counted_apart_and_other_claims_are_in_sight(desk: Desk) -> None:
    case = _said(desk, AnswerKind.STATED, AnswerKind.STATED, AnswerKind.NONE)
    assert case.settlement is not None
    first, second, third = case.settlement.passages
    found = (first, second.replace(points=Points.FOR), third)
    other = Claim(text="Doctors hide it", span=Span(start=0, end=15), statement="Doctors hide it.")
    case = desk.changed(case, claims=(CLAIM, other), settlement=case.settlement.replace(passages=found))
    at = desk.app(case)
    assert "The AI says 1 of 3 sources contradicts this claim, 1 confirms it" in texts(at)
    assert "Doctors hide it." in texts(at)


def test_where_no_passage_states_it_the_page_says_what_is_missing(desk: Desk) -> None:
    case = _said(desk, AnswerKind.NONE, AnswerKind.INFERRED, missing="A trial by name.")
    shown = texts(read(desk.app(case), case))
    assert "The AI says no source settles this claim; 1 helps to judge it" in shown
    assert "Where to look: A trial by name." in shown
    assert "No answer]: It tells of E1." in shown


def test_a_source_that_answers_another_claim_of_the_post_is_counted_as_that(desk: Desk) -> None:
    case = _said(desk, AnswerKind.STATED, AnswerKind.INFERRED)
    assert case.settlement is not None
    first, second = case.settlement.passages
    found = (first.replace(claim=2), second)
    case = desk.changed(case, settlement=case.settlement.replace(passages=found))
    assert "The AI says no source settles this claim; 1 settles another claim of the post" in texts(desk.app(case))


@pytest.mark.parametrize("named", [True, False])
def test_what_a_source_says_of_another_claim_has_no_tick_and_names_the_claim(desk: Desk, named: bool) -> None:
    case = _said(desk, AnswerKind.STATED)
    assert case.settlement is not None
    found = (case.settlement.passages[0].replace(claim=2),)
    other = Claim(text="Doctors hide it", span=Span(start=0, end=15))
    claims = (CLAIM, other) if named else (CLAIM,)
    case = desk.changed(case, claims=claims, settlement=case.settlement.replace(passages=found))
    shown = texts(read(desk.app(case), case))
    which = "“Doctors hide it”" if named else "in the post"
    assert f":gray[:material/arrow_right: On another claim {which}]: It tells of E1." in shown
    assert "Contradicts" not in shown


def test_the_passages_that_state_it_stand_first(desk: Desk) -> None:
    case = _said(desk, AnswerKind.NONE, AnswerKind.INFERRED, AnswerKind.STATED)
    at = desk.app(case)
    rows = [str(item.key)[-2:] for item in at.button if str(item.key).startswith("read-")]
    assert rows == ["E3", "E2", "E1"]
    for name in rows:  # and so does the reader walk
        at.button(key="next-source").click().run()
        assert f"It tells of {name}." in texts(at)


def test_the_words_that_answer_are_the_ones_that_are_marked(desk: Desk) -> None:
    case = _said(desk, AnswerKind.STATED)
    at = read(desk.app(case), case)
    assert "Highlighted by the AI: the words that settle the claim" in texts(at)


def test_a_post_that_claims_nothing_to_check_is_named(desk: Desk) -> None:
    satire = CLAIM.replace(kind=ClaimKind.SATIRE)
    assert "The AI reads this post as satire." in texts(desk.app(_said(desk, AnswerKind.NONE, claim=satire)))


def test_why_raters_may_want_no_note_is_one_sentence_with_a_way_to_write_it_anyway(desk: Desk) -> None:
    doubt = NoteWanted(chance=0.2, why_not=WhyUnwanted.SIDE_MATTER, reason="Only the *year* is wrong.")
    case = desk.changed(_said(desk, AnswerKind.STATED), wanted=doubt)
    at = desk.app(case)
    assert "Raters may not want a note: it looks like a mistake beside the point." in texts(at)
    assert any(r"Only the \*year\* is wrong" in item.value for item in at.info), [item.value for item in at.info]
    at.button(key="write-anyway").click().run()
    assert "Raters may not want" not in texts(at)
    assert desk.newest(case).anyway


def test_where_nothing_was_searched_for_that_doubt_the_page_says_so_and_no_more_of_it(desk: Desk) -> None:
    doubt = NoteWanted(chance=0.2, why_not=WhyUnwanted.JOKE)
    bare = {"evidence": (), "sources": (), "hits": (), "settlement": None, "mode": Mode.AUTOMATION, "libraries": ("x",)}
    shown = texts(desk.app(desk.changed(_said(desk, AnswerKind.NONE), wanted=doubt, **bare)))
    assert "Nothing was searched yet." in shown
    assert "We found nothing." not in shown
    assert "Not searched yet." not in shown


def test_before_approval_the_page_says_that_raters_may_not_want_this_note(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = PrincipleResult(principle=PrincipleName.WANTED, status=GateStatus.FAIL, reason="Two corrections in one.")
    monkeypatch.setattr(desk.engine, "principles", lambda *_: (wanted,))
    case = desk.scored()
    assert "Raters may not want this note: Two corrections in one." in texts(desk.app(case))


def test_a_revised_note_tells_what_changed_an_inferred_sentence_is_marked(desk: Desk) -> None:
    case = desk.inspected()
    span = Span(start=0, end=NOTE.index(" https"))
    sentence = SentenceSupport(span=span, support=Support.UNCHECKED, score=0.9, evidence_id="E1", basis=Basis.INFERRED)
    made = {"evidence_ids": ("E1",), "engine": "llm:small", "written_at": case.updated_at}
    revised = Draft.model_validate({**made, "text": NOTE, "sentences": (sentence,), "changes": "Plainer words."})
    other = Draft.model_validate({**made, "text": "Trials found none.", "objections": ("“none”: of what?",)})
    update = {"candidates": (revised, other), "draft": revised}
    desk.changed(case, **update)
    shown = texts(desk.app(case))
    assert "Improved: Plainer words." in shown
    assert "badge[the source suggests it]" in shown
    desk.workspace.cases.apply(case.id, actions.choose_candidate, other.sha256)
    assert "“none”: of what?" in texts(desk.app(case))


def test_a_note_whose_sources_only_let_its_answer_be_concluded_is_marked_above_it_and_among_the_candidates(
    desk: Desk,
) -> None:
    def shown(answer: AnswerKind) -> str:
        case = _said(desk, answer)
        desk.workspace.cases.apply(case.id, actions.open_passage, "E1")
        desk.workspace.cases.apply(case.id, actions.judge, "E1", Verdict.USE, "")
        sentence = SentenceSupport(span=Span(start=0, end=20), support=Support.UNCHECKED, score=0.9, evidence_id="E1")
        sentence = sentence.replace(basis=Basis.STATED)  # it says what the source says of something else
        made = {"evidence_ids": ("E1",), "engine": "llm:small", "written_at": case.updated_at}
        note, other = (
            Draft.model_validate({**made, "text": text, "sentences": (sentence,)})
            for text in (NOTE, "Trials found that it does not.")
        )
        desk.changed(desk.workspace.cases.get(case.id), candidates=(note, other), draft=note)
        return texts(desk.app(case))

    inferred, stated = shown(AnswerKind.INFERRED), shown(AnswerKind.STATED)
    assert "No source of this note says outright" in inferred
    assert ", which suggests it" in inferred
    assert "No source of this note" not in stated
    assert "suggests it" not in stated
