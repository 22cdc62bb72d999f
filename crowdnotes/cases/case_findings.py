"""What was found for a case: questions that pages, commands and studies ask of one that they may read."""

from __future__ import annotations

from collections.abc import Mapping

from crowdnotes.cases import follow_up_stages
from crowdnotes.cases.cases import Cases
from crowdnotes.cases.export import is_demonstration
from crowdnotes.cases.gathering_stages import StageContext
from crowdnotes.domain import (
    Case,
    ClaimKind,
    ClaimMatch,
    EarlierNote,
    Evidence,
    FetchOutcome,
    GateName,
    Hit,
    LintWarning,
    ProviderState,
    SourceCategory,
    StageName,
    effect_of_edit,
)
from crowdnotes.engines import prompt_injection
from crowdnotes.engines.base import MOST_OFFERED, MOST_OFFERED_LATER
from crowdnotes.engines.local import health_terms, queries, relevance, repeated_claims
from crowdnotes.errors import LibraryError
from crowdnotes.evidence import source_types
from crowdnotes.evidence.selection import drop_unusable_hits, pick_hits_to_rank
from crowdnotes.notes import gates
from crowdnotes.notes.drafting import why_no_note
from crowdnotes.text.tokens import content_stems, plain_post
from crowdnotes.wording import plural


def count_searches(case: Case) -> tuple[int, int]:
    """Return how many places of the newest search failed, and how many answered."""
    if not case.searched:
        return 0, 0
    answered = sum(outcome.state is ProviderState.ANSWERED for outcome in case.outcomes)
    return sum(outcome.gave_no_answer for outcome in case.outcomes), answered


def why_no_sources(case: Case) -> tuple[str, bool]:
    """Return why a case that was searched has no sources, and whether another try may find some.

    ("", False) for a case that has some, or whose search did not end.
    """
    if case.evidence or not any(stage.name is StageName.PASSAGES for stage in case.stages):
        return "", False
    failed, answered = count_searches(case)
    if failed:
        return f"{failed} of {failed + answered} searches failed", True
    if case.sources and all(source.outcome is not FetchOutcome.READ for source in case.sources):
        return plural(len(case.sources), "the page could not be read", "none of {n} pages could be read"), True
    return "nothing was found", False


def row_marks(cases: Cases, case_id: str) -> tuple[bool, str, bool]:
    """Return what the row of a case in a list shows: whether it is a demonstration, and `why_no_sources`."""
    case = cases.get(case_id, only_counted=True)
    return is_demonstration(case), *why_no_sources(case)


def nothing_relevant(case: Case, line: float) -> bool:
    """Return whether no passage comes near the post; where a model said what the passages give, that counts instead.

    `line` is the cosine from which a passage is relevant (`Thresholds.relevant`).
    """
    return case.settlement is None and relevance.nothing_relevant(case.post, case.judging_evidence, line)


def weak_sources(case: Case, line: float) -> frozenset[str]:
    """Return `relevance.weak_sources` of what a search found, where no model said what the passages give."""
    found = [item for item in case.judging_evidence if item.source.url not in case.urls]
    known = case.settlement is not None or not case.searched
    return frozenset() if known else relevance.weak_sources(case.post, found, line)


def is_far(case: Case, item: Evidence, line: float) -> bool:
    """Return `relevance.is_far`, for a page brought by anyone; what a model said of the passages counts more."""
    return case.settlement is None and relevance.is_far(case.post, item, line)


def repeating_passages(case: Case) -> frozenset[str]:
    """Return the passages that repeat the claim; where a model said what the passages give, that counts instead."""
    if case.settlement is not None:
        return frozenset()
    return repeated_claims.repeating_passages(case.post, case.judging_evidence)


def uncheckable_words(case: Case) -> tuple[ClaimKind, str] | None:
    """Return the words by which nobody could check the post, and their kind.

    None without any, where a model said what the post claims, and where a person wants a note.
    """
    known = case.anyway or any(claim.statement for claim in case.claims)
    return None if known else queries.uncheckable_words(case.post)


