"""`crowdnotes bench notes` and `bench compare`: notes beside human ones, blind pairs, votes read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from crowdnotes.cli.main import app
from crowdnotes.studies.bench.notes import CRITERIA
from tests.cli.healthnotes_runs import WritingEngine, as_json, commands_with, notes_file
from tests.llm_server import LLMServer, honest


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WritingEngine:
    return commands_with(WritingEngine(), tmp_path, monkeypatch)


def _notes(folder: Path, *words: str) -> Any:
    data = str(notes_file(folder, 3))
    command = ["bench", "notes", "--data", data, "--out", str(folder / "run"), "--library", "topics"]
    return CliRunner().invoke(app, [*command, *words])


def _compare(folder: Path, *words: str) -> Any:
    return CliRunner().invoke(app, ["bench", "compare", "--run", str(folder / "run"), *words])


def test_a_note_for_every_post_beside_the_human_one_with_what_it_took(tmp_path: Path, engine: WritingEngine) -> None:
    found = as_json(_notes(tmp_path, "--json"))
    assert (found["posts"], found["notes"], found["pass_all_gates"]) == (3, 3, 3)
    assert found["calls"] == {"mean": 0, "most": 0}
    rows = [json.loads(line) for line in (tmp_path / "run" / "notes.jsonl").read_text(encoding="utf-8").splitlines()]
    assert all(row["note"] and row["human"].startswith("No illness") for row in rows)
    # What is finished is not written again.
    engine.before_writing = lambda _: pytest.fail("asked again")
    assert as_json(_notes(tmp_path, "--json"))["notes"] == 3


def test_without_votes_it_writes_blind_pairs_and_with_votes_it_counts_them(
    tmp_path: Path, engine: WritingEngine
) -> None:
    as_json(_notes(tmp_path, "--json"))
    assert as_json(_compare(tmp_path, "--json")) == {"pairs": 3, "win_rate": {}}
    pairs = [json.loads(line) for line in (tmp_path / "run" / "pairs.jsonl").read_text(encoding="utf-8").splitlines()]
    assert all("example.org" not in json.dumps(pair) for pair in pairs)
    votes = tmp_path / "votes.jsonl"
    own = ["left" if not pair["left"].startswith("No illness") else "right" for pair in pairs]
    lines = [
        json.dumps({"pair": pair["pair"], "reader": "ann", "votes": {"overall": side}})
        for pair, side in zip(pairs, own, strict=True)
    ]
    votes.write_text("\n".join(lines), encoding="utf-8")
    found = as_json(_compare(tmp_path, "--votes", str(votes), "--json"))
    assert found["win_rate"]["overall"] == {"rate": 1.0, "low": 1.0, "high": 1.0, "votes": 3}
    assert "overall: 100 %" in _compare(tmp_path, "--votes", str(votes)).stdout


def test_votes_that_are_none_and_a_folder_that_holds_no_run_are_named(tmp_path: Path, engine: WritingEngine) -> None:
    as_json(_notes(tmp_path, "--json"))
    votes = tmp_path / "votes.jsonl"
    votes.write_text('{"pair": "x", "votes": {"overall": "mine"}}', encoding="utf-8")
    assert "line 1" in str(_compare(tmp_path, "--votes", str(votes)).exception)
    assert "cannot be read" in str(_compare(tmp_path / "elsewhere").exception)
    nowhere = CliRunner().invoke(
        app, ["bench", "notes", "--data", str(notes_file(tmp_path)), "--out", str(tmp_path / "x")]
    )
    assert "nothing to search" in str(nowhere.exception)


def test_a_model_judges_each_pair_in_both_orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDNOTES_DATA_DIR", str(tmp_path / "data"))
    run = tmp_path / "run"
    run.mkdir()
    row = {
        "note_id": "1",
        "post": "A post.",
        "human": "It does not. https://a.example.org",
        "note": "No study found it.",
    }
    gates = dict.fromkeys(("relevance", "correctness", "helpfulness"), "PASS")
    (run / "notes.jsonl").write_text(json.dumps({**row, "gates": gates}), encoding="utf-8")
    no_model = _compare(tmp_path, "--judge")
    assert "No language model is set" in str(no_model.exception)

    def prefers_the_left(body: Any) -> str:
        return json.dumps({"why": "", **dict.fromkeys(CRITERIA, "left")}) if "left note" in str(body) else honest(body)

    with LLMServer(prefers_the_left).running() as server:
        monkeypatch.setenv("CROWDNOTES_LLM_BASE_URL", server.base_url)
        monkeypatch.setenv("CROWDNOTES_LLM_MODEL", "small")
        found = as_json(_compare(tmp_path, "--judge", "--json"))
    assert found["win_rate"]["overall"] == {"rate": 0.5, "low": 0.5, "high": 0.5, "votes": 1}
