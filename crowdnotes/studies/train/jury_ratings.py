"""`crowdnotes train jury` on X's public data: single ratings, rater parameters from the past, three classes.

The ordinal model of `jury.votes` is fitted to single ratings by L-BFGS on the exact likelihood. Appeal and lean
are linear in a note's columns (words, letters and hosts by rarity, nearness to landmarks, and the post); a rating
costs one addition in each, so an epoch is a sparse product over notes plus a pass over ratings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, hstack
from scipy.special import expit, logit

from crowdnotes.bridging.factorization import fit
from crowdnotes.bridging.model import Factorization, filter_mask
from crowdnotes.bridging.scoring import locate
from crowdnotes.domain import JuryQuality, Noun
from crowdnotes.embedding import Embedder
from crowdnotes.errors import InputError
from crowdnotes.jury.model import (
    COLUMNS,
    Features,
    Landmarks,
    Rarity,
    RatingModel,
    Score,
    features,
    post_columns,
    save_model,
)
from crowdnotes.jury.raters import Floats
from crowdnotes.jury.votes import OrdinalModel, Sides
from crowdnotes.settings import BridgingSettings
from crowdnotes.studies.measures import auc, calibration_curve, calibration_error
from crowdnotes.studies.public_notes import PublicNotes, PublicRatings, load_public
from crowdnotes.studies.train.jury import SHARPNESS, choose_landmarks, nystroem_root

Rows = npt.NDArray[np.int32]
_PENALTIES = (0.1, 0.3, 1.0, 3.0, 10.0)  # the validation tenth chooses
_LEAST = 200  # ratings in each part
_LANDMARKS = 1_000
_LEAST_RATINGS = 5  # of a note before its mean rating says which note on a post is best
_MOST_NOTES = 5  # posts with as many notes or more are counted together
_LEAST_WIDTH = 1e-3
_ROUNDS = 300


class PrecisionAtOne(Noun):
    """Of posts with so many notes: how often the model's best note is the raters' best; chance is 1 / notes."""

    notes_on_post: str
    posts: int
    precision: float
    chance: float


class PublicFigures(Noun):
    """On newer notes than those learned from, by raters whose parameters are from the past alone.

    *_auc: one class against the rest, over single ratings; None where a class does not occur. ece and
    curve are of "helpful".
    """

    helpful_auc: float | None
    somewhat_helpful_auc: float | None
    not_helpful_auc: float | None
    log_loss: float
    ece: float
    curve: tuple[dict[str, float], ...]
    precision_at_1: tuple[PrecisionAtOne, ...]
    ratings: int
    notes: int
    learned_from_ratings: int
    learned_from_notes: int
    raters: int
    reads_posts: bool
    penalty: float
    dropped: dict[str, int]


def class_aucs(odds: Floats, ordinal: OrdinalModel, value: Floats) -> tuple[float | None, float | None, float | None]:
    """Helpful, somewhat helpful, not helpful, each against the rest; odds and value (m,)."""
    helpful, not_helpful = expit(odds), expit(-(odds + ordinal.width))
    scores = ((helpful, 1.0), (1 - helpful - not_helpful, 0.5), (not_helpful, 0.0))
    found = [auc(score, (value == level).astype(float), (value != level).astype(float)) for score, level in scores]
    return found[0], found[1], found[2]


def helpful_calibration(odds: Floats, value: Floats) -> tuple[float, tuple[dict[str, float], ...]]:
    """The calibration error of "helpful", and its curve."""
    said, happened, one = expit(odds), (value == 1).astype(float), np.ones(len(odds))
    return calibration_error(said, happened, one), tuple(calibration_curve(said, happened, one))


def precision_at_one(
    expected: Floats, note: npt.NDArray[np.int32], value: Floats, posts: npt.NDArray[np.int64]
) -> tuple[PrecisionAtOne, ...]:
    """Expected (n,): the model's mean rating of each note; note, value (m,): its ratings; posts (n,).

    Notes with few ratings, and posts that are not known, are left out; ties of raters count for the model.
    """
    count = np.bincount(note, minlength=len(posts))
    mean = np.divide(np.bincount(note, value, len(posts)), count, out=np.zeros(len(posts)), where=count > 0)
    usable = (count >= _LEAST_RATINGS) & (posts >= 0)
    hits: dict[int, list[tuple[bool, float]]] = {}
    for post in np.unique(posts[usable]):
        rows = np.flatnonzero(usable & (posts == post))
        if len(rows) < 2:
            continue
        best = rows[int(np.argmax(expected[rows]))]
        hits.setdefault(min(len(rows), _MOST_NOTES), []).append((mean[best] == mean[rows].max(), 1 / len(rows)))
    return tuple(
        PrecisionAtOne(
            notes_on_post=f"{number} or more" if number == _MOST_NOTES else str(number),
            posts=len(found),
            precision=round(float(np.mean([hit for hit, _ in found])), 4),
            chance=round(float(np.mean([chance for _, chance in found])), 4),
        )
        for number, found in sorted(hits.items())
    )


@dataclass(frozen=True)
class RatedRows:
    """Ratings (m,): note row, the rater's intercept and factor, and the value in {0, 0.5, 1}."""

    note: Rows
    intercept: Floats
    factor: Floats
    value: Floats

    def __len__(self) -> int:
        return len(self.note)


