"""Public data in the official schema, made from known parameters, and the best AUC that anyone could reach on it.

Each word has an appeal and a lean of its own, and so has each word of a post; a note's are the sums.
Ratings are drawn from the ordinal model, so their true chances are known.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit

from crowdnotes.jury.votes import OrdinalModel
from crowdnotes.studies.measures import auc

Floats = npt.NDArray[np.float64]
ORDINAL = OrdinalModel(intercept_slope=4.0, width=0.7)
_START_MS = 1_700_000_000_000
_HOUR_MS = 3_600_000
_SYLLABLES = "ba ke li mo nu pra ste vor dun fal gri hox".split()


@dataclass(frozen=True)
class Made:
    """Each rating's note id, rater, value and true chance of "helpful"."""

    note_ids: npt.NDArray[np.int64]
    values: Floats
    chances: Floats

    def best_auc(self, notes: npt.NDArray[np.int64]) -> float:
        """Of the true chances, on the ratings of some notes."""
        mine = np.isin(self.note_ids, notes)
        helpful = self.values[mine] == 1
        found = auc(self.chances[mine], helpful.astype(float), (~helpful).astype(float))
        assert found is not None
        return found


def make_public_data(
    folder: Path, *, notes: int, raters: int, ratings_per_note: int, with_posts: bool = False, seed: int = 0
) -> Made:
    """Write notes, ratings and, on request, posts into `folder`; about a third of the posts have several notes."""
    chance = np.random.default_rng(seed)
    words = np.asarray([a + b for a in _SYLLABLES for b in _SYLLABLES])[:60]
    appeals, leans = chance.normal(0, 0.45, len(words)), chance.normal(0, 1.3, len(words))
    picks = np.stack([chance.permutation(len(words))[:10] for _ in range(notes)])
    post = np.sort(chance.integers(0, round(notes * 0.7), notes))
    about = np.stack([chance.permutation(len(words))[:6] for _ in range(post.max() + 1)])
    share = 0.5 if with_posts else 0.0
    appeal = 0.3 + appeals[picks].sum(axis=1) + share * appeals[about[post]].sum(axis=1)
    lean = leans[picks].sum(axis=1) + share * leans[about[post]].sum(axis=1)
    ids = 1_600_000_000_000_000_000 + np.arange(notes) * 1_001
    written = _START_MS + np.arange(notes) * _HOUR_MS
    intercepts = chance.normal(0, 0.12, raters)
    factors = chance.choice([-1.0, 1.0], raters, p=[0.55, 0.45]) * chance.uniform(0.15, 0.8, raters)
    rated = np.repeat(np.arange(notes), ratings_per_note)
    rater = np.concatenate([chance.permutation(raters)[:ratings_per_note] for _ in range(notes)])
    odds = appeal[rated] + lean[rated] * factors[rater] + ORDINAL.intercept_slope * intercepts[rater]
    luck = chance.random(len(odds))
    values = np.where(luck < expit(odds), 1.0, np.where(luck < expit(odds + ORDINAL.width), 0.5, 0.0))
    levels = {1.0: "HELPFUL", 0.5: "SOMEWHAT_HELPFUL", 0.0: "NOT_HELPFUL"}
    folder.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(
        {
            "noteId": ids,
            "noteAuthorParticipantId": [f"A{number % 97:05d}" for number in range(notes)],
            "createdAtMillis": written,
            "tweetId": post + 10**18,
            "classification": "MISINFORMED_OR_POTENTIALLY_MISLEADING",
            "summary": [" ".join(words[pick]) for pick in picks],
        }
    ).to_csv(folder / "notes-00000.tsv", sep="\t", index=False)
    pd.DataFrame(
        {
            "noteId": ids[rated],
            "raterParticipantId": [f"R{number:06d}" for number in rater],
            # Within the hour, so that older notes' ratings are of the past when newer notes are written.
            "createdAtMillis": written[rated] + chance.integers(1, _HOUR_MS, len(rated)),
            "helpfulnessLevel": [levels[value] for value in values],
        }
    ).to_csv(folder / "ratings-00000.tsv", sep="\t", index=False)
    if with_posts:
        pd.DataFrame(
            {"tweetId": np.arange(len(about)) + 10**18, "text": [" ".join(words[pick]) for pick in about]}
        ).to_parquet(folder / "posts.parquet")
    return Made(ids[rated], values, expit(odds))
