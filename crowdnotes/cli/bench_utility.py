"""`crowdnotes bench utility`: sources that the program chooses beside those that people cited for the same posts."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdnotes.cli.bench_posts import (
    FirstPosts,
    Libraries,
    LibraryDates,
    Posts,
    RunOut,
    Services,
    check_dates,
    day_of,
    finished,
    judged,
    library_days,
    links_of,
    run_options,
    run_posts,
    run_settings,
    run_unwatched,
)
from crowdnotes.cli.output import EngineOption, Json, open_workspace, print_json, print_text, progress
from crowdnotes.domain import Case, Mode, Post
from crowdnotes.errors import EngineError, InputError, ModelServerError

if TYPE_CHECKING:
    from crowdnotes.cases.service import CaseService
    from crowdnotes.engines.llm.engine import LLMEngine
    from crowdnotes.studies.bench.healthnotes import RunOptions
    from crowdnotes.studies.bench.notes import Side
    from crowdnotes.studies.bench.source_study import UtilityStudy
    from crowdnotes.studies.bench.sources import SourcesRow
    from crowdnotes.studies.data_files import HealthNote

_VOTES = 'Each line is an object: {"pair": "…", "reader": "…", "votes": {"overall": "left", "right" or "tie"}}.'


def utility(
    data: Posts,
    out: RunOut,
    library: Libraries = None,
    library_date: LibraryDates = None,
    service: Services = None,
    engine: Annotated[
        EngineOption | None, typer.Option(help="Who chooses the sources; the engine that is set without it.")
    ] = None,
    limit: FirstPosts = None,
    sources: Annotated[
        int | None,
        typer.Option(min=1, help="At most so many of the program's; without it as many as the contributor cited."),
    ] = None,
    votes: Annotated[list[Path] | None, typer.Option(help="Votes by readers, a line a pair; several times.")] = None,
    judge: Annotated[bool, typer.Option("--judge", help="Let the model for judging vote, in both orders.")] = False,
    save: Annotated[bool, typer.Option("--save", help="Show the result on the Overview page.")] = False,
    as_json: Json = False,
) -> None:
    """Choose sources for every post, and ask which are of more use: these, or those that the contributor cited.

    The folder gets sources.jsonl, and pairs.jsonl for blind readers: sides shuffled. Put it on the Compare page, and
    count its votes with --votes; or let a model vote with --judge. Ties count half. Evidence is of the day of the
    contributor's note or before. A set is shown by its sites and the words of its titles or addresses; with passages
    where every page of both sets was read.
    """
    from crowdnotes.cases.gathering_stages import GatherOptions
    from crowdnotes.engines.prompts import load_prompt
    from crowdnotes.studies.bench.healthnotes import RunFolder
    from crowdnotes.studies.bench.notes import Vote
    from crowdnotes.studies.bench.source_study import save_study
    from crowdnotes.studies.bench.sources import SourcesRow, source_pairs, study
    from crowdnotes.studies.data_files import read_health_notes, read_rows

    if not (library or service):
        raise InputError("There is nothing to search.", "Name a --library or a --service.")
    notes = read_health_notes(data, limit)
    check_dates(notes)
    cast = [vote for file in votes or [] for vote in read_rows(file, Vote, _VOTES)]
    days = library_days(library_date or [], library or [])
    gathering = GatherOptions(leave_out_undated=True, post_links=False, collected=days)
    settings = run_settings(out, engine)
    with (
        open_workspace(settings, options=gathering) as workspace,
        open_workspace(
            settings, embedder=workspace.embedder, engine=workspace.engine, options=GatherOptions(post_links=False)
        ) as reading,
    ):
        options = run_options(
            workspace, data, Mode.AUTOMATION, library, service, library_dates=dict(gathering.collected), sources=sources
        )
        folder = RunFolder(out, "sources.jsonl", options, SourcesRow)
        run_posts(
            {note.note_id: partial(_row, workspace.service, reading.service, note, options) for note in notes}, folder
        )
        chosen_by = workspace.engine.name
        data_dir = workspace.settings.data_dir
    rows = finished((note.note_id for note in notes), folder)
    pairs = source_pairs(rows)
    (out / "pairs.jsonl").write_text("".join(pair.model_dump_json() + "\n" for pair in pairs), encoding="utf-8")
    progress(f"{len(pairs)} pairs: {out / 'pairs.jsonl'}")
    if judge:
        cast += judged(pairs, _preferred)
    found = study(
        rows, cast, data=data.name, places=(*options.libraries, *options.services), chosen_by=chosen_by,
        made_at=datetime.now(UTC), prompt_version=load_prompt("source_comparison").version if judge else "",
    )  # fmt: skip
    if save:
        if not found.wins:
            raise InputError("Nobody has voted yet, so there is nothing to show.", "Use --votes or --judge.")
        progress(f"{save_study(data_dir, found)}")
    if as_json:
        print_json(found)
    else:
        _print(found)


def _row(service: CaseService, reading: CaseService, note: HealthNote, options: RunOptions) -> SourcesRow:
    """The sources of one post on both sides; a server that is not there, and a stop, are raised.

    `reading` reads what the contributor cited, whether its date is known or not: it was there to be cited.
    """
    from crowdnotes.studies.bench.sources import SourcesRow, cited_sources, sources_of

    began = time.perf_counter()
    urls = links_of(note)
    row = SourcesRow(note_id=note.note_id, is_helpful=note.is_helpful, post=note.post, human=note.note)
    if not urls:
        return row.model_copy(update={"reason": "The contributor's note has no link."})
    try:
        case = service.create(
            note.post,
            mode=Mode.AUTOMATION,
            libraries=options.libraries,
            services=options.services,
            until=day_of(note),
        )
        run_unwatched(service.gather_steps(case.id))
    except ModelServerError:
        raise
    except (EngineError, InputError) as error:
        return row.model_copy(update={"reason": error.message, "failed": True})
    cited = cited_sources(urls, _read(reading, note, urls))
    chosen = sources_of(service.get(case.id), options.sources or len(cited))
    reason = f"{len(chosen)} chosen, {len(cited)} cited, {time.perf_counter() - began:.0f} s"
    return row.model_copy(update={"chosen": chosen, "cited": cited, "reason": reason})


def _read(service: CaseService, note: HealthNote, urls: list[str]) -> Case | None:
    """The contributor's pages as far as they can be read; None where no case takes such links."""
    try:
        case = service.create(note.post, mode=Mode.AUGMENTATION, urls=urls)
    except InputError:
        return None  # shown by its address, as every page that cannot be read
    run_unwatched(service.gather_steps(case.id))
    return service.get(case.id)


def _preferred(engine: LLMEngine, post: Post, left: str, right: str) -> tuple[dict[str, Side], str]:
    from crowdnotes.studies.bench.notes import OVERALL

    answer = engine.compare_sources(post, left, right)
    return {OVERALL: answer.better}, answer.why


def _print(found: UtilityStudy) -> None:
    print_text(
        f"{found.posts} posts: {found.compared} compared, {found.pages} of them with passages; nothing found for "
        f"{found.nothing_found}; {found.uncited} without a link"
    )
    for group, won in found.wins.items():
        rate, low, high = (round(100 * value) for value in (won.rate, won.low, won.high))
        counted = f"{won.won} won, {won.lost} lost, {won.tied} tied"
        print_text(f"{group}: {rate} % ({low}–{high}) of {won.pairs} pairs; {counted}")
    if found.with_none is not None and found.nothing_found:
        print_text(f"all, with the posts for which nothing was found counted as lost: {100 * found.with_none:.0f} %")
    print_text(f"{'kind of source':<30} {'chosen':>7} {'cited':>7}")
    for kind, (chosen, cited) in found.kinds.items():
        print_text(f"{kind.value:<30} {chosen:>7} {cited:>7}")
