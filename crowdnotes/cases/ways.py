"""How a gathering goes about its work: as people want it, or with a part switched as a study wants it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date


@dataclass(frozen=True, slots=True)
class Ways:
    """Without `diverse` the post is the only query; without `by_utility` the first hits are read (CrowdNotes+ Table 3).

    `leave_out_undated` is for studies with a cutoff: a page without a date may know how the matter ended.
    `closed` are libraries by name, each with the day on which it was collected: their undated records are
    no later than that.
    """

    diverse: bool = True
    by_utility: bool = True
    leave_out_undated: bool = False
    closed: Mapping[str, date] = field(default_factory=dict)


FOR_PEOPLE = Ways()
