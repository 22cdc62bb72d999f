"""What each stage of gathering does: queries, search, choosing, reading, passages. The runner stores the results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, cast
from urllib.parse import urldefrag

from crowdnotes.cases.actions import ranked, with_cutoff_notice
from crowdnotes.cases.cases import Cases
from crowdnotes.domain import (
    PROGRAM,
    Act,
    Case,
    Evidence,
    FetchOutcome,
    FollowUpKind,
    FollowUpSearch,
    Hit,
    Mode,
    Post,
    ProviderOutcome,
    ProviderState,
    Query,
    Source,
    StageOutcome,
    text_sha256,
    why_none_answered,
)
from crowdnotes.engines import Brief, Engine
from crowdnotes.engines.embedding import Embedder
from crowdnotes.engines.metering import run_both
from crowdnotes.engines.prompt_injection import without_injections
from crowdnotes.errors import JobCancelled, JobError, LibraryError
from crowdnotes.evidence.duplicates import distinct, normalised, source_key
from crowdnotes.evidence.library import Libraries
from crowdnotes.evidence.link_check import LinkChecker
from crowdnotes.evidence.passages import ReadSource, build_evidence
from crowdnotes.evidence.search import SearchProvider, describe_place, relevant_providers, search_all
from crowdnotes.evidence.search.local_library import LocalLibrary
from crowdnotes.evidence.search.provider import OnlineProvider
from crowdnotes.evidence.search.run import SearchCache, plan_for
from crowdnotes.evidence.selection import (
    Selection,
    drop_unusable_hits,
    pick_hits_to_rank,
    reason_to_skip,
    select_by_utility,
)
from crowdnotes.evidence.sources import SourceReader, build_record_source
from crowdnotes.jobs import Progress
from crowdnotes.notes.existing_notes import links_of
from crowdnotes.settings import Settings
from crowdnotes.settings_sections import MOST_QUERIES, SECOND_QUERIES
from crowdnotes.text.languages import languages_of
from crowdnotes.text.note_rules import without_urls
from crowdnotes.text.pasted import post_number
from crowdnotes.text.urls import canonical_url, is_on_x, references_in
from crowdnotes.wording import plural

if TYPE_CHECKING:
    from crowdnotes.jury import Jury

# Rounds of choosing substitutes for unreadable pages; more would only keep a person waiting.
_MAX_CHOOSING_ROUNDS = 3
REPEATED_SEARCH_SECONDS = 40.0  # for a repeated search of a service that was too slow
SPARE_CHOICES = 4  # extra choices, so that unreadable pages need no second choice
_MAX_PARALLEL_READS = 6  # as many as a case chooses

Changes = Mapping[str, object]
"""Fields of the case, or of a follow-up search, with what a stage found for them."""

StageResult = tuple[Changes, StageOutcome]
"""What a stage found, and how it ended."""


@dataclass(frozen=True, slots=True)
class GatherOptions:
    """How sources are gathered: as people want it, or with a part switched as a study wants it (CrowdNotes+ Table 3).

    Without `diverse` the post is the only query; without `by_utility` the first hits are read; without `post_links` the
    links of the post are not read, as in the paper. `leave_out_undated` is for studies with a cutoff: a page without a
    date may know how the matter ended. `collected` is the day of each library, by name: its undated records are no
    later than that.
    """

    diverse: bool = True
    by_utility: bool = True
    leave_out_undated: bool = False
    post_links: bool = True
    collected: Mapping[str, date] = field(default_factory=dict)

    def timely(self, source: Source, until: date | None) -> Source:
        """Return the source under the cutoff, see `Source.timely`."""
        collected = self.collected.get(source.library or "")
        return source.timely(until, leave_out_undated=self.leave_out_undated, collected=collected)


@dataclass(frozen=True, slots=True)
class StageContext:
    """What the stages of a case work with: the boundaries, each safe to share between threads.

    `providers` returns every online provider and one for each named library. `jury` reads the model at its first call.
    """

    cases: Cases
    engine: Engine
    embedder: Embedder
    reader: SourceReader
    libraries: Libraries
    providers: Callable[[Sequence[str]], Sequence[SearchProvider]]
    settings: Settings
    links: LinkChecker
    jury: Callable[[], Jury]
    clock: Callable[[], datetime]
    options: GatherOptions = GatherOptions()
    search_cache: SearchCache | None = None

    def brief(self, case: Case) -> Brief:
        """Return what an engine gets of a case; its day is no later than the last day of evidence."""
        today = self.clock().date()
        last = today if case.until is None else min(today, case.until)
        return Brief(case.post.as_read, last, case.claims, case.settlement, unwanted=case.unwanted)

    def brief_to_search_on(self, case: Case) -> Brief:
        """Return the brief for an engine that may name more searches: with those made, and the places searched."""
        made = [*case.queries, *(query for asked in case.follow_ups for query in asked.queries)]
        places = tuple(describe_place(provider) for provider in _select_providers(case, self))
        # Searches by name are the program's own, made only where a service searches by name.
        searched = tuple(query.text for query in made if not query.by_name)
        return replace(self.brief(case), searched=searched, places=places)


@dataclass(frozen=True, slots=True)
class SourceRequest:
    """A source to read: a link, or a record of a library."""

    id: str
    title: str
    why: str
    url: str | None = None
    hit: Hit | None = None


def one_per_page(items: Iterable[SourceRequest]) -> dict[str, SourceRequest]:
    """Return the first request for each page, with what a search knows of the page."""
    wanted: dict[str, SourceRequest] = {}
    for item in items:
        place = canonical_url(item.url) if item.url is not None else item.id
        first = wanted.setdefault(place, item)
        if first.hit is None and item.hit is not None:
            wanted[place] = replace(first, hit=item.hit)
    return wanted


def link_request(url: str) -> SourceRequest:
    """Return a request for a link that a person brought."""
    return SourceRequest(_link_id(url), url, "You added this link.", url=url)


def post_requests(case: Case) -> list[SourceRequest]:
    """Return requests for what the post links, or names by a paper's or trial's number; none for a supernote.

    A register's entry is taken from the search result: scripts build its page.
    """
    hits = {canonical_url(hit.url): hit for hit in case.hits if hit.url is not None}
    links = references_in(case.post.whole_text) if case.supernote is None else ()
    return [
        SourceRequest(_link_id(url), url, "The post links to it.", url=url, hit=hits.get(canonical_url(url)))
        for url in links
        if reason_to_skip(url) is None
    ]


def hit_request(hit: Hit, why: str) -> SourceRequest | None:
    """Return a request for a hit; None for one that names neither a record nor a link."""
    if hit.library is not None and hit.record is not None:
        return SourceRequest(f"library:{hit.library}:{hit.record}", hit.title, why, hit=hit)
    return SourceRequest(_link_id(hit.url), hit.title, why, url=hit.url, hit=hit) if hit.url is not None else None


def _link_id(url: str) -> str:
    return f"url:{text_sha256(urldefrag(url).url)[:12]}"


def queries(case: Case, _: Progress, context: StageContext) -> StageResult:
    """Find claims and diverse queries (CrowdNotes+ 4.2), or use a person's own words instead."""
    brief = context.brief(case)
    own = own_query(case.own_words)
    limit = context.settings.evidence.queries if case.mode is Mode.AUTOMATION and not own else 0  # the claim alone
    places = context.brief_to_search_on(case).places if limit else ()
    plan = plan_for(
        context.engine, brief.post, limit, brief.today, places, diverse=context.options.diverse, insisted=case.anyway
    )
    found = own or plan.queries[: MOST_QUERIES - SECOND_QUERIES]
    nothing = plan.why_none or ("Claim found" if plan.claims else "The post has nothing to search for")
    outcome = StageOutcome(summary=f"{len(found)} searches" if found else nothing, reason="" if found else nothing)
    return {"claims": plan.claims, "wanted": plan.wanted, "queries": found, "settlement": None}, outcome


