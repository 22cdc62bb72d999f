"""Redirects are followed by hand, each through the guard, and only so far."""

from __future__ import annotations

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from crowdnotes.domain import FetchOutcome
from crowdnotes.evidence.fetching import Fetcher
from tests.evidence.conftest import Serve

HTML = "<html><body><p>Vaccines are tested.</p></body></html>"


def _chain(httpserver: HTTPServer, hops: int) -> str:
    for hop in range(hops):
        httpserver.expect_request(f"/{hop}").respond_with_data("", status=302, headers={"Location": f"/{hop + 1}"})
    httpserver.expect_request(f"/{hops}").respond_with_data(HTML, content_type="text/html")
    return httpserver.url_for("/0")


def test_five_redirects_are_followed(httpserver: HTTPServer, fetcher: Fetcher) -> None:
    page = fetcher.fetch(_chain(httpserver, 5))
    assert page.outcome is FetchOutcome.READ
    assert page.url == httpserver.url_for("/5")
    assert page.requested_url == httpserver.url_for("/0")


def test_six_redirects_are_too_many(httpserver: HTTPServer, fetcher: Fetcher) -> None:
    page = fetcher.fetch(_chain(httpserver, 6))
    assert page.outcome is FetchOutcome.UNREACHABLE
    assert "more than 5 times" in page.detail


def test_a_redirect_loop_ends(httpserver: HTTPServer, fetcher: Fetcher) -> None:
    httpserver.expect_request("/").respond_with_data("", status=301, headers={"Location": "/"})
    assert fetcher.fetch(httpserver.url_for("/")).outcome is FetchOutcome.UNREACHABLE
    assert len(httpserver.log) == 6


@pytest.mark.parametrize(
    "location",
    [
        "http://localhost:{port}/secret",
        "http://2130706433:{port}/secret",
        "http://[::ffff:127.0.0.1]:{port}/secret",
        "http://user:password@127.0.0.1:{port}/secret",
        "//localhost:{port}/secret",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http://169.254.169.254/latest/meta-data/",
    ],
)
def test_a_private_address_is_refused_at_each_redirect(location: str, httpserver: HTTPServer, fetcher: Fetcher) -> None:
    httpserver.expect_request("/secret").respond_with_data("secret", content_type="text/plain")
    httpserver.expect_request("/0").respond_with_data("", status=307, headers={"Location": "/1"})
    target = location.format(port=httpserver.port)
    httpserver.expect_request("/1").respond_with_data("", status=308, headers={"Location": target})
    page = fetcher.fetch(httpserver.url_for("/0"))
    assert page.outcome is FetchOutcome.REFUSED
    assert not any(request.path == "/secret" for request, _ in httpserver.log)


@pytest.mark.parametrize("location", [b"http://[", b"http://\xff\xfe", b"http://a:b:c/", b"http://exa mple.org/"])
def test_a_redirect_to_nonsense_is_a_labelled_failure(location: bytes, serve: Serve, fetcher: Fetcher) -> None:
    url = serve(
        lambda to: to.sendall(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + location + b"\r\n\r\n")
    )
    page = fetcher.fetch(url)
    assert page.outcome in (FetchOutcome.UNREACHABLE, FetchOutcome.REFUSED)
    assert page.detail


@pytest.mark.parametrize("location", ["/" + "." * 4_096, "?" + "a" * 4_090])
def test_a_redirect_to_an_endless_address_is_not_followed(
    location: str, httpserver: HTTPServer, fetcher: Fetcher
) -> None:
    httpserver.expect_request("/0").respond_with_data("", status=302, headers={"Location": location})
    page = fetcher.fetch(httpserver.url_for("/0"))
    assert page.outcome is FetchOutcome.UNREACHABLE
    assert "at most 4,096" in page.detail
    assert page.url == httpserver.url_for("/0")


def test_no_cookie_or_credential_reaches_the_next_hop(httpserver: HTTPServer, fetcher: Fetcher) -> None:
    httpserver.expect_request("/0").respond_with_data(
        "", status=302, headers={"Location": "/1", "Set-Cookie": "session=1; Path=/"}
    )
    seen: list[Request] = []

    def record(request: Request) -> Response:
        seen.append(request)
        return Response(HTML, content_type="text/html")

    httpserver.expect_request("/1").respond_with_handler(record)
    assert fetcher.fetch(httpserver.url_for("/0")).outcome is FetchOutcome.READ
    assert not {"Cookie", "Authorization", "Referer"} & set(dict(seen[0].headers))
    assert seen[0].headers["Host"] == f"127.0.0.1:{httpserver.port}"
    assert seen[0].headers["Accept-Encoding"] == "gzip, deflate"
