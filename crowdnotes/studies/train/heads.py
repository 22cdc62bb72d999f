"""Fits a head as a scikit-learn pipeline, and measures it in nested cross-validation.

Nested: in each outer fold the recipe is chosen, and every step fitted, on the other folds alone, so that no choice
is measured on the notes that it was made on. Deterministic for the same rows.

Folds keep near duplicates together. Here that is meant by meaning: two wordings of one post share few words, so what
finds copies for the reader (`evidence.merging`, by words) would let them into two folds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from crowdnotes.engines.embedding import FloatArray
from crowdnotes.engines.local.trained_models import Blocks, Head, rows_of
from crowdnotes.studies.measures import area_under_curve

Labels = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]
Fold = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
_NEWEST = 0.25
_ROUNDS = 1_000
_INNER_FOLDS = 3
_SAME = 0.85  # cosine of two wordings of one post, read on pairs of HealthNotes posts
_LINK = re.compile(r"https?://\S+|\W+")


@dataclass(frozen=True, slots=True)
class Recipe:
    """`counts`: blocks of counts; `vectors`: blocks of vectors. The rest is what the inner folds choose from.

    `penalties` are scikit-learn's C; `weights` what a standardised vector weighs beside a text's counts of length 1.
    """

    counts: Sequence[str]
    vectors: Sequence[str] = ()
    penalties: Sequence[float] = (0.3, 1.0, 3.0)
    weights: Sequence[float] = (1.0,)

    def rows(self, blocks: Blocks) -> csr_matrix:
        """The recipe's blocks side by side."""
        return rows_of(blocks, self.widths(blocks))

    def widths(self, blocks: Blocks) -> dict[str, int]:
        """The columns of each block."""
        return {name: int(blocks[name].shape[1]) for name in (*self.counts, *self.vectors)}

    def chosen(self, blocks: Blocks, rows: csr_matrix, labels: Labels, groups: npt.NDArray[np.int64]) -> Pipeline:
        """The pipeline fitted to these rows, by the choice with the best area under the curve on folds of them."""
        parts, start = [], 0
        for name, width in self.widths(blocks).items():
            step = TfidfTransformer(sublinear_tf=True) if name in self.counts else StandardScaler(with_mean=False)
            parts.append((name, step, slice(start, start + width)))
            start += width
        pipeline = Pipeline(
            [
                ("blocks", ColumnTransformer(parts, sparse_threshold=1.0)),
                ("head", LogisticRegression(max_iter=_ROUNDS)),
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

    def folds(self, count: int, seed: int) -> list[Fold]:
        """Rows to learn from and rows to judge: no group in two of the latter."""
        splitter = StratifiedGroupKFold(count, shuffle=True, random_state=seed)
        return list(splitter.split(self.labels, self.labels, self.groups))


def nested_scores(recipe: Recipe, sample: Sample, folds: Iterable[Fold], *others: Blocks) -> list[Scores]:
    """The log-odds of each note from a head that was chosen and fitted without its fold; NaN in no fold.

    `others` are blocks of the same notes in another light, judged by the same heads: an array each, after the first.
    """
    rows = [recipe.rows(blocks) for blocks in (sample.blocks, *others)]
    found = [np.full(len(sample.labels), np.nan) for _ in rows]
    for train, test in folds:
        pipeline = recipe.chosen(sample.blocks, rows[0][train], sample.labels[train], sample.groups[train])
        for scores, each in zip(found, rows, strict=True):
            scores[test] = pipeline.decision_function(each[test])
    return found


def mean_auc(truth: npt.NDArray[np.bool_], scores: Sequence[Scores]) -> float:
    """The mean area under the curve over fold sets."""
    return round(float(np.mean([area_under_curve(truth, each) or 0.0 for each in scores])), 4)


def rivals_auc(
    rivals: Mapping[str, Recipe], sample: Sample, folds: Sequence[Sequence[Fold]], progress: Callable[[str], None]
) -> dict[str, float]:
    """What simple rivals reach on the same sets of folds."""
    found = {}
    for name, rival in rivals.items():
        found[name] = mean_auc(sample.truth, [nested_scores(rival, sample, each)[0] for each in folds])
        progress(f"{name}: AUC {found[name]:.3f}")
    return found


def newest_quarter(written_ms: Sequence[int | None], sample: Sample) -> Fold | None:
    """Older notes, and the newest quarter without near duplicates of older ones; None without both labels in each.

    Notes without a time count as the oldest.
    """
    order = np.argsort([moment or 0 for moment in written_ms], kind="stable")
    older, newest = np.split(order, [round(len(order) * (1 - _NEWEST))])
    newest = newest[~np.isin(sample.groups[newest], sample.groups[older])]
    both = min(len(set(sample.labels[rows])) for rows in (older, newest)) == 2
    return (older, newest) if both else None


def fitted_head(
    recipe: Recipe, sample: Sample, held_out: Scores, embedder: str
) -> tuple[Head, Callable[[Scores], Scores]]:
    """The head of all notes, calibrated on `held_out` log-odds, and the calibration: log-odds to probabilities."""
    known = ~np.isnan(held_out)
    platt = LogisticRegression(C=1e3).fit(held_out[known].reshape(-1, 1), sample.labels[known])
    slope, offset = float(platt.coef_[0][0]), float(platt.intercept_[0])
    pipeline = recipe.chosen(sample.blocks, recipe.rows(sample.blocks), sample.labels, sample.groups)
    pipeline[0]._transformer_to_input_indices = {}  # a number for each column, read for data frames alone
    last = pipeline[-1]
    last.coef_, last.intercept_ = _half(slope * last.coef_), slope * last.intercept_ + offset
    for name, step, _ in pipeline[0].transformers_:
        if name in recipe.counts:
            step.idf_ = _half(step.idf_)
    means: Mapping[str, npt.NDArray[np.float32]] = {
        name: np.asarray(sample.blocks[name].mean(axis=0), dtype=np.float32) for name in recipe.vectors
    }
    head = Head(pipeline, recipe.widths(sample.blocks), means, embedder)
    return head, lambda scores: 1.0 / (1.0 + np.exp(-(slope * scores + offset)))


def _half(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """In half the digits, which pack into a third of the bytes."""
    return values.astype(np.float16).astype(np.float32)


def group_texts(texts: Sequence[str], vectors: FloatArray) -> npt.NDArray[np.int64]:
    """A group number for each text; texts linked by any chain of near duplicates share one."""
    plain = [_LINK.sub(" ", text.lower()).strip() for text in texts]
    first = {text: row for row, text in reversed(list(enumerate(plain)))}
    near = (vectors @ vectors.T) > _SAME
    for row, text in enumerate(plain):
        near[row, first[text]] = True
    _, groups = connected_components(near, directed=False)
    return np.asarray(groups, dtype=np.int64)


def joined_groups(first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """One grouping of both, all of shape (rows,): rows linked by any chain of groups in either share one."""
    together = (first[:, None] == first) | (second[:, None] == second)
    _, groups = connected_components(together, directed=False)
    return np.asarray(groups, dtype=np.int64)


def near_any(vectors: FloatArray, others: FloatArray) -> npt.NDArray[np.bool_]:
    """Whether each vector is that of a near duplicate of one of the others, shape (len(vectors),)."""
    return np.asarray((vectors @ others.T > _SAME).any(axis=1))
