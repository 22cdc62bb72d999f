"""`bench correctness`: does an engine's correctness gate tell a faithful note from one that distorts its passage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from crowdnotes.domain import GateStatus
from crowdnotes.engines import Engine
from crowdnotes.studies.data_files import DistortionRow
from crowdnotes.studies.measures import area_under_curve, macro_f1

_EVERY = 20


@dataclass(frozen=True, slots=True)
class KindFigures:
    """Of one kind of distortion: how many, how many the gate failed, and the AUC against all faithful notes."""

    n: int
    caught: int
    auc: float | None


@dataclass(frozen=True, slots=True)
class CorrectnessFigures:
    """`auc` and `macro_f1` tell distorted notes; `false_alarms` are faithful notes that failed."""

    n: int
    auc: float | None
    macro_f1: float
    false_alarms: int
    faithful: int
    not_run: int
    by_kind: dict[str, KindFigures]

    def as_json(self) -> dict[str, object]:
        """For printing."""
        return asdict(self)


def bench_correctness(
    engine: Engine, rows: Sequence[DistortionRow], progress: Callable[[str], None]
) -> CorrectnessFigures:
    """Judge each note with its passage as the only evidence; a gate that did not run counts as wrong.

    Where none ran there is no AUC: a person compares, or no model is at work.
    """
    distorted, failed, doubts = [], [], []
    not_run = 0
    for number, row in enumerate(rows, 1):
        result = engine.correctness(row.note, row.evidence, engine.support(row.note, row.evidence))
        truth = row.label == "distorted"
        missing = result.status is GateStatus.NOT_RUN
        not_run += missing
        fails = result.status is GateStatus.FAIL
        chance = result.probability if result.probability is not None else result.score
        distorted.append(truth)
        failed.append(fails if not missing else not truth)
        doubts.append(1.0 - chance if chance is not None else float(failed[-1]))
        if number % _EVERY == 0 or number == len(rows):
            progress(f"{number} of {len(rows)} notes")
    return CorrectnessFigures(
        n=len(rows),
        auc=None if not_run == len(rows) else area_under_curve(distorted, doubts),
        macro_f1=macro_f1(distorted, failed),
        false_alarms=sum(fail and not truth for fail, truth in zip(failed, distorted, strict=True)),
        faithful=distorted.count(False),
        not_run=not_run,
        by_kind=_by_kind(rows, failed, doubts, judged=not_run < len(rows)),
    )


def _by_kind(
    rows: Sequence[DistortionRow], failed: Sequence[bool], doubts: Sequence[float], *, judged: bool
) -> dict[str, KindFigures]:
    faithful = [doubt for row, doubt in zip(rows, doubts, strict=True) if row.label == "faithful"]
    found = {}
    for kind in sorted({row.kind or "unnamed" for row in rows if row.label == "distorted"}):
        places = [at for at, row in enumerate(rows) if row.label == "distorted" and (row.kind or "unnamed") == kind]
        truth = [True] * len(places) + [False] * len(faithful)
        found[kind] = KindFigures(
            n=len(places),
            caught=sum(failed[at] for at in places),
            auc=area_under_curve(truth, [*(doubts[at] for at in places), *faithful]) if judged else None,
        )
    return found
