"""`crowdnotes bench …`: judges, jury and search against known answers, and sources against cited ones.

`helpfulness`, `correctness`, `principles`, `needed`, `retrieval`, `reach` and `jury` read known answers. `utility`
compares the sources that the program chooses with those that people cited for the same posts.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowdnotes.cli.bench_cases import (
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
)
from crowdnotes.domain import Case, Mode, Post
from crowdnotes.errors import EngineError, InputError, ModelServerError

if TYPE_CHECKING:
    from crowdnotes.cases.stages import StageRunner
    from crowdnotes.engines import Engine
    from crowdnotes.engines.llm.engine import LLMEngine
    from crowdnotes.studies.bench.healthnotes import RunOptions
    from crowdnotes.studies.bench.notes import Side
    from crowdnotes.studies.bench.source_study import UtilityStudy
    from crowdnotes.studies.bench.sources import SourcesRow
    from crowdnotes.studies.data_files import HealthNote
    from crowdnotes.workspace import Workspace


_JudgeOption = Annotated[EngineOption, typer.Option("--engine", help="Who judges; llm is your server.")]
_RowLimit = Annotated[int | None, typer.Option(min=1, help="Only the first rows.")]


def helpfulness(
    data: Annotated[Path, typer.Option(help="HealthNotes: a note a line, with post, note and status.")],
    engine: _JudgeOption = EngineOption.LOCAL,
    limit: _RowLimit = None,
    as_json: Json = False,
) -> None:
    """Measure the helpfulness gate against what the crowd said: macro-F1, accuracy, AUC.

    Notes that the local judge was trained on are marked, and judged by its cross-validation.
    """
    from crowdnotes.engines.local.helpfulness import HELPFUL_FROM
    from crowdnotes.studies.bench.judges import bench_helpfulness
    from crowdnotes.studies.data_files import read_health_notes

    notes = read_health_notes(data, limit)
    with open_workspace() as workspace:
        judge = chosen_engine(workspace, engine)
        found = bench_helpfulness(
            judge, notes, _read_held_out_chances("helpfulness", engine), HELPFUL_FROM, _print_indented_progress
        )
    _print_figures({"engine": judge.name, **found}, as_json=as_json)


def correctness(
    data: Annotated[Path, typer.Option(help="A note a line: id, passage, note, label, kind.")],
    engine: _JudgeOption = EngineOption.LOCAL,
    limit: _RowLimit = None,
    as_json: Json = False,
) -> None:
    """Measure the correctness gate on faithful and distorted notes: AUC, macro-F1, and both by kind of distortion.

    Without a model nothing judges them but a person: no AUC then, and all counted as not run.
    """
    from crowdnotes.studies.bench.judges import bench_correctness
    from crowdnotes.studies.data_files import read_distortions

    rows = read_distortions(data, limit)
    with open_workspace() as workspace:
        judge = chosen_engine(workspace, engine)
        found = bench_correctness(judge, rows, _print_indented_progress)
    _print_figures({"engine": judge.name, **found}, as_json=as_json)


def principles(
    data: Annotated[Path, typer.Option(help="Camp notes, Parquet, with kind and content_label.")],
    engine: _JudgeOption = EngineOption.LOCAL,
    limit: _RowLimit = None,
    as_json: Json = False,
) -> None:
    """Opinion or hostility against the rest, among notes that both camps approve: AUC.

    Notes that the local judge was trained on are marked, and judged by its cross-validation.
    """
    from crowdnotes.studies.bench.judges import bench_principles
    from crowdnotes.studies.data_files import labelled_bridging, read_camp_notes

    notes = labelled_bridging(read_camp_notes(data))[:limit]
    with open_workspace() as workspace:
        judge = chosen_engine(workspace, engine)
        found = bench_principles(judge, notes, _read_held_out_chances("principles", engine), _print_indented_progress)
    _print_figures({"engine": judge.name, **found}, as_json=as_json)


def needed(
    data: Annotated[Path, typer.Option(help="A post a line: post, needs_note, no_note_reason, depends_on_media.")],
    engine: _JudgeOption = EngineOption.LOCAL,
    limit: _RowLimit = None,
    pictures: Annotated[bool, typer.Option(help="Also posts that depend on an unseen picture.")] = True,
    with_notes: Annotated[
        bool, typer.Option("--with-notes", help="Judge each post with its original_note, as before approval.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Whether raters want a note under a post, judged before anything is searched: AUC, and what is written by reason.

    Its rivals are n-grams with logistic regression by cross-validation, and "always write". Posts whose words decide
    are counted separately from those that hang on a picture. The labels are a language model's: differences under 0.05
    say nothing.
    """
    from crowdnotes.studies.bench.needed import bench_needed, judge_posts, read_needed_rows

    rows = read_needed_rows(data, with_pictures=pictures, limit=limit)
    with open_workspace() as workspace:
        judge, at_once = chosen_engine(workspace, engine), workspace.settings.llm.at_once
        judged_rows = judge_posts(judge, rows, datetime.now(UTC).date(), at_once, with_notes=with_notes)
    _print_figures({"engine": judge.name, **bench_needed(rows, judged_rows)}, as_json=as_json)


