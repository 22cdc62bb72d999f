"""Train the judges: helpfulness on HealthNotes, opinion on notes that both camps approve.

Measured in nested cross-validation against simple rivals: in each outer fold the recipe is chosen and every step fitted
on the other folds alone. Near duplicates, by meaning, share a fold: two wordings of one post share few words, so
duplicates found by words (`evidence.duplicates`) would land in two folds. A second measure is by time: newer notes,
judged by a head of all older ones. Deterministic for the same rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from crowdnotes.engines.embedding import Embedder, FloatArray
from crowdnotes.engines.local.helpfulness import helpfulness_blocks
from crowdnotes.engines.local.principles import opinion_blocks
from crowdnotes.engines.local.trained_models import (
    Blocks,
    Head,
    letter_counts,
    note_words,
    rows_of,
)
from crowdnotes.errors import InputError
from crowdnotes.studies.data_files import OPINION_LABELS, HealthNote
from crowdnotes.studies.measures import bootstrap_auc, macro_f1, mean_auc, rounded_ends
from crowdnotes.text.tokens import plain_post

Labels = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]
Fold = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
_MAX_ITERATIONS = 1_000
_INNER_FOLDS = 3
_MIN_DUPLICATE_COSINE = 0.85  # cosine of two wordings of one post, read on pairs of HealthNotes posts
_LINK_OR_NON_WORD_PATTERN = re.compile(r"https?://\S+|\W+")


@dataclass(frozen=True, slots=True)
class Recipe:
    """`counts`: blocks of counts; `vectors`: blocks of vectors. The rest is what the inner folds choose from.

    `penalties` are scikit-learn's C; `weights` the weight of a standardised vector against a text's counts of length 1.
    """

    counts: Sequence[str]
    vectors: Sequence[str] = ()
    penalties: Sequence[float] = (0.3, 1.0, 3.0)
    weights: Sequence[float] = (1.0,)

    def rows(self, blocks: Blocks) -> csr_matrix:
        """Return the recipe's blocks side by side."""
        return rows_of(blocks, self.widths(blocks))

    def widths(self, blocks: Blocks) -> dict[str, int]:
        """Return the columns of each block."""
        return {name: int(blocks[name].shape[1]) for name in (*self.counts, *self.vectors)}

    def chosen(self, blocks: Blocks, rows: csr_matrix, labels: Labels, groups: npt.NDArray[np.int64]) -> Pipeline:
        """Return the pipeline fitted to these rows, by the choice with the best area under the curve on their folds."""
        parts, start = [], 0
        for name, width in self.widths(blocks).items():
            step = TfidfTransformer(sublinear_tf=True) if name in self.counts else _make_scaler()
            parts.append((name, step, slice(start, start + width)))
            start += width
        pipeline = Pipeline(
            [
                ("blocks", ColumnTransformer(parts, sparse_threshold=1.0)),
                ("head", LogisticRegression(max_iter=_MAX_ITERATIONS)),
            ]
        )
        choices = [
            {
                "head__C": penalty,
                "blocks__transformer_weights": {name: weight / np.sqrt(blocks[name].shape[1]) for name in self.vectors},
            }
            for penalty in self.penalties
            for weight in self.weights
        ]
        if len(choices) == 1:
            return pipeline.set_params(**choices[0]).fit(rows, labels)
        splitter = StratifiedGroupKFold(_INNER_FOLDS, shuffle=True, random_state=0)
        grid = [{name: [value] for name, value in choice.items()} for choice in choices]
        search = GridSearchCV(pipeline, grid, scoring="roc_auc", cv=splitter)
        return search.fit(rows, labels, groups=groups).best_estimator_


def _make_scaler() -> Pipeline:
    """Standardise measures, none counted beyond the largest size learned from: a note ten times as long is no surer."""
    return make_pipeline(MaxAbsScaler(clip=True), StandardScaler(with_mean=False))