def own_query(words: str) -> tuple[Query, ...]:
    """Return the search that a person typed, unchanged; none without words."""
    text = " ".join(words.split())
    return (Query(text=text, purpose="your words"),) if text else ()


def search(case: Case, progress: Progress, context: StageContext, *, patient: bool = False) -> StageResult:
    """Search every chosen library and service at once, merge the hits, and keep how each ended.

    `patient` waits `REPEATED_SEARCH_SECONDS` for each. Raises JobError when no service answered: that is no result.
    """
    providers = _select_providers(case, context)
    if patient:
        providers = [_extend_timeout(provider) for provider in providers]
    done: list[ProviderOutcome] = []

    def report(outcome: ProviderOutcome) -> None:
        done.append(outcome)
        progress.count(len(done), len(providers), _format_search_progress(providers, done))

    bounds = context.settings.search
    progress.count(0, len(providers), _format_search_progress(providers, done))
    found = search_all(
        providers,
        [query.text for query in case.queries],
        post=case.post.whole_text,
        limit=context.settings.evidence.hits_per_query,
        until=case.until,
        languages=languages_of(case.queries),
        by_name=[query.text for query in case.queries if query.by_name],
        provider_seconds=REPEATED_SEARCH_SECONDS if patient else bounds.provider_seconds,
        patience_seconds=REPEATED_SEARCH_SECONDS if patient else bounds.patience_seconds,
        check=progress.check,
        report=report,
        categories=context.settings.evidence.categories,
        cache=context.search_cache,
    )
    answered = [item for item in found.outcomes if item.state is ProviderState.ANSWERED]
    if not answered and {item.state for item in found.outcomes} != {ProviderState.NOT_ASKED}:
        raise JobError(why_none_answered(found.outcomes), "Try again, or add your own links.")
    summary = f"{len(found.hits)} found in {len(answered)} of {len(providers)} places"
    return {"hits": found.hits, "outcomes": found.outcomes}, StageOutcome(summary=summary)


