"""A second look at the evidence: what may be asked for, and how what it finds joins what is there.

More like a passage, the other side (what speaks for the post's claim), a link added, a passage swapped
for the next best of what was found. The program's part of it is in `looking`. Nothing that a person
opened is lost: each look keeps the set before it on record, and ids go on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from crowdnotes.cases import gathering
from crowdnotes.cases.gathering import Best, Tools, Wanted, read_best, wanted_link
from crowdnotes.cases.intake import Places, checked_urls, places_of
from crowdnotes.cases.store import Store
from crowdnotes.cases.workflow import (
    PROGRAM,
    leans_on,
    on_record,
    ranked,
    require_open,
    require_still_open,
    with_event,
    with_sources,
)
from crowdnotes.domain import Aim, Case, Evidence, FetchOutcome, Hit, Look, LookKind, Source, Stage, StageName
from crowdnotes.drafting import ReadSource, build_evidence
from crowdnotes.errors import InputError, WorkflowError
from crowdnotes.evidence.duplicates import without_near_duplicates
from crowdnotes.evidence.not_evidence import worth_choosing
from crowdnotes.evidence.utility import Selection, select_by_utility
from crowdnotes.jobs import Progress, Step
from crowdnotes.text.urls import canonical_url, identities


def ask(case: Case, look: Look) -> Case:
    """Put a look on record, to be worked on; one that was stopped before makes room for it.

    Raises WorkflowError or InputError when it cannot be done: no such passage, nowhere to search, a link that was
    read already, a passage that the note leans on, nothing left to swap it for.
    """
    require_open(case)
    if look.searches and not (look.libraries or look.services):
        raise InputError("There is nowhere to look yet.", "Tick a library or an online service to search.")
    if look.kind is LookKind.MORE_LIKE:
        _passage(case, look.about)
    elif look.kind is LookKind.OTHER_SIDE:
        look = look.model_copy(update={"aim": Aim.OTHER_SIDE})
    elif look.kind is LookKind.LINK:
        look = look.model_copy(update={"about": _new_link(case, look.about)})
    else:
        out = _passage(case, look.about)
        _may_be_swapped(case, out)
        look = look.model_copy(update={"aim": out.aim})
    ended = tuple(other for other in case.looks if other.finished_at is not None)
    return with_event(case, look.asked_at, look.by, "second look", said(look), looks=(*ended, look))


def open_look(case: Case) -> Look | None:
    """The look that is under way or was stopped, if there is one."""
    return next((look for look in reversed(case.looks) if look.finished_at is None), None)


def said(look: Look) -> str:
    """A look in words: "more like E2", "the other side", "a link added: https://…", "E3 swapped"."""
    return {
        LookKind.MORE_LIKE: f"more like {look.about}",
        LookKind.OTHER_SIDE: "the other side",
        LookKind.LINK: f"a link added: {look.about}",
        LookKind.SWAP: f"{look.about} swapped",
    }[look.kind]


def pool(case: Case, aim: Aim = Aim.JUDGE) -> list[Hit]:
    """What searches with this aim found and nobody has read yet, best first."""
    found = list(case.hits) if aim is Aim.JUDGE else []
    for look in case.looks:
        found.extend(look.hits if look.aim is aim else ())
    return unread(case, found)


def unread(case: Case, hits: Sequence[Hit]) -> list[Hit]:
    """The hits that may become evidence and are no source of the case, now or earlier, each once."""
    known = _known(case)
    fresh: list[Hit] = []
    for hit in worth_choosing(hits):
        keys = _keys_of_hit(hit)
        if known.isdisjoint(keys):
            known |= keys
            fresh.append(hit)
    return fresh


def as_hits(evidence: Sequence[Evidence]) -> list[Hit]:
    """Passages as an engine sees hits, so that the next pick weighs what they cover already."""
    return [
        Hit(
            provider="evidence",
            title=item.source.title,
            snippet=item.passage.text,
            query="",
            url=item.source.url,
            published=item.source.published,
            library=item.source.library,
            record=item.source.record,
            category=item.source.category,
        )
        for item in evidence
    ]


def joined(case: Case, look: Look, found: Sequence[Evidence], at: datetime) -> Case:
    """The case with what a look found: passages under the next free ids, the set before them on record.

    A passage is swapped out only for another, and stays when the note has come to lean on it meanwhile.
    """
    require_still_open(case)
    new = _new(case, look, found)
    first = case.next_evidence_number
    added = [item.model_copy(update={"id": f"E{first + i}", "aim": look.aim}) for i, item in enumerate(new)]
    evidence = _placed(case, look, added)
    outcome = _outcome(case, look, added, evidence)
    names = tuple(item.id for item in added)
    ended = look.model_copy(update={"outcome": outcome, "added": names, "finished_at": at})
    is_new_link = look.kind is LookKind.LINK and look.about not in case.urls
    return with_event(
        case,
        at,
        PROGRAM,
        "second look ended",
        f"{said(look)}: {outcome}",
        evidence=evidence,
        sources=with_sources(case, look.sources),
        reasons=case.reasons | look.reasons,
        urls=(*case.urls, look.about) if is_new_link else case.urls,
        earlier_evidence=on_record(case, at, said(look)) if added else case.earlier_evidence,
        looks=tuple(ended if other.id == look.id else other for other in case.looks),
    )


def _passage(case: Case, evidence_id: str) -> Evidence:
    item = case.evidence_by_id(evidence_id)
    if item is None:
        raise InputError(f"This case has no passage {evidence_id}.", "It may have been replaced by a new search.")
    return item


def _new_link(case: Case, url: str) -> str:
    links = checked_urls([url])
    if not links:
        raise InputError("There is no link.", "Paste the address of the page.")
    same = canonical_url(links[0])
    if any(item.source.url and canonical_url(item.source.url) == same for item in case.evidence):
        raise WorkflowError("read already", "This page is among the passages already.", "Open its passage and read it.")
    return links[0]


def _may_be_swapped(case: Case, item: Evidence) -> None:
    if leans_on(case, item):
        raise WorkflowError(
            "in use",
            f"The note leans on {item.id}.",
            "Take its tick away and write the note without it, then swap it out.",
        )
    if not pool(case, item.aim):
        raise WorkflowError(
            "nothing left",
            f"Nothing else of what was found is left to read in place of {item.id}.",
            "Search for more, or say why you reject the passage.",
        )


def _known(case: Case) -> set[str]:
    """By what the sources of the case are known, those on record and those that could not be read included."""
    earlier = (item.source for kept in case.earlier_evidence for item in kept.evidence)
    keys = {canonical_url(url) for url in case.urls}
    for source in (*case.sources, *earlier):
        keys |= _keys(source)
    return keys


def _keys(source: Source) -> set[str]:
    if source.id.startswith("library:"):
        return {source.id}
    return {canonical_url(source.url)} if source.url else set()


def _keys_of_hit(hit: Hit) -> frozenset[str]:
    """A record of a library is itself alone: other records may be parts of the same page."""
    if hit.library is not None and hit.record is not None:
        return frozenset({f"library:{hit.library}:{hit.record}"})
    return identities(hit)


def _new(case: Case, look: Look, found: Sequence[Evidence]) -> list[Evidence]:
    """What is not there yet, by source and by words; a link that a person brought is always taken."""
    there = {item.source.id for item in case.evidence}
    fresh = [item for item in found if item.source.id not in there]
    if look.kind is LookKind.LINK:
        return fresh
    distinct = without_near_duplicates([*case.evidence, *fresh], lambda item: item.passage.text)
    ids = {item.source.id for item in distinct}
    return [item for item in fresh if item.source.id in ids]


def _placed(case: Case, look: Look, added: Sequence[Evidence]) -> tuple[Evidence, ...]:
    out = case.evidence_by_id(look.about) if look.kind is LookKind.SWAP and added else None
    if out is None or leans_on(case, out):
        return ranked((*case.evidence, *added))
    place = case.evidence.index(out)
    return ranked((*case.evidence[:place], *added, *case.evidence[place + 1 :]))


def _outcome(case: Case, look: Look, added: Sequence[Evidence], evidence: Sequence[Evidence]) -> str:
    """What came of it, in a sentence or two."""
    failed = sum(source.outcome is not FetchOutcome.READ for source in look.sources)
    unreadable = f" {failed} could not be read." if failed else ""
    names = ", ".join(item.id for item in added)
    if not added:
        stays = f" {look.about} stays." if look.kind is LookKind.SWAP else ""
        return f"Nothing new: {_why_nothing(case, look, failed)}{stays}"
    if look.kind is not LookKind.SWAP:
        return f"New: {names}.{unreadable}"
    if any(item.id == look.about for item in evidence):
        return f"{names} was added. The note leans on {look.about} now, so it stays.{unreadable}"
    return f"{names} took the place of {look.about}.{unreadable}"


def _why_nothing(case: Case, look: Look, failed: int) -> str:
    if look.sources and failed == len(look.sources):
        return "what was chosen could not be read."
    if look.sources:
        return "what was read says the same as a passage that is here."
    if look.searches and not look.hits:
        return "the search found nothing."
    if look.searches and not unread(case, look.hits):
        idle = len(look.hits) - len(worth_choosing(look.hits))
        also = f", or lead to no evidence ({idle} home, search or log-in pages)" if idle else ""
        return f"all {len(look.hits)} that were found are here already{also}."
    if look.aim is Aim.OTHER_SIDE:
        return "nothing that was found speaks for the post's claim."
    return "nothing else that was found helps to judge the post."


Found = tuple[Mapping[str, object], str]
_TITLES = {
    StageName.QUERIES: "Think of searches",
    StageName.SEARCH: "Search",
    StageName.READ: "Choose and read",
    StageName.PASSAGES: "Find the passages that matter",
}


class Looker:
    """Makes the steps of a second look; holds no case."""

    def __init__(self, store: Store, tools: Tools, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._tools = tools
        self._clock = clock

    def steps(self, case_id: str) -> list[Step]:
        """What is left to do for the look that was asked for. Raises WorkflowError when none was."""
        case = self._store.get(case_id)
        require_open(case)
        look = _newest(case, None)
        names = list(_TITLES) if look.searches else [StageName.READ, StageName.PASSAGES]
        return [self._step(case_id, look.id, name) for name in names]

    def _step(self, case_id: str, look_id: str, name: StageName) -> Step:
        def finished() -> str | None:
            looks = self._store.get(case_id).looks
            stages = (stage for look in looks if look.id == look_id for stage in look.stages)
            return next((stage.summary for stage in stages if stage.name is name), None)

        def run(progress: Progress) -> str:
            begun = time.perf_counter()
            case = self._store.get(case_id)
            look = _newest(case, look_id)
            found: tuple[Evidence, ...] = ()
            changes: Mapping[str, object] = {}
            if name is StageName.PASSAGES:
                found = self._passages(case, look, progress)
                summary = ""
            else:
                changes, summary = self._work(name, case, look, progress)
            seconds = time.perf_counter() - begun
            progress.check()

            def recorded(newest: Case) -> Case:
                return self._recorded(newest, case, look_id, name, changes, found, summary, seconds)

            done = self._store.update(case_id, recorded)
            return summary or next(look.outcome for look in done.looks if look.id == look_id)

        return Step(name=name.value, title=_TITLES[name], run=run, finished=finished)

    def _work(self, name: StageName, case: Case, look: Look, progress: Progress) -> Found:
        if name is StageName.QUERIES:
            return self._queries(case, look)
        if name is StageName.SEARCH:
            places = {"libraries": look.libraries, "services": look.services, "queries": look.queries}
            return gathering.search(case.model_copy(update=places), progress, self._tools)
        return self._read(case, look, progress)

    def _queries(self, case: Case, look: Look) -> Found:
        engine, post = self._tools.engine, case.post.as_read
        claims = case.claims or engine.claims(post)
        liked = case.evidence_by_id(look.about) if look.kind is LookKind.MORE_LIKE else None
        like = liked.passage.text if liked is not None else ""
        found = engine.queries(post, claims, self._tools.settings.evidence.queries, aim=look.aim, like=like)
        return {"queries": tuple(found)}, f"{len(found)} searches" if found else "There is nothing to search for"

    def _read(self, case: Case, look: Look, progress: Progress) -> Found:
        def read(items: Sequence[Wanted]) -> Mapping[str, Source]:
            progress.check()
            return gathering.read_side_by_side(items, case, progress, self._tools, self._store)

        # What it is about is not among what is covered: more of it is wanted, or something in its place.
        beside = as_hits([item for item in case.evidence if item.id != look.about])

        def choose(candidates: Sequence[Hit], quota: int, had: Sequence[Hit]) -> Selection:
            covered = [*beside, *had]
            post, aim = case.post.as_read, look.aim
            return select_by_utility(self._tools.engine, post, candidates, quota, aim=aim, beside=covered)

        if look.kind is LookKind.LINK:
            link = wanted_link(look.about)
            best = Best(read([link]), {link.id: link.why})
        elif look.kind is LookKind.SWAP:
            best = read_best(pool(case, look.aim), 1, choose, read)
        else:
            quota = self._tools.settings.evidence.look_quota
            best = read_best(unread(case, look.hits), quota, choose, read)
        found = tuple(best.sources.values())
        return {"sources": found, "reasons": dict(best.reasons)}, gathering.summary_of(found, best.rest)

    def _passages(self, case: Case, look: Look, progress: Progress) -> tuple[Evidence, ...]:
        readable = [
            ReadSource(source, self._store.text(source.text_sha256), look.reasons.get(source.id, ""))
            for source in look.sources
            if source.outcome is FetchOutcome.READ and source.text_sha256
        ]
        settings = self._tools.settings.evidence
        return build_evidence(case.post.as_read, readable, self._tools.embedder, settings, progress=progress.count)

    def _recorded(
        self,
        newest: Case,
        worked_on: Case,
        look_id: str,
        name: StageName,
        changes: Mapping[str, object],
        found: tuple[Evidence, ...],
        summary: str,
        seconds: float,
    ) -> Case:
        """The newest case with the stage's result; what a person did meanwhile stays."""
        require_still_open(newest)
        if _where(newest) != _where(worked_on):
            raise WorkflowError(
                "sources changed", "Other sources were chosen while this was at work.", "Ask for the look again."
            )
        look = _newest(newest, look_id)
        at = self._clock()
        if name is StageName.PASSAGES:
            newest = joined(newest, look, found, at)
            look = next(other for other in newest.looks if other.id == look_id)
            summary = look.outcome
        stage = Stage(name=name, finished_at=at, seconds=seconds, summary=summary, engine=self._tools.engine.name)
        look = look.model_copy(update={**changes, "stages": (*look.stages, stage)})
        looks = tuple(look if other.id == look_id else other for other in newest.looks)
        if name is StageName.PASSAGES:
            return newest.model_copy(update={"looks": looks})
        return with_event(newest, at, PROGRAM, f"look {name.value}", f"{said(look)}: {summary}", looks=looks)


def _newest(case: Case, look_id: str | None) -> Look:
    """The look under way, if it is still this one."""
    look = open_look(case)
    if look is None or (look_id is not None and look.id != look_id):
        raise WorkflowError(
            "no look", "There is no such second look any more.", "Ask for it again: the post may have changed."
        )
    return look


def _where(case: Case) -> Places:
    """Where the case looks, without its links: a look adds its own."""
    return replace(places_of(case), urls=())
