"""`crowdnotes library …`: add, list, search and remove local collections of evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crowdnotes.cli.output import Json, open_workspace, print_json, print_text, progress

app = typer.Typer(help="Local libraries of evidence.", no_args_is_help=True)


@app.command("add")
def add(
    path: Annotated[
        Path, typer.Argument(help="A parquet, csv or jsonl table, or a folder of HTML, PDF, text, Markdown.")
    ],
    name: Annotated[str, typer.Option(help="What to call it: letters, digits, - and _.")],
    text_column: Annotated[str | None, typer.Option(help="The table's text column; guessed without.")] = None,
    title_column: Annotated[str | None, typer.Option(help="Its title column.")] = None,
    url_column: Annotated[str | None, typer.Option(help="Its address column.")] = None,
    date_column: Annotated[str | None, typer.Option(help="Its date column.")] = None,
    publisher_column: Annotated[str | None, typer.Option(help="Its publisher column.")] = None,
    kind: Annotated[
        str, typer.Option(help="fact-checks: ClaimReview data; notes: X's public notes, or the index made of them.")
    ] = "",
    replace: Annotated[bool, typer.Option("--replace", help="Replace a library of that name.")] = False,
    as_json: Json = False,
) -> None:
    """Index a table or folder for search, on this machine alone."""
    with open_workspace() as workspace:
        info = workspace.libraries.add(
            path,
            name,
            text_column=text_column,
            title_column=title_column,
            url_column=url_column,
            date_column=date_column,
            publisher_column=publisher_column,
            replace=replace,
            kind=kind,
            progress=lambda done, total: progress(f"  {done} of {total or '?'}"),
        )
    if as_json:
        print_json(info)
    else:
        print_text(
            f"Library {info.name}: {info.records} records, {info.duplicates} duplicates, {info.skipped} skipped."
        )
        if info.kind:
            print_text(f"  {info.in_words}")
        for skipped in info.skipped_names:
            print_text(f"  skipped {skipped}")
        if info.skipped > len(info.skipped_names):
            print_text(f"  and {info.skipped - len(info.skipped_names)} more")


@app.command("list")
def list_libraries(as_json: Json = False) -> None:
    """List the libraries on this machine; those that cannot be read are named on standard error."""
    with open_workspace() as workspace:
        found, broken = workspace.libraries.list(), workspace.libraries.broken()
    for name in broken:
        progress(f"The library “{name}” cannot be read. Remove it and add it again.")
    if as_json:
        print_json(found)
        return
    if not found and not broken:
        print_text("No libraries. Add one with: crowdnotes library add PATH --name NAME")
    for info in found:
        print_text(f"{info.name}  {info.in_words if info.kind else f'{info.records} records'}")


@app.command("remove")
def remove(name: Annotated[str, typer.Argument(help="The library to remove.")]) -> None:
    """Remove a library; cases that used it keep what they read."""
    with open_workspace() as workspace:
        workspace.remove_library(name)
    print_text(f"Library {name} removed.")


@app.command("search")
def search(
    name: Annotated[str, typer.Argument(help="The library.")],
    query: Annotated[str, typer.Argument(help="A post, claim or question.")],
    k: Annotated[int, typer.Option("-k", min=1, max=1000, help="How many to find.")] = 10,
    as_json: Json = False,
) -> None:
    """Search a library: full text first, then ranked by meaning, near-duplicates left out."""
    with open_workspace() as workspace:
        hits = workspace.libraries.search(name, query, k=k)
    if as_json:
        print_json(hits)
        return
    if not hits:
        print_text("Nothing found.")
    for hit in hits:
        place = "" if hit.record is None else hit.record
        words = "\n         ".join(
            [hit.snippet] if hit.snippet else [f"{note.cited}: {note.text}" for note in hit.notes]
        )
        print_text(f"{place:>7}  {hit.score:5.2f}  {hit.title}  {hit.url or ''}\n         {words}")