def retrieval(
    data: Annotated[
        Path,
        typer.Option(help='A post a line: {"note_id", "post", "judged": [{"record": row, "grade": 0, 1 or 2}]}.'),
    ],
    library: Annotated[str, typer.Option(help="The judged library.")],
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first posts.")] = None,
    runs: Annotated[
        str, typer.Option(help="Which ways, comma-separated; embedding is slow.")
    ] = "fulltext,embedding,engine",
    query_diversity: QueryDiversity = True,
    utility: Utility = True,
    as_json: Json = False,
) -> None:
    """Rank a library's records for posts in up to three ways, and compare each with what was judged.

    fulltext is full-text search on the post's words, embedding the similarity of records to the post,
    engine what a case does: queries, search, picks by utility. ndcg@10 leaves unjudged records out;
    recall@10 and mrr (mean reciprocal rank) are of records with grade 2, in the ranking as it is.
    Embedding the library takes minutes the first time.
    """
    from crowdnotes.studies.bench.retrieval import measure_retrieval
    from crowdnotes.studies.data_files import read_judged_posts

    posts = read_judged_posts(data, limit)
    with open_workspace() as workspace:
        found = measure_retrieval(
            posts,
            workspace.engine,
            workspace.embedder,
            workspace.libraries,
            library,
            workspace.settings.evidence,
            progress=_print_indented_progress,
            runs=[name.strip() for name in runs.split(",") if name.strip()],
            diverse=query_diversity,
            by_utility=utility,
        )
        engine = workspace.engine.name
    if as_json:
        print_json({**found, "library": library, "engine": engine})
        return
    print_text(f"{found['n']} posts, {found['with_helpful']} with a directly helpful record; engine: {engine}")
    print_text(f"{'':<10} {'ndcg@10':>8} {'recall@10':>10} {'mrr':>6} {'seconds':>8}")
    for name, run in found["runs"].items():
        print_text(
            f"{name:<10} {run['ndcg@10']:>8.3f} {run['recall@10']:>10.3f} {run['mrr']:>6.3f} {run['seconds']:>8.2f}"
        )


def reach(
    data: Annotated[Path, typer.Option(help="HealthNotes, a note a line: note_id, post, note, created_at_ms, status.")],
    providers: Annotated[str, typer.Option(help="Where to search, comma-separated: library:NAME, pubmed, …")],
    limit: _RowLimit = None,
    as_json: Json = False,
) -> None:
    """Measure for how many posts with a shown note a search finds what that note cites, at 5 and at 10.

    page is the very page; subject a page of the same site with words of the note; site any page of the site. Of earlier
    notes the note itself, notes on its post, near copies and those of its day are left out; where its post is not
    known, those of the three days before as well. A provider that did not answer is NOT RUN.
    """
    from crowdnotes.cli.draft import known_libraries
    from crowdnotes.evidence.search import make_providers
    from crowdnotes.studies.bench.retrieval import measure_reach
    from crowdnotes.studies.data_files import read_health_notes

    notes = read_health_notes(data, limit)
    check_dates(notes)
    names = list(dict.fromkeys(name.strip() for name in providers.split(",") if name.strip()))
    with open_workspace() as workspace:
        libraries = [name.removeprefix("library:") for name in names if name.startswith("library:")]
        there = {item.name: item for item in make_providers(workspace.settings, workspace.libraries, libraries)}
        if unknown := [name for name in names if name not in there] or ([] if names else [providers]):
            raise InputError(
                f"“{unknown[0]}” is not a search service.", f"There are: library:NAME, {', '.join(there)}."
            )
        known_libraries(libraries, workspace)
        chosen = [there[name] for name in names]
        found = measure_reach(
            notes, workspace.engine, chosen, workspace.libraries, workspace.settings, _print_indented_progress
        )
    if as_json:
        print_json(found)
        return
    print_text(f"{found.posts} posts with a shown note that cites a page; {found.uncited} without a page")
    for one in found.reaches:
        if one.not_run:
            print_text(f"{one.provider}: NOT RUN. {one.not_run}")
            continue
        rest = f", {one.unanswered} not answered" if one.unanswered else ""
        print_text(f"{one.provider} ({one.posts} posts{rest})")
        for name, share in one.shares.items():
            low, high = (100 * end for end in share.interval)
            print_text(f"  {name:<11} {100 * share.share:5.1f} % ({low:.0f}–{high:.0f})")


