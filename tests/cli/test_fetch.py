"""`crowdnotes fetch` against pages and services on loopback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from typer.testing import CliRunner, Result

from crowdnotes import workspace
from crowdnotes.cli.main import app
from crowdnotes.domain import SourceCategory
from crowdnotes.engines.embedding import make_embedder
from tests.fakes import HashingEmbedder
from tests.shared import put_tables

PAGE = (
    "<html><head><title>Tap water</title><meta property='article:published_time' content='2024-03-02'></head><body>"
    "<article><p>The town's water holds no added chalk, says the water board of the town.</p>"
    "<p>Hard water carries dissolved calcium, which is harmless for those who drink it.</p></article></body></html>"
)
ABSTRACT = "Two doses of the vaccine protect 97 of 100 people, as a trial of many years in six countries has shown."


@pytest.fixture(autouse=True)
def _settings(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CROWDNOTES_DATA_DIR", str(tmp_path / "data"))
    put_tables(tmp_path / "data" / "crowdnotes.sqlite")
    monkeypatch.setenv("CROWDNOTES_ALLOWED_PRIVATE_HOSTS", '["127.0.0.1"]')
    monkeypatch.setenv("CROWDNOTES_SEARCH_EUROPE_PMC_URL", httpserver.url_for("/epmc"))
    monkeypatch.setattr(workspace, "make_embedder", lambda settings, _: make_embedder(settings, HashingEmbedder()))
    headers = {"Cache-Control": "max-age=600"}
    httpserver.expect_request("/water").respond_with_data(PAGE, content_type="text/html", headers=headers)
    httpserver.expect_request("/doi/10.1000/abc").respond_with_data("Pay!", status=402, content_type="text/html")
    record = {"doi": "10.1000/ABC", "pmid": "7", "title": "The trial", "abstractText": ABSTRACT}
    httpserver.expect_request("/epmc/search").respond_with_json({"hitCount": 1, "resultList": {"result": [record]}})


def _run(*words: str) -> Result:
    return CliRunner().invoke(app, ["fetch", *words])


def _json(*words: str) -> dict[str, Any]:
    ended = _run(*words, "--json")
    assert ended.exit_code == 0, ended.output
    shown: dict[str, Any] = json.loads(ended.stdout)
    return shown


def test_a_page_is_shown_with_all_that_is_known_of_it(httpserver: HTTPServer) -> None:
    shown = _json(httpserver.url_for("/water"))
    assert (shown["outcome"], shown["title"], shown["published"]) == ("read", "Tap water", "2024-03-02")
    assert (shown["date_origin"], shown["category"], shown["language"]) == ("the page", "other", "en")
    assert (shown["read_as"], shown["notices"], shown["passage"]) == ("the page", [], None)
    assert "dissolved calcium" in shown["text"]
    assert shown["characters"] == len(shown["text"])
    assert len(shown["text_sha256"]) == 64


def test_a_reading_service_that_is_not_known_is_told_with_those_that_are(httpserver: HTTPServer) -> None:
    ended = _run(httpserver.url_for("/water"), "--through", "nobody")
    assert ended.exit_code != 0
    assert "jina-reader" in str(ended.exception)


def test_a_page_that_cannot_be_read_is_read_through_the_service_that_is_named(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Loopback is no public address, which alone a service is told.
    monkeypatch.setattr("crowdnotes.evidence.sources.public_address", lambda url, _: url)
    monkeypatch.setenv("CROWDNOTES_SEARCH_JINA_URL", httpserver.url_for("/jina/"))
    httpserver.expect_request("/gone").respond_with_data("Not for you", status=403, content_type="text/html")
    read = {"title": "Tap water", "content": "The town's water holds no added chalk, says the board. " * 9}
    httpserver.expect_request("/jina").respond_with_json({"code": 200, "data": read})
    assert _json(httpserver.url_for("/gone"))["outcome"] != "read"
    shown = _json(httpserver.url_for("/gone"), "--through", "jina-reader")
    assert (shown["outcome"], shown["read_through"]) == ("read", "Jina Reader")
    assert "no added chalk" in shown["text"]


def test_the_best_passage_is_shown_for_a_post(httpserver: HTTPServer) -> None:
    passage = _json(httpserver.url_for("/water"), "--post", "They put chalk in the water!")["passage"]
    assert "no added chalk" in passage["text"]
    shown = _run(httpserver.url_for("/water"), "--post", "They put chalk in the water!").stdout
    assert "no added chalk" in shown
    assert "of 1)" in shown


def test_the_abstract_stands_in_for_a_paper_that_must_be_paid(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Loopback stands for a publisher: the DOI in an address of any other host counts for nothing.
    monkeypatch.setattr("crowdnotes.evidence.search.papers.categorise", lambda _: SourceCategory.RESEARCH)
    shown = _json(httpserver.url_for("/doi/10.1000/abc"))
    assert (shown["outcome"], shown["read_as"], shown["text"]) == ("read", "the abstract", ABSTRACT)
    assert shown["outcome_detail"] == (
        "Only paying readers can see the page (402). We read its abstract from Europe PMC."
    )
    assert "read: the abstract" in _run(httpserver.url_for("/doi/10.1000/abc")).stdout


@pytest.mark.parametrize(("path", "outcome"), [("/none", "server error"), ("http://localhost/x", "refused as unsafe")])
def test_a_page_that_was_not_read_is_a_label_and_no_failure(path: str, outcome: str, httpserver: HTTPServer) -> None:
    shown = _json(path if "://" in path else httpserver.url_for(path))
    assert (shown["outcome"], shown["text"]) == (outcome, None)
    assert shown["outcome_detail"]


def test_what_is_later_than_the_cutoff_is_not_shown(httpserver: HTTPServer) -> None:
    shown = _json(httpserver.url_for("/water"), "--until", "2024-01-01", "--post", "chalk")
    assert (shown["outcome"], shown["text"], shown["passage"]) == ("later than the cutoff", None, None)


def test_the_apps_cache_is_used(httpserver: HTTPServer) -> None:
    for _ in range(2):
        _json(httpserver.url_for("/water"))
    assert len(httpserver.log) == 1


def test_a_cache_of_no_size_keeps_nothing(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CROWDNOTES_FETCH_CACHE_MB", "0")
    for _ in range(2):
        _json(httpserver.url_for("/water"))
    assert len(httpserver.log) == 2
    assert not (tmp_path / "data" / "pages.sqlite").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("hello",), "full web address"),
        (("",), "empty"),
        (("http://[",), "not a valid"),
        (("http://xn--a.com/",), "no valid host name"),
        (("http://a.org/", "--until", "soon"), "not a day"),
    ],
)
def test_what_is_no_link_or_day_ends_with_one_sentence(words: tuple[str, ...], sentence: str) -> None:
    ended = _run(*words)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert sentence in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_bytes_that_are_no_text_end_with_a_label() -> None:
    shown = _json("http://127.0.0.1:1/\udcff\udcfe", "--post", "\udcff")
    assert shown["outcome"] == "unreachable"
