"""`bench helpfulness`: an engine's helpfulness gate against the crowd's verdicts.

Notes that the shipped head was trained on are known by a mark of their ids: of those the verdict counts
that a cross-validation gave, from a head which had not seen their post.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from crowdnotes.domain import GateStatus
from crowdnotes.engines import Engine
from crowdnotes.errors import InputError
from crowdnotes.studies.data_files import HealthNote, note_mark
from crowdnotes.studies.measures import accuracy, area_under_curve, macro_f1
from crowdnotes.text.note_rules import NOTE_LIMIT, truncate

_EVERY = 50


@dataclass(frozen=True, slots=True)
class HelpfulnessFigures:
    """`auc` is None without a probability for every note, or with one class only; `not_run` gates count as wrong."""

    n: int
    macro_f1: float
    accuracy: float
    auc: float | None
    not_run: int
    seen_in_training: int
    seen_judged_by: str

    def as_json(self) -> dict[str, object]:
        """For printing."""
        return asdict(self)


def bench_helpfulness(
    engine: Engine,
    notes: Sequence[HealthNote],
    held_out: Mapping[int, float],
    line: float,
    progress: Callable[[str], None],
) -> HelpfulnessFigures:
    """Judge each note as the gate does, cut to 280. `held_out` has the verdicts on notes trained on, by mark.

    Raises InputError when no note could be judged.
    """
    truth, said, probabilities = [], [], []
    seen = not_run = 0
    for number, note in enumerate(notes, 1):
        known = held_out.get(note_mark(note.note_id))
        truth.append(note.is_helpful)
        if known is not None:
            seen += 1
            said.append(known >= line)
            probabilities.append(known)
        else:
            result = engine.helpfulness(note.as_post, truncate(note.note, NOTE_LIMIT))
            not_run += result.status is GateStatus.NOT_RUN
            passed = result.status is GateStatus.PASS
            said.append(passed if result.status is not GateStatus.NOT_RUN else not note.is_helpful)
            chance = result.probability if result.probability is not None else result.score
            probabilities.append(float(passed) if chance is None else chance)
        if number % _EVERY == 0 or number == len(notes):
            progress(f"{number} of {len(notes)} notes")
    if not_run == len(notes):
        raise InputError("The engine gave no verdict on any note.", "See `crowdnotes models`.")
    return HelpfulnessFigures(
        n=len(notes),
        macro_f1=macro_f1(truth, said),
        accuracy=accuracy(truth, said),
        auc=area_under_curve(truth, probabilities),
        not_run=not_run,
        seen_in_training=seen,
        seen_judged_by="cross-validation, by a head that saw neither note nor post" if seen else "",
    )
