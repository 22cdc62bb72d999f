"""The made public data: what is planted is found again, camps by the fit of the index among it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from crowdnotes.errors import InputError
from crowdnotes.public_data.database import reading
from crowdnotes.public_data.indexing import last_fit
from crowdnotes.public_data.sample_data import make_public_data, rater_id
from tests.public_data.made import indexed


def test_the_planted_camps_are_recovered_and_kept_until_many_ratings_are_new(tmp_path: Path) -> None:
    planted = make_public_data(tmp_path / "public", notes=1_500, ratings=40_000, shards=2)
    index = tmp_path / "crowd.duckdb"
    report = indexed(tmp_path / "public", index)
    assert report.loaded.problems == ()
    assert report.totals["notes"] == planted.notes
    assert report.totals["posts"] == planted.posts
    assert report.totals["ratings"] == planted.ratings
    with reading(index) as connection:
        factors = dict(connection.execute("SELECT rater, factor FROM raters").fetchall())
    ids = np.asarray([rater_id(number) for number in range(planted.raters)], dtype=object)
    hashes = pd.util.hash_array(ids, categorize=False).view(np.int64).tolist()
    known = [
        (number < planted.first_camp, factors[rater] < 0) for number, rater in enumerate(hashes) if rater in factors
    ]
    assert len(known) > 400
    assert np.mean([first == negative for first, negative in known]) > 0.97

    assert indexed(tmp_path / "public", index).fit.made_at == report.fit.made_at
    make_public_data(tmp_path / "more", notes=400, ratings=15_000, seed=1)
    newer = indexed(tmp_path / "more", index)
    assert newer.fit.of_ratings > report.fit.of_ratings
    with reading(index) as connection:
        assert last_fit(connection) == newer.fit


def test_a_seed_makes_the_same_data_and_too_little_is_refused(tmp_path: Path) -> None:
    first, again, other = (
        make_public_data(tmp_path / name, notes=120, ratings=900, seed=seed)
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert first == again != other
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in names)
    with pytest.raises(InputError, match="Too little"):
        make_public_data(tmp_path / "d", notes=10, ratings=100)
