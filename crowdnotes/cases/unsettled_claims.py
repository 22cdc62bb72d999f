"""Help to search by hand for what settles a claim: the nearest passage, what would settle it, where to look."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import quote, quote_plus

from crowdnotes.cases.follow_up_stages import failed_sources
from crowdnotes.domain import Case, ManualSearch, StageName
from crowdnotes.engines.local.health_terms import find_topics
from crowdnotes.evidence.wayback import public_address
from crowdnotes.text.languages import language_of
from crowdnotes.text.note_rules import without_urls
from crowdnotes.text.plain_letters import plain_letters

_MAX_CLAIM_CHARACTERS = 150  # characters of a claim that a search engine still reads as one
_MAX_PUBMED_TERMS = 3  # PubMed looks for all of them
_WAYBACK_PREFIX = "https://web.archive.org/web/*/"


def manual_search_of(
    case: Case,
    private_hosts: Collection[str] = (),
    *,
    nothing_relevant: bool,
    even_if_settled: bool = False,
    search_failed: bool = False,
) -> ManualSearch | None:
    """Return help to search by hand; None before the first search, once decided, and if the claim is settled.

    `even_if_settled`: a person asks for it all the same. `search_failed`: the newest search failed, which leaves
    nothing in the case. No link contains the addresses of `private_hosts`.
    """
    was_looked_for = search_failed or any(stage.name is StageName.PASSAGES for stage in case.stages)
    if not was_looked_for or case.decision is not None:
        return None
    if not even_if_settled and _is_claim_settled(case, nothing_relevant=nothing_relevant):
        return None
    evidence, settlement = case.judging_evidence, case.settlement
    near = [item for item, _ in settlement.answers(evidence)] if settlement else []
    near = near or sorted(evidence, key=lambda item: -item.passage.similarity)
    wanted = (settlement.missing if settlement else "") or (case.claims[0].settled_by if case.claims else "")
    return ManualSearch(
        nearest=near[0] if near else None, wanted=wanted, places=_list_places_to_look(case, private_hosts)
    )


def _is_claim_settled(case: Case, *, nothing_relevant: bool) -> bool:
    """Return whether the passages settle it, by a model if asked; else False once the person has judged all and uses
    none.
    """
    evidence = case.judging_evidence
    if case.settlement is not None:
        return bool(case.settlement.stated(evidence, claim=1))
    if nothing_relevant or not evidence:
        return False
    unjudged = any(item.verdict is None for item in evidence)
    return unjudged or bool(case.used_evidence)


def _list_places_to_look(case: Case, private_hosts: Collection[str]) -> tuple[tuple[str, str], ...]:
    """Return where a person may look by hand: names of texts, each with a finished link."""
    said = plain_letters(case.claims[0].in_full if case.claims else case.post.whole_text)
    words = " ".join(without_urls(said).split())
    if len(words) > _MAX_CLAIM_CHARACTERS:
        words = words[:_MAX_CLAIM_CHARACTERS].rsplit(" ", 1)[0]
    found: list[tuple[str, str]] = []
    if words:
        dated = f"{words} before:{case.until.isoformat()}" if case.until else words
        language = language_of(words) or "en"
        checks = f"https://toolbox.google.com/factcheck/explorer/search/{quote(words, safe='')};hl={language}"
        found.append(("Search fact-checks", checks))
        found.append(("Search the web", f"https://www.google.com/search?q={quote_plus(dated)}"))
        found.append(("Search the news", f"https://news.google.com/search?q={quote_plus(dated)}"))
        terms = " ".join(topic.official for topic in find_topics(words)[:_MAX_PUBMED_TERMS])
        if terms:
            found.append(("Search PubMed", f"https://pubmed.ncbi.nlm.nih.gov/?term={quote_plus(terms)}"))
    failed = (public_address(source.url or "", private_hosts) for source in failed_sources(case))
    if gone := next(filter(None, failed), None):
        found.append(("Archived copies of the unread page", f"{_WAYBACK_PREFIX}{gone}"))
    elif post := public_address(case.post.url or ""):
        found.append(("Archived copies of the post", f"{_WAYBACK_PREFIX}{post}"))
    return tuple(found)
