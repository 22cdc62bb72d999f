"""Choose, read, and choose again in the place of what could not be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from crowdnotes.cases.wanted import Wanted, distinct, wanted_hit
from crowdnotes.domain import FetchOutcome, Hit, Source
from crowdnotes.evidence.utility import Selection

_ROUNDS = 3  # past that, more would only keep a person waiting

Choose = Callable[[Sequence[Hit], int, Sequence[Hit]], Selection]
Read = Callable[[Sequence[Wanted]], Mapping[str, Source]]


@dataclass(frozen=True, slots=True)
class Best:
    """The sources by what wanted them, why by source, and why none of the rest was chosen, if that was said."""

    sources: Mapping[str, Source]
    reasons: Mapping[str, str]
    rest: str = ""


def read_best(candidates: Sequence[Hit], quota: int, choose: Choose, read: Read, links: Sequence[Wanted] = ()) -> Best:
    """The sources: `quota` of the candidates that could be read.

    Fewer when too many could not be read, or when no other helps. Those that failed are there with their labels.
    `choose` gets what is left, how many are missing, and what was read already. `links` are read beside the
    first choice, whatever becomes of them.
    """
    left = list(candidates)
    had: list[Hit] = []
    sources: dict[str, Source] = {}
    reasons: dict[str, str] = {}
    rest = ""
    for number in range(_ROUNDS):
        selection = choose(left, quota - len(had), had) if left else Selection(())
        chosen, rest = selection.chosen, selection.rest
        left = [hit for hit in left if not any(hit is item.hit for item in chosen)]
        picks = {pick.id: (pick, item.hit) for item in chosen if (pick := wanted_hit(item.hit, item.why)) is not None}
        wanted = [*(links if number == 0 else ()), *(pick for pick, _ in picks.values())]
        if not wanted:
            break
        found = read(wanted)
        sources |= found
        # A page that leads to one that was read before is no other page.
        once = {source.id for source in distinct(sources.values())}
        sources = {name: source for name, source in sources.items() if source.id in once}
        reasons = {found[item.id].id: item.why for item in wanted if item.id in found} | reasons
        read_now = {name for name, source in found.items() if name in sources and source.outcome is FetchOutcome.READ}
        had += [hit for name, (_, hit) in picks.items() if name in read_now]
        if not chosen or len(had) >= quota:
            break
    return Best(sources, reasons, rest)
