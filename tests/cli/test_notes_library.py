"""Earlier notes in a whole case: their links are read and labelled, their words reach no prompt; and `bench reach`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pytest_httpserver import HTTPServer
from typer.testing import CliRunner

from crowdnotes import workspace
from crowdnotes.cli.main import app
from crowdnotes.engines.embedding import make_embedder
from tests.cases.walk import small_workspace
from tests.fakes import HashingEmbedder
from tests.llm_server import LLMServer, honest

_PAGE = "<html><head><title>The kettle</title></head><body><article>{}</article></body></html>".format(
    "<p>The kettle was watched for years, and nobody who drank from the kettle fell ill.</p>" * 3
)
_POST = "The kettle makes people ill, whoever says otherwise!"
_SECRET = "Zanzibar"  # a word that stands in the notes alone
_DAY_MS = 86_400_000
_WRITTEN = 1_709_300_000_000


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, httpserver: HTTPServer) -> Iterator[LLMServer]:
    """A library of notes on the kettle under the posts 7, 8 and 9; two of them cite a page on loopback."""
    monkeypatch.setenv("CROWDNOTES_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("CROWDNOTES_ALLOWED_PRIVATE_HOSTS", '["127.0.0.1"]')
    monkeypatch.setattr(workspace, "make_embedder", lambda settings, _: make_embedder(settings, HashingEmbedder()))
    httpserver.expect_request("/kettle").respond_with_data(_PAGE, content_type="text/html")
    page = httpserver.url_for("/kettle")
    said = f"The {_SECRET} kettle makes nobody ill."
    notes = [
        (1, 7, _WRITTEN - 20 * _DAY_MS, f"{said} {page}"),
        (2, 8, _WRITTEN - _DAY_MS, f"The kettle of {_SECRET} is safe, people. {page}"),
        (3, 9, _WRITTEN - 30 * _DAY_MS, f"A kettle is ill-made in {_SECRET}. https://kettles.example.org/other"),
    ]
    table = pd.DataFrame(notes, columns=["noteId", "tweetId", "createdAtMillis", "summary"])
    table.to_parquet(tmp_path / "notes.parquet")
    small_workspace(tmp_path).close()
    added = CliRunner().invoke(
        app, ["library", "add", str(tmp_path / "notes.parquet"), "--name", "x", "--kind", "notes"]
    )
    assert added.exit_code == 0, added.stderr
    with LLMServer(honest).running() as running:
        monkeypatch.setenv("CROWDNOTES_LLM_BASE_URL", running.base_url)
        monkeypatch.setenv("CROWDNOTES_LLM_MODEL", "small")
        yield running


def _json(*words: str) -> Any:
    ended = CliRunner().invoke(app, [*words, "--json"])
    assert ended.exit_code == 0, (ended.stderr, ended.exception)
    return json.loads(ended.stdout)


@pytest.mark.deep
def test_a_page_that_earlier_notes_cite_is_read_and_labelled_and_their_words_are_in_no_prompt(
    server: LLMServer,
) -> None:
    at = "https://x.com/a/status/8"
    case = _json("draft", "--post", _POST, "--library", "x", "--mode", "automation", "--post-url", at)
    source = next(item["source"] for item in case["evidence"])
    assert source["title"] == "The kettle"
    assert [note["post"] for note in source["notes"]] == [7]  # 8 is the post itself
    assert _SECRET in source["notes"][0]["text"]
    assert case["draft"]
    asked = json.dumps([body["messages"] for body in server.requests])
    assert "cited by a note under a similar post, 2024" in asked
    assert _SECRET not in asked
    assert _SECRET not in json.dumps([case["draft"], case["candidates"]])


def _posts(folder: Path, httpserver: HTTPServer, note: str = "Nobody fell ill of a watched one.") -> str:
    row = {
        "note_id": "99",
        "post": _POST,
        "note": f"{note} {httpserver.url_for('/kettle')}",
        "created_at_ms": _WRITTEN,
        "status": "CURRENTLY_RATED_HELPFUL",
    }
    others = [row | {"status": "CURRENTLY_RATED_NOT_HELPFUL"}, row | {"note_id": "98", "note": "No link."}]
    file = folder / "posts.jsonl"
    file.write_text("\n".join(map(json.dumps, [row, *others])), encoding="utf-8")
    return str(file)


def test_reach_counts_the_page_that_the_human_note_cites_and_says_what_did_not_run(
    tmp_path: Path, server: LLMServer, httpserver: HTTPServer
) -> None:
    where = "library:x,library:topics,brave"
    found = _json("bench", "reach", "--data", _posts(tmp_path, httpserver), "--providers", where)
    assert (found["posts"], found["uncited"]) == (1, 1)
    by_name = {one["provider"]: one for one in found["reaches"]}
    assert by_name["library:x"]["shares"]["page@5"] == {"share": 1.0, "interval": [0.2065, 1.0]}
    assert by_name["library:topics"]["shares"]["site@10"]["share"] == 0.0
    assert by_name["together"]["shares"]["page@10"]["share"] == 1.0
    assert by_name["brave"]["shares"] == {}
    assert "CROWDNOTES_SEARCH_BRAVE_KEY" in by_name["brave"]["not_run"]
    text = CliRunner().invoke(app, ["bench", "reach", "--data", _posts(tmp_path, httpserver), "--providers", where])
    assert "brave: NOT RUN." in text.stdout


def test_reach_leaves_out_near_copies_and_what_was_written_just_before(
    tmp_path: Path, server: LLMServer, httpserver: HTTPServer
) -> None:
    data = _posts(tmp_path, httpserver, f"The {_SECRET} kettle makes nobody ill, says a page.")
    (one,) = _json("bench", "reach", "--data", data, "--providers", "library:x")["reaches"]
    assert one["posts"] == 1
    assert one["shares"]["page@10"]["share"] == 0.0


def test_reach_names_a_provider_that_there_is_not(tmp_path: Path, server: LLMServer, httpserver: HTTPServer) -> None:
    ended = CliRunner().invoke(app, ["bench", "reach", "--data", _posts(tmp_path, httpserver), "--providers", "bing"])
    assert "“bing” is not a search service" in str(ended.exception)
