"""What the commands share: options, JSON a person can read, text that cannot steer the terminal, progress aside."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer
from pydantic import BaseModel

from crowdnotes.errors import InputError
from crowdnotes.text.dates import parse_date
from crowdnotes.text.table_files import open_export

if TYPE_CHECKING:
    from crowdnotes.settings import Settings
    from crowdnotes.workspace import Workspace

# Escape sequences (ECMA-48): operating system commands and other strings to their end, control
# sequences, two-character ones; then control characters alone, and marks that reorder a line.
_TERMINAL_CONTROL_PATTERN = re.compile(
    r"(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
    r"|\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)


def open_workspace(settings: Settings | None = None, **parts: Any) -> Workspace:
    """See `workspace.open_workspace`, which loads every part of the program: imported when a command needs it."""
    from crowdnotes.workspace import open_workspace

    return open_workspace(settings, **parts)


def read_bytes(file: Path) -> bytes:
    """Return what is in a file. Raises InputError where it cannot be read."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise InputError(f"We cannot read {file} ({error.strerror}).", "Check the path.") from error


def print_json(value: BaseModel | Mapping[str, Any] | Sequence[Any]) -> None:
    """One indented JSON document on standard output."""
    if isinstance(value, BaseModel):
        print(value.model_dump_json(indent=2))
    else:
        print(json.dumps(value, ensure_ascii=False, indent=2, default=_convert_for_json))


def print_text(text: str = "", end: str = "\n") -> None:
    """Plain text on standard output, `printable`."""
    print(printable(text), end=end)


def write_out(text: str, out: Path | None, what: str = "") -> None:
    """Write an export to a file, and name it, or to standard output. Raises InputError where it cannot be written."""
    if out is None:
        print_text(text, end="")
        return
    with writing_to(out) as file:
        file.write(text)
    progress(f"{what}written to {out}")


@contextmanager
def writing_to(out: Path) -> Iterator[TextIO]:
    """Open a file for an export, only for its owner. Raises InputError where it cannot be written."""
    try:
        with open_export(out) as file:
            yield file
    except OSError as error:
        raise InputError(f"We cannot write {out} ({error.strerror}).") from error


def progress(line: str) -> None:
    """Print a line of progress or an error for a person who watches, `printable`, on standard error."""
    print(printable(line), file=sys.stderr, flush=True)


def printable(text: str) -> str:
    """Return the text without what a terminal would obey: titles and posts come from outside."""
    return _TERMINAL_CONTROL_PATTERN.sub("", text)


def _convert_for_json(value: object) -> object:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)


def day(given: str | None) -> date | None:
    """Return a day written as YYYY-MM-DD; None for none. Raises InputError for anything else."""
    if given is None:
        return None
    found = parse_date(given)
    if found is None:
        raise InputError(f"“{given}” is not a day.", "Write YYYY-MM-DD, as 2025-06-30.")
    return found


class EngineOption(StrEnum):
    """Which engine is measured."""

    LOCAL = "local"
    LLM = "llm"


Out = Annotated[Path | None, typer.Option(help="The file to write; by default standard output.")]
Json = Annotated[bool, typer.Option("--json", help="Print as JSON.")]
QueryDiversity = Annotated[
    bool, typer.Option("--query-diversity/--no-query-diversity", help="Without: search for the post alone.")
]
Utility = Annotated[bool, typer.Option("--utility/--no-utility", help="Without: results in the search's order.")]
