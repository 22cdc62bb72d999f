"""`crowdnotes bench healthnotes`, `notes`, `compare`: a case for each post of a file.

The cases go through the very stages that a person's case does, and lie in the run's own database.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowdnotes.cli.output import (
    EngineOption,
    Json,
    QueryDiversity,
    Utility,
    open_workspace,
    print_json,
    print_text,
    progress,
    write_out,
    writing_to,
)
from crowdnotes.domain import Case, FetchOutcome, GateStatus, Mode, Post, StageName
from crowdnotes.errors import ConfigurationError, EngineError, InputError, ModelServerError

if TYPE_CHECKING:
    from crowdnotes.cases.stages import StageRunner
    from crowdnotes.engines import Engine
    from crowdnotes.engines.llm.engine import LLMEngine
    from crowdnotes.jobs import Step
    from crowdnotes.settings import Settings
    from crowdnotes.studies.bench.healthnotes import Outcome, PostRow, Row, RunFolder, RunOptions
    from crowdnotes.studies.bench.notes import Pair, Side, Vote
    from crowdnotes.studies.data_files import HealthNote
    from crowdnotes.workspace import Workspace


_NOTES_FILE, _PAIRS_FILE = "notes.jsonl", "pairs.jsonl"
_ROW_FORM = "Give the folder from `crowdnotes bench notes --out` or `bench supernotes --out`."
_VOTE_FORM = 'Write one object a line: {"pair": "…", "reader": "…", "votes": {"overall": "left", "right" or "tie", …}}.'
Posts = Annotated[Path, typer.Option(help="HealthNotes, a note a line: note_id, post, note, created_at_ms, status.")]
RunOut = Annotated[Path, typer.Option(help="A folder for the run; a stopped one goes on there.")]
Libraries = Annotated[list[str] | None, typer.Option(help="A library to search; repeatable.")]
Services = Annotated[list[str] | None, typer.Option(help="An online service to search; repeatable.")]
LibraryDates = Annotated[
    list[str] | None,
    typer.Option(help="NAME=YYYY-MM-DD: when that library was collected, for undated records; repeatable."),
]
FirstPosts = Annotated[int | None, typer.Option(min=1, help="Only the first posts.")]


def healthnotes(
    data: Posts,
    mode: Annotated[Mode, typer.Option(help="Read the links of the contributor's note, or search.")],
    out: RunOut,
    library: Libraries = None,
    library_date: LibraryDates = None,
    service: Services = None,
    query_diversity: QueryDiversity = True,
    utility: Utility = True,
    engine: Annotated[EngineOption | None, typer.Option(help="Who writes and judges; by default as set.")] = None,
    limit: FirstPosts = None,
    as_json: Json = False,
) -> None:
    """Write and judge a note for every post: relevance, correctness and helpfulness rates on both halves.

    The folder gets posts.jsonl (a line a finished post), table.csv and the cases themselves. In
    automation, evidence is of the day of the contributor's note or before, and what has no date is left out.
    """
    from crowdnotes.cases.gathering_stages import GatherOptions
    from crowdnotes.studies.bench.healthnotes import (
        PAPERS_GATES,
        Outcome,
        PostRow,
        RunFolder,
        rates_in_words,
        switches,
        table_rows,
    )
    from crowdnotes.studies.data_files import read_health_notes

    searching = mode is Mode.AUTOMATION
    days = library_days(library_date or [], library or [])
    _check_search_options(searching, bool(library or service), query_diversity and utility)
    notes = read_health_notes(data, limit)
    if searching:
        check_dates(notes)
    gathering = GatherOptions(
        diverse=query_diversity, by_utility=utility, leave_out_undated=searching, post_links=False, collected=days
    )
    with open_workspace(run_settings(out, engine), options=gathering) as workspace:
        options = run_options(
            workspace,
            data,
            mode,
            library,
            service,
            query_diversity=query_diversity,
            utility=utility,
            library_dates=days,
        )
        folder = RunFolder(out, "posts.jsonl", options, PostRow)
        try:
            _run_healthnotes_posts(workspace.stages, notes, options, folder)
        finally:
            rows, cautions = _write_finished_table(notes, options, folder, workspace.engine, out)
    table = table_rows(rows)
    if as_json:
        halves = {str(row["half"]).replace(" ", "_"): row for row in table}
        run = options.model_dump(mode="json")
        print_json({"run": run, "posts": len(rows), "halves": halves, "cautions": cautions})
        return
    print_text(f"{switches(options)}; {len(rows)} posts; % of posts, with 95 % intervals")
    print_text(f"{'':<12} {'posts':>5} {'notes':>5} " + " ".join(f"{gate.value:>18}" for gate in PAPERS_GATES))
    for row in table:
        rates = " ".join(f"{rate:>18}" for rate in rates_in_words(row))
        print_text(f"{row['half']:<12} {row['posts']:>5} {row['judged']:>5} {rates}")
    print_text(", ".join(f"{outcome.value}: {table[-1][outcome.name.lower()]}" for outcome in Outcome))
    for caution in cautions:
        print_text(caution)


def notes(
    data: Annotated[
        Path,
        typer.Option(
            help="HealthNotes, a note a line: note_id, post, note, created_at_ms, status; optional deciding: "
            '[{"sentence", "url"}], each of which settles the claim.'
        ),
    ],
    out: RunOut,
    library: Libraries = None,
    service: Services = None,
    limit: FirstPosts = None,
    as_json: Json = False,
) -> None:
    """Write a note for every post, by itself, and print what it took: calls, the longest chain, tokens, cost, gates.

    The folder gets notes.jsonl, a line a post with the human note, and the cases themselves. Where the data names a
    sentence that settles the claim, it counts for how many posts that sentence was in the hits, among the results
    offered to the model, visible in its line there, in the passages, and before the writer.
    """
    from crowdnotes.studies.bench.healthnotes import PostRow, RunFolder
    from crowdnotes.studies.bench.notes import costs
    from crowdnotes.studies.data_files import read_health_notes

    _check_search_options(True, bool(library or service), True)
    posts = read_health_notes(data, limit)
    with open_workspace(run_settings(out, None)) as workspace:
        options = run_options(workspace, data, Mode.AUTOMATION, library, service)
        folder = RunFolder(out, _NOTES_FILE, options, PostRow)
        _run_healthnotes_posts(workspace.stages, posts, options, folder)
    found = costs(finished((post.note_id for post in posts), folder))
    show_figures(found, as_json=as_json)


def show_figures(found: Mapping[str, Any], *, as_json: bool) -> None:
    """Print a run's figures."""
    if as_json:
        print_json(found)
        return
    for name, figure in found.items():
        print_text(f"{name.replace('_', ' ')}: {figure}")


