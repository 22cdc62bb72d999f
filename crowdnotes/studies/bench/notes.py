"""Compare the program's note with the human one: what it cost, and which of the two a blind reader prefers.

A pair shows the post and two notes, sides shuffled, links alike, so that readers do not know which is whose. A
supernote is compared with the best note that a post has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any, Literal

import numpy as np
from pydantic import Field

from crowdnotes.domain import FrozenModel, text_sha256
from crowdnotes.evidence.duplicates import normalised
from crowdnotes.studies.bench.healthnotes import Outcome, PostRow, RunRow
from crowdnotes.studies.data_files import DecidingSentence
from crowdnotes.text.note_rules import find_urls, x_storage_form
from crowdnotes.text.urls import canonical_url

OVERALL = "overall"
CRITERIA = ("accuracy", "directness", "sources", "neutrality", "brevity", OVERALL)
_BOOTSTRAP_DRAWS = 2_000
_LINK_MARK = "[link]"
Side = Literal["left", "right", "tie"]
Shown = tuple[str, str]
"""A text, and the address of its page where that is known and its words are not all there; else ""."""


def costs(rows: Sequence[PostRow]) -> dict[str, Any]:
    """Return what a run took, a post: means, and the most."""
    return {
        "posts": len(rows),
        "notes": sum(bool(row.note) for row in rows),
        "abstained": sum(row.outcome in {Outcome.ABSTAINED, Outcome.NO_EVIDENCE} for row in rows),
        "failed": sum(row.outcome is Outcome.FAILED for row in rows),
        "pass_all_gates": sum(row.passed for row in rows),
        **{
            name: {"mean": round(mean(figures), 1), "most": max(figures)}
            for name in ("calls", "chain", "tokens", "seconds")
            if (figures := [getattr(row, name) for row in rows])
        },
        **({"deciding_sentence": _count_deciding(rows)} if any(row.deciding for row in rows) else {}),
    }


def find_deciding(deciding: Sequence[DecidingSentence], shown: Mapping[str, Sequence[Shown]]) -> dict[str, bool]:
    """By step whether one of the sentences was there; nothing of a post without any.

    Words are compared without case, punctuation and spacing; a page that was not read is known by its address.
    """
    if not deciding:
        return {}
    return {step: any(_holds(text, one) for text in texts for one in deciding) for step, texts in shown.items()}


def _holds(shown: Shown, one: DecidingSentence) -> bool:
    text, unread = shown
    if f" {normalised(one.sentence)} " in f" {normalised(text)} ":
        return True
    return bool(unread and one.url) and canonical_url(unread) == canonical_url(one.url or "")


def _count_deciding(rows: Sequence[PostRow]) -> dict[str, int]:
    """Return how many posts name a deciding sentence, and for how many it was there at each step."""
    known = [row.deciding for row in rows if row.deciding]
    steps = dict.fromkeys(step for found in known for step in found)
    return {"posts": len(known)} | {step: sum(found.get(step, False) for found in known) for step in steps}


class Pair(FrozenModel):
    """What a blind reader sees."""

    pair: str
    post: str
    left: str
    right: str


class Vote(FrozenModel, extra="ignore"):
    """What a reader prefers: by criterion, a side or a tie. `reader`: an id of the reader."""

    pair: str
    reader: str = ""
    votes: dict[str, Side]
    why: str = ""


def is_left(note_id: str) -> bool:
    """Return whether the program's note is on the left in this pair: as good as random, and the same each time."""
    return int(text_sha256(f"side {note_id}")[:8], 16) % 2 == 0


def pair_id(note_id: str) -> str:
    """Return the id by which votes name a pair; it does not give away the sides."""
    return text_sha256(f"pair {note_id}")[:12]


def pairs(rows: Sequence[PostRow]) -> list[Pair]:
    """One for each post whose note passed every gate: another the program itself advises against."""
    found: list[Pair] = []
    for row in rows:
        if row.passed:
            own, human = _replace_links_with_marks(row.note), _replace_links_with_marks(x_storage_form(row.human))
            left, right = (own, human) if is_left(row.note_id) else (human, own)
            found.append(Pair(pair=pair_id(row.note_id), post=row.post, left=left, right=right))
    return found


