"""The day that evidence must not be later than, for one source."""

from __future__ import annotations

from datetime import date

import pytest

from crowdnotes.cases.cutoff import UNDATED, timely
from crowdnotes.cases.gathering import GatherOptions
from crowdnotes.domain import FetchOutcome, Source


def test_an_undated_record_is_no_later_than_its_library_was_collected() -> None:
    record = Source(id="library:old:1", title="t", library="old")
    options = GatherOptions(leave_out_undated=True, collected={"old": date(2019, 10, 22)})
    kept = options.timely(record, date(2019, 10, 22))
    assert (kept.outcome, kept.notices, kept.published) == (FetchOutcome.READ, (UNDATED,), None)
    assert options.timely(record, date(2019, 10, 21)).outcome is FetchOutcome.TOO_LATE
    assert options.timely(record.model_copy(update={"library": "other"}), None).outcome is FetchOutcome.UNDATED


@pytest.mark.parametrize("outcome", [FetchOutcome.BLOCKED, FetchOutcome.REFUSED])
def test_a_page_that_was_not_read_keeps_its_own_label(outcome: FetchOutcome) -> None:
    source = Source(id="url:1", title="t", outcome=outcome, outcome_detail="Why.")
    assert timely(source, date(2024, 1, 1), leave_out_undated=True) == source


def test_a_month_alone_is_too_late_when_it_begins_after_the_cutoff() -> None:
    source = Source(id="url:1", title="t", not_before=date(2025, 6, 1))
    late = timely(source, date(2025, 5, 31))
    assert (late.outcome, late.outcome_detail) == (
        FetchOutcome.TOO_LATE, "It is not before 2025-06-01, later than 2025-05-31."
    )  # fmt: skip
    assert timely(source, date(2025, 6, 1)).notices == (UNDATED,)
