"""`crowdnotes bench helpfulness`, `correctness` and `principles` from the command line, on rows made here."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from crowdnotes import workspace
from crowdnotes.cli.main import app
from crowdnotes.errors import ConfigurationError, InputError, LibraryError
from tests.fakes import HashingEmbedder, ScriptedEngine

_PASSAGE = "The trial with 120 people found that the drink does not cause fever."


class _Model(ScriptedEngine):
    """The scripted engine as a language model, which a command takes only when it is asked for."""

    uses_language_model = True


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Model:
    """Commands with the fake embedder, and this as the language model that is set."""
    made = _Model()
    monkeypatch.setenv("CROWDNOTES_DATA_DIR", str(tmp_path / "data"))
    opened = partial(workspace.open_workspace, embedder=HashingEmbedder(), engine=made)
    monkeypatch.setattr(workspace, "open_workspace", opened)
    return made


def _health(folder: Path) -> Path:
    statuses = ("CURRENTLY_RATED_HELPFUL", "CURRENTLY_RATED_NOT_HELPFUL", "CURRENTLY_RATED_NOT_HELPFUL")
    rows = [
        {"note_id": f"made {number}", "post": "The drink cures fever!", "note": "It does not.", "status": status}
        for number, status in enumerate(statuses)
    ]
    return _written(folder / "health.jsonl", rows)


def _distortions(folder: Path) -> Path:
    return _written(
        folder / "distortions.jsonl",
        [
            {"id": "a", "passage": _PASSAGE, "note": _PASSAGE, "label": "faithful"},
            {"id": "b", "passage": _PASSAGE, "note": _PASSAGE.replace("120", "9,000"), "label": "distorted",
             "kind": "number"},
        ],
    )  # fmt: skip


def _written(path: Path, rows: list[dict[str, str]]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def _camps(folder: Path) -> Path:
    table = pd.DataFrame(
        {
            "note_id": [1, 2, 3],
            "text": ["This is a disgusting lie by idiots!", "The agency's report counts 12 cases.", "Both disagree."],
            "kind": ["bridging", "bridging", "polarising"],
            "content_label": ["hostile_troll_or_derogatory", "sourced_factual_information", None],
        }
    )
    table.to_parquet(folder / "camps.parquet")
    return folder / "camps.parquet"


def _run(*words: str | Path) -> Any:
    return CliRunner().invoke(app, ["bench", *map(str, words)])


def _json(*words: str | Path) -> Any:
    result = _run(*words, "--json")
    assert result.exit_code == 0, (result.stderr, result.exception)
    return json.loads(result.stdout)


def test_helpfulness_of_the_model_that_is_set(tmp_path: Path, model: _Model) -> None:
    found = _json("helpfulness", "--data", _health(tmp_path), "--engine", "llm")
    assert (found["engine"], found["n"], found["seen_in_training"]) == ("scripted", 3, 0)
    assert found["accuracy"] == pytest.approx(1 / 3)  # it passes everything
    assert len(model.judged) == 3
    assert _json("helpfulness", "--data", _health(tmp_path), "--engine", "llm", "--limit", "1")["accuracy"] == 1.0


def test_correctness_without_a_model_is_not_run_and_has_no_auc(tmp_path: Path, model: _Model) -> None:
    found = _json("correctness", "--data", _distortions(tmp_path))
    assert (found["engine"], found["auc"], found["not_run"]) == ("local", None, found["n"])
    assert found["by_kind"]["number"] == {"n": 1, "caught": 0, "auc": None}
    assert not model.judged


def test_principles_judge_only_labelled_notes_that_both_camps_approve(tmp_path: Path, model: _Model) -> None:
    found = _json("principles", "--data", _camps(tmp_path), "--engine", "llm")
    assert (found["n"], found["opinion_or_hostile"], found["auc"]) == (2, 1, 0.5)
    assert _json("principles", "--data", _camps(tmp_path), "--engine", "llm", "--limit", "1")["n"] == 1


def test_needed_is_measured_by_plain_words_without_a_model_and_the_labels_are_named_for_what_they_are(
    tmp_path: Path, model: _Model
) -> None:
    posts = [("I think that tower is ugly.", False), ("Lead is healthy.", True), ("Look at this.", True)]
    rows = [{"post": post, "needs_note": needed, "depends_on_media": "Look" in post} for post, needed in posts]
    path = tmp_path / "posts.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    found = _json("needed", "--data", path)
    assert (found["engine"], found["n"], found["words_decide"]["auc"]) == ("local", 3, 1.0)
    assert "no ground truth" in found["labels"]
    assert found["words_decide"]["by_reason"]["no reason given"] == {"n": 1, "written": 0, "named": {"opinion": 1}}
    assert _json("needed", "--data", path, "--no-pictures")["n"] == 2


def test_without_json_every_figure_stands_on_a_line(tmp_path: Path, model: _Model) -> None:
    result = _run("correctness", "--data", _distortions(tmp_path))
    assert "not_run: 2" in result.stdout
    assert "by_kind:\n  number: " in result.stdout


@pytest.mark.parametrize("words", [["helpfulness"], ["correctness"], ["principles"], ["retrieval", "--library", "x"]])
def test_a_missing_file_and_a_missing_library_end_in_a_sentence(
    tmp_path: Path, model: _Model, words: list[str]
) -> None:
    refused = _run(*words, "--data", tmp_path / "none")
    assert isinstance(refused.exception, InputError)
    assert "cannot be read" in str(refused.exception)
    if words[0] == "retrieval":
        judged = {"note_id": "1", "post": "Lemons cure flu", "judged": [{"record": 0, "grade": 2}]}
        (tmp_path / "judged.jsonl").write_text(json.dumps(judged), encoding="utf-8")
        assert isinstance(_run(*words, "--data", tmp_path / "judged.jsonl").exception, LibraryError)


def test_a_language_model_is_refused_when_none_is_set(tmp_path: Path, model: _Model) -> None:
    model.uses_language_model = False
    refused = _run("correctness", "--data", _distortions(tmp_path), "--engine", "llm")
    assert isinstance(refused.exception, ConfigurationError)
    assert "No AI is set up" in str(refused.exception)
