"""Follow-up searches: what may be asked for once evidence is there, and how new passages are added.

More like a passage, the other side (what supports the post's claim), a link added, a passage swapped for the next best
that was found; and one that the program starts by itself, when no passage states what settles the claim (`settle`).
Nothing that a person opened is lost: each search puts the set before it on record, and ids continue.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import cast

from crowdnotes.cases import gathering_stages
from crowdnotes.cases.actions import (
    archive_evidence,
    is_used_by_note,
    ranked,
    require_passage,
    with_event,
    with_sources,
)
from crowdnotes.cases.gathering_stages import (
    Changes,
    SelectedSources,
    SourceRequest,
    StageContext,
    StageResult,
    link_request,
    read_selected,
    settling_search,
)
from crowdnotes.cases.intake import SearchScope, checked_urls, search_scope_of
from crowdnotes.cases.permissions import require_editable, requires
from crowdnotes.domain import (
    PROGRAM,
    Act,
    Aim,
    Case,
    Evidence,
    FetchOutcome,
    FollowUpKind,
    FollowUpSearch,
    Hit,
    Person,
    ProviderOutcome,
    ProviderState,
    Source,
    StageName,
    StageOutcome,
    StageRecord,
)
from crowdnotes.engines import Brief
from crowdnotes.engines.base import MOST_OFFERED_LATER
from crowdnotes.errors import InputError, JobError, ModelAnswerError, WorkflowError
from crowdnotes.evidence.duplicates import without_near_duplicates
from crowdnotes.evidence.selection import Selection, drop_unusable_hits, pick_hits_to_rank, select_by_utility
from crowdnotes.jobs import Progress
from crowdnotes.settings_sections import SECOND_QUERIES
from crowdnotes.text.markdown import host
from crowdnotes.text.urls import canonical_url, identities


@requires(Act.WORK)
def follow_up(
    case: Case,
    at: datetime,
    by: Person,
    kind: FollowUpKind,
    *,
    about: str = "",
    libraries: Sequence[str] = (),
    services: Sequence[str] = (),
    own_words: str = "",
) -> Case:
    """Record a follow-up search that a person asks for, which the job "follow_up" then runs; drop an unfinished one.

    Raises WorkflowError or InputError when it cannot be done: no such passage, nowhere to search, a link that was read
    already, a passage that the note rests on, nothing left to swap it for.
    """
    require_editable(case, by)
    asked = FollowUpSearch(
        id=uuid.uuid4().hex[:12],
        kind=kind,
        asked_at=at,
        by=by.name,
        about=about,
        own_words=own_words,
        libraries=tuple(dict.fromkeys(libraries)),
        services=tuple(dict.fromkeys(services)),
    )
    if asked.kind.searches and not (asked.libraries or asked.services):
        raise InputError("Where should we search?", "Choose a library or an online service.")
    if asked.kind is FollowUpKind.MORE_LIKE:
        require_passage(case, asked.about)
    elif asked.kind is FollowUpKind.OTHER_SIDE:
        asked = asked.replace(aim=Aim.OTHER_SIDE)
    elif asked.kind is FollowUpKind.AGAIN:
        slow = (one for one in case.outcomes if one.provider in asked.services)
        asked = asked.replace(queries=case.queries, about=", ".join(one.label for one in slow))
    elif asked.kind is FollowUpKind.LINK:
        asked = asked.replace(about=_require_new_link(case, asked.about))
    else:
        out = require_passage(case, asked.about)
        _require_swappable(case, out)
        asked = asked.replace(aim=out.aim)
    ended = tuple(other for other in case.follow_ups if other.finished_at is not None)
    return with_event(case, at, by, "follow-up search", asked.as_text, follow_ups=(*ended, asked))


SearchSelector = Callable[[Case], FollowUpSearch | None]
"""Finds one follow-up search in any version of the case."""


def with_id(search_id: str) -> SearchSelector:
    """Return the follow-up search of that id."""
    return lambda case: next((asked for asked in case.follow_ups if asked.id == search_id), None)


def unfinished(asked: FollowUpSearch | None) -> FollowUpSearch:
    """Return that follow-up search, if it is under way. Raises WorkflowError when it is not."""
    if asked is None or asked.finished_at is not None:
        raise WorkflowError("no search", "This search is gone.", "Search again: the post may have changed.")
    return asked


def unread_hits(case: Case, aim: Aim = Aim.JUDGE) -> list[Hit]:
    """Return what searches with this aim found and nobody has read yet, best first."""
    found = list(case.hits) if aim is Aim.JUDGE else []
    for asked in case.follow_ups:
        found.extend(asked.hits if asked.aim is aim else ())
    return unread(case, found)


def swap_candidates(case: Case) -> frozenset[Aim]:
    """Return for which aims something was found that nobody has read yet."""
    return frozenset(aim for aim in Aim if unread_hits(case, aim))


def unread(case: Case, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits that may become evidence and never were a source of the case, each once."""
    earlier = [item.source for kept in case.earlier_evidence for item in kept.evidence]
    known = {canonical_url(url) for url in case.urls}
    for source in (*case.sources, *earlier):
        known |= {source.id} if source.library is not None or not source.url else {canonical_url(source.url)}
    fresh: list[Hit] = []
    for hit in drop_unusable_hits(hits):
        keys = _keys(hit)
        if known.isdisjoint(keys):
            known |= keys
            fresh.append(hit)
    return fresh


