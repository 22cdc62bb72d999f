"""Utility selection: which few of the hits a person should read (CrowdNotes+ 4.2 and appendix D.1).

With a quota k, in each round the candidate of highest utility for judging the post is taken out of
the pool, with its reason. Who judges utility is the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from crowdnotes.domain import Aim, Hit, Post
from crowdnotes.engines import Engine
from crowdnotes.errors import EngineError

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A hit that was picked, and why."""

    hit: Hit
    why: str


@dataclass(frozen=True, slots=True)
class Selection:
    """The hits that were picked, in order; `rest` is why none of the others was, "" where more were not wanted."""

    chosen: tuple[Chosen, ...]
    rest: str = ""


def select_by_utility(
    engine: Engine,
    post: Post,
    hits: Sequence[Hit],
    quota: int,
    progress: Progress | None = None,
    *,
    aim: Aim = Aim.JUDGE,
    beside: Sequence[Hit] = (),
    by_utility: bool = True,
) -> Selection:
    """At most `quota` hits. Fewer when the engine says that no other helps `aim`.

    `beside` are hits that were chosen before and are not offered: what they cover is covered.
    Without `by_utility` it is the first hits as the search gave them: for studies (CrowdNotes+ Table 3).
    Raises EngineError when the engine picks what was not offered.
    """
    if not by_utility:
        return Selection(tuple(Chosen(hit, "in the order of the search") for hit in hits[:quota]))
    pool = list(hits)
    chosen: list[Chosen] = []
    while pool and len(chosen) < quota:
        if progress is not None:
            progress(len(chosen), quota)
        pick = engine.pick(post, pool, [*beside, *(item.hit for item in chosen)], aim=aim)
        if pick.index is None:
            return Selection(tuple(chosen), pick.why)
        if not 0 <= pick.index < len(pool):
            raise EngineError("The engine picked a search result that was not offered.")
        chosen.append(Chosen(pool.pop(pick.index), pick.why))
    return Selection(tuple(chosen))
