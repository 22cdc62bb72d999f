"""Fit the rater pool: a Gaussian mixture with as many parts as held-out raters like best."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.mixture import GaussianMixture

from crowdnotes.errors import InputError
from crowdnotes.jury.raters import COLUMNS, Roster, own_pool

Floats = npt.NDArray[np.float64]
_FOLDS = 5
_MOST_PARTS = 10
_BINS = 60
_LEAST_RATERS = 100


def fit_pool(path: Path, out: Path, source: str) -> dict[str, Any]:
    """Fit the raters in a Parquet file and write the mixture as JSON; `source` says whose raters they are.

    The number of parts is the one with the highest log likelihood on held-out raters (5 folds); the
    file keeps all of them, the histograms and the quantiles, so that the fit can be seen beside the data.
    """
    raters = own_pool(path)
    content = _fit(raters, source)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return content


def _fit(roster: Roster, source: str) -> dict[str, Any]:
    raters = roster.raters
    if len(raters) < _LEAST_RATERS:
        raise InputError(f"There are only {len(raters)} raters; a fit takes {_LEAST_RATERS}.", "Give more raters.")
    held_out = {parts: _held_out(raters, parts) for parts in range(1, _MOST_PARTS + 1)}
    best = max(held_out, key=lambda parts: held_out[parts])
    fitted = _mixture(best).fit(raters)
    order = np.argsort(-fitted.weights_, kind="stable")
    histograms = {}
    for number, name in enumerate(COLUMNS):
        counts, edges = np.histogram(raters[:, number], bins=_BINS)
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
            for number, name in enumerate(COLUMNS)
        },
        "share_negative": {
            "data": round(float((raters[:, 1] < 0).mean()), 4),
            "fit": round(float((drawn[:, 1] < 0).mean()), 4),
        },
        "histograms": histograms,
    }


def _held_out(raters: Floats, parts: int) -> float:
    fold = np.random.default_rng(0).integers(0, _FOLDS, len(raters))
    scores = [_mixture(parts).fit(raters[fold != i]).score(raters[fold == i]) for i in range(_FOLDS)]
    return float(np.mean(scores))


def _mixture(parts: int) -> GaussianMixture:
    return GaussianMixture(parts, covariance_type="full", n_init=2, max_iter=300, reg_covar=1e-5, random_state=0)
