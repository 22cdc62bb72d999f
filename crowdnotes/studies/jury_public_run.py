"""`crowdnotes train jury` on X's public data: single ratings, rater parameters from the past, three classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from crowdnotes.bridging.factorization import fit
from crowdnotes.bridging.model import Factorization, apply_filter
from crowdnotes.bridging.scoring import locate
from crowdnotes.domain import JuryQuality
from crowdnotes.embedding import Embedder
from crowdnotes.errors import InputError
from crowdnotes.jury.features import BITS, Features, features
from crowdnotes.jury.model_file import save_model
from crowdnotes.jury.rating_model import RatingModel
from crowdnotes.jury.reading_model import SideRaters
from crowdnotes.jury.votes import chances
from crowdnotes.settings import BridgingSettings
from crowdnotes.studies.jury_public_data import PublicNotes, PublicRatings, load_public
from crowdnotes.studies.jury_public_measures import (
    PublicFigures,
    class_aucs,
    helpful_calibration,
    precision_at_one,
)
from crowdnotes.studies.jury_rating_columns import Columns
from crowdnotes.studies.jury_rating_fit import RatedRows, RatingFit, fit_ratings, log_loss

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
_PENALTIES = (0.1, 0.3, 1.0, 3.0, 10.0)  # the validation tenth chooses
_LEAST = 200  # ratings in each part


@dataclass(frozen=True)
class _Parts:
    """Ratings (m,) in a part of the notes by raters who are known from the past: learn, validate, test."""

    rows: tuple[RatedRows, RatedRows, RatedRows]
    unknown_raters: int


def run_public_training(
    data: Path,
    out: Path,
    embedder: Embedder,
    bridging: BridgingSettings,
    progress: Callable[[str], None] = lambda line: None,  # noqa: ARG005
) -> PublicFigures:
    """Train on a folder of public data, measure on its newest tenth, and write model/ and figures.json to `out`."""
    notes, ratings = load_public(data)
    progress(f"{len(ratings.table)} ratings of {len(notes.ids)} notes")
    raters = _raters_of_the_past(notes, ratings, bridging)
    parts = _parts(notes, ratings, raters)
    progress("reading the notes")
    read = features(notes.texts, embedder)
    posts = _read_posts(notes, embedder)
    learned = notes.part == 0
    columns = Columns.of(read.rows(learned), with_posts=posts is not None)
    matrix = columns.matrix(read, posts)
    fitted, penalty = _choose(matrix, parts, progress)
    figures = _measure(notes, ratings, parts, matrix, fitted, penalty, raters, with_posts=posts is not None)
    appeal, lean, post_weights = columns.heads(fitted, {name: 1 << bits for name, bits in BITS.items()})
    model = RatingModel(
        name=f"public ratings, {figures.learned_from_notes} notes",
        embedder=embedder.name,
        appeal=appeal,
        lean=lean,
        landmarks=columns.landmarks,
        post_weights=post_weights if posts is not None else np.zeros((0, 2)),
        sides=_sides(raters),
        ordinal=fitted.ordinal,
        quality=_quality(data.name, figures),
    )
    save_model(model, out / "model")
    (out / "figures.json").write_text(figures.model_dump_json(indent=1) + "\n", encoding="utf-8")
    return figures


def _read_posts(notes: PublicNotes, embedder: Embedder) -> Features | None:
    """The notes' posts, row by row; a post that is not known has a vector of zeros, which adds nothing."""
    if notes.post_texts is None:
        return None
    read = features(notes.post_texts, embedder)
    known = np.asarray([bool(text.strip()) for text in notes.post_texts], dtype=np.float32)
    return read.with_vectors(read.vectors * known[:, None])


def _raters_of_the_past(notes: PublicNotes, ratings: PublicRatings, bridging: BridgingSettings) -> Factorization:
    """Rater parameters from ratings of the older notes, made before the first newer note was written."""
    later = notes.written_ms[notes.part > 0]
    if not len(later):
        raise InputError("There are too few notes to split by time.", "Train on more data.")
    past = (notes.part[ratings.table.note] == 0) & (ratings.created_ms < later.min())
    if not past.any():
        raise InputError("No rating was made before the newer notes were written.", "Train on more data.")
    table, _ = apply_filter(ratings.table.keep(past), bridging)
    return fit(table)


