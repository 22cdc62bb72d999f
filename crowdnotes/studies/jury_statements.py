"""Statements of public record that one side's notes bring up: what the votes at hand do not know yet of the news."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel

from crowdnotes.embedding import Embedder
from crowdnotes.errors import ConfigurationError
from crowdnotes.jury.features import Features, features
from crowdnotes.jury.raters import ASSETS

_FOLDER = ASSETS / "statements"


class _Listed(BaseModel):
    """One file: the texts by side."""

    left: list[str]
    right: list[str]


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
            listed = _Listed.model_validate(tomllib.loads(path.read_text(encoding="utf-8")), strict=True)
            # Side + has the positive rater factors, which X's raters on the right have: see the model card.
            for side, is_positive in ((listed.left, False), (listed.right, True)):
                texts += side
                positive += [is_positive] * len(side)
    except (OSError, ValueError) as error:
        raise ConfigurationError("The jury's statements cannot be read.", "Install the program again.") from error
    if not texts:
        raise ConfigurationError("The jury's statements are missing.", "Install the program again.")
    return Statements(features(texts, embedder), np.asarray(positive, dtype=bool))
