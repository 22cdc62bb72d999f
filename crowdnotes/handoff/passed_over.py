"""What a check that a person passed over had found, in the words of the page and of the files alike."""

from __future__ import annotations

from collections.abc import Callable

from crowdnotes.domain import Case, GateStatus


def although(case: Case, check: str, address: Callable[[str], str]) -> str:
    """What the check found, as Markdown to follow "Approved although".

    check: as an `Override` names it: a gate, "link:URL" or "live:URL". address: writes a URL as Markdown.
    """
    kind, _, url = check.partition(":")
    said = {"link": "nobody inspected the link", "live": "no answer was had from the link"}.get(kind)
    return f"{said} {address(url)}" if said else gate_said(case, check)


def gate_said(case: Case, gate: str) -> str:
    """How a gate that did not pass stands: it failed, or it was not run, which are not the same."""
    results = case.assessment.gates if case.assessment is not None else ()
    not_run = any(item.gate.value == gate and item.status is GateStatus.NOT_RUN for item in results)
    return f"the {gate} gate was not run" if not_run else f"the {gate} gate did not pass"