def compare(
    run: Annotated[Path, typer.Option(help="The folder of `bench notes` or `bench supernotes`.")],
    votes: Annotated[list[Path] | None, typer.Option(help="Readers' votes, a pair a line; repeatable.")] = None,
    judge: Annotated[bool, typer.Option("--judge", help="Let the AI vote, in both orders.")] = False,
    as_json: Json = False,
) -> None:
    """Blind pairs of the program's note and the human one; with votes, how often the program's is preferred.

    Without votes it writes pairs.jsonl, for people to read: sides shuffled, links alike. Ties count half.
    """
    from crowdnotes.studies.bench.healthnotes import PostRow
    from crowdnotes.studies.bench.notes import Vote, pairs, win_rates
    from crowdnotes.studies.data_files import read_rows

    rows = list({row.note_id: row for row in read_rows(run / _NOTES_FILE, PostRow, _ROW_FORM)}.values())
    shown = pairs(rows)
    cast: list[Vote] = []
    for file in votes or []:
        cast += read_rows(file, Vote, _VOTE_FORM)
    if judge:
        cast += judged(shown, _ask_preferred_note)
    if not cast:
        write_out("".join(pair.model_dump_json() + "\n" for pair in shown), run / _PAIRS_FILE, f"{len(shown)} pairs ")
    found = {name: asdict(rate) for name, rate in win_rates(rows, cast).items()}
    if as_json:
        print_json({"pairs": len(shown), "win_rate": found})
        return
    for name, rate in found.items():
        low, high = (round(100 * rate[end]) for end in ("low", "high"))
        print_text(f"{name}: {100 * rate['rate']:.0f} % ({low}–{high}) of {rate['votes']} votes")


