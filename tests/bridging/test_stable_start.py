"""A fit begun from one group's ratings: the same optimum, and a clear refusal without the group."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crowdnotes.bridging.columns import ENROLMENT
from crowdnotes.bridging.factorization import fit, fit_from_group
from crowdnotes.bridging.public_data import read_public_data
from crowdnotes.bridging.ratings import group_members
from crowdnotes.errors import InputError
from tests.bridging.made import made_ratings, write_tsv


def test_beginning_from_a_group_ends_at_the_full_fit() -> None:
    table = made_ratings(notes=150, raters=100)
    in_group = np.arange(100) < 85
    assert fit_from_group(table, in_group).objective == pytest.approx(fit(table).objective, abs=1e-7)


def test_a_group_that_mostly_rated_no_note_is_refused() -> None:
    table = made_ratings()
    with pytest.raises(InputError, match="mostly rated"):
        fit_from_group(table, np.zeros(len(table.rater_ids), dtype=bool))


def test_the_enrolment_table_tells_who_is_in_the_group(tmp_path: Path) -> None:
    rows = [{"participantId": "A", "modelingGroup": "13.0"}, {"participantId": "B", "modelingGroup": "2.0"}]
    path = write_tsv(tmp_path / "userEnrollment-00000.tsv", ENROLMENT.columns, rows)
    ids = np.array(["A", "B", "C"], dtype=object)
    assert group_members(path, ids).tolist() == [True, False, False]
    assert group_members(tmp_path, ids, group=2).tolist() == [False, True, False]
    read_public_data(tmp_path, tmp_path / "out")
    assert group_members(tmp_path / "out", ids).tolist() == [True, False, False]


def test_an_enrolment_table_without_groups_is_refused(tmp_path: Path) -> None:
    path = write_tsv(tmp_path / "userEnrollment-00000.tsv", ["participantId"], [{"participantId": "A"}])
    with pytest.raises(InputError, match="modelingGroup"):
        group_members(path, np.array(["A"], dtype=object))
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match="no enrolment"):
        group_members(empty, np.array(["A"], dtype=object))