@dataclass(frozen=True)
class RatingFit:
    """Weights of the notes' columns (c, 2) on appeal and lean, their constants (2,), and the ordinal model."""

    weights: Floats
    constants: Floats
    ordinal: OrdinalModel

    def appeal_and_lean(self, columns: csr_matrix) -> Floats:
        """Of notes with columns (n, c): (n, 2)."""
        both: Floats = columns @ self.weights + self.constants
        return both

    def odds(self, columns: csr_matrix, rows: RatedRows) -> Floats:
        """Log odds of "helpful" for each rating, (m,)."""
        return _odds(self.appeal_and_lean(columns), rows, self.ordinal.intercept_slope)


def fit_ratings(columns: csr_matrix, rows: RatedRows, penalty: float) -> RatingFit:
    """Minimise the ratings' negative log likelihood plus penalty / 2 times the weights' squares."""
    width = columns.shape[1]
    across = columns.T.tocsr()
    helpful, not_helpful = rows.value == 1, rows.value == 0
    somewhat = ~(helpful | not_helpful)

    def cost(packed: Floats) -> tuple[float, Floats]:
        weights = packed[: 2 * width].reshape(width, 2)
        constants, slope, wide = packed[-4:-2], packed[-2], np.exp(packed[-1]) + _LEAST_WIDTH
        odds = _odds(columns @ weights + constants, rows, slope)
        top, bottom = expit(odds), expit(odds + wide)
        chance = np.where(helpful, top, np.where(not_helpful, 1 - bottom, bottom - top))
        by_odds = np.where(helpful, top - 1, np.where(not_helpful, bottom, top + bottom - 1))
        # Where a class is all but impossible its gradient is bounded; the chance is kept from 0 for the logarithm.
        kept = np.maximum(chance, 1e-12)
        by_width = np.where(not_helpful, bottom, np.where(somewhat, -bottom * (1 - bottom) / kept, 0.0))
        per_note = np.column_stack(
            (
                np.bincount(rows.note, by_odds, columns.shape[0]),
                np.bincount(rows.note, by_odds * rows.factor, columns.shape[0]),
            )
        )
        slopes = across @ per_note + penalty * weights
        rest = (*per_note.sum(axis=0), float(by_odds @ rows.intercept), by_width.sum() * (wide - _LEAST_WIDTH))
        total = -np.log(kept).sum() + penalty / 2 * float((weights**2).sum())
        return float(total), np.concatenate((slopes.ravel(), rest))

    start = np.zeros(2 * width + 4)
    start[-4] = logit(np.clip(helpful.mean(), 1e-6, 1 - 1e-6))
    start[-2] = 1.0
    start[-1] = -1.0
    found = minimize(cost, start, jac=True, method="L-BFGS-B", options={"maxiter": _ROUNDS, "maxcor": 20}).x
    return RatingFit(
        found[: 2 * width].reshape(width, 2),
        found[-4:-2],
        OrdinalModel(float(found[-2]), float(np.exp(found[-1])) + _LEAST_WIDTH),
    )


