"""`bench correctness`: does an engine's correctness gate tell a faithful note from one that distorts its passage.

The pinned figures of the local check, by data set, are written by one run and held against by others: the
check is rules, not weights, so only measuring again tells whether it fell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from crowdnotes.domain import GateStatus
from crowdnotes.engines import Engine
from crowdnotes.errors import InputError
from crowdnotes.studies.data_files import DistortionRow
from crowdnotes.studies.judge_files import FIGURES, pin
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

    Raises InputError when no note could be judged.
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
    if not_run == len(rows):
        raise InputError("The engine gave no verdict on any note.", "See `crowdnotes models`.")
    return CorrectnessFigures(
        n=len(rows),
        auc=area_under_curve(distorted, doubts),
        macro_f1=macro_f1(distorted, failed),
        false_alarms=sum(fail and not truth for fail, truth in zip(failed, distorted, strict=True)),
        faithful=distorted.count(False),
        not_run=not_run,
        by_kind=_by_kind(rows, failed, doubts),
    )


def _by_kind(rows: Sequence[DistortionRow], failed: Sequence[bool], doubts: Sequence[float]) -> dict[str, KindFigures]:
    faithful = [doubt for row, doubt in zip(rows, doubts, strict=True) if row.label == "faithful"]
    found = {}
    for kind in sorted({row.kind or "unnamed" for row in rows if row.label == "distorted"}):
        places = [at for at, row in enumerate(rows) if row.label == "distorted" and (row.kind or "unnamed") == kind]
        truth = [True] * len(places) + [False] * len(faithful)
        found[kind] = KindFigures(
            n=len(places),
            caught=sum(failed[at] for at in places),
            auc=area_under_curve(truth, [*(doubts[at] for at in places), *faithful]),
        )
    return found


JUDGE = "correctness"
_HIGHER_IS_BETTER = ("auc", "macro_f1")
_NOISE = 0.005  # vectors differ in their last digits from processor to processor
_NAME = re.compile(r"[a-z][a-z0-9]{0,30}")


def pin_correctness(folder: Path, name: str, found: CorrectnessFigures) -> None:
    """Write a run's figures under the data set's name into figures and card, and leave the other sets' as they are.

    Raises InputError for a name that is not one short word.
    """
    if not _NAME.fullmatch(name):
        raise InputError(f"“{name}” cannot name a data set.", "Use one word of small letters and digits.")
    kept = {key: value for key, value in _pinned(folder).items() if not key.endswith(f"_{name}")}
    figures = {key: value for key, value in kept.items() if key != "weights_sha256"}
    pin(folder, JUDGE, dict(sorted({**figures, **_figures(name, found)}.items())), [])


def fallen_figures(folder: Path, name: str, found: CorrectnessFigures) -> list[str]:
    """A sentence for each figure that is worse than the pinned one of that data set.

    Raises InputError when no figures of that name are pinned, or they are of a data set of another size.
    """
    pinned, now = _pinned(folder), _figures(name, found)
    notes = pinned.get(f"notes_{name}")
    if notes != found.n:
        kept = "no figures are" if notes is None else f"those of {notes} notes are"
        raise InputError(
            f"These are {found.n} notes; {kept} pinned as “{name}”.",
            f"First pin all its figures: --pin {name}.",
        )
    worse = [
        f"{key} fell from {pinned[key]} to {now[key]}"
        for key in (f"{figure}_{name}" for figure in _HIGHER_IS_BETTER)
        if now[key] < pinned[key] - _NOISE
    ]
    alarms = f"false_alarms_{name}"
    return worse + [f"{alarms} rose from {pinned[alarms]} to {now[alarms]}"] * (now[alarms] > pinned[alarms])


def _figures(name: str, found: CorrectnessFigures) -> dict[str, Any]:
    return {
        f"notes_{name}": found.n,
        f"auc_{name}": round(found.auc or 0.0, 4),
        f"macro_f1_{name}": round(found.macro_f1, 4),
        f"false_alarms_{name}": found.false_alarms,
        f"faithful_{name}": found.faithful,
        f"auc_by_kind_{name}": {kind: round(each.auc or 0.0, 4) for kind, each in found.by_kind.items()},
    }


def _pinned(folder: Path) -> dict[str, Any]:
    path = folder / FIGURES
    known: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return known.get(JUDGE, {})
