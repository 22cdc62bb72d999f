"""A supernote: one note made from the notes that a post has, as in the Supernotes paper (sections 2 and 3).

Existing notes → candidates → filters → the simulated jury → the winner, which becomes the draft of its case.
"""

from __future__ import annotations

import re
from datetime import datetime
from enum import StrEnum

from pydantic import Field

from crowdnotes.domain.assessment import Interval, LinkCheck, SideVotes
from crowdnotes.domain.base import FrozenModel, LabelledEnum, Span, text_sha256
from crowdnotes.domain.note import Classification, Quotation


class CrowdStatus(StrEnum):
    """What X's raters have made of a note so far (column `currentStatus` of the status history)."""

    NEEDS_MORE_RATINGS = "NEEDS_MORE_RATINGS"
    HELPFUL = "CURRENTLY_RATED_HELPFUL"
    NOT_HELPFUL = "CURRENTLY_RATED_NOT_HELPFUL"


class Ratings(FrozenModel):
    """How many raters gave each level, and each tag (a column of the ratings, such as helpfulClear)."""

    helpful: int = Field(0, ge=0)
    somewhat_helpful: int = Field(0, ge=0)
    not_helpful: int = Field(0, ge=0)
    tags: dict[str, int] = Field(default_factory=dict)

    @property
    def count(self) -> int:
        """All of them."""
        return self.helpful + self.somewhat_helpful + self.not_helpful

    @property
    def mean(self) -> float | None:
        """The mean rating in [0, 1], somewhat helpful as a half; None without ratings."""
        return (self.helpful + self.somewhat_helpful / 2) / self.count if self.count else None


# People on X write "NNN" for it. A pasted note has no classification that says so.
_NO_NOTE_NEEDED_PATTERN = re.compile(
    r"\bNNN\b|\b[Nn]o (?:[Cc]ommunity )?[Nn]otes? (?:(?:is|are) )?(?:needed|necessary|required)\b|"
    r"(?:^|[.!?]\s+|[Cc]ommunity )[Nn]otes? (?:is |are )?(?:not (?:needed|necessary|required)|unnecessary)\b",
)
_INSULT_PATTERN = re.compile(
    r"\b(?:idiot|moron|imbecile|clown|fool|loser|liar|scumbag|bastard|asshole|retard|libtard|shill)s?\b|"
    r"\b(?:idiotic|moronic|stupid|dumb|scum|disgusting|shameless|bullshit)\b",
    re.IGNORECASE,
)
_CRUDE_PATTERN = re.compile(r"\b(?:\w*shit\w*|\w*fuck\w*|bitch\w*|whores?|crap|turds?)\b", re.IGNORECASE)


def has_insult(text: str) -> bool:
    """Return whether words insult people or are crude, so that a page hides them until a person asks."""
    return bool(_INSULT_PATTERN.search(text) or _CRUDE_PATTERN.search(text))


class ExistingNote(FrozenModel):
    """A note that a contributor wrote on the post: `id` is ours ("N1"), `note_id` X's own. `text` with its links.

    `status` is None where it is not known. `chosen` is a person's choice against the rule of eligibility.
    """

    id: str
    text: str
    note_id: str | None = None
    classification: Classification = Classification.MISLEADING
    status: CrowdStatus | None = None
    ratings: Ratings = Ratings()
    created_at: datetime | None = None
    chosen: bool | None = None

    @property
    def why_not_eligible(self) -> str:
        """Why no supernote is made from it by default; "" where it is (Supernotes 3.1, and no insults beyond it)."""
        if self.classification is Classification.NOT_MISLEADING:
            return "It says that the post is not misleading."
        if _NO_NOTE_NEEDED_PATTERN.search(self.text):
            return "It says that no note is needed."
        if self.status is CrowdStatus.HELPFUL:
            return "X shows it already."
        if self.status is CrowdStatus.NOT_HELPFUL:
            return "Raters found it not helpful."
        if "://" not in self.text and _INSULT_PATTERN.search(self.text):
            return "It insults people and has no source."
        return ""

    @property
    def is_used(self) -> bool:
        """Whether candidates are made from it: by the rule, unless a person says otherwise."""
        return self.chosen if self.chosen is not None else not self.why_not_eligible


class SupernoteSentence(FrozenModel):
    """One sentence of a candidate: `span` in its text, the notes that say it, the words of pages that support it."""

    span: Span
    notes: tuple[str, ...]
    carriers: tuple[Quotation, ...] = ()


