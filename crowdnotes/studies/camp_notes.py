"""Camp notes: real notes on which two camps of raters agreed or not, from a Parquet file of the camp schema.

Derived from X's public data by Ulu, Shi and Hausladen (2026), CC BY 4.0: note_id, post_id, text as X stores it, kind
("polarising" or "bridging"), approval_0/1 (share of helpful votes in each camp), raters_0/1, bridge_score (geometric
mean of the approvals), and content_label, what a model said the agreed ones are. Camp 0 is the side with positive rater
factors, camp 1 the one with negative: measured on notes of the pilot, see the jury's model card.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pandas.api.types import is_string_dtype

from crowdnotes.domain.post import FIRST_ID_MS
from crowdnotes.errors import InputError
from crowdnotes.text.note_rules import x_storage_form

_COLUMNS = ("note_id", "text", "kind", "content_label")
_FORM = (
    "The table has the columns note_id, post_id, text, kind (polarising or bridging), approval_0, approval_1, "
    "raters_0, raters_1, bridge_score and content_label (opinion_or_speculation, sourced_factual_information, …)."
)
OPINION_LABELS = ("opinion_or_speculation", "hostile_troll_or_derogatory")
SOURCED_LABEL = "sourced_factual_information"
TRIVIAL_LABEL = "irrelevant_trivial_or_spam"


def read_camp_notes(path: Path) -> pd.DataFrame:
    """The table, oldest note first (ids grow with time). Raises InputError when it is not of that form."""
    table: pd.DataFrame = _table(path, _COLUMNS).to_pandas()
    if not is_string_dtype(table["text"]):
        raise InputError(f"{path.name} lacks text in its column text.", _FORM)
    if table["text"].isna().any() or not len(table):
        raise InputError(f"{path.name} has notes without text, or no notes.", _FORM)
    return table.assign(note_id=table["note_id"].astype("int64")).sort_values("note_id").reset_index(drop=True)


def labelled_bridging(table: pd.DataFrame) -> pd.DataFrame:
    """The notes that both camps approve and that have a content label."""
    return table[(table["kind"] == "bridging") & table["content_label"].notna()].reset_index(drop=True)


Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
_NEEDED = "note_id post_id text kind approval_0 approval_1 raters_0 raters_1 bridge_score".split()
_KINDS = ("polarising", "bridging")
_DAY_MS = 86_400_000


@dataclass(frozen=True)
class CampNotes:
    """Notes in order of time, (n,) each.

    ids, posts: int64. divides: kind is "polarising". approvals, raters (n, 2): of side − and side +,
    NaN for notes that do not divide. joined: bridge_score. dropped: rows left out, by reason.
    """

    ids: npt.NDArray[np.int64]
    posts: npt.NDArray[np.int64]
    texts: tuple[str, ...]
    divides: Bools
    approvals: Floats
    raters: Floats
    joined: Floats
    dropped: dict[str, int]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def positive_likes(self) -> Bools:
        """Side + approves more than side −, (n,); of no meaning for notes that do not divide."""
        return np.asarray(self.approvals[:, 1] > self.approvals[:, 0])

    @property
    def days(self) -> Floats:
        """When each note was written, in days, from its id."""
        milliseconds = self.ids // 2**22 + FIRST_ID_MS
        return milliseconds.astype(np.float64) / _DAY_MS

    def only(self, keep: Bools) -> CampNotes:
        """The notes where `keep` (n,) is true."""
        return replace(
            self,
            ids=self.ids[keep],
            posts=self.posts[keep],
            texts=tuple(compress(self.texts, keep)),
            divides=self.divides[keep],
            approvals=self.approvals[keep],
            raters=self.raters[keep],
            joined=self.joined[keep],
        )


def read_camps(path: Path) -> CampNotes:
    """Read a Parquet file of the camp schema, oldest note first.

    Rows that cannot be used are left out and counted by reason. Raises InputError for a file that is
    not Parquet, lacks a column, has ids that are not whole numbers, or keeps no usable note.
    """
    table = _table(path, _NEEDED)
    ids, posts = (_whole_numbers(table, name) for name in ("note_id", "post_id"))
    numbers = {name: _numbers(table, name) for name in _NEEDED[4:]}
    kinds = np.asarray(table["kind"].to_pylist(), dtype=object)
    raw = [text or "" for text in table["text"].to_pylist()]
    approvals = np.column_stack((numbers["approval_1"], numbers["approval_0"]))
    raters = np.column_stack((numbers["raters_1"], numbers["raters_0"]))
    faults = _faults(kinds, raw, approvals, raters, numbers["bridge_score"], ids)
    keep = np.ones(len(ids), dtype=bool)
    dropped = {}
    for reason, fault in faults.items():
        if int((fault & keep).sum()):
            dropped[reason] = int((fault & keep).sum())
        keep &= ~fault
    if not keep.any():
        raise InputError(f"{path.name} holds no usable note ({dropped}).", "Check its columns.")
    order = np.flatnonzero(keep)[np.argsort(ids[keep], kind="stable")]
    return CampNotes(
        ids[order],
        posts[order],
        tuple(x_storage_form(raw[row]) for row in order),
        np.asarray(kinds[order] == "polarising"),
        approvals[order],
        raters[order],
        numbers["bridge_score"][order],
        dropped,
    )


def _table(path: Path, needed: Sequence[str]) -> pa.Table:
    try:
        table = pq.read_table(path)
    except FileNotFoundError as error:
        raise InputError(f"{path} cannot be read: there is no such file.") from error
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{path.name} is no Parquet file that can be read.", _FORM) from error
    missing = [name for name in needed if name not in table.column_names]
    if missing:
        raise InputError(f"{path.name} lacks the columns {', '.join(missing)}.", _FORM)
    return table


def split_by_time(notes: CampNotes, newest: float) -> tuple[Bools, Bools]:
    """Older and newest notes, as masks (n,); older notes on a post that the newest also have are in neither."""
    row = np.arange(len(notes))
    new = row >= round(len(notes) * (1 - newest))
    return ~new & ~np.isin(notes.posts, notes.posts[new]), new


def _faults(
    kinds: npt.NDArray[Any], texts: Sequence[str], approvals: Floats, raters: Floats, joined: Floats, ids: Any
) -> dict[str, Bools]:
    polarising = np.asarray(kinds == "polarising")
    shares_known = ((approvals >= 0) & (approvals <= 1)).all(axis=1)  # NaN fails too
    _, first = np.unique(ids, return_index=True)
    return {
        "kind is neither polarising nor bridging": ~np.isin(kinds, _KINDS),
        "no text": np.asarray([not text.strip() for text in texts]),
        "repeated note": ~np.isin(np.arange(len(ids)), first),
        "polarising without both camps' approval": polarising & ~shares_known,
        "polarising without both camps' raters": polarising & ~(raters > 0).all(axis=1),
        "bridging without a bridge score": ~polarising & ~((joined >= 0) & (joined <= 1)),
    }


def _whole_numbers(table: pa.Table, name: str) -> npt.NDArray[np.int64]:
    column = table[name].combine_chunks()
    if column.null_count or not (
        pa.types.is_integer(column.type) or pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    ):
        raise InputError(f"{name} must be whole numbers without gaps (floats lose digits).", "Write them as integers.")
    try:
        return np.asarray(column.cast(pa.int64()).to_numpy(zero_copy_only=False), dtype=np.int64)
    except pa.ArrowInvalid as error:
        raise InputError(f"{name} holds something that is no whole number.", "Write ids as integers.") from error


def _numbers(table: pa.Table, name: str) -> Floats:
    try:
        return np.asarray(table[name].cast(pa.float64()).to_numpy(), dtype=np.float64)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(f"{name} holds something that is no number.", "Check the column.") from error
