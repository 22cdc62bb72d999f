"""`crowdnotes bench healthnotes`: the CrowdNotes+ paper's Tables 2 and 3 for the engine that is set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdnotes.cli.bench_commands import EngineOption
from crowdnotes.cli.output import QueryDiversity, Utility, print_json, print_text, progress
from crowdnotes.errors import ConfigurationError, CrowdNotesError, InputError

if TYPE_CHECKING:
    from crowdnotes.engines import Engine
    from crowdnotes.settings import Settings
    from crowdnotes.studies.bench.healthnotes import Report, StudyFolder, StudyOptions
    from crowdnotes.studies.data_files import HealthNote
    from crowdnotes.workspace import Workspace


class _Mode(StrEnum):
    augmentation = "augmentation"
    automation = "automation"


def healthnotes(
    data: Annotated[Path, typer.Option(help="HealthNotes: a line a note: note_id, post, note, created_at_ms, status.")],
    mode: Annotated[_Mode, typer.Option(help="Read the links of the contributor's note, or search.")],
    out: Annotated[Path, typer.Option(help="A folder for the run; one that was stopped goes on there.")],
    library: Annotated[list[str] | None, typer.Option(help="Automation: a library to search; several times.")] = None,
    library_date: Annotated[
        list[str] | None,
        typer.Option(help="NAME=YYYY-MM-DD: when that library was collected, for its undated records; several times."),
    ] = None,
    service: Annotated[list[str] | None, typer.Option(help="Automation: an online service; several times.")] = None,
    query_diversity: QueryDiversity = True,
    utility: Utility = True,
    engine: Annotated[
        EngineOption | None, typer.Option(help="Who writes and judges; the engine that is set without it.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first posts.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Write and judge a note for every post: relevance, correctness and helpfulness rates on both halves.

    The folder gets posts.jsonl (a line a finished post), table.csv, page.html and the cases themselves. In
    automation, evidence is of the day of the contributor's note or before, and what has no date is left out.
    """
    from crowdnotes.cases.gathering import GatherOptions
    from crowdnotes.domain import Mode
    from crowdnotes.studies.bench.healthnotes import StudyFolder, StudyOptions, file_sha256
    from crowdnotes.studies.data_files import read_health_notes
    from crowdnotes.workspace import open_workspace

    searching = mode is _Mode.automation
    days = _days(library_date or [], library or [])
    _check_words(searching, bool(library or service), query_diversity and utility)
    notes = read_health_notes(data, limit)
    if searching:
        _check_dates(notes)
    gathering = GatherOptions(diverse=query_diversity, by_utility=utility, leave_out_undated=searching, collected=days)
    with open_workspace(run_settings(out, engine), options=gathering) as workspace:
        _check_places(workspace, library or [], service or [])
        options = StudyOptions(
            data_sha256=file_sha256(data),
            mode=Mode(mode.value),
            query_diversity=query_diversity,
            utility=utility,
            libraries=tuple(dict.fromkeys(library or [])),
            library_dates=days,
            services=tuple(dict.fromkeys(service or [])),
            engine=_made_by(workspace.engine),
        )
        folder = StudyFolder(out, options)
        try:
            _run(workspace, notes, options, folder)
        except KeyboardInterrupt:
            _keep(notes, options, folder, workspace.engine, out)
            progress("stopped; the same command goes on from here")
            raise typer.Exit(130) from None
        except CrowdNotesError:
            _keep(notes, options, folder, workspace.engine, out)
            raise
        _show(_keep(notes, options, folder, workspace.engine, out), as_json=as_json)
    progress(f"{out / 'page.html'}")


def _run(workspace: Workspace, notes: Sequence[HealthNote], options: StudyOptions, folder: StudyFolder) -> None:
    from crowdnotes.cli.healthnotes_cases import run_post

    kept = sum(folder.is_finished(note.note_id) for note in notes)
    if kept:
        progress(f"  {kept} of {len(notes)} posts are finished already")
    for number, note in enumerate(notes, 1):
        if folder.is_finished(note.note_id):
            continue
        result = run_post(workspace.service, note, options)
        folder.add(result)
        progress(f"  {number} of {len(notes)}: {result.outcome.value}. {result.reason or 'It passes all three gates.'}")


