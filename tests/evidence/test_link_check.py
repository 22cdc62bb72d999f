"""Asking a cited link: what counts as live, what is tried again, and what is never asked."""

from __future__ import annotations

import socket
import threading
from datetime import UTC, datetime
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from crowdnotes.domain import FetchOutcome, LinkState
from crowdnotes.errors import FetchError, JobCancelled
from crowdnotes.evidence import link_check
from crowdnotes.evidence.link_check import HttpLinkAsker, LinkChecker, LinkLimits
from crowdnotes.settings_sections import FetchSettings
from tests.evidence.conftest import Serve
from tests.fakes import LiveLinks
from tests.shared import PATIENCE, HeldTime, cancelled

AT = datetime(2026, 1, 2, tzinfo=UTC)
URL = "https://a.example.org/x"


def _checker(link_asker: HttpLinkAsker | LiveLinks | None = None, **bounds: Any) -> LinkChecker:
    link_asker = link_asker or HttpLinkAsker(FetchSettings(), ("127.0.0.1",))
    return LinkChecker(link_asker, LinkLimits(**bounds), lambda: AT, pause=lambda _: 0.0)


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (200, LinkState.LIVE),
        (204, LinkState.UNREACHABLE),
        (301, LinkState.UNREACHABLE),
        (401, LinkState.BLOCKED),
        (403, LinkState.BLOCKED),
        (404, LinkState.DEAD),
        (410, LinkState.DEAD),
        (418, LinkState.UNREACHABLE),
        (429, LinkState.BLOCKED),
        (500, LinkState.UNREACHABLE),
        (503, LinkState.UNREACHABLE),
    ],
)
def test_only_a_200_is_live(status: int, state: LinkState, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/").respond_with_data("words", status=status)
    [found] = _checker().check([httpserver.url_for("/")])
    assert (found.state, found.status, found.checked_at) == (state, status, AT)
    assert bool(found.sentence) == (state is not LinkState.LIVE)


@pytest.mark.parametrize(("status", "tries"), [(200, 1), (403, 1), (404, 1), (429, 3), (500, 3)])
def test_what_may_pass_is_tried_three_times_and_the_rest_once(status: int, tries: int) -> None:
    link_asker = LiveLinks({URL: status})
    [found] = _checker(link_asker).check([URL])
    assert found.tries == len(link_asker.asked) == tries


def test_a_site_that_is_back_at_the_third_try_is_live(httpserver: HTTPServer) -> None:
    answers = iter((503, 500, 200))
    httpserver.expect_request("/").respond_with_handler(lambda _: Response(status=next(answers)))
    [found] = _checker().check([httpserver.url_for("/")])
    assert (found.state, found.tries) == (LinkState.LIVE, 3)


def test_pauses_grow_and_are_drawn_below_their_bound() -> None:
    drawn: list[float] = []

    def pause(longest: float) -> float:
        drawn.append(longest)
        return 0.0

    link_asker = LiveLinks({URL: FetchError("It broke off.", FetchOutcome.UNREACHABLE)})
    [found] = LinkChecker(link_asker, LinkLimits(), lambda: AT, pause).check([URL])
    assert (found.state, found.status, found.sentence) == (LinkState.UNREACHABLE, None, "It broke off.")
    assert drawn[:2] == [0.3, 0.6]


def test_a_redirect_to_a_page_is_live_and_a_loop_is_not(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/old").respond_with_data("", status=301, headers={"Location": "/new#part"})
    httpserver.expect_request("/new").respond_with_data("words")
    httpserver.expect_request("/loop").respond_with_data("", status=302, headers={"Location": "/loop"})
    found = _checker().check([httpserver.url_for("/old"), httpserver.url_for("/loop")])
    assert [item.state for item in found] == [LinkState.LIVE, LinkState.UNREACHABLE]
    assert "redirects more than 5 times" in found[1].sentence


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9/",
        "http://2130706433/",
        "http://localhost/",
        "http://169.254.169.254/latest/",
        "http://[::1]/",
        "http://user@a.example.org/",
    ],
)
def test_a_private_address_is_refused_and_never_asked(url: str) -> None:
    [found] = _checker(HttpLinkAsker(FetchSettings())).check([url])
    assert (found.state, found.status, found.tries) == (LinkState.REFUSED, None, 1)


def test_a_redirect_to_a_private_address_is_refused(httpserver: HTTPServer) -> None:
    inside = httpserver.url_for("/inside").replace("127.0.0.1", "127.0.0.2")
    httpserver.expect_request("/").respond_with_data("", status=302, headers={"Location": inside})
    [found] = _checker().check([httpserver.url_for("/")])
    assert found.state is LinkState.REFUSED
    assert [request.path for request, _ in httpserver.log] == ["/"]


def test_a_body_is_not_read(serve: Serve) -> None:
    hung_up = threading.Event()

    def endless(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n")
        try:
            while True:
                connection.sendall(b"x" * 65_536)
        except OSError:
            hung_up.set()

    [found] = _checker().check([serve(endless)])
    assert found.state is LinkState.LIVE
    assert hung_up.wait(PATIENCE)


def _silent(connection: socket.socket) -> None:
    connection.recv(1)


@pytest.fixture
def link_time(passing_time: HeldTime, monkeypatch: pytest.MonkeyPatch) -> HeldTime:
    """The same clock for all links together."""
    monkeypatch.setattr(link_check, "time", passing_time)
    return passing_time


def test_a_server_that_says_nothing_is_given_up(serve: Serve, link_time: HeldTime) -> None:
    [found] = _checker(request_seconds=0.2, tries=2).check([serve(_silent)])
    assert (found.state, found.tries) == (LinkState.UNREACHABLE, 2)
    assert "did not finish" in found.sentence


def test_all_links_together_are_bounded(serve: Serve, link_time: HeldTime) -> None:
    url = serve(_silent)
    found = _checker(request_seconds=5.0, total_seconds=0.3).check([f"{url}{number}" for number in range(12)])
    assert {(item.state, item.tries) for item in found} == {(LinkState.UNREACHABLE, 1)}


def test_links_are_asked_side_by_side(serve: Serve) -> None:
    together = threading.Barrier(3, timeout=PATIENCE)

    def wait_for_the_others(connection: socket.socket) -> None:
        together.wait()
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    url = serve(wait_for_the_others)
    urls = [f"{url}{number}" for number in range(3)]
    assert [(item.url, item.state) for item in _checker().check(urls)] == [(url, LinkState.LIVE) for url in urls]


def test_a_link_without_a_scheme_is_asked_by_https_and_keeps_its_own_words() -> None:
    link_asker = LiveLinks()
    [found] = _checker(link_asker).check(["cdc.gov/flu", "cdc.gov/flu"])
    assert (found.url, link_asker.asked) == ("cdc.gov/flu", ["https://cdc.gov/flu"])
    assert _checker(link_asker).check([]) == ()


def test_a_cancelled_job_stops_the_check(serve: Serve) -> None:
    asked = threading.Event()

    def silent(connection: socket.socket) -> None:
        asked.set()
        _silent(connection)

    def cancel() -> None:
        if asked.is_set():
            cancelled()

    with pytest.raises(JobCancelled):
        _checker(request_seconds=30.0).check([serve(silent), serve(silent)], cancel)
