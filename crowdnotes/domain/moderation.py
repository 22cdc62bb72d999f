"""The moderators' desk: who has a case, and why one comes before another."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from crowdnotes.domain.base import FrozenModel, LabelledEnum
from crowdnotes.domain.note import Classification, Support
from crowdnotes.domain.people import Person
from crowdnotes.wording import plural

MAX_COUNTED_LINES = 1_000
"""Lines of the queue that are counted; nobody goes through more of them one by one."""

CLAIM_DURATION = timedelta(minutes=15)
"""How long a moderator has a case to themselves after they last did something with it."""

WAITS_LONG = timedelta(hours=24)  # a note reaches readers after a median of 17.6 hours: past a day it comes too late
FINDINGS = (Support.SUPPORTED, Support.PARTLY, Support.UNSUPPORTED, Support.WRONG_SOURCE, Support.CANNOT_TELL)
"""What a moderator may find of a sentence and a passage, in the order of their keys."""
SPREADS_FROM = 50  # ratings of a post's notes; most posts have fewer


class DeskState(LabelledEnum):
    """Who has a case: its author, or the moderators."""

    DRAFTING = "drafting", "note to write or score"
    SUBMITTED = "submitted", "waiting for a moderator"
    IN_REVIEW = "in review", "with a moderator"
    RETURNED = "returned", "sent back with comments"
    DECIDED = "decided"


class Lease(FrozenModel):
    """Who has claimed a case, and until when by the database's clock."""

    holder: Person
    since: datetime
    until: datetime

    def holds(self, at: datetime) -> bool:
        """Return whether nobody else may claim the case at that time."""
        return at < self.until


class Return(FrozenModel):
    """One sending back: who, when, and the note of that time. Comments are the case's suggestions.

    `words` is the one on the whole note again, for the list of cases; an earlier program had it here alone.
    """

    by: Person
    at: datetime
    words: str = ""
    note: str = ""


class PairFinding(FrozenModel):
    """What one reader found of one sentence, by its words, and one passage.

    `passage_sha256` is of the passage's words and address as they read them; "" of a reading by an earlier program.
    """

    words: str
    evidence_id: str
    support: Support
    passage_sha256: str = ""


class Reading(FrozenModel):
    """One moderator's whole reading of a submitted note, kept when they finished it and not changed after.

    `post_sha256` is `Post.identity` of the post that the note was read for, `classification` what the note said of it;
    "" and None of a reading by an earlier program.
    """

    reader: Person
    at: datetime
    text_sha256: str
    post_sha256: str = ""
    classification: Classification | None = None
    findings: tuple[PairFinding, ...]

    @property
    def by_pair(self) -> dict[tuple[str, str], Support]:
        """What was found, by the sentence and the passage."""
        return {(found.words, found.evidence_id): found.support for found in self.findings}


@dataclass(frozen=True, slots=True)
class ReadPair:
    """What the readers found of one pair, in the order in which they read it."""

    case_id: str
    words: str
    evidence_id: str
    found: tuple[tuple[str, Support], ...]

    @property
    def values(self) -> list[Support]:
        """What was found, without who found it."""
        return [support for _, support in self.found]


class DeskWork(FrozenModel):
    """What the desk knows of a case. `state` is DRAFTING, SUBMITTED or RETURNED; the other two follow from the rest.

    `submitted_at` is of the last submission, by the database's clock; `message` what its author wrote to the
    moderators; `assigned` who should take it, `raised` whether a person put it first; `readers` how many moderators
    have to read it, each without the others' findings; `readings` are of this submission, `returns` all of them, oldest
    first. `cases.blinding.counted_readings` says which of the readings count.
    """

    state: DeskState = DeskState.DRAFTING
    submitted_at: datetime | None = None
    submitted_sha256: str = ""
    message: str = ""
    lease: Lease | None = None
    assigned: Person | None = None
    raised: bool = False
    readers: int = 1
    readings: tuple[Reading, ...] = ()
    earlier_readings: tuple[Reading, ...] = ()
    returns: tuple[Return, ...] = ()

    @property
    def all_readings(self) -> tuple[Reading, ...]:
        """The readings of every submission, the present one's last."""
        return (*self.earlier_readings, *self.readings)


