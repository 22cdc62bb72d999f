"""The trained head as a judge: on this machine, without a model server (assets/judges/helpfulness.md)."""

from __future__ import annotations

from crowdnotes.domain import GateResult, Post
from crowdnotes.embedding import Embedder
from crowdnotes.engines.judges.judge import JudgeParts
from crowdnotes.engines.local.helpfulness import judge_helpfulness
from crowdnotes.settings import GateSettings


class TrainedJudge:
    """See `HelpfulnessJudge`."""

    name = "trained head"
    server = ""
    prompt_version = None

    def __init__(self, embedder: Embedder, settings: GateSettings) -> None:
        self._embedder = embedder
        self._settings = settings

    def judge(self, post: Post, note: str) -> GateResult:
        """See `local.helpfulness.judge_helpfulness`."""
        return judge_helpfulness(self._embedder, self._settings, post, note)


def make_trained(parts: JudgeParts) -> TrainedJudge:
    """Whichever engine does the rest."""
    return TrainedJudge(parts.embedder, parts.gates)