class FilterName(LabelledEnum):
    """What a candidate has to pass before the jury rates it (Supernotes 2.2, and SUPPORTED beyond it), in order."""

    LENGTH = "280 characters"
    OWN_LINKS = "only links of the notes"
    LIVE_LINKS = "every link answers", "every link works"
    NEUTRAL = "neutral words"
    NO_OPINION = "no opinion or speculation"
    SUPPORTED = "the linked pages say it", "the links support it"


class SupernoteScore(FrozenModel):
    """What the simulated jury says of a text; the same jurors sit for all texts. See `JuryVerdict`."""

    intercept: float
    interval: Interval
    factor: float
    status: str
    chance_of_shown: float | None = None
    negative: SideVotes
    positive: SideVotes
    means_nothing: bool = False


class Candidate(FrozenModel):
    """A candidate supernote. `text` with its links, as it would be posted.

    `failed` is the first filter that it failed, and `why`; `not_run` are those that could not judge it. `objections`
    are the listwise judge's, `grade` its grade from 0 to 10; `revised` says what changed, if this text is a revision of
    the best one.
    """

    text: str
    sentences: tuple[SupernoteSentence, ...]
    engine: str
    prompt_version: str | None = None
    failed: FilterName | None = None
    why: str = ""
    not_run: tuple[FilterName, ...] = ()
    score: SupernoteScore | None = None
    grade: float | None = None
    objections: tuple[str, ...] = ()
    revised: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes it is made from, each once."""
        return tuple(dict.fromkeys(note for sentence in self.sentences for note in sentence.notes))

    @property
    def evidence_ids(self) -> tuple[str, ...]:
        """The passages that support it, each once."""
        return tuple(dict.fromkeys(item.evidence_id for sentence in self.sentences for item in sentence.carriers))

    @property
    def sha256(self) -> str:
        """The text's identity."""
        return text_sha256(self.text)


# Of 1,296 pairs of notes on one post (pilot of 2021, five ratings or more each) the jury's intercept found the better
# one in 51 % where it differed by less than 0.05, in 62 % up to 0.1, in 71 % up to 0.2, in 94 % beyond; ratings by half
# of the raters found the other half's choice in 69 %.
MAX_TIED_GAP = 0.1
_RIGHT_OF_100 = ((0.05, 51), (0.1, 62), (0.2, 71))  # up to this difference
_RIGHT_OF_100_BEYOND = 94


def count_right_of_100(gap: float) -> int:
    """Return of how many pairs of 100 that differ so much in the jury's intercept it found the better note."""
    return next((right for most, right in _RIGHT_OF_100 if abs(gap) <= most), _RIGHT_OF_100_BEYOND)


def jury_order(candidate: Candidate) -> tuple[bool, float, float]:
    """Return the key that sorts candidates by their scores, best first; last those whose score means nothing."""
    score = candidate.score
    if score is None:
        return True, 0.0, 0.0
    return score.means_nothing, -score.intercept, -(score.chance_of_shown or 0.0)


def is_tied(item: Candidate, best: Candidate) -> bool:
    """Return whether the jury sees no difference between a candidate and the best one."""
    if item.score is None or best.score is None or item.score.means_nothing != best.score.means_nothing:
        return item is best
    return best.score.intercept - item.score.intercept < MAX_TIED_GAP


class Credit(FrozenModel):
    """What one note gave to the winner: its share of the words, and what is lost without it.

    `share` is in [0, 1]. `without` is the score of the best that can be chosen without this note, None where nothing
    can; `loss` the winner's intercept minus that one's.
    """

    note: str
    share: float = Field(ge=0, le=1)
    without: float | None = None
    loss: float | None = None


