"""`crowdnotes length` and `jury score`: measure the text of a note."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from crowdnotes.cli.output import Json, print_json, print_text, read_bytes
from crowdnotes.errors import InputError
from crowdnotes.text.lint import lint
from crowdnotes.text.note_rules import NOTE_LIMIT, find_urls, note_length, x_storage_form
from crowdnotes.text.table_files import decode_table

if TYPE_CHECKING:
    from crowdnotes.domain import JuryVerdict


app = typer.Typer(help="Simulated readers of both sides.", no_args_is_help=True)


@app.command("score")
def score(
    note: Annotated[list[str], typer.Option(help="The note as posted; repeatable.")],
    post: Annotated[str, typer.Option(help="The post's text, for a model trained with posts.")] = "",
    jurors: Annotated[int | None, typer.Option(min=1, max=100_000, help="How many (1,000).")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="The same seed, the same readers.")] = None,
    sampling: Annotated[
        Literal["uniform", "polarised", "audience"],
        typer.Option(help="Readers from the pool, half of each side, or likely viewers."),
    ] = "uniform",
    as_json: Json = False,
) -> None:
    """Put a note before a simulated jury: its intercept and status, each side's votes, what moves them.

    A simulation with a measured quality, never a prediction of X's status for this note.
    """
    from crowdnotes.engines.embedding import make_embedder
    from crowdnotes.jury import Sampling, open_jury
    from crowdnotes.settings import load_settings

    settings = load_settings()
    jury = open_jury(settings.jury, make_embedder(settings))
    found = jury.compare(post, note, jurors=jurors, seed=seed, sampling=Sampling(sampling), explain=True)
    if len(found) == 1 and isinstance(found[0], InputError):
        raise found[0]
    if as_json:
        answers = [{"not_run": one.message} if isinstance(one, InputError) else one for one in found]
        print_json(answers[0] if len(answers) == 1 else answers)
        return
    for text, one in zip(note, found, strict=True):
        if isinstance(one, InputError):
            print_text(text)
            print_text(f"  not run: {one.message} {one.next_step}")
        else:
            _print_jury_verdict(text, one)
    print_text(jury.quality.note)


def _print_jury_verdict(text: str, verdict: JuryVerdict) -> None:
    print_text(text)
    for caution in verdict.cautions:
        print_text(f"  caution: {caution}")
    low, high = verdict.intercept_interval.low, verdict.intercept_interval.high
    status = "" if verdict.means_nothing else f": {verdict.status}"
    print_text(
        f"  simulated score {verdict.note_intercept:.2f} of {verdict.helpful_line:.2f} needed (90 % of juries: "
        f"{low:.2f} to {high:.2f}), factor {verdict.note_factor:+.2f}{status}"
    )
    for side in (verdict.negative, verdict.positive):
        votes = f"{side.helpful} helpful, {side.somewhat_helpful} somewhat, {side.not_helpful} not helpful"
        print_text(f"  {side.people}: {votes}")
    if verdict.means_nothing:
        return
    print_text(f"  {verdict.sentence}")
    for word in verdict.blocked_by:
        print_text(f"  blocked by {word.rule}: {word.reason}")


def length(
    text: Annotated[str | None, typer.Argument(help="The note; by default from standard input.")] = None,
    jsonl: Annotated[Path | None, typer.Option(help="Measure every line of this JSON Lines file.")] = None,
    field: Annotated[str, typer.Option(help="With --jsonl: the field that holds the note.")] = "note",
    x_data: Annotated[
        bool, typer.Option("--x-data", help="The text is as X stores it: undo entities and line breaks.")
    ] = False,
) -> None:
    """Count characters as X does (each URL is 1, the limit is 280) and name what is wrong with the form."""
    if jsonl is not None:
        if text is not None:
            raise InputError("Give either a text or --jsonl, not both.")
        for note in _read_notes_from_lines(jsonl, field):
            print(json.dumps(measured(note, x_data=x_data), ensure_ascii=False))
        return
    note = sys.stdin.read().removesuffix("\n") if text is None else text
    print(json.dumps(measured(note, x_data=x_data), ensure_ascii=False))


def measured(note: str, *, x_data: bool = False) -> dict[str, Any]:
    """Return what the command prints: characters, limit, urls, over (characters too many, 0 if none), warnings."""
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


def _read_notes_from_lines(path: Path, field: str) -> list[str]:
    text, encoding = decode_table(read_bytes(path))
    if encoding.is_guess or encoding.has_lost(text):
        raise InputError(f"{path} is not UTF-8 text.")
    lines = text.split("\n")
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
