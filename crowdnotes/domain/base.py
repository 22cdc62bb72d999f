"""The base of every type, spans of text, and the hash that identifies a text."""

from __future__ import annotations

import functools
import hashlib
from enum import StrEnum
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

LOCAL_ENGINE = "local"  # stored with each result that was made without AI


class LabelledEnum(StrEnum):
    """A stored value, and the words that a person reads where they differ from it: `NEW = "new", "no sources yet"`."""

    as_text: str

    def __new__(cls, value: str, as_text: str = "") -> Self:
        """Return the member of that value; its words are the value itself where none are given."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.as_text = as_text or value
        return member


class Replaceable(BaseModel):
    """A frozen model that makes changed copies of itself."""

    def replace(self, **changes: object) -> Self:
        """Return a copy with these fields changed; the rest is shared with this one.

        Raises TypeError at an unknown field, ValidationError where a changed field or the whole breaks a rule.
        """
        model = type(self)
        if unknown := changes.keys() - model.model_fields.keys():
            raise TypeError(f"{model.__name__} has no field {', '.join(sorted(unknown))}")
        changed = self.model_copy(update=changes)  # all at once first: a rule about two fields sees both new values
        for name, value in changes.items():
            _unfrozen(model).__pydantic_validator__.validate_assignment(changed, name, value)
        return changed


@functools.cache
def _unfrozen(model: type[BaseModel]) -> type[BaseModel]:
    """Return the same model with fields that can be assigned, as pydantic validates one field only at an assignment."""
    return create_model(model.__name__, __base__=model, __cls_kwargs__={"frozen": False})


class FrozenModel(Replaceable):
    """Frozen, and strict about names: an unknown field is an error, not a silent loss."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def text_sha256(text: str) -> str:
    """Return the sha256 of the exact text as hex, which binds assessments and decisions to it."""
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

    def overlaps(self, other: Span) -> bool:
        """Return whether two spans of one text overlap."""
        return self.start < other.end and other.start < self.end
