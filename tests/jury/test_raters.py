"""The raters' pool, and who is sampled from it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.errors import ConfigurationError, InputError
from crowdnotes.jury.raters import POOL_COLUMNS, SHIPPED_RATERS, Roster, Sampling, own_pool, sample_raters, shipped_pool


def test_the_shipped_pool_has_the_real_raters_quantiles() -> None:
    drawn = shipped_pool().draw(100_000, np.random.default_rng(1))
    # Quantiles of the 11,100 raters themselves.
    assert np.quantile(drawn[:, 0], [0.05, 0.5, 0.95]) == pytest.approx([0.036, 0.158, 0.295], abs=0.01)
    assert np.quantile(drawn[:, 1], [0.05, 0.25, 0.75, 0.95]) == pytest.approx([-0.639, -0.422, 0.300, 0.622], abs=0.02)
    assert (drawn[:, 1] < 0).mean() == pytest.approx(0.575, abs=0.01)
    assert (drawn >= shipped_pool().low).all()  # no juror is more extreme than any real rater
    assert (drawn <= shipped_pool().high).all()


def test_the_fit_lies_close_to_the_histograms_of_the_data() -> None:
    histograms = json.loads(SHIPPED_RATERS.read_text(encoding="utf-8"))["histograms"]
    drawn = shipped_pool().draw(100_000, np.random.default_rng(3))
    for number, name in enumerate(POOL_COLUMNS):
        real = np.asarray(histograms[name]["counts"])
        found, _ = np.histogram(drawn[:, number], histograms[name]["edges"])
        assert np.abs(real / real.sum() - found / len(drawn)).sum() < 0.12  # twice the share of raters misplaced


def test_ones_own_raters_are_drawn_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "raters.parquet"
    pd.DataFrame({"rater_intercept": [0.1, 0.2, np.nan], "rater_factor": [-0.5, 0.5, 0.1]}).to_parquet(path)
    drawn = own_pool(path).draw(200, np.random.default_rng(0))
    assert {tuple(row) for row in drawn} == {(0.1, -0.5), (0.2, 0.5)}


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"rater_intercept": [0.1]}, "rater_factor"),
        ({"rater_intercept": [np.nan], "rater_factor": [0.1]}, "no rater"),
        ({"rater_intercept": ["a"], "rater_factor": [0.1]}, "must be numbers"),
    ],
)
def test_raters_that_cannot_be_used_are_refused(tmp_path: Path, table: dict[str, object], words: str) -> None:
    path = tmp_path / "raters.parquet"
    pd.DataFrame(table).to_parquet(path)
    with pytest.raises(InputError, match=words):
        own_pool(path)


def test_a_file_that_is_not_parquet_is_refused_and_a_damaged_shipped_pool_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "raters"
    path.write_text("rater_intercept,rater_factor\n")
    with pytest.raises(InputError, match="no Parquet"):
        own_pool(path)
    path.write_text("{")
    with pytest.raises(ConfigurationError, match="Install"):
        shipped_pool(path)


@given(count=st.integers(1, 300), seed=st.integers(0, 1000), how=st.sampled_from(Sampling))
def test_the_same_seed_draws_the_same_jury(count: int, seed: int, how: Sampling) -> None:
    first, second = (
        sample_raters(shipped_pool(), count, np.random.default_rng(seed), how, audience_tilt=1.0) for _ in range(2)
    )
    assert len(first) == count
    assert (first.factors == second.factors).all()
    assert (first.intercepts == second.intercepts).all()


@given(count=st.integers(1, 301))
def test_a_polarised_jury_has_equal_halves_and_one_of_one_sided_raters_is_refused(count: int) -> None:
    jurors = sample_raters(shipped_pool(), count, np.random.default_rng(0), Sampling.POLARISED)
    assert (jurors.factors < 0).sum() == count // 2
    with pytest.raises(InputError, match="both"):
        sample_raters(Roster(np.asarray([[0.1, 0.4]])), 10, np.random.default_rng(0), Sampling.POLARISED)


@pytest.mark.parametrize("tilt", [-2.0, 2.0])
def test_an_audience_leans_by_its_tilt(tilt: float) -> None:
    even = sample_raters(shipped_pool(), 5_000, np.random.default_rng(0))
    audience = sample_raters(shipped_pool(), 5_000, np.random.default_rng(0), Sampling.AUDIENCE, audience_tilt=tilt)
    moved = audience.factors.mean() - even.factors.mean()
    assert moved * tilt > 0.2
