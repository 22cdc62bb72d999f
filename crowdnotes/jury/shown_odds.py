"""How likely X shows a note, read from post and note together: a head trained on notes of known status.

It reads what the helpfulness gate reads, and when the note was written: raters grew stricter in the middle of 2024, so
a note is judged by the raters of its time; a draft by those of today, who are taken to be as the newest known were.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from crowdnotes.domain import JuryQuality
from crowdnotes.engines.local.helpfulness import helpfulness_blocks
from crowdnotes.engines.local.trained_models import Blocks, Head, load_head
from crowdnotes.errors import ModelFilesError
from crowdnotes.jury.raters import Floats
from crowdnotes.text.tokens import plain_post

SHOWN, SHOWN_FIGURES = "shown.skops", "shown.json"
_STRICTER_SINCE_MS = 1_719_792_000_000  # 1 July 2024
_HALF_YEAR_MS = 183 * 86_400_000
STRICTNESS_TODAY = 1.0
_REQUIRED_FIGURES = ("notes", "undated_intercept_auc", "newest_quarter_intercept_auc", "reached", "wrongly_reached")


def strictness(written_ms: int | None) -> float:
    """From -1 (raters before 2024) to 1 (since 2025, and where no time is known)."""
    return STRICTNESS_TODAY if written_ms is None else math.tanh((written_ms - _STRICTER_SINCE_MS) / _HALF_YEAR_MS)


def shown_blocks(pairs: Sequence[tuple[str | None, str]], written_ms: Sequence[int | None] | None = None) -> Blocks:
    """Return what the head looks at of each (post, note), and when it was written: today if not given."""
    times = [strictness(moment) for moment in written_ms] if written_ms is not None else [STRICTNESS_TODAY] * len(pairs)
    return {**helpfulness_blocks(pairs), "season": np.asarray(times)[:, None]}


@dataclass(frozen=True)
class ShownHead:
    """The head, and what was measured of it."""

    head: Head
    figures: Mapping[str, Any]

    def quality(self, known: JuryQuality) -> JuryQuality:
        """Return the model's measured quality with the head's."""
        auc, newest = self.figures["undated_intercept_auc"], self.figures["newest_quarter_intercept_auc"]
        note = (
            "{note} Tested on {notes} new health notes: of 100 pairs, a note that X showed and one that it turned "
            "down, the score tells which is which in {auc:.0f} (in {newest:.0f} of the newest quarter). {reached:.0%} "
            "of the shown notes and {others:.0%} of the others reached 0.40. Not tested: other topics, and the many "
            "notes on which X never decides."
        ).format(
            note=known.note,
            notes=self.figures["notes"],
            auc=100 * auc,
            newest=100 * newest,
            reached=self.figures["reached"],
            others=self.figures["wrongly_reached"],
        )
        return known.replace(intercept_auc=auc, note=note)

    def read(self, post: str | None, notes: Sequence[str]) -> Blocks:
        """Read notes on one post, as if written today; a post without words is not looked at."""
        above = post if plain_post(post or "") else None
        return shown_blocks([(above, note) for note in notes])

    def chances(self, blocks: Blocks) -> Floats:
        """Return the chance that X shows each note, among notes on which it decides, (n,)."""
        return np.asarray(self.head.probabilities(blocks), dtype=np.float64)


def rows_of_blocks(blocks: Blocks, rows: Sequence[int]) -> Blocks:
    """Return some of the notes."""
    return {name: None if block is None else block[list(rows)] for name, block in blocks.items()}


def open_shown(folder: Path) -> ShownHead | None:
    """Return the head in a model's folder; None where there is none. Raises ModelFilesError when it is damaged."""
    if not (folder / SHOWN).is_file():
        return None
    return ShownHead(_load_shown_head(folder / SHOWN), _load_shown_figures(folder / SHOWN_FIGURES))


@lru_cache(maxsize=2)
def _load_shown_head(path: Path) -> Head:
    return load_head(path)


def _load_shown_figures(path: Path) -> Mapping[str, Any]:
    """Return what was measured of the head; a file that lacks a figure is damaged."""
    try:
        figures: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return {name: figures[name] for name in _REQUIRED_FIGURES}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelFilesError(
            f"The jury's figures {path.name} are missing or damaged.",
            "Put the folder assets/jury back, for instance with `git checkout assets`, or train it again.",
        ) from error
