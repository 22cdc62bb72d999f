"""Stable initialisation: fit one well-connected group of raters first, and begin the full fit there.

Production fits modeling group 13 on notes that this group mostly rated, so that the factor's sign does
not flip between weakly connected groups (mf_base_scorer.py).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crowdnotes.bridging.factorization import fit
from crowdnotes.bridging.parameters import Factorization, RatingTable
from crowdnotes.errors import InputError

GROUP = 13
_SHARE = 0.75  # of a note's ratings that come from the group
_RATINGS = 5


def fit_from_group(table: RatingTable, in_group: npt.NDArray[np.bool_], *, factors: int = 1) -> Factorization:
    """Fit all ratings, begun from a fit of the group's: in_group (u,) tells which raters are in it.

    Raises InputError when the group has no note with enough of its ratings.
    """
    from_group = in_group[table.rater]
    total = np.bincount(table.note, minlength=len(table.note_ids))
    theirs = np.bincount(table.note[from_group], minlength=len(table.note_ids))
    chosen = (total >= _RATINGS) & (theirs >= _SHARE * total)
    mask = from_group & chosen[table.note]
    if not mask.any():
        raise InputError(
            "The group to start from has no note that it mostly rated.", "Fit without a group, or choose another."
        )
    return fit(table, factors=factors, start=fit(table.keep(mask), factors=factors))
