"""How passages and sources are chosen."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic import Field, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from crowdnotes.domain import SourceCategory

_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]+(?:/[^\s/]+){0,3}")


class EvidenceSettings(BaseSettings):
    """How passages and sources are chosen."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_EVIDENCE_", frozen=True)

    passage_tokens: int = Field(512, ge=32, description="CrowdNotes+ appendix D.2")
    passage_overlap: int = Field(128, ge=0, description="CrowdNotes+ appendix D.2")
    surroundings: int = Field(700, ge=0, description="characters shown before and after a passage")
    quota: int = Field(6, ge=1, le=20, description="sources chosen: what a person will read in five minutes")
    look_quota: int = Field(3, ge=1, le=20, description="sources that a second look adds: each is one more to read")
    hits_per_query: int = Field(10, ge=1, description="more adds little after merging")
    queries: int = Field(8, ge=1, description="diverse queries (CrowdNotes+ 4.2); more repeat themselves")

    categories: Mapping[str, SourceCategory] = Field(
        default_factory=dict,
        description="hosts of yours and what kind of source each is, before the table that comes with the program",
    )

    @field_validator("categories", mode="before")
    @classmethod
    def _known_kinds(cls, given: object) -> object:
        if not isinstance(given, Mapping):
            raise ValueError(  # noqa: TRY004 - pydantic turns a ValueError into the user's sentence
                'it must be hosts with their kinds, for example {"mysite.org": "research literature"}'
            )
        kinds = [kind.value for kind in SourceCategory]
        found: dict[str, object] = {}
        for written, kind in given.items():
            host = str(written).strip().lower().removeprefix("www.").rstrip("./")
            if not _HOST.fullmatch(host):
                raise ValueError(
                    f"“{written}” is no host; write it as mysite.org or mysite.org/folder, without https://"
                )
            if kind not in kinds:
                raise ValueError(f"“{kind}” is no kind of source; use one of: {', '.join(kinds)}")
            found[host] = kind
        return found

    @field_validator("passage_overlap")
    @classmethod
    def _smaller_than_a_passage(cls, overlap: int, info: ValidationInfo) -> int:
        tokens = info.data.get("passage_tokens")
        if tokens is not None and overlap >= tokens:
            raise ValueError(f"{overlap} tokens shared by two passages is not less than a whole passage of {tokens}")
        return overlap
