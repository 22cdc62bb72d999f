"""What a person may do to a case, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from crowdnotes.cases import workflow
from crowdnotes.cases.intake import change_post
from crowdnotes.cases.obstacles import decide
from crowdnotes.domain import (
    Assessment,
    Case,
    Classification,
    Decision,
    DecisionKind,
    Draft,
    GateName,
    GateResult,
    GateStatus,
    Post,
    Verdict,
    text_sha256,
)
from crowdnotes.errors import InputError, WorkflowError
from crowdnotes.testing import make_case, make_evidence

AT = datetime(2026, 1, 2, tzinfo=UTC)


def _used() -> Case:
    return make_case(evidence=(make_evidence(1, opened_at=AT, opened_by="ann", verdict=Verdict.USE),))


def _refused(rule: str) -> pytest.RaisesExc[WorkflowError]:
    return pytest.RaisesExc(WorkflowError, check=lambda error: error.rule == rule)


def test_a_passage_cannot_be_judged_before_it_is_opened() -> None:
    case = make_case(evidence=(make_evidence(1),))
    with _refused("unopened"):
        workflow.judge(case, "E1", Verdict.USE, "", "ann", AT)
    opened = workflow.open_passage(case, "E1", "ann", AT)
    judged = workflow.judge(opened, "E1", Verdict.USE, "", "ann", AT)
    assert [item.id for item in judged.used_evidence] == ["E1"]


def test_opening_twice_leaves_one_line_in_the_trail() -> None:
    case = make_case(evidence=(make_evidence(1),))
    once = workflow.open_passage(case, "E1", "ann", AT)
    assert workflow.open_passage(once, "E1", "bob", AT) is once
    assert [event.kind for event in once.events] == ["passage opened"]


def test_rejecting_a_passage_takes_a_reason() -> None:
    case = make_case(evidence=(make_evidence(1, opened_at=AT),))
    with _refused("reason needed"):
        workflow.judge(case, "E1", Verdict.REJECT, "  ", "ann", AT)
    assert workflow.judge(case, "E1", Verdict.REJECT, "off topic", "ann", AT).used_evidence == ()


def test_words_come_after_evidence() -> None:
    with _refused("evidence first"):
        workflow.edit_draft(make_case(), "A note.", "ann", AT, based_on=None)


def test_an_edit_keeps_the_earlier_text_and_can_be_undone() -> None:
    first = workflow.edit_draft(_used(), "One.", "ann", AT, based_on=None)
    assert first.draft is not None
    second = workflow.edit_draft(first, "Two.", "ann", AT, based_on=first.draft.sha256)
    back = workflow.undo_edit(second, "ann", AT)
    assert back.draft == first.draft
    with _refused("nothing to undo"):
        workflow.undo_edit(back, "ann", AT)


def _scored(case: Case) -> Case:
    assert case.draft is not None
    gates = tuple(GateResult(gate=gate, status=GateStatus.PASS, reason=case.draft.text) for gate in GateName)
    assessment = Assessment(
        text_sha256=case.draft.sha256,
        basis_sha256=case.basis_sha256,
        gates=gates,
        principles=(),
        sentences=(),
        lint=(),
        engine="local",
        assessed_at=AT,
    )
    return workflow.with_event(case, AT, "CrowdNotes", "stage assess", assessment=assessment)


def test_words_that_were_scored_before_have_their_scores_again() -> None:
    first = _scored(workflow.edit_draft(_used(), "One.", "ann", AT, based_on=None))
    assert first.draft is not None
    second = workflow.edit_draft(first, "Two.", "ann", AT, based_on=first.draft.sha256)
    assert not second.assessment_is_current
    back = workflow.undo_edit(_scored(second), "ann", AT)
    assert back.assessment_is_current
    assert back.assessment == first.assessment
    unused = workflow.judge(back, "E1", None, "", "ann", AT)
    assert not unused.assessment_is_current
    assert workflow.judge(unused, "E1", Verdict.USE, "", "ann", AT).assessment_is_current


def test_scores_are_not_those_of_another_post() -> None:
    scored = _scored(workflow.edit_draft(_used(), "One.", "ann", AT, based_on=None))
    twice = _scored(workflow.edit_draft(scored, "Two.", "ann", AT, based_on=text_sha256("One.")))
    changed = change_post(twice, Post(text="Another claim."), "ann", AT)
    assert (changed.assessment, changed.earlier_assessments) == (None, ())


def test_an_edit_of_a_text_that_changed_meanwhile_is_refused_and_loses_nothing() -> None:
    first = workflow.edit_draft(_used(), "One.", "ann", AT, based_on=None)
    with _refused("edited elsewhere"):
        workflow.edit_draft(first, "Mine.", "bob", AT, based_on=None)


def test_words_towards_the_decision_are_kept_by_field_until_they_are_emptied_or_it_is_made() -> None:
    case = workflow.keep_decision_words(_used(), "word", " A first thought. ", AT)
    case = workflow.keep_decision_words(case, "relevance 1", "It fits.", AT)
    assert case.decision_words == {"word": "A first thought.", "relevance 1": "It fits."}
    assert case.events == _used().events
    assert workflow.keep_decision_words(case, "word", "", AT).decision_words == {"relevance 1": "It fits."}
    with _refused("decided"):
        workflow.keep_decision_words(decide(case, DecisionKind.REJECTED, "ann", AT), "word", "Late.", AT)


def test_a_note_the_size_of_an_article_is_refused() -> None:
    with pytest.raises(InputError, match="characters"):
        workflow.edit_draft(_used(), "x" * 100_000, "ann", AT, based_on=None)


def test_choosing_a_candidate_keeps_what_it_replaces() -> None:
    candidate = Draft(text="Candidate.", engine="local", written_at=AT)
    case = workflow.edit_draft(_used(), "Mine.", "ann", AT, based_on=None).model_copy(
        update={"candidates": (candidate,)}
    )
    chosen = workflow.choose_candidate(case, candidate.sha256, "ann", AT)
    assert chosen.draft == candidate
    assert [draft.text for draft in chosen.revisions] == ["Mine."]


def test_a_candidate_that_was_replaced_meanwhile_is_not_mistaken_for_another() -> None:
    seen, newer = (Draft(text=text, engine="local", written_at=AT) for text in ("Seen.", "Newer."))
    case = _used().model_copy(update={"candidates": (newer,)})
    with pytest.raises(InputError, match="replaced meanwhile"):
        workflow.choose_candidate(case, seen.sha256, "ann", AT)


def test_tags_are_those_of_the_chosen_classification() -> None:
    case = workflow.set_tags(make_case(), ["misleadingSatire"], "ann", AT)
    with pytest.raises(InputError, match="no tag"):
        workflow.set_tags(case, ["notMisleadingOther"], "ann", AT)
    changed = workflow.set_classification(case, Classification.NOT_MISLEADING, "ann", AT)
    assert changed.tags == ()


def test_a_decided_case_changes_only_after_it_is_reopened() -> None:
    decided = _used().model_copy(update={"decision": Decision(kind=DecisionKind.NOT_NEEDED, by="ann", at=AT)})
    with _refused("decided"):
        workflow.edit_draft(decided, "A note.", "ann", AT, based_on=None)
    reopened = workflow.reopen(decided, "ann", AT)
    assert reopened.decision is None
    assert reopened.events[-1].detail == "was not needed"
    with _refused("not decided"):
        workflow.reopen(reopened, "ann", AT)


def test_an_unknown_passage_is_named() -> None:
    with pytest.raises(InputError, match="no passage E9"):
        workflow.open_passage(make_case(), "E9", "ann", AT)
