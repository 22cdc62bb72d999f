"""Where the line of a reading model lies, and how well it tells faithful notes from distorted ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from crowdnotes.embedding import Embedder
from crowdnotes.engines.local.inference import Calibration, NliReader, read_sentences
from crowdnotes.errors import InputError
from crowdnotes.studies.data_files import DistortionRow
from crowdnotes.studies.measures import area_under_curve, bootstrap_auc, macro_f1
from crowdnotes.text.sentences import split_sentences


def calibrate(
    reader: NliReader,
    embedder: Embedder,
    rows: Sequence[DistortionRow],
    progress: Callable[[str], None] = lambda _: None,
) -> Calibration:
    """Measure the reader on these notes and store line and quality beside its weights.

    A note's score is that of its weakest sentence; the line is where macro-F1 is highest. The area under the curve
    needs no line; its interval is over resampled passages. Raises InputError without notes of both kinds.
    """
    scores = np.zeros(len(rows))
    for number, row in enumerate(rows):
        sentences = [row.note[span.start : span.end] for span in split_sentences(row.note)] or [row.note]
        scores[number] = min(item.score for item in read_sentences(reader, embedder, sentences, row.evidence))
        if number % 10 == 9 or number + 1 == len(rows):
            progress(f"{number + 1} of {len(rows)} notes read")
    faithful = [row.label == "faithful" for row in rows]
    auc = area_under_curve(faithful, scores)
    if auc is None:
        raise InputError("Faithful and distorted notes are both needed.", "Check the labels of the file.")
    passages = {text: place for place, text in enumerate(dict.fromkeys(row.passage for row in rows))}
    low, high = bootstrap_auc(faithful, scores, np.array([passages[row.passage] for row in rows]))
    lines = np.unique(scores)
    best = max(lines, key=lambda line: macro_f1(faithful, [bool(score >= line) for score in scores]))
    return reader.keep(threshold=float(best), auc=auc, auc_low=low, auc_high=high, notes=len(rows))
