"""What the notes table and the status history say about the notes of a rating table."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from crowdnotes.bridging.columns import HISTORY, NOTES, TableSpec
from crowdnotes.bridging.parameters import Ids
from crowdnotes.bridging.reading import read_table
from crowdnotes.bridging.shards import find_shards
from crowdnotes.bridging.verdicts import NoteStatus
from crowdnotes.domain import Classification
from crowdnotes.errors import InputError

_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class NoteFacts:
    """Facts of the notes of a rating table, (n,) each, in its order; None where the table that tells is absent.

    known: whether the notes table has the note at all (deleted notes are gone from it but stay rated, and
    count as misleading). created_at_ms: 0 where not known. authors: ids, None where not known. was_helpful:
    the status of the last run. status_at_ms: when a note last got a status, the largest integer if never.
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
    """Read notes and status history under a folder (TSV, zipped or not, or our Parquet), as far as they are there."""
    wanted = ("noteId", "classification", "createdAtMillis", "noteAuthorParticipantId")
    notes = _load(NOTES, data, wanted)
    history = _load(
        HISTORY, data, ("noteId", "currentStatus", "createdAtMillis", "timestampMillisOfLatestNonNMRStatus")
    )
    misleading = created = authors = was_helpful = status_at = None
    if notes is not None:
        notes = notes.reindex(note_ids)
        misleading = (notes["classification"] != Classification.NOT_MISLEADING.value).to_numpy(dtype=bool)
        if "createdAtMillis" in notes:
            created = notes["createdAtMillis"].fillna(0).to_numpy(dtype=np.int64)
        if "noteAuthorParticipantId" in notes:
            names = notes["noteAuthorParticipantId"].astype(object)
            authors = names.where(names.notna(), None).to_numpy(dtype=object)
    if history is not None:
        history = history.reindex(note_ids)
        was_helpful = (history["currentStatus"] == NoteStatus.HELPFUL.value).to_numpy(dtype=bool)
        if "timestampMillisOfLatestNonNMRStatus" in history:
            times = history["timestampMillisOfLatestNonNMRStatus"]
            status_at = times.where(times > 0).fillna(_NEVER).to_numpy(dtype=np.int64)
    return NoteFacts(misleading, created, authors, was_helpful, status_at)


def _load(spec: TableSpec, data: Path, wanted: Sequence[str]) -> pd.DataFrame | None:
    ready = data / f"{spec.name}.parquet"
    if ready.is_file():
        return _frame(spec, ready, wanted)
    shards = find_shards(spec, data)
    if not shards:
        return None
    with tempfile.TemporaryDirectory(prefix="crowdnotes-notes-") as scratch:
        parquet = Path(scratch) / ready.name
        read_table(spec, shards, parquet)
        return _frame(spec, parquet, wanted)


def _frame(spec: TableSpec, parquet: Path, wanted: Sequence[str]) -> pd.DataFrame:
    try:
        present = pq.read_schema(parquet).names
        if "noteId" not in present:
            raise InputError(f"{parquet.name} lacks the column noteId.", "Make it with `crowdnotes bridging read`.")
        table = pq.read_table(parquet, columns=[name for name in wanted if name in present])
    except pa.ArrowInvalid as error:
        raise InputError(f"The {spec.name} in {parquet.name} cannot be read.", "Make the file again.") from error
    # Whole numbers stay whole numbers even where some are missing: a float would round 64-bit ids.
    frame: pd.DataFrame = table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
    return frame.set_index(frame["noteId"].astype("int64")).drop(columns="noteId")
