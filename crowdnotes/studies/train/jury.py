"""Train the jury: its model on camps, its pool of raters, and how likely X shows a note (HealthNotes).

Camps: the shipped model learns from every note; its figures are those of a twin that learned from the older notes and
is measured on the newest, some of which are kept so that a check can fail. A score blends two logistic regressions, on
words and on nearness to landmarks, by a third on newer notes. Raters: a Gaussian mixture, parts by held-out likelihood.
Shown: nested cross-validation as for helpfulness, with the notes' times and without; and the newest quarter.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture

from crowdnotes.domain import JuryQuality
from crowdnotes.engines.embedding import Embedder
from crowdnotes.engines.local.trained_models import Blocks
from crowdnotes.errors import InputError
from crowdnotes.jury.model import COLUMNS, CampModel, Features, Landmarks, Rarity, Score, features, save_model
from crowdnotes.jury.raters import POOL_COLUMNS, Floats, Mixture, Roster, own_pool
from crowdnotes.jury.shown_odds import SHOWN, SHOWN_FIGURES, STRICTNESS_TODAY, shown_blocks
from crowdnotes.jury.votes import CAREFUL_SHARE, OrdinalModel, Sides
from crowdnotes.studies.bench.jury import HeldOut, measure_camps
from crowdnotes.studies.data_files import CampNotes, HealthNote, read_camps, split_by_time, write_held_out
from crowdnotes.studies.measures import bootstrap_auc, bootstrap_share, calibration_error, mean_auc, rounded_ends
from crowdnotes.studies.train.judges import (
    FOLDS,
    HELPFULNESS,
    Calibration,
    Labels,
    Recipe,
    Sample,
    Scores,
    TrainedHead,
    fitted_head,
    later_folds,
    nested_scores,
    rivals_auc,
    sample_of,
)
from crowdnotes.studies.train.judges import RIVALS as GATE_RIVALS

Bools = npt.NDArray[np.bool_]
Progress = Callable[[str], None]
# Rater intercepts: from the pilot's ratings, each fifth predicted from a fit of the others (6,217 ratings).
# The width is an assumption: about one rating in ten is then "somewhat helpful". Camps' shares show neither.
CAMP_ORDINAL = OrdinalModel(intercept_slope=7.7, width=0.4)
# These did best on splits by time of the older notes alone (see the model card).
_HALF_LIFE_DAYS = 400.0
_MAX_LANDMARKS, SHARPNESS = 2_000, 1.0
_WORDS_STRENGTH, _MEANING_STRENGTH = 2.0, 4.0
_CALIBRATION_SHARE = 0.25  # the newest part of what is learned from
_NEWEST_SHARE = 0.2
_SAMPLE_NOTES = 500
_SIDE_DRAWS = 20_000
_MIN_NOTES = 60  # of each answer; below that nothing is learned that would hold
_NOT_MEASURED = JuryQuality(data="", notes=0, note="Not measured.")


@dataclass(frozen=True)
class CampRun:
    """The shipped model, its figures on the newest notes, and the sample's."""

    model: CampModel
    figures: dict[str, Any]
    sample: dict[str, Any]


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
    read = features(notes.texts, embedder)
    older, newest = split_by_time(notes, _NEWEST_SHARE)
    untrained = _build_untrained_model(embedder.name, pool, read.rows(older))
    progress("the twin that is measured: learning from the older four fifths")
    twin = train_camp_model(notes.only(older), read.rows(older), untrained)
    late, late_notes = read.rows(newest), notes.only(newest)
    figures = measure_camps(twin, late_notes, late)
    sampled = np.zeros(len(late), dtype=bool)
    sampled[np.random.default_rng(0).permutation(len(late))[:_SAMPLE_NOTES]] = True
    some = late_notes.only(sampled)
    held_out = HeldOut(twin, some.divides, some.approvals, some.raters, late.rows(sampled))
    progress("the model that ships: learning from all")
    model = train_camp_model(notes, read, untrained)
    model = replace(
        model, name=f"camps, {len(notes)} notes", quality=_describe_camp_quality(data.name, figures, len(late))
    )
    run = CampRun(model, figures, held_out.measure())
    save_model(run.model, out / "model")
    held_out.save(out)
    content = {
        "split": "the newest fifth by time is measured, the rest is learned from; no post is on both sides",
        "notes": len(notes),
        "learned_from": int(older.sum()),
        "newest_fifth": run.figures,
        "newest_fifth_without_vectors": measure_camps(twin, late_notes, late.without_vectors()),
        "held_out_sample": run.sample,
    }
    (out / "figures.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return run


def train_camp_model(notes: CampNotes, read: Features, untrained: CampModel) -> CampModel:
    """Learn from notes in order of time and their features, row by row.

    Raises InputError when one of the answers is too rare to learn from.
    """
    _require_enough_notes(notes)
    weight = 0.5 ** ((notes.days[-1] - notes.days) / _HALF_LIFE_DAYS)
    rarity = Rarity.of(read.hashed)
    active = np.flatnonzero(rarity.weights)
    weighed, root = rarity.apply(read.hashed)[:, active], nystroem_root(untrained.landmarks)
    mapped = (untrained.landmarks.near(read.vectors) @ root).astype(np.float32)
    newer = np.arange(len(notes)) >= round(len(notes) * (1 - _CALIBRATION_SHARE))
    older = ~newer & ~np.isin(notes.posts, notes.posts[newer])
    every = np.ones(len(notes), dtype=bool)
    answers = {"splits": (every, notes.divides), "positive_likes": (notes.divides, notes.positive_likes)}
    scores = {}
    for name, (of, target) in answers.items():
        fit = _QuestionFit(weighed, mapped, target, weight)
        words, meaning = fit.halves(of & older)
        both, alone = fit.blend(of & newer, words, meaning)
        words, meaning = fit.halves(of)
        hashed = np.zeros(COLUMNS, dtype=np.float32)
        hashed[active] = both.of[0] * words.of
        scores[name] = Score(
            hashed,
            (root @ (both.of[1] * meaning.of)).astype(np.float32),
            both.constant + both.of[0] * words.constant + both.of[1] * meaning.constant,
            (alone.constant + alone.of[0] * words.constant, float(alone.of[0] / both.of[0])),
        )
    shares = notes.approvals[notes.divides]
    return replace(
        untrained,
        rarity=rarity,
        scores=scores,
        likes=float(shares.max(axis=1).mean()),
        dislikes=float(shares.min(axis=1).mean()),
        joined=float(notes.joined[~notes.divides].mean()),
    )


@dataclass(frozen=True)
class _LogisticWeights:
    of: Floats
    constant: float


@dataclass(frozen=True)
class _QuestionFit:
    """One question's columns, answers and weights, (n, …)."""

    words: csr_matrix
    meaning: npt.NDArray[np.float32]
    target: Bools
    weight: Floats

    def halves(self, rows: Bools) -> tuple[_LogisticWeights, _LogisticWeights]:
        """Words and meaning, each fitted alone to the notes where `rows` is true."""
        return (
            self._logistic(self.words[rows], rows, _WORDS_STRENGTH, "liblinear"),
            self._logistic(self.meaning[rows], rows, _MEANING_STRENGTH),
        )

    def blend(
        self, rows: Bools, words: _LogisticWeights, meaning: _LogisticWeights
    ) -> tuple[_LogisticWeights, _LogisticWeights]:
        """Both halves weighed on other notes than they were fitted to, and the words alone."""
        by_words = self.words[rows] @ words.of + words.constant
        by_meaning = self.meaning[rows] @ meaning.of + meaning.constant
        both = self._logistic(np.column_stack((by_words, by_meaning)), rows, 100.0)
        return both, self._logistic(by_words[:, None], rows, 100.0)

    def _logistic(self, columns: Any, rows: Bools, strength: float, solver: str = "lbfgs") -> _LogisticWeights:
        weight = self.weight[rows] / self.weight[rows].mean()
        fitted = LogisticRegression(C=strength, solver=solver, max_iter=500, random_state=0)
        fitted.fit(columns, self.target[rows], sample_weight=weight)
        return _LogisticWeights(fitted.coef_[0].astype(np.float64), float(fitted.intercept_[0]))


def choose_landmarks(read: Features, count: int, sharpness: float) -> Landmarks:
    """Return some of the notes, all when they are few."""
    chosen = np.random.default_rng(0).permutation(len(read))[:count]
    # Half precision from the start, so that what is measured is what is saved.
    return Landmarks(np.unique(read.vectors[chosen].astype(np.float16), axis=0).astype(np.float32), sharpness)


def nystroem_root(landmarks: Landmarks) -> Floats:
    """K(L, L)^(-1/2) (l, k), by which nearness becomes columns that a linear fit treats alike (Nyström)."""
    values, axes = np.linalg.eigh(landmarks.near(landmarks.points))
    kept = values > 1e-4
    root: Floats = axes[:, kept] / np.sqrt(values[kept])
    return root


def _build_untrained_model(embedder: str, pool: Mixture, older: Features) -> CampModel:
    """Return what both models share: landmarks among the older notes, the sides, the ordinal model."""
    return CampModel(
        name="camps, older notes only",
        embedder=embedder,
        rarity=Rarity(np.zeros(COLUMNS, dtype=np.float32)),
        landmarks=choose_landmarks(older, _MAX_LANDMARKS, SHARPNESS),
        scores={},
        ordinal=CAMP_ORDINAL,
        sides=Sides.of(pool.draw(_SIDE_DRAWS, np.random.default_rng(0))),
        quality=_NOT_MEASURED,
        likes=0.0,
        dislikes=0.0,
        joined=0.0,
    )


def _describe_camp_quality(data: str, figures: dict[str, Any], notes: int) -> JuryQuality:
    return JuryQuality(
        data=data,
        notes=notes,
        polarising_auc=figures["polarising_auc"],
        camp_auc=figures["camp_auc"],
        rating_auc=figures["rating_auc"],
        expected_calibration_error=figures["ece"],
        note=(
            f"A simulation. Its model was tested on {notes:,} newer notes. Of 100 pairs, one note that divides the two "
            f"sides and one that does not, it tells which is which in {100 * figures['polarising_auc']:.0f}. Of 100 "
            f"pairs of dividing notes, one liked by each side, it tells which is which in "
            f"{100 * figures['camp_auc']:.0f}. Guessing gives 50. It reads only the note, not the post."
        ),
    )


def _require_enough_notes(notes: CampNotes) -> None:
    likes = notes.positive_likes[notes.divides]
    numbers = {
        "notes that join the camps": int((~notes.divides).sum()),
        "divided notes that side + likes": int(likes.sum()),
        "divided notes that side − likes": int((~likes).sum()),
    }
    for what, number in numbers.items():
        if number < _MIN_NOTES:
            raise InputError(f"There are only {number} {what}; it takes {_MIN_NOTES}.", "Train on more notes.")


_POOL_FOLDS = 5
_MAX_PARTS = 10
_HISTOGRAM_BINS = 60
_MIN_RATERS = 100


def fit_pool(path: Path, out: Path, source: str) -> dict[str, Any]:
    """Fit the raters in a Parquet file and write the mixture as JSON; `source` says whose raters they are.

    The number of parts is the one with the highest log likelihood on held-out raters (5 folds); the
    file keeps all of them, the histograms and the quantiles, so that the fit can be compared with the data.
    """
    raters = own_pool(path)
    content = _fit_mixture(raters, source)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return content


def _fit_mixture(roster: Roster, source: str) -> dict[str, Any]:
    raters = roster.raters
    if len(raters) < _MIN_RATERS:
        raise InputError(f"There are only {len(raters)} raters; a fit takes {_MIN_RATERS}.", "Give more raters.")
    held_out = {parts: _measure_held_out_likelihood(raters, parts) for parts in range(1, _MAX_PARTS + 1)}
    best = max(held_out, key=lambda parts: held_out[parts])
    fitted = _build_mixture(best).fit(raters)
    order = np.argsort(-fitted.weights_, kind="stable")
    histograms = {}
    for number, name in enumerate(POOL_COLUMNS):
        counts, edges = np.histogram(raters[:, number], bins=_HISTOGRAM_BINS)
        histograms[name] = {"edges": edges.round(6).tolist(), "counts": counts.tolist()}
    drawn = fitted.sample(200_000)[0]
    levels = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
    return {
        "source": source,
        "raters": len(raters),
        "held_out_log_likelihood": {str(parts): round(value, 4) for parts, value in held_out.items()},
        "weights": fitted.weights_[order].tolist(),
        "means": fitted.means_[order].tolist(),
        "covariances": fitted.covariances_[order].tolist(),
        "low": raters.min(axis=0).tolist(),
        "high": raters.max(axis=0).tolist(),
        "quantiles": {
            name: {
                "levels": list(levels),
                "data": np.quantile(raters[:, number], levels).round(4).tolist(),
                "fit": np.quantile(drawn[:, number], levels).round(4).tolist(),
            }
            for number, name in enumerate(POOL_COLUMNS)
        },
        "share_negative": {
            "data": round(float((raters[:, 1] < 0).mean()), 4),
            "fit": round(float((drawn[:, 1] < 0).mean()), 4),
        },
        "histograms": histograms,
    }


def _measure_held_out_likelihood(raters: Floats, parts: int) -> float:
    fold = np.random.default_rng(0).integers(0, _POOL_FOLDS, len(raters))
    scores = [_build_mixture(parts).fit(raters[fold != i]).score(raters[fold == i]) for i in range(_POOL_FOLDS)]
    return float(np.mean(scores))


def _build_mixture(parts: int) -> GaussianMixture:
    return GaussianMixture(parts, covariance_type="full", n_init=2, max_iter=300, reg_covar=1e-5, random_state=0)


FOLD_SETS = 3
RECIPE = replace(HELPFULNESS, vectors=(*HELPFULNESS.vectors, "season"))
RIVALS = {
    "words": GATE_RIVALS["words"],
    "n-grams and time": Recipe(("words", "letters"), ("season",), (0.3, 1.0, 3.0, 10.0), (0.3, 1.0)),
    "embeddings": GATE_RIVALS["embeddings"],
    "measures": GATE_RIVALS["measures"],
}


def train_shown(notes: Sequence[HealthNote], embedder: Embedder, progress: Callable[[str], None]) -> TrainedHead:
    """Measure, fit and calibrate. Deterministic for the same notes; the embedder finds near duplicates.

    Raises InputError when there are too few notes of either kind.
    """
    progress(f"reading {len(notes)} notes")
    plain, written = sample_of(notes, embedder), [note.created_at_ms for note in notes]
    read = shown_blocks([(note.post, note.note) for note in notes], written)
    sample = Sample({**plain.blocks, **read}, plain.labels, plain.groups)
    folds = [sample.folds(FOLDS, seed) for seed in range(FOLD_SETS)]
    today: Blocks = {**sample.blocks, "season": np.full((len(notes), 1), STRICTNESS_TODAY)}
    sets = [nested_scores(RECIPE, sample, each, today) for each in folds]
    dated, undated = [each[0] for each in sets], [each[1] for each in sets]
    progress(f"head: AUC {mean_auc(sample.truth, dated):.3f}")
    head, calibration = fitted_head(RECIPE, sample, dated[0], "")
    chances = [calibration.chances(each) for each in dated]
    figures: dict[str, object] = {
        "notes": len(notes),
        "base_rate": round(float(sample.labels.mean()), 4),
        "folds": FOLDS,
        "fold_sets": FOLD_SETS,
        **_measure_head("", sample.truth, chances, sample.groups),
        "undated_intercept_auc": round(mean_auc(sample.truth, undated), 4),
        "undated_intercept_auc_interval": rounded_ends(bootstrap_auc(sample.truth, undated, sample.groups)),
    }
    for by_time in later_folds(written, sample):
        known, newest = sample.only(by_time[0]), by_time[1]
        odds = nested_scores(RECIPE, sample, [by_time])[0][newest]
        by_then = Calibration.of(nested_scores(RECIPE, known, known.folds(FOLDS, 0))[0], known.labels).chances(odds)
        figures["newest_quarter_notes"] = len(newest)
        figures["newest_quarter_base_rate"] = round(float(sample.labels[newest].mean()), 4)
        figures |= _measure_head("newest_quarter_", sample.truth[newest], [by_then], sample.groups[newest])
    figures["rivals_intercept_auc"] = rivals_auc(RIVALS, sample, folds, progress)
    return TrainedHead(head, sample.truth, chances[0], figures)


def write_shown(trained: TrainedHead, notes: Sequence[HealthNote], folder: Path) -> None:
    """Write the head, what it said of notes that it had not seen, and its figures with the head's checksum."""
    folder.mkdir(parents=True, exist_ok=True)
    trained.head.save(folder / SHOWN)
    write_held_out(folder, "shown", [note.note_id for note in notes], trained.probabilities, trained.labels)
    checksum = hashlib.sha256((folder / SHOWN).read_bytes()).hexdigest()
    content = {**trained.figures, "weights_sha256": checksum}
    (folder / SHOWN_FIGURES).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _measure_head(
    name: str, truth: npt.NDArray[np.bool_], chances: Sequence[Scores], groups: Labels
) -> dict[str, object]:
    """AUC, shares that reach the line, calibration: means over fold sets, with intervals of 1,000 draws of groups."""
    one = np.ones(len(truth))
    reach = [each >= CAREFUL_SHARE for each in chances]
    found: dict[str, object] = {
        "intercept_auc": round(mean_auc(truth, chances), 4),
        "intercept_auc_interval": rounded_ends(bootstrap_auc(truth, chances, groups)),
    }
    for what, of in (("reached", truth), ("wrongly_reached", ~truth)):
        share = np.mean([each[of] for each in reach], axis=0)
        found[what] = round(float(share.mean()), 4)
        found[f"{what}_interval"] = rounded_ends(bootstrap_share(share, groups[of]))
    said = [calibration_error(each, truth.astype(np.float64), one) for each in chances]
    found["ece"] = round(float(np.mean(said)), 4)
    return {name + key: value for key, value in found.items()}