def _format_search_progress(providers: Sequence[SearchProvider], done: Sequence[ProviderOutcome]) -> str:
    """Return the state of each place: "Europe PMC: 3 found · PubMed: failed · Crossref: …"."""
    said = {
        item.provider: f"{item.found} found" if item.state is ProviderState.ANSWERED else item.state.as_text
        for item in done
    }
    return " · ".join(f"{provider.label}: {said.get(provider.name, '…')}" for provider in providers)


def _select_providers(case: Case, context: StageContext) -> Sequence[SearchProvider]:
    wanted = {*case.services, *(f"library:{name}" for name in case.libraries)}
    chosen = [
        _exclude_notes_on_post(case.post, item) for item in context.providers(case.libraries) if item.name in wanted
    ]
    claims = (claim.in_full for claim in case.claims)
    return relevant_providers(chosen, " ".join([case.own_words, case.post.whole_text, *claims]))


def _extend_timeout(provider: SearchProvider) -> SearchProvider:
    """Let one answer of the provider take as long as there is for all."""
    if not isinstance(provider, OnlineProvider):
        return provider
    return replace(provider, service=replace(provider.service, request_seconds=REPEATED_SEARCH_SECONDS))


def _exclude_notes_on_post(post: Post, provider: SearchProvider) -> SearchProvider:
    """Leave out notes on this very post, where its number is known."""
    number = post_number(post.url or "")
    if number is None or not isinstance(provider, LocalLibrary):
        return provider
    return replace(provider, leave_out=lambda note: note.post == number)


Choose = Callable[[Sequence[Hit], int], Selection]
ReadSources = Callable[[Sequence[SourceRequest]], Mapping[str, Source]]


@dataclass(frozen=True, slots=True)
class SelectedSources:
    """The sources by request id, why by source, and why none of the rest was chosen, if known.

    `queries` are searches to make where none was chosen.
    """

    sources: Mapping[str, Source]
    reasons: Mapping[str, str]
    rest: str = ""
    queries: tuple[Query, ...] = ()


