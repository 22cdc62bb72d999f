"""Colours that stand for different things stay apart, also for eyes that do not tell red from green."""

from __future__ import annotations

import tomllib
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

# How a colour looks with no working cones for green, and for red. Source: Machado, Oliveira and Fernandes (2009).
_EYES = {
    "any": np.eye(3),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
}
_TO_XYZ = np.array([[0.41246, 0.35758, 0.18044], [0.21267, 0.71515, 0.07217], [0.01933, 0.11919, 0.95030]])
_KINDS = 7  # of sources; what they are drawn in is what any other plot takes too
_APART = 11.0  # CIE76; about 2.3 is just noticed where two patches touch
_THEMES = tomllib.loads((Path(__file__).parents[2] / ".streamlit" / "config.toml").read_text())["theme"]


def _lab(colour: str, eyes: str) -> Any:
    """CIE L*a*b* of #rrggbb under daylight, as those eyes see it: (3,)."""
    channels = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    x, y, z = np.cbrt(_TO_XYZ @ np.clip(_EYES[eyes] @ linear, 0, 1) / np.array([0.95047, 1, 1.08883]))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eyes", _EYES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_kinds_of_source_verdicts_and_votes_stay_apart(theme: str, eyes: str) -> None:
    colours = _THEMES[theme]
    together = [
        colours["chartCategoricalColors"][:_KINDS],
        [colours[f"{name}Color"] for name in ("green", "orange", "red", "gray")],
        [colours[f"{name}Color"] for name in ("violet", "gray", "background")],
    ]
    distances = [
        float(np.linalg.norm(_lab(one, eyes) - _lab(other, eyes)))
        for group in together
        for one, other in combinations(group, 2)
    ]
    assert min(distances) > _APART
