"""A stage's result meets what a person did while it was at work."""

from __future__ import annotations

from datetime import UTC, datetime

from crowdnotes.cases.gathering import merged
from crowdnotes.domain import Draft, Evidence, Verdict
from crowdnotes.testing import make_case, make_evidence

AT = datetime(2026, 1, 2, tzinfo=UTC)


def test_a_passage_opened_meanwhile_stays_opened() -> None:
    worked_on = make_case(evidence=(make_evidence(1),))
    newest = make_case(evidence=(make_evidence(1, opened_at=AT, verdict=Verdict.USE),))
    evidence = _evidence(merged(newest, worked_on, {"evidence": (make_evidence(1), make_evidence(2))}))
    assert [(item.id, item.used) for item in evidence] == [("E1", True), ("E2", False)]


def test_a_passage_pasted_meanwhile_is_kept_under_a_free_id() -> None:
    worked_on = make_case()
    pasted = make_evidence(1, text="Copied by hand.").model_copy(
        update={"source": make_evidence(9).source.model_copy(update={"id": "hand:1"})}
    )
    newest = make_case(evidence=(pasted,), sources=(pasted.source,))
    found = (make_evidence(1), make_evidence(2))
    result = merged(newest, worked_on, {"evidence": found, "sources": tuple(item.source for item in found)})
    assert [(item.id, item.source.id) for item in _evidence(result)] == [
        ("E1", "url:1"),
        ("E2", "url:2"),
        ("E3", "hand:1"),
    ]
    assert pasted.source in result["sources"]  # type: ignore[operator]


def test_words_that_a_person_wrote_meanwhile_are_not_replaced() -> None:
    mine = Draft(text="Mine.", engine="person", written_at=AT)
    theirs = Draft(text="Engine's.", engine="local", written_at=AT)
    result = merged(make_case(draft=mine), make_case(), {"draft": theirs, "candidates": (theirs,), "revisions": ()})
    assert result == {"candidates": (theirs,)}


def _evidence(result: dict[str, object]) -> tuple[Evidence, ...]:
    evidence = result["evidence"]
    assert isinstance(evidence, tuple)
    return evidence
