"""Write candidate notes from evidence (CrowdNotes+ appendix D.3).

The engine returns words and evidence ids; this module adds links, checks the length, and finds what supports each
sentence. It works alike for sources that a person brought (augmentation) and that the program found (automation).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from crowdnotes.domain import (
    Assessment,
    ClaimKind,
    Draft,
    Evidence,
    GateName,
    GateResult,
    GateStatus,
    Points,
    Quotation,
    SentenceSupport,
    Source,
    Span,
)
from crowdnotes.engines import Brief, Engine, EngineStep, Written
from crowdnotes.errors import EngineError
from crowdnotes.notes.gates import ask_about_age
from crowdnotes.text.note_rules import (
    MAX_NOTE_LINKS,
    NOTE_LIMIT,
    UrlSpan,
    characters_for_words,
    find_urls,
    note_length,
    without_urls,
)
from crowdnotes.text.publishers import publisher_label
from crowdnotes.text.urls import canonical_url, linkable
from crowdnotes.wording import plural

_CANDIDATE_COUNT = 3


@dataclass(frozen=True, slots=True)
class Drafted:
    """Candidates in the engine's order; or none, the reason, and sentences that a person may quote.

    `lost`: why other candidates are missing.
    """

    candidates: tuple[Draft, ...]
    abstained: str = ""
    lost: tuple[str, ...] = ()
    quotations: tuple[Quotation, ...] = ()

    @property
    def summary(self) -> str:
        """In one line: "2 drafts; 1 more failed (The AI declined to answer.)"."""
        if not self.candidates:
            return f"No note: {self.abstained}"
        made = plural(len(self.candidates), "{n} draft", "{n} drafts")
        why = " ".join(dict.fromkeys(self.lost))
        return f"{made}; {len(self.lost)} more failed ({why})" if self.lost else made


def write_candidates(
    engine: Engine,
    brief: Brief,
    evidence: Sequence[Evidence],
    clock: Callable[[], datetime],
    earlier: Sequence[str] = (),
) -> Drafted:
    """Write a few full notes, links included, each at most 280 characters by X's rule, other than the `earlier` ones.

    Raises EngineError when the engine breaks its contract: an unknown evidence id, a URL of its own making, or words
    over the budget.
    """
    begun = time.perf_counter()
    if not evidence:
        wanted = f" Where to look: {brief.claim.settled_by}" if brief.claim and brief.claim.settled_by else ""
        return Drafted((), f"No source to write from.{wanted}")
    answer = engine.write(
        brief, evidence, budget_for(evidence), _CANDIDATE_COUNT, earlier=[without_urls(text) for text in earlier]
    )
    candidates: list[Draft] = []
    for written in answer.candidates:
        draft = _build_draft(engine, written, evidence, clock, begun)
        if draft.sha256 not in {other.sha256 for other in candidates}:
            candidates.append(draft)
    return Drafted(tuple(candidates), answer.abstained, answer.lost, answer.quotations)


def why_no_note(brief: Brief, evidence: Sequence[Evidence]) -> str:
    """Return why no note is proposed from these passages before a person has read them; "" where one is.

    One passage from which a model only infers an answer is not enough; several against the same claim are. For a claim
    that something is so since some day, only sources of that day or later count as agreeing.
    """
    if not_needed := _why_not_needed(brief):
        return not_needed
    settlement = brief.settlement
    if settlement is None:
        return ""
    denied = any(found.points is not Points.FOR for _, found in settlement.stated(evidence))
    if denied or settlement.has_several_inferred(evidence):
        return ""
    agreeing = settlement.stated(evidence, claim=1)
    if not agreeing:
        missing = f" Where to look: {settlement.missing}" if settlement.missing else ""
        return f"Not enough evidence: no source settles the claim.{missing}"
    recent = next(((item, found) for item, found in agreeing if _is_recent(item.source, brief)), None)
    if recent is None:
        names = ", ".join(dict.fromkeys(item.id for item, _ in agreeing))
        return f"Not enough evidence: {names} agrees with the post, but is undated or too old."
    item, found = recent
    age = ask_about_age(item.source, brief.post.posted_at.date() if brief.post.posted_at else brief.today)
    return f"Not needed: the sources agree with the post. {found.tells} {age}".rstrip()


def _why_not_needed(brief: Brief) -> str:
    """Return why the post alone needs no note; "" where it may need one."""
    if brief.unwanted is not None and brief.unwanted.why_not is not None:
        return f"Not needed: it looks like {brief.unwanted.why_not.as_text}. {brief.unwanted.reason}".rstrip()
    others = [claim for claim in brief.claims if claim.kind is not ClaimKind.CHECKABLE]
    if others and brief.claim is None:
        return f"Not needed: the post is {others[0].kind.as_text}, with no claim to check."
    return ""


def _is_recent(source: Source, brief: Brief) -> bool:
    """Return whether a source is new enough for a claim that something is so since some day; true for other claims."""
    since = brief.claim.since if brief.claim is not None else None
    first = source.stated_day or source.not_before
    return since is None or (first is not None and first >= since)


def budget_for(evidence: Sequence[Evidence]) -> int:
    """Return the characters for the words of a note that may link to all of these passages."""
    return characters_for_words(len({item.source.url for item in evidence if item.source.url}))


@dataclass(frozen=True, slots=True)
class Revised:
    """The candidates with the judge's objections, best first, after the revised best one; and a summary in a line."""

    candidates: tuple[Draft, ...]
    summary: str


