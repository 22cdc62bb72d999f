"""Figures of cases as tests need them."""

from __future__ import annotations

from datetime import UTC, datetime

from crowdnotes.domain import GateName, GateStatus
from crowdnotes.reports.case_figures import CaseFigures

BEGUN = datetime(2026, 3, 2, 12, tzinfo=UTC)  # a Monday
PASSED = dict.fromkeys(GateName, GateStatus.PASS)


def figures(**changes: object) -> CaseFigures:
    """An open case in which nothing was done yet, unless `changes` say so."""
    nothing: dict[str, object] = dict.fromkeys(
        ("until_evidence", "until_words", "until_approved", "gates", "kept_sentences", "jury", "decided_at", "queue")
    )
    nothing |= {"courses": {}, "shown": {}, "used": {}, "usage": {}, "engines": frozenset()}
    nothing |= {"demonstration": False, "has_note": False, "jury_means_nothing": False}
    return CaseFigures(**{"id": "c1", "version": 0, "begun": BEGUN, "ended": "open", **nothing, **changes})  # type: ignore[arg-type]


def approved(minutes: float, **changes: object) -> CaseFigures:
    """A case with an approved note after so many minutes."""
    done = {"ended": "approved", "has_note": True, "gates": PASSED, "until_words": minutes / 2}
    return figures(until_evidence=minutes / 4, until_approved=minutes, **(done | changes))
