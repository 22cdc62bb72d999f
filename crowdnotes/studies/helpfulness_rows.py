"""Rows of HealthNotes: a post, a note under it, and the status that the crowd's ratings gave it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from crowdnotes.domain import Post
from crowdnotes.studies.json_lines import read_rows

_FORM = (
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
    return read_rows(path, HealthNote, _FORM, limit)