@dataclass(frozen=True, slots=True)
class Sample:
    """Notes: their blocks, labels 0 and 1 (n,), and groups (n,) that no fold may part."""

    blocks: Blocks
    labels: Labels
    groups: Labels

    @property
    def truth(self) -> npt.NDArray[np.bool_]:
        """The labels as yes and no."""
        return self.labels.astype(bool)

    def only(self, rows: npt.NDArray[np.int64]) -> Sample:
        """Return some of the notes, every block known."""
        return Sample({name: block[rows] for name, block in self.blocks.items()}, self.labels[rows], self.groups[rows])

    def folds(self, count: int, seed: int) -> list[Fold]:
        """Rows to learn from and rows to judge: no group in two of the latter."""
        splitter = StratifiedGroupKFold(count, shuffle=True, random_state=seed)
        return list(splitter.split(self.labels, self.labels, self.groups))


def nested_scores(recipe: Recipe, sample: Sample, folds: Iterable[Fold], *others: Blocks) -> list[Scores]:
    """Return the log-odds of each note from a head that was chosen and fitted without its fold; NaN in no fold.

    `others` are blocks of the same notes in another light, judged by the same heads: an array each, after the first.
    """
    rows = [recipe.rows(blocks) for blocks in (sample.blocks, *others)]
    found = [np.full(len(sample.labels), np.nan) for _ in rows]
    for train, test in folds:
        pipeline = recipe.chosen(sample.blocks, rows[0][train], sample.labels[train], sample.groups[train])
        for scores, each in zip(found, rows, strict=True):
            scores[test] = pipeline.decision_function(each[test])
    return found


def rivals_auc(
    rivals: Mapping[str, Recipe], sample: Sample, folds: Sequence[Sequence[Fold]], progress: Callable[[str], None]
) -> dict[str, float]:
    """Return what simple rivals reach on the same sets of folds."""
    return {name: round(mean_auc(sample.truth, each), 4) for name, each in _scores_of(rivals, sample, folds, progress)}


def _scores_of(
    recipes: Mapping[str, Recipe], sample: Sample, folds: Sequence[Sequence[Fold]], progress: Callable[[str], None]
) -> Iterator[tuple[str, list[Scores]]]:
    for name, recipe in recipes.items():
        scores = [nested_scores(recipe, sample, each)[0] for each in folds]
        progress(f"{name}: AUC {mean_auc(sample.truth, scores):.3f}")
        yield name, scores


def compare(
    figure: str,
    recipes: Mapping[str, Recipe],
    sample: Sample,
    folds: Sequence[Sequence[Fold]],
    progress: Callable[[str], None],
) -> tuple[list[Scores], dict[str, object]]:
    """Return the first recipe's scores on sets of folds, and its figures with those of the others.

    The second is the simplest rival; the first's lead over it has an interval.
    """
    found = dict(_scores_of(recipes, sample, folds, progress))
    areas = {name: round(mean_auc(sample.truth, scores), 4) for name, scores in found.items()}
    (own, scores), (simplest, rival) = list(found.items())[:2]
    return scores, {
        f"{figure}_auc": areas.pop(own),
        f"{figure}_auc_interval": rounded_ends(bootstrap_auc(sample.truth, scores, sample.groups)),
        f"{figure}_lead_over_{simplest}": round(mean_auc(sample.truth, scores) - mean_auc(sample.truth, rival), 4),
        f"{figure}_lead_interval": rounded_ends(bootstrap_auc(sample.truth, scores, sample.groups, rival=rival)),
        f"rivals_{figure}_auc": areas,
    }


def later_folds(
    written_ms: Sequence[int | None], sample: Sample, *, first_share: float = 0.75, parts: int = 1
) -> list[Fold]:
    """Return the notes after the first share in parts, each with all older ones to learn from, no near copies.

    Notes without a time count as the oldest. A part is left out without both labels in it and before it.
    """
    order = np.argsort([moment or 0 for moment in written_ms], kind="stable")
    ends = np.round(np.linspace(first_share, 1, parts + 1) * len(order)).astype(np.int64)
    folds = []
    for start, end in pairwise(ends):
        older, later = order[:start], order[start:end]
        later = later[~np.isin(sample.groups[later], sample.groups[older])]
        if min(len(set(sample.labels[rows])) for rows in (older, later)) == 2:
            folds.append((older, later))
    return folds


