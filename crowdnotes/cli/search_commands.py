"""`crowdnotes search` and `crowdnotes providers check`: the search providers from the command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from crowdnotes.cli.output import Json, day, print_json, print_text, progress
from crowdnotes.domain import Post, ProviderOutcome, ProviderState
from crowdnotes.errors import InputError, SearchError

if TYPE_CHECKING:
    from crowdnotes.evidence.search import SearchProvider
    from crowdnotes.workspace import Workspace

providers_app = typer.Typer(help="The search providers.", no_args_is_help=True)


def search(
    post: Annotated[str, typer.Argument(help="A post or claim; - reads it from standard input.")],
    provider: Annotated[list[str] | None, typer.Option(help="Search only here; may be given several times.")] = None,
    until: Annotated[str | None, typer.Option(help="Leave out what is later than this day, as YYYY-MM-DD.")] = None,
    library: Annotated[list[str] | None, typer.Option(help="Search this library; may be given several times.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=50, help="Hits a query and provider.")] = 10,
    as_json: Json = False,
) -> None:
    """Search providers side by side. What is named is searched; with nothing named, what a case asks at first."""
    from crowdnotes.evidence.search import search_all
    from crowdnotes.text.languages import languages_of
    from crowdnotes.workspace import open_workspace, system_clock

    text = (sys.stdin.read() if post == "-" else post).strip()
    if not text:
        raise InputError("There is nothing to search for.", "Give a post or claim.")
    last = day(until)
    with open_workspace() as workspace:
        providers = _chosen(workspace, provider or [], library or [])
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
            report=lambda outcome: progress(f"  {_line(outcome)}"),
            categories=workspace.settings.evidence.categories,
        )
    if as_json:
        print_json(
            {
                "queries": [query.model_dump(mode="json") for query in queries],
                "providers": [outcome.model_dump(mode="json") for outcome in found.outcomes],
                "hits": [hit.model_dump(mode="json") for hit in found.hits],
            }
        )
    if not any(outcome.state is ProviderState.ANSWERED for outcome in found.outcomes):
        raise SearchError(
            "No provider answered.", ProviderState.FAILED, "Try again later, or see `crowdnotes providers check`."
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
    """Ask each provider for one thing: which are set up, which answer from here, and how fast."""
    from crowdnotes.evidence.search import check_providers, make_providers
    from crowdnotes.workspace import open_workspace

    with open_workspace() as workspace:
        names = [info.name for info in workspace.libraries.list()]
        providers = make_providers(workspace.settings, workspace.libraries, names)
        outcomes = check_providers(providers, provider_seconds=workspace.settings.search.provider_seconds)
    if as_json:
        print_json([outcome.model_dump(mode="json") for outcome in outcomes])
        return
    for outcome in outcomes:
        print_text(_line(outcome))


def _chosen(workspace: Workspace, named: Sequence[str], libraries: Sequence[str]) -> list[SearchProvider]:
    from crowdnotes.evidence.search import make_providers

    known = [info.name for info in workspace.libraries.list()]
    wanted = [*named, *(f"library:{name}" for name in libraries)]
    providers = {one.name: one for one in make_providers(workspace.settings, workspace.libraries, known)}
    for name in wanted:
        if name not in providers:
            raise InputError(f"There is no provider “{name}”.", f"Use one of: {', '.join(providers)}.")
    if wanted:
        return [providers[name] for name in dict.fromkeys(wanted)]
    at_first = {*workspace.services_at_first(), *(f"library:{name}" for name in known)}
    return [one for name, one in providers.items() if name in at_first]


def _line(outcome: ProviderOutcome) -> str:
    found = f"{outcome.found} found  " if outcome.found else ""
    return f"{outcome.label:20} {outcome.state.value:15} {outcome.seconds:5.1f} s  {found}{outcome.sentence}".rstrip()