def jury(
    data: Annotated[
        Path | None,
        typer.Option(
            help="HealthNotes (.jsonl: post, note, status), or a Parquet file (kind, approval_0/1, raters_0/1, "
            "…); by default the shipped numbers of newer notes."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure the jury on notes that X showed or turned down, or on notes with two camps' votes.

    HealthNotes: intercept_auc: does the simulated intercept find those that X showed? reached, wrongly_reached:
    which shares of the shown and of the others reach 0.40; ece: of the chance of being shown. Camps: polarising_auc,
    brier, ece: does the model know which notes divide the camps? camp_auc: and which camp likes them? rating_auc: of
    single votes on dividing notes. Reading new notes takes about 20 ms each.
    """
    from crowdnotes.engines.embedding import make_embedder
    from crowdnotes.jury import open_jury
    from crowdnotes.settings import load_settings
    from crowdnotes.studies.bench.jury import HeldOut, bench_camps, bench_shown, shown_held_out
    from crowdnotes.studies.data_files import read_health_notes

    if data is None:
        figures = HeldOut.load().measure()
    else:
        settings = load_settings()
        measured = open_jury(settings.jury, make_embedder(settings))
        if is_health(data):
            figures = bench_shown(measured, read_health_notes(data), shown_held_out(measured, settings.jury))
        else:
            figures = bench_camps(data, measured)
    _print_figures(figures, as_json=as_json)


def is_health(data: Path) -> bool:
    """Return whether a file is one of HealthNotes, by its ending."""
    return data.suffix.lower() in {".jsonl", ".json"}


def chosen_engine(workspace: Workspace, choice: EngineOption) -> Engine:
    """Return the engine asked for. Raises ConfigurationError when no language model's server is set."""
    from crowdnotes.engines.choice import reader_folder
    from crowdnotes.engines.local import LocalEngine
    from crowdnotes.engines.local.entailment import NliReader
    from crowdnotes.errors import ConfigurationError

    if choice is EngineOption.LOCAL:
        settings = workspace.settings
        reader = NliReader(reader_folder(settings.reader, settings.data_dir)) if settings.reader else None
        return LocalEngine(workspace.embedder, reader=reader)
    if not workspace.engine.uses_language_model:
        raise ConfigurationError(
            "No AI is set up.", "Set CROWDNOTES_LLM_BASE_URL and CROWDNOTES_LLM_MODEL, or use --engine local."
        )
    return workspace.engine


def _read_held_out_chances(judge: str, engine: EngineOption) -> dict[int, float]:
    """Return what cross-validation said of the shipped head's training notes; nothing for a language model."""
    from crowdnotes.studies.data_files import read_held_out

    return read_held_out(judge).by_mark() if engine is EngineOption.LOCAL else {}


def _print_indented_progress(line: str) -> None:
    progress(f"  {line}")


def _print_figures(figures: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(figures)
        return
    for name, value in figures.items():
        shown = f"{value:.3f}" if isinstance(value, float) else value
        if isinstance(value, dict):
            print_text(f"{name}:")
            for kind, inside in value.items():
                print_text(f"  {kind}: {inside}")
        elif value != "":
            print_text(f"{name}: {shown}")


_SOURCE_VOTE_FORM = (
    'Write one object a line: {"pair": "…", "reader": "…", "votes": {"overall": "left", "right" or "tie"}}.'
)


def utility(
    data: Posts,
    out: RunOut,
    library: Libraries = None,
    library_date: LibraryDates = None,
    service: Services = None,
    engine: Annotated[EngineOption | None, typer.Option(help="Who chooses the sources; by default as set.")] = None,
    limit: FirstPosts = None,
    sources: Annotated[
        int | None,
        typer.Option(min=1, help="At most so many of ours; by default as many as the contributor cited."),
    ] = None,
    votes: Annotated[list[Path] | None, typer.Option(help="Readers' votes, a pair a line; repeatable.")] = None,
    judge: Annotated[bool, typer.Option("--judge", help="Let the AI vote, in both orders.")] = False,
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
        raise InputError("Where should we search?", "Name a --library or a --service.")
    notes = read_health_notes(data, limit)
    check_dates(notes)
    cast = [vote for file in votes or [] for vote in read_rows(file, Vote, _SOURCE_VOTE_FORM)]
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
            {
                note.note_id: partial(_compare_post_sources, workspace.stages, reading.stages, note, options)
                for note in notes
            },
            folder,
        )
        chosen_by = workspace.engine.name
        data_dir = workspace.settings.data_dir
    rows = finished((note.note_id for note in notes), folder)
    pairs = source_pairs(rows)
    write_out("".join(pair.model_dump_json() + "\n" for pair in pairs), out / "pairs.jsonl", f"{len(pairs)} pairs ")
    if judge:
        cast += judged(pairs, _ask_preferred_sources)
    found = study(
        rows, cast, data=data.name, places=(*options.libraries, *options.services), chosen_by=chosen_by,
        made_at=datetime.now(UTC), prompt_version=load_prompt("source_comparison").version if judge else "",
    )  # fmt: skip
    if save:
        if not found.wins:
            raise InputError("Nobody has voted yet.", "Use --votes or --judge.")
        progress(f"{save_study(data_dir, found)}")
    if as_json:
        print_json(found)
    else:
        _print_utility_study(found)


def _compare_post_sources(
    stages: StageRunner, reading: StageRunner, note: HealthNote, options: RunOptions
) -> SourcesRow:
    """Return the sources of one post on both sides; a server that is not there, and a stop, are raised.

    `reading` reads what the contributor cited, whether its date is known or not: it was there to be cited.
    """
    from crowdnotes.cases.intake import create_case
    from crowdnotes.studies.bench.sources import SourcesRow, cited_sources, sources_of

    began = time.perf_counter()
    urls = links_of(note)
    row = SourcesRow(note_id=note.note_id, is_helpful=note.is_helpful, post=note.post, human=note.note)
    if not urls:
        return row.replace(reason="The contributor's note has no link.")
    try:
        case = create_case(
            stages.cases,
            note.post,
            mode=Mode.AUTOMATION,
            libraries=options.libraries,
            services=options.services,
            until=day_of(note),
        )
        run_unwatched(stages.gather_steps(case.id))
    except ModelServerError:
        raise
    except (EngineError, InputError) as error:
        return row.replace(reason=error.message, failed=True)
    cited = cited_sources(urls, _read_cited_pages(reading, note, urls))
    chosen = sources_of(stages.cases.get(case.id), options.sources or len(cited))
    reason = f"{len(chosen)} chosen, {len(cited)} cited, {time.perf_counter() - began:.0f} s"
    return row.replace(chosen=chosen, cited=cited, reason=reason)


def _read_cited_pages(stages: StageRunner, note: HealthNote, urls: list[str]) -> Case | None:
    """Return the contributor's pages as far as they can be read; None where no case takes such links."""
    from crowdnotes.cases.intake import create_case

    try:
        case = create_case(stages.cases, note.post, mode=Mode.AUGMENTATION, urls=urls)
    except InputError:
        return None  # shown by its address, as every page that cannot be read
    run_unwatched(stages.gather_steps(case.id))
    return stages.cases.get(case.id)


def _ask_preferred_sources(engine: LLMEngine, post: Post, left: str, right: str) -> tuple[dict[str, Side], str]:
    from crowdnotes.studies.bench.notes import OVERALL

    answer = engine.compare_sources(post, left, right)
    return {OVERALL: answer.better}, answer.why


def _print_utility_study(found: UtilityStudy) -> None:
    print_text(
        f"{found.posts} posts: {found.compared} compared, {found.pages} with passages; nothing found for "
        f"{found.nothing_found}; {found.uncited} without a link"
    )
    for group, won in found.wins.items():
        rate, low, high = (round(100 * value) for value in (won.rate, won.low, won.high))
        counted = f"{won.won} won, {won.lost} lost, {won.tied} tied"
        print_text(f"{group}: {rate} % ({low}–{high}) of {won.pairs} pairs; {counted}")
    if found.with_none is not None and found.nothing_found:
        print_text(f"all, posts without finds counted as lost: {100 * found.with_none:.0f} %")
    print_text(f"{'kind of source':<30} {'chosen':>7} {'cited':>7}")
    for kind, (chosen, cited) in found.kinds.items():
        print_text(f"{kind.value:<30} {chosen:>7} {cited:>7}")
