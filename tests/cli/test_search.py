"""`crowdnotes search` and `crowdnotes providers check` against services on loopback."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from typer.testing import CliRunner, Result

from crowdnotes import workspace
from crowdnotes.cli.main import app
from crowdnotes.engines.embedding import make_embedder
from crowdnotes.errors import InputError, SearchError
from tests.fakes import HashingEmbedder
from tests.shared import put_tables

_SERVICES = ("EUROPE_PMC", "PUBMED", "MEDLINEPLUS", "WIKIPEDIA", "CROSSREF")


@pytest.fixture(autouse=True)
def _settings(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CROWDNOTES_DATA_DIR", str(tmp_path / "data"))
    put_tables(tmp_path / "data" / "crowdnotes.sqlite")
    monkeypatch.setattr(workspace, "make_embedder", lambda settings, _: make_embedder(settings, HashingEmbedder()))
    for service in _SERVICES:
        monkeypatch.setenv(f"CROWDNOTES_SEARCH_{service}_URL", httpserver.url_for(f"/{service}"))
    paper = {
        "title": "No chalk in tap water",
        "pmid": "7",
        "abstractText": "None.",
        "firstPublicationDate": "2020-01-01",
    }
    httpserver.expect_request("/EUROPE_PMC/search").respond_with_json(
        {"hitCount": 1, "resultList": {"result": [paper]}}
    )
    httpserver.expect_request("/CROSSREF/works").respond_with_data("not JSON")


def _run(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def test_a_search_prints_queries_outcomes_and_hits() -> None:
    chosen = ("--provider", "europe-pmc", "--provider", "crossref")
    ended = _run("search", "They put chalk in the town's water!", *chosen, "--json")
    assert ended.exit_code == 0, ended.output
    shown = json.loads(ended.stdout)
    assert shown["queries"]
    assert {one["provider"]: one["state"] for one in shown["providers"]} == {
        "europe-pmc": "answered",
        "crossref": "failed",
    }
    assert [hit["url"] for hit in shown["hits"]] == ["https://pubmed.ncbi.nlm.nih.gov/7/"]


def test_a_named_library_alone_asks_nobody_else(httpserver: HTTPServer, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("title,text\nChalk,The town's water holds no chalk at all.\n", encoding="utf-8")
    assert _run("library", "add", str(tmp_path / "t.csv"), "--name", "town").exit_code == 0
    shown = json.loads(_run("search", "They put chalk in the water!", "--library", "town", "--json").stdout)
    assert [hit["library"] for hit in shown["hits"]] == ["town"]
    assert httpserver.log == []


def test_the_check_names_every_provider_with_a_sentence_for_those_that_do_not_answer() -> None:
    shown = {one["provider"]: one for one in json.loads(_run("providers", "check", "--json").stdout)}
    assert shown["europe-pmc"]["state"] == "answered"
    assert shown["brave"]["state"] == "not configured"
    assert all(one["sentence"] for one in shown.values() if one["state"] != "answered")


def test_the_check_says_what_was_asked_what_came_back_and_which_setting_would_help(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies = {"WIKIPEDIA": (429, "Too many"), "BRAVE": (401, "no such key: s3cret"), "GOOGLE_FACT_CHECK": (200, "{}")}
    for name, (status, body) in bodies.items():
        monkeypatch.setenv(f"CROWDNOTES_SEARCH_{name}_URL", httpserver.url_for(f"/{name}"))
        monkeypatch.setenv(f"CROWDNOTES_SEARCH_{name}_KEY", "s3cret")
        httpserver.expect_request(re.compile(f"/{name}/.*")).respond_with_data(
            body, status=status, headers={"Retry-After": "25"}, content_type="text/plain"
        )
    httpserver.expect_request(re.compile("/MEDLINEPLUS/.*")).respond_with_data("<html>", content_type="text/html")
    ended = _run("providers", "check", "--json")
    assert "s3cret" not in ended.output
    shown = {one["provider"]: one for one in json.loads(ended.stdout)}
    (asked,) = shown["wikipedia"]["exchanges"]
    assert asked["asked"].endswith("/WIKIPEDIA/api.php")
    assert asked["answer"] == "429, text/plain, 8 bytes: “Too many”"
    settings = {name: one["setting"].partition(":")[0] for name, one in shown.items()}
    assert settings["wikipedia"] == "CROWDNOTES_SEARCH_CONTACT_EMAIL"
    assert settings["brave"] == "CROWDNOTES_SEARCH_BRAVE_KEY"
    assert settings["searxng"] == "CROWDNOTES_SEARCH_SEARXNG_URL"
    assert settings["medlineplus"] == "CROWDNOTES_SEARCH_MEDLINEPLUS_URL"
    assert settings["crossref"] == settings["europe-pmc"] == ""
    told = _run("providers", "check")
    assert "s3cret" not in told.output
    for line in ("measles vaccine", "    answered  429, text/plain", "    setting   CROWDNOTES_SEARCH_CONTACT_EMAIL: "):
        assert line in told.output
    assert "It found nothing." in told.output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["search", " "], "What should we search for"),
        (["search", "x", "--until", "soon"], "not a day"),
        (["search", "x", "--provider", "altavista"], "“altavista” is not a search service"),
        (["search", "x", "--library", "none"], "“library:none” is not a search service"),
    ],
)
def test_words_that_are_off_are_refused_in_a_sentence(words: list[str], sentence: str) -> None:
    ended = _run(*words)
    assert isinstance(ended.exception, InputError)
    assert sentence in str(ended.exception)


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_search_that_nobody_answered_is_an_error_and_not_an_empty_result(form: tuple[str, ...]) -> None:
    ended = _run("search", "They put chalk in the water!", "--provider", "crossref", *form)
    assert ended.exit_code == 1
    assert isinstance(ended.exception, SearchError)
    assert "The search failed." in str(ended.exception)
    assert "Nothing found." not in ended.output
    if form:
        assert [one["state"] for one in json.loads(ended.stdout)["providers"]] == ["failed"]
