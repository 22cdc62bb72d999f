"""The two sides that the fit found among the raters, and the notes by which a reader can see what they are about.

No single rater is shown, only how many are at each place. The data does not say what the sides mean.
"""

from __future__ import annotations

from crowdnotes.domain import FrozenModel
from crowdnotes.public_data.database import Connection
from crowdnotes.public_data.story import ListedNote, most_rated

BAR_WIDTH = 0.1  # of polarity, from one bar to the next
_MAX_BARS_PER_SIDE = 10  # bars of a side; raters further out are counted in the last
_MAX_EXTREME_NOTES, _MAX_SIDE_NOTES = 50, 3  # the notes furthest out, and of these the ones with the most ratings
_MAX_SHARED_FACTOR = 0.25
"""The size of a note's factor up to which it pleases both sides alike: even raters at -1 and at 1, further from each
other than any two are, then differ by half at most, one step of a rating.
"""


class Sides(FrozenModel):
    """bars: raters with a polarity of BAR_WIDTH x place up to BAR_WIDTH x (place + 1); places below zero are one side.

    minus, plus, across: notes that mostly one side, the other, or both found helpful; none is in two of them, and one
    of them is empty where fewer than three notes belong to it.
    """

    bars: dict[int, int]
    minus: tuple[ListedNote, ...]
    plus: tuple[ListedNote, ...]
    across: tuple[ListedNote, ...]

    @property
    def sentence(self) -> str:
        """How many raters are on each side."""
        n = sum(self.bars.values())
        one = sum(many for place, many in self.bars.items() if place < 0)
        middle = self.bars.get(-1, 0) + self.bars.get(0, 0)
        return (
            f"{n:,} raters, sorted by who agrees with whom: {one / n:.0%} on side A, {1 - one / n:.0%} on side "
            f"B, {middle / n:.0%} within {BAR_WIDTH:.1f} of the middle."
        )


def sides(connection: Connection) -> Sides | None:
    """Count the raters of the index's last fit and find the notes; None where there is no fit."""
    bars = connection.execute(
        "SELECT greatest(least(floor(factor / $width), $most - 1), -$most)::INTEGER AS place, count(*)"
        " FROM raters GROUP BY place ORDER BY place",
        {"width": BAR_WIDTH, "most": _MAX_BARS_PER_SIDE},
    ).fetchall()
    if not bars:
        return None
    kinds = (
        f"SELECT note FROM scores WHERE factor < -{_MAX_SHARED_FACTOR} ORDER BY factor",
        f"SELECT note FROM scores WHERE factor > {_MAX_SHARED_FACTOR} ORDER BY -factor",
        f"SELECT note FROM scores WHERE abs(factor) <= {_MAX_SHARED_FACTOR} AND intercept > 0 ORDER BY -intercept",
    )
    minus, plus, across = (_find_side_notes(connection, kind) for kind in kinds)
    return Sides(bars=dict(bars), minus=minus, plus=plus, across=across)


def _find_side_notes(connection: Connection, of_kind: str) -> tuple[ListedNote, ...]:
    """Return the most rated of the first that a selection of notes, in an order, gives."""
    found = most_rated(connection, f"{of_kind}, note LIMIT {_MAX_EXTREME_NOTES}", {}, _MAX_SIDE_NOTES)
    return tuple(found) if len(found) == _MAX_SIDE_NOTES else ()
