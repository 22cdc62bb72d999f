"""What benchmarks and training read and write: files of one JSON object a line, and what was measured of the judges.

A line that is wrong is named. `figures.json` pins what was measured of a judge and the SHA-256 of the weights it was
measured on; a check fails when the two part, or a figure falls.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from crowdnotes.domain import Evidence, Passage, Post, Source, Span
from crowdnotes.engines.local.trained_models import JUDGES
from crowdnotes.errors import InputError, ModelFilesError

Row = TypeVar("Row", bound=BaseModel)


def read_rows(path: Path, row: type[Row], form: str, limit: int | None = None) -> list[Row]:
    """The file's rows, or its first `limit`; blank lines are passed over.

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
    '"status": "CURRENTLY_RATED_HELPFUL" or "CURRENTLY_RATED_NOT_HELPFUL"}.'
)


class HealthNote(BaseModel):
    """One line. `created_at_ms` is the note's time, in milliseconds since 1970, where it is known."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)

    note_id: str
    post: str = Field(min_length=1)
    note: str = Field(min_length=1)
    created_at_ms: int | None = Field(None, ge=0, le=4_102_444_800_000)
    status: Literal["CURRENTLY_RATED_HELPFUL", "CURRENTLY_RATED_NOT_HELPFUL"]

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
    """The file's notes. Raises InputError with the line and what is wrong with it."""
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
    """The file's rows. Raises InputError with the line and what is wrong with it."""
    return read_rows(path, DistortionRow, _DISTORTION_FORM, limit)


_JUDGED_FORM = (
    'Each line is an object: {"note_id": "…", "post": "…", "judged": [{"record": row number, "grade": 0, 1 or 2}, …]}.'
)


class _Judgement(BaseModel):
    model_config = ConfigDict(frozen=True)

    record: Annotated[int, Field(ge=0)]
    grade: Annotated[int, Field(ge=0, le=2)]


class JudgedPost(BaseModel):
    """A post and what somebody said of some records: 0 no help, 1 helps somewhat, 2 directly helpful."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)

    note_id: str
    post: Annotated[str, Field(min_length=1)]
    judged: tuple[_Judgement, ...] = Field(min_length=1)

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
    """The posts of the file. Raises InputError with the line and what is wrong with it."""
    return read_rows(path, JudgedPost, _JUDGED_FORM, limit)


FIGURES = "figures.json"
HELD_OUT = "{}-held-out.npz"
_TABLE = re.compile(r"(?<=<!-- figures -->\n).*?(?=<!-- end of figures -->)", re.DOTALL)


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
    """What `write_held_out` wrote. Raises ModelFilesError when it is missing or damaged."""
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
    rows = "".join(f"| {name.replace('_', ' ')} | {_shown(value)} |\n" for name, value in figures.items())
    text = _TABLE.sub(lambda _: f"| figure | value |\n|---|---|\n{rows}", card.read_text(encoding="utf-8"))
    (folder / card.name).write_text(text, encoding="utf-8")


def made_folder(folder: Path) -> Path:
    """The folder, made when it is missing. Raises InputError when it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made ({error.strerror}).", "Give another --out.") from error
    return folder


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_shown(each)}" for name, each in value.items())
    return ", ".join(_shown(each) for each in value) if isinstance(value, list) else str(value)
