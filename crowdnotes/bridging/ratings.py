"""Ratings from a file into the table that the fit takes, and a fit to a file.

Public data (TSV, zipped or not, or our Parquet of it) has the official column names. A prepared table has
`note_id`, `rater_id` and `helpful_num` in [0, 1], and may have `weight`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crowdnotes.bridging.columns import HELPFUL_TAGS, NOT_HELPFUL_TAGS, RATINGS
from crowdnotes.bridging.model import Bools, Factorization, Ids, RatingTable, SideParameters
from crowdnotes.bridging.public_files import column_names, found_table, read_column, repeated
from crowdnotes.errors import InputError

_PUBLIC_COLUMNS = ("noteId", "raterParticipantId", "helpfulNum")
_PREPARED_COLUMNS = ("note_id", "rater_id", "helpful_num")


@dataclass(frozen=True)
class Ratings:
    """Ratings with what the status rules want to know of each, all (m,) in the same order.

    public: whether they came as public data, to which the documented filter is due. dropped: rows left
    out on the way, by reason. created_at_ms and tags are empty for prepared tables. sampled: which ratings X asked
    people drawn at random for; None where the table does not say.
    """

    table: RatingTable
    public: bool
    dropped: dict[str, int]
    created_at_ms: npt.NDArray[np.int64] | None = None
    tags: dict[str, Bools] = field(default_factory=dict)
    sampled: Bools | None = None

    def keep(self, mask: Bools) -> Ratings:
        """Return the ratings where mask (m,) is true, with ids that no longer occur left out."""
        return self._with_rows(self.table.keep(mask), mask)

    def only(self, mask: Bools) -> Ratings:
        """Return the ratings where mask (m,) is true; notes and raters without ratings stay in their places."""
        return self._with_rows(self.table.only(mask), mask)

    def _with_rows(self, table: RatingTable, mask: Bools) -> Ratings:
        times = None if self.created_at_ms is None else self.created_at_ms[mask]
        tags = {tag: values[mask] for tag, values in self.tags.items()}
        sampled = None if self.sampled is None else self.sampled[mask]
        return Ratings(table, self.public, self.dropped, times, tags, sampled)


def load_ratings(path: Path, *, with_details: bool = False) -> Ratings:
    """Read ratings from a file or a folder of shards. with_details: also times, tags and `sampled`.

    Raises InputError for a file that is neither form, or whose ids are floats (they lose digits above 2**53).
    """
    with found_table(RATINGS, path) as found:
        if found is None:
            raise InputError(
                f"{path} holds no ratings.", "Give ratings-00000.tsv, zipped or not, its folder, or Parquet."
            )
        loaded = _load_parquet(found.parquet, with_details)
        return replace(loaded, dropped={**found.dropped, **loaded.dropped})


def _load_parquet(path: Path, with_details: bool) -> Ratings:
    names = column_names(path)
    public = "noteId" in names
    wanted = _PUBLIC_COLUMNS if public else _PREPARED_COLUMNS
    missing = [name for name in wanted if name not in names]
    if missing:
        raise InputError(
            f"{path.name} lacks the column {', '.join(missing)}; it has {', '.join(names[:8])}.",
            "Ratings need note_id, rater_id and helpful_num, or the public data's columns.",
        )
    note_ids, note, note_known = _encode_ids(read_column(path, wanted[0]), wanted[0])
    rater_ids, rater, rater_known = _encode_ids(read_column(path, wanted[1]), wanted[1])
    helpful = _cast_to_float32(read_column(path, wanted[2]), wanted[2])
    weight = _cast_to_float32(read_column(path, "weight"), "weight") if not public and "weight" in names else None
    table = RatingTable(note_ids, rater_ids, note, rater, helpful, weight)
    times, tags = _read_times_and_tags(path, names) if public and with_details else (None, {})
    sampled = _read_sampled(path, names) if public and with_details else None
    usable = {
        f"no {wanted[0]}": note_known,
        f"no {wanted[1]}": rater_known,
        f"{wanted[2]} is not a number from 0 to 1": (helpful >= 0) & (helpful <= 1),
    }
    if weight is not None:
        usable["weight is negative or not a number"] = np.isfinite(weight) & (weight >= 0)
    dropped = {reason: len(good) - int(np.count_nonzero(good)) for reason, good in usable.items() if not good.all()}
    ratings = Ratings(table, public, dropped, times, tags, sampled)
    if dropped:
        ratings = ratings.keep(np.logical_and.reduce(list(usable.values())))
    again = repeated([ratings.table.note, ratings.table.rater])
    if again.any():
        dropped["repeated rating of a note by the same rater"] = int(again.sum())
        ratings = ratings.keep(~again)
    return ratings


def _encode_ids(column: pa.ChunkedArray, name: str) -> tuple[Ids, npt.NDArray[np.int32], Bools]:
    """Sorted ids without repeats, each row's number among them, and where there was an id."""
    if pa.types.is_floating(column.type):
        raise InputError(
            f"The column {name} holds floating-point numbers, which lose digits of 64-bit ids.",
            "Write ids as 64-bit integers or as strings.",
        )
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    encoded = column.unify_dictionaries()
    dictionary = encoded.chunk(0).dictionary if encoded.num_chunks else pa.array([], pa.string())
    if pa.types.is_integer(dictionary.type):
        ids: Ids = _cast_to_int64(dictionary, name)
    elif pa.types.is_string(dictionary.type) or pa.types.is_large_string(dictionary.type):
        ids = np.array(dictionary.to_pylist(), dtype=object)
    else:
        raise InputError(f"The column {name} holds {dictionary.type}.", "Ids are 64-bit integers or strings.")
    order = np.argsort(ids, kind="stable")
    rank = np.empty(len(ids) + 1, dtype=np.int32)
    rank[order] = np.arange(len(ids), dtype=np.int32)
    rank[-1] = 0  # of rows without an id, which are dropped afterwards
    rows = np.empty(len(encoded), dtype=np.int32)
    known = np.ones(len(encoded), dtype=bool)
    first = 0
    for chunk in encoded.chunks:
        part = slice(first, first + len(chunk))
        first += len(chunk)
        rows[part] = rank[chunk.indices.fill_null(len(ids)).to_numpy(zero_copy_only=False)]
        if chunk.null_count:
            known[part] = chunk.is_valid().to_numpy(zero_copy_only=False)
    return ids[order], rows, known