def read_selected(
    candidates: Sequence[Hit], quota: int, choose: Choose, read: ReadSources, links: Sequence[SourceRequest] = ()
) -> SelectedSources:
    """Read `quota` of the candidates that can be read.

    Fewer when too many could not be read, or when no other helps. Failed ones are there with their labels. `choose`
    gets the candidates and the quota, and names some to spare. `links` are read together with the first choice, in any
    case.
    """
    selection = choose(candidates, quota) if candidates else Selection(())
    left = list(selection.chosen)
    had = 0
    sources: dict[str, Source] = {}
    reasons: dict[str, str] = {}
    for number in range(_MAX_CHOOSING_ROUNDS):
        chosen, left = left[: quota - had], left[quota - had :]
        picks = [pick for item in chosen if (pick := hit_request(item.hit, item.why)) is not None]
        wanted = [*(links if number == 0 else ()), *picks]
        if not wanted:
            break
        found = read(wanted)
        sources |= found
        # A link that leads to a page that was read before is the same page.
        once = {source.id for source in distinct(sources.values())}
        sources = {name: source for name, source in sources.items() if source.id in once}
        reasons = {found[item.id].id: item.why for item in wanted if item.id in found} | reasons
        read_now = {name for name, source in found.items() if name in sources and source.outcome is FetchOutcome.READ}
        had += sum(pick.id in read_now for pick in picks)
        if had >= quota:
            break
    return SelectedSources(sources, reasons, selection.rest if had < quota else "", selection.queries)


def read(case: Case, progress: Progress, context: StageContext) -> StageResult:
    """Read the sources: those that a person opened, the links they brought, and the hits of highest utility.

    A page that was read is not fetched again for the same case, under any link; one that failed is tried again, and the
    next best hit is read instead. The cutoff also holds for what was read before it was set.
    """
    options = context.options
    kept = context.cases.kept_texts(Act.WORK, case.id, _text_hashes(case.sources))
    read_before = (it for it in case.sources if it.outcome is FetchOutcome.READ and it.text_sha256 in kept)
    known = {source_key(source): options.timely(source, case.until) for source in read_before}
    persons = [with_cutoff_notice(item, case).source for item in case.evidence if _is_reviewed_or_pasted(item)]
    sources = {source_key(source): source for source in persons}

    def have(items: Sequence[SourceRequest]) -> Mapping[str, Source]:
        wanted = one_per_page(items)
        missing = [item for place, item in wanted.items() if place not in sources and place not in known]
        fresh = read_side_by_side(missing, case, progress, context)
        had: dict[str, Source] = {}
        for place, item in wanted.items():
            source = sources.get(place) or known.get(place) or fresh.get(item.id)
            if source is not None:
                had[item.id] = sources[place] = source
        return had

    def choose(candidates: Sequence[Hit], count: int) -> Selection:
        chosen = Event()

        def pick() -> Selection:
            try:
                engine, brief, by_utility = context.engine, context.brief_to_search_on(case), options.by_utility
                return select_by_utility(engine, brief, candidates, count, spare=SPARE_CHOICES, by_utility=by_utility)
            finally:
                chosen.set()

        if not context.engine.uses_language_model:
            return pick()
        return run_both(pick, partial(_read_ahead, case, candidates, context, chosen))[0]

    candidates = drop_unusable_hits(case.hits) if case.mode is Mode.AUTOMATION else []
    own = post_requests(case) if options.post_links else []
    links = [*own, *map(link_request, case.urls)]
    quota = context.settings.evidence.sources_to_read(model_chooses=context.engine.uses_language_model)
    best = read_selected(candidates, quota, choose, have, links)
    # A short link of a post often leads back to X, to its own pictures.
    names = {item.id for item in own}
    found = tuple(
        source
        for source in distinct(sources.values())
        if source.id not in names or not is_on_x(source.page_url or source.url or "")
    )
    changes: dict[str, object] = {"sources": found, "reasons": dict(best.reasons)}
    if best.queries and not any(source.outcome is FetchOutcome.READ for source in found):
        changes |= settling_search(case, best.queries, context)
    return changes, StageOutcome(summary=summary_of(found, best.rest))


def requests_for_links(case: Case) -> list[SourceRequest]:
    """Return the links of the post and those that a person brought."""
    return [*post_requests(case), *map(link_request, case.urls)]


