"""From post to evidence: what each gathering stage does to a case. Nothing here writes the case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast
from urllib.parse import urldefrag

from crowdnotes.domain import Case, DateOrigin, Evidence, FetchOutcome, Hit, Source, text_sha256
from crowdnotes.drafting import ReadSource, build_evidence
from crowdnotes.evidence.library import LibraryDocument
from crowdnotes.evidence.provenance import categorise, publisher_of
from crowdnotes.evidence.utility import select_by_utility
from crowdnotes.jobs import Progress

if TYPE_CHECKING:
    from crowdnotes.cases.stages import Tools

Result = tuple[Mapping[str, object], str]


def queries(case: Case, tools: Tools) -> Result:
    """Claims and diverse queries (CrowdNotes+ 4.2)."""
    claims = tools.engine.claims(case.post)
    found = tools.engine.queries(case.post, claims, tools.settings.evidence.queries)
    summary = f"{len(found)} searches" if found else "The post holds nothing to search for"
    return {"claims": tuple(claims), "queries": tuple(found)}, summary


def search(case: Case, progress: Progress, tools: Tools) -> Result:
    """Hits of every chosen library, merged; a record found by several queries counts once."""
    hits: list[Hit] = []
    texts = [query.text for query in case.queries]
    for number, name in enumerate(case.libraries):
        progress.count(number, len(case.libraries), name)
        if texts:
            hits.extend(
                tools.libraries.search_many(name, texts, tools.settings.evidence.hits_per_query, post=case.post.text)
            )
    progress.count(len(case.libraries), len(case.libraries))
    places = "library" if len(case.libraries) == 1 else "libraries"
    return {"hits": tuple(hits)}, f"{len(hits)} found in {len(case.libraries)} {places}"


def read(case: Case, progress: Progress, tools: Tools, put_text: Callable[[str], str]) -> Result:
    """Sources: those that a person opened, the links they brought, and the hits of highest utility.

    A link that was read is not fetched again; one that failed is tried again.
    """
    known = {source.id: source for source in case.sources}
    sources: dict[str, Source] = {
        item.source.id: item.source
        for item in case.evidence
        if item.review.opened_at or item.source.id.startswith("hand:")
    }
    reasons: dict[str, str] = {}
    chosen = select_by_utility(tools.engine, case.post, case.hits, tools.settings.evidence.quota)
    total = len(case.urls) + len(chosen)
    for number, url in enumerate(case.urls):
        progress.count(number, total, url)
        source_id = f"url:{text_sha256(urldefrag(url).url)[:12]}"
        before = known.get(source_id)
        if before is not None and before.outcome is FetchOutcome.READ:
            sources[source_id] = before
            continue
        source, text = tools.reader.read(url, source_id, progress.check)
        if text is not None:
            put_text(text)
        sources[source_id] = source
    for number, pick in enumerate(chosen):
        progress.count(len(case.urls) + number, total, pick.hit.title)
        if pick.hit.library is None or pick.hit.record is None:
            raise ValueError(f"a hit of {pick.hit.provider} names no record")
        document = tools.libraries.document(pick.hit.library, pick.hit.record)
        source, text = _library_source(pick.hit.library, document), document.text
        put_text(text)
        sources.setdefault(source.id, source)
        reasons[source.id] = pick.why
    progress.count(total, total)
    was_read = sum(source.outcome is FetchOutcome.READ for source in sources.values())
    failed = len(sources) - was_read
    summary = f"{was_read} read" + (f", {failed} could not be read" if failed else "")
    return {"sources": tuple(sources.values()), "reasons": reasons}, summary


def _library_source(library: str, document: LibraryDocument) -> Source:
    url = document.url
    return Source(
        id=f"library:{library}:{document.record}",
        title=document.title,
        url=url,
        publisher=document.publisher or (publisher_of(url) if url else None),
        published=document.published,
        date_origin=DateOrigin.LIBRARY if document.published else None,
        category=categorise(url or ""),
        text_sha256=text_sha256(document.text),
        characters=len(document.text),
        library=library,
        record=document.record,
    )


def passages(case: Case, progress: Progress, tools: Tools, text_of: Callable[[str], str]) -> Result:
    """The best passage of each source that was read."""
    whys = {item.source.id: item.why for item in case.evidence}
    whys.update(case.reasons)
    readable = [
        ReadSource(source, text_of(source.text_sha256), whys.get(source.id, "You brought this link."))
        for source in case.sources
        if source.outcome is FetchOutcome.READ and source.text_sha256
    ]
    evidence = build_evidence(
        case.post,
        readable,
        tools.embedder,
        tools.settings.evidence,
        earlier=case.evidence,
        progress=progress.count,
    )
    noun = "passage" if len(evidence) == 1 else "passages"
    return {"evidence": evidence}, f"{len(evidence)} {noun} to inspect"


def merged(newest: Case, worked_on: Case, changes: Mapping[str, object]) -> dict[str, object]:
    """A stage's result, with what a person did while it was at work kept: reviews, passages, words."""
    result = dict(changes)
    if "evidence" in result:
        result["evidence"] = _with_reviews(newest, worked_on, cast("tuple[Evidence, ...]", result["evidence"]))
    if "sources" in result:
        found = cast("tuple[Source, ...]", result["sources"])
        result["sources"] = (*found, *(source for source in newest.sources if source not in worked_on.sources))
    if newest.draft != worked_on.draft:
        result.pop("draft", None)
        result.pop("revisions", None)
    return result


def _with_reviews(newest: Case, worked_on: Case, found: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    reviews = {item.source.id: item.review for item in newest.evidence}
    known = {item.source.id for item in (*worked_on.evidence, *found)}
    kept = [item.model_copy(update={"review": reviews.get(item.source.id, item.review)}) for item in found]
    number = max((int(item.id.removeprefix("E")) for item in kept), default=0)
    for item in newest.evidence:
        if item.source.id not in known:
            number += 1
            kept.append(item.model_copy(update={"id": f"E{number}", "rank": len(kept) + 1}))
    return tuple(kept)
