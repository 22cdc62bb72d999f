"""What a case's work asks of a language model, counted on the case step by step, also when a step fails."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from crowdnotes.cases.store import Store
from crowdnotes.domain import Case, Usage
from crowdnotes.engines.metering import Budget, Meter, metered
from crowdnotes.jobs import Progress, Step
from crowdnotes.settings import LlmSettings


def metered_steps(steps: Iterable[Step], case_id: str, store: Store, bounds: LlmSettings) -> list[Step]:
    """The same steps; what each uses is added to `Case.usage`, and the budget holds for the case as a whole."""
    budget = Budget(bounds.budget_dollars, bounds.budget_tokens)
    return [_metered(step, case_id, store, budget) for step in steps]


def _metered(step: Step, case_id: str, store: Store, budget: Budget) -> Step:
    def run(progress: Progress) -> str:
        meter = Meter(budget, store.get(case_id).used)
        try:
            with metered(meter):
                return step.run(progress)
        finally:  # what was spent stays spent, whatever came of it
            found = meter.by_step
            if found:
                store.update(case_id, lambda case: _with_usage(case, found))

    return replace(step, run=run)


def _with_usage(case: Case, found: Mapping[str, Usage]) -> Case:
    usage = dict(case.usage)
    for name, used in found.items():
        usage[name] = usage.get(name, Usage()) + used
    return case.model_copy(update={"usage": usage})
