"""Files that benchmarks and training read and write: JSON Lines, camp notes, and pinned figures.

A faulty line is named. `figures.json` pins what was measured of a judge and the SHA-256 of its weights; a check fails
when the two part, or a figure falls. Camp notes (Ulu, Shi and Hausladen 2026, CC BY 4.0, from X's public data) are a
Parquet file: note_id, post_id, text as X stores it, kind, approval_0/1 (share of helpful votes in each camp),
raters_0/1, bridge_score (geometric mean of the approvals), content_label. Camp 0 is the side with positive rater
factors, camp 1 the one with negative: measured on notes of the pilot, see the jury's model card.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import compress
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pandas.api.types import is_string_dtype
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from crowdnotes.bridging.columns import DAY_MS
from crowdnotes.domain import Evidence, Passage, Post, Source, Span
from crowdnotes.domain.post import FIRST_ID_MS
from crowdnotes.engines.local.trained_models import JUDGES
from crowdnotes.errors import InputError, ModelFilesError
from crowdnotes.text.note_rules import x_storage_form

_LABELLED_CAMP_COLUMNS = ("note_id", "text", "kind", "content_label")
_CAMP_TABLE_FORM = (
    "The table has the columns note_id, post_id, text, kind (polarising or bridging), approval_0, approval_1, "
    "raters_0, raters_1, bridge_score and content_label (opinion_or_speculation, sourced_factual_information, …)."
)
OPINION_LABELS = ("opinion_or_speculation", "hostile_troll_or_derogatory")


def read_camp_notes(path: Path) -> pd.DataFrame:
    """Return the table, oldest note first (ids grow with time). Raises InputError when it is not of that form."""
    table: pd.DataFrame = _read_camp_table(path, _LABELLED_CAMP_COLUMNS).to_pandas()
    if not is_string_dtype(table["text"]):
        raise InputError(f"{path.name} lacks text in its column text.", _CAMP_TABLE_FORM)
    if table["text"].isna().any() or not len(table):
        raise InputError(f"{path.name} has notes without text, or no notes.", _CAMP_TABLE_FORM)
    return table.assign(note_id=table["note_id"].astype("int64")).sort_values("note_id").reset_index(drop=True)


def labelled_bridging(table: pd.DataFrame) -> pd.DataFrame:
    """Return the notes that both camps approve and that have a content label."""
    return table[(table["kind"] == "bridging") & table["content_label"].notna()].reset_index(drop=True)


Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
_CAMP_COLUMNS = "note_id post_id text kind approval_0 approval_1 raters_0 raters_1 bridge_score".split()
_CAMP_KINDS = ("polarising", "bridging")


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
        return milliseconds.astype(np.float64) / DAY_MS

    def only(self, keep: Bools) -> CampNotes:
        """Return the notes where `keep` (n,) is true."""
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
    table = _read_camp_table(path, _CAMP_COLUMNS)
    ids, posts = (_read_whole_numbers(table, name) for name in ("note_id", "post_id"))
    numbers = {name: _read_numbers(table, name) for name in _CAMP_COLUMNS[4:]}
    kinds = np.asarray(table["kind"].to_pylist(), dtype=object)
    raw = [text or "" for text in table["text"].to_pylist()]
    approvals = np.column_stack((numbers["approval_1"], numbers["approval_0"]))
    raters = np.column_stack((numbers["raters_1"], numbers["raters_0"]))
    faults = _find_row_faults(kinds, raw, approvals, raters, numbers["bridge_score"], ids)
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


def _read_camp_table(path: Path, needed: Sequence[str]) -> pa.Table:
    try:
        table = pq.read_table(path)
    except FileNotFoundError as error:
        raise InputError(f"{path} cannot be read: there is no such file.") from error
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{path.name} is no Parquet file that can be read.", _CAMP_TABLE_FORM) from error
    missing = [name for name in needed if name not in table.column_names]
    if missing:
        raise InputError(f"{path.name} lacks the columns {', '.join(missing)}.", _CAMP_TABLE_FORM)
    return table


def split_by_time(notes: CampNotes, newest: float) -> tuple[Bools, Bools]:
    """Older and newest notes, as masks (n,); older notes on a post that the newest also have are in neither."""
    row = np.arange(len(notes))
    new = row >= round(len(notes) * (1 - newest))
    return ~new & ~np.isin(notes.posts, notes.posts[new]), new


def _find_row_faults(
    kinds: npt.NDArray[Any], texts: Sequence[str], approvals: Floats, raters: Floats, joined: Floats, ids: Any
) -> dict[str, Bools]:
    polarising = np.asarray(kinds == "polarising")
    shares_known = ((approvals >= 0) & (approvals <= 1)).all(axis=1)  # NaN fails too
    _, first = np.unique(ids, return_index=True)
    return {
        "kind is neither polarising nor bridging": ~np.isin(kinds, _CAMP_KINDS),
        "no text": np.asarray([not text.strip() for text in texts]),
        "repeated note": ~np.isin(np.arange(len(ids)), first),
        "polarising without both camps' approval": polarising & ~shares_known,
        "polarising without both camps' raters": polarising & ~(raters > 0).all(axis=1),
        "bridging without a bridge score": ~polarising & ~((joined >= 0) & (joined <= 1)),
    }


def _read_whole_numbers(table: pa.Table, name: str) -> npt.NDArray[np.int64]:
    column = table[name].combine_chunks()
    if column.null_count or not (
        pa.types.is_integer(column.type) or pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    ):
        raise InputError(f"{name} must be whole numbers without gaps (floats lose digits).", "Write them as integers.")
    try:
        return np.asarray(column.cast(pa.int64()).to_numpy(zero_copy_only=False), dtype=np.int64)
    except pa.ArrowInvalid as error:
        raise InputError(f"{name} holds something that is no whole number.", "Write ids as integers.") from error


def _read_numbers(table: pa.Table, name: str) -> Floats:
    try:
        return np.asarray(table[name].cast(pa.float64()).to_numpy(), dtype=np.float64)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(f"{name} holds something that is no number.", "Check the column.") from error


Row = TypeVar("Row", bound=BaseModel)


def read_rows(path: Path, row: type[Row], form: str, limit: int | None = None) -> list[Row]:
    """Return the file's rows, or its first `limit`; blank lines are passed over.

    Raises InputError with the line, also past the limit, what is wrong with it, and `form`: what a line should hold.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise InputError(f"{path.name} cannot be read ({error.strerror}).", "Check the path.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name} is not UTF-8 text.", form) from error
    found: list[Row] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found.append(row.model_validate_json(line))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            what = f"{place}: {first['msg']}" if place else str(first["msg"])
            what = what.removeprefix("Value error, ")
            raise InputError(f"{path.name}, line {number}: {what}.", form) from error
    if not found:
        raise InputError(f"{path.name} holds no lines.", form)
    return found[:limit]


