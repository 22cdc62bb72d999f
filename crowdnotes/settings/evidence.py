"""How passages and sources are chosen."""

from __future__ import annotations

from pydantic import Field, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class EvidenceSettings(BaseSettings):
    """How passages and sources are chosen."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_EVIDENCE_", frozen=True)

    passage_tokens: int = Field(512, ge=32, description="CrowdNotes+ appendix D.2")
    passage_overlap: int = Field(128, ge=0, description="CrowdNotes+ appendix D.2")
    surroundings: int = Field(700, ge=0, description="characters shown before and after a passage")
    quota: int = Field(6, ge=1, le=20, description="sources chosen: what a person will read in five minutes")
    hits_per_query: int = Field(10, ge=1, description="more adds little after merging")
    queries: int = Field(5, ge=1, description="diverse queries (CrowdNotes+ 4.2); more repeat themselves")

    @field_validator("passage_overlap")
    @classmethod
    def _smaller_than_a_passage(cls, overlap: int, info: ValidationInfo) -> int:
        tokens = info.data.get("passage_tokens")
        if tokens is not None and overlap >= tokens:
            raise ValueError(f"{overlap} tokens shared by two passages is not less than a whole passage of {tokens}")
        return overlap
