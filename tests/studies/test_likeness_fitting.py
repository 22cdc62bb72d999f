"""The fitted likeness is the support vector machine's own decision, and learns what linear parts cannot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdnotes.engines.local.heads.head import Sample
from crowdnotes.engines.local.heads.likeness import FEATURES
from crowdnotes.studies.likeness_fitting import LikenessRecipe, fit_likeness

RECIPE = LikenessRecipe(penalty=5.0, width=0.5, share=1.0, blocks={FEATURES: 1.0, "read": 0.3})


def _made(count: int = 80) -> tuple[np.ndarray, list[Sample], np.ndarray]:
    """Helpful when the signs of two features differ: nothing that a sum can tell."""
    chance = np.random.default_rng(3)
    features = chance.normal(size=(count, 2)).astype(np.float32)
    samples = [Sample({}, {}, {"read": vector}) for vector in chance.normal(size=(count, 4)).astype(np.float32)]
    return features, samples, (features[:, 0] * features[:, 1] < 0).astype(np.int64)


def test_what_goes_together_is_learned() -> None:
    features, samples, labels = _made()
    likeness = fit_likeness(features[:60], samples[:60], labels[:60], RECIPE)
    assert likeness is not None
    found = [likeness.score({FEATURES: features[row], **samples[row].vectors}) > 0 for row in range(60, 80)]
    assert np.mean(np.array(found) == labels[60:]) >= 0.8


def test_the_share_scales_what_it_adds() -> None:
    features, samples, labels = _made()
    once, twice = (fit_likeness(features, samples, labels, replace(RECIPE, share=share)) for share in (1.0, 2.0))
    assert once is not None
    assert twice is not None
    at = {FEATURES: features[0], **samples[0].vectors}
    assert np.isclose(2 * once.score(at), twice.score(at))


def test_without_the_readers_vectors_there_is_no_likeness() -> None:
    features, samples, labels = _made()
    assert fit_likeness(features, [Sample({}, {}) for _ in samples], labels, RECIPE) is None
