"""Rows of a distortion file: a passage, a note, and whether the note is faithful or how it distorts."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from crowdnotes.domain import Evidence, Passage, Source, Span
from crowdnotes.studies.json_lines import read_rows

_FORM = (
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
    return read_rows(path, DistortionRow, _FORM, limit)
