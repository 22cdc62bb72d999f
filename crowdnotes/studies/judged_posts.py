"""Posts with judged records: a JSON object a line, `{"note_id", "post", "judged": [{"record", "grade"}]}`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from crowdnotes.errors import InputError

_FORM = (
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
    """The posts of the file, or its first `limit`; blank lines are passed over.

    Raises InputError with the line and what is wrong with it, also past the limit.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise InputError(f"{path.name} cannot be read ({error.strerror}).", "Check the path.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name} is not UTF-8 text.", _FORM) from error
    posts = [_parsed(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not posts:
        raise InputError(f"{path.name} holds no posts.", _FORM)
    return posts[:limit]


def _parsed(path: Path, number: int, line: str) -> JudgedPost:
    try:
        return JudgedPost.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        what = f"{place}: {first['msg']}" if place else str(first["msg"])
        raise InputError(f"{path.name}, line {number}: {what.removeprefix('Value error, ')}.", _FORM) from error