def _keys(hit: Hit) -> frozenset[str]:
    """See `identities`; a library record counts alone, because other records may be parts of the same page."""
    is_record = hit.library is not None and hit.record is not None
    return frozenset({f"library:{hit.library}:{hit.record}"}) if is_record else identities(hit)


def failed_sources(case: Case) -> tuple[Source, ...]:
    """Return the sources that could not be read, unless a passage of their page is there: pasted, or read since."""
    there = {
        canonical_url(url)
        for item in case.evidence
        for url in (item.source.url, item.source.page_url)
        if url is not None
    }
    failed = (source for source in case.sources if source.outcome is not FetchOutcome.READ)
    return tuple(source for source in failed if not source.url or canonical_url(source.url) not in there)


def joined(case: Case, asked: FollowUpSearch, found: Sequence[Evidence], stage: StageRecord) -> Case:
    """Return the case with what a follow-up search found: passages under the next free ids, the old set on record.

    A passage is swapped out only for another, and stays if the note rests on it by now.
    """
    at = stage.finished_at
    new = _select_new_passages(case, asked, found)
    first = case.next_evidence_number
    added = [item.replace(id=f"E{first + i}", aim=asked.aim) for i, item in enumerate(new)]
    evidence = _insert_passages(case, asked, added)
    outcome = _describe_search_outcome(case, asked, added, evidence)
    stages = (*asked.stages, stage.replace(summary=outcome))
    names = tuple(item.id for item in added)
    later = {item.provider: item for item in asked.outcomes} if asked.kind is FollowUpKind.AGAIN else {}
    ended = asked.replace(outcome=outcome, added=names, finished_at=at, stages=stages)
    is_new_link = asked.kind is FollowUpKind.LINK and asked.about not in case.urls
    return with_event(
        case,
        at,
        PROGRAM,
        "follow-up search ended",
        f"{asked.as_text}: {outcome}",
        evidence=evidence,
        outcomes=tuple(_merge_late_outcome(item, later.get(item.provider)) for item in case.outcomes),
        sources=with_sources(case, asked.sources),
        reasons=case.reasons | asked.reasons,
        urls=(*case.urls, asked.about) if is_new_link else case.urls,
        earlier_evidence=archive_evidence(case, at, asked.as_text) if added else case.earlier_evidence,
        follow_ups=_replace_follow_up(case, ended),
    )


def _merge_late_outcome(first: ProviderOutcome, again: ProviderOutcome | None) -> ProviderOutcome:
    """Return how a service ended that was asked again; unchanged where it did not answer then either."""
    if again is None or again.state is not ProviderState.ANSWERED:
        return first
    sentence = f"Found when searched again. {again.sentence}".strip()
    return again.replace(sentence=sentence)


def _require_new_link(case: Case, url: str) -> str:
    links = checked_urls([url])
    if not links:
        raise InputError("The link is missing.", "Paste the address of the page.")
    same = canonical_url(links[0])
    if any(item.source.url and canonical_url(item.source.url) == same for item in case.evidence):
        raise WorkflowError("read already", "This page is already a source.", "Open and read it.")
    return links[0]


def _require_swappable(case: Case, item: Evidence) -> None:
    if is_used_by_note(case, item):
        raise WorkflowError("in use", f"The note uses {item.id}.", "Stop using it in the note first.")
    if not unread_hits(case, item.aim):
        raise WorkflowError(
            "nothing left",
            f"We found nothing else that could replace {item.id}.",
            "Search for more, or reject it with a reason.",
        )