def _keep(notes: Sequence[HealthNote], options: StudyOptions, folder: StudyFolder, engine: Engine, out: Path) -> Report:
    """Write the table and the page of what is finished."""
    from crowdnotes.studies.bench.healthnotes import make_report, table_csv
    from crowdnotes.studies.bench.healthnotes_page import report_page
    from crowdnotes.studies.data_files import note_mark
    from crowdnotes.studies.judge_files import read_held_out

    ids = list(dict.fromkeys(note.note_id for note in notes))
    results = [result for result in map(folder.result, ids) if result is not None]
    known = set() if engine.uses_language_model else set(read_held_out("helpfulness").by_mark())
    report = make_report(options, len(ids), results, sum(note_mark(result.note_id) in known for result in results))
    try:
        (out / "table.csv").write_text(table_csv(report.rows), encoding="utf-8", newline="")
        (out / "page.html").write_text(report_page(report), encoding="utf-8")
    except OSError as error:
        raise InputError(f"The table cannot be written into {out} ({error.strerror}).", "Make room.") from error
    return report


def run_settings(out: Path, engine: EngineOption | None) -> Settings:
    """The user's settings, libraries and caches; the cases lie in the run's own database."""
    from urllib.parse import quote

    from pydantic import SecretStr

    from crowdnotes.settings import load_settings

    settings = load_settings()
    if engine is EngineOption.LLM and settings.llm.base_url is None:
        raise ConfigurationError(
            "No language model is set.", "Set CROWDNOTES_LLM_BASE_URL and CROWDNOTES_LLM_MODEL, or use --engine local."
        )
    if engine is EngineOption.LOCAL:
        settings = settings.model_copy(update={"llm": settings.llm.model_copy(update={"base_url": None})})
    address = f"sqlite:///{quote(str(out / 'cases.sqlite'), safe='/:')}"
    return settings.model_copy(update={"database_url": SecretStr(address)})


def _made_by(engine: Engine) -> dict[str, str]:
    from crowdnotes.engines import EngineStep

    made = {step.value: engine.made_by(step) for step in EngineStep}
    return {step: " ".join(filter(None, (by.engine, by.prompt_version))) for step, by in made.items()}


def _days(given: Iterable[str], libraries: Sequence[str]) -> dict[str, date]:
    days: dict[str, date] = {}
    for words in given:
        name, _, day = words.partition("=")
        try:
            days[name] = date.fromisoformat(day)
        except ValueError:
            raise InputError(f"“{words}” is not a library and a day.", "Write NAME=YYYY-MM-DD.") from None
        if name not in libraries:
            raise InputError(f"The library “{name}” has a date, but is not searched.", f"Add --library {name}.")
    return days


def _check_words(searching: bool, has_places: bool, is_whole: bool) -> None:
    if searching and not has_places:
        raise InputError("There is nothing to search.", "Name a --library or a --service.")
    if not searching and (has_places or not is_whole):
        raise InputError(
            "Augmentation reads the links of the contributors' notes and searches nothing.",
            "Leave out --library, --service, --no-query-diversity and --no-utility, or use --mode automation.",
        )


def _check_dates(notes: Sequence[HealthNote]) -> None:
    undated = next((note for note in notes if note.created_at_ms is None), None)
    if undated is not None:
        raise InputError(
            f"Note {undated.note_id} has no created_at_ms, so its evidence would have no cutoff.",
            "Automation needs the note's time on every line.",
        )


def _check_places(workspace: Workspace, libraries: list[str], services: list[str]) -> None:
    from crowdnotes.cli.draft_command import known_libraries, known_services

    known_libraries(libraries, workspace)
    known_services(services, workspace)


def _show(report: Report, *, as_json: bool) -> None:
    from crowdnotes.studies.bench.healthnotes import PAPERS_GATES, Outcome, as_record, switches

    if as_json:
        print_json(
            {
                "run": report.options.model_dump(mode="json"),
                "posts": len(report.results),
                "halves": {row.name.replace(" ", "_"): as_record(row) for row in report.rows},
                "cautions": list(report.cautions),
            }
        )
        return
    print_text(f"{switches(report.options)}; {len(report.results)} posts; % of posts, with 95 % intervals")
    print_text(f"{'':<12} {'posts':>5} {'notes':>5} " + " ".join(f"{gate.value:>18}" for gate in PAPERS_GATES))
    for row in report.rows:
        rates = []
        for rate in row.rates.values():
            low, high = rate.interval
            rates.append("—" if rate.percent is None else f"{rate.percent:.1f} ({low:.0f}–{high:.0f})")
        cells = " ".join(f"{rate:>18}" for rate in rates)
        print_text(f"{row.name:<12} {row.posts:>5} {row.outcomes[Outcome.JUDGED]:>5} {cells}")
    overall = report.rows[2].outcomes
    print_text(", ".join(f"{outcome.value}: {overall[outcome]}" for outcome in Outcome))
    for caution in report.cautions:
        print_text(caution)
