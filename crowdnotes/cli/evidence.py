"""`crowdnotes search`, `providers check`, `fetch` and `library …`: find, read and keep evidence."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdnotes.cli.output import Json, day, open_workspace, print_json, print_text, progress
from crowdnotes.domain import FetchOutcome, Post, ProviderOutcome, ProviderState, ReadAs, Source, why_none_answered
from crowdnotes.errors import InputError, SearchError, UnsafeUrlError

if TYPE_CHECKING:
    from crowdnotes.domain import Passage
    from crowdnotes.evidence.search import SearchProvider
    from crowdnotes.workspace import Workspace


providers_app = typer.Typer(help="The search services.", no_args_is_help=True)
_MAX_SHOWN_CHARACTERS = 1_500  # characters of the text for a person; --json gives all
_FIELDS_WITHOUT_VALUE = frozenset({"id", "library", "record"})  # which a link alone has none of


def search(
    post: Annotated[str, typer.Argument(help="A post or claim; - reads standard input.")],
    provider: Annotated[list[str] | None, typer.Option(help="Search only here; repeatable.")] = None,
    until: Annotated[str | None, typer.Option(help="Only up to this day (YYYY-MM-DD).")] = None,
    library: Annotated[list[str] | None, typer.Option(help="Search this library; repeatable.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=50, help="Results a search and service.")] = 10,
    as_json: Json = False,
) -> None:
    """Search providers side by side. What is named is searched; with nothing named, what a case asks at first."""
    from crowdnotes.evidence.search import search_all
    from crowdnotes.text.languages import languages_of
    from crowdnotes.workspace import open_workspace, system_clock

    text = (sys.stdin.read() if post == "-" else post).strip()
    if not text:
        raise InputError("What should we search for?", "Give a post or claim.")
    last = day(until)
    with open_workspace() as workspace:
        providers = _select_providers(workspace, provider or [], library or [], text)
        asked = Post(text=text)
        queries = workspace.engine.plan(asked, workspace.settings.evidence.queries, system_clock().date()).queries
        found = search_all(
            providers,
            [query.text for query in queries],
            post=text,
            limit=limit,
            until=last,
            languages=languages_of(queries),
            provider_seconds=workspace.settings.search.provider_seconds,
            patience_seconds=workspace.settings.search.patience_seconds,
            report=lambda outcome: progress(f"  {_format_outcome(outcome)}"),
            categories=workspace.settings.evidence.categories,
        )
    if as_json:
        print_json({"queries": queries, "providers": found.outcomes, "hits": found.hits})
    answered = any(outcome.state is ProviderState.ANSWERED for outcome in found.outcomes)
    if not answered and {item.state for item in found.outcomes} != {ProviderState.NOT_ASKED}:
        raise SearchError(
            why_none_answered(found.outcomes),
            ProviderState.FAILED,
            "Try later, or run `crowdnotes providers check`.",
        )
    if as_json:
        return
    if not found.hits:
        print_text("Nothing found.")
    for number, hit in enumerate(found.hits, start=1):
        marks = "".join(f" [{notice}]" for notice in hit.notices)
        names = ", ".join((hit.provider, *hit.also_found_by))
        print_text(
            f"{number:>3}  {hit.title}{marks}\n     {hit.published or 'undated'} · {names} · {hit.url or ''}".rstrip()
        )


@providers_app.command("check")
def check(as_json: Json = False) -> None:
    """Ask each provider for one thing: which answer from here, what each said, and which setting would help."""
    from crowdnotes.evidence.reading.reading_services import check_reading, make_reading_services
    from crowdnotes.evidence.search import CHECK_QUERY, check_providers, make_providers

    with open_workspace() as workspace:
        names = [info.name for info in workspace.libraries.list()]
        search = workspace.settings.search
        providers = make_providers(workspace.settings, workspace.libraries, names)
        outcomes = [*check_providers(providers, provider_seconds=search.provider_seconds)]
        outcomes += check_reading(make_reading_services(search), lambda: None)
    if as_json:
        print_json(outcomes)
        return
    print_text(f"We search each service for “{CHECK_QUERY}”.")
    for outcome in outcomes:
        print_text(_format_outcome(outcome))
        if outcome.state is ProviderState.ANSWERED and not outcome.found:
            print_text("    It found nothing.")
        for exchange in dict.fromkeys(outcome.exchanges):
            print_text(f"    asked     {exchange.asked}\n    answered  {exchange.answer}")
        if outcome.setting:
            print_text(f"    setting   {outcome.setting}")


def _select_providers(
    workspace: Workspace, named: Sequence[str], libraries: Sequence[str], post: str
) -> list[SearchProvider]:
    from crowdnotes.evidence.search import make_providers, relevant_providers

    known = [info.name for info in workspace.libraries.list()]
    wanted = [*named, *(f"library:{name}" for name in libraries)]
    providers = {one.name: one for one in make_providers(workspace.settings, workspace.libraries, known)}
    for name in wanted:
        if name not in providers:
            raise InputError(f"“{name}” is not a search service.", f"Use one of: {', '.join(providers)}.")
    if wanted:
        return [providers[name] for name in dict.fromkeys(wanted)]
    at_first = {*workspace.services_at_first(), *(f"library:{name}" for name in known)}
    return relevant_providers([one for name, one in providers.items() if name in at_first], post)


def _format_outcome(outcome: ProviderOutcome) -> str:
    found = f"{outcome.found} found  " if outcome.found else ""
    return f"{outcome.label:20} {outcome.state.value:15} {outcome.seconds:5.1f} s  {found}{outcome.sentence}".rstrip()


def fetch(
    url: Annotated[str, typer.Argument(help="The page to read.")],
    until: Annotated[str | None, typer.Option(help="Refuse pages after this day (YYYY-MM-DD).")] = None,
    post: Annotated[str | None, typer.Option(help="Show the text closest to this post or claim.")] = None,
    through: Annotated[
        list[str] | None,
        typer.Option(help="A reading service for public pages we cannot read."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON, with the whole text.")] = False,
) -> None:
    """Fetch and read one page. Ends well whenever there is a label to show, also for a page that could not be read.

    What is no link, or no day, ends with a sentence and exit code 2.
    """
    from crowdnotes.evidence.ssrf_guard import check_url

    try:
        last = day(until)
        url = _replace_lone_surrogates(url)
        with suppress(UnsafeUrlError):  # which is a label of its own, given by the reader
            check_url(url)
    except InputError as error:
        progress(f"crowdnotes: {error}")
        raise typer.Exit(2) from error
    post = _replace_lone_surrogates(post) if post else None
    with open_workspace() as workspace:
        for name in through or ():
            if name not in (known := workspace.reading_services):
                raise InputError(f"“{name}” is not a reading service.", f"Use one of: {', '.join(known)}.")
        source, text = workspace.reader.read(url, "url", until=last, through=through or ())
        source = source.timely(last)
        if source.outcome is not FetchOutcome.READ:
            text = None
        passage = _find_best_passage(workspace, source, text, post) if text is not None and post else None
    if as_json:
        print_json(
            source.model_dump(mode="json", exclude=set(_FIELDS_WITHOUT_VALUE)) | {"text": text, "passage": passage}
        )
    else:
        _print_source(source, text, passage)


def _replace_lone_surrogates(given: str) -> str:
    """Write "?" for lone surrogates, which replace bytes from a terminal that are no text."""
    return given.encode("utf-8", "replace").decode()


def _find_best_passage(workspace: Workspace, source: Source, text: str, post: str) -> Passage:
    from crowdnotes.evidence.passages import best_passage

    return best_passage(text, post, workspace.embedder, page_starts=source.page_starts)


def _print_source(source: Source, text: str | None, passage: Passage | None) -> None:
    marks = "".join(f" [{notice}]" for notice in source.notices)
    print_text(f"{source.title}{marks}")
    dated = f"{source.published} (date from {source.date_origin})" if source.published else "undated"
    print_text(" · ".join(filter(None, (source.publisher, source.category.value, dated, source.language))))
    label = source.outcome.value
    if source.outcome is FetchOutcome.READ and source.read_as is not ReadAs.WHOLE:
        label = f"{label}: {source.read_as.value}"
    print_text(" ".join(filter(None, (f"{label}.", source.outcome_detail, source.archive_detail))))
    for name, address in (("leads to", source.page_url), ("archived copy", source.archived_url)):
        if address:
            print_text(f"{name}: {address}")
    if passage is not None:
        page = f", page {passage.page}" if passage.page else ""
        print_text(f"\nThe text (similarity {passage.similarity:.2f} of 1{page}):\n{passage.text}")
    elif text is not None:
        rest = (
            f"\n… {len(text) - _MAX_SHOWN_CHARACTERS:,} more characters (--json gives all)"
            if len(text) > _MAX_SHOWN_CHARACTERS
            else ""
        )
        print_text(f"\n{text[:_MAX_SHOWN_CHARACTERS]}{rest}")


library_app = typer.Typer(help="Your libraries of evidence.", no_args_is_help=True)


@library_app.command("add")
def add(
    path: Annotated[
        Path, typer.Argument(help="A table (parquet, csv, jsonl), or a folder of HTML, PDF, text, Markdown.")
    ],
    name: Annotated[str, typer.Option(help="Its name: letters, digits, - and _.")],
    text_column: Annotated[str | None, typer.Option(help="The text column; else guessed.")] = None,
    title_column: Annotated[str | None, typer.Option(help="Its title column.")] = None,
    url_column: Annotated[str | None, typer.Option(help="Its address column.")] = None,
    date_column: Annotated[str | None, typer.Option(help="Its date column.")] = None,
    publisher_column: Annotated[str | None, typer.Option(help="Its publisher column.")] = None,
    kind: Annotated[
        str, typer.Option(help="fact-checks: ClaimReview data; notes: X's public notes or their index.")
    ] = "",
    replace: Annotated[bool, typer.Option("--replace", help="Replace one of that name.")] = False,
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
            print_text(f"  {info.as_text}")
        elif info.remark:
            print_text(f"  {info.remark}")
        for skipped in info.skipped_names:
            print_text(f"  skipped {skipped}")
        if info.skipped > len(info.skipped_names):
            print_text(f"  and {info.skipped - len(info.skipped_names)} more")


@library_app.command("list")
def list_libraries(as_json: Json = False) -> None:
    """List the libraries on this machine; those that cannot be read are named on standard error."""
    with open_workspace() as workspace:
        found, broken = workspace.libraries.list(), workspace.libraries.broken()
    for name in broken:
        progress(f"We cannot read the library “{name}”. Remove it and add it again.")
    if as_json:
        print_json(found)
        return
    if not found and not broken:
        print_text("No libraries. Add one with: crowdnotes library add PATH --name NAME")
    for info in found:
        print_text(f"{info.name}  {info.as_text if info.kind else f'{info.records} records'}")


@library_app.command("remove")
def remove(name: Annotated[str, typer.Argument(help="The library to remove.")]) -> None:
    """Remove a library; cases that used it keep what they read."""
    with open_workspace() as workspace:
        workspace.remove_library(name)
    print_text(f"Library {name} removed.")


@library_app.command("search")
def search_library(
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
