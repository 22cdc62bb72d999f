"""How the commands print: JSON a person can read, progress on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel


def print_json(value: BaseModel | Mapping[str, Any] | Sequence[Any]) -> None:
    """One indented JSON document on standard output."""
    if isinstance(value, BaseModel):
        print(value.model_dump_json(indent=2))
    else:
        print(json.dumps(value, ensure_ascii=False, indent=2, default=_plain))


def progress(line: str) -> None:
    """A line of progress for a person who watches."""
    print(line, file=sys.stderr, flush=True)


def _plain(value: object) -> object:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)
