"""Which raters belong to a modeling group, from the enrolment table."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crowdnotes.bridging.columns import ENROLMENT
from crowdnotes.bridging.parameters import Ids
from crowdnotes.bridging.reading import read_table
from crowdnotes.bridging.shards import find_shards
from crowdnotes.bridging.stable_start import GROUP
from crowdnotes.errors import InputError


def group_members(path: Path, rater_ids: Ids, group: int = GROUP) -> npt.NDArray[np.bool_]:
    """Which of the raters (u,) are in the group. path: the table's file, zipped or not, or the folder that holds it."""
    shards = find_shards(ENROLMENT, path)
    if not shards:
        raise InputError(f"{path} holds no enrolment table.", "Give userEnrollment-00000.tsv, zipped or not.")
    with tempfile.TemporaryDirectory(prefix="crowdnotes-enrolment-") as scratch:
        parquet = Path(scratch) / "userEnrollment.parquet"
        read_table(ENROLMENT, shards, parquet)
        if "modelingGroup" not in pq.read_schema(parquet).names:
            raise InputError("The enrolment table lacks the column modelingGroup.", "Download a newer one.")
        table = pq.read_table(parquet, columns=["participantId", "modelingGroup"])
    inside = set(table.filter(pc.equal(table["modelingGroup"], group))["participantId"].to_pylist())
    return np.fromiter((rater in inside for rater in rater_ids.tolist()), dtype=bool, count=len(rater_ids))
