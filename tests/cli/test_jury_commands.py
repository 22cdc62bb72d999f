"""`crowdnotes jury score`, `bench jury`, `train jury` and `train raters`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from crowdnotes.cli.main import app
from crowdnotes.engines import embedding
from crowdnotes.errors import InputError
from tests.fakes import HashingEmbedder
from tests.jury.made_camps import write_camps
from tests.jury.made_public_data import make_public_data

_NOTE = "The photo was taken in 2019 in Brazil. https://www.reuters.com/fact-check/photo"


@pytest.fixture(autouse=True)
def fake_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands with the fake embedder."""
    monkeypatch.setattr(embedding, "make_embedder", lambda settings: HashingEmbedder())


def _run(*words: str | Path) -> Any:
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_a_note_gets_its_verdict_as_json() -> None:
    answer = _run(
        "jury", "score", "--post", "Look at this!", "--note", _NOTE, "--jurors", "200", "--seed", "7", "--json"
    )
    assert answer["jurors"] == 200
    assert answer["seed"] == 7
    assert answer["post_sha256"]
    assert answer["intercept_interval"]["low"] < answer["intercept_interval"]["high"]
    assert answer["quality"]["note"].startswith("A simulation.")
    assert answer["status"] in {"NEEDS_MORE_RATINGS", "CURRENTLY_RATED_HELPFUL", "CURRENTLY_RATED_NOT_HELPFUL"}


def test_a_candidate_without_words_does_not_take_the_others_verdicts() -> None:
    verdict, refused = _run("jury", "score", "--note", _NOTE, "--note", "https://example.org", "--json")
    assert verdict["status"]
    assert "no words" in refused["not_run"]


def test_without_json_the_verdict_reads_as_text_and_says_it_is_a_simulation() -> None:
    result = CliRunner().invoke(
        app, ["jury", "score", "--note", _NOTE, "--sampling", "polarised"], catch_exceptions=False
    )
    assert "of 0.40 needed" in result.stdout
    assert "people on side A: " in result.stdout
    assert "A simulation." in result.stdout


def test_of_a_text_like_no_other_the_caution_is_said_and_no_verdict() -> None:
    nonsense = "banana " * 8
    result = CliRunner().invoke(app, ["jury", "score", "--note", nonsense], catch_exceptions=False)
    assert "their numbers mean nothing here" in result.stdout.splitlines()[1]
    verdict = _run("jury", "score", "--note", nonsense, "--json")
    assert verdict["means_nothing"]
    assert verdict["sentence"] not in result.stdout
    assert verdict["status"] not in result.stdout


def test_camps_are_trained_on_measured_and_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = write_camps(tmp_path / "camps.parquet", count=500)
    trained = _run("train", "jury", "--data", data, "--out", tmp_path / "out", "--json")
    assert trained["n"] == 100
    monkeypatch.setenv("CROWDNOTES_JURY_MODEL", str(tmp_path / "out" / "model"))
    measured = _run("bench", "jury", "--data", data, "--json")
    assert measured["n"] == 500
    assert {"polarising_auc", "camp_auc", "rating_auc", "brier", "ece"} <= set(measured)
    assert _run("jury", "score", "--note", "a border ballot alpha clip", "--json")["model"] == "camps, 500 notes"


def test_a_folder_of_public_data_is_trained_on_as_ratings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_public_data(tmp_path / "data", notes=150, raters=60, ratings_per_note=20)
    trained = _run("train", "jury", "--data", tmp_path / "data", "--out", tmp_path / "out", "--json")
    assert trained["helpful_auc"] > 0.5
    assert trained["learned_from_notes"] < 130
    monkeypatch.setenv("CROWDNOTES_JURY_MODEL", str(tmp_path / "out" / "model"))
    assert _run("jury", "score", "--note", "bake lili nunu", "--json")["splits"] is None
    with pytest.raises(InputError, match="trained on ratings"):
        CliRunner().invoke(app, ["bench", "jury", "--data", str(tmp_path / "x.parquet")], catch_exceptions=False)


def test_without_data_the_shipped_twin_is_measured_on_the_notes_beside_it() -> None:
    answer = _run("bench", "jury", "--json")
    assert answer["n"] == 500
    assert answer["camp_auc"] > 0.65


def test_raters_become_a_pool(tmp_path: Path) -> None:
    import numpy as np
    import pandas as pd

    chance = np.random.default_rng(0)
    factors = np.concatenate((chance.normal(-0.5, 0.1, 150), chance.normal(0.5, 0.1, 150)))
    raters = pd.DataFrame({"rater_intercept": chance.normal(0.2, 0.05, 300), "rater_factor": factors})
    raters.to_parquet(tmp_path / "raters.parquet")
    answer = _run(
        "train", "raters", "--data", tmp_path / "raters.parquet", "--out", tmp_path / "pool.json", "--source", "made"
    )
    kept = json.loads((tmp_path / "pool.json").read_text(encoding="utf-8"))
    assert answer["raters"] == kept["raters"] == 300
    assert answer["parts"] == len(kept["weights"]) >= 2
    assert kept["source"] == "made"