def _parts(notes: PublicNotes, ratings: PublicRatings, raters: Factorization) -> _Parts:
    place, known = locate(ratings.table.rater_ids, raters.raters.ids)
    rater, seen = place[ratings.table.rater], known[ratings.table.rater]
    part = notes.part[ratings.table.note]
    rows = []
    for number, name in enumerate(("older", "validation", "newest")):
        mine = seen & (part == number)
        if int(mine.sum()) < _LEAST:
            raise InputError(
                f"Only {int(mine.sum())} ratings of the {name} notes are by known raters; it takes {_LEAST}.",
                "Train on more data.",
            )
        rows.append(
            RatedRows(
                ratings.table.note[mine],
                raters.raters.intercepts[rater[mine]],
                raters.raters.factors[rater[mine], 0],
                ratings.table.helpful[mine].astype(np.float64),
            )
        )
    return _Parts((rows[0], rows[1], rows[2]), int((~seen).sum()))


def _choose(matrix: csr_matrix, parts: _Parts, progress: Callable[[str], None]) -> tuple[RatingFit, float]:
    """The fit with the penalty under which the validation ratings are likeliest."""
    learn, validate, _ = parts.rows
    tried = []
    for penalty in _PENALTIES:
        found = fit_ratings(matrix, learn, penalty)
        loss = log_loss(found.odds(matrix, validate), found.ordinal, validate.value)
        progress(f"penalty {penalty:g}: {loss:.4f} on the validation ratings")
        tried.append((loss, penalty, found))
    _, penalty, best = min(tried, key=lambda one: one[0])
    return best, penalty


def _measure(
    notes: PublicNotes,
    ratings: PublicRatings,
    parts: _Parts,
    matrix: csr_matrix,
    fitted: RatingFit,
    penalty: float,
    raters: Factorization,
    *,
    with_posts: bool,
) -> PublicFigures:
    learn, _, test = parts.rows
    odds = fitted.odds(matrix, test)
    aucs = class_aucs(odds, fitted.ordinal, test.value)
    ece, curve = helpful_calibration(odds, test.value)
    read = fitted.appeal_and_lean(matrix)
    both = _sides(raters)
    ratings_of = [chances(read[:, 0], read[:, 1], side, fitted.ordinal) for side in (both.negative, both.positive)]
    expected = np.mean([(helpful + 1 - not_helpful).mean(axis=1) / 2 for helpful, not_helpful in ratings_of], axis=0)
    return PublicFigures(
        helpful_auc=aucs[0],
        somewhat_helpful_auc=aucs[1],
        not_helpful_auc=aucs[2],
        log_loss=log_loss(odds, fitted.ordinal, test.value),
        ece=ece,
        curve=curve,
        precision_at_1=precision_at_one(expected, test.note, test.value, notes.posts),
        ratings=len(test),
        notes=len(np.unique(test.note)),
        learned_from_ratings=len(learn),
        learned_from_notes=len(np.unique(learn.note)),
        raters=len(raters.raters),
        reads_posts=with_posts,
        penalty=penalty,
        dropped={**ratings.dropped, "ratings by raters not known from the past": parts.unknown_raters},
    )


def _sides(raters: Factorization) -> SideRaters:
    return SideRaters.of(np.column_stack((raters.raters.intercepts, raters.raters.factors[:, 0])))


def _quality(data: str, figures: PublicFigures) -> JuryQuality:
    return JuryQuality(
        data=data,
        notes=figures.notes,
        polarising_auc=None,
        camp_auc=None,
        rating_auc=figures.helpful_auc,
        expected_calibration_error=figures.ece,
        note=(
            f"A simulation. On {figures.ratings:,} ratings of {figures.notes:,} newer notes its model told helpful "
            f"from other ratings with AUC "
            f"{figures.helpful_auc or float('nan'):.2f} (0.5 is guessing, 1 is never wrong)."
        ),
    )