def settling_search(case: Case, further: Sequence[Query], context: StageContext, missing: str = "") -> Changes:
    """Return one more search of the case's places, for what is `missing`; none where all of it was searched for."""
    brief = context.brief_to_search_on(case)
    made = set(map(normalised, brief.searched))
    new = tuple(query for query in further if normalised(query.text) not in made)[:SECOND_QUERIES]
    asked = FollowUpSearch(
        id=f"settle-{len(case.follow_ups) + 1}",
        kind=FollowUpKind.SETTLE,
        asked_at=context.clock(),
        by=PROGRAM.name,
        about=missing or (brief.claim.settled_by if brief.claim is not None else ""),
        libraries=case.libraries,
        services=case.services,
        queries=new,
    )
    return {"follow_ups": (asked,)} if new else {}


def _read_ahead(case: Case, candidates: Sequence[Hit], context: StageContext, chosen: Event) -> None:
    """Read the library records that a model chooses from: their vectors and words to programs are then known."""
    for hit in pick_hits_to_rank(context.brief(case), candidates):
        request = hit_request(hit, "")
        if chosen.is_set():
            return
        if request is None or request.url is not None:
            continue
        source, text = _read_library_record(request, context)
        if text is not None:
            one = [ReadSource(source, text, "", hit.snippet)]
            asked = case.post.as_read
            searches = [query.text for query in case.queries if not query.by_name]
            for item in build_evidence(asked, one, context.embedder, claims=case.claims, searches=searches):
                without_injections(item.passage.text)


def summary_of(sources: Sequence[Source], rest: str = "") -> str:
    """Return how many were read and failed, and why the `rest` was not chosen: "5 read, 1 could not be read"."""
    was_read = sum(source.outcome is FetchOutcome.READ for source in sources)
    failed = len(sources) - was_read
    summary = f"{was_read} read" + (f", {failed} could not be read" if failed else "")
    if not rest:
        return summary
    return f"{summary}. {'Nothing else that' if sources else 'None of what'} was found was chosen: {rest}"


def read_side_by_side(
    wanted: Sequence[SourceRequest],
    case: Case,
    progress: Progress,
    context: StageContext,
) -> dict[str, Source]:
    """Read all at once, counting as they end; return the sources by id. A cancelled job stops all within a moment.

    Of links that lead to the same page, only the first is kept.
    """
    stopped = Event()

    def check() -> None:
        if stopped.is_set():
            raise JobCancelled("The work was stopped.")
        progress.check()

    found: dict[str, Source] = {}
    progress.count(0, len(wanted))
    with ThreadPoolExecutor(_MAX_PARALLEL_READS, thread_name_prefix="crowdnotes-read") as pool:
        reading = {pool.submit(_read_source, item, case, context, check): item for item in wanted}
        try:
            for done in as_completed(reading):
                item = reading[done]
                found[item.id] = done.result()
                progress.count(len(found), len(wanted), item.title)
        except BaseException:
            stopped.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return {source.id: source for source in distinct(found[item.id] for item in wanted)}


def _read_source(item: SourceRequest, case: Case, context: StageContext, check: Callable[[], None]) -> Source:
    """Read a source under the case's cutoff; its text is stored.

    Raises what `check` raises, and StoreError where the text cannot be stored; a failing page only gets a label.
    """
    check()
    if item.url is not None:
        source, text = context.reader.read(item.url, item.id, check, item.hit, case.until, case.read_through)
    else:
        source, text = _read_library_record(item, context)
    source = context.options.timely(source, case.until)
    if text is not None and source.outcome is FetchOutcome.READ:
        context.cases.put_text(Act.WORK, case.id, text)
    return source


def _read_library_record(item: SourceRequest, context: StageContext) -> tuple[Source, str | None]:
    """Read a record of a library; a missing one is a source that could not be read, and the others go on."""
    if item.hit is None or item.hit.library is None or item.hit.record is None:
        raise ValueError(f"{item.id} names neither a link nor a record")
    try:
        document = context.libraries.document(item.hit.library, item.hit.record)
    except LibraryError as error:
        return Source(id=item.id, title=item.title, outcome=FetchOutcome.UNREADABLE, outcome_detail=error.message), None
    return build_record_source(item.id, document, context.settings.evidence.categories), document.text


def passages(case: Case, progress: Progress, context: StageContext) -> StageResult:
    """Find the best passage of each source that was read."""
    whys = {item.source.id: item.why for item in case.evidence} | case.reasons
    evidence = best_of(case, case.sources, whys, progress, context)
    summary = plural(len(evidence), "1 source to read", "{n} sources to read")
    return {"evidence": evidence}, StageOutcome(summary=summary)


