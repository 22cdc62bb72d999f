"""`crowdnotes train jury` and `bench jury` on HealthNotes, on made notes that are easy to learn."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from crowdnotes.cli.main import app
from crowdnotes.engines import embedding
from crowdnotes.engines.local.trained_models import load_head
from crowdnotes.errors import InputError, ModelFilesError
from crowdnotes.jury.model import SHIPPED_MODEL
from crowdnotes.jury.shown_odds import SHOWN, SHOWN_FIGURES, strictness
from crowdnotes.studies.data_files import read_health_notes
from crowdnotes.studies.train import jury
from tests.fakes import HashingEmbedder
from tests.studies.made_notes import health_file

pytestmark = pytest.mark.deep


@pytest.fixture(autouse=True)
def fake_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands with the fake embedder."""
    monkeypatch.setattr(embedding, "make_embedder", lambda settings: HashingEmbedder())


def _fewer_fits(patched: pytest.MonkeyPatch) -> None:
    """Nothing to choose from, and one set of folds."""
    patched.setattr(jury, "FOLD_SETS", 1)
    patched.setattr(jury, "RECIPE", replace(jury.RECIPE, penalties=(1.0,), weights=(0.2,)))
    patched.setattr(jury, "RIVALS", {})


def _run(*words: str | Path) -> Any:
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """HealthNotes, and a folder with the shipped camp model and the head that was trained on them."""
    folder = tmp_path_factory.mktemp("shown")
    data = health_file(folder / "health.jsonl")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(embedding, "make_embedder", lambda settings: HashingEmbedder())
        _fewer_fits(patched)
        shutil.copytree(SHIPPED_MODEL, folder / "model")
        figures = _run("train", "jury", "--data", data, "--out", folder, "--json")
    assert figures["intercept_auc"] > 0.95
    assert figures["newest_quarter_intercept_auc"] > 0.9
    return data, folder / "model"


def test_notes_that_were_not_seen_are_told_apart_by_their_intercepts(
    trained: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CROWDNOTES_JURY_MODEL", str(trained[1]))
    measured = _run("bench", "jury", "--data", health_file(tmp_path / "new.jsonl", first=200, count=40), "--json")
    assert measured["seen_in_training"] == 0
    assert measured["intercept_auc"] > 0.95
    assert measured["reached"] > measured["wrongly_reached"] + 0.5
    assert measured["lowest"] < 0.2
    assert measured["highest"] > 0.4
    assert {"ece", "undated_intercept_auc", "splits_auc"} <= set(measured)


def test_notes_of_the_training_are_judged_by_the_cross_validation(
    trained: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    data, model = trained
    monkeypatch.setenv("CROWDNOTES_JURY_MODEL", str(model))
    measured = _run("bench", "jury", "--data", data, "--json")
    assert measured["seen_in_training"] == measured["n"] == 72
    assert "saw neither" in measured["seen_judged_by"]
    assert measured["undated_intercept_auc"] is None


def test_the_verdict_tells_the_chance_and_how_well_it_is_known(
    trained: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CROWDNOTES_JURY_MODEL", str(trained[1]))
    texts = (
        "A review found kettles harmless. https://example.org/a",
        "Stupid liars, wake up now!",
    )
    notes = [word for text in texts for word in ("--note", text)]
    good, bad = _run("jury", "score", "--post", "The kettle makes owners ill.", *notes, "--json")
    assert good["chance_of_shown"] > bad["chance_of_shown"]
    assert good["note_intercept"] > bad["note_intercept"] + 0.1
    assert "X shows about 5 in 100 notes like this, of those on which it decides" in bad["sentence"]
    assert "Tested on" in good["quality"]["note"]


def test_training_twice_gives_the_same_numbers(
    trained: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, model = trained
    _fewer_fits(monkeypatch)
    _run("train", "jury", "--data", data, "--out", tmp_path, "--json")
    name = "shown-held-out.npz"
    assert (tmp_path / "model" / name).read_bytes() == (model / name).read_bytes()
    # skops names its parts by where they lie in memory and dates them: the numbers are alike, not the files.
    first, second = (load_head(where / SHOWN).pipeline[-1] for where in (tmp_path / "model", model))
    assert first.coef_.tobytes() == second.coef_.tobytes()
    assert first.intercept_.tobytes() == second.intercept_.tobytes()


def test_a_damaged_head_and_a_model_without_one_are_told(
    trained: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, model = trained
    for name in ("model.json", "weights.npz"):
        (tmp_path / name).write_bytes((model / name).read_bytes())
    monkeypatch.setenv("CROWDNOTES_JURY_MODEL", str(tmp_path))
    with pytest.raises(InputError, match="does not predict what X shows"):
        CliRunner().invoke(app, ["bench", "jury", "--data", str(data)], catch_exceptions=False)
    (tmp_path / SHOWN).write_bytes((model / SHOWN).read_bytes())
    for damaged in ("{", "[]", '{"notes": 72}'):
        (tmp_path / SHOWN_FIGURES).write_text(damaged, encoding="utf-8")
        with pytest.raises(ModelFilesError, match=r"shown\.json are missing or damaged"):
            CliRunner().invoke(app, ["jury", "score", "--note", "A note."], catch_exceptions=False)
    (tmp_path / SHOWN).write_bytes(b"no head")
    with pytest.raises(ModelFilesError):
        CliRunner().invoke(app, ["bench", "jury", "--data", str(data)], catch_exceptions=False)


def test_too_few_notes_are_refused(tmp_path: Path) -> None:
    notes = read_health_notes(health_file(tmp_path / "few.jsonl", count=6))
    with pytest.raises(InputError, match="5 helpful"):
        jury.train_shown(notes, HashingEmbedder(), lambda line: None)


def test_raters_grew_stricter_and_a_draft_meets_those_of_today() -> None:
    assert strictness(1_650_000_000_000) < -0.9
    assert strictness(1_719_792_000_000) == 0
    assert strictness(1_750_000_000_000) > 0.9
    assert strictness(None) == 1
