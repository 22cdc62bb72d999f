"""A language model as a judge: the one of the engine at work, or another, such as HealthJudge, on its own server."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crowdnotes.domain import GateResult, Post
from crowdnotes.engines.judges.judge import JudgeParts
from crowdnotes.errors import ConfigurationError

if TYPE_CHECKING:
    from crowdnotes.engines.llm.asking import Asker


class ModelJudge:
    """See `HelpfulnessJudge`. `form` is how it answers, `votes` how often it is asked (`LlmSettings`)."""

    def __init__(self, asker: Asker, base_url: str, *, form: str, votes: int) -> None:
        from crowdnotes.engines.prompts import version_of

        self._asker = asker
        self._form = form
        self._votes = votes
        self.name = f"llm:{asker.model}"
        self.server = urlsplit(base_url).hostname or base_url
        self.prompt_version: str | None = version_of("helpfulness_final" if form == "final decision" else "words")

    def judge(self, post: Post, note: str) -> GateResult:
        """See `llm.words.judge_helpfulness`."""
        from crowdnotes.engines.llm.words import judge_helpfulness  # here, so that a local case loads no client

        return judge_helpfulness(self._asker, post, note, form=self._form, votes=self._votes)


def make_model(parts: JudgeParts) -> ModelJudge:
    """The engine's own model for judging. Raises ConfigurationError when it has none."""
    llm = parts.llm
    if llm.base_url is None:
        raise ConfigurationError(
            "The local engine has no language model that could judge helpfulness.",
            "Set CROWDNOTES_GATE_HELPFULNESS_JUDGE to trained or server, or choose a language model.",
        )
    model = _required(llm.judging_model or llm.model, "No model is set for judging.", "CROWDNOTES_LLM_MODEL")
    return ModelJudge(parts.asker(llm.base_url, model), llm.base_url, form="json", votes=llm.votes)


def make_server(parts: JudgeParts) -> ModelJudge:
    """A judge on its own server. Raises ConfigurationError when its server or its model is not set."""
    llm = parts.llm
    missing = "The judge of helpfulness is set to be one on a server, but its {} is not set."
    address = _required(llm.judge_base_url, missing.format("server"), "CROWDNOTES_LLM_JUDGE_BASE_URL")
    model = _required(llm.judge_model, missing.format("model"), "CROWDNOTES_LLM_JUDGE_MODEL")
    return ModelJudge(parts.asker(address, model), address, form=llm.judge_form, votes=llm.votes)


def make_own(parts: JudgeParts) -> ModelJudge:
    """What the model engine uses of itself: a judge that is set for it, on its server or another, else its own model.

    Raises ConfigurationError when it has none.
    """
    llm = parts.llm
    if llm.base_url is None or not (llm.judge_base_url or llm.judge_model):
        return make_model(parts)
    address = llm.judge_base_url or llm.base_url
    model = llm.judge_model or llm.judging_model or llm.model
    return ModelJudge(parts.asker(address, model), address, form=llm.judge_form, votes=llm.votes)


def _required(value: str | None, missing: str, variable: str) -> str:
    if not value:
        raise ConfigurationError(missing, f"Set {variable}.")
    return value
