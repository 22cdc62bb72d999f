"""A page that could not be read, or a link that is gone, names its archived copy."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from pytest_httpserver import HTTPServer

from crowdnotes.domain import FetchOutcome, LinkState
from crowdnotes.evidence.fetching import Page, no_check
from crowdnotes.evidence.link_check import LinkChecker
from crowdnotes.evidence.sources import SourceReader
from crowdnotes.evidence.wayback import Wayback
from crowdnotes.settings import LinkSettings

URL = "https://news.example.org/2021/story"
COPY = f"https://web.archive.org/web/20230304050607/{URL}"
KNOWN = {
    "archived_snapshots": {
        "closest": {
            "available": True,
            "status": "200",
            "timestamp": "20230304050607",
            "url": "http://web.archive.org/x",
        }
    }
}
ASKED_ABOUT = [
    FetchOutcome.BLOCKED,
    FetchOutcome.PAYWALLED,
    FetchOutcome.NOT_FOUND,
    FetchOutcome.TIMED_OUT,
    FetchOutcome.UNREACHABLE,
    FetchOutcome.SERVER_ERROR,
]


class _Failing:
    def __init__(self, outcome: FetchOutcome) -> None:
        self._outcome = outcome

    def fetch(self, url: str, check: object = no_check) -> Page:
        return Page(url, url, self._outcome, datetime.now(UTC), detail="Why.")


class _Answers:
    def __init__(self, status: int) -> None:
        self._status = status

    def status(self, url: str, seconds: float, check: object) -> int:
        return self._status


@pytest.mark.parametrize("outcome", ASKED_ABOUT)
def test_a_page_that_could_not_be_read_names_its_archived_copy(
    httpserver: HTTPServer, wayback: Wayback, outcome: FetchOutcome
) -> None:
    httpserver.expect_request("/wayback/available").respond_with_json(KNOWN)
    source, text = SourceReader(_Failing(outcome), wayback=wayback).read(URL, "S1")
    assert (source.outcome, text) == (outcome, None)
    assert source.archived_url == COPY
    assert source.outcome_detail == "Why. The Wayback Machine has a copy of 4 March 2023."


@pytest.mark.parametrize("outcome", [FetchOutcome.TOO_LARGE, FetchOutcome.WRONG_TYPE, FetchOutcome.REFUSED])
def test_nothing_is_asked_where_a_copy_would_not_help(
    httpserver: HTTPServer, wayback: Wayback, outcome: FetchOutcome
) -> None:
    source, _ = SourceReader(_Failing(outcome), wayback=wayback).read(URL, "S1")
    assert (source.archived_url, source.outcome_detail) == (None, "Why.")
    assert httpserver.log == []


def test_a_copy_later_than_the_cutoff_is_not_named(httpserver: HTTPServer, wayback: Wayback) -> None:
    httpserver.expect_request("/wayback/available").respond_with_json(KNOWN)
    reader = SourceReader(_Failing(FetchOutcome.NOT_FOUND), wayback=wayback)
    source, _ = reader.read(URL, "S1", until=date(2023, 3, 3))
    assert source.archived_url is None
    assert source.outcome_detail == "Why. The Wayback Machine has no copy up to 3 March 2023."
    assert reader.read(URL, "S1", until=date(2023, 3, 4))[0].archived_url == COPY


def test_an_archive_that_fails_is_told_and_costs_nothing_else(httpserver: HTTPServer, wayback: Wayback) -> None:
    httpserver.expect_request("/wayback/available").respond_with_data("busy", 503)
    source, _ = SourceReader(_Failing(FetchOutcome.NOT_FOUND), wayback=wayback).read(URL, "S1")
    assert source.outcome is FetchOutcome.NOT_FOUND
    assert source.archived_url is None
    assert source.outcome_detail.startswith("Why. The Wayback Machine was asked for a copy: It has trouble")


def _checker(status: int, wayback: Wayback) -> LinkChecker:
    at = datetime(2026, 1, 2, tzinfo=UTC)
    return LinkChecker(_Answers(status), LinkSettings(tries=1), lambda: at, lambda _: 0.0, wayback)


def test_a_dead_link_of_a_note_names_the_archived_copy(httpserver: HTTPServer, wayback: Wayback) -> None:
    httpserver.expect_request("/wayback/available").respond_with_json(KNOWN)
    [found] = _checker(404, wayback).check([URL.removeprefix("https://")])
    assert (found.state, found.archived_url) == (LinkState.DEAD, COPY)
    assert found.sentence == "There is no page at this address. The Wayback Machine has a copy of 4 March 2023."
    [before] = _checker(404, wayback).check([URL], until=date(2023, 3, 3))
    assert (before.archived_url, before.until) == (None, date(2023, 3, 3))


@pytest.mark.parametrize("status", [200, 403])
def test_a_link_that_is_there_is_told_to_no_archive(httpserver: HTTPServer, wayback: Wayback, status: int) -> None:
    [found] = _checker(status, wayback).check([URL])
    assert found.archived_url is None
    assert httpserver.log == []
