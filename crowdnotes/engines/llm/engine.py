"""The engine that asks language models. The program checks their answers at every step."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from crowdnotes.domain import (
    Aim,
    Draft,
    Evidence,
    GateResult,
    Hit,
    Post,
    PrincipleResult,
    Query,
    SentenceSupport,
    Usage,
)
from crowdnotes.engines.base import (
    Brief,
    EngineStep,
    FurtherSearch,
    HelpfulnessJudge,
    ImageReading,
    Ranking,
    ResultOrigin,
    Revision,
    SearchPlan,
    SupernoteWriter,
    WriterAnswer,
    named_result,
)
from crowdnotes.engines.embedding import Embedder
from crowdnotes.engines.helpfulness_judges import make_judge
from crowdnotes.engines.judge_parts import JudgeParts
from crowdnotes.engines.llm import search_tasks
from crowdnotes.engines.llm.calls import ModelClients
from crowdnotes.engines.llm.evidence_tasks import judge_correctness, judge_relevance, settle
from crowdnotes.engines.llm.helpfulness import judge_principles
from crowdnotes.engines.llm.recorded import RecordedAnswers
from crowdnotes.engines.llm.search_tasks import plan_search
from crowdnotes.engines.llm.supernote_tasks import LlmSupernotes
from crowdnotes.engines.llm.writing_tasks import (
    ComparisonAnswer,
    SourcesAnswer,
    compare,
    compare_sources,
    revise,
    write_notes,
)
from crowdnotes.engines.local.attribution import attribute
from crowdnotes.engines.prompt_injection import cleared
from crowdnotes.engines.prompts import version_of
from crowdnotes.errors import ConfigurationError, EngineError
from crowdnotes.settings_sections import GateSettings, LlmSettings

_PROMPTS_BY_STEP = {
    EngineStep.QUERIES: ("claims", "queries", "image"),
    EngineStep.UTILITY: ("ranking", "ranking_searches"),
    EngineStep.WRITING: ("writing", "revision", "revision_mending", "supernote", "supernote_judge", "suggestions"),
    EngineStep.JUDGING: ("settle", "settle_searches", "correctness", "words", "helpfulness_final", "tone"),
}


class LLMEngine:
    """An `Engine` over any server that speaks the OpenAI protocol. Holds no case; safe between threads.

    Calls count on the meter of the current case (`engines.metering.metered`), else on the engine's own meter, with the
    same budget for all of them together.
    """

    uses_language_model = True

    def __init__(
        self,
        settings: LlmSettings,
        gates: GateSettings,
        embedder: Embedder,
        data_dir: Path,
        recorded: RecordedAnswers | None = None,
    ) -> None:
        """Raise ConfigurationError if the server or a model is not set."""
        if settings.base_url is None:
            raise ConfigurationError("No AI server is set.", "Set CROWDNOTES_LLM_BASE_URL.")
        self._settings = settings
        self._embedder = embedder
        clients = ModelClients(settings, data_dir, recorded)
        self._meter = clients.meter
        self._clients = {
            step: clients.model_client(settings.base_url, _model_for_step(settings, step)) for step in EngineStep
        }
        self.supernotes: SupernoteWriter | None = LlmSupernotes(
            self._clients[EngineStep.WRITING], settings, self._clients[EngineStep.JUDGING]
        )
        self.judge: HelpfulnessJudge = make_judge(JudgeParts(settings, gates, embedder, clients.model_client))

    @property
    def name(self) -> str:
        """The model that writes, as in "llm:gpt-x"."""
        return f"llm:{self._clients[EngineStep.WRITING].model}"

    @property
    def sees(self) -> bool:
        """Whether the settings say that it sees: the protocol has no field for it."""
        return self._settings.sees_images

    @property
    def usage(self) -> Usage:
        """What was asked outside any case since this engine was made."""
        return self._meter.total

    def result_origin(self, step: EngineStep) -> ResultOrigin:
        """Return the origin, see `Engine.result_origin`. A separate judge for the last gate is named too."""
        name = f"llm:{self._clients[step].model}"
        if step is EngineStep.JUDGING and self.judge.name != name:
            name += f"+{self.judge.name.removeprefix('llm:')}"
        return ResultOrigin(name, version_of(*_PROMPTS_BY_STEP[step]))

    def plan(self, post: Post, limit: int, today: date, places: Sequence[str] = ()) -> SearchPlan:
        """See `Engine.plan`."""
        return plan_search(self._clients[EngineStep.QUERIES], post, limit, today, places)

    def read_image(self, content: bytes, media_type: str) -> ImageReading:
        """See `Engine.read_image`."""
        if not self.sees:
            raise EngineError("The AI is not set to read pictures.", "Set CROWDNOTES_LLM_SEES_IMAGES, or type them.")
        return search_tasks.read_image(self._clients[EngineStep.QUERIES], content, media_type)

    def queries(self, brief: Brief, limit: int, *, aim: Aim = Aim.JUDGE, like: str = "") -> list[Query]:
        """See `Engine.queries`."""
        return search_tasks.build_queries(self._clients[EngineStep.QUERIES], brief, limit, aim, like)

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
        """Rank in one call, see `Engine.rank`."""
        client = self._clients[EngineStep.UTILITY]
        return search_tasks.rank(client, brief, candidates, chosen, quota, spare, aim)

    def settle(self, brief: Brief, evidence: Sequence[Evidence], limit: int) -> FurtherSearch:
        """See `Engine.settle`."""
        return settle(self._clients[EngineStep.JUDGING], brief, evidence, limit, self.result_origin(EngineStep.JUDGING))

    def write(
        self, brief: Brief, evidence: Sequence[Evidence], budget: int, count: int, *, earlier: Sequence[str] = ()
    ) -> WriterAnswer:
        """See `Engine.write`."""
        model_client, temperature = self._clients[EngineStep.WRITING], self._settings.candidate_temperature
        return write_notes(model_client, brief, evidence, budget, count, temperature=temperature, earlier=earlier)

    def revise(self, brief: Brief, evidence: Sequence[Evidence], notes: Sequence[Draft], budget: int) -> Revision:
        """See `Engine.revise`."""
        return revise(self._clients[EngineStep.WRITING], brief, evidence, notes, budget)

    def compare(self, post: Post, left: str, right: str) -> ComparisonAnswer:
        """Return which of two notes it prefers, for studies: see `writing_tasks.compare`."""
        return compare(self._clients[EngineStep.JUDGING], post, left, right)

    def compare_sources(self, post: Post, left: str, right: str) -> SourcesAnswer:
        """Return which of two sets of sources is more useful, for studies: see `writing_tasks.compare_sources`."""
        return compare_sources(self._clients[EngineStep.JUDGING], post, left, right)

    def support(self, note: str, evidence: Sequence[Evidence]) -> tuple[SentenceSupport, ...]:
        """Attribute as the local engine does. Words that speak to a model support nothing."""
        return attribute(self._embedder, note, [cleared(item) for item in evidence])

    def relevance(self, brief: Brief, evidence: Sequence[Evidence]) -> GateResult:
        """See `Engine.relevance`."""
        return judge_relevance(
            self._clients[EngineStep.JUDGING], brief, evidence, self.result_origin(EngineStep.JUDGING)
        )

    def correctness(self, note: str, evidence: Sequence[Evidence], support: Sequence[SentenceSupport]) -> GateResult:
        """See `Engine.correctness`."""
        model_client, votes = self._clients[EngineStep.JUDGING], self._settings.votes
        return judge_correctness(model_client, self._embedder, note, evidence, support, votes=votes)

    def helpfulness(self, post: Post, note: str) -> GateResult:
        """See `Engine.helpfulness`."""
        return named_result(self.judge, post, note)

    def principles(self, post: Post, note: str) -> tuple[PrincipleResult, ...]:
        """See `Engine.principles`."""
        return judge_principles(self._clients[EngineStep.JUDGING], post, note)


def _model_for_step(settings: LlmSettings, step: EngineStep) -> str:
    own = {
        EngineStep.QUERIES: settings.queries_model,
        EngineStep.UTILITY: settings.utility_model,
        EngineStep.WRITING: settings.writing_model,
        EngineStep.JUDGING: settings.judging_model,
    }[step]
    model = own or settings.model
    if not model:
        raise ConfigurationError(
            f"No model is set for {step.value}.", "Set CROWDNOTES_LLM_MODEL; `crowdnotes models` lists models."
        )
    return model
