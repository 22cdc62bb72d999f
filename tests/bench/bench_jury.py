"""Speed of the jury: reading a note, 100 candidates before 1,000 jurors, and the public-data path on known parameters.

python -m tests.bench.bench_jury
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from crowdnotes.bridging.thresholds import THRESHOLDS
from crowdnotes.jury.jury import open_jury
from crowdnotes.jury.model import features, load_model
from crowdnotes.settings_sections import JurySettings
from crowdnotes.studies.train.jury_ratings import load_public, run_public_training
from tests.fakes import HashingEmbedder
from tests.jury.made_public_data import make_public_data

PUBLIC_SIZES = (1_000, 4_000)  # notes
_CANDIDATES = 100
_NOTE = "The photo was taken in 2019 in Brazil, not last week. https://www.reuters.com/fact-check/photo-brazil-{}"


def measure(public_sizes: Sequence[int] = PUBLIC_SIZES) -> dict[str, object]:
    """Seconds of the steps, and the public path's AUC beside the best possible."""
    model = load_model()
    notes = [_NOTE.format(number) for number in range(_CANDIDATES)]
    # Any unit vectors stand for the embeddings, which are ready when a jury is held.
    vectors = np.random.default_rng(0).normal(size=(_CANDIDATES, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    read = features(notes, None).with_vectors(vectors)
    one = features(notes[:1], None).with_vectors(vectors[:1])
    jury = open_jury(JurySettings(), HashingEmbedder())
    predicted = model.predict(read)
    return {
        "read_one_note_seconds": _median(lambda: model.predict(features(notes[:1], None).with_vectors(vectors[:1]))),
        "score_one_read_note_seconds": _median(lambda: model.predict(one)),
        "texts_of_100_candidates_seconds": _median(lambda: features(notes, None)),
        "100_candidates_1000_jurors_seconds": _median(lambda: jury.rank(model.predict(read))),
        "of_which_jury_and_aggregation_seconds": _median(lambda: jury.rank(predicted)),
        "verdict_with_interval_and_reasons_seconds": _median(lambda: jury.verdict(None, notes[0])),
        "public_path": [_public(size) for size in public_sizes],
    }


def _median(work: Callable[[], object], repeats: int = 9) -> float:
    work()
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return round(statistics.median(seconds), 5)


def _public(notes: int) -> dict[str, float | None]:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        made = make_public_data(folder / "data", notes=notes, raters=max(100, notes // 8), ratings_per_note=30)
        began = time.perf_counter()
        figures = run_public_training(folder / "data", folder / "out", HashingEmbedder(), THRESHOLDS)
        seconds = time.perf_counter() - began
        loaded, _ = load_public(folder / "data")
        return {
            "notes": float(notes),
            "ratings": float(notes * 30),
            "helpful_auc": figures["helpful_auc"],
            "best_possible_auc": made.best_auc(loaded.ids[loaded.part == 2]),
            "expected_calibration_error": figures["ece"],
            "seconds": round(seconds, 1),
        }


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
