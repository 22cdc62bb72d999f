"""What the notes table and the status history say about the notes of a rating table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from crowdnotes.bridging.columns import HISTORY, NOTES, Kind, TableSpec
from crowdnotes.bridging.parameters import Ids
from crowdnotes.bridging.tables import column_names, found_table, read_column
from crowdnotes.bridging.verdicts import NoteStatus
from crowdnotes.domain import Classification
from crowdnotes.errors import InputError

_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class NoteFacts:
    """Facts of the notes of a rating table, (n,) each, in its order; None where the table that tells is absent.

    Deleted notes are gone from the notes table but stay rated, and count as misleading; when and by whom they
    were written stands in the status history. created_at_ms: 0 where not known. authors: ids, None where not
    known. was_helpful: the status of the last run. status_at_ms: when a note last got a status, the largest
    integer if never.
    """

    misleading: npt.NDArray[np.bool_] | None
    created_at_ms: npt.NDArray[np.int64] | None
    authors: Ids | None
    was_helpful: npt.NDArray[np.bool_] | None
    status_at_ms: npt.NDArray[np.int64] | None

    def keep(self, rows: npt.NDArray[np.intp]) -> NoteFacts:
        """The facts of some of the notes, by row number."""
        return NoteFacts(*(None if values is None else values[rows] for values in vars(self).values()))


def gather_facts(data: Path, note_ids: Ids) -> NoteFacts:
    """Read notes and status history under a folder (TSV, zipped or not, or our Parquet), as far as they are there.

    Raises InputError for tables whose ids are no whole numbers or come twice, and for ratings that name notes
    otherwise than the tables do: nothing would match, without a word.
    """
    notes = _load(NOTES, data, note_ids, ("classification", "createdAtMillis", "noteAuthorParticipantId"))
    history = _load(
        HISTORY,
        data,
        note_ids,
        ("currentStatus", "createdAtMillis", "noteAuthorParticipantId", "timestampMillisOfLatestNonNMRStatus"),
    )
    tables = [table for table in (notes, history) if table is not None]
    misleading = was_helpful = status_at = None
    if notes is not None:
        misleading = (notes["classification"] != Classification.NOT_MISLEADING.value).to_numpy(dtype=bool)
    if history is not None:
        was_helpful = (history["currentStatus"] == NoteStatus.HELPFUL.value).to_numpy(dtype=bool)
        if "timestampMillisOfLatestNonNMRStatus" in history:
            times = history["timestampMillisOfLatestNonNMRStatus"]
            status_at = times.where(times > 0).fillna(_NEVER).to_numpy(dtype=np.int64)
    created = _first_known(tables, "createdAtMillis")
    authors = _first_known(tables, "noteAuthorParticipantId")
    return NoteFacts(
        misleading,
        None if created is None else created.fillna(0).to_numpy(dtype=np.int64),
        None if authors is None else authors.astype(object).where(authors.notna(), None).to_numpy(dtype=object),
        was_helpful,
        status_at,
    )


def _first_known(tables: list[pd.DataFrame], name: str) -> pd.Series | None:
    """A column from the first table that knows it, note by note."""
    found: pd.Series | None = None
    for table in tables:
        if name in table:
            found = table[name] if found is None else found.where(found.notna(), table[name])
    return found


def _load(spec: TableSpec, data: Path, note_ids: Ids, wanted: tuple[str, ...]) -> pd.DataFrame | None:
    """The wanted columns of the notes asked for, in their order; None where there is no such table."""
    with found_table(spec, data) as found:
        if found is None:
            return None
        if len(note_ids) and note_ids.dtype == object:
            raise InputError(
                f"The ratings name notes by text, the {spec.name} by whole numbers.",
                "Write noteId as a 64-bit integer in both.",
            )
        return _frame(spec, found.parquet, wanted).reindex(note_ids)


def _frame(spec: TableSpec, parquet: Path, wanted: tuple[str, ...]) -> pd.DataFrame:
    present = column_names(parquet)
    missing = [name for name in spec.required if name not in present]
    if missing:
        raise InputError(
            f"{parquet.name} lacks the column {', '.join(missing)}.", "Make it with `crowdnotes bridging read`."
        )
    columns = {name: _checked(spec, parquet, name) for name in ("noteId", *wanted) if name in present}
    # Whole numbers stay whole numbers even where some are missing: a float would round 64-bit ids.
    frame: pd.DataFrame = pa.table(columns).to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
    if frame["noteId"].isna().any() or frame["noteId"].duplicated().any():
        raise InputError(
            f"{parquet.name} has a note without id, or one note twice.", "Make it with `crowdnotes bridging read`."
        )
    return frame.set_index(frame["noteId"].astype("int64")).drop(columns="noteId")


def _checked(spec: TableSpec, parquet: Path, name: str) -> pa.ChunkedArray:
    """A column whose ids and times are whole numbers: as floats they would have lost digits."""
    column = read_column(parquet, name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if spec.columns[name] in {Kind.ID, Kind.TIME} and not pa.types.is_int64(column.type):
        raise InputError(
            f"The column {name} of {parquet.name} holds {column.type}, not 64-bit integers.",
            "Make it with `crowdnotes bridging read`.",
        )
    return column