def best_of(
    case: Case, sources: Sequence[Source], whys: Mapping[str, str], progress: Progress, context: StageContext
) -> tuple[Evidence, ...]:
    """Return the best passage of each of these that was read, with why it is there by source; see `build_evidence`."""
    snippets, texts = _collect_snippets(case), context.cases.texts(Act.WORK, case.id, _text_hashes(sources))
    readable = [
        ReadSource(
            source,
            texts[source.text_sha256],
            whys.get(source.id, "You added this link."),
            snippets.get(source.id, ""),
        )
        for source in sources
        if source.outcome is FetchOutcome.READ and source.text_sha256
    ]
    return build_evidence(
        _fill_post_from_notes(case),
        readable,
        context.embedder,
        claims=case.claims,
        searches=[query.text for query in case.queries if not query.by_name],
        earlier=case.evidence,
        first_number=case.next_evidence_number,
        progress=progress.count,
    )


def _text_hashes(sources: Sequence[Source]) -> list[str]:
    """Return the sha256 of the text of each source that was read."""
    return [it.text_sha256 for it in sources if it.outcome is FetchOutcome.READ and it.text_sha256]


def _fill_post_from_notes(case: Case) -> Post:
    """Return the post; if only its address is known, with what notes say of it."""
    if case.post.has_words or case.supernote is None:
        return case.post.as_read
    return case.post.replace(text=" ".join(without_urls(note.text) for note in case.supernote.used))


def _collect_snippets(case: Case) -> dict[str, str]:
    """Return by source the words of the search result, or of notes that link to it: none is copied into a note."""
    found: dict[str, str] = {}
    for note in case.supernote.used if case.supernote else ():
        for url in links_of(note):
            name = _link_id(url)
            found[name] = f"{found.get(name, '')} {without_urls(note.text)}".strip()
    hits = [*case.hits, *(hit for asked in case.follow_ups for hit in asked.hits)]
    requests = ((hit, hit_request(hit, "")) for hit in reversed(hits))
    for hit, request in requests:
        if request is not None:
            found[request.id] = hit.snippet or (without_urls(hit.notes[0].text) if hit.notes else "")
    return found


def merged(newest: Case, worked_on: Case, changes: Changes) -> dict[str, object]:
    """Return a stage's result with what a person did meanwhile: reviews, passages, words."""
    result = dict(changes)
    persons = [with_cutoff_notice(item, newest) for item in newest.evidence if _is_reviewed_or_pasted(item)]
    if "evidence" in result:
        result["evidence"] = _merge_evidence(newest, persons, cast("tuple[Evidence, ...]", result["evidence"]))
    if "sources" in result:
        found = {source.id: source for source in cast("tuple[Source, ...]", result["sources"])}
        result["sources"] = tuple((found | {item.source.id: item.source for item in persons}).values())
    if "follow_ups" in result:  # the new ones alone
        result["follow_ups"] = (*newest.follow_ups, *cast("tuple[FollowUpSearch, ...]", result["follow_ups"]))
    if newest.draft != worked_on.draft:
        result.pop("draft", None)
        result.pop("revisions", None)
    return result


def _merge_evidence(newest: Case, persons: Sequence[Evidence], found: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Keep what a person opened or pasted, under its id; number new passages from the next free one."""
    present = {item.source.id: item for item in newest.evidence}
    number = newest.next_evidence_number
    kept: list[Evidence] = []
    for item in found:
        now = present.get(item.source.id)
        if now is None:
            kept.append(item.replace(id=f"E{number}"))
            number += 1
        elif now.source.text_sha256 != item.source.text_sha256:  # keep the words that a person saw
            kept.append(now)
        else:
            kept.append(now.replace(source=item.source))
    there = {item.source.id for item in kept}
    kept.extend(item for item in persons if item.source.id not in there)
    return ranked(with_cutoff_notice(item, newest) if _is_reviewed_or_pasted(item) else item for item in kept)


def _is_reviewed_or_pasted(item: Evidence) -> bool:
    return bool(item.reviews) or item.source.by_hand
