"""The ratings laid out twice for the solves: by note and by rater, each row sorted, cut in chunks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from crowdnotes.bridging.grouping import Grouped, count_buckets, into_buckets, sort_bucket
from crowdnotes.bridging.kernels import Indices, Offsets, Singles
from crowdnotes.bridging.parameters import RatingTable

# Chunks depend on the data alone, never on the machine's cores, so sums are the same everywhere.
# 2**17 ratings are about 0.2 ms of work: well above what handing them to a thread costs.
_CHUNK = 1 << 17
_PIECE = 1 << 20  # ratings put into buckets in one go
_BUCKET = 1 << 16  # ratings in a bucket: a core's own cache holds them
_MOST_BUCKET_BITS = 8  # more buckets than that would themselves not stay in it
_USABLE: Final = ("C", "W")  # the compiled loops know this memory layout alone
_NO_WEIGHTS = np.empty(0, dtype=np.float32)
_Side = tuple[Offsets, Indices, Singles, Singles]  # where each row starts, and the ratings' columns, values, weights
Each = Callable[[Callable[[int], None], int], None]  # runs a function for 0, 1, ... n - 1, side by side


@dataclass(frozen=True)
class Rows:
    """One side's view: row r holds positions start[r]:start[r + 1] of columns, values and weights."""

    start: Offsets
    columns: Indices
    values: Singles
    weights: Singles
    bounds: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.start) - 1

    def piece(self, number: int) -> tuple[int, int, Offsets, Indices, Singles, Singles]:
        """What a compiled loop takes for one chunk of rows."""
        return (
            self.bounds[number],
            self.bounds[number + 1],
            self.start,
            self.columns,
            self.values,
            self.weights,
        )


def lay_out(table: RatingTable, each: Each) -> tuple[Rows, Rows]:
    """The ratings by note and by rater, each row in rising order of the other side whatever order they came in."""
    note, rater = np.require(table.note, np.int32, _USABLE), np.require(table.rater, np.int32, _USABLE)
    helpful = np.require(table.helpful, np.float32, _USABLE)
    weight = _NO_WEIGHTS if table.weight is None else np.require(table.weight, np.float32, _USABLE)
    ratings = (rater, note, helpful, weight)
    notes, raters = len(table.note_ids), len(table.rater_ids)
    buckets = _like(ratings)
    unsorted = _group(ratings, raters, buckets, each)
    by_note = _turned(unsorted, notes, buckets, each)
    by_rater = _turned(by_note, raters, buckets, each)
    return _rows(*by_note), _rows(*by_rater)


def _turned(grouped: _Side, width: int, buckets: Grouped, each: Each) -> _Side:
    """The same ratings grouped by the other side; a stable sort, so each row rises."""
    start, columns, values, weights = grouped
    row = np.repeat(np.arange(len(start) - 1, dtype=np.int32), np.diff(start))
    return _group((columns, row, values, weights), width, buckets, each)


def _like(ratings: Grouped) -> Grouped:
    keys, others, values, weights = ratings
    return np.empty_like(keys), np.empty_like(others), np.empty_like(values), np.empty_like(weights)


def _group(ratings: Grouped, rows: int, buckets: Grouped, each: Each) -> _Side:
    """Ratings grouped by key, in their order within each group: where each row starts (rows + 1), and the rest.

    First into buckets of neighbouring rows, then within each: a write to one of a million rows at random
    would miss the caches, one to a few hundred does not. `buckets` is overwritten: fresh memory costs time.
    """
    keys = ratings[0]
    bits = min(_MOST_BUCKET_BITS, (len(keys) // _BUCKET).bit_length())
    shift = max(0, (rows - 1).bit_length() - bits)
    pieces = [slice(at, at + _PIECE) for at in range(0, len(keys), _PIECE)]
    counts = np.zeros((len(pieces), ((rows - 1) >> shift) + 1), dtype=np.int64)
    each(lambda piece: count_buckets(keys[pieces[piece]], shift, counts[piece]), len(pieces))
    ends = counts.T.cumsum().reshape(counts.T.shape).T
    following = ends - counts
    bounds = [0, *ends[-1].tolist()]

    def spread(piece: int) -> None:
        cut = pieces[piece]
        key, other, value, weight = ratings
        into_buckets(key[cut], other[cut], value[cut], weight[cut], shift, following[piece], buckets)

    each(spread, len(pieces))
    start = np.full(rows + 1, len(keys), dtype=np.int64)
    _, others, values, weights = _like(ratings)

    def sort(bucket: int) -> None:
        row = bucket << shift
        own = start[row : min(row + (1 << shift), rows)]
        sort_bucket(bounds[bucket], bounds[bucket + 1], buckets, row, own, others, values, weights)

    each(sort, counts.shape[1])
    return start, others, values, weights


def _rows(start: Offsets, columns: Indices, values: Singles, weights: Singles) -> Rows:
    chunks = max(1, len(columns) // _CHUNK)
    cuts = np.searchsorted(start, np.linspace(0, len(columns), chunks + 1)[1:-1])
    bounds = np.unique(np.concatenate(([0], cuts, [len(start) - 1])))
    return Rows(start, columns, values, weights, tuple(int(bound) for bound in bounds))
