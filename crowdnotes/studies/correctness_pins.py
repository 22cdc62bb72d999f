"""The pinned figures of the local correctness check, by data set: written by one run, held against by others.

The check is rules, not weights, so there is no sum to compare: only measuring again tells whether it fell.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from crowdnotes.errors import InputError
from crowdnotes.studies.correctness_bench import CorrectnessFigures
from crowdnotes.studies.judge_files import FIGURES, pin

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
