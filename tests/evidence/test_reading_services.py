"""Tavily Extract and Jina Reader, on a loopback server that answers as they are documented, errors included."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from crowdnotes.domain import ProviderState
from crowdnotes.errors import SearchError
from crowdnotes.evidence.fetching import no_check
from crowdnotes.evidence.reading.reading_services import (
    JinaReader,
    ReadingService,
    TavilyExtract,
    check_reading,
    make_reading_services,
    plain_markdown,
)
from crowdnotes.settings_sections import SearchSettings

URL = "https://news.example.org/2024/story"
WORDS = "In those trials, people who took vitamin C every day caught as many colds as people who took none. "
LIST = "* [The review](https://a.example/r)"
MARKDOWN = f"# Vitamin C\n\n![A pill](https://a.example/p.png) **{WORDS.strip()}**\n\n{LIST}\n{WORDS * 2}"


@pytest.fixture(autouse=True)
def fresh_paces(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that asked for a pause in one test is asked again in the next."""
    monkeypatch.setattr("crowdnotes.evidence.search.service._shared_pacers", {})


def _tavily(key: str | None = None) -> Callable[[str], ReadingService]:
    return lambda base: TavilyExtract.make(SearchSettings(of_providers={"tavily_url": base, "tavily_key": key}))


def _jina(key: str | None = None) -> Callable[[str], ReadingService]:
    return lambda base: JinaReader.make(SearchSettings(of_providers={"jina_url": base, "jina_key": key}))


def _answers(httpserver: HTTPServer, body: object, status: int = 200) -> list[Request]:
    asked: list[Request] = []

    def answer(request: Request) -> Response:
        asked.append(request)
        return Response(body if isinstance(body, str) else json.dumps(body), status, content_type="application/json")

    httpserver.expect_request("/extract", "POST").respond_with_handler(answer)
    httpserver.expect_request("/", "POST").respond_with_handler(answer)
    return asked


def _extracted(content: str = MARKDOWN) -> dict[str, object]:
    return {"results": [{"url": URL, "raw_content": content, "images": []}], "failed_results": [], "response_time": 0.2}


def _read_by_jina(**data: object) -> dict[str, object]:
    page = {"title": "Vitamin C", "description": "", "url": URL, "content": MARKDOWN, "usage": {"tokens": 80}}
    return {"code": 200, "status": 20000, "data": page | data}


@pytest.mark.parametrize("key", [None, "tvly-secret"])
def test_tavily_is_asked_with_the_key_or_as_a_guest_and_its_markdown_becomes_plain_text(
    httpserver: HTTPServer, key: str | None
) -> None:
    asked = _answers(httpserver, _extracted())
    read = _tavily(key)(httpserver.url_for("")).read(URL, no_check)
    assert (read.title, read.language) == ("Vitamin C", "en")
    assert read.text.startswith(f"Vitamin C\n\n{WORDS.strip()}\n\nThe review\n")
    assert json.loads(asked[0].data) == {"urls": [URL], "extract_depth": "basic", "format": "markdown"}
    assert asked[0].headers.get("Authorization") == (f"Bearer {key}" if key else None)
    assert asked[0].headers.get("X-Tavily-Access-Mode") == (None if key else "keyless")


def test_jina_gives_title_text_and_date(httpserver: HTTPServer) -> None:
    asked = _answers(httpserver, _read_by_jina(publishedTime="2024-05-06T07:08:09Z"))
    read = _jina("jina-secret")(httpserver.url_for("/")).read(URL, no_check)
    assert (read.title, read.published) == ("Vitamin C", date(2024, 5, 6))
    assert WORDS.strip() in read.text
    assert json.loads(asked[0].data) == {"url": URL}
    assert asked[0].headers["Accept"] == "application/json"
    assert asked[0].headers["Authorization"] == "Bearer jina-secret"


_FORBIDDEN = {"warning": "Target URL returned error 403: Forbidden"}
_UNKNOWN = "not in the documented form"
_FAILED = {"results": [], "failed_results": [{"url": URL, "error": "Failed to <b>fetch</b> url"}]}


