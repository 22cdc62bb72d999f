"""From post to hits: what the two searching stages do to a case. Nothing here writes the case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crowdnotes.cases.tools import Tools
from crowdnotes.cases.ways import FOR_PEOPLE, Ways
from crowdnotes.domain import Case, ProviderOutcome, ProviderState
from crowdnotes.errors import JobError
from crowdnotes.evidence.search import SearchProvider, search_all
from crowdnotes.evidence.search.asking import languages_of, queries_for
from crowdnotes.jobs import Progress

Result = tuple[Mapping[str, object], str]


def queries(case: Case, tools: Tools, ways: Ways = FOR_PEOPLE) -> Result:
    """Claims and diverse queries (CrowdNotes+ 4.2)."""
    claims = tools.engine.claims(case.post.as_read)
    limit = tools.settings.evidence.queries
    found = queries_for(tools.engine, case.post.as_read, claims, limit, diverse=ways.diverse)
    summary = f"{len(found)} searches" if found else "The post holds nothing to search for"
    return {"claims": tuple(claims), "queries": tuple(found)}, summary


def search(case: Case, progress: Progress, tools: Tools) -> Result:
    """Hits of every chosen library and service, side by side, merged; how each ended is kept.

    Raises JobError when not one service answered: that is not "nothing found".
    """
    providers = _chosen(case, tools)
    done: list[ProviderOutcome] = []

    def report(outcome: ProviderOutcome) -> None:
        done.append(outcome)
        progress.count(len(done), len(providers), _so_far(providers, done))

    bounds = tools.settings.search
    progress.count(0, len(providers), _so_far(providers, done))
    found = search_all(
        providers,
        [query.text for query in case.queries],
        post=case.post.whole_text,
        limit=tools.settings.evidence.hits_per_query,
        until=case.until,
        languages=languages_of(case.queries),
        provider_seconds=bounds.provider_seconds,
        patience_seconds=bounds.patience_seconds,
        check=progress.check,
        report=report,
        categories=tools.settings.evidence.categories,
    )
    answered = [item for item in found.outcomes if item.state is ProviderState.ANSWERED]
    if not answered:
        said = " ".join(f"{item.label}: {item.sentence}" for item in found.outcomes)
        raise JobError(f"No search was answered. {said}", "Try again, or bring links of your own.")
    summary = f"{len(found.hits)} found in {len(answered)} of {len(providers)} places"
    return {"hits": found.hits, "outcomes": found.outcomes}, summary


def _so_far(providers: Sequence[SearchProvider], done: Sequence[ProviderOutcome]) -> str:
    """Each place and how it stands: "Europe PMC: 3 found · PubMed: failed · Crossref: …"."""
    said = {
        item.provider: f"{item.found} found" if item.state is ProviderState.ANSWERED else item.state.value
        for item in done
    }
    return " · ".join(f"{provider.label}: {said.get(provider.name, '…')}" for provider in providers)


def _chosen(case: Case, tools: Tools) -> Sequence[SearchProvider]:
    wanted = {*case.services, *(f"library:{name}" for name in case.libraries)}
    return [provider for provider in tools.providers(case.libraries) if provider.name in wanted]
