"""Scores as a person reads them."""

from __future__ import annotations

import pytest

from crowdnotes.engines.local.relevance import of_needed


@pytest.mark.parametrize(
    ("score", "told"),
    [
        (0.551, "0.55 of the 0.82 needed"),
        (0.8171, "0.817 of the 0.820 needed"),
        (0.81962, "0.8196 of the 0.8200 needed"),
        (0.82, "0.82 of the 0.82 needed"),
    ],
)
def test_a_score_and_what_is_needed_are_told_apart(score: float, told: str) -> None:
    assert of_needed(score, 0.82) == told