@pytest.mark.parametrize(
    ("make", "body", "status", "state", "said"),
    [
        (_tavily(), _FAILED, 200, ProviderState.FAILED, "It could not read the page: Failed to fetch url."),
        (_tavily(), {"results": [], "failed_results": []}, 200, ProviderState.FAILED, "It could not read the page."),
        (_tavily(), _extracted("Please wait."), 200, ProviderState.FAILED, "It found hardly any text."),
        (_tavily(), "<!doctype html><html>", 200, ProviderState.FAILED, "a web page, not results"),
        (_tavily(), {"results": 7}, 200, ProviderState.FAILED, _UNKNOWN),
        (_tavily("k"), {"detail": {"error": "Unauthorized"}}, 401, ProviderState.FAILED, "Check its key."),
        (_tavily(), {}, 429, ProviderState.RATE_LIMITED, "asked too often"),
        (_tavily(), {}, 432, ProviderState.RATE_LIMITED, "asked too often"),
        (_jina(), _read_by_jina(**_FORBIDDEN), 200, ProviderState.FAILED, "an error (403)"),
        (_jina(), {"code": 422, "readableMessage": "No such host"}, 200, ProviderState.FAILED, "No such host."),
        (_jina(), {"code": 200, "data": None}, 200, ProviderState.FAILED, _UNKNOWN),
        (_jina("k"), {"code": 401}, 401, ProviderState.FAILED, "Check its key."),
        (_jina("k"), {"code": 402}, 402, ProviderState.FAILED, "Its quota is used up (402)."),
        (_jina(), {"code": 429}, 429, ProviderState.RATE_LIMITED, "asked too often"),
        (_jina(), {"code": 451}, 451, ProviderState.FAILED, "It refused the request (451)."),
        (_jina(), "<html>", 200, ProviderState.FAILED, "a web page, not results"),
        (_jina(), "", 200, ProviderState.FAILED, "empty"),
    ],
)  # fmt: skip
def test_whatever_goes_wrong_is_a_sentence(
    httpserver: HTTPServer,
    make: Callable[[str], ReadingService],
    body: object,
    status: int,
    state: ProviderState,
    said: str,
) -> None:
    asked = _answers(httpserver, body, status)
    with pytest.raises(SearchError) as failed:
        make(httpserver.url_for("/").rstrip("/")).read(URL, no_check)
    assert failed.value.state is state
    assert said in str(failed.value)
    assert len(asked) == 1, "a person waits for it: it is not tried again"


def test_providers_check_tells_of_each(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/extract").respond_with_json(_extracted())
    httpserver.expect_request("/").respond_with_json({"code": 402}, 402)
    base = httpserver.url_for("/").rstrip("/")
    services = make_reading_services(SearchSettings(of_providers={"tavily_url": base, "jina_url": base}))
    told = check_reading(services, no_check)
    assert [(item.provider, item.state) for item in told] == [
        ("tavily-extract", ProviderState.ANSWERED),
        ("jina-reader", ProviderState.FAILED),
    ]


@given(st.text(alphabet="[]()!*_#>-= ab\n", max_size=200))
def test_any_markdown_is_made_plain_without_growing(text: str) -> None:
    assert len(plain_markdown(text)) <= len(text)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            "# Just a moment...\n\nChecking your browser before accessing the site. " + "Ray ID 12345. " * 20,
            "nothing to programs",
        ),
        ("# Page not found\n\n" + "Go back to the home page to find what you need. " * 6, "does not exist"),
        (
            "# Wells\n\n" + "Wkh ydfflqh zdv whvwhg lq wkuhh skdvhv ehiruh d uhjxodwru doorzhg wkh xvh ri lw. " * 4,
            "garbled",
        ),
    ],
)
def test_what_stands_in_the_place_of_a_page_is_not_read_through_a_service_either(
    httpserver: HTTPServer, content: str, said: str
) -> None:
    _answers(httpserver, _extracted(content))
    with pytest.raises(SearchError, match=said):
        _tavily()(httpserver.url_for("")).read(URL, no_check)


def test_struck_out_words_and_powers_in_markdown_are_read_as_printed(httpserver: HTTPServer) -> None:
    _answers(httpserver, _extracted(f"{WORDS * 2}It was ~~412~~ 4 wells and 10<sup>6</sup> cells."))
    assert "It was 4 wells and 10^6 cells." in _tavily()(httpserver.url_for("")).read(URL, no_check).text
