"""Training on camps: what comes of it, on made notes whose words are known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from crowdnotes.errors import ConfigurationError, InputError
from crowdnotes.jury.model import features, load_model
from crowdnotes.jury.raters import shipped_pool
from crowdnotes.studies.bench.jury import HeldOut, bench_camps
from crowdnotes.studies.train.jury import CampRun, run_camp_training
from tests.fakes import HashingEmbedder
from tests.jury.made_camps import write_camps
from tests.jury.models import small_jury


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, CampRun]:
    folder = tmp_path_factory.mktemp("camps")
    data = write_camps(folder / "camps.parquet")
    return folder, run_camp_training(data, folder / "out", HashingEmbedder(), shipped_pool())


def test_known_words_are_learned_about_as_well_as_they_can_be(out: tuple[Path, CampRun]) -> None:
    _, run = out
    # One note in ten has the other answer's words: 0.9 is the best that anyone could do.
    assert run.figures["n"] == 140
    assert run.figures["polarising_auc"] > 0.8
    assert run.figures["camp_auc"] > 0.8


def test_a_saved_model_reads_as_the_trained_one(out: tuple[Path, CampRun]) -> None:
    folder, run = out
    read = features(["a border ballot alpha clip", "a recipe footage breeze clip"], HashingEmbedder())
    saved, trained = load_model(folder / "out" / "model").predict(read), run.model.predict(read)
    assert saved.appeal == pytest.approx(trained.appeal, abs=0.02)
    assert saved.lean == pytest.approx(trained.lean, abs=0.05)
    assert saved.splits == pytest.approx(trained.splits, abs=0.005)


def test_the_held_out_twin_gives_its_figures_again(out: tuple[Path, CampRun]) -> None:
    folder, run = out
    again = HeldOut.load(folder / "out").measure()
    assert again["n"] == run.sample["n"]
    assert again["polarising_auc"] == pytest.approx(run.sample["polarising_auc"], abs=0.005)
    # The twin is kept in short numbers: two notes of 140 may come to lie in the next bin.
    assert again["ece"] == pytest.approx(run.sample["ece"], abs=2 / 140)


@pytest.mark.deep
def test_training_twice_gives_the_same_files(out: tuple[Path, CampRun], tmp_path: Path) -> None:
    folder, _ = out
    run_camp_training(folder / "camps.parquet", tmp_path, HashingEmbedder(), shipped_pool())
    first, second = (load_model(where / "model") for where in (folder / "out", tmp_path))
    read = features(["a border ballot alpha clip"], HashingEmbedder())
    assert first.predict(read).appeal.tolist() == second.predict(read).appeal.tolist()


def test_the_model_is_measured_on_any_file_of_the_schema(out: tuple[Path, CampRun], tmp_path: Path) -> None:
    _, run = out
    figures = bench_camps(
        write_camps(tmp_path / "other.parquet", count=200, seed=9), replace(small_jury(), model=run.model)
    )
    assert figures["n"] == 200
    assert figures["polarising_auc"] > 0.8
    assert 0 < figures["brier"] < 0.25


def test_a_file_of_one_kind_alone_leaves_out_what_it_cannot_tell(out: tuple[Path, CampRun], tmp_path: Path) -> None:
    from tests.jury.made_camps import camp_rows

    _, run = out
    rows = camp_rows(80)
    rows[rows["kind"] == "bridging"].to_parquet(tmp_path / "one.parquet")
    figures = bench_camps(tmp_path / "one.parquet", replace(small_jury(), model=run.model))
    assert figures["polarising_auc"] is None
    assert figures["camp_auc"] is None
    assert figures["rating_auc"] is None


def test_damaged_weights_are_refused(out: tuple[Path, CampRun], tmp_path: Path) -> None:
    folder, _ = out
    for name in ("model.json", "weights.npz"):
        (tmp_path / name).write_bytes((folder / "out" / "model" / name).read_bytes())
    with (tmp_path / "weights.npz").open("ab") as file:
        file.write(b"x")
    with pytest.raises(ConfigurationError, match="checksum"):
        load_model(tmp_path)


def test_too_few_notes_of_a_kind_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it takes 60"):
        run_camp_training(
            write_camps(tmp_path / "few.parquet", count=90), tmp_path / "out", HashingEmbedder(), shipped_pool()
        )


def test_shares_are_given_back_by_the_sides_raters(out: tuple[Path, CampRun]) -> None:

    _, run = out
    wanted = np.asarray([[0.02, 0.97], [0.6, 0.6], [0.9, 0.3], [0.99, 0.98]])
    appeal, lean = run.model.sides.appeal_and_lean(wanted, run.model.ordinal)
    for column, side in enumerate((run.model.sides.negative, run.model.sides.positive)):
        helpful, _ = run.model.ordinal.chances(appeal, lean, side)
        assert helpful.mean(axis=1) == pytest.approx(wanted[:, column], abs=1e-4)