def judged(
    shown: Sequence[Pair], ask: Callable[[LLMEngine, Post, str, str], tuple[dict[str, Side], str]]
) -> list[Vote]:
    """Return the model's votes, each pair in both orders; `ask` gives sides by criterion, and why."""
    from crowdnotes.engines.llm.engine import LLMEngine
    from crowdnotes.studies.bench.notes import Vote

    turned: dict[Side, Side] = {"left": "right", "right": "left", "tie": "tie"}
    found: list[Vote] = []
    with open_workspace() as workspace:
        engine = workspace.engine
        if not isinstance(engine, LLMEngine):
            raise ConfigurationError(
                "No AI is set up to judge.", "Set CROWDNOTES_LLM_BASE_URL and CROWDNOTES_LLM_MODEL."
            )
        for number, pair in enumerate(shown, 1):
            for swapped in (False, True):
                left, right = (pair.right, pair.left) if swapped else (pair.left, pair.right)
                said, why = ask(engine, Post(text=pair.post), left, right)
                sides = {name: turned[side] if swapped else side for name, side in said.items()}
                found.append(Vote(pair=pair.pair, reader=engine.name, votes=sides, why=why))
            progress(f"  {number} of {len(shown)} pairs judged: {json.dumps(found[-1].votes)}")
    return found


def _ask_preferred_note(engine: LLMEngine, post: Post, left: str, right: str) -> tuple[dict[str, Side], str]:
    from crowdnotes.studies.bench.notes import CRITERIA

    answer = engine.compare(post, left, right)
    return {name: getattr(answer, name) for name in CRITERIA}, answer.why


def library_days(given: Iterable[str], libraries: Sequence[str]) -> dict[str, date]:
    """Return the days of --library-date. Raises InputError for what is none, and for a library that is not searched."""
    days: dict[str, date] = {}
    for words in given:
        name, _, day = words.partition("=")
        try:
            days[name] = date.fromisoformat(day)
        except ValueError:
            raise InputError(f"“{words}” is not NAME=DAY.", "Write NAME=YYYY-MM-DD.") from None
        if name not in libraries:
            raise InputError(f"You gave a date for “{name}”, but do not search it.", f"Add --library {name}.")
    return days


def _check_search_options(searching: bool, has_places: bool, is_whole: bool) -> None:
    if searching and not has_places:
        raise InputError("Where should we search?", "Name a --library or a --service.")
    if not searching and (has_places or not is_whole):
        raise InputError(
            "Augmentation reads the contributors' links and searches nothing.",
            "Leave out --library, --service, --no-query-diversity and --no-utility, or use --mode automation.",
        )


def check_dates(notes: Sequence[HealthNote]) -> None:
    """Raise InputError for a note without its time: its evidence would have no cutoff."""
    undated = next((note for note in notes if note.created_at_ms is None), None)
    if undated is not None:
        raise InputError(
            f"Note {undated.note_id} has no created_at_ms, so no cutoff.",
            "Automation needs the note's time on every line.",
        )


def run_settings(out: Path, engine: EngineOption | None) -> Settings:
    """Return the user's settings, libraries and caches; the cases lie in the run's own database."""
    from urllib.parse import quote

    from pydantic import SecretStr

    from crowdnotes.cli.draft import settings_with

    settings = settings_with(engine)
    address = f"sqlite:///{quote(str(out / 'cases.sqlite'), safe='/:')}"
    return settings.replace(database_url=SecretStr(address))


def run_options(
    workspace: Workspace, data: Path, mode: Mode, libraries: list[str] | None, services: list[str] | None, **others: Any
) -> RunOptions:
    """Return the run's options. Raises InputError for a library or a service that there is not."""
    import hashlib

    from crowdnotes.cli.draft import known_libraries, known_services
    from crowdnotes.engines import EngineStep
    from crowdnotes.studies.bench.healthnotes import RunOptions

    made = {step.value: workspace.engine.result_origin(step) for step in EngineStep}
    return RunOptions(
        data_sha256=hashlib.sha256(data.read_bytes()).hexdigest(),
        mode=mode,
        libraries=tuple(dict.fromkeys(known_libraries(libraries or [], workspace))),
        services=tuple(dict.fromkeys(known_services(services or [], workspace))),
        engine={step: " ".join(filter(None, (by.engine, by.prompt_version))) for step, by in made.items()},
        **others,
    )


