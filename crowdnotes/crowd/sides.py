"""The two sides that the fit found among the raters, and the notes by which a reader can see what they are about.

No rater is told apart: only how many stand where. What the sides stand for the data does not say.
"""

from __future__ import annotations

from crowdnotes.crowd.database import Connection
from crowdnotes.crowd.story import FewWords, in_few_words
from crowdnotes.domain import Noun
from crowdnotes.words import say

WIDTH = 0.1  # of polarity, from one bar to the next
_FURTHEST = 10  # bars of a side; who stands further out is counted in the last
_ENDS, _MOST = 50, 3  # the notes furthest out, and of these the ones with the most ratings


class Sides(Noun):
    """bars: raters with a polarity of WIDTH x place up to WIDTH x (place + 1); places below zero are one side.

    minus, plus, across: notes that mostly one side, the other, or both found helpful.
    """

    bars: dict[int, int]
    minus: tuple[FewWords, ...]
    plus: tuple[FewWords, ...]
    across: tuple[FewWords, ...]

    @property
    def sentence(self) -> str:
        """How many stand where."""
        n = sum(self.bars.values())
        one = sum(many for place, many in self.bars.items() if place < 0)
        middle = self.bars.get(-1, 0) + self.bars.get(0, 0)
        return say("sides.sentence", n=n, one=one / n, other=1 - one / n, middle=middle / n, width=WIDTH)


def sides(connection: Connection) -> Sides | None:
    """Count the raters of the index's last fit and find the notes; None where there is no fit."""
    bars = connection.execute(
        "SELECT greatest(least(floor(factor / $width), $most - 1), -$most)::INTEGER AS place, count(*)"
        " FROM raters GROUP BY place ORDER BY place",
        {"width": WIDTH, "most": _FURTHEST},
    ).fetchall()
    if not bars:
        return None
    orders = ("factor", "-factor", "-intercept")
    minus, plus, across = (_notes(connection, order) for order in orders)
    return Sides(bars=dict(bars), minus=minus, plus=plus, across=across)


def _notes(connection: Connection, order: str) -> tuple[FewWords, ...]:
    rows = connection.execute(
        f"""
        WITH ends AS (SELECT note FROM scores WHERE intercept IS NOT NULL ORDER BY {order}, note LIMIT {_ENDS}),
        rated AS (SELECT note, count(*) AS n FROM ratings SEMI JOIN ends USING (note) GROUP BY note)
        SELECT note, n, text FROM rated JOIN notes USING (note) ORDER BY n DESC, note LIMIT {_MOST}
        """
    ).fetchall()
    return tuple(map(in_few_words, rows))
