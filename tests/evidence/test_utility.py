"""Utility selection: one pick a round, taken out of the pool, with its reason."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from crowdnotes.domain import Hit, Post
from crowdnotes.engines import Aim, Pick
from crowdnotes.errors import EngineError
from crowdnotes.evidence.selection import Selection, select_by_utility
from crowdnotes.testing import ScriptedEngine

POST = Post(text="A claim.")
HITS = [Hit(provider="p", title=f"hit {n}", snippet="", query="q") for n in range(4)]


class _Picks(ScriptedEngine):
    def __init__(self, *indices: int | None) -> None:
        super().__init__()
        self._indices = list(indices)

    def pick(self, post: Post, candidates: Sequence[Hit], chosen: Sequence[Hit], *, aim: Aim = Aim.JUDGE) -> Pick:
        return Pick(self._indices.pop(0), f"round {len(chosen) + 1}")


def test_each_round_takes_one_hit_out_of_the_pool() -> None:
    selection = select_by_utility(_Picks(2, 2, 0), POST, HITS, quota=3)
    assert selection.rest == ""
    assert [(item.hit.title, item.why) for item in selection.chosen] == [
        ("hit 2", "round 1"),
        ("hit 3", "round 2"),
        ("hit 0", "round 3"),
    ]


def test_it_ends_when_no_other_hit_helps_or_none_is_left() -> None:
    ended = select_by_utility(_Picks(1, None), POST, HITS, quota=3)
    assert (len(ended.chosen), ended.rest) == (1, "round 2")
    assert select_by_utility(_Picks(), POST, [], quota=3) == Selection(())


@pytest.mark.parametrize("index", [-1, 4])
def test_a_pick_that_was_not_offered_is_refused(index: int) -> None:
    with pytest.raises(EngineError, match="not offered"):
        select_by_utility(_Picks(index), POST, HITS, quota=3)