def note_mark(note_id: str) -> int:
    """64 bits of the id's SHA-256, as a number."""
    return int.from_bytes(hashlib.sha256(note_id.encode()).digest()[:8], "big")


_HEALTH_FORM = (
    'Each line is an object: {"note_id": "…", "post": "…", "note": "…", "created_at_ms": 1654968235896, '
    '"status": "CURRENTLY_RATED_HELPFUL" or "CURRENTLY_RATED_NOT_HELPFUL"}; "deciding" is optional: a list of '
    '{"sentence": "…", "url": "…"}, each of which settles the post\'s claim, "url" optional.'
)


class DecidingSentence(BaseModel):
    """A sentence that settles a post's claim, as a source has it, and the source's address where it is known."""

    model_config = ConfigDict(frozen=True)

    sentence: str = Field(min_length=1)
    url: str | None = None


class HealthNote(BaseModel):
    """One line. `created_at_ms` is the note's time, in milliseconds since 1970, where it is known.

    `deciding` are sentences each of which settles the claim, for measuring how far a search brings one of them.
    """

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)

    note_id: str
    post: str = Field(min_length=1)
    note: str = Field(min_length=1)
    created_at_ms: int | None = Field(None, ge=0, le=4_102_444_800_000)
    status: Literal["CURRENTLY_RATED_HELPFUL", "CURRENTLY_RATED_NOT_HELPFUL"]
    deciding: tuple[DecidingSentence, ...] = ()

    @property
    def is_helpful(self) -> bool:
        """What the crowd said."""
        return self.status == "CURRENTLY_RATED_HELPFUL"

    @property
    def as_post(self) -> Post:
        """The post; dated like the note, which follows within hours (CrowdNotes+ 3.3, a median of 10)."""
        moment = None if self.created_at_ms is None else datetime.fromtimestamp(self.created_at_ms / 1000, UTC)
        return Post(text=self.post, posted_at=moment)


def read_health_notes(path: Path, limit: int | None = None) -> list[HealthNote]:
    """Return the file's notes. Raises InputError with the line and what is wrong with it."""
    return read_rows(path, HealthNote, _HEALTH_FORM, limit)


_DISTORTION_FORM = (
    'Each line is an object: {"id": "…", "passage": "…", "note": "…", "label": "faithful" or "distorted", '
    '"kind": null, or for a distorted note "number", "negation", …}; "url" is optional.'
)


