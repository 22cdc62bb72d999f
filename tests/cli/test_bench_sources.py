"""`crowdnotes bench utility`: sources of a library beside pages on loopback, judged blind by a scripted model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from typer.testing import CliRunner

from crowdnotes import workspace
from crowdnotes.cli.main import app
from crowdnotes.engines.embedding import make_embedder
from crowdnotes.studies.bench.source_study import saved_study
from tests.cases.walk import post_about, small_workspace
from tests.fakes import HashingEmbedder
from tests.llm_server import Body, LLMServer, honest

_PAGE = "<html><head><title>The Kettle: a Watch!</title></head><body><article>{}</article></body></html>".format(
    "<p>The kettle was watched for years, and nobody who drank from the kettle fell ill.</p>" * 3
)
_LIBRARY = "records.example.net: about the"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, httpserver: HTTPServer) -> Iterator[LLMServer]:
    """A library, one page that can be read and one that is gone, and a model whose answers a test may change."""
    monkeypatch.setenv("CROWDNOTES_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("CROWDNOTES_ALLOWED_PRIVATE_HOSTS", '["127.0.0.1"]')
    monkeypatch.setattr(workspace, "make_embedder", lambda settings, _: make_embedder(settings, HashingEmbedder()))
    httpserver.expect_request("/kettle").respond_with_data(_PAGE, content_type="text/html")
    httpserver.expect_request("/lantern-light-is-safe").respond_with_data("Gone", status=404)
    small_workspace(tmp_path).close()
    with LLMServer(honest).running() as running:
        monkeypatch.setenv("CROWDNOTES_LLM_BASE_URL", running.base_url)
        monkeypatch.setenv("CROWDNOTES_LLM_MODEL", "small")
        yield running


def _posts(folder: Path, httpserver: HTTPServer) -> Path:
    """A note whose page can be read, one whose page is gone, one that the library knows nothing for, one of no link."""
    cited = {
        post_about("kettle"): f"It is safe. {httpserver.url_for('/kettle')}",
        post_about("lantern"): f"It is safe. {httpserver.url_for('/lantern-light-is-safe')}",
        "Xylophones outsell zithers everywhere.": f"No. {httpserver.url_for('/kettle')}",
        post_about("orchard"): "It is safe.",
    }
    rows = [
        {
            "note_id": str(number),
            "post": post,
            "note": note,
            "created_at_ms": 1_709_300_000_000,
            "status": f"CURRENTLY_RATED_{'' if number % 2 else 'NOT_'}HELPFUL",
        }
        for number, (post, note) in enumerate(cited.items(), 1)
    ]
    file = folder / "posts.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return file


def _run(folder: Path, httpserver: HTTPServer, *words: str) -> Any:
    where = ["--data", str(_posts(folder, httpserver)), "--out", str(folder / "run"), "--engine", "local"]
    library = ["--library", "topics", "--library-date", "topics=2020-01-01"]
    return CliRunner().invoke(app, ["bench", "utility", *where, *library, *words])


def _pairs(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (folder / "run" / "pairs.jsonl").read_text(encoding="utf-8").splitlines()]


def _prefers(own: str) -> Callable[[Body], str]:
    """A judge that likes the library's sources better, wherever they stand; with "" it likes the left."""

    def answer(body: Body) -> str:
        said = str(body["messages"][-1]["content"])
        if "left sources" not in said:
            return honest(body)
        left = not own or own in said.split("left sources")[1].split("right sources", maxsplit=1)[0]
        return json.dumps({"why": "It speaks to the claim.", "better": "left" if left else "right"})

    return answer


def test_blind_pairs_are_alike_on_both_sides_and_show_pages_only_where_all_were_read(
    tmp_path: Path, server: LLMServer, httpserver: HTTPServer
) -> None:
    ended = _run(tmp_path, httpserver)
    assert ended.exit_code == 0, (ended.stderr, ended.exception)
    kettle, lantern = _pairs(tmp_path)
    assert {side.split("\n")[0] for side in (kettle["left"], kettle["right"])} == {
        f"1. {_LIBRARY} kettle",
        "1. 127.0.0.1: the kettle watch",
    }
    assert all("The kettle was watched for years" in side for side in (kettle["left"], kettle["right"]))
    assert {lantern["left"], lantern["right"]} == {f"1. {_LIBRARY} lantern", "1. 127.0.0.1: lantern light is safe"}
    assert "4 posts: 2 compared, 1 with passages; nothing found for 1; 1 without a link" in ended.stdout
    assert server.requests == []


def test_a_judge_that_knows_the_better_side_is_counted_in_both_orders_and_saved(
    tmp_path: Path, server: LLMServer, httpserver: HTTPServer
) -> None:
    server.answer = _prefers("records.example.net")
    ended = _run(tmp_path, httpserver, "--judge", "--save", "--json")
    assert ended.exit_code == 0, (ended.stderr, ended.exception)
    found = json.loads(ended.stdout)
    assert found["wins"]["all"] == {"pairs": 2, "won": 2, "lost": 0, "tied": 0, "rate": 1.0, "low": 1.0, "high": 1.0}
    assert found["wins"]["not helpful"]["pairs"] == 1
    assert found["with_none"] == pytest.approx(2 / 3)
    assert found["kinds"] == {"other": [2, 2]}
    asked = [str(body["messages"][-1]["content"]) for body in server.requests]
    assert len(asked) == 4
    assert sum("records.example.net" in one.split("right sources")[0] for one in asked) == 2
    kept = saved_study(tmp_path / "data")
    assert kept is not None
    assert kept.model_dump(mode="json") == found


def test_a_judge_that_goes_by_the_side_alone_comes_to_a_tie_and_one_against_is_told(
    tmp_path: Path, server: LLMServer, httpserver: HTTPServer
) -> None:
    server.answer = _prefers("")
    assert json.loads(_run(tmp_path, httpserver, "--judge", "--json").stdout)["wins"]["all"]["tied"] == 2
    votes = tmp_path / "votes.jsonl"
    for_theirs = [
        {
            "pair": pair["pair"],
            "reader": "ann",
            "votes": {"overall": "left" if pair["left"].startswith("1. 127") else "right"},
            "why": "The library misses the point.",
        }
        for pair in _pairs(tmp_path)
    ]
    votes.write_text("\n".join(map(json.dumps, for_theirs)), encoding="utf-8")
    counted = _run(tmp_path, httpserver, "--votes", str(votes))
    assert "all: 0 % (0–0) of 2 pairs; 0 won, 2 lost, 0 tied" in counted.stdout
    told = json.loads(_run(tmp_path, httpserver, "--votes", str(votes), "--json").stdout)
    assert told["lost"][0]["why"] == ["The library misses the point."]


def test_what_cannot_be_compared_is_refused_in_a_sentence(
    tmp_path: Path, server: LLMServer, httpserver: HTTPServer
) -> None:
    unsaved = _run(tmp_path, httpserver, "--save")
    assert "Nobody has voted yet" in str(unsaved.exception)
    other = _run(tmp_path, httpserver, "--sources", "3")
    assert "holds a run with other options (sources)" in str(other.exception)