def run_posts(posts: Mapping[str, Callable[[], Row]], folder: RunFolder[Row]) -> None:
    """Run what is not finished yet, a row a post by its id; Ctrl+C ends the command, and it goes on from there."""
    kept = sum(map(folder.is_finished, posts))
    if kept:
        progress(f"  {kept} of {len(posts)} posts are finished already")
    try:
        for number, (name, run) in enumerate(posts.items(), 1):
            if not folder.is_finished(name):
                row = run()
                folder.add(row)
                progress(f"  {number} of {len(posts)}: {row.result_line}")
    except KeyboardInterrupt:
        progress("stopped; repeat the command to go on")
        raise typer.Exit(130) from None


def _run_healthnotes_posts(
    stages: StageRunner, notes: Sequence[HealthNote], options: RunOptions, folder: RunFolder[PostRow]
) -> None:
    run_posts({note.note_id: partial(run_post, stages, note, options) for note in notes}, folder)


def finished(ids: Iterable[str], folder: RunFolder[Row]) -> list[Row]:
    """Return the rows of these posts that are on record, each once."""
    return [row for row in map(folder.row, dict.fromkeys(ids)) if row is not None]


def _write_finished_table(
    notes: Sequence[HealthNote], options: RunOptions, folder: RunFolder[PostRow], engine: Engine, out: Path
) -> tuple[list[PostRow], list[str]]:
    """Write the table of what is finished; the rows, and what a reader must know of them."""
    import pandas as pd

    from crowdnotes.studies.bench.healthnotes import cautions, table_rows
    from crowdnotes.studies.data_files import note_mark, read_held_out

    rows = finished((note.note_id for note in notes), folder)
    known = set() if engine.uses_language_model else set(read_held_out("helpfulness").by_mark())
    trained_on = sum(note_mark(row.note_id) in known for row in rows)
    said = cautions(options, len({note.note_id for note in notes}), rows, trained_on)
    with writing_to(out / "table.csv") as table:
        pd.DataFrame(table_rows(rows)).to_csv(table, index=False)
    return rows, said


class _SilentProgress:
    """A `Progress` that shows nothing: the command counts posts."""

    def count(self, done: int, total: int, note: str = "") -> None:
        """Unseen."""

    def check(self) -> None:
        """Never asked to stop: Ctrl+C ends the command itself."""


def run_post(stages: StageRunner, note: HealthNote, options: RunOptions) -> PostRow:
    """Gather, write and judge for one post; the case stays in the run's database.

    What the engine cannot do for this post is a result; a server that is not there, a search that nobody
    answered and a stop are raised, and the unfinished case is taken away.
    """
    from crowdnotes.cases.intake import create_case
    from crowdnotes.studies.bench.healthnotes import Outcome

    began = time.perf_counter()
    searching = options.mode is Mode.AUTOMATION
    try:
        case = create_case(
            stages.cases,
            note.post,
            mode=options.mode,
            urls=() if searching else links_of(note),
            libraries=options.libraries,
            services=options.services,
            until=day_of(note) if searching else None,
        )
    except InputError as error:  # a post or a link that no case takes
        return _build_post_row(stages, note, None, began, Outcome.FAILED, error.message)
    try:
        outcome, reason = _work_case(stages, case)
    except ModelServerError:
        stages.cases.delete(case.id)
        raise
    except EngineError as error:
        outcome, reason = Outcome.FAILED, error.message
    except BaseException:
        stages.cases.delete(case.id)
        raise
    return _build_post_row(stages, note, stages.cases.get(case.id), began, outcome, reason)


def links_of(note: HealthNote) -> list[str]:
    """Return the web addresses that the contributor gave, in order."""
    from crowdnotes.text.note_rules import find_urls, x_storage_form

    return [span.url for span in find_urls(x_storage_form(note.note)) if span.has_scheme]


