"""The cases found, as a table to keep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from crowdnotes.domain import Case, CaseStatus
from crowdnotes.errors import CaseNotFoundError
from crowdnotes.handoff import cases_csv
from pages.parts.session import workspace


def cases_as_csv(search: str, status: CaseStatus | None) -> str:
    """One row a case, the newest change first."""
    service = workspace().service
    every = service.list(search=search, status=status, limit=service.count(search, status))
    return cases_csv(_still_there(item.id for item in every))


def _still_there(case_ids: Iterable[str]) -> Iterator[Case]:
    """The cases, without those that were deleted since they were listed."""
    for case_id in case_ids:
        with suppress(CaseNotFoundError):
            yield workspace().service.get(case_id)
