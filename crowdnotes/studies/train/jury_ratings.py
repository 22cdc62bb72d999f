"""`crowdnotes train jury` on X's public data: single ratings, rater parameters from the past, three classes.

The ordinal model of `jury.votes` is fitted to single ratings by L-BFGS on the exact likelihood. Appeal and lean
are linear in a note's columns (words, letters and hosts by rarity, nearness to landmarks, and the post); a rating
costs one addition in each, so an epoch is a sparse product over notes plus a pass over ratings.

The data is split chronologically 80/10/10 by when a note was written (Supernotes 2.3), no post in two parts. Post texts
are not in the public data; who has them puts posts.parquet (tweetId, text) into the folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, hstack
from scipy.special import expit, logit

from crowdnotes.bridging.columns import NOTES
from crowdnotes.bridging.factorization import fit
from crowdnotes.bridging.model import Factorization, RatingTable, filter_mask
from crowdnotes.bridging.public_files import found_table
from crowdnotes.bridging.ratings import load_ratings
from crowdnotes.bridging.scoring import locate
from crowdnotes.bridging.thresholds import Thresholds
from crowdnotes.domain import JuryQuality
from crowdnotes.engines.embedding import Embedder
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
from crowdnotes.studies.measures import auc, calibration_curve, calibration_error
from crowdnotes.studies.train.jury import SHARPNESS, choose_landmarks, nystroem_root
from crowdnotes.text.note_rules import x_storage_form

Rows = npt.NDArray[np.int32]
_PENALTIES = (0.1, 0.3, 1.0, 3.0, 10.0)  # the validation tenth chooses
_MIN_RATINGS_PER_PART = 200  # ratings in each part
_MAX_LANDMARKS = 1_000
_MIN_RATINGS_PER_NOTE = 5  # of a note before its mean rating says which note on a post is best
_MAX_NOTES_PER_POST = 5  # posts with as many notes or more are counted together
_MIN_WIDTH = 1e-3
_MAX_ITERATIONS = 300
_PART_BEGINNINGS = (0.8, 0.9)  # where the second and the third part begin
_POSTS_FILE = "posts.parquet"


@dataclass(frozen=True)
class PublicNotes:
    """Rated notes by id: ids, posts, written_ms (n,), texts; post_texts (n,), empty where a post is not
    known, or None without posts.parquet.

    part (n,): 0 learn, 1 validate, 2 test, -1 left out because its post is also in a later part.
    """

    ids: npt.NDArray[np.int64]
    posts: npt.NDArray[np.int64]
    written_ms: npt.NDArray[np.int64]
    texts: tuple[str, ...]
    post_texts: tuple[str, ...] | None
    part: npt.NDArray[np.int8]


@dataclass(frozen=True)
class PublicRatings:
    """The ratings (m,) of those notes: table.note is the row of the note in `PublicNotes`."""

    table: RatingTable
    created_ms: npt.NDArray[np.int64]
    dropped: dict[str, int]


def load_public(data: Path) -> tuple[PublicNotes, PublicRatings]:
    """Read notes, ratings and, where there is one, posts.parquet from a folder.

    Ratings of notes without a text are dropped and counted. Raises InputError when notes or ratings are
    missing, have no times, or nothing is left.
    """
    with found_table(NOTES, data) as found:
        if found is None:
            raise InputError(f"{data} lacks notes or ratings.", "Put notes-00000.tsv and ratings-00000.tsv there.")
        stored = pq.read_table(found.parquet)
    missing = {"noteId", "tweetId", "createdAtMillis", "summary"} - set(stored.column_names)
    if missing:
        raise InputError(f"The notes lack {', '.join(sorted(missing))}.", "Download the public data again.")
    ratings = load_ratings(data, with_details=True)
    if ratings.created_at_ms is None:
        raise InputError("The ratings have no times, so they cannot be split into past and future.", "Use public data.")
    stored = stored.filter(pc.is_valid(stored["summary"]))
    ids = stored["noteId"].to_numpy()
    order = np.argsort(ids, kind="stable")
    known = np.isin(ratings.table.note_ids, ids)
    usable = known[ratings.table.note]
    if not usable.any():
        raise InputError("No rating is of a note whose text is there.", "Notes and ratings must be of one download.")
    kept = ratings.table.keep(usable)
    rows = order[np.searchsorted(ids[order], kept.note_ids)]
    chosen = stored.take(pa.array(rows))
    posts = np.asarray(chosen["tweetId"].fill_null(-1).to_numpy(), dtype=np.int64)
    written = np.asarray(chosen["createdAtMillis"].fill_null(0).to_numpy(), dtype=np.int64)
    notes = PublicNotes(
        np.asarray(kept.note_ids, dtype=np.int64),
        posts,
        written,
        tuple(x_storage_form(text) for text in chosen["summary"].to_pylist()),
        _read_post_texts(data / _POSTS_FILE, posts),
        split_chronologically(written, posts),
    )
    dropped = dict(ratings.dropped)
    if not usable.all():
        dropped["ratings of notes without text"] = int((~usable).sum())
    return notes, PublicRatings(kept, ratings.created_at_ms[usable], dropped)


def split_chronologically(written_ms: npt.NDArray[np.int64], posts: npt.NDArray[np.int64]) -> npt.NDArray[np.int8]:
    """Return the part of each note (n,): see `PublicNotes.part`. A post below 0 is not known and binds nothing."""
    place = np.empty(len(written_ms), dtype=np.int64)
    place[np.argsort(written_ms, kind="stable")] = np.arange(len(written_ms))
    edges = [round(len(place) * share) for share in _PART_BEGINNINGS]
    part = np.digitize(place, edges).astype(np.int8)
    for earlier in (0, 1):
        later = np.unique(posts[(part > earlier) & (posts >= 0)])
        part[(part == earlier) & np.isin(posts, later)] = -1
    return part


def _read_post_texts(path: Path, posts: npt.NDArray[np.int64]) -> tuple[str, ...] | None:
    if not path.exists():
        return None
    try:
        table = pq.read_table(path, columns=["tweetId", "text"])
        texts: dict[Any, str] = dict(
            zip(table["tweetId"].cast(pa.int64()).to_pylist(), table["text"].to_pylist(), strict=True)
        )
    except (pa.ArrowInvalid, OSError, KeyError) as error:
        raise InputError(
            f"{path.name} cannot be read.", "It needs the columns tweetId (whole numbers) and text."
        ) from error
    return tuple(texts.get(int(post)) or "" for post in posts)


def class_aucs(odds: Floats, ordinal: OrdinalModel, value: Floats) -> tuple[float | None, float | None, float | None]:
    """Measure helpful, somewhat helpful, not helpful, each against the rest; odds and value (m,)."""
    helpful, not_helpful = expit(odds), expit(-(odds + ordinal.width))
    scores = ((helpful, 1.0), (1 - helpful - not_helpful, 0.5), (not_helpful, 0.0))
    found = [auc(score, (value == level).astype(float), (value != level).astype(float)) for score, level in scores]
    return found[0], found[1], found[2]


def precision_at_one(
    expected: Floats, note: npt.NDArray[np.int32], value: Floats, posts: npt.NDArray[np.int64]
) -> list[dict[str, Any]]:
    """Of posts with so many notes: how often the model's best note is the raters' best; chance is 1 / notes.

    Expected (n,): the model's mean rating of each note; note, value (m,): its ratings; posts (n,).

    Notes with few ratings, and posts that are not known, are left out; ties of raters count for the model.
    """
    count = np.bincount(note, minlength=len(posts))
    mean = np.divide(np.bincount(note, value, len(posts)), count, out=np.zeros(len(posts)), where=count > 0)
    usable = (count >= _MIN_RATINGS_PER_NOTE) & (posts >= 0)
    hits: dict[int, list[tuple[bool, float]]] = {}
    for post in np.unique(posts[usable]):
        rows = np.flatnonzero(usable & (posts == post))
        if len(rows) < 2:
            continue
        best = rows[int(np.argmax(expected[rows]))]
        hits.setdefault(min(len(rows), _MAX_NOTES_PER_POST), []).append((mean[best] == mean[rows].max(), 1 / len(rows)))
    return [
        {
            "notes_on_post": f"{number} or more" if number == _MAX_NOTES_PER_POST else str(number),
            "posts": len(found),
            "precision": round(float(np.mean([hit for hit, _ in found])), 4),
            "chance": round(float(np.mean([chance for _, chance in found])), 4),
        }
        for number, found in sorted(hits.items())
    ]


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
        return _compute_odds(self.appeal_and_lean(columns), rows, self.ordinal.intercept_slope)


def fit_ratings(columns: csr_matrix, rows: RatedRows, penalty: float) -> RatingFit:
    """Minimise the ratings' negative log likelihood plus penalty / 2 times the weights' squares."""
    width = columns.shape[1]
    across = columns.T.tocsr()
    helpful, not_helpful = rows.value == 1, rows.value == 0
    somewhat = ~(helpful | not_helpful)

    def cost(packed: Floats) -> tuple[float, Floats]:
        weights = packed[: 2 * width].reshape(width, 2)
        constants, slope, wide = packed[-4:-2], packed[-2], np.exp(packed[-1]) + _MIN_WIDTH
        odds = _compute_odds(columns @ weights + constants, rows, slope)
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
        rest = (*per_note.sum(axis=0), float(by_odds @ rows.intercept), by_width.sum() * (wide - _MIN_WIDTH))
        total = -np.log(kept).sum() + penalty / 2 * float((weights**2).sum())
        return float(total), np.concatenate((slopes.ravel(), rest))

    start = np.zeros(2 * width + 4)
    start[-4] = logit(np.clip(helpful.mean(), 1e-6, 1 - 1e-6))
    start[-2] = 1.0
    start[-1] = -1.0
    found = minimize(cost, start, jac=True, method="L-BFGS-B", options={"maxiter": _MAX_ITERATIONS, "maxcor": 20}).x
    return RatingFit(
        found[: 2 * width].reshape(width, 2),
        found[-4:-2],
        OrdinalModel(float(found[-2]), float(np.exp(found[-1])) + _MIN_WIDTH),
    )


def log_loss(odds: Floats, ordinal: OrdinalModel, value: Floats) -> float:
    """Mean negative log likelihood of ratings under their log odds."""
    top, bottom = expit(odds), expit(odds + ordinal.width)
    chance = np.where(value == 1, top, np.where(value == 0, 1 - bottom, bottom - top))
    return float(-np.log(np.maximum(chance, 1e-12)).mean())


def _compute_odds(both: Floats, rows: RatedRows, slope: float) -> Floats:
    odds: Floats = both[rows.note, 0] + both[rows.note, 1] * rows.factor + slope * rows.intercept
    return odds


@dataclass(frozen=True)
class _NoteColumns:
    """Notes and posts as the columns of a linear fit; learned from the older notes alone."""

    rarity: Rarity
    active: npt.NDArray[np.intp]
    landmarks: Landmarks
    root: Floats

    @classmethod
    def of(cls, read: Features) -> _NoteColumns:
        """Learn from notes; hashed words of a single note are left out."""
        rarity = Rarity.of(read.hashed)
        landmarks = choose_landmarks(read, _MAX_LANDMARKS, SHARPNESS)
        return cls(rarity, np.flatnonzero(rarity.weights), landmarks, nystroem_root(landmarks))

    def matrix(self, read: Features, posts: Features | None) -> csr_matrix:
        """Return the columns of notes, (n, c)."""
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
class _RatingParts:
    """Ratings (m,) in a part of the notes by raters who are known from the past: learn, validate, test."""

    rows: tuple[RatedRows, RatedRows, RatedRows]
    unknown_raters: int


def run_public_training(
    data: Path,
    out: Path,
    embedder: Embedder,
    thresholds: Thresholds,
    progress: Callable[[str], None] = lambda line: None,  # noqa: ARG005
) -> dict[str, Any]:
    """Train on a folder of public data, measure on its newest tenth, and write model/ and figures.json to `out`.

    Newer notes than those learned from, by raters whose parameters are from the past alone. *_auc: one class against
    the rest, over single ratings; None where a class does not occur. ece and curve are of "helpful".
    """
    notes, ratings = load_public(data)
    progress(f"{len(ratings.table)} ratings of {len(notes.ids)} notes")
    raters = _fit_past_raters(notes, ratings, thresholds)
    parts = _split_ratings(notes, ratings, raters)
    progress("reading the notes")
    read = features(notes.texts, embedder)
    posts = _embed_posts(notes, embedder)
    columns = _NoteColumns.of(read.rows(notes.part == 0))
    matrix = columns.matrix(read, posts)
    fitted, penalty = _choose_penalty(matrix, parts, progress)
    figures = _measure_fit(notes, ratings, parts, matrix, fitted, penalty, raters)
    scores, post_weights = columns.scores(fitted)
    model = RatingModel(
        name=f"public ratings, {figures['learned_from_notes']} notes",
        embedder=embedder.name,
        rarity=columns.rarity,
        landmarks=columns.landmarks,
        scores=scores,
        ordinal=fitted.ordinal,
        sides=_build_sides(raters),
        quality=_describe_rating_quality(data.name, figures),
        post_weights=post_weights,
    )
    save_model(model, out / "model")
    (out / "figures.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return figures


def _embed_posts(notes: PublicNotes, embedder: Embedder) -> Features | None:
    """Return the notes' posts, row by row; a post that is not known has a vector of zeros, which adds nothing."""
    if notes.post_texts is None:
        return None
    read = features(notes.post_texts, embedder)
    known = np.asarray([bool(text.strip()) for text in notes.post_texts], dtype=np.float32)
    return read.with_vectors(read.vectors * known[:, None])