def day_of(note: HealthNote) -> date | None:
    """Return the day on which the contributor wrote, in UTC; None when the data does not say."""
    return None if note.created_at_ms is None else datetime.fromtimestamp(note.created_at_ms / 1000, UTC).date()


def _work_case(stages: StageRunner, case: Case) -> tuple[Outcome, str]:
    from crowdnotes.studies.bench.healthnotes import Outcome

    if case.mode is Mode.AUGMENTATION and not case.urls:
        return Outcome.NO_EVIDENCE, "The contributor's note has no link."
    run_unwatched(stages.gather_steps(case.id))
    case = stages.cases.get(case.id)
    if not case.evidence:
        silent = _list_unanswered_providers(case)
        if silent:
            return Outcome.FAILED, f"No evidence was read, and these searches failed: {', '.join(silent)}."
        described = any(claim.settled_by for claim in case.claims)  # a model said what would settle the claim
        if not described and case.unwanted is None:
            unread = ", ".join(f"{count} {how}" for how, count in _count_unread_sources(case).items())
            return Outcome.NO_EVIDENCE, f"Sources: {unread}." if unread else "Nothing was found."
    run_unwatched(stages.write_steps(case.id, before_inspection=True))
    case = stages.cases.get(case.id)
    if case.draft is None:
        return Outcome.ABSTAINED, next(stage.reason for stage in case.stages if stage.name is StageName.DRAFT)
    # The jury and the links' answers are no part of the paper's figures.
    run_unwatched(stages.assess_steps(case.id, before_inspection=True, scores_only=True))
    assessment = stages.cases.get(case.id).assessment
    if assessment is None:
        raise EngineError("The note was not judged.")
    stopped = next((gate for gate in assessment.gates if gate.status is not GateStatus.PASS), None)
    if stopped is None:
        return Outcome.JUDGED, ""
    outcome = Outcome.FAILED if stopped.status is GateStatus.NOT_RUN else Outcome.JUDGED
    return outcome, f"{stopped.gate.value}: {stopped.reason}"


def run_unwatched(steps: Sequence[Step]) -> None:
    """Those that are not done yet, in this thread. Raises what a step raises."""
    for step in steps:
        if step.finished() is None:
            step.run(_SilentProgress())


def _build_post_row(
    stages: StageRunner, note: HealthNote, case: Case | None, began: float, outcome: Outcome, reason: str
) -> PostRow:
    from crowdnotes.cases.case_findings import shown_to_model
    from crowdnotes.studies.bench.healthnotes import PostRow
    from crowdnotes.studies.bench.notes import find_deciding

    seconds = round(time.perf_counter() - began, 2)
    row = PostRow(
        note_id=note.note_id,
        is_helpful=note.is_helpful,
        post=note.post,
        human=note.note,
        outcome=outcome,
        reason=reason,
        seconds=seconds,
    )
    if case is None:
        return row
    draft = case.draft
    return row.replace(
        note=draft.text if draft else "",
        inferred=draft is not None and draft.is_inferred(case.settlement, case.evidence),
        gates={gate.gate: gate.status for gate in case.assessment.gates} if case.assessment else {},
        candidates=tuple(candidate.text for candidate in case.candidates),
        changes=draft.changes if draft else "",
        settles=next((stage.summary for stage in case.stages if stage.name is StageName.SETTLE), ""),
        unanswered=_list_unanswered_providers(case),
        deciding=find_deciding(note.deciding, shown_to_model(case, stages.context)) if note.deciding else {},
        **spent(case),
    )


def spent(case: Case) -> dict[str, Any]:
    """Return what a case took, and which of its sources could not be read, as fields of a row."""
    used = case.used
    return {
        "unread": _count_unread_sources(case),
        "calls": used.calls,
        "chain": used.chain,
        "tokens": used.tokens,
        "dollars": None if used.unpriced else round(used.dollars, 6),
        "case_id": case.id,
    }


def _count_unread_sources(case: Case) -> dict[str, int]:
    ended = (source.outcome for source in case.sources)
    return dict(Counter(outcome.value for outcome in ended if outcome is not FetchOutcome.READ))


def _list_unanswered_providers(case: Case) -> tuple[str, ...]:
    return tuple(item.label for item in case.outcomes if item.gave_no_answer)