@dataclass(frozen=True, slots=True)
class Calibration:
    """Log-odds to those whose chances came true on held-out notes (Platt, 1999)."""

    slope: float
    offset: float

    @classmethod
    def of(cls, held_out: Scores, labels: Labels) -> Calibration:
        """Fitted where `held_out` log-odds are known."""
        known = ~np.isnan(held_out)
        fitted = LogisticRegression(C=1e3).fit(held_out[known].reshape(-1, 1), labels[known])
        return cls(float(fitted.coef_[0][0]), float(fitted.intercept_[0]))

    def chances(self, scores: Scores) -> Scores:
        """Log-odds as probabilities."""
        found: Scores = 1.0 / (1.0 + np.exp(-(self.slope * scores + self.offset)))
        return found


def fitted_head(recipe: Recipe, sample: Sample, held_out: Scores, embedder: str) -> tuple[Head, Calibration]:
    """Return the head of all notes, calibrated on `held_out` log-odds, and the calibration."""
    calibration = Calibration.of(held_out, sample.labels)
    pipeline = recipe.chosen(sample.blocks, recipe.rows(sample.blocks), sample.labels, sample.groups)
    pipeline[0]._transformer_to_input_indices = {}  # a number for each column, read for data frames alone
    last = pipeline[-1]
    last.coef_ = _round_weights(calibration.slope * last.coef_)
    last.intercept_ = calibration.slope * last.intercept_ + calibration.offset
    for name, step, _ in pipeline[0].transformers_:
        if name in recipe.counts:
            step.idf_ = _round_weights(step.idf_)
    means: Mapping[str, npt.NDArray[np.float32]] = {
        name: np.asarray(sample.blocks[name].mean(axis=0), dtype=np.float32) for name in recipe.vectors
    }
    return Head(pipeline, recipe.widths(sample.blocks), means, embedder), calibration


