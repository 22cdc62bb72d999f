"""Which raters belong to a modeling group, from the enrolment table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from crowdnotes.bridging.columns import ENROLMENT
from crowdnotes.bridging.parameters import Ids
from crowdnotes.bridging.stable_start import GROUP
from crowdnotes.bridging.tables import column_names, found_table, read_column
from crowdnotes.errors import InputError


def group_members(path: Path, rater_ids: Ids, group: int = GROUP) -> npt.NDArray[np.bool_]:
    """Which of the raters (u,) are in the group. path: the table's file, zipped or not, or the folder that holds it."""
    with found_table(ENROLMENT, path) as found:
        if found is None:
            raise InputError(f"{path} holds no enrolment table.", "Give userEnrollment-00000.tsv, zipped or not.")
        missing = {"participantId", "modelingGroup"}.difference(column_names(found.parquet))
        if missing:
            raise InputError(
                f"The enrolment table lacks the column {', '.join(sorted(missing))}.", "Download a newer one."
            )
        people = read_column(found.parquet, "participantId").to_pylist()
        groups = read_column(found.parquet, "modelingGroup").to_pylist()
    inside = {person for person, number in zip(people, groups, strict=True) if number == group}
    return np.fromiter((rater in inside for rater in rater_ids.tolist()), dtype=bool, count=len(rater_ids))