class DistortionRow(BaseModel):
    """One note about one passage. `kind` names the distortion; None for a faithful note."""

    model_config = ConfigDict(frozen=True)

    id: str
    passage: str = Field(min_length=1)
    note: str = Field(min_length=1)
    label: Literal["faithful", "distorted"]
    kind: str | None = None
    url: str | None = None

    @property
    def evidence(self) -> list[Evidence]:
        """The passage as the only evidence."""
        passage = Passage(text=self.passage, span=Span(start=0, end=len(self.passage)), similarity=1.0)
        source = Source(id=self.id, title="", url=self.url)
        return [Evidence(id="E1", source=source, passage=passage, rank=1, why="given")]


def read_distortions(path: Path, limit: int | None = None) -> list[DistortionRow]:
    """Return the file's rows. Raises InputError with the line and what is wrong with it."""
    return read_rows(path, DistortionRow, _DISTORTION_FORM, limit)


_JUDGED_FORM = (
    'Each line is an object: {"note_id": "…", "post": "…", "judged": [{"record": row number, "grade": 0, 1 or 2}, …]}.'
)


class _RecordGrade(BaseModel):
    model_config = ConfigDict(frozen=True)

    record: Annotated[int, Field(ge=0)]
    grade: Annotated[int, Field(ge=0, le=2)]


class JudgedPost(BaseModel):
    """A post and a person's grades of some records: 0 no help, 1 helps somewhat, 2 directly helpful."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)

    note_id: str
    post: Annotated[str, Field(min_length=1)]
    judged: tuple[_RecordGrade, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _each_record_once(self) -> JudgedPost:
        if len(self.grades) != len(self.judged):
            raise ValueError("a record is judged twice")
        return self

    @property
    def grades(self) -> dict[int, int]:
        """Grade by record."""
        return {item.record: item.grade for item in self.judged}


def read_judged_posts(path: Path, limit: int | None = None) -> list[JudgedPost]:
    """Return the posts of the file. Raises InputError with the line and what is wrong with it."""
    return read_rows(path, JudgedPost, _JUDGED_FORM, limit)


FIGURES = "figures.json"
HELD_OUT = "{}-held-out.npz"
_FIGURES_TABLE_PATTERN = re.compile(r"(?<=<!-- figures -->\n).*?(?=<!-- end of figures -->)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class HeldOutVerdicts:
    """What a judge said of notes it had not seen, as numbers: `marks` of their ids, probabilities, labels."""

    marks: npt.NDArray[np.uint64]
    probabilities: npt.NDArray[np.float64]
    labels: npt.NDArray[np.bool_]

    def by_mark(self) -> dict[int, float]:
        """Probability by mark."""
        return dict(zip(self.marks.tolist(), self.probabilities.tolist(), strict=True))


def write_held_out(
    folder: Path,
    judge: str,
    note_ids: Iterable[str],
    probabilities: npt.NDArray[np.float64],
    labels: npt.NDArray[np.bool_],
) -> None:
    """Write what a judge said of notes that it had not seen as plain arrays, the notes by their marks."""
    np.savez_compressed(
        folder / HELD_OUT.format(judge),
        allow_pickle=False,
        marks=np.array([note_mark(note_id) for note_id in note_ids], dtype=np.uint64),
        probabilities=probabilities.astype(np.float32),
        labels=labels,
    )


def read_held_out(judge: str, folder: Path = JUDGES) -> HeldOutVerdicts:
    """Return what `write_held_out` wrote. Raises ModelFilesError when it is missing or damaged."""
    try:
        with np.load(folder / HELD_OUT.format(judge), allow_pickle=False) as file:
            return HeldOutVerdicts(file["marks"], file["probabilities"].astype(np.float64), file["labels"])
    except (OSError, ValueError, KeyError) as error:
        raise ModelFilesError(
            f"The held-out verdicts of the judge {judge} are missing or damaged.",
            "Put the folder assets/judges back, or train the judge again.",
        ) from error


def pin(folder: Path, judge: str, figures: Mapping[str, object], weights: Sequence[str]) -> None:
    """Write a judge's figures, with the SHA-256 of its weight files, into `figures.json` and its card."""
    path = folder / FIGURES
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    sums = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in weights}
    known[judge] = {**figures, "weights_sha256": sums}
    path.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    card = JUDGES / f"{judge}.md"
    rows = "".join(f"| {name.replace('_', ' ')} | {_format_figure(value)} |\n" for name, value in figures.items())
    text = _FIGURES_TABLE_PATTERN.sub(
        lambda _: f"| figure | value |\n|---|---|\n{rows}", card.read_text(encoding="utf-8")
    )
    (folder / card.name).write_text(text, encoding="utf-8")


def made_folder(folder: Path) -> Path:
    """Return the folder, made when it is missing. Raises InputError when it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made ({error.strerror}).", "Give another --out.") from error
    return folder


def _format_figure(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_format_figure(each)}" for name, each in value.items())
    return ", ".join(_format_figure(each) for each in value) if isinstance(value, list) else str(value)
