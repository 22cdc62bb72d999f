"""Anderson acceleration with a safeguard: fewer sweeps, and still an objective that never rises.

A sweep is a map from rater parameters to better ones. From the last few steps of that map the next
point is extrapolated (Walker and Ni, 2011, type II). The objective after a sweep from an
extrapolated point is known at no cost; when it is above the best so far the point is dropped, the
memory cleared, and the sweeps go on from the last good one.
"""

from __future__ import annotations

import numpy as np

from crowdnotes.bridging.kernels import Floats

_MEMORY = 6  # more remembered steps gained nothing on the reference sets
_DAMPING = 1e-12  # relative; keeps the small system solvable when two steps are nearly the same


class Extrapolation:
    """Proposes the next point from the points and images seen so far. All vectors have one length."""

    def __init__(self) -> None:
        self._image_steps: list[Floats] = []
        self._gap_steps: list[Floats] = []
        self._products: list[list[float]] = []  # of the gap steps with each other
        self._last: tuple[Floats, Floats] | None = None

    def following(self, point: Floats, image: Floats) -> Floats:
        """The point to try after a sweep took `point` to `image`."""
        gap = image - point
        if self._last is not None:
            self._remember(image - self._last[0], gap - self._last[1])
        self._last = (image, gap)
        products = np.array(self._products)
        if not self._products or not products.trace() > 0:
            return image  # no step to learn from, or nothing moves any more
        products += np.eye(len(products)) * products.trace() * _DAMPING
        shares = np.linalg.solve(products, [_product(step, gap) for step in self._gap_steps])
        for share, step in zip(shares, self._image_steps, strict=True):
            image = image - share * step
        return image

    def forget(self) -> None:
        """Begin anew after a point that did not help."""
        self._image_steps, self._gap_steps, self._products, self._last = [], [], [], None

    def _remember(self, image_step: Floats, gap_step: Floats) -> None:
        if len(self._gap_steps) == _MEMORY:
            self._image_steps, self._gap_steps = self._image_steps[1:], self._gap_steps[1:]
            self._products = [row[1:] for row in self._products[1:]]
        with_new = [_product(step, gap_step) for step in self._gap_steps]
        self._image_steps.append(image_step)
        self._gap_steps.append(gap_step)
        self._products = [[*row, new] for row, new in zip(self._products, with_new, strict=True)]
        self._products.append([*with_new, _product(gap_step, gap_step)])


def _product(one: Floats, two: Floats) -> float:
    """The inner product. Not by BLAS, whose threads go on spinning on the cores that the next sweep needs."""
    return float(np.einsum("i,i->", one, two))
