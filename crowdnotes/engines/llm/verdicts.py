"""What the gates of this engine share."""

from __future__ import annotations

from collections.abc import Sequence

from crowdnotes.domain import Finding, GateName, GateResult, GateStatus
from crowdnotes.engines.llm.forms import Objection
from crowdnotes.engines.llm.quotes import find_quote, plain

LINE = 0.5  # a verdict is "yes" when yes is the likelier of the two
_OBJECTION = 200


def not_run(gate: GateName, reason: str) -> GateResult:
    """A gate that gave no verdict, and why."""
    return GateResult(gate=gate, status=GateStatus.NOT_RUN, reason=reason)


def pointed(note: str, objections: Sequence[Objection]) -> tuple[Finding, ...]:
    """The objections whose words stand in the note, each with its place; the others are dropped."""
    found: list[Finding] = []
    for item in objections:
        span = find_quote(note, item.quote)
        if span is not None and not any(finding.span == span for finding in found):
            found.append(Finding(message=plain(item.objection, _OBJECTION) or "Look at these words.", span=span))
    return tuple(found)
