"""The answers of a comparison as files for other programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from crowdnotes.domain import Answer, Comparison, Statement
from crowdnotes.studies.bench.notes import OVERALL, Vote
from crowdnotes.text.table_files import table_text

_SIDE_NAMES = ("first", "second")
_VOTE_BY_WINNER: Final = {"first": "left", "second": "right", "equal": "tie"}


def as_csv(comparison: Comparison, answers: Iterable[Answer]) -> str:
    """One row an answer, with a header. Cells that a spreadsheet would run as a formula are defused."""
    parts = ["helpfulness", *(statement.value for statement in Statement)]
    columns = ["participant", "pair", "first_at", "at", "stood_left", "chosen", "first_name", "second_name"]
    columns += [f"{side}_{part}" for side in _SIDE_NAMES for part in parts] + ["post", "first_note", "second_note"]
    pair_of = {pair.id: pair for pair in comparison.pairs}
    rows = []
    for answer in answers:
        pair = pair_of[answer.pair]
        row = [answer.participant, answer.pair, answer.first_at.isoformat(), answer.at.isoformat()]
        row += [_SIDE_NAMES[not answer.first_is_left], answer.winner, *comparison.names]
        for rating in (answer.first, answer.second):
            row += (
                [rating.level.value, *(str(rating.statements[statement]) for statement in Statement)]
                if rating
                else [""] * len(parts)
            )
        rows.append([*row, pair.post, pair.first, pair.second])
    return table_text(columns, rows)


def as_votes(answers: Iterable[Answer]) -> str:
    """Return a line an answer, as `crowdnotes bench compare --votes` reads them: which note of the file was chosen."""
    votes = (
        Vote(pair=one.pair, reader=one.participant, votes={OVERALL: _VOTE_BY_WINNER[one.winner]}) for one in answers
    )
    return "".join(vote.model_dump_json() + "\n" for vote in votes)