def revise_candidates(
    engine: Engine,
    brief: Brief,
    evidence: Sequence[Evidence],
    candidates: Sequence[Draft],
    clock: Callable[[], datetime],
) -> Revised | None:
    """Order the candidates by one judge, and improve the best one. None from an engine that cannot.

    Raises EngineError.
    """
    begun = time.perf_counter()
    revision = engine.revise(brief, evidence, candidates, budget_for(evidence))
    if revision is None:
        return None
    ordered = [
        candidates[place].replace(objections=(*candidates[place].objections, *revision.objections[place]))
        for place in revision.order
    ]
    if revision.final is None:
        return Revised(tuple(ordered), f"The best one was left as it is. {revision.changes}".rstrip())
    final = _build_draft(
        engine, revision.final, evidence, clock, begun, changes=revision.changes or "Said in other words."
    )
    same = next((draft for draft in ordered if draft.sha256 == final.sha256), None)
    if same is not None:
        return Revised((same, *(draft for draft in ordered if draft is not same)), "The best one was left as it is")
    stated = [draft for draft in ordered if not draft.is_inferred(brief.settlement, evidence)]
    if stated and final.is_inferred(brief.settlement, evidence):  # a note whose passage says it outright comes first
        rest = [draft for draft in ordered if draft not in stated]
        return Revised((*stated, final, *rest), "The sources only suggest the improved one, so another leads")
    return Revised((final, *ordered), revision.changes)


def repaired_draft(
    engine: Engine,
    brief: Brief,
    evidence: Sequence[Evidence],
    draft: Draft,
    assessment: Assessment,
    clock: Callable[[], datetime],
) -> tuple[Draft, Draft] | str:
    """Revise a note that a gate failed or is uncertain of; return the revised note, and the old one with its faults.

    Else return why there is none: "" where no gate found anything that other words could fix. Raises EngineError.
    """
    found = {result.gate: result for result in assessment.found}
    failed = [result for result in found.values() if result.status is GateStatus.FAIL or result.uncertain]
    if not failed or found[GateName.RELEVANCE].status is not GateStatus.PASS:
        return ""
    if why := _why_no_words_mend(brief, evidence, draft, failed):
        return why
    wrong = [words for result in failed for words in _list_faults(draft.text, result)]
    before = draft.replace(objections=tuple(dict.fromkeys(wrong)))
    begun = time.perf_counter()
    revision = engine.revise(brief, evidence, [before], budget_for(evidence))
    if revision is None:
        return ""
    if revision.final is None:
        return f"the AI found nothing in the sources that mends it. {revision.changes}".rstrip(". ")
    changes = revision.changes or "Said in other words."
    after = _build_draft(engine, revision.final, evidence, clock, begun, changes=changes)
    return (after, before) if after.sha256 != draft.sha256 else "the AI left it as it is"


def _why_no_words_mend(brief: Brief, evidence: Sequence[Evidence], draft: Draft, failed: Sequence[GateResult]) -> str:
    """Return why other words cannot repair a note that failed these gates; "" where they may.

    A note that is only inferred needs a passage that states an answer. Where the judge of helpfulness points at nothing
    in it, the note says too little, and needs an answer of a passage that it leaves out.
    """
    settlement = brief.settlement
    if settlement is None:
        return ""
    if draft.is_inferred(settlement, evidence) and not settlement.stated(evidence):
        return "no source settles the claim"
    is_wrong = any(result.gate is not GateName.HELPFULNESS or result.findings for result in failed)
    says_all = all(
        _rests_on(draft, item.id, answer.span)
        for item, _ in settlement.answers(evidence)
        for answer in settlement.all_of(item)
    )
    return "no source gives more than it says" if says_all and not is_wrong else ""


