"""`bench principles`: does an engine tell opinion or hostility from the other notes that both camps approve.

A note's score is the highest chance that it breaks "no opinion or speculation" or "neutral language"; an
engine that gives no chances is measured by its verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

import pandas as pd

from crowdnotes.domain import GateStatus, Post, PrincipleName, PrincipleResult
from crowdnotes.engines import Engine
from crowdnotes.errors import InputError
from crowdnotes.studies.camp_notes import OPINION_LABELS
from crowdnotes.studies.data_files import note_mark
from crowdnotes.studies.measures import area_under_curve

_EVERY = 200
_MEASURED = (PrincipleName.NO_SPECULATION, PrincipleName.NEUTRAL)


@dataclass(frozen=True, slots=True)
class PrinciplesFigures:
    """`auc` of opinion or hostility against the rest; None with one class only."""

    n: int
    opinion_or_hostile: int
    auc: float | None
    not_run: int
    seen_in_training: int
    seen_judged_by: str

    def as_json(self) -> dict[str, object]:
        """For printing."""
        return asdict(self)


def bench_principles(
    engine: Engine, notes: pd.DataFrame, held_out: Mapping[int, float], progress: Callable[[str], None]
) -> PrinciplesFigures:
    """Judge `labelled_bridging` notes, without a post (the data has none) and without evidence.

    `held_out` has the chances on notes trained on, by mark, from heads that had not seen them. Raises
    InputError when no note could be judged.
    """
    truth, chances = [], []
    not_run = seen = 0
    for number, (note_id, text, label) in enumerate(
        zip(notes["note_id"], notes["text"], notes["content_label"], strict=True), 1
    ):
        truth.append(label in OPINION_LABELS)
        known = held_out.get(note_mark(str(note_id)))
        if known is not None:
            seen += 1
            chances.append(known)
        else:
            chance = _chance(engine.principles(Post(text=""), str(text)))
            not_run += chance is None
            chances.append(0.5 if chance is None else chance)
        if number % _EVERY == 0 or number == len(notes):
            progress(f"{number} of {len(notes)} notes")
    if not_run == len(notes):
        raise InputError("The engine gave no verdict on any note.", "See `crowdnotes models`.")
    return PrinciplesFigures(
        n=len(notes),
        opinion_or_hostile=sum(truth),
        auc=area_under_curve(truth, chances),
        not_run=not_run,
        seen_in_training=seen,
        seen_judged_by="cross-validation by time, by a head that did not see the note" if seen else "",
    )


def _chance(results: tuple[PrincipleResult, ...]) -> float | None:
    """The chance of breaking a measured principle; a given chance counts before a bare verdict."""
    measured = [result for result in results if result.principle in _MEASURED]
    given = [1.0 - result.probability for result in measured if result.probability is not None]
    if given:
        return max(given)
    judged = [result for result in measured if result.status is not GateStatus.NOT_RUN]
    return sum(result.status is GateStatus.FAIL for result in judged) / len(judged) if judged else None
