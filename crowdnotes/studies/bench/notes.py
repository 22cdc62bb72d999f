"""The program's note beside the human one: what it cost, and which of the two a blind reader prefers.

A pair shows the post and two notes, sides shuffled, links alike, so that nobody can tell whose is whose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from crowdnotes.domain import Case, GateName, GateStatus, StageName, text_sha256
from crowdnotes.studies.data_files import HealthNote
from crowdnotes.text.note_rules import find_urls, x_storage_form

OVERALL = "overall"
CRITERIA = ("accuracy", "directness", "sources", "neutrality", "brevity", OVERALL)
_DRAWS = 2_000
_LINK = "[link]"
Side = Literal["left", "right", "tie"]


class NoteRow(BaseModel):
    """One post: the program's note, or why there is none, and the human one.

    `chain` is how many calls had to wait for each other; `gates` are the verdicts in their order.
    """

    model_config = ConfigDict(frozen=True)

    note_id: str
    post: str
    human: str
    note: str = ""
    abstained: str = ""
    failed: str = ""
    candidates: tuple[str, ...] = ()
    changes: str = ""
    settles: str = ""
    calls: int = 0
    chain: int = 0
    tokens: int = 0
    dollars: float | None = None
    seconds: float = 0.0
    gates: dict[GateName, GateStatus] = Field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether there is a note that passed every gate: only such a one does the program hold ready to be posted."""
        return bool(self.note and self.gates) and all(status is GateStatus.PASS for status in self.gates.values())


def row_of(note: HealthNote, case: Case | None, failed: str, seconds: float) -> NoteRow:
    """What came of one post."""
    row = NoteRow(note_id=note.note_id, post=note.post, human=note.note, failed=failed, seconds=seconds)
    if case is None:
        return row
    said = {stage.name: stage.summary for stage in case.stages}
    draft, used = case.draft, case.used
    why_none = said.get(StageName.DRAFT) or said.get(StageName.READ) or said.get(StageName.QUERIES, "")
    return row.model_copy(
        update={
            "note": draft.text if draft else "",
            "abstained": "" if draft or failed else why_none.removeprefix("No note: "),
            "candidates": tuple(candidate.text for candidate in case.candidates),
            "changes": draft.changes if draft else "",
            "settles": said.get(StageName.SETTLE, ""),
            "calls": used.calls,
            "chain": used.chain,
            "tokens": used.tokens,
            "dollars": None if used.unpriced else round(used.dollars, 6),
            "gates": {gate.gate: gate.status for gate in case.assessment.gates} if case.assessment else {},
        }
    )


def costs(rows: Sequence[NoteRow]) -> dict[str, Any]:
    """What a run took, a post: means, and the most."""
    written = [row for row in rows if row.note]
    passed = sum(row.passed for row in written)
    return {
        "posts": len(rows),
        "notes": len(written),
        "abstained": sum(bool(row.abstained) for row in rows),
        "failed": sum(bool(row.failed) for row in rows),
        "pass_all_gates": passed,
        **{
            name: {"mean": round(mean(figures), 1), "most": max(figures)}
            for name in ("calls", "chain", "tokens", "seconds")
            if (figures := [getattr(row, name) for row in rows])
        },
    }


class Pair(BaseModel):
    """What a blind reader sees."""

    model_config = ConfigDict(frozen=True)

    pair: str
    post: str
    left: str
    right: str


class Vote(BaseModel):
    """What a reader prefers: by criterion, a side or a tie. `reader` tells readers apart."""

    model_config = ConfigDict(frozen=True)

    pair: str
    reader: str = ""
    votes: dict[str, Side]
    why: str = ""


def is_left(note_id: str) -> bool:
    """Whether the program's note stands on the left in this pair: as good as drawn, and the same each time."""
    return int(text_sha256(f"side {note_id}")[:8], 16) % 2 == 0


def pair_id(note_id: str) -> str:
    """By which votes name a pair; it does not tell the sides."""
    return text_sha256(f"pair {note_id}")[:12]


def pairs(rows: Sequence[NoteRow]) -> list[Pair]:
    """One for each post whose note passed every gate: another the program itself advises against."""
    found: list[Pair] = []
    for row in rows:
        if row.passed:
            own, human = _alike(row.note), _alike(x_storage_form(row.human))
            left, right = (own, human) if is_left(row.note_id) else (human, own)
            found.append(Pair(pair=pair_id(row.note_id), post=row.post, left=left, right=right))
    return found


def _alike(note: str) -> str:
    """The words, and the links as marks at the end: an address would tell who wrote, and a reader follows none."""
    words, links = note, 0
    for url in reversed(find_urls(note)):
        words, links = words[: url.start] + words[url.end :], links + 1
    return " ".join([*words.split(), *[_LINK] * links])


@dataclass(frozen=True, slots=True)
class WinRate:
    """The share of votes for the program, ties counted half, with the bootstrap interval over pairs (95 %)."""

    rate: float
    low: float
    high: float
    votes: int


def win_rates(rows: Sequence[NoteRow], votes: Sequence[Vote]) -> dict[str, WinRate]:
    """By criterion. A reader who saw a pair twice, in both orders, counts once."""
    of = {pair_id(row.note_id): row.note_id for row in rows if row.passed}
    found: dict[str, WinRate] = {}
    for criterion in CRITERIA:
        by_reader: dict[tuple[str, str], list[float]] = {}
        for vote in votes:
            if vote.pair in of and criterion in vote.votes:
                worth = _worth(vote.votes[criterion], of[vote.pair])
                by_reader.setdefault((vote.pair, vote.reader), []).append(worth)
        by_pair: dict[str, list[float]] = {}
        for (pair, _), worths in by_reader.items():
            by_pair.setdefault(pair, []).append(mean(worths))
        if by_pair:
            found[criterion] = _rate(by_pair)
    return found


def _worth(side: Side, note_id: str) -> float:
    return 0.5 if side == "tie" else float((side == "left") == is_left(note_id))


def _rate(by_pair: Mapping[str, Sequence[float]]) -> WinRate:
    worths = np.array([mean(values) for values in by_pair.values()])
    drawn = np.random.default_rng(0).choice(worths, (_DRAWS, len(worths))).mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return WinRate(float(worths.mean()), float(low), float(high), sum(map(len, by_pair.values())))
