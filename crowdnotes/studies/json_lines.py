"""Reads benchmark files: one JSON object a line, checked, with the line named when something is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from crowdnotes.errors import InputError

Row = TypeVar("Row", bound=BaseModel)


def read_rows(path: Path, row: type[Row], form: str, limit: int | None = None) -> list[Row]:
    """The file's rows, or its first `limit`; blank lines are passed over.

    Raises InputError with the line, what is wrong with it, and `form`: what a line should hold.
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
        if limit is not None and len(found) >= limit:
            break
        try:
            found.append(row.model_validate_json(line))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            what = f"{place}: {first['msg']}" if place else str(first["msg"])
            raise InputError(f"{path.name}, line {number}: {what}.", form) from error
    if not found:
        raise InputError(f"{path.name} holds no lines.", form)
    return found
