"""`crowdnotes length`: how long a note is on X, and what is wrong with its form."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from crowdnotes.errors import InputError
from crowdnotes.text.lint import lint
from crowdnotes.text.note_rules import NOTE_LIMIT, find_urls, note_length, x_storage_form


def length(
    text: Annotated[str | None, typer.Argument(help="The note; left out, it is read from standard input.")] = None,
    jsonl: Annotated[Path | None, typer.Option(help="Measure every line of this JSON Lines file.")] = None,
    field: Annotated[str, typer.Option(help="With --jsonl: the field that holds the note.")] = "note",
    x_data: Annotated[
        bool, typer.Option("--x-data", help="The text is in X's storage form: entities and line breaks are undone.")
    ] = False,
) -> None:
    """Count characters as X does (each URL is 1, the limit is 280) and name what is wrong with the form."""
    if jsonl is not None:
        if text is not None:
            raise InputError("Give either a text or --jsonl, not both.")
        for note in _notes(jsonl, field):
            print(json.dumps(measured(note, x_data=x_data), ensure_ascii=False))
        return
    note = sys.stdin.read().removesuffix("\n") if text is None else text
    print(json.dumps(measured(note, x_data=x_data), ensure_ascii=False))


def measured(note: str, *, x_data: bool = False) -> dict[str, Any]:
    """What the command prints: characters, limit, urls, over (characters too many, 0 if none), warnings."""
    if x_data:
        note = x_storage_form(note)
    characters = note_length(note)
    return {
        "characters": characters,
        "limit": NOTE_LIMIT,
        "urls": [url.url for url in find_urls(note)],
        "over": max(0, characters - NOTE_LIMIT),
        "warnings": [{"code": item.code, "level": item.level.value, "message": item.message} for item in lint(note)],
    }


def _notes(path: Path, field: str) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as UTF-8 text.") from error
    notes: list[str] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:  # no JSON, a number of 5,000 digits, 100,000 brackets
            raise InputError(f"Line {number} of {path} is not JSON.") from error
        if not isinstance(row, dict) or not isinstance(row.get(field), str):
            raise InputError(f"Line {number} of {path} has no text in the field “{field}”.")
        notes.append(row[field])
    return notes
