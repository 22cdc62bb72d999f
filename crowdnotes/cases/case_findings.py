"""What was found for a case that somebody was given to read: no method here asks for rights or changes anything."""

from __future__ import annotations

from crowdnotes.cases import approval, follow_up_stages, intake
from crowdnotes.cases.stages import StageRunner
from crowdnotes.cases.unsettled_claims import reach_of
from crowdnotes.domain import (
    Aim,
    Case,
    ClaimKind,
    ClaimMatch,
    EarlierNote,
    Evidence,
    Hit,
    LinkCheck,
    Reach,
    Source,
    SourceCategory,
)
from crowdnotes.engines.base import MOST_OFFERED
from crowdnotes.engines.local.queries import uncheckable_words
from crowdnotes.engines.local.relevance import nothing_relevant, weak_sources
from crowdnotes.engines.local.repeated_claims import repeating_passages
from crowdnotes.engines.prompt_injection import holds_injection
from crowdnotes.errors import LibraryError
from crowdnotes.evidence.images import clean_picture, preview
from crowdnotes.evidence.selection import offer, worth_choosing
from crowdnotes.evidence.source_types import categorise, earlier_notes, fact_checker, fact_checks, hits_of, publisher_of
from crowdnotes.notes.drafting import why_no_note


class CaseFindings(StageRunner):
    """The part of `CaseService` that tells what was found for a case."""

    def nothing_relevant(self, case: Case) -> bool:
        """See `relevance.nothing_relevant`; where a model said what the passages give, that counts instead."""
        return case.settlement is None and nothing_relevant(
            case.post, case.judging_evidence, self._tools.embedder.thresholds.relevant
        )

    def weak_sources(self, case: Case) -> frozenset[str]:
        """See `relevance.weak_sources`; of what a search found, where no model said what the passages give."""
        found = [item for item in case.judging_evidence if item.source.url not in case.urls]
        known = case.settlement is not None or not case.searched
        return frozenset() if known else weak_sources(case.post, found, self._tools.embedder.thresholds.relevant)

    def repeating_passages(self, case: Case) -> frozenset[str]:
        """See `repeated_claims.repeating_passages`; where a model said what the passages give, that counts instead."""
        return frozenset() if case.settlement is not None else repeating_passages(case.post, case.judging_evidence)

    def uncheckable_words(self, case: Case) -> tuple[ClaimKind, str] | None:
        """See `queries.uncheckable_words`; None where a model said what the post claims, or a person wants a note."""
        known = case.anyway or any(claim.statement for claim in case.claims)
        return None if known else uncheckable_words(case.post)

    def shown_to_model(self, case: Case) -> dict[str, list[tuple[str, str]]]:
        """Return by step the texts that a model was shown, each with the address of a page that was not read there.

        For studies. What was offered is worked out again from what the searches of the case found. An engine without a
        language model has fewer steps, as it is offered everything.
        """
        from crowdnotes.engines.llm.search_tasks import describe_hits
        from crowdnotes.engines.llm.writing_tasks import passages_for

        brief, tools, second = self._tools.brief(case), self._tools, follow_up_stages.second_search(case)
        rounds, found = [worth_choosing(case.hits)], [*case.hits, *(second.hits if second is not None else ())]
        if second is not None:
            later = {source.id for source in second.sources}
            before = case.replace(sources=[one for one in case.sources if one.id not in later])
            rounds.append(follow_up_stages.candidates_of(before, second, tools))
        evidence = case.used_evidence or case.judging_evidence
        shown = {
            "in the hits": [self._read_hit(hit) for hit in found],
            "in the passages": [(item.passage.text, "") for item in case.judging_evidence],
        }
        if not tools.engine.uses_language_model:
            return shown
        offered = [offer(brief, hits) for hits in rounds]
        written_from = passages_for(brief, evidence) if evidence and not why_no_note(brief, evidence) else []
        return {
            "in the hits": shown["in the hits"],
            f"among the {MOST_OFFERED} offered": [self._read_hit(hit) for hits in offered for hit in hits],
            "visible in its line": [(line, "") for hits in offered for line in describe_hits(brief, hits)],
            "in the passages": shown["in the passages"],
            "before the writer": [(block.text, "") for block in written_from],
        }

    def _read_hit(self, hit: Hit) -> tuple[str, str]:
        """The words of its record; of a page those that a search showed, and its address."""
        if hit.library is not None and hit.record is not None:
            try:
                return self._tools.libraries.document(hit.library, hit.record).text, ""
            except LibraryError:
                pass
        return f"{hit.title} {hit.snippet}", hit.url or ""

    def reach(self, case: Case, *, asked: bool = False, search_failed: bool = False) -> Reach | None:
        """See `unsettled_claims.reach_of`."""
        hosts, near = self._tools.settings.allowed_private_hosts, self.nothing_relevant(case)
        return reach_of(case, hosts, nothing_relevant=near, asked=asked, search_failed=search_failed)

    def can_gather(self, case: Case) -> bool:
        """Whether there is anywhere to look for evidence."""
        return intake.missing_scope_error(intake.search_scope_of(case)) is None

    def swap_candidates(self, case: Case) -> frozenset[Aim]:
        """For which aims something was found that nobody has read yet."""
        return frozenset(aim for aim in Aim if follow_up_stages.unread_hits(case, aim))

    def failed_sources(self, case: Case) -> tuple[Source, ...]:
        """See `follow_up_stages.failed_sources`."""
        return follow_up_stages.failed_sources(case)

    def hits(self, case: Case) -> list[Hit]:
        """See `source_types.hits_of`."""
        return hits_of(case)

    def fact_checks(self, case: Case) -> list[tuple[Hit, str | None]]:
        """Checks of the claim that any search found, each with who published it; what a person calls other is last."""
        order = {ClaimMatch.SAME: 0, ClaimMatch.OTHER: 2}
        checks = fact_checks(hits_of(case), case.post.whole_text)
        checks.sort(key=lambda hit: order.get(case.claim_matches.get(hit.url or hit.title, ClaimMatch.RELATED), 1))
        said = ((hit, hit.check.publisher if hit.check else "") for hit in checks)
        return [(hit, fact_checker(hit.url) or publisher_of(hit.url or "") or name or None) for hit, name in said]

    def earlier_notes(self, case: Case) -> list[tuple[EarlierNote, tuple[Hit, ...]]]:
        """See `source_types.earlier_notes`."""
        return earlier_notes(hits_of(case))

    def categories_found(self, case: Case) -> list[SourceCategory]:
        """The kind of each page that was found or brought; empty when nothing was searched."""
        hits, own = hits_of(case), self._tools.settings.evidence.categories
        return [*(hit.category for hit in hits), *(categorise(url, own) for url in case.urls)] if hits else []

    def holds_injection(self, item: Evidence) -> bool:
        """Whether words of a passage speak to programs; see `prompt_injection`."""
        return holds_injection(item.passage.text)

    def preview(self, content: bytes, name: str = "image") -> bytes:
        """A picture small enough for a page, cleaned first. Raises InputError for what is none."""
        return preview(clean_picture(content, name).content)

    def link_checks(self, case: Case) -> tuple[tuple[str, LinkCheck | None], ...]:
        """See `approval.link_checks`; empty without a note."""
        return approval.link_checks(case, case.draft, self._tools.clock()) if case.draft else ()
