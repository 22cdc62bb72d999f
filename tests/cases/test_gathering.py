"""A stage's result meets what a person did while it was at work."""

from __future__ import annotations

from datetime import UTC, datetime

from crowdnotes.cases.gathering import merged
from crowdnotes.domain import Draft, Evidence, EvidenceSet, Verdict
from crowdnotes.testing import make_case, make_evidence

AT = datetime(2026, 1, 2, tzinfo=UTC)


def test_a_passage_opened_meanwhile_stays_opened() -> None:
    worked_on = make_case(evidence=(make_evidence(1),))
    newest = make_case(evidence=(make_evidence(1, opened_at=AT, verdict=Verdict.USE),))
    evidence = _evidence(merged(newest, worked_on, {"evidence": (make_evidence(1), make_evidence(2))}))
    assert [(item.id, item.used) for item in evidence] == [("E1", True), ("E2", False)]


def test_a_passage_pasted_meanwhile_keeps_its_id_and_new_ones_follow() -> None:
    pasted = _pasted(1)
    newest = make_case(evidence=(pasted,), sources=(pasted.source,))
    found = (make_evidence(1), make_evidence(2))
    result = merged(newest, make_case(), {"evidence": found, "sources": tuple(item.source for item in found)})
    ids = [(item.id, item.source.id) for item in _evidence(result)]
    assert ids == [("E2", "url:1"), ("E3", "url:2"), ("E1", "hand:1")]
    assert pasted.source in result["sources"]  # type: ignore[operator]


def test_what_a_person_opened_stays_though_the_stage_no_longer_has_it() -> None:
    worked_on = make_case(evidence=(make_evidence(6),))
    opened = make_evidence(6, opened_at=AT, verdict=Verdict.USE)
    newest = make_case(evidence=(opened,), sources=(opened.source,))
    result = merged(newest, worked_on, {"evidence": (), "sources": ()})
    assert [(item.id, item.used) for item in _evidence(result)] == [("E6", True)]
    assert result["sources"] == (opened.source,)


def test_an_id_on_record_is_never_given_again() -> None:
    case = make_case(evidence=(make_evidence(2),), earlier_evidence=(EvidenceSet(evidence=(make_evidence(7),)),))
    assert case.next_evidence_number == 8


def test_words_that_a_person_wrote_meanwhile_are_not_replaced() -> None:
    mine = Draft(text="Mine.", engine="person", written_at=AT)
    theirs = Draft(text="Engine's.", engine="local", written_at=AT)
    result = merged(make_case(draft=mine), make_case(), {"draft": theirs, "candidates": (theirs,), "revisions": ()})
    assert result == {"candidates": (theirs,)}


def _pasted(number: int) -> Evidence:
    item = make_evidence(number, text="Copied by hand.")
    return item.model_copy(update={"source": item.source.model_copy(update={"id": f"hand:{number}"})})


def _evidence(result: dict[str, object]) -> tuple[Evidence, ...]:
    evidence = result["evidence"]
    assert isinstance(evidence, tuple)
    return evidence
