"""Columns brought to mean 0 and spread 1, as heads keep them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdnotes.embedding import FloatArray

_LEAST_SPREAD = 1e-6  # a column that is the same everywhere tells nothing, and stays as it is


@dataclass(frozen=True, slots=True)
class Scaled:
    """A block's columns: what to subtract and to divide by, shape (columns,) each."""

    mean: FloatArray
    scale: FloatArray


def standard(values: FloatArray) -> Scaled:
    """Of rows, shape (rows, columns)."""
    spread = values.std(axis=0)
    return Scaled(values.mean(axis=0), np.where(spread > _LEAST_SPREAD, spread, 1.0).astype(np.float32))