def shown_to_model(case: Case, context: StageContext) -> dict[str, list[tuple[str, str]]]:
    """Return by step the texts that a model was shown, each with the address of a page that was not read there.

    For studies. What was offered is worked out again from what the searches of the case found. An engine without a
    language model has fewer steps, as it is offered everything.
    """
    from crowdnotes.engines.llm.search_tasks import describe_hits
    from crowdnotes.engines.llm.writing_tasks import passages_for

    brief, second = context.brief(case), follow_up_stages.second_search(case)
    rounds, found = [drop_unusable_hits(case.hits)], [*case.hits, *(second.hits if second is not None else ())]
    if second is not None:
        later = {source.id for source in second.sources}
        before = case.replace(sources=[one for one in case.sources if one.id not in later])
        rounds.append(follow_up_stages.candidates_of(before, second, context))
    evidence = case.used_evidence or case.judging_evidence
    shown = {
        "in the hits": [_read_hit(hit, context) for hit in found],
        "in the passages": [(item.passage.text, "") for item in case.judging_evidence],
    }
    if not context.engine.uses_language_model:
        return shown
    offered = [
        pick_hits_to_rank(brief, hits, MOST_OFFERED_LATER if at else MOST_OFFERED) for at, hits in enumerate(rounds)
    ]
    written_from = passages_for(brief, evidence) if evidence and not why_no_note(brief, evidence) else []
    return {
        "in the hits": shown["in the hits"],
        f"among the {MOST_OFFERED} offered": [_read_hit(hit, context) for hits in offered for hit in hits],
        "visible in its line": [(line, "") for hits in offered for line in describe_hits(brief, hits)],
        "in the passages": shown["in the passages"],
        "before the writer": [(block.text, "") for block in written_from],
    }


def _read_hit(hit: Hit, context: StageContext) -> tuple[str, str]:
    """Return the words of its record; of a page those that a search showed, and its address."""
    if hit.library is not None and hit.record is not None:
        try:
            return context.libraries.document(hit.library, hit.record).text, ""
        except LibraryError:
            pass
    return f"{hit.title} {hit.snippet}", hit.url or ""


def fact_checks(case: Case) -> list[tuple[Hit, str | None]]:
    """Return checks of the claim that any search found, each with its publisher; what a person calls other is last."""
    order = {ClaimMatch.SAME: 0, ClaimMatch.OTHER: 2}
    checks = source_types.fact_checks(source_types.hits_of(case), case.post.whole_text)
    checks.sort(key=lambda hit: order.get(case.claim_matches.get(hit.url or hit.title, ClaimMatch.RELATED), 1))
    said = ((hit, hit.check.publisher if hit.check else "") for hit in checks)
    return [
        (hit, source_types.fact_checker(hit.url) or source_types.publisher_of(hit.url or "") or name or None)
        for hit, name in said
    ]


def earlier_notes(case: Case) -> list[tuple[EarlierNote, tuple[Hit, ...]]]:
    """Return notes on other posts that a search found, see `source_types.earlier_notes`."""
    return source_types.earlier_notes(source_types.hits_of(case))


def categories_found(case: Case, own: Mapping[str, SourceCategory]) -> list[SourceCategory]:
    """Return the kind of each page that was found or brought; empty when nothing was searched.

    `own` are the user's (EvidenceSettings.categories).
    """
    hits = source_types.hits_of(case)
    return [*(hit.category for hit in hits), *(source_types.categorise(url, own) for url in case.urls)] if hits else []


def holds_injection(item: Evidence) -> bool:
    """Return whether words of a passage speak to programs, see `prompt_injection`."""
    return prompt_injection.holds_injection(item.passage.text)


def form_warnings(case: Case) -> tuple[LintWarning, ...]:
    """Return what is wrong with the form of the note, see `gates.form_warnings`; empty without a note."""
    return gates.form_warnings(case.draft.text, case.post.as_read, case.used_evidence) if case.draft else ()


_MAX_UNNAMED_TERMS = 2


def unnamed_terms(case: Case) -> tuple[str, ...]:
    """Return medical terms of the post that are missing from a note that a person judges.

    Empty if the note has at least half of them: it does not need all.
    """
    if case.draft is None or case.assessment is None or not case.assessment.is_compared_by_person:
        return ()
    said = content_stems(case.draft.text)
    terms = {term.text: term for term in health_terms.find_terms(plain_post(case.post.whole_text)) if not term.is_broad}
    missing = [
        name
        for name, term in terms.items()
        if not any(content_stems(words) <= said for words in (name, term.medical) if words)
    ]
    return tuple(missing[:_MAX_UNNAMED_TERMS]) if 2 * len(missing) > len(terms) else ()


def gate_questions() -> dict[GateName, str]:
    """Return what each gate asks, as a person reads it."""
    return {name: gate.question for name, gate in gates.GATES.items()}


def jury_changes(case: Case) -> tuple[str, ...]:
    """Return what the last edit changed for the jury, in sentences; none where it is not known."""
    from crowdnotes.jury.verdict import changes

    effect = effect_of_edit(case)
    return changes(*effect.verdicts) if effect is not None and effect.verdicts is not None else ()
