"""Searches as a case holds them when they have ended."""

from __future__ import annotations

from datetime import UTC, date, datetime

from crowdnotes.cases import intake
from crowdnotes.domain import Case, Hit, Mode, ProviderOutcome, ProviderState, StageName, StageRecord
from tests.pages.conftest import POST, Desk

FOUND = ProviderOutcome(provider="europe-pmc", label="Europe PMC", state=ProviderState.ANSWERED, found=4, seconds=1.21)


CHECK = Hit(
    provider="google-fact-check",
    title="No, vitamin C does not cure colds",
    snippet="The claim “vitamin C cures colds”. The Checkers rates it: False.",
    query="vitamin c cures colds",
    url="https://www.checkers.example.org/vitamin-c",
    published=date(2024, 3, 5),
)


def searched(desk: Desk, **found: object) -> Case:
    case = intake.create_case(desk.workspace.cases, POST, mode=Mode.AUTOMATION, services=["europe-pmc", "pubmed"])
    stages = tuple(
        StageRecord(name=name, finished_at=datetime.now(UTC), seconds=1.0, summary="done", engine="scripted")
        for name in (StageName.QUERIES, StageName.SEARCH, StageName.READ, StageName.PASSAGES)
    )
    return desk.changed(case, stages=stages, **found)
