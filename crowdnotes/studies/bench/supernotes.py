"""Posts with the notes that they have, for a bench of supernotes; and what such a run comes to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from crowdnotes.domain import Noun
from crowdnotes.studies.bench.healthnotes import PostRow
from crowdnotes.studies.bench.notes import costs


class NotedPost(Noun, extra="ignore"):
    """A post by its id on X, its words where they are known, and its notes as a file of notes has them."""

    post_id: str = Field(min_length=1)
    post: str = ""
    url: str | None = None
    notes: list[dict[str, Any]] = Field(min_length=1)

    @property
    def address(self) -> str | None:
        """Where it is: as given, or by its id."""
        return self.url or (f"https://x.com/i/status/{self.post_id}" if self.post_id.isdigit() else None)


FORM = (
    'Each line is an object: {"post_id": "…", "post": "…" or left out, "notes": [{"text": "…", "helpful": 3, …}, …]}.'
)


def figures(rows: Sequence[PostRow]) -> dict[str, Any]:
    """What a run took, and how often the simulated jury has the winner before the best existing note and before chance.

    Whether readers prefer it is another question: `bench compare`.
    """
    told = [row.supernote for row in rows if row.supernote is not None and row.note]
    found = {name: value for name, value in costs(rows).items() if name != "pass_all_gates"}
    for name, other in (("best_existing", "best_intercept"), ("random", "random_intercept")):
        pairs = [
            (item.winner_intercept, value)
            for item in told
            if item.winner_intercept is not None and (value := getattr(item, other)) is not None
        ]
        found[f"jury_prefers_winner_to_{name}"] = {
            "n": len(pairs),
            "wins": sum(mine > theirs for mine, theirs in pairs),
        }
    found["candidates"] = sum(next(iter(item.funnel.values()), 0) for item in told)
    found["passed"] = sum(list(item.funnel.values())[-1] for item in told if item.funnel)
    return found