class SupernoteRound(FrozenModel):
    """One round of candidates: the notes they are made from, how many were asked for, and the result.

    `written_from` are the notes that new ones were written for: all that are used, or only those that had changed since
    the round before, whose other candidates are then kept.

    `asked` are the calls of its plan that an engine has answered, so that a stopped round resumes; `lost` is why
    answers of the engine gave no candidate; `merged` how many were nearly the same as another; `links` how the notes'
    links answered. `winner` and `best_existing` are the sha256 of a text and the id of a note. `judged` names who chose
    the winner among the best, `best_by` who chose the best existing note. `posted` is what the same jury says of the
    posted supernote, if any. `post_sha256` is of the post's words that all this was made for. `measured` says how good
    the jury's model was found to be, "" where no jury sat. `credits` are of the winner.
    """

    number: int = Field(ge=1)
    made_at: datetime
    post_sha256: str = ""
    notes: tuple[ExistingNote, ...]
    wanted: int = Field(ge=1)
    seed: int = 0
    written_from: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    asked: tuple[int, ...] = ()
    lost: tuple[str, ...] = ()
    merged: int = Field(0, ge=0)
    links: tuple[LinkCheck, ...] = ()
    existing: dict[str, SupernoteScore] = Field(default_factory=dict)
    winner: str | None = None
    best_existing: str | None = None
    judged: str = ""
    best_by: str = ""
    measured: str = ""
    posted: SupernoteScore | None = None
    credits: tuple[Credit, ...] = ()

    @property
    def used(self) -> tuple[ExistingNote, ...]:
        """The notes that its candidates are made from."""
        return tuple(note for note in self.notes if note.is_used)

    @property
    def passed(self) -> tuple[Candidate, ...]:
        """The candidates that no filter took out, as they are ranked."""
        return tuple(item for item in self.candidates if item.failed is None)

    @property
    def tied(self) -> tuple[Candidate, ...]:
        """The candidates that the jury cannot separate from the one with the highest score, as they are ranked."""
        best = min(self.passed, key=jury_order, default=None)
        return tuple(item for item in self.passed if best is not None and is_tied(item, best))

    @property
    def winning(self) -> Candidate | None:
        """The winner itself."""
        return next((item for item in self.candidates if item.sha256 == self.winner), None)

    @property
    def funnel(self) -> tuple[tuple[str, int], ...]:
        """How many candidates were left after each filter, beginning with all that were made."""
        left = len(self.candidates)
        counts = [("written", left)]
        for name in FilterName:
            left -= sum(item.failed is name for item in self.candidates)
            counts.append((name.value, left))
        return tuple(counts)

    @property
    def not_run(self) -> dict[str, int]:
        """How many passed candidates each filter could not judge: they passed it untested."""
        counts = {name.value: sum(name in item.not_run for item in self.passed) for name in FilterName}
        return {name: count for name, count in counts.items() if count}


class PostedNote(FrozenModel):
    """The supernote as it was posted, and its ratings: what a better one would have to replace.

    Without a `status` it is not known, nor whether the note is posted at all.
    """

    text: str
    status: CrowdStatus | None = None
    intercept: float | None = None
    negative: Ratings = Ratings()
    positive: Ratings = Ratings()
    unknown_side: Ratings = Ratings()
    at: datetime


class SupernoteWork(FrozenModel):
    """All of a case's supernote: the notes as they are now, and the rounds made from them, the newest last.

    `wanted` is how many candidates the next round makes. Earlier rounds keep only the winner.
    """

    notes: tuple[ExistingNote, ...] = ()
    wanted: int = Field(100, ge=1)
    rounds: tuple[SupernoteRound, ...] = ()
    posted: PostedNote | None = None

    @property
    def newest(self) -> SupernoteRound | None:
        """The current round."""
        return self.rounds[-1] if self.rounds else None

    @property
    def used(self) -> tuple[ExistingNote, ...]:
        """The notes that candidates are made from."""
        return tuple(note for note in self.notes if note.is_used)

    @property
    def changed(self) -> tuple[str, ...]:
        """The ids of used notes that are new, say something else or were not used in the newest round."""
        before = self._used_before
        return tuple(note.id for note in self.used if before.get(note.id) != note.text)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The ids of notes that the newest round was made from and that are gone, or no longer used."""
        return tuple(name for name in self._used_before if name not in {note.id for note in self.used})

    @property
    def _used_before(self) -> dict[str, str]:
        return {note.id: note.text for note in self.newest.used} if self.newest else {}


class SuggestionAnswer(LabelledEnum):
    """What was done with a reader's suggestion."""

    YES = "yes", "changed"
    IN_PART = "in part", "partly changed"
    NO = "no", "not changed"


class Suggestion(FrozenModel):
    """A reader's comment on a note, and the answer. `text` is untrusted.

    It may be about one passage (`evidence_id`) or some `words` of the note. One that is `owed` an answer came with a
    case that was sent back by the moderator with that `Person.key`; the case returns when each of them has an answer or
    a moderator resolved it (`resolved_by`). `typed_by` is the `Person.key` of who entered it, where it is not `owed`.
    `about` is the sha256 of the text it was made on, `became` of the text that adopted it; `changed` says what changed.
    """

    id: str
    text: str
    by: str
    at: datetime
    about: str
    answer: SuggestionAnswer | None = None
    reason: str = ""
    changed: str = ""
    became: str | None = None
    answered_by: str = ""
    answered_at: datetime | None = None
    evidence_id: str = ""
    words: str = ""
    owed: str = ""
    typed_by: str = ""
    resolved_by: str = ""

    @property
    def waits(self) -> bool:
        """Whether it has no answer and still needs one."""
        return self.answer is None and not self.resolved_by
