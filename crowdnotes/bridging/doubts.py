"""What speaks against trusting a fit, in sentences: so that no score comes without a word."""

from __future__ import annotations

import numpy as np

from crowdnotes.bridging.parameters import Factorization

_NO_SPREAD = 0.02  # real raters' factors have a standard deviation near 0.3
_SMALL_SIDE = 0.05


def doubts(fit: Factorization) -> list[str]:
    """Sentences on a fit that found no viewpoints, only one camp, or did not settle. Empty when all is well."""
    found = []
    if not fit.converged:
        found.append("The fit stopped before it settled: treat its numbers as approximate.")
    main = fit.raters.factors[:, 0]
    if float(np.std(main)) < _NO_SPREAD:
        found.append(
            "The ratings show no differing viewpoints: every intercept is plain popularity, not agreement across sides."
        )
    elif min(np.mean(main < 0), np.mean(main > 0)) < _SMALL_SIDE:
        found.append(
            "Nearly all raters are on one side of the viewpoint: intercepts say little about agreement across sides."
        )
    return found
