"""`crowdnotes bench notes` and `bench compare`: the program's notes beside human ones, and which a reader prefers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdnotes.cli.output import print_json, print_text, progress
from crowdnotes.errors import ConfigurationError, InputError

if TYPE_CHECKING:
    from crowdnotes.studies.bench.notes import NoteRow, Pair, Vote

_ROWS, _PAIRS = "notes.jsonl", "pairs.jsonl"
_ROW_FORM = "Give the folder that `crowdnotes bench notes --out` has written."
_VOTE_FORM = 'Each line is an object: {"pair": "…", "reader": "…", "votes": {"overall": "left", "right" or "tie", …}}.'
_Json = Annotated[bool, typer.Option("--json", help="Print as JSON.")]


def notes(
    data: Annotated[Path, typer.Option(help="HealthNotes: a line a note: note_id, post, note, created_at_ms, status.")],
    out: Annotated[Path, typer.Option(help="A folder for the run; one that was stopped goes on there.")],
    library: Annotated[list[str] | None, typer.Option(help="A library to search; several times.")] = None,
    service: Annotated[list[str] | None, typer.Option(help="An online service to search; several times.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first posts.")] = None,
    as_json: _Json = False,
) -> None:
    """Write a note for every post, by itself, and tell what it took: calls, the longest chain, tokens, cost, gates.

    The folder gets notes.jsonl, a line a post with the human note beside, and the cases themselves.
    """
    from crowdnotes.cli.bench_healthnotes import run_settings
    from crowdnotes.cli.draft_command import known_libraries, known_services
    from crowdnotes.cli.healthnotes_cases import run_post
    from crowdnotes.domain import Mode
    from crowdnotes.studies.bench.healthnotes import Outcome, StudyOptions, file_sha256
    from crowdnotes.studies.bench.notes import costs, row_of
    from crowdnotes.studies.data_files import read_health_notes
    from crowdnotes.workspace import open_workspace

    if not (library or service):
        raise InputError("There is nothing to search.", "Name a --library or a --service.")
    posts = read_health_notes(data, limit)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{out} cannot be used ({error.strerror}).", "Give another --out.") from error
    done = {row.note_id: row for row in _read_rows(out)} if (out / _ROWS).exists() else {}
    with open_workspace(run_settings(out, None)) as workspace:
        options = StudyOptions(
            data_sha256=file_sha256(data),
            mode=Mode.AUTOMATION,
            libraries=tuple(known_libraries(library or [], workspace)),
            services=tuple(known_services(service or [], workspace)),
            engine={},
        )
        for number, post in enumerate(posts, 1):
            if post.note_id in done and not done[post.note_id].failed:
                continue
            result = run_post(workspace.service, post, options)
            case = workspace.service.get(result.case_id) if result.case_id else None
            failed = result.reason if result.outcome is Outcome.FAILED else ""
            row = row_of(post, case, failed, result.seconds)
            done[post.note_id] = row
            with (out / _ROWS).open("a", encoding="utf-8") as file:
                file.write(row.model_dump_json() + "\n")
            progress(f"  {number} of {len(posts)}: {row.note or row.abstained or row.failed}")
    found = costs([done[post.note_id] for post in posts])
    if as_json:
        print_json(found)
        return
    for name, figure in found.items():
        print_text(f"{name.replace('_', ' ')}: {figure}")


def compare(
    run: Annotated[Path, typer.Option(help="The folder of `bench notes`.")],
    votes: Annotated[list[Path] | None, typer.Option(help="Votes by readers, a line a pair; several times.")] = None,
    judge: Annotated[bool, typer.Option("--judge", help="Let the model for judging vote, in both orders.")] = False,
    as_json: _Json = False,
) -> None:
    """Blind pairs of the program's note and the human one; with votes, how often the program's is preferred.

    Without votes it writes pairs.jsonl, for people to read: sides shuffled, links alike. Ties count half.
    """
    from crowdnotes.studies.bench.notes import Vote, pairs, win_rates
    from crowdnotes.studies.data_files import read_rows

    rows = _read_rows(run)
    shown = pairs(rows)
    cast: list[Vote] = []
    for file in votes or []:
        cast += read_rows(file, Vote, _VOTE_FORM)
    if judge:
        cast += _judged(shown)
    if not cast:
        (run / _PAIRS).write_text("".join(pair.model_dump_json() + "\n" for pair in shown), encoding="utf-8")
        progress(f"{len(shown)} pairs: {run / _PAIRS}")
    found = {name: asdict(rate) for name, rate in win_rates(rows, cast).items()}
    if as_json:
        print_json({"pairs": len(shown), "win_rate": found})
        return
    for name, rate in found.items():
        low, high = (round(100 * rate[end]) for end in ("low", "high"))
        print_text(f"{name}: {100 * rate['rate']:.0f} % ({low}–{high}) of {rate['votes']} votes")


def _read_rows(run: Path) -> list[NoteRow]:
    from crowdnotes.studies.bench.notes import NoteRow
    from crowdnotes.studies.data_files import read_rows

    newest = {row.note_id: row for row in read_rows(run / _ROWS, NoteRow, _ROW_FORM)}
    return list(newest.values())


def _judged(shown: Sequence[Pair]) -> list[Vote]:
    """The model's votes, each pair in both orders."""
    from crowdnotes.domain import Post
    from crowdnotes.engines.llm import LLMEngine
    from crowdnotes.studies.bench.notes import CRITERIA, Vote
    from crowdnotes.workspace import open_workspace

    turned = {"left": "right", "right": "left", "tie": "tie"}
    found: list[Vote] = []
    with open_workspace() as workspace:
        engine = workspace.engine
        if not isinstance(engine, LLMEngine):
            raise ConfigurationError(
                "No language model is set that could judge.", "Set CROWDNOTES_LLM_BASE_URL and CROWDNOTES_LLM_MODEL."
            )
        for number, pair in enumerate(shown, 1):
            for swapped in (False, True):
                left, right = (pair.right, pair.left) if swapped else (pair.left, pair.right)
                answer = engine.compare(Post(text=pair.post), left, right)
                said = {name: getattr(answer, name) for name in CRITERIA}
                sides = {name: turned[side] if swapped else side for name, side in said.items()}
                found.append(
                    Vote.model_validate({"pair": pair.pair, "reader": engine.name, "votes": sides, "why": answer.why})
                )
            progress(f"  {number} of {len(shown)} pairs judged: {json.dumps(found[-1].votes)}")
    return found