def _cast_to_int64(ids: pa.Array, name: str) -> Ids:
    try:
        whole: Ids = ids.cast(pa.int64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid as error:
        raise InputError(
            f"The column {name} holds numbers beyond 64 bits with a sign.", "Write such ids as strings."
        ) from error
    return whole


def _cast_to_float32(column: pa.ChunkedArray, name: str) -> npt.NDArray[np.float32]:
    try:
        numbers: npt.NDArray[np.float32] = column.cast(pa.float32(), safe=False).to_numpy()
    except pa.ArrowInvalid as error:
        raise InputError(f"The column {name} holds something other than numbers.", "Write it as numbers.") from error
    return numbers


def _read_times_and_tags(path: Path, names: list[str]) -> tuple[npt.NDArray[np.int64] | None, dict[str, Bools]]:
    """When each rating was made, None where the table does not say, and who ticked which of the tags that it has."""
    tags = {
        tag: pc.fill_null(read_column(path, tag), False).to_numpy().astype(bool, copy=False)
        for tag in (*HELPFUL_TAGS, *NOT_HELPFUL_TAGS)
        if tag in names
    }
    if "createdAtMillis" not in names:
        return None, tags
    return pc.fill_null(read_column(path, "createdAtMillis"), 0).to_numpy(), tags


def _read_sampled(path: Path, names: list[str]) -> Bools | None:
    """Return which ratings X asked people drawn at random for; None where the table does not say."""
    if "ratingSourceBucketed" not in names:
        return None
    sampled: Bools = is_sampled(read_column(path, "ratingSourceBucketed")).to_numpy().astype(bool, copy=False)
    return sampled


def is_sampled(sources: pa.ChunkedArray) -> pa.ChunkedArray:
    """Of the words of `ratingSourceBucketed` those for ratings that X asked people drawn at random for."""
    return pc.fill_null(pc.equal(sources.cast(pa.string()), "POPULATION_SAMPLED"), False)


def write_fit(fit: Factorization, out: Path) -> tuple[Path, Path]:
    """Write notes.parquet (note_id, note_intercept, note_factor) and raters.parquet (rater_id, …) into a folder.

    With several factors the second and third are note_factor_2 and so on. Both files are whole or not there.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name in ("note", "rater"):
            _refuse_other_table(out / f"{name}s.parquet", f"{name}_intercept")
        return _write_side(fit.notes, "note", out), _write_side(fit.raters, "rater", out)
    except OSError as error:
        raise InputError(
            f"The folder {out} cannot be written: {error.strerror or error}.", "Choose another folder."
        ) from error


def _refuse_other_table(target: Path, column: str) -> None:
    """Raise InputError where a table that no fit wrote would be lost, as the public notes of `bridging read`."""
    try:
        is_other = target.exists() and column not in pq.read_schema(target).names
    except pa.ArrowInvalid:
        is_other = True
    if is_other:
        raise InputError(f"{target} holds something else than a fit.", "Choose another folder.")


def _write_side(side: SideParameters, name: str, out: Path) -> Path:
    columns = {f"{name}_id": pa.array(side.ids.tolist()), f"{name}_intercept": pa.array(side.intercepts)}
    for k in range(side.factors.shape[1]):
        columns[f"{name}_factor" if k == 0 else f"{name}_factor_{k + 1}"] = pa.array(side.factors[:, k].copy())
    target = out / f"{name}s.parquet"
    unfinished = target.with_suffix(".unfinished")
    pq.write_table(pa.table(columns), unfinished)
    os.replace(unfinished, target)
    return target
