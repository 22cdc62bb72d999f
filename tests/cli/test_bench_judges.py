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
from crowdnotes.errors import ConfigurationError, InputError
from crowdnotes.testing import HashingEmbedder, ScriptedEngine

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


def test_correctness_of_the_local_engine_tells_a_changed_number(tmp_path: Path, model: _Model) -> None:
    found = _json("correctness", "--data", _distortions(tmp_path))
    assert found["engine"] == "local"
    assert found["auc"] == 1.0
    assert found["by_kind"]["number"]["n"] == 1
    assert not model.judged


def test_correctness_figures_are_pinned_and_a_fall_ends_with_an_error(tmp_path: Path, model: _Model) -> None:
    data, out = _distortions(tmp_path), tmp_path / "judges"
    words = ("correctness", "--data", data, "--judges", out)
    assert _run(*words, "--pin", "made").exit_code == 0
    pinned = json.loads((out / "figures.json").read_text(encoding="utf-8"))
    assert pinned["correctness"]["auc_made"] == 1.0
    assert "| auc made | 1.000 |" in (out / "correctness.md").read_text(encoding="utf-8")
    assert _run(*words, "--check", "made").exit_code == 0

    worse = data.read_text(encoding="utf-8").replace("9,000", "120")
    data.write_text(worse, encoding="utf-8")  # the distorted note is faithful now, and passes
    fallen = _run(*words, "--check", "made")
    assert fallen.exit_code == 1
    assert "auc_made fell from 1.0 to 0.5" in fallen.stderr


def test_pinning_one_data_set_leaves_the_others_figures(tmp_path: Path, model: _Model) -> None:
    data, out = _distortions(tmp_path), tmp_path / "judges"
    for name in ("first", "second"):
        assert _run("correctness", "--data", data, "--judges", out, "--pin", name).exit_code == 0
    pinned = json.loads((out / "figures.json").read_text(encoding="utf-8"))["correctness"]
    assert pinned["notes_first"] == pinned["notes_second"] == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--pin", "Two words"), "cannot name a data set"),
        (("--check", "other"), "no figures are pinned"),
        (("--check", "made", "--limit", "1"), "those of 2 notes"),
        (("--pin", "made", "--engine", "llm"), "Only the local engine"),
    ],
)
def test_figures_are_not_pinned_or_compared_where_they_do_not_fit(
    tmp_path: Path, model: _Model, words: tuple[str, ...], said: str
) -> None:
    started = ("correctness", "--data", _distortions(tmp_path), "--judges", tmp_path / "judges")
    assert _run(*started, "--pin", "made").exit_code == 0
    refused = _run(*started, *words)
    assert isinstance(refused.exception, InputError)
    assert said in str(refused.exception)


def test_principles_judge_only_labelled_notes_that_both_camps_approve(tmp_path: Path, model: _Model) -> None:
    found = _json("principles", "--data", _camps(tmp_path), "--engine", "llm")
    assert (found["n"], found["opinion_or_hostile"], found["auc"]) == (2, 1, 0.5)
    assert _json("principles", "--data", _camps(tmp_path), "--engine", "llm", "--limit", "1")["n"] == 1


def test_without_json_every_figure_stands_on_a_line(tmp_path: Path, model: _Model) -> None:
    result = _run("correctness", "--data", _distortions(tmp_path))
    assert "auc: 1.000" in result.stdout
    assert "by_kind:\n  number: " in result.stdout


@pytest.mark.parametrize("bench", ["helpfulness", "correctness", "principles"])
def test_a_missing_file_ends_in_a_sentence(tmp_path: Path, model: _Model, bench: str) -> None:
    refused = _run(bench, "--data", tmp_path / "none")
    assert isinstance(refused.exception, InputError)
    assert "cannot be read" in str(refused.exception)


def test_a_language_model_is_refused_when_none_is_set(tmp_path: Path, model: _Model) -> None:
    model.uses_language_model = False
    refused = _run("correctness", "--data", _distortions(tmp_path), "--engine", "llm")
    assert isinstance(refused.exception, ConfigurationError)
    assert "No language model is set" in str(refused.exception)
