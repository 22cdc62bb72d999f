"""`bench helpfulness`, `correctness` and `principles`: an engine's judgement against known answers.

Notes that a shipped head was trained on are known by a mark of their ids: of those the verdict counts that a
cross-validation gave, from a head which had not seen them. `seen_in_training` counts them. A gate that did not run
counts as wrong, under `not_run`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from crowdnotes.domain import GateStatus, Post, PrincipleName, PrincipleResult
from crowdnotes.engines import Engine
from crowdnotes.engines.embedding import Embedder
from crowdnotes.engines.local.entailment import Calibration, NliReader, read_sentences
from crowdnotes.errors import InputError
from crowdnotes.studies.data_files import OPINION_LABELS, DistortionRow, HealthNote, note_mark
from crowdnotes.studies.measures import accuracy, area_under_curve, bootstrap_auc, macro_f1
from crowdnotes.text.note_rules import NOTE_LIMIT, truncate
from crowdnotes.text.sentences import split_sentences

Item = TypeVar("Item")
Progress = Callable[[str], None]
_MEASURED_PRINCIPLES = (PrincipleName.NO_SPECULATION, PrincipleName.NEUTRAL)


def bench_helpfulness(
    engine: Engine, notes: Sequence[HealthNote], held_out: Mapping[int, float], line: float, progress: Progress
) -> dict[str, Any]:
    """Return the helpfulness gate against the crowd's verdicts, each note cut to 280. `held_out` is by mark.

    Raises InputError when no note could be judged.
    """
    said, chances = [], []
    seen = not_run = 0
    for note in _report_while_iterating(notes, 50, progress):
        known = held_out.get(note_mark(note.note_id))
        if known is not None:
            seen += 1
            said.append(known >= line)
            chances.append(known)
            continue
        result = engine.helpfulness(note.as_post, truncate(note.note, NOTE_LIMIT))
        # The paper's gate is binary: an uncertain note is not taken for helpful.
        passed, missing = result.status is GateStatus.PASS and not result.uncertain, result.status is GateStatus.NOT_RUN
        not_run += missing
        said.append(not note.is_helpful if missing else passed)
        chance = result.probability if result.probability is not None else result.score
        chances.append(float(passed) if chance is None else chance)
    _require_some_verdict(not_run, len(notes))
    truth = [note.is_helpful for note in notes]
    return {
        "n": len(notes),
        "macro_f1": macro_f1(truth, said),
        "accuracy": accuracy(truth, said),
        "auc": area_under_curve(truth, chances),
        "not_run": not_run,
        "seen_in_training": seen,
        "seen_judged_by": "cross-validation, by a head that saw neither note nor post" if seen else "",
    }


def bench_principles(
    engine: Engine, notes: pd.DataFrame, held_out: Mapping[int, float], progress: Progress
) -> dict[str, Any]:
    """Measure how an engine finds opinion or hostility in notes that both camps approve (`labelled_bridging`).

    A note's score is the highest chance that it breaks "no opinion or speculation" or "neutral language"; an engine
    that gives no chances is measured by its verdicts. Without a post (the data has none) and without evidence.
    Raises InputError when no note could be judged.
    """
    chances = []
    not_run = seen = 0
    for note_id, text in _report_while_iterating(
        list(zip(notes["note_id"], notes["text"], strict=True)), 200, progress
    ):
        chance = held_out.get(note_mark(str(note_id)))
        if chance is not None:
            seen += 1
        else:
            chance = _get_chance_of_breaking(engine.principles(Post(text=""), str(text)))
            not_run += chance is None
        chances.append(0.5 if chance is None else chance)
    _require_some_verdict(not_run, len(notes))
    truth = notes["content_label"].isin(OPINION_LABELS).tolist()
    return {
        "n": len(notes),
        "opinion_or_hostile": sum(truth),
        "auc": area_under_curve(truth, chances),
        "not_run": not_run,
        "seen_in_training": seen,
        "seen_judged_by": "cross-validation by time, by a head that did not see the note" if seen else "",
    }


def _get_chance_of_breaking(results: tuple[PrincipleResult, ...]) -> float | None:
    """Return the chance of breaking a measured principle; a given chance counts before a bare verdict."""
    measured = [result for result in results if result.principle in _MEASURED_PRINCIPLES]
    given = [1.0 - result.probability for result in measured if result.probability is not None]
    if given:
        return max(given)
    judged = [result for result in measured if result.status is not GateStatus.NOT_RUN]
    return sum(result.status is GateStatus.FAIL for result in judged) / len(judged) if judged else None


def bench_correctness(engine: Engine, rows: Sequence[DistortionRow], progress: Progress) -> dict[str, Any]:
    """Measure how the correctness gate finds notes that distort their passage, which is their only evidence.

    `auc` and `macro_f1` are of distorted notes, `false_alarms` are faithful ones that failed; by kind of distortion how
    many there are, how many were caught, and the AUC against all faithful notes. Where no gate ran there is no AUC: a
    person compares, or no model is at work.
    """
    distorted = [row.label == "distorted" for row in rows]
    failed, doubts = [], []
    not_run = 0
    for row in _report_while_iterating(rows, 20, progress):
        result = engine.correctness(row.note, row.evidence, engine.support(row.note, row.evidence))
        missing = result.status is GateStatus.NOT_RUN
        not_run += missing
        failed.append(row.label == "faithful" if missing else result.status is GateStatus.FAIL)
        chance = result.probability if result.probability is not None else result.score
        doubts.append(1.0 - chance if chance is not None else float(failed[-1]))
    judged = not_run < len(rows)
    faithful = [doubt for doubt, bad in zip(doubts, distorted, strict=True) if not bad]
    by_kind = {}
    for kind in sorted({row.kind or "unnamed" for row in rows if row.label == "distorted"}):
        places = [at for at, row in enumerate(rows) if distorted[at] and (row.kind or "unnamed") == kind]
        truth = [True] * len(places) + [False] * len(faithful)
        by_kind[kind] = {
            "n": len(places),
            "caught": sum(failed[at] for at in places),
            "auc": area_under_curve(truth, [*(doubts[at] for at in places), *faithful]) if judged else None,
        }
    return {
        "n": len(rows),
        "auc": area_under_curve(distorted, doubts) if judged else None,
        "macro_f1": macro_f1(distorted, failed),
        "false_alarms": sum(fail and not bad for fail, bad in zip(failed, distorted, strict=True)),
        "faithful": len(faithful),
        "not_run": not_run,
        "by_kind": by_kind,
    }


def calibrate(
    reader: NliReader, embedder: Embedder, rows: Sequence[DistortionRow], progress: Progress = lambda _: None
) -> Calibration:
    """Measure a reading model on such notes, and store its line and quality next to its weights.

    A note's score is that of its weakest sentence; the line is where macro-F1 is highest. The area under the curve
    needs no line; its interval is over resampled passages. Raises InputError without notes of both kinds.
    """
    scores = np.zeros(len(rows))
    for number, row in enumerate(_report_while_iterating(rows, 10, progress)):
        sentences = [row.note[span.start : span.end] for span in split_sentences(row.note)] or [row.note]
        scores[number] = min(item.score for item in read_sentences(reader, embedder, sentences, row.evidence))
    faithful = [row.label == "faithful" for row in rows]
    auc = area_under_curve(faithful, scores)
    if auc is None:
        raise InputError("Faithful and distorted notes are both needed.", "Check the labels of the file.")
    passages = {text: place for place, text in enumerate(dict.fromkeys(row.passage for row in rows))}
    low, high = bootstrap_auc(faithful, [scores], np.array([passages[row.passage] for row in rows]))
    lines = np.unique(scores)
    best = max(lines, key=lambda line: macro_f1(faithful, [bool(score >= line) for score in scores]))
    return reader.keep(threshold=float(best), auc=auc, auc_low=low, auc_high=high, notes=len(rows))


def _report_while_iterating(items: Sequence[Item], every: int, progress: Progress) -> Iterator[Item]:
    """Yield the items, with a line of progress after every so many and at the end."""
    for number, item in enumerate(items, 1):
        yield item
        if number % every == 0 or number == len(items):
            progress(f"{number} of {len(items)} notes")


def _require_some_verdict(not_run: int, of: int) -> None:
    if not_run == of:
        raise InputError("The engine gave no verdict on any note.", "See `crowdnotes models`.")
