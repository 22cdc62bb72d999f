"""Every judge of helpfulness by the name that a setting calls it. A new one is a file here and a line in `JUDGES`."""

from __future__ import annotations

from collections.abc import Callable

from crowdnotes.engines.judges.judge import HelpfulnessJudge, JudgeParts
from crowdnotes.engines.judges.model import make_model, make_own, make_server
from crowdnotes.engines.judges.trained import make_trained
from crowdnotes.errors import ConfigurationError

AUTO = "auto"
JUDGES: dict[str, Callable[[JudgeParts], HelpfulnessJudge]] = {
    "trained": make_trained,
    "model": make_model,
    "server": make_server,
}


def make_judge(parts: JudgeParts) -> HelpfulnessJudge:
    """The judge that is set; with "auto" the engine's own: a model judges with a model, the local engine with the head.

    Asks no server. Raises ConfigurationError for a name that no judge has, and for one that lacks something.
    """
    name = parts.gates.helpfulness_judge
    if name == AUTO:
        return make_trained(parts) if parts.llm.base_url is None else make_own(parts)
    make = JUDGES.get(name)
    if make is None:
        known = ", ".join((AUTO, *JUDGES))
        raise ConfigurationError(
            f"No judge of helpfulness is called “{name}”.", f"Set CROWDNOTES_GATE_HELPFULNESS_JUDGE to one of: {known}."
        )
    return make(parts)
