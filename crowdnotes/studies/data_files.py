"""What benchmarks and training read: files of one JSON object a line, checked, with the line named when it is wrong."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from crowdnotes.domain import Evidence, Passage, Post, Source, Span
from crowdnotes.errors import InputError

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