def _select_new_passages(case: Case, asked: FollowUpSearch, found: Sequence[Evidence]) -> list[Evidence]:
    """Return what is new, by source and by words; a link that a person brought is always taken."""
    there = {item.source.id for item in case.evidence}
    fresh = [item for item in found if item.source.id not in there]
    if asked.kind is FollowUpKind.LINK:
        return fresh
    distinct = without_near_duplicates([*case.evidence, *fresh], lambda item: item.passage.text)
    ids = {item.source.id for item in distinct}
    return [item for item in fresh if item.source.id in ids]


def _insert_passages(case: Case, asked: FollowUpSearch, added: Sequence[Evidence]) -> tuple[Evidence, ...]:
    out = case.evidence_by_id(asked.about) if asked.kind is FollowUpKind.SWAP and added else None
    if out is None or is_used_by_note(case, out):
        return ranked((*case.evidence, *added))
    place = case.evidence.index(out)
    return ranked((*case.evidence[:place], *added, *case.evidence[place + 1 :]))


def _describe_search_outcome(
    case: Case, asked: FollowUpSearch, added: Sequence[Evidence], evidence: Sequence[Evidence]
) -> str:
    """Return the result in a sentence or two."""
    failed = [source for source in asked.sources if source.outcome is not FetchOutcome.READ]
    each = ", ".join(f"{host(source.url) or source.title} ({source.outcome.as_text})" for source in failed)
    unreadable = f" Not readable: {each}." if failed else ""
    names = ", ".join(item.id for item in added)
    if not added:
        stays = f" {asked.about} stays." if asked.kind is FollowUpKind.SWAP else ""
        if failed and len(failed) == len(asked.sources):
            return f"Nothing new.{unreadable}{stays}"
        return f"Nothing new: {_explain_nothing_new(case, asked)}{unreadable}{stays}"
    if asked.kind is not FollowUpKind.SWAP:
        return f"New: {names}.{unreadable}"
    if any(item.id == asked.about for item in evidence):
        return f"New: {names}. {asked.about} stays, as the note uses it.{unreadable}"
    return f"{names} replaced {asked.about}.{unreadable}"


def _explain_nothing_new(case: Case, asked: FollowUpSearch) -> str:
    if asked.sources:
        return "the new pages say the same as a source you have."
    if asked.kind.searches and not asked.hits:
        return "the search was not answered." if asked.search_not_run else "the search found nothing."
    if asked.kind.searches and not unread(case, asked.hits):
        idle = len(asked.hits) - len(drop_unusable_hits(asked.hits))
        also = f", or are no evidence ({idle} home, search or log-in pages)" if idle else ""
        return f"you have all {len(asked.hits)} already{also}."
    if asked.aim is Aim.OTHER_SIDE:
        return "no page supports the claim."
    return "no other page helps to judge the claim."


SearchWork = Callable[[Case, FollowUpSearch, Progress, StageContext], StageResult]
"""A stage of a follow-up search; see `gathering_stages.StageResult`."""


def stages_of(kind: FollowUpKind) -> list[tuple[StageName, SearchWork]]:
    """Return the stages of a follow-up search: search, choose, read, find the passages."""
    work: list[tuple[StageName, SearchWork]] = [
        (StageName.QUERIES, _run_queries_stage),
        (StageName.SEARCH, _run_search_stage),
        (StageName.READ, _run_read_stage),
        (StageName.PASSAGES, _run_passages_stage),
    ]
    # SETTLE comes with its queries, and AGAIN repeats the old ones.
    first = 1 if kind in {FollowUpKind.SETTLE, FollowUpKind.AGAIN} else 0 if kind.searches else 2
    return work[first:]


def _run_queries_stage(case: Case, asked: FollowUpSearch, _: Progress, context: StageContext) -> StageResult:
    if own := gathering_stages.own_query(asked.own_words):
        return {"queries": own}, StageOutcome(summary="1 search")
    liked = case.evidence_by_id(asked.about) if asked.kind is FollowUpKind.MORE_LIKE else None
    like = liked.passage.text if liked is not None else ""
    limit = context.settings.evidence.queries
    found = context.engine.queries(context.brief(case), limit, aim=asked.aim, like=like)
    summary = f"{len(found)} searches" if found else "There is nothing to search for"
    return {"queries": tuple(found)}, StageOutcome(summary=summary, reason="" if found else summary)