def _replace_links_with_marks(note: str) -> str:
    """Return the words, and the links as marks at the end: an address would give away the writer."""
    words, links = note, 0
    for url in reversed(find_urls(note)):
        words, links = words[: url.start] + words[url.end :], links + 1
    return " ".join([*words.split(), *[_LINK_MARK] * links])


@dataclass(frozen=True, slots=True)
class WinRate:
    """The share of votes for the program, ties counted half, with the bootstrap interval over pairs (95 %)."""

    rate: float
    low: float
    high: float
    votes: int


def win_rates(rows: Sequence[RunRow], votes: Sequence[Vote]) -> dict[str, WinRate]:
    """By criterion. A reader who saw a pair twice, in both orders, counts once."""
    counted = {criterion: worths_by_pair(rows, votes, criterion) for criterion in CRITERIA}
    return {criterion: _compute_win_rate(by_pair) for criterion, by_pair in counted.items() if by_pair}


def worths_by_pair(rows: Sequence[RunRow], votes: Sequence[Vote], criterion: str = OVERALL) -> dict[str, list[float]]:
    """By note id what each reader's votes are worth on average, from 0 to 1, the program's own side."""
    of = {pair_id(row.note_id): row.note_id for row in rows if row.passed}
    by_reader: dict[tuple[str, str], list[float]] = {}
    for vote in votes:
        if vote.pair in of and criterion in vote.votes:
            note_id = of[vote.pair]
            side = vote.votes[criterion]
            worth = 0.5 if side == "tie" else float((side == "left") == is_left(note_id))
            by_reader.setdefault((note_id, vote.reader), []).append(worth)
    by_pair: dict[str, list[float]] = {}
    for (note_id, _), worths in by_reader.items():
        by_pair.setdefault(note_id, []).append(mean(worths))
    return by_pair


def _compute_win_rate(by_pair: Mapping[str, Sequence[float]]) -> WinRate:
    worths = np.array([mean(values) for values in by_pair.values()])
    drawn = np.random.default_rng(0).choice(worths, (_BOOTSTRAP_DRAWS, len(worths))).mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return WinRate(float(worths.mean()), float(low), float(high), sum(map(len, by_pair.values())))


class NotedPost(FrozenModel, extra="ignore"):
    """A post by its id on X, its words where they are known, and its notes as a file of notes has them."""

    post_id: str = Field(min_length=1)
    post: str = ""
    url: str | None = None
    notes: list[dict[str, Any]] = Field(min_length=1)

    @property
    def address(self) -> str | None:
        """Where it is: as given, or by its id."""
        return self.url or (f"https://x.com/i/status/{self.post_id}" if self.post_id.isdigit() else None)


NOTED_POSTS = (
    'Each line is an object: {"post_id": "…", "post": "…" or left out, "notes": [{"text": "…", "helpful": 3, …}, …]}.'
)


def supernote_figures(rows: Sequence[PostRow]) -> dict[str, Any]:
    """Return what a run took, and how often the jury prefers the winner to the best existing note and to chance.

    Whether readers prefer it is another question: `bench compare`.
    """
    supernotes = [row.supernote for row in rows if row.supernote is not None and row.note]
    found = {name: value for name, value in costs(rows).items() if name != "pass_all_gates"}
    for name, other in (("best_existing", "best_intercept"), ("random", "random_intercept")):
        pairs = [
            (item.winner_intercept, value)
            for item in supernotes
            if item.winner_intercept is not None and (value := getattr(item, other)) is not None
        ]
        wins = sum(mine > theirs for mine, theirs in pairs)
        found[f"jury_prefers_winner_to_{name}"] = {"n": len(pairs), "wins": wins}
    found["candidates"] = sum(next(iter(item.funnel.values()), 0) for item in supernotes)
    found["passed"] = sum(list(item.funnel.values())[-1] for item in supernotes if item.funnel)
    return found
