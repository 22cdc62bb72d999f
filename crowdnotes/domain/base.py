"""The base of every noun, spans of text, and the hash by which a text is known."""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from crowdnotes.labels import name_of


class LabelledEnum(StrEnum):
    """What is stored by its value and shown in words of its own."""

    @property
    def as_text(self) -> str:
        """Its words on the screen."""
        return name_of("kinds", self)


class FrozenModel(BaseModel):
    """Frozen, and strict about names: an unknown field is an error, not a silent loss."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def text_sha256(text: str) -> str:
    """What an assessment or decision is bound to: the sha256 of the exact text, as hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Span(FrozenModel):
    """text[start:end] of the text that the field's owner names."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.end < self.start:
            raise ValueError(f"span ends before it starts: {self.start}..{self.end}")
        return self
