"""`crowdnotes train jury` on camps: measure on the newest notes, then learn from all, and write it down.

Two models come of it. The one that ships has learned from every note, for tomorrow's notes are about
today's topics. The figures are those of a twin that learned from the older notes alone, measured on the
newest; the twin lies beside it with numbers of some of the newest notes, so that the figures can be checked.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crowdnotes.domain import JuryQuality
from crowdnotes.embedding import Embedder
from crowdnotes.jury.camp_model import CampModel
from crowdnotes.jury.features import Features, features
from crowdnotes.jury.model_file import save_model
from crowdnotes.jury.raters import Mixture
from crowdnotes.jury.reading_model import SideRaters, no_vectors
from crowdnotes.jury.votes import OrdinalModel
from crowdnotes.studies.camp_notes import CampNotes, read_camps, split_by_time
from crowdnotes.studies.jury_bench import CampFigures, measure_camps
from crowdnotes.studies.jury_camp_training import Progress, train_camp_model
from crowdnotes.studies.jury_held_out import save_held_out
from crowdnotes.studies.jury_statements import read_statements

# Rater intercepts: from the pilot's ratings, each fifth predicted from a fit of the others (6,217 ratings).
# The width is an assumption: about one rating in ten is then "somewhat helpful". Camps' shares tell neither.
CAMP_ORDINAL = OrdinalModel(intercept_slope=7.7, width=0.4)
_NEWEST = 0.2
_SAMPLE = 1_000
_SIDE_DRAWS = 20_000


@dataclass(frozen=True)
class CampRun:
    """The shipped model, its figures on the newest notes with and without vectors, and the sample's."""

    model: CampModel
    figures: CampFigures
    words_only: CampFigures
    sample: CampFigures


def run_camp_training(
    data: Path,
    out: Path,
    embedder: Embedder,
    pool: Mixture,
    progress: Progress = lambda line: None,  # noqa: ARG005
) -> CampRun:
    """Train on a file of the camp schema and write model/, held_out/ and figures.json into `out`."""
    notes = read_camps(data)
    progress(f"reading {len(notes)} notes")
    read, statements = _read(notes, embedder), read_statements(embedder)
    older, newest = split_by_time(notes, _NEWEST)
    sides = SideRaters.of(pool.draw(_SIDE_DRAWS, np.random.default_rng(0)))
    unmeasured = _quality(data.name, None, 0)
    common: dict[str, Any] = {"embedder": embedder.name, "sides": sides, "ordinal": CAMP_ORDINAL, "progress": progress}
    progress("the twin that is measured: learning from the older four fifths")
    twin = train_camp_model(
        notes.only(older),
        read.rows(older),
        statements,
        name="camps, older notes only",
        quality=unmeasured,
        **common,
    )
    late = read.rows(newest)
    late_notes = notes.only(newest)
    figures = _measure(twin, late_notes, late)
    chosen = np.sort(np.random.default_rng(0).permutation(len(late))[:_SAMPLE])
    among = np.isin(np.arange(len(late)), chosen)
    run = CampRun(
        train_camp_model(
            notes,
            read,
            statements,
            name=f"camps, {len(notes)} notes",
            quality=_quality(data.name, figures, len(late)),
            **common,
        ),
        figures,
        _measure(twin, late_notes, no_vectors(late)),
        _measure(twin, late_notes.only(among), late.rows(among)),
    )
    save_model(run.model, out / "model")
    save_model(twin, out / "held_out")
    save_held_out(late.rows(among), late_notes.only(among), out / "held_out")
    _write_figures(run, len(notes), int(older.sum()), len(statements), out / "figures.json")
    return run


def bench_camps(data: Path, model: CampModel, embedder: Embedder) -> CampFigures:
    """Measure a model on a file of the camp schema."""
    notes = read_camps(data)
    return _measure(model, notes, _read(notes, embedder if embedder.name == model.embedder else None))


def _read(notes: CampNotes, embedder: Embedder | None) -> Features:
    return features(notes.texts, embedder)


def _measure(model: CampModel, notes: CampNotes, read: Features) -> CampFigures:
    return measure_camps(model, model.read_camps(read), notes.divides, notes.approvals, notes.raters, notes.dropped)


def _quality(data: str, figures: CampFigures | None, notes: int) -> JuryQuality:
    if figures is None:
        return JuryQuality(
            data=data,
            notes=0,
            polarising_auc=None,
            camp_auc=None,
            rating_auc=None,
            expected_calibration_error=None,
            note="Not measured.",
        )
    return JuryQuality(
        data=data,
        notes=notes,
        polarising_auc=figures.polarising_auc,
        camp_auc=figures.camp_auc,
        rating_auc=figures.rating_auc,
        expected_calibration_error=figures.ece,
        note=(
            f"A simulation. On {notes:,} newer notes its model told dividing notes from joining ones with AUC "
            f"{figures.polarising_auc:.2f} and named the side that likes a dividing note with AUC "
            f"{figures.camp_auc:.2f} (0.5 is guessing, 1 is never wrong). It reads the note alone, not the post."
        ),
    )


def _write_figures(run: CampRun, notes: int, learned_from: int, statements: int, path: Path) -> None:
    content = {
        "split": "the newest fifth by time is measured, the rest is learned from; no post is on both sides",
        "notes": notes,
        "learned_from": learned_from,
        "statements_learned_from": statements,
        "newest_fifth": run.figures.model_dump(),
        "newest_fifth_without_vectors": run.words_only.model_dump(),
        "held_out_sample": run.sample.model_dump(),
    }
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
