"""`crowdnotes bench supernotes`: a supernote for every post, stopped and resumed; and blind pairs of what came."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from crowdnotes import workspace
from crowdnotes.cli.main import app
from crowdnotes.errors import ModelServerError
from crowdnotes.reports.comparison_files import read_pairs
from tests.cases.test_supernote_actions import NOTES, ThinkingEngine, Web
from tests.fakes import HashingEmbedder, LiveLinks


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ThinkingEngine:
    """Commands get this engine, with fakes around it."""
    made = ThinkingEngine()
    monkeypatch.setenv("CROWDNOTES_DATA_DIR", str(tmp_path / "data"))
    opened = partial(
        workspace.open_workspace, embedder=HashingEmbedder(), engine=made, fetcher=Web(), links=LiveLinks()
    )
    monkeypatch.setattr(workspace, "open_workspace", opened)
    return made


def _file(folder: Path) -> Path:
    given = [{"text": note.text, "helpful": 3 - place} for place, note in enumerate(NOTES)]
    rows: list[dict[str, Any]] = [
        {"post_id": "11", "post": "The kettle makes people ill!", "notes": given},
        {"post_id": "12", "notes": given[:2]},
        {"post_id": "13", "notes": [given[0] | {"classification": "NOT_MISLEADING"}]},
    ]
    path = folder / "posts.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def _bench(folder: Path, *words: str) -> Any:
    place = ["--data", str(_file(folder)), "--out", str(folder / "run"), "--candidates", "6", "--json"]
    return CliRunner().invoke(app, ["bench", "supernotes", *place, *words])


def _rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "run" / "notes.jsonl").read_text(encoding="utf-8").splitlines()]


def test_every_post_gets_a_row_and_a_blind_pair_with_the_best_note_it_has(
    tmp_path: Path, engine: ThinkingEngine
) -> None:
    engine.writer.breaks = {2: ModelServerError("The server is gone.")}
    engine.writer.breaks |= {number: ModelServerError("The server is gone.") for number in range(3, 9)}
    assert isinstance(_bench(tmp_path).exception, ModelServerError)
    done = len(_rows(tmp_path))
    engine.writer.breaks = {}
    result = _bench(tmp_path)
    assert result.exit_code == 0, (result.stderr, result.exception)
    assert f"{done} of 3 posts are finished already" in result.stderr
    told = json.loads(result.stdout)
    first, second, third = _rows(tmp_path)
    assert (told["posts"], told["notes"], told["failed"]) == (3, 2, 1)
    assert told["jury_prefers_winner_to_best_existing"]["n"] == 2
    assert (first["supernote"]["notes"], first["human"]) == (3, NOTES[0].text)
    assert (second["post"], second["note"] != "") == ("https://x.com/i/status/12", True)
    assert (third["outcome"], third["reason"]) == ("could not be run", "You use no note.")
    compared = CliRunner().invoke(app, ["bench", "compare", "--run", str(tmp_path / "run"), "--json"])
    assert json.loads(compared.stdout)["pairs"] == 2
    pair = json.loads((tmp_path / "run" / "pairs.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert {pair["left"], pair["right"]} >= {
        "A review of the kettle found no illness in people who used it for years. [link]"
    }
    of_run = read_pairs("notes.jsonl", (tmp_path / "run" / "notes.jsonl").read_bytes())
    assert (of_run.names, len(of_run.pairs)) == (("Supernote", "Best existing note"), 2)
    assert of_run.pairs[0].second.startswith("A review of the kettle found no illness")
