"""The program's part of a second look, as steps for a job: search, choose, read, find the passages.

Each finished stage is saved with the look itself, so that a look that was stopped goes on where it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from crowdnotes.cases import reading, searching
from crowdnotes.cases.choosing import Best, read_best
from crowdnotes.cases.intake import Places, places_of
from crowdnotes.cases.second_look import as_hits, joined, open_look, pool, said, unread
from crowdnotes.cases.store import Store
from crowdnotes.cases.tools import Tools
from crowdnotes.cases.wanted import Wanted, wanted_link
from crowdnotes.cases.workflow import PROGRAM, require_open, require_still_open, with_event
from crowdnotes.domain import Case, Evidence, FetchOutcome, Hit, Look, LookKind, Source, Stage, StageName
from crowdnotes.drafting import ReadSource, build_evidence
from crowdnotes.errors import WorkflowError
from crowdnotes.evidence.utility import Selection, select_by_utility
from crowdnotes.jobs import Progress, Step

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
            return searching.search(case.model_copy(update=places), progress, self._tools)
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
            return reading.read_side_by_side(items, case, progress, self._tools, self._store)

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
        return {"sources": found, "reasons": dict(best.reasons)}, reading.summary_of(found, best.rest)

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
