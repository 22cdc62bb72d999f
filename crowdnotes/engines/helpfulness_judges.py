"""The judges of helpfulness, by the name in the settings. A new one is a file here and a line in `JUDGES`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crowdnotes.domain import GateResult, Post
from crowdnotes.engines.base import HelpfulnessJudge
from crowdnotes.engines.judge_parts import JudgeParts
from crowdnotes.engines.local.helpfulness import TrainedJudge
from crowdnotes.errors import ConfigurationError

if TYPE_CHECKING:
    from crowdnotes.engines.llm.calls import ModelClient


def make_trained(_: JudgeParts) -> TrainedJudge:
    """Return the trained head, whichever engine does the rest."""
    return TrainedJudge()


class ModelJudge:
    """A language model: the current engine's, or another, such as HealthJudge, on its own server.

    `form` is how it answers, `votes` how often it is asked (`LlmSettings`).
    """

    def __init__(self, model_client: ModelClient, base_url: str, *, form: str, votes: int) -> None:
        from crowdnotes.engines.prompts import version_of

        self._client = model_client
        self._form = form
        self._votes = votes
        self.name = f"llm:{model_client.model}"
        self.server = urlsplit(base_url).hostname or ""  # recorded answers are asked of nobody
        self.prompt_version: str | None = version_of("helpfulness_final" if form == "final decision" else "words")

    def judge(self, post: Post, note: str) -> GateResult:
        """See `llm.helpfulness.judge_helpfulness`."""
        from crowdnotes.engines.llm import helpfulness  # here, so that a local case loads no client

        return helpfulness.judge_helpfulness(self._client, post, note, form=self._form, votes=self._votes)


def make_model(parts: JudgeParts) -> ModelJudge:
    """Return a judge with the engine's own model. Raises ConfigurationError if it has none."""
    llm = parts.llm
    if llm.base_url is None:
        raise ConfigurationError(
            "No AI is set up to judge helpfulness.",
            "Set CROWDNOTES_GATE_HELPFULNESS_JUDGE to trained or server, or choose an AI.",
        )
    model = _require_setting(llm.judging_model or llm.model, "No model is set for judging.", "CROWDNOTES_LLM_MODEL")
    return ModelJudge(parts.model_client(llm.base_url, model), llm.base_url, form="json", votes=llm.votes)


def make_server(parts: JudgeParts) -> ModelJudge:
    """Return a judge on its own server. Raises ConfigurationError if its server or model is not set."""
    llm = parts.llm
    no_server, no_model = (
        "Helpfulness should be judged on a server, but no server is set.",
        "Helpfulness should be judged on a server, but no model is set.",
    )
    address = _require_setting(llm.judge_base_url, no_server, "CROWDNOTES_LLM_JUDGE_BASE_URL")
    model = _require_setting(llm.judge_model, no_model, "CROWDNOTES_LLM_JUDGE_MODEL")
    return ModelJudge(parts.model_client(address, model), address, form=llm.judge_form, votes=llm.votes)


def make_own(parts: JudgeParts) -> ModelJudge:
    """Return the model engine's default judge: a judge set for it, on its server or another, else its own model.

    Raises ConfigurationError if it has none.
    """
    llm = parts.llm
    if llm.base_url is None or not (llm.judge_base_url or llm.judge_model):
        return make_model(parts)
    address = llm.judge_base_url or llm.base_url
    model = llm.judge_model or llm.judging_model or llm.model
    return ModelJudge(parts.model_client(address, model), address, form=llm.judge_form, votes=llm.votes)


def _require_setting(value: str | None, missing: str, variable: str) -> str:
    if not value:
        raise ConfigurationError(missing, f"Set {variable}.")
    return value


AUTO = "auto"
JUDGES: dict[str, Callable[[JudgeParts], HelpfulnessJudge]] = {
    "trained": make_trained,
    "model": make_model,
    "server": make_server,
}


def make_judge(parts: JudgeParts) -> HelpfulnessJudge:
    """Return the judge that the settings name; for "auto" a model for a model engine, the head for the local one.

    Asks no server. Raises ConfigurationError for an unknown name, and for a judge that lacks something.
    """
    name = parts.gates.helpfulness_judge
    if name == AUTO:
        return make_trained(parts) if parts.llm.base_url is None else make_own(parts)
    make = JUDGES.get(name)
    if make is None:
        known = ", ".join((AUTO, *JUDGES))
        raise ConfigurationError(
            f"There is no judge “{name}”.", f"Set CROWDNOTES_GATE_HELPFULNESS_JUDGE to one of: {known}."
        )
    return make(parts)