def _run_search_stage(case: Case, asked: FollowUpSearch, progress: Progress, context: StageContext) -> StageResult:
    try:
        patient = asked.kind is FollowUpKind.AGAIN
        return gathering_stages.search(
            case.replace(libraries=asked.libraries, services=asked.services, queries=asked.queries),
            progress,
            context,
            patient=patient,
        )
    except JobError as error:
        if asked.kind not in {FollowUpKind.SETTLE, FollowUpKind.AGAIN}:
            raise
        return {}, StageOutcome.not_run(error.message)  # the results of the first search remain


def _run_read_stage(case: Case, asked: FollowUpSearch, progress: Progress, context: StageContext) -> StageResult:
    def read(items: Sequence[SourceRequest]) -> Mapping[str, Source]:
        progress.check()
        return gathering_stages.read_side_by_side(items, case, progress, context)

    # What the engine need not cover again; not the passage that it is about: more like it, or a substitute, is wanted.
    already_chosen = [
        Hit(
            **item.source.model_dump(include={"title", "url", "published", "library", "record", "category"}),
            provider="evidence",
            snippet=item.passage.text,
            query="",
        )
        for item in case.evidence
        if item.id != asked.about
    ]

    def choose(candidates: Sequence[Hit], count: int) -> Selection:
        return select_by_utility(
            context.engine,
            context.brief(case),
            candidates,
            count,
            spare=gathering_stages.SPARE_CHOICES,
            aim=asked.aim,
            already_chosen=already_chosen,
            most=MOST_OFFERED_LATER,
        )

    if asked.kind is FollowUpKind.LINK:
        link = link_request(asked.about)
        best = SelectedSources(read([link]), {link.id: link.why})
    elif asked.kind is FollowUpKind.SWAP:
        best = read_selected(unread_hits(case, asked.aim), 1, choose, read)
    else:
        best = read_selected(
            candidates_of(case, asked, context), context.settings.evidence.follow_up_quota, choose, read
        )
    found = tuple(best.sources.values())
    summary = gathering_stages.summary_of(found, best.rest)
    return {"sources": found, "reasons": dict(best.reasons)}, StageOutcome(summary=summary)


def candidates_of(case: Case, asked: FollowUpSearch, context: StageContext) -> list[Hit]:
    """Return the readable results of a follow-up search, without those that a model refused for the same purpose."""
    found = unread(case, asked.hits)
    if asked.aim is not Aim.JUDGE or not context.engine.uses_language_model:
        return found
    return _leave_out_refused(case, found, context)


def _leave_out_refused(case: Case, found: Sequence[Hit], context: StageContext) -> list[Hit]:
    """Return the hits without those that the model was offered for the same claim in the first search, and refused.

    Where it chose as many as are read, it refused none.
    """
    offered = pick_hits_to_rank(context.brief(case), drop_unusable_hits(case.hits))
    if len(offered) - len(unread(case, offered)) >= context.settings.evidence.sources_to_read(model_chooses=True):
        return list(found)
    refused = {key for hit in offered for key in _keys(hit)}
    return [hit for hit in found if refused.isdisjoint(_keys(hit))]


def _run_passages_stage(case: Case, asked: FollowUpSearch, progress: Progress, context: StageContext) -> StageResult:
    case = case.replace(queries=asked.queries or case.queries)
    evidence = gathering_stages.best_of(case, asked.sources, asked.reasons, progress, context)
    return {"evidence": evidence}, StageOutcome(summary="")  # `joined` says which of them are new


