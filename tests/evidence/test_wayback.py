"""Whether the Wayback Machine has a copy, asked on a loopback server in its documented shape."""

from __future__ import annotations

import json
from datetime import date

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from crowdnotes.errors import JobCancelled
from crowdnotes.evidence.fetching import no_check
from crowdnotes.evidence.wayback import Wayback, make_wayback
from crowdnotes.settings import Settings
from crowdnotes.settings_sections import ArchiveSettings
from tests.shared import cancelled

PAGE = "https://news.example.org/2021/story"


def _answer(timestamp: str, status: str = "200", *, available: bool = True) -> dict[str, object]:
    link = f"http://web.archive.org/web/{timestamp}/{PAGE}"
    closest = {"available": available, "url": link, "timestamp": timestamp, "status": status}
    return {"url": PAGE, "archived_snapshots": {"closest": closest}}


def _has(httpserver: HTTPServer, *timestamps: str) -> None:
    """The server answers with the copy nearest to the timestamp asked for, as the service does."""

    def nearest(request: Request) -> Response:
        wanted = int(request.args.get("timestamp", "99991231235959"))
        found = min(timestamps, key=lambda made: abs(int(made) - wanted), default=None)
        body = _answer(found) if found else {"url": PAGE, "archived_snapshots": {}}
        return Response(json.dumps(body), content_type="application/json")

    httpserver.expect_request("/wayback/available").respond_with_handler(nearest)


def test_the_newest_copy_is_named_with_its_day(httpserver: HTTPServer, wayback: Wayback) -> None:
    _has(httpserver, "20200102030405", "20230304050607")
    copy, told = wayback.ask(f"{PAGE}#part", None, no_check)
    assert copy is not None
    assert told == "The Wayback Machine has a copy of 4 March 2023."
    assert copy.url == f"https://web.archive.org/web/20230304050607/{PAGE}"
    assert copy.made == date(2023, 3, 4)
    [(request, _)] = httpserver.log
    assert dict(request.args) == {"url": PAGE}


@pytest.mark.parametrize(
    ("until", "made"),
    [
        (date(2021, 1, 1), date(2020, 12, 30)),
        (date(2020, 12, 30), date(2020, 12, 30)),
        (date(2022, 12, 31), date(2020, 1, 2)),  # the nearest is a day too late, so the oldest is named
        (date(2019, 12, 31), None),
    ],
)
def test_a_copy_is_never_later_than_the_cutoff(
    httpserver: HTTPServer, wayback: Wayback, until: date, made: date | None
) -> None:
    _has(httpserver, "20200102030405", "20201230235959", "20230101000000")
    copy, _ = wayback.ask(PAGE, until, no_check)
    assert (copy.made if copy else None) == made


def test_no_copy_is_said(httpserver: HTTPServer, wayback: Wayback) -> None:
    _has(httpserver)
    assert wayback.ask(PAGE, None, no_check) == (None, "The Wayback Machine has no copy.")
    told = wayback.ask(PAGE, date(2021, 5, 6), no_check)
    assert told == (None, "The Wayback Machine has no copy up to 6 May 2021.")


@pytest.mark.parametrize("body", [_answer("20200102030405", "404"), _answer("20200102030405", available=False)])
def test_a_copy_of_an_error_is_none(httpserver: HTTPServer, wayback: Wayback, body: dict[str, object]) -> None:
    httpserver.expect_request("/wayback/available").respond_with_json(body)
    assert wayback.ask(PAGE, None, no_check) == (None, "The Wayback Machine has no copy.")


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/x",
        "https://intranet/x",
        "https://8.8.8.8/x",
        "https://[2606:4700::1111]/x",
        "https://nas.lan/x",
        "https://printer.local/x",
        "https://db.internal/x",
        "https://wiki.corp/x",
        "https://router.home.arpa/x",
        "https://page.onion/x",
        "https://wiki.company.org/page",
        "https://user:secret@news.example.org/x",
        "https://page.crowdnotes.example/x",
        "https://web.archive.org/web/2020/https://news.example.org/x",
        "ftp://news.example.org/x",
        "no address",
        "http://[",
    ],
)
def test_nothing_is_asked_about_what_is_not_public_or_a_copy(
    httpserver: HTTPServer, wayback: Wayback, url: str
) -> None:
    assert wayback.ask(url, None, no_check) == (None, "")
    assert httpserver.log == []


@pytest.mark.parametrize(
    "response",
    [
        Response("busy", 503),
        Response("slow down", 429, {"Retry-After": "60"}),
        Response("<html>maintenance</html>", 200),
        Response("[]", 200),
        Response("{}", 200),
        Response('{"archived_snapshots": []}', 200),
        Response('{"archived_snapshots": {"closest": {"available": true, "status": "200", "timestamp": "20"}}}', 200),
        Response('{"archived_snapshots": {"closest": {"available": true, "status": "200", "timestamp": null}}}', 200),
        Response("", 200),
    ],
)
def test_what_it_does_wrong_is_not_no_copy(httpserver: HTTPServer, wayback: Wayback, response: Response) -> None:
    httpserver.expect_request("/wayback/available").respond_with_response(response)
    copy, told = wayback.ask(PAGE, None, no_check)
    assert copy is None
    assert told.startswith(("The Wayback Machine: It ", "The Wayback Machine: Its "))


def test_an_archive_that_asks_for_quiet_is_left_alone(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/wayback/available").respond_with_response(Response("Too Many Requests", 429))
    wayback = make_wayback(Settings(archive=ArchiveSettings(ask=True, url=httpserver.url_for(""))))
    assert wayback is not None
    assert [wayback.ask(f"{PAGE}{n}", None, no_check)[0] for n in range(3)] == [None] * 3
    assert len(httpserver.log) == 1


def test_a_cancelled_job_asks_nothing(httpserver: HTTPServer, wayback: Wayback) -> None:
    with pytest.raises(JobCancelled):
        wayback.ask(PAGE, None, cancelled)
    assert httpserver.log == []


def test_it_can_be_switched_off() -> None:
    assert make_wayback(Settings(archive=ArchiveSettings(ask=False))) is None


@pytest.mark.parametrize("private", ["wiki.company.org", "wiki.company.org:8443"])
def test_a_private_host_named_with_its_port_or_without_and_a_signed_address_are_told_to_nobody(private: str) -> None:
    made = make_wayback(Settings(archive=ArchiveSettings(ask=True), allowed_private_hosts=(private,)))
    assert made is not None
    assert not made.public_address("https://wiki.company.org/page")
    assert not made.public_address("https://wiki.company.org:8443/page")
    assert not made.public_address("https://files.example.org/report?signature=abc")
    assert made.public_address("https://www.company.org:8443/page")
