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
        self._last: tuple[Floats, Floats] | None = None

    def following(self, point: Floats, image: Floats) -> Floats:
        """The point to try after a sweep took `point` to `image`."""
        gap = image - point
        if self._last is not None:
            last_image, last_gap = self._last
            self._image_steps = [*self._image_steps[-_MEMORY + 1 :], image - last_image]
            self._gap_steps = [*self._gap_steps[-_MEMORY + 1 :], gap - last_gap]
        self._last = (image, gap)
        if not self._gap_steps:
            return image
        products = np.array([[float(a @ b) for b in self._gap_steps] for a in self._gap_steps])
        if not products.trace() > 0:
            return image  # nothing moved: the end is reached
        products += np.eye(len(products)) * products.trace() * _DAMPING
        shares = np.linalg.solve(products, [float(step @ gap) for step in self._gap_steps])
        for share, step in zip(shares, self._image_steps, strict=True):
            image = image - share * step
        return image

    def forget(self) -> None:
        """Begin anew after a point that did not help."""
        self._image_steps, self._gap_steps, self._last = [], [], None