def settle(case: Case, _: Progress, context: StageContext, *, may_search: bool = False) -> StageResult:
    """Ask whether the passages settle the claim; if none states it, put one more search on record, once per gathering.

    `may_search`: that search is done next. Else none is put on record, because nothing would do it.
    """
    evidence = case.judging_evidence
    brief = context.brief(case)
    somewhere = bool(case.searched and (case.libraries or case.services))
    may_search = may_search and somewhere and second_search(case) is None
    if (case.claims and brief.claim is None) or not (evidence or somewhere):
        return {}, StageOutcome.not_needed("There is nothing to settle")
    if not evidence:
        # A model that found nothing worth reading has named the next searches, or knows none.
        brought = {item.id for item in gathering_stages.requests_for_links(case)}
        has_refused = bool(drop_unusable_hits(case.hits)) and all(source.id in brought for source in case.sources)
        may_search = may_search and bool(case.queries) and not has_refused
        return _search_on(case, context) if may_search else ({}, _describe_no_passage(brief))
    try:
        asked = context.brief_to_search_on(case) if may_search else brief
        found = context.engine.settle(asked, evidence, SECOND_QUERIES if may_search else 0)
    except ModelAnswerError as error:  # the person can still read and judge
        return {}, StageOutcome.not_run(error.message)
    if found is None:
        return {}, StageOutcome.not_run("only an AI can check this.")
    changes: dict[str, object] = {"settlement": found.settlement}
    if stated := {item.id for item, _ in found.settlement.stated(evidence, claim=1)}:
        return changes, StageOutcome(summary=f"{len(stated)} of {len(evidence)} sources settle the claim")
    if may_search and found.queries:
        changes |= settling_search(case, found.queries, context, found.settlement.missing)
    helping = len(found.settlement.answers(evidence))
    helps = f"{helping} help to judge it" if helping else "none settles it"
    if other := {item.id for item, _ in found.settlement.stated(evidence)}:
        helps = f"{len(other)} of {len(evidence)} settle another claim of the post"
    missing = f" Where to look: {found.settlement.missing}" if found.settlement.missing else ""
    return changes, StageOutcome(summary=f"No source settles the claim; {helps}.{missing}")


def _search_on(case: Case, context: StageContext) -> StageResult:
    """Choose other searches where the first found nothing, or nothing readable."""
    brief = context.brief_to_search_on(case)
    try:
        further = context.engine.queries(brief, SECOND_QUERIES)
    except ModelAnswerError as error:
        return {}, StageOutcome.not_run(error.message)
    return settling_search(case, further, context), _describe_no_passage(brief)


def _describe_no_passage(brief: Brief) -> StageOutcome:
    wanted = brief.claim.settled_by if brief.claim is not None else ""
    return StageOutcome.not_needed(f"There is no source to judge.{f' Where to look: {wanted}' if wanted else ''}")


def is_settled(case: Case) -> StageOutcome | None:
    """Return why the passages need not be asked about: each was."""
    known = case.settlement is not None and all(case.settlement.of(item) for item in case.judging_evidence)
    return StageOutcome(summary="Asked before") if case.judging_evidence and known else None


def second_search(case: Case) -> FollowUpSearch | None:
    """Return the search for what would settle the claim that belongs to the current gathering, if there is one."""
    since = next((stage.finished_at for stage in case.stages if stage.name is StageName.SEARCH), case.created_at)
    asked = (other for other in reversed(case.follow_ups) if other.kind is FollowUpKind.SETTLE)
    return next((other for other in asked if other.asked_at >= since), None)


_EVENT_KIND_BY_STAGE = {
    StageName.QUERIES: "follow-up search queries",
    StageName.SEARCH: "follow-up search search",
    StageName.READ: "follow-up search read",
}


def keep(newest: Case, worked_on: Case, which: SearchSelector, changes: Changes, stage: StageRecord) -> Case:
    """Return the newest case with a stage's result, stored with the search, so that a stopped one resumes there.

    The evidence of the last stage joins the case's, and the search has ended. Raises WorkflowError when what it worked
    for is gone.
    """
    if _get_scope_without_links(newest) != _get_scope_without_links(worked_on):
        raise WorkflowError("sources changed", "You chose other sources meanwhile.", "Ask for the search again.")
    asked = unfinished(which(newest))
    if stage.name is StageName.PASSAGES:
        return joined(newest, asked, cast("tuple[Evidence, ...]", changes["evidence"]), stage)
    asked = asked.replace(**changes, stages=(*asked.stages, stage))
    detail = f"{asked.as_text}: {stage.summary}"
    return with_event(
        newest,
        stage.finished_at,
        PROGRAM,
        _EVENT_KIND_BY_STAGE[stage.name],
        detail,
        follow_ups=_replace_follow_up(newest, asked),
    )


def _get_scope_without_links(case: Case) -> SearchScope:
    """Return where the case searches, without its links: a follow-up search adds its own."""
    return replace(search_scope_of(case), urls=())


def _replace_follow_up(case: Case, changed: FollowUpSearch) -> tuple[FollowUpSearch, ...]:
    return tuple(changed if other.id == changed.id else other for other in case.follow_ups)
