"""Checking connections asks every service outside the page's run, and tells of each."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

import pytest
from streamlit.testing.v1 import AppTest

from crowdnotes import workspace
from crowdnotes.domain import ProviderOutcome, ProviderState
from crowdnotes.evidence.reading.reading_services import ReadingService
from crowdnotes.evidence.search import ONLINE, SearchProvider
from crowdnotes.jobs import JobState
from tests.pages.conftest import Desk, texts
from tests.pages.test_search import search_form

Report = Callable[[ProviderOutcome], None]


@pytest.fixture
def may_end(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Services that answer at once, but for PubMed, which fails, and Crossref, which waits for the event."""
    event = threading.Event()

    def outcome(provider: SearchProvider) -> ProviderOutcome:
        told = {"name": (ProviderState.ANSWERED, ""), "pubmed": (ProviderState.FAILED, "It has trouble of its own.")}
        state, sentence = told.get(provider.name, told["name"])
        if provider.needs:
            state, sentence = ProviderState.NOT_CONFIGURED, provider.needs
        return ProviderOutcome(
            provider=provider.name, label=provider.label, state=state, seconds=0.42, sentence=sentence
        )

    def check(
        providers: Sequence[SearchProvider], *, provider_seconds: float, check: Callable[[], None], report: Report
    ) -> tuple[ProviderOutcome, ...]:
        for provider in sorted(providers, key=lambda item: item.name == "crossref"):
            while provider.name == "crossref" and not event.wait(0.01):
                check()
            report(outcome(provider))
        return tuple(outcome(provider) for provider in providers)

    def check_reading(
        services: Sequence[ReadingService], check: Callable[[], None], report: Report
    ) -> list[ProviderOutcome]:
        check()
        found = []
        for service in services:
            state = ProviderState.TIMED_OUT if service.name == "jina-reader" else ProviderState.ANSWERED
            found.append(ProviderOutcome(provider=service.name, label=service.label, state=state, seconds=0.42))
            report(found[-1])
        return found

    monkeypatch.setattr(workspace, "check_providers", check)
    monkeypatch.setattr(workspace, "check_reading", check_reading)
    yield event
    event.set()


def asked(desk: Desk) -> AppTest:
    at = search_form(desk)
    at.session_state["about-new-post"] = True
    at.run()
    assert "not tried yet" in texts(at)
    at.button(key="check-connections").click().run()
    return at


def job_id(desk: Desk) -> str:
    job = desk.latest("connections")
    return job.id


def test_each_service_is_told_with_its_seconds_or_why_it_failed(desk: Desk, may_end: threading.Event) -> None:
    may_end.set()
    at = asked(desk)
    desk.finish(job_id(desk))
    at.run()
    assert not at.exception
    told = {line.split("**")[1]: line for line in texts(at).splitlines() if line.count("**") == 2}
    assert told["Europe PMC"].endswith(" answered in 0.4 s  ")
    assert "failed in 0.4 s :small[:gray[It has trouble of its own.]]" in told["PubMed"]
    assert ":gray[not set up]" in told["Brave Search"]
    assert told["Tavily Extract"].strip().endswith(" answered in 0.4 s")
    assert " answered in " not in told["Jina Reader"]
    answered = sum(" answered in " in line for line in told.values())
    assert desk.workspace.runner.get(job_id(desk)).steps[0].summary == f"{answered} of {len(ONLINE) + 2} answered"


def test_the_page_goes_on_while_a_service_is_slow_and_it_can_be_stopped(desk: Desk, may_end: threading.Event) -> None:
    at = asked(desk)
    assert not at.exception
    at.button(key=f"cancel-{job_id(desk)}").click().run()
    desk.finish(job_id(desk))
    assert desk.workspace.runner.get(job_id(desk)).state is JobState.CANCELLED
    at.run()
    assert at.button(key="check-connections").label == "Check connections"
