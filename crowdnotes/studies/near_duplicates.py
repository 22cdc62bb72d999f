"""Groups texts that are the same but for marks, links or a few words, so that no group spans two folds."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import connected_components

from crowdnotes.embedding import FloatArray

_SAME = 0.85  # cosine of two wordings of one post, read on pairs of HealthNotes posts
_LINK = re.compile(r"https?://\S+|\W+")


def group_texts(texts: Sequence[str], vectors: FloatArray) -> npt.NDArray[np.int64]:
    """A group number for each text; texts linked by any chain of near duplicates share one."""
    plain = [_LINK.sub(" ", text.lower()).strip() for text in texts]
    first = {text: row for row, text in reversed(list(enumerate(plain)))}
    near = (vectors @ vectors.T) > _SAME
    for row, text in enumerate(plain):
        near[row, first[text]] = True
    _, groups = connected_components(near, directed=False)
    return np.asarray(groups, dtype=np.int64)


def joined_groups(first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """One grouping of both, all of shape (rows,): rows linked by any chain of groups in either share one."""
    together = (first[:, None] == first) | (second[:, None] == second)
    _, groups = connected_components(together, directed=False)
    return np.asarray(groups, dtype=np.int64)


def near_any(vectors: FloatArray, others: FloatArray) -> npt.NDArray[np.bool_]:
    """Whether each vector is that of a near duplicate of one of the others, shape (len(vectors),)."""
    return np.asarray((vectors @ others.T > _SAME).any(axis=1))
