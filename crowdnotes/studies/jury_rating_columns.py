"""Notes and posts as the columns of a linear fit, and the fit's weights as the heads of a model.

Columns: hashed words, letters and sources by rarity, rows of length one per block; the manner; the
Nyström map of the vectors; and what is read of posts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, hstack

from crowdnotes.jury.features import Features
from crowdnotes.jury.heads import Blend, Channel, Head, Landmarks, VectorsHalf, WordsHalf
from crowdnotes.jury.rating_model import post_columns
from crowdnotes.studies.jury_halves import choose_landmarks
from crowdnotes.studies.jury_rating_fit import RatingFit

Floats = npt.NDArray[np.float64]
_LANDMARKS, _SHARPNESS = 1_000, 1.5
_MANNER = 0.15
_BLOCKS = ("words", "letters", "sources")


@dataclass(frozen=True)
class Columns:
    """How the columns are made: learned from the older notes alone."""

    active: dict[str, npt.NDArray[np.intp]]
    rarity: dict[str, Floats]
    manner_mean: Floats
    manner_spread: Floats
    landmarks: Landmarks
    root: Floats
    with_posts: bool

    @classmethod
    def of(cls, read: Features, *, with_posts: bool) -> Columns:
        """Learn from notes; hashed words of a single note are left out."""
        active, rarity = {}, {}
        for name in _BLOCKS:
            seen = np.asarray((read.blocks[name] > 0).sum(axis=0)).ravel()
            active[name] = np.flatnonzero(seen >= 2)
            rarity[name] = np.log((1 + len(read)) / (1 + seen[active[name]])) + 1
        marks = choose_landmarks(read, np.ones(len(read), dtype=bool), (_LANDMARKS, 0), _SHARPNESS, 0.0)
        values, axes = np.linalg.eigh(marks.among_themselves())
        kept = values > 1e-4
        return cls(
            active,
            rarity,
            read.manner.mean(axis=0),
            np.maximum(read.manner.std(axis=0), 1e-6),
            marks,
            axes[:, kept] / np.sqrt(values[kept]),
            with_posts,
        )

    def matrix(self, read: Features, posts: Features | None) -> csr_matrix:
        """The columns of notes, (n, c)."""
        parts = [self._block(read, name) for name in _BLOCKS]
        parts.append(csr_matrix((read.manner - self.manner_mean) / self.manner_spread * _MANNER))
        parts.append(csr_matrix(self.landmarks.kernel(read) @ self.root))
        if self.with_posts and posts is not None:
            parts.append(csr_matrix(post_columns(read, posts)))
        return hstack(parts).tocsr()

    def heads(self, fitted: RatingFit, sizes: dict[str, int]) -> tuple[Head, Head, Floats]:
        """Appeal's head, lean's head and the posts' weights; sizes: columns of each hashed block in all."""
        counts = [len(self.active[name]) for name in _BLOCKS] + [len(self.manner_mean), self.root.shape[1]]
        parts = np.split(fitted.weights, np.cumsum(counts))
        heads = [self._head([part[:, k] for part in parts[:-1]], float(fitted.constants[k]), sizes) for k in (0, 1)]
        return heads[0], heads[1], parts[-1]

    def _head(self, parts: list[Floats], constant: float, sizes: dict[str, int]) -> Head:
        channels = []
        for name, weights in zip(_BLOCKS, parts, strict=False):
            squares = np.zeros(sizes[name], dtype=np.float32)
            products = np.zeros(sizes[name], dtype=np.float32)
            squares[self.active[name]] = self.rarity[name] ** 2
            products[self.active[name]] = self.rarity[name] * weights
            channels.append(Channel(name, squares, products))
        manner = parts[3] * _MANNER / self.manner_spread
        no_stances = np.zeros(len(self.landmarks.scales))
        words = WordsHalf(tuple(channels), manner, no_stances, constant - float(manner @ self.manner_mean))
        return Head(words, VectorsHalf(self.root @ parts[4], 0.0), Blend(0.0, 1.0, 1.0), Blend(0.0, 1.0))

    def _block(self, read: Features, name: str) -> csr_matrix:
        block = read.blocks[name][:, self.active[name]]
        length = np.sqrt(block @ self.rarity[name] ** 2)
        scale = np.divide(1.0, length, out=np.zeros(len(length)), where=length > 0)
        return csr_matrix(block.multiply(self.rarity[name]).tocsr().multiply(scale[:, None]).tocsr())
