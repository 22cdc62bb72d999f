"""Statements of public record that one side's notes bring up: what the votes at hand do not know yet of the news."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdnotes.embedding import Embedder
from crowdnotes.errors import ConfigurationError
from crowdnotes.jury.assets import ASSETS
from crowdnotes.jury.features import Features, features

_FOLDER = ASSETS / "statements"


@dataclass(frozen=True)
class Statements:
    """Features of m statements, and whether side + is the one that brings each up, (m,)."""

    read: Features
    positive: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.positive)


def read_statements(embedder: Embedder) -> Statements:
    """The statements of assets/jury/statements. Raises ConfigurationError when they cannot be read."""
    texts: list[str] = []
    positive: list[bool] = []
    try:
        for path in sorted(_FOLDER.glob("*.toml")):
            listed = tomllib.loads(path.read_text(encoding="utf-8"))
            # Side + has the positive rater factors, which X's raters on the right have: see the model card.
            for side, is_positive in (("left", False), ("right", True)):
                texts += listed[side]
                positive += [is_positive] * len(listed[side])
    except (OSError, ValueError, KeyError) as error:
        raise ConfigurationError("The jury's statements cannot be read.", "Install the program again.") from error
    return Statements(features(texts, embedder), np.asarray(positive, dtype=bool))