def _fit_past_raters(notes: PublicNotes, ratings: PublicRatings, thresholds: Thresholds) -> Factorization:
    """Rater parameters from ratings of the older notes, made before the first newer note was written."""
    later = notes.written_ms[notes.part > 0]
    if not len(later):
        raise InputError("There are too few notes to split by time.", "Train on more data.")
    past = (notes.part[ratings.table.note] == 0) & (ratings.created_ms < later.min())
    if not past.any():
        raise InputError("No rating was made before the newer notes were written.", "Train on more data.")
    table = ratings.table.keep(past)
    return fit(table.keep(filter_mask(table, thresholds)[0]))


def _split_ratings(notes: PublicNotes, ratings: PublicRatings, raters: Factorization) -> _RatingParts:
    place, known = locate(ratings.table.rater_ids, raters.raters.ids)
    rater, seen = place[ratings.table.rater], known[ratings.table.rater]
    part = notes.part[ratings.table.note]
    rows = []
    for number, name in enumerate(("older", "validation", "newest")):
        mine = seen & (part == number)
        if int(mine.sum()) < _MIN_RATINGS_PER_PART:
            raise InputError(
                f"Only {int(mine.sum())} ratings of the {name} notes are by known raters; it takes "
                f"{_MIN_RATINGS_PER_PART}.",
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
    return _RatingParts((rows[0], rows[1], rows[2]), int((~seen).sum()))


def _choose_penalty(
    matrix: csr_matrix, parts: _RatingParts, progress: Callable[[str], None]
) -> tuple[RatingFit, float]:
    """Return the fit with the penalty under which the validation ratings are likeliest."""
    learn, validate, _ = parts.rows
    tried = []
    for penalty in _PENALTIES:
        found = fit_ratings(matrix, learn, penalty)
        loss = log_loss(found.odds(matrix, validate), found.ordinal, validate.value)
        progress(f"penalty {penalty:g}: {loss:.4f} on the validation ratings")
        tried.append((loss, penalty, found))
    _, penalty, best = min(tried, key=lambda one: one[0])
    return best, penalty


def _measure_fit(
    notes: PublicNotes,
    ratings: PublicRatings,
    parts: _RatingParts,
    matrix: csr_matrix,
    fitted: RatingFit,
    penalty: float,
    raters: Factorization,
) -> dict[str, Any]:
    learn, _, test = parts.rows
    odds = fitted.odds(matrix, test)
    helpful, somewhat, not_helpful = class_aucs(odds, fitted.ordinal, test.value)
    said, happened, one = expit(odds), (test.value == 1).astype(float), np.ones(len(odds))
    read = fitted.appeal_and_lean(matrix)
    both = _build_sides(raters)
    chances = [fitted.ordinal.chances(read[:, 0], read[:, 1], side) for side in (both.negative, both.positive)]
    expected = np.mean([(liked + 1 - disliked).mean(axis=1) / 2 for liked, disliked in chances], axis=0)
    return {
        "helpful_auc": helpful,
        "somewhat_helpful_auc": somewhat,
        "not_helpful_auc": not_helpful,
        "log_loss": log_loss(odds, fitted.ordinal, test.value),
        "ece": calibration_error(said, happened, one),
        "curve": calibration_curve(said, happened, one),
        "precision_at_1": precision_at_one(expected, test.note, test.value, notes.posts),
        "ratings": len(test),
        "notes": len(np.unique(test.note)),
        "learned_from_ratings": len(learn),
        "learned_from_notes": len(np.unique(learn.note)),
        "raters": len(raters.raters),
        "reads_posts": notes.post_texts is not None,
        "penalty": penalty,
        "dropped": {**ratings.dropped, "ratings by raters not known from the past": parts.unknown_raters},
    }


def _build_sides(raters: Factorization) -> Sides:
    return Sides.of(np.column_stack((raters.raters.intercepts, raters.raters.factors[:, 0])))


def _describe_rating_quality(data: str, figures: dict[str, Any]) -> JuryQuality:
    auc_of_helpful = figures["helpful_auc"]
    return JuryQuality(
        data=data,
        notes=figures["notes"],
        rating_auc=auc_of_helpful,
        expected_calibration_error=figures["ece"],
        note=(
            f"A simulation. Its model was tested on {figures['ratings']:,} ratings of {figures['notes']:,} newer "
            "notes. Of 100 pairs, one “helpful” rating and one other, it tells which is which in "
            f"{100 * (auc_of_helpful or float('nan')):.0f}. Guessing gives 50."
        ),
    )