class QueueItem(FrozenModel):
    """A line of the queue, and its sort key: `turn` is when it was submitted, minus what brings it forward.

    So a case that waits long comes before an urgent new one. `ratings` are those of the notes on its post; `close`: the
    simulated jury gives the note a fair chance, neither a good nor a low one; `readers` still have to read it.
    """

    case_id: str
    state: DeskState
    submitted_at: datetime
    turn: datetime
    owner: str | None
    ratings: int
    close: bool
    disagree: bool
    raised: bool
    readers: int
    read_by: str
    holder: str | None
    holder_name: str
    held_until: datetime | None
    assigned: str | None
    assigned_name: str
    post_excerpt: str = ""
    note_excerpt: str = ""

    @property
    def readers_in_all(self) -> int:
        """How many are asked to read it, those who have included."""
        return self.readers + sum(bool(key) and not key.startswith("!") for key in self.read_by.split("\n"))

    def held_by_another(self, key: str, at: datetime) -> bool:
        """Return whether someone else has claimed it at that time."""
        return self.holder is not None and self.holder != key and self.held_until is not None and at < self.held_until

    def reasons(self, at: datetime) -> list[str]:
        """Return why it comes early, for people."""
        waited = at - self.submitted_at
        days, hours = waited // timedelta(days=1), waited // timedelta(hours=1)
        applies_by_reason = {
            "put first by a moderator": self.raised,
            f"spreads fast: notes on it were rated {self.ratings:,} times": self.ratings >= SPREADS_FROM,
            "readers disagree": self.disagree,
            "simulated readers are undecided": self.close,
            plural(days, "waiting for 1 day", "waiting for {n} days")
            if days > 1
            else plural(hours, "waiting for 1 hour", "waiting for {n} hours"): waited >= WAITS_LONG,
        }
        return [words for words, applies in applies_by_reason.items() if applies]


class Order(StrEnum):
    """How the queue is sorted."""

    TURN = "turn"
    OLDEST = "oldest"
    NEWEST = "newest"


class QueueScope(StrEnum):
    """Which submitted cases."""

    FREE = "free"
    MINE = "mine"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class QueueQuery:
    """What of the queue is asked for: the states, whose, and whether one's own cases are left out (four eyes)."""

    whose: QueueScope = QueueScope.FREE
    states: tuple[DeskState, ...] = (DeskState.SUBMITTED, DeskState.IN_REVIEW)
    order: Order = Order.TURN
    without_own: bool = False


@dataclass(frozen=True, slots=True)
class Comment:
    """What a moderator wants changed: about a passage, some words of the note, both or neither."""

    text: str
    evidence_id: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence of the note by its words, or all of it, and the passage that it rests on."""

    words: str
    evidence_id: str


class Tombstone(FrozenModel):
    """The record that a case was deleted, without its content."""

    case_id: str
    deleted_at: datetime
    by: str
    by_key: str


_QUEUE_ADVANCE_BY_REASON = {  # how far each brings a case forward in the queue
    "raised": timedelta(days=30),
    "spreads": timedelta(hours=24),
    "disagree": timedelta(hours=12),
    "close": timedelta(hours=8),
}


def turn_of(submitted_at: datetime, *, raised: bool, ratings: int, disagree: bool, close: bool) -> datetime:
    """Return the sort key of the queue, the earliest first; see `QueueItem`."""
    holds = {"raised": raised, "spreads": ratings >= SPREADS_FROM, "disagree": disagree, "close": close}
    return submitted_at - sum((_QUEUE_ADVANCE_BY_REASON[name] for name, is_so in holds.items() if is_so), timedelta())
