"""The engine that needs no model server: it finds and ranks evidence, and offers sentences to quote.

It writes no note and does not judge whether one is correct; a person does. The screen says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from crowdnotes.domain import (
    BY_PERSON,
    Aim,
    Draft,
    Evidence,
    GateName,
    GateResult,
    GateStatus,
    Hit,
    Post,
    PrincipleResult,
    Query,
    SentenceSupport,
)
from crowdnotes.domain.base import LOCAL_ENGINE
from crowdnotes.engines.base import (
    Brief,
    EngineStep,
    HelpfulnessJudge,
    ImageReading,
    Ranking,
    ResultOrigin,
    SearchPlan,
    WriterAnswer,
    named_result,
)
from crowdnotes.engines.embedding import Embedder
from crowdnotes.engines.local import helpfulness as helpfulness_module
from crowdnotes.engines.local.attribution import attribute
from crowdnotes.engines.local.entailment import Calibration, NliReader, judge_by_reader, with_hints
from crowdnotes.engines.local.principles import judge_principles
from crowdnotes.engines.local.queries import build_queries, find_claims
from crowdnotes.engines.local.relevance import find_quotations, judge_relevance
from crowdnotes.engines.local.repeated_claims import repeating_passages
from crowdnotes.engines.local.source_ranking import rank
from crowdnotes.engines.prompt_injection import cleared
from crowdnotes.errors import EngineError


class LocalEngine:
    """An `Engine` without a language model. Holds no case, draws no random number, safe between threads.

    The `judge` of helpfulness is the trained head or another, even a language model. A `reader` judges correctness once
    it was measured; before that it gives hints.
    """

    name = LOCAL_ENGINE
    uses_language_model = False
    sees = False
    supernotes = None  # candidates are then whole sentences of the notes: `sentence_candidates.whole_sentences`

    def __init__(
        self,
        embedder: Embedder,
        judge: HelpfulnessJudge | None = None,
        reader: NliReader | None = None,
    ) -> None:
        self._embedder = embedder
        self._reader = reader
        self.judge: HelpfulnessJudge = judge or helpfulness_module.TrainedJudge()

    def result_origin(self, step: EngineStep) -> ResultOrigin:
        """Return the origin, see `Engine.result_origin`. It names a judge that is not part of this engine."""
        if step is not EngineStep.JUDGING or isinstance(self.judge, helpfulness_module.TrainedJudge):
            return ResultOrigin(self.name)
        return ResultOrigin(f"{self.name}+{self.judge.name}", self.judge.prompt_version)

    def plan(self, post: Post, limit: int, today: date, places: Sequence[str] = ()) -> SearchPlan:  # noqa: ARG002 - it ignores days and places
        """See `Engine.plan`."""
        claims = find_claims(post)
        return SearchPlan(tuple(claims), tuple(build_queries(post, claims, limit)))

    def read_image(self, content: bytes, media_type: str) -> ImageReading:  # noqa: ARG002
        """Raise EngineError: see `Engine.read_image`."""
        raise EngineError("Only an AI can read images.", "Type what the image says.")

    def queries(self, brief: Brief, limit: int, *, aim: Aim = Aim.JUDGE, like: str = "") -> list[Query]:
        """See `Engine.queries`."""
        return build_queries(brief.post, brief.claims or find_claims(brief.post), limit, aim=aim, like=like)

    def rank(
        self,
        brief: Brief,
        candidates: Sequence[Hit],
        chosen: Sequence[Hit],
        quota: int,
        *,
        spare: int = 0,
        aim: Aim = Aim.JUDGE,
    ) -> Ranking:
        """See `Engine.rank`."""
        return rank(self._embedder, brief.post, candidates, chosen, quota + spare, aim)

    def settle(self, brief: Brief, evidence: Sequence[Evidence], limit: int) -> None:
        """Return None, as it cannot judge this: see `Engine.settle`."""

    def write(
        self,
        brief: Brief,
        evidence: Sequence[Evidence],
        budget: int,  # noqa: ARG002 - a quotation is whole; the counter shows what is too long
        count: int,
        *,
        earlier: Sequence[str] = (),  # noqa: ARG002 - nothing is written
    ) -> WriterAnswer:
        """Return sentences to quote, and no note: see `Engine.write`."""
        passages = [cleared(item) for item in evidence]
        found = find_quotations(self._embedder, brief.post, passages, count)
        if found:
            advice = "Here are sentences you can quote. Check that they answer the post."
        elif passages and repeating_passages(brief.post, passages) == {item.id for item in passages}:
            advice = "Your sources only repeat what the post says. Look for others."
        else:
            advice = "No sentence is close to the post. Search again, or quote what you found."
        return WriterAnswer(abstained=advice, quotations=found)

    def revise(self, brief: Brief, evidence: Sequence[Evidence], notes: Sequence[Draft], budget: int) -> None:
        """Return None, as it writes no note: see `Engine.revise`."""

    def support(self, note: str, evidence: Sequence[Evidence]) -> tuple[SentenceSupport, ...]:
        """See `Engine.support`."""
        passages = [cleared(item) for item in evidence]
        found = attribute(self._embedder, note, passages)
        if self._reader is None or _get_usable_calibration(self._reader) is not None:
            return found
        return with_hints(self._reader, self._embedder, note, found, passages)

    def relevance(self, brief: Brief, evidence: Sequence[Evidence]) -> GateResult:
        """See `Engine.relevance`."""
        return judge_relevance(self._embedder, brief.post, evidence)

    def correctness(self, note: str, evidence: Sequence[Evidence], support: Sequence[SentenceSupport]) -> GateResult:
        """Judge by a measured reading model; else NOT_RUN until a person compared: see `notes.gates`."""
        measured = _get_usable_calibration(self._reader)
        if self._reader is not None and measured is not None and support and evidence:
            passages = [cleared(item) for item in evidence]
            return judge_by_reader(self._reader, measured, self._embedder, note, passages, support)
        reason = (
            "Nobody has checked the sentences against their sources yet."
            if support
            else "The note has no sentence to check."
        )
        return GateResult(gate=GateName.CORRECTNESS, status=GateStatus.NOT_RUN, reason=reason, judge=BY_PERSON)

    def helpfulness(self, post: Post, note: str) -> GateResult:
        """See `Engine.helpfulness`."""
        return named_result(self.judge, post, note)

    def principles(self, post: Post, note: str) -> tuple[PrincipleResult, ...]:
        """See `Engine.principles`."""
        return judge_principles(self._embedder, post, note)


def _get_usable_calibration(reader: NliReader | None) -> Calibration | None:
    found = reader.calibration if reader is not None else None
    return found if found is not None and found.is_reliable else None