def log_loss(odds: Floats, ordinal: OrdinalModel, value: Floats) -> float:
    """Mean negative log likelihood of ratings under their log odds."""
    top, bottom = expit(odds), expit(odds + ordinal.width)
    chance = np.where(value == 1, top, np.where(value == 0, 1 - bottom, bottom - top))
    return float(-np.log(np.maximum(chance, 1e-12)).mean())


def _odds(both: Floats, rows: RatedRows, slope: float) -> Floats:
    odds: Floats = both[rows.note, 0] + both[rows.note, 1] * rows.factor + slope * rows.intercept
    return odds


@dataclass(frozen=True)
class _Columns:
    """Notes and posts as the columns of a linear fit; learned from the older notes alone."""

    rarity: Rarity
    active: npt.NDArray[np.intp]
    landmarks: Landmarks
    root: Floats

    @classmethod
    def of(cls, read: Features) -> _Columns:
        """Learn from notes; hashed words of a single note are left out."""
        rarity = Rarity.of(read.hashed)
        landmarks = choose_landmarks(read, _LANDMARKS, SHARPNESS)
        return cls(rarity, np.flatnonzero(rarity.weights), landmarks, nystroem_root(landmarks))

    def matrix(self, read: Features, posts: Features | None) -> csr_matrix:
        """The columns of notes, (n, c)."""
        near = self.landmarks.near(read.vectors) @ self.root
        parts = [self.rarity.apply(read.hashed)[:, self.active], csr_matrix(near)]
        if posts is not None:
            parts.append(csr_matrix(post_columns(read, posts)))
        return hstack(parts).tocsr()

    def scores(self, fitted: RatingFit) -> tuple[dict[str, Score], Floats]:
        """Appeal's and lean's score, and the posts' weights."""
        words, meaning, posts = np.split(fitted.weights, np.cumsum([len(self.active), self.root.shape[1]]))
        scores = {}
        for number, name in enumerate(("appeal", "lean")):
            hashed = np.zeros(COLUMNS, dtype=np.float32)
            hashed[self.active] = words[:, number]
            near = (self.root @ meaning[:, number]).astype(np.float32)
            constant = float(fitted.constants[number])
            scores[name] = Score(hashed, near, constant, (constant, 1.0))
        return scores, posts


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
    columns = _Columns.of(read.rows(notes.part == 0))
    matrix = columns.matrix(read, posts)
    fitted, penalty = _choose(matrix, parts, progress)
    figures = _measure(notes, ratings, parts, matrix, fitted, penalty, raters, with_posts=posts is not None)
    scores, post_weights = columns.scores(fitted)
    model = RatingModel(
        name=f"public ratings, {figures.learned_from_notes} notes",
        embedder=embedder.name,
        rarity=columns.rarity,
        landmarks=columns.landmarks,
        scores=scores,
        ordinal=fitted.ordinal,
        sides=_sides(raters),
        quality=_quality(data.name, figures),
        post_weights=post_weights,
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
    table = ratings.table.keep(past)
    return fit(table.keep(filter_mask(table, bridging)[0]))


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
    chances = [fitted.ordinal.chances(read[:, 0], read[:, 1], side) for side in (both.negative, both.positive)]
    expected = np.mean([(helpful + 1 - not_helpful).mean(axis=1) / 2 for helpful, not_helpful in chances], axis=0)
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


def _sides(raters: Factorization) -> Sides:
    return Sides.of(np.column_stack((raters.raters.intercepts, raters.raters.factors[:, 0])))


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
