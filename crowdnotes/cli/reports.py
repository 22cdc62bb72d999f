"""`crowdnotes overview` and `comparison …`: how cases went, and blind comparisons of notes."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from crowdnotes.cli.output import (
    Json,
    Out,
    day,
    open_workspace,
    print_json,
    print_text,
    progress,
    read_bytes,
    write_out,
)
from crowdnotes.errors import InputError
from crowdnotes.text.markdown import count

app = typer.Typer(help="Blind comparisons of two notes.", no_args_is_help=True)
_ComparisonIdArgument = Annotated[str, typer.Argument(help="The comparison's id, as listed.")]


@app.command("add")
def add(
    file: Annotated[Path, typer.Argument(help="Pairs: CSV or JSON with post, supernote, existing_note; or of bench.")],
    title: Annotated[str, typer.Option(help="Its name; by default the file's.")] = "",
    first: Annotated[str, typer.Option(help="Name of the first notes in the results.")] = "",
    second: Annotated[str, typer.Option(help="Name of the second notes.")] = "",
    each: Annotated[int, typer.Option(min=0, help="Random pairs each participant sees; 0 for all.")] = 0,
    as_json: Json = False,
) -> None:
    """Begin a comparison, and get its link for participants."""
    with open_workspace() as workspace:
        made = workspace.comparisons.add(file.name, read_bytes(file), title=title, names=(first, second), each=each)
    link = f"/compare?comparison={made.id}"
    if as_json:
        print_json({"id": made.id, "pairs": len(made.pairs), "each": made.each, "names": made.names, "link": link})
        return
    print_text(f"{made.id}  {len(made.pairs)} pairs, {made.each} a participant")
    print_text(f"For participants, after the app's address: {link}")


@app.command("list")
def list_comparisons(as_json: Json = False) -> None:
    """List comparisons, the newest first."""
    with open_workspace() as workspace:
        found = workspace.comparisons.summaries()
    if as_json:
        print_json(found)
        return
    for one in found:
        print_text(f"{one.id}  {one.pairs} pairs, {one.answers} answers by {one.participants}  {one.title}")
    if not found:
        print_text("No comparisons.")


@app.command("results")
def results(comparison_id: _ComparisonIdArgument, as_json: Json = False) -> None:
    """Print the results: win rate, helpfulness, the five statements, each with its interval and n."""
    with open_workspace() as workspace:
        found = workspace.comparisons.results(comparison_id)
    if as_json:
        print_json(found)
        return
    print_text(f"{found.answers} answers by {found.participants} participants on {found.pairs} pairs")
    for sentence in dict.fromkeys(found.sentences.values()):
        print_text(sentence)
    for name, figure in found.rows:
        print_text(f"  {name}: {figure.as_text}")


@app.command("export")
def export(
    comparison_id: _ComparisonIdArgument,
    out: Out = None,
    format_: Annotated[
        Literal["csv", "votes"],
        typer.Option("--format", help="An answer a row, or votes for `crowdnotes bench compare`."),
    ] = "csv",
) -> None:
    """Export every answer."""
    with open_workspace() as workspace:
        text = workspace.comparisons.exported(comparison_id, votes=format_ == "votes")
    write_out(text, out)


def overview(
    since: Annotated[str | None, typer.Option(help="Only cases since this day (YYYY-MM-DD).")] = None,
    ended: Annotated[str | None, typer.Option(help="Only with this result: “approved”, “rejected”, “open” …")] = None,
    engine: Annotated[str | None, typer.Option(help="Only cases with this engine.")] = None,
    demonstrations: Annotated[bool, typer.Option("--demonstrations", help="Count demonstrations too.")] = False,
    as_json: Json = False,
) -> None:
    """How cases went: time from post to note, gates, what was mended, sources, agreement and cost."""
    from crowdnotes.reports import case_figures
    from crowdnotes.reports import overview as overview_report

    if ended is not None and ended not in overview_report.ENDINGS:
        raise InputError(f"“{ended}” is not a result.", f"Use one of: {', '.join(overview_report.ENDINGS)}.")
    first = day(since)
    begun = datetime(first.year, first.month, first.day, tzinfo=UTC) if first else None
    wanted = overview_report.Filter(begun, ended, engine, demonstrations)
    with open_workspace() as workspace:
        figures, unreadable = case_figures.read(workspace.cases, {})
        now = workspace.cases.now()
    for one, why in unreadable.items():
        progress(f"{one} is left out. {why}")
    found = overview_report.overview(case for case in figures if wanted.keeps(case))
    every = overview_report.Filter(demonstrations=demonstrations)
    queue = overview_report.queue_sentence(filter(every.keeps, figures), now)
    if as_json:
        print_json(asdict(found) | {"queue": queue, "unreadable": unreadable})
        return
    print_text(found.remark or count(found.cases, "case"))
    if queue:
        print_text(f"\nThe queue now\n  {queue}")
    for picture in found.pictures:
        print_text(f"\n{picture.title}")
        print_text(f"  {picture.sentence}")
        if picture.more:
            print_text(f"  {picture.more}")
        if picture.not_counted:
            print_text(f"  Not counted: {', '.join(picture.not_counted)}.")