def _round_weights(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """In half the digits, which pack into a third of the bytes."""
    return values.astype(np.float16).astype(np.float32)


def group_texts(texts: Sequence[str], vectors: FloatArray) -> npt.NDArray[np.int64]:
    """Return a group number for each text; texts linked by any chain of near duplicates share one."""
    plain = [_LINK_OR_NON_WORD_PATTERN.sub(" ", text.lower()).strip() for text in texts]
    first = {text: row for row, text in reversed(list(enumerate(plain)))}
    near = (vectors @ vectors.T) > _MIN_DUPLICATE_COSINE
    for row, text in enumerate(plain):
        near[row, first[text]] = True
    _, groups = connected_components(near, directed=False)
    return np.asarray(groups, dtype=np.int64)


def joined_groups(first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """One grouping of both, all of shape (rows,): rows linked by any chain of groups in either share one."""
    together = (first[:, None] == first) | (second[:, None] == second)
    _, groups = connected_components(together, directed=False)
    return np.asarray(groups, dtype=np.int64)


FOLDS = 5
FOLD_SETS = 2
_LATER_SHARE, _LATER_PARTS = 0.4, 4
_MEASURES = ("note measures", "post measures")
HELPFULNESS = Recipe(("words",), _MEASURES, penalties=(1.0, 3.0, 10.0, 30.0, 100.0), weights=(0.05, 0.1, 0.2, 0.4))
OPINION = Recipe(("words", "letters"), ("note", "features"), penalties=(1.0,), weights=(1.0,))  # without the newest
RIVALS = {
    "words": Recipe(("words",), penalties=(1.0,)),
    "n-grams untuned": Recipe(("words", "letters"), penalties=(1.0,)),
    "n-grams tuned": Recipe(("words", "letters"), penalties=(0.3, 1.0, 3.0, 10.0, 30.0)),
    "embeddings": Recipe((), ("plain note", "plain post"), penalties=(0.01, 0.1, 1.0, 10.0)),
    "measures": Recipe((), _MEASURES, penalties=(0.01, 0.1, 1.0, 10.0)),
}


@dataclass(frozen=True, slots=True)
class TrainedHead:
    """The head of all notes, each note's label and held-out probability (n,), and what was measured."""

    head: Head
    labels: npt.NDArray[np.bool_]
    probabilities: Scores
    figures: dict[str, object]


def sample_of(notes: Sequence[HealthNote], embedder: Embedder) -> Sample:
    """Return the plain blocks of notes and posts, which were helpful, and which may not be parted by a fold.

    Raises InputError when there are too few notes of either kind.
    """
    posts, words = [plain_post(note.post) for note in notes], [note_words(note.note) for note in notes]
    plain: Blocks = {
        "plain post": embedder.encode(posts),
        "plain note": embedder.encode(words),
        "letters": letter_counts([f"{post} {note.note}" for post, note in zip(posts, notes, strict=True)]),
    }
    groups = joined_groups(group_texts(posts, plain["plain post"]), group_texts(words, plain["plain note"]))
    labels: Labels = np.array([note.is_helpful for note in notes], dtype=np.int64)
    if min(len(set(groups[labels == label])) for label in (0, 1)) < FOLDS:
        raise InputError(
            f"For {FOLDS} folds there must be {FOLDS} helpful and {FOLDS} unhelpful notes that differ.",
            "Add more notes.",
        )
    return Sample(plain, labels, groups)


def train_helpfulness(notes: Sequence[HealthNote], embedder: Embedder, progress: Callable[[str], None]) -> TrainedHead:
    """Measure, fit and calibrate. Deterministic for the same notes; the embedder finds near duplicates.

    Raises InputError when there are too few notes of either kind.
    """
    progress(f"reading {len(notes)} notes")
    plain = sample_of(notes, embedder)
    blocks = helpfulness_blocks([(note.post, note.note) for note in notes])
    sample = Sample({**plain.blocks, **blocks}, plain.labels, plain.groups)
    recipes = {"head": HELPFULNESS, **RIVALS}
    folds = [sample.folds(FOLDS, seed) for seed in range(FOLD_SETS)]
    scores, nested = compare("nested", recipes, sample, folds, progress)
    head, calibration = fitted_head(HELPFULNESS, sample, scores[0], "")
    macro = np.mean([macro_f1(sample.truth, calibration.chances(each) >= 0.5) for each in scores])
    figures: dict[str, object] = {
        "notes": len(notes),
        "base_rate": round(float(sample.labels.mean()), 4),
        "folds": FOLDS,
        "fold_sets": FOLD_SETS,
        **nested,
        "nested_macro_f1": round(float(macro), 4),
    }
    written = [note.created_at_ms for note in notes]
    for name, first, parts in (("later", _LATER_SHARE, _LATER_PARTS), ("newest_quarter", 0.75, 1)):
        folds = [[fold] for fold in later_folds(written, sample, first_share=first, parts=parts)]
        if folds:
            figures[f"{name}_notes"] = sum(len(later) for ((_, later),) in folds)
            figures |= compare(name, recipes, sample, folds, progress)[1]
    return TrainedHead(head, sample.truth, calibration.chances(scores[0]), figures)


def train_opinion(notes: pd.DataFrame, embedder: Embedder, progress: Callable[[str], None]) -> TrainedHead:
    """Fit and measure on `labelled_bridging` notes, oldest first: opinion, speculation or hostility against the rest.

    Five blocks by time: each is judged by a head of the other four, so that the newest fifth is judged by a head
    of older notes alone, and that is the figure. Deterministic.
    """
    texts = [str(text) for text in notes["text"]]
    progress(f"reading {len(texts)} notes")
    labels: Labels = notes["content_label"].isin(OPINION_LABELS).to_numpy().astype(np.int64)
    every = np.arange(len(texts))
    sample = Sample(opinion_blocks(embedder, embedder.name, texts), labels, every)
    fifths = np.array_split(every, FOLDS)
    held_out = nested_scores(OPINION, sample, [(np.setdiff1d(every, fifth), fifth) for fifth in fifths])[0]
    auc = round(mean_auc(sample.truth[fifths[-1]], [held_out[fifths[-1]]]), 4)
    progress(f"newest fifth: AUC {auc:.3f}; fitting to all")
    head, calibration = fitted_head(OPINION, sample, held_out, embedder.name)
    figures: dict[str, object] = {
        "notes": len(notes),
        "opinion_or_hostile": int(labels.sum()),
        "newest_fifth": len(fifths[-1]),
        "auc_on_newest_fifth": auc,
    }
    return TrainedHead(head, sample.truth, calibration.chances(held_out), figures)