def _rests_on(draft: Draft, evidence_id: str, words: Span | None) -> bool:
    """Return whether these words of a passage support a sentence of the note."""
    carriers = [sentence.carrier for sentence in draft.sentences if sentence.evidence_id == evidence_id]
    return any(words is None or carrier is None or carrier.overlaps(words) for carrier in carriers)


def _list_faults(text: str, result: GateResult) -> list[str]:
    """Return what a gate found wrong, each with the words it is about; its reason where it points at none."""
    found = [finding for finding in result.findings if not finding.ok]
    pointed = [
        f"“{text[item.span.start : item.span.end]}”: {item.message}" if item.span else item.message for item in found
    ]
    return pointed or [result.reason]


def _build_draft(
    engine: Engine,
    written: Written,
    evidence: Sequence[Evidence],
    clock: Callable[[], datetime],
    begun: float,
    *,
    changes: str = "",
) -> Draft:
    by_id = {item.id: item for item in evidence}
    text = _append_links(written, by_id)
    if note_length(text) > NOTE_LIMIT:
        raise EngineError("The AI wrote too much for a note.")
    cited = [by_id[evidence_id] for evidence_id in written.evidence_ids]
    result_origin = engine.result_origin(EngineStep.WRITING)
    return Draft(
        text=text,
        evidence_ids=tuple(dict.fromkeys(written.evidence_ids)),
        sentences=_apply_written_carriers(text, written, engine.support(text, cited)),
        engine=result_origin.engine,
        prompt_version=result_origin.prompt_version,
        written_at=clock(),
        seconds=time.perf_counter() - begun,
        objections=(written.cut,) if written.cut else (),
        changes=changes,
    )


def _apply_written_carriers(
    text: str, written: Written, support: Sequence[SentenceSupport]
) -> tuple[SentenceSupport, ...]:
    """Prefer what the writer says supports each sentence, where its words were found; comparison adds the hints."""
    found: list[SentenceSupport] = []
    for item in support:
        words = item.words_in(text)
        as_written = next((said for said in written.sentences if words in said.text or said.text in words), None)
        if as_written is None:
            found.append(item)
            continue
        carrier = as_written.carriers[0]
        update: dict[str, object] = {"carrier": carrier.span, "basis": as_written.basis}
        if item.evidence_id != carrier.evidence_id:  # the hints are about another passage
            update |= {"evidence_id": carrier.evidence_id, "doubts": (), "doubted": ()}
        found.append(item.replace(**update))
    return tuple(found)


def with_quotation(note: str, item: Evidence, quotation: Quotation) -> str:
    """Return a note with a sentence of a passage quoted: publisher, exact words, link.

    Where the note has the link, the words go before it, so that each page is named and linked once.
    """
    words = " ".join(item.passage.text[quotation.span.start : quotation.span.end].split())
    if not _QUOTATION_MARK.search(words):  # marks within marks would end the quotation early
        words = f"“{words}”"
    name, url = publisher_label(item.source), item.source.url
    linked = (link for link in find_urls(note) if url and _is_same_page(link, url))
    link = next(linked, None)
    before = note if link is None else note[: link.start]
    if name and (link is None or f"{name}: " not in before):
        words = f"{name}: {words}"
    after = note[link.start :] if link is not None else linkable(url) if url else ""
    return " ".join(filter(None, (before.rstrip(), words, after)))


def _is_same_page(link: UrlSpan, url: str) -> bool:
    address = link.url if link.has_scheme else f"https://{link.url}"
    return canonical_url(address) == canonical_url(url)


_QUOTATION_MARK = re.compile(r"[\"“”„«»]")


def _append_links(written: Written, by_id: dict[str, Evidence]) -> str:
    unknown = [evidence_id for evidence_id in written.evidence_ids if evidence_id not in by_id]
    if unknown:
        raise EngineError(f"The AI cited {unknown[0]}, which is no source of this note.")
    quoted = " ".join(by_id[evidence_id].passage.text for evidence_id in written.evidence_ids)
    if any(url.has_scheme or url.url not in quoted for url in find_urls(written.text)):
        raise EngineError("The AI made up a link.")
    urls = [by_id[evidence_id].source.url for evidence_id in written.evidence_ids]
    links = list(dict.fromkeys(linkable(url) for url in urls if url))[:MAX_NOTE_LINKS]
    return " ".join([" ".join(written.text.split()), *links])
