"""What a person may do to a case, and what is refused."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.cases import actions
from crowdnotes.cases.approval import decide
from crowdnotes.cases.intake import change_post
from crowdnotes.domain import (
    AFTER_CUTOFF,
    Assessment,
    Case,
    Classification,
    Decision,
    DecisionKind,
    Draft,
    EvidenceSet,
    GateName,
    GateResult,
    GateStatus,
    Post,
    Quotation,
    Span,
    Support,
    Verdict,
    text_sha256,
)
from crowdnotes.errors import InputError, WorkflowError
from crowdnotes.notes.gates import assess
from tests.fakes import ScriptedEngine, actor, brief_of, make_case, make_evidence

AT = datetime(2026, 1, 2, tzinfo=UTC)
CROWDNOTES = actor("CrowdNotes")
ANN = actor()
BOB = actor("bob")


def _used() -> Case:
    return make_case(evidence=(make_evidence(1, published=AT.date(), opened_at=AT, verdict=Verdict.USE),))


def _edited(case: Case, text: str, based_on: str | None = None) -> Case:
    return actions.edit_draft(case, AT, ANN, text, based_on=text_sha256(based_on) if based_on else None)


def _refused(rule: str) -> pytest.RaisesExc[WorkflowError]:
    return pytest.RaisesExc(WorkflowError, check=lambda error: error.rule == rule)


def test_a_passage_cannot_be_judged_before_it_is_opened() -> None:
    case = make_case(evidence=(make_evidence(1),))
    with _refused("unopened"):
        actions.judge(case, AT, ANN, "E1", Verdict.USE, "")
    opened = actions.open_passage(case, AT, ANN, "E1")
    judged = actions.judge(opened, AT, ANN, "E1", Verdict.USE, "")
    assert [item.id for item in judged.used_evidence] == ["E1"]


def test_rejecting_a_passage_takes_a_reason() -> None:
    case = make_case(evidence=(make_evidence(1, opened_at=AT),))
    with _refused("reason needed"):
        actions.judge(case, AT, ANN, "E1", Verdict.REJECT, "  ")
    assert actions.judge(case, AT, ANN, "E1", Verdict.REJECT, "off topic").used_evidence == ()


def test_words_come_after_evidence_and_a_note_the_size_of_an_article_is_refused() -> None:
    with _refused("evidence first"):
        _edited(make_case(), "A note.")
    with pytest.raises(InputError, match="characters"):
        _edited(_used(), "x" * 100_000)


def test_an_edit_keeps_the_earlier_text_and_can_be_undone() -> None:
    first = _edited(_used(), "One.")
    back = actions.undo_edit(_edited(first, "Two.", "One."), AT, ANN)
    assert back.draft == first.draft
    with _refused("nothing to undo"):
        actions.undo_edit(back, AT, ANN)


def _scored(case: Case) -> Case:
    assert case.draft is not None
    gates = tuple(GateResult(gate=gate, status=GateStatus.PASS, reason=case.draft.text) for gate in GateName)
    of = {"text_sha256": case.draft.sha256, "basis_sha256": case.basis_sha256, "engine": "local", "assessed_at": AT}
    assessment = Assessment.model_validate({**of, "gates": gates, "principles": (), "sentences": (), "lint": ()})
    return actions.with_event(case, AT, CROWDNOTES, "stage assess", assessment=assessment)


def test_words_that_were_scored_before_have_their_scores_again() -> None:
    first = _scored(_edited(_used(), "One."))
    second = _edited(first, "Two.", "One.")
    assert not second.assessment_is_current
    back = actions.undo_edit(_scored(second), AT, ANN)
    assert back.assessment_is_current
    assert back.assessment == first.assessment
    unused = actions.judge(back, AT, ANN, "E1", None, "")
    assert not unused.assessment_is_current
    assert actions.judge(unused, AT, ANN, "E1", Verdict.USE, "").assessment_is_current


def test_scores_are_not_those_of_another_post() -> None:
    twice = _scored(_edited(_scored(_edited(_used(), "One.")), "Two.", "One."))
    changed = change_post(twice, AT, ANN, Post(text="Another claim."))
    assert (changed.assessment, changed.earlier_assessments) == (None, ())


def test_an_edit_of_a_text_that_changed_meanwhile_is_refused_and_loses_nothing() -> None:
    with _refused("edited elsewhere"):
        _edited(_edited(_used(), "One."), "Mine.")


def test_words_towards_the_decision_are_kept_by_field_until_they_are_emptied_or_it_is_made() -> None:
    case = actions.save_decision_text(_used(), AT, ANN, "word", " A first thought. ")
    case = actions.save_decision_text(case, AT, ANN, "relevance 1", "It fits.")
    assert case.words_of(ANN.key, "word") == "A first thought."
    assert case.words_of(ANN.key, "relevance 1") == "It fits."
    assert case.words_of("somebody else", "word") == ""
    assert case.events == _used().events
    assert actions.save_decision_text(case, AT, ANN, "word", "").words_of(ANN.key, "word") == ""
    with _refused("decided"):
        actions.save_decision_text(decide(case, AT, ANN, DecisionKind.REJECTED), AT, ANN, "word", "Late.")


def test_choosing_a_candidate_keeps_what_it_replaces_and_one_that_was_replaced_is_not_mistaken_for_another() -> None:
    gone, candidate = (Draft(text=text, engine="local", written_at=AT) for text in ("Gone.", "Candidate."))
    case = _edited(_used(), "Mine.").replace(candidates=(candidate,))
    chosen = actions.choose_candidate(case, AT, ANN, candidate.sha256)
    assert chosen.draft == candidate
    assert [draft.text for draft in chosen.revisions] == ["Mine."]
    with pytest.raises(InputError, match="replaced meanwhile"):
        actions.choose_candidate(case, AT, ANN, gone.sha256)


def test_each_reader_has_a_review_of_their_own_and_the_newest_verdict_counts() -> None:
    case = make_case(evidence=(make_evidence(1, opened_at=AT, verdict=Verdict.USE),))
    with _refused("unopened"):
        actions.judge(case, AT, BOB, "E1", Verdict.USE, "")
    case = actions.open_passage(case, AT, BOB, "E1")
    assert case.used_evidence == case.evidence, "to open it is not to judge it"
    case = actions.judge(case, AT, BOB, "E1", Verdict.REJECT, "off topic")
    [item] = case.evidence
    assert [(review.reader.name, review.verdict) for review in item.reviews] == [
        ("ann", Verdict.USE),
        ("bob", Verdict.REJECT),
    ]
    assert (item.verdict, item.used) == (Verdict.REJECT, False)
    again = actions.judge(case, AT, ANN, "E1", Verdict.USE, "")
    assert again.used_evidence == again.evidence, "the same verdict, given again, is the newest"
    assert actions.judge(again, AT, ANN, "E1", Verdict.USE, "") is again
    back = actions.judge(again, AT, ANN, "E1", None, "")
    assert back.evidence[0].verdict is Verdict.REJECT, "where one is taken back that of the other counts"
    assert [event.by for event in back.events] == ["bob", "bob", "ann", "ann"]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([*Verdict, None])), max_size=12))
def test_whatever_readers_choose_the_newest_verdict_that_stands_counts(chosen: list[tuple[str, Verdict]]) -> None:
    case, standing = make_case(evidence=(make_evidence(1),)), dict[str, Verdict | None]()
    for name, verdict in chosen:
        case = actions.open_passage(case, AT, actor(name), "E1")
        case = actions.judge(case, AT, actor(name), "E1", verdict, "why" if verdict else "")
        standing = {other: said for other, said in standing.items() if other != name} | {name: verdict}
    [item] = case.evidence
    assert {review.reader.name: review.verdict for review in item.reviews} == standing
    assert len(item.reviews) == len(standing)
    assert item.verdict == next((said for said in reversed(standing.values()) if said is not None), None)
    assert case.used_evidence == ((item,) if item.verdict is Verdict.USE else ())


def test_tags_are_those_of_the_chosen_classification() -> None:
    case = actions.set_tags(make_case(), AT, ANN, ["misleadingSatire"])
    with pytest.raises(InputError, match="no tag"):
        actions.set_tags(case, AT, ANN, ["notMisleadingOther"])
    changed = actions.set_classification(case, AT, ANN, Classification.NOT_MISLEADING)
    assert changed.tags == ()


def test_a_decided_case_changes_only_after_it_is_reopened() -> None:
    decided = _used().replace(decision=Decision(kind=DecisionKind.NOT_NEEDED, by="ann", at=AT))
    with _refused("decided"):
        actions.edit_draft(decided, AT, ANN, "A note.", based_on=None)
    reopened = actions.reopen(decided, AT, ANN)
    assert reopened.decision is None
    assert reopened.events[-1].detail == "was no note needed"
    with _refused("not decided"):
        actions.reopen(reopened, AT, ANN)


def test_opening_twice_leaves_one_line_in_the_trail_and_an_unknown_passage_is_named() -> None:
    case = make_case(evidence=(make_evidence(1),))
    once = actions.open_passage(case, AT, ANN, "E1")
    assert actions.open_passage(once, AT, ANN, "E1") is once
    assert [event.kind for event in once.events] == ["passage opened"]
    with pytest.raises(InputError, match="no source E9"):
        actions.open_passage(case, AT, ANN, "E9")


def case_with_two_sets() -> Case:
    """E1 and E2 earlier, E2 and E3 now."""
    one, two, three = (make_evidence(number) for number in (1, 2, 3))
    earlier = EvidenceSet(at=AT, why="E1 swapped", evidence=(one, two))
    return make_case(evidence=(two, three), sources=(two.source, three.source), earlier_evidence=(earlier,))


def ids(case: Case) -> list[str]:
    return [item.id for item in case.evidence]


def test_a_passage_comes_back_under_its_own_id_with_its_review() -> None:
    read = make_evidence(1, opened_at=AT, verdict=Verdict.BACKGROUND)
    case = make_case(evidence=(make_evidence(2),), earlier_evidence=(EvidenceSet(evidence=(read,)),))
    back = actions.restore_passage(case, AT, ANN, "E1")
    assert ids(back) == ["E2", "E1"]
    assert back.evidence[1].reviews == read.reviews
    assert read.source in back.sources
    assert back.earlier_evidence[-1] == EvidenceSet(at=AT, why="E1 was brought back", evidence=case.evidence)
    with pytest.raises(InputError, match="not among the earlier sources"):
        actions.restore_passage(back, AT, ANN, "E1")


def test_an_earlier_set_comes_back_whole_and_the_present_one_goes_on_record_once() -> None:
    case = case_with_two_sets()
    assert [item.id for item in case.taken_away] == ["E1"]  # only what is gone can come back
    back = actions.restore_evidence_set(case, AT, ANN, 0)
    assert ids(back) == ["E1", "E2"]
    assert [item.rank for item in back.evidence] == [1, 2]
    assert back.earlier_evidence[-1].evidence == case.evidence
    assert back.events[-1].detail == "E1, E2"
    once = actions.archive_evidence(case, AT, "another search")
    assert actions.archive_evidence(case.replace(earlier_evidence=once), AT, "another search") == once


def test_a_passage_in_both_sets_keeps_the_review_it_has_now() -> None:
    case = case_with_two_sets()
    opened = make_evidence(2, opened_at=AT)
    case = case.replace(evidence=(opened, case.evidence[1]))
    assert actions.restore_evidence_set(case, AT, ANN, 0).evidence[1] == opened


def test_what_the_note_leans_on_stays_beside_an_earlier_set() -> None:
    case = case_with_two_sets()
    used = make_evidence(3, opened_at=AT, verdict=Verdict.USE)
    ticked = case.replace(evidence=(case.evidence[0], used))
    assert ids(actions.restore_evidence_set(ticked, AT, ANN, 0)) == ["E1", "E2", "E3"]
    written = Draft(text="A note.", evidence_ids=("E3",), engine="local", written_at=AT)
    named = case.replace(draft=written)
    assert ids(actions.restore_evidence_set(named, AT, ANN, 0)) == ["E1", "E2", "E3"]


def test_bringing_back_what_is_there_is_refused() -> None:
    case = case_with_two_sets()
    same = case.replace(earlier_evidence=(EvidenceSet(evidence=case.evidence),))
    with pytest.raises(WorkflowError, match="already here"):
        actions.restore_evidence_set(same, AT, ANN, 0)
    with pytest.raises(InputError, match="no such earlier set of sources"):
        actions.restore_evidence_set(same, AT, ANN, 1)


def test_what_is_brought_back_though_it_is_later_than_the_cutoff_says_so() -> None:
    item = make_evidence(1)
    late = item.replace(source=item.source.replace(published=date(2024, 3, 2)))
    case = make_case(until=date(2020, 1, 1), earlier_evidence=(EvidenceSet(evidence=(late,)),))
    for back in (actions.restore_passage(case, AT, ANN, "E1"), actions.restore_evidence_set(case, AT, ANN, 0)):
        assert back.evidence[0].source.notices == (AFTER_CUTOFF,)


def _judged(case: Case, *, by_person: bool = True) -> Case:
    engine = ScriptedEngine()
    engine.by_person = by_person
    assert case.draft is not None
    scored = assess(engine, brief_of(case.post), case.draft.text, case.used_evidence, lambda: AT)
    return actions.with_event(case, AT, ANN, "scored", assessment=scored)


def _compared(case: Case, words: str, found: Support = Support.SUPPORTED) -> Case:
    return actions.compare_sentence(case, AT, ANN, words, "E1", found)


def _correctness(case: Case) -> GateStatus:
    assert case.assessment is not None
    return case.assessment.gate(GateName.CORRECTNESS).status


def test_sentences_are_compared_only_in_a_scored_note_where_no_model_judges_and_as_they_were_seen() -> None:
    case = _edited(_used(), "One sentence here.")
    with _refused("stale"):
        _compared(case, "One sentence here.")
    with _refused("judged by a model"):
        _compared(_judged(case, by_person=False), "One sentence here.")
    with _refused("edited elsewhere"):
        _compared(_judged(case), "Another sentence.")
    with _refused("edited elsewhere"):
        actions.compare_sentence(_judged(case), AT, ANN, "One sentence here.", "E2", Support.SUPPORTED)
    assert _correctness(_compared(_judged(case), "One sentence here.")) is GateStatus.PASS


def test_who_compared_a_sentence_and_which_is_on_record() -> None:
    case = _compared(_judged(_edited(_used(), "One sentence here.")), "One sentence here.")
    assert case.events[-1].detail == "E1: supported: “One sentence here.”"
    assert _compared(case, "One sentence here.") is case
    again = actions.compare_sentence(case, AT, BOB, "One sentence here.", "E1", Support.SUPPORTED)
    assert again.assessment is not None
    assert again.assessment.sentences[0].by == "bob"


def test_undo_brings_no_older_finding_back() -> None:
    first = "Shared sentence."
    case = _compared(_judged(_edited(_used(), first)), first)
    assert _correctness(case) is GateStatus.PASS
    edited = _judged(_edited(case, f"{first} And more.", based_on=first))
    undone = actions.undo_edit(_compared(edited, first, Support.UNSUPPORTED), AT, ANN)
    assert undone.draft is not None
    assert undone.draft.text == first
    assert _correctness(undone) is GateStatus.FAIL


def test_what_is_found_while_the_note_is_scored_again_is_kept() -> None:
    case = _judged(_edited(_used(), "One sentence here."))
    worked_on = case
    newest = _compared(case, "One sentence here.", Support.PARTLY)
    assert worked_on.assessment is not None
    kept = actions.with_event(newest, AT, ANN, "scored", assessment=worked_on.assessment)
    assert _correctness(kept) is GateStatus.FAIL


def test_the_link_of_a_source_in_use_is_added_where_it_fits() -> None:
    url = _used().used_evidence[0].source.url
    linked = actions.add_link(_edited(_used(), "Short words. "), AT, ANN, "E1")
    assert linked.draft is not None
    assert linked.draft.text == f"Short words. {url}"
    full = actions.add_link(_edited(_used(), "x" * 278), AT, ANN, "E1")
    assert full.draft is not None
    with pytest.raises(InputError, match="by 1 character first"):
        actions.add_link(_edited(_used(), "x" * 279), AT, ANN, "E1")
    with pytest.raises(InputError, match="do not use E2"):
        actions.add_link(_edited(_used(), "Words."), AT, ANN, "E2")


def test_only_what_is_offered_and_in_use_is_quoted() -> None:
    quotation = Quotation(evidence_id="E1", span=Span(start=0, end=10))
    with pytest.raises(InputError, match="no longer offered"):
        actions.quote(_used(), AT, ANN, quotation)
    offered = _used().replace(quotations=(quotation,))
    assert actions.quote(offered, AT, ANN, quotation).draft is not None
    put_aside = offered.replace(evidence=(make_evidence(1),))
    with pytest.raises(InputError, match="no longer offered"):
        actions.quote(put_aside, AT, ANN, quotation)
