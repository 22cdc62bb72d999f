"""`crowdnotes train helpfulness` and `train principles` on data that is made here and easy to learn."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from crowdnotes import workspace
from crowdnotes.cli.main import app
from crowdnotes.engines.local.helpfulness import helpfulness_blocks
from crowdnotes.engines.local.principles import opinion_blocks
from crowdnotes.engines.local.trained_models import HELPFULNESS, OPINION, load_head
from crowdnotes.errors import InputError
from crowdnotes.studies.data_files import read_held_out
from crowdnotes.studies.measures import bootstrap_auc
from crowdnotes.studies.train import judges
from tests.fakes import HashingEmbedder
from tests.studies.made_notes import SUBJECTS, health_file


@pytest.fixture(autouse=True)
def fake_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands with the fake embedder, in a data folder of their own."""
    _with_fakes(tmp_path, monkeypatch)


def _with_fakes(folder: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("CROWDNOTES_DATA_DIR", str(folder / "data"))
    patch.setattr(workspace, "open_workspace", partial(workspace.open_workspace, embedder=HashingEmbedder()))


def _health(folder: Path) -> Path:
    return health_file(folder / "health.jsonl", count=36)


def _camps(folder: Path) -> Path:
    """Notes that both camps approve: every second one is hostile, in words of its own."""
    count = 60
    hostile = np.arange(count) % 2 == 0
    texts = [
        f"Only stupid liars believe the {SUBJECTS[n % 12]} story!"
        if bad
        else f"The report counts {n} {SUBJECTS[n % 12]}s."
        for n, bad in enumerate(hostile)
    ]
    labels = np.where(hostile, "hostile_troll_or_derogatory", "sourced_factual_information")
    table = pd.DataFrame({"note_id": np.arange(count), "text": texts, "kind": "bridging", "content_label": labels})
    table.to_parquet(folder / "camps.parquet")
    return folder / "camps.parquet"


def _train(*words: str | Path) -> Any:
    result = CliRunner().invoke(app, ["train", *map(str, words)])
    assert result.exit_code == 0, (result.stderr, result.exception)
    return json.loads(result.stdout)


def _pinned(folder: Path, judge: str) -> Any:
    return json.loads((folder / "figures.json").read_text(encoding="utf-8"))[judge]


def _less_to_do(patch: pytest.MonkeyPatch) -> None:
    """One set of folds, the simplest rival, nothing to choose from, a rough interval."""
    patch.setattr(judges, "bootstrap_auc", partial(bootstrap_auc, draws=50))
    patch.setattr(judges, "RIVALS", {"words": judges.RIVALS["words"]})
    patch.setattr(judges, "HELPFULNESS", replace(judges.HELPFULNESS, penalties=(1.0,), weights=(0.2,)))
    patch.setattr(judges, "FOLD_SETS", 1)


def _both_heads(data: Path, out: Path) -> tuple[Any, Any]:
    """The figures of helpfulness and of principles, trained into `out`."""
    health, camps = _health(data), _camps(data)
    return _train("helpfulness", "--data", health, "--out", out), _train("principles", "--data", camps, "--out", out)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any, Any]:
    """The folder of both heads, and the figures of helpfulness and of principles."""
    folder = tmp_path_factory.mktemp("trained")
    with pytest.MonkeyPatch.context() as patch:
        _with_fakes(folder, patch)
        _less_to_do(patch)
        return folder / "out", *_both_heads(folder, folder / "out")


@pytest.mark.deep
def test_the_helpfulness_head_is_trained_measured_and_pinned(trained: tuple[Path, Any, Any]) -> None:
    out, figures, _ = trained
    assert figures["notes"] == 36
    assert figures["nested_macro_f1"] > 0.9  # made to be told apart
    pinned = _pinned(out, "helpfulness")
    assert pinned["nested_macro_f1"] == figures["nested_macro_f1"]
    assert pinned["weights_sha256"] == {HELPFULNESS: hashlib.sha256((out / HELPFULNESS).read_bytes()).hexdigest()}
    assert pinned["later_notes"] > pinned["newest_quarter_notes"] > 0
    low, high = pinned["later_lead_interval"]
    assert low <= pinned["later_lead_over_words"] <= high
    assert len(read_held_out("helpfulness", out).by_mark()) == figures["notes"]
    assert f"| notes | {figures['notes']} |" in (out / "helpfulness.md").read_text(encoding="utf-8")


def _sums(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


@pytest.mark.deep
def test_the_same_data_gives_the_same_files_to_the_byte(
    trained: tuple[Path, Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _less_to_do(monkeypatch)
    _both_heads(tmp_path, tmp_path / "again")
    assert _sums(tmp_path / "again") == _sums(trained[0])
    assert {HELPFULNESS, OPINION, "figures.json", "helpfulness.md"} <= _sums(trained[0]).keys()


@pytest.mark.deep
def test_the_trained_heads_work_on_notes_that_they_have_not_seen(trained: tuple[Path, Any, Any]) -> None:
    out = trained[0]
    review, rant = "A review found marble harmless.", "Stupid liars: marble, wake up!"
    post, judge, opinion = "The marble makes owners ill.", load_head(out / HELPFULNESS), load_head(out / OPINION)
    good, bad = judge.probabilities(helpfulness_blocks([(post, review), (post, rant)]))
    assert good > 0.5 > bad
    plain, hostile = opinion.probabilities(opinion_blocks(HashingEmbedder(), HashingEmbedder.name, [review, rant]))
    assert hostile > plain


@pytest.mark.deep
def test_the_opinion_head_is_trained_and_measured_on_the_newest_fifth(trained: tuple[Path, Any, Any]) -> None:
    out, _, figures = trained
    assert (figures["notes"], figures["opinion_or_hostile"], figures["newest_fifth"]) == (60, 30, 12)
    assert figures["auc_on_newest_fifth"] > 0.9  # made to be told apart
    assert _pinned(out, "principles")["auc_on_newest_fifth"] == figures["auc_on_newest_fifth"]
    assert load_head(out / OPINION).embedder == HashingEmbedder.name


def test_too_few_notes_that_differ_are_refused(tmp_path: Path) -> None:
    row = {"note_id": "1", "post": "A post.", "note": "A note.", "status": "CURRENTLY_RATED_HELPFUL"}
    data = tmp_path / "alike.jsonl"
    data.write_text("\n".join([json.dumps(row)] * 20), encoding="utf-8")
    refused = CliRunner().invoke(app, ["train", "helpfulness", "--data", str(data), "--out", str(tmp_path / "out")])
    assert isinstance(refused.exception, InputError)
    assert "notes that differ" in str(refused.exception)
