"""Comparisons and answers as tests need them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime

from crowdnotes.domain import Answer, Comparison, Level, NotePair, Rating, Sheet, Side, Statement
from crowdnotes.reports.comparisons import Comparisons

NOW = datetime(2026, 1, 2, 12, tzinfo=UTC)


def pairs_file(many: int) -> bytes:
    rows = ({"post": f"Post {n}.", "supernote": f"Super {n}.", "existing_note": f"Old {n}."} for n in range(many))
    return "\n".join(map(json.dumps, rows)).encode()


def rating(level: Level = Level.HELPFUL, agreement: int = 4) -> Rating:
    return Rating(level=level, statements=dict.fromkeys(Statement, agreement))


def answered(kept: Comparisons, comparison: Comparison, participant: str, *, wins: Sequence[bool] = (True,)) -> None:
    """The participant answers their first sheets: the first note wins or not."""
    for sheet, won in zip(kept.sheets(comparison.id, participant), wins, strict=False):
        chosen: Side = "left" if sheet.left.startswith("Super") is won else "right"
        kept.answer(comparison.id, participant, sheet.pair, left=rating(), right=rating(Level.NOT), chosen=chosen)


def is_answered(sheet: Sheet) -> bool:
    return sheet.answer is not None


def comparison(pairs: int = 4, **changes: object) -> Comparison:
    made = Comparison(
        id="c1",
        created_at=NOW,
        title="Moon",
        names=("Supernote", "Existing note"),
        pairs=tuple(NotePair(id=f"p{n}", post=f"Post {n}.", first="Super.", second="Old.") for n in range(pairs)),
        each=pairs,
    )
    return made.replace(**changes)


def answer(
    participant: int, pair: int, first: Rating | None, second: Rating | None, *, won: bool, first_is_left: bool = True
) -> Answer:
    left, right = (first, second) if first_is_left else (second, first)
    return Answer(
        participant=f"participant-{participant}",
        pair=f"p{pair}",
        left=left,
        right=right,
        chosen="left" if won is first_is_left else "right",
        first_is_left=first_is_left,
        first_at=NOW,
        at=NOW,
    )
