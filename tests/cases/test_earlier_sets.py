"""What evidence was there earlier can be seen and brought back, and old records of it can still be read."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from crowdnotes.cases import workflow
from crowdnotes.cases.cutoff import AFTER_CUTOFF
from crowdnotes.domain import Case, Draft, EvidenceSet, Verdict
from crowdnotes.errors import InputError, WorkflowError
from crowdnotes.testing import make_case, make_evidence

AT = datetime(2026, 1, 1, 13, tzinfo=UTC)


def case_with_two_sets() -> Case:
    """E1 and E2 earlier, E2 and E3 now."""
    one, two, three = (make_evidence(number) for number in (1, 2, 3))
    earlier = EvidenceSet(at=AT, why="E1 swapped", evidence=(one, two))
    return make_case(evidence=(two, three), sources=(two.source, three.source), earlier_evidence=(earlier,))


def ids(case: Case) -> list[str]:
    return [item.id for item in case.evidence]


def test_a_passage_comes_back_under_its_own_id_with_its_review() -> None:
    read = make_evidence(1, opened_at=AT, opened_by="ann", verdict=Verdict.BACKGROUND)
    case = make_case(evidence=(make_evidence(2),), earlier_evidence=(EvidenceSet(evidence=(read,)),))
    back = workflow.bring_back(case, "E1", "ann", AT)
    assert ids(back) == ["E2", "E1"]
    assert back.evidence[1].review == read.review
    assert back.sources == (read.source,)
    assert back.earlier_evidence[-1] == EvidenceSet(at=AT, why="E1 was brought back", evidence=case.evidence)
    with pytest.raises(InputError, match="not among the earlier passages"):
        workflow.bring_back(back, "E1", "ann", AT)


def test_only_what_is_gone_can_come_back() -> None:
    case = case_with_two_sets()
    assert [item.id for item in workflow.taken_away(case)] == ["E1"]


def test_an_earlier_set_comes_back_whole_and_the_present_one_goes_on_record() -> None:
    case = case_with_two_sets()
    back = workflow.bring_back_set(case, 0, "ann", AT)
    assert ids(back) == ["E1", "E2"]
    assert [item.rank for item in back.evidence] == [1, 2]
    assert back.earlier_evidence[-1].evidence == case.evidence
    assert back.events[-1].detail == "E1, E2"


def test_what_the_note_leans_on_stays_beside_an_earlier_set() -> None:
    case = case_with_two_sets()
    used = make_evidence(3, opened_at=AT, verdict=Verdict.USE)
    ticked = case.model_copy(update={"evidence": (case.evidence[0], used)})
    assert ids(workflow.bring_back_set(ticked, 0, "ann", AT)) == ["E1", "E2", "E3"]
    written = Draft(text="A note.", evidence_ids=("E3",), engine="local", written_at=AT)
    named = case.model_copy(update={"draft": written})
    assert ids(workflow.bring_back_set(named, 0, "ann", AT)) == ["E1", "E2", "E3"]


def test_a_passage_in_both_sets_keeps_the_review_it_has_now() -> None:
    case = case_with_two_sets()
    opened = make_evidence(2, opened_at=AT)
    case = case.model_copy(update={"evidence": (opened, case.evidence[1])})
    assert workflow.bring_back_set(case, 0, "ann", AT).evidence[1] == opened


def test_bringing_back_what_is_there_is_refused() -> None:
    case = case_with_two_sets()
    same = case.model_copy(update={"earlier_evidence": (EvidenceSet(evidence=case.evidence),)})
    with pytest.raises(WorkflowError, match="the present ones already"):
        workflow.bring_back_set(same, 0, "ann", AT)
    with pytest.raises(InputError, match="no such earlier evidence"):
        workflow.bring_back_set(same, 1, "ann", AT)


def test_the_same_set_is_not_kept_twice() -> None:
    case = case_with_two_sets()
    once = workflow.on_record(case, AT, "another search")
    again = workflow.on_record(case.model_copy(update={"earlier_evidence": once}), AT, "another search")
    assert once == again


def test_what_is_brought_back_though_it_is_later_than_the_cutoff_says_so() -> None:
    item = make_evidence(1)
    late = item.model_copy(update={"source": item.source.model_copy(update={"published": date(2024, 3, 2)})})
    case = make_case(until=date(2020, 1, 1), earlier_evidence=(EvidenceSet(evidence=(late,)),))
    for back in (workflow.bring_back(case, "E1", "ann", AT), workflow.bring_back_set(case, 0, "ann", AT)):
        assert back.evidence[0].source.notices == (AFTER_CUTOFF,)
