"""From searches to evidence: queries, hits, sources, passages, a person's reviews, and what settles the claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from enum import StrEnum

from crowdnotes.domain.base import FrozenModel, LabelledEnum, Span, text_sha256
from crowdnotes.domain.people import Person
from crowdnotes.wording import plural

BY_HAND = "hand:"  # prefix of the ids of sources whose words a person copied
UNDATED = "undated"  # notice on a source without a date, if evidence has a cutoff
BADLY_READABLE = "badly readable"  # notice on a source with lost letters or words
PARTS_LEFT_OUT = "parts left out"  # notice on a page with parts that its readers may not see, and that were not read
AFTER_CUTOFF = "after the cutoff"  # notice on a later source that a person opened or pasted
# Notices on a library record whose link does not lead a reader to its words.
TO_CONTENTS = "its link leads to a table of contents"
TO_SECTION = "its link leads to a section's first page"
TO_HOME = "its link leads to a home page"
SITE_CLOSED = "its site is closed"
_ASTRAY = frozenset({TO_CONTENTS, TO_SECTION, TO_HOME, SITE_CLOSED})
OLD_YEARS = 5  # years after which a source may be out of date


class Query(FrozenModel):
    """One search, and what it is meant to find that the others do not. `language` is an ISO 639-1 code.

    `by_name` is a search for a name or figure as it is written: for services, not for libraries, which go by meaning.
    """

    text: str
    purpose: str
    language: str | None = None
    by_name: bool = False


class Aim(StrEnum):
    """What a search is for: judging the post, or seeing the best that speaks for its claim."""

    JUDGE = "judge the claim"
    OTHER_SIDE = "the other side"


class SourceCategory(LabelledEnum):
    """The seven kinds of source of CrowdNotes+ appendix B.1."""

    HEALTH_AUTHORITY = "health authority"
    RESEARCH = "research literature"
    NEWS = "news media"
    SOCIAL = "social media"
    HEALTH_PORTAL = "health portal"
    COMMERCIAL_ADVOCACY_NGO = "commercial, advocacy or NGO"
    OTHER = "other"


class FactCheck(FrozenModel):
    """What a fact-checker's ClaimReview data says of one claim, as plain text; "" where it says nothing.

    `verdict` is in the checker's own words. `scale` is the given number, with the given ends of its scale: the program
    makes no number from words and inverts none. https://schema.org/ClaimReview
    """

    claim: str
    claimant: str = ""
    verdict: str = ""
    scale: str = ""
    publisher: str = ""
    published: date | None = None
    language: str | None = None
    url: str | None = None

    @property
    def rating(self) -> str:
        """The verdict, or without words for it the number."""
        return self.verdict or self.scale

    @property
    def sentence(self) -> str:
        """The claim, who said it, and the verdict."""
        claimant = f", said by {self.claimant}" if self.claimant else ""
        claim = f"The claim “{self.claim}”{claimant}."
        publisher = self.publisher or "A fact-checker"
        if not self.rating:
            return f"{claim} Checked by {publisher}."
        scale = f" ({self.scale})" if self.verdict and self.scale else ""
        return f"{claim} {publisher} rates it: {self.rating}{scale}."


class EarlierNote(FrozenModel):
    """A community note under another post, from X's public data, as its writer typed it.

    Its links lead to sources; its words are for people only: no prompt and no draft contains them. `status` is X's name
    of its status, "" where that is not known; `shown` the day since when X showed it. Ids are X's own.
    """

    note: int
    post: int | None = None
    text: str
    written: date
    status: str = ""
    shown: date | None = None

    @property
    def was_shown(self) -> bool:
        """Whether X is known to have shown it."""
        return self.shown is not None

    @property
    def is_shown(self) -> bool:
        """Whether X still showed it when its status was read."""
        return self.was_shown and self.status in ("", "CURRENTLY_RATED_HELPFUL")

    @property
    def cited(self) -> str:
        """What a note says that cites a page, with the year, without its words."""
        return (
            f"cited by a note that X showed under a similar post, {self.written.year}"
            if self.was_shown
            else f"cited by a note under a similar post, {self.written.year}"
        )

    @property
    def cited_in_short(self) -> str:
        """The same in fewer words."""
        return (
            f"cited by a note that X showed, {self.written.year}"
            if self.was_shown
            else f"cited by a note, {self.written.year}"
        )


def first_shown(notes: Sequence[EarlierNote]) -> EarlierNote | None:
    """Return the first of the notes that X showed, else the first; None of none."""
    return next((note for note in notes if note.was_shown), notes[0] if notes else None)


class ClaimMatch(StrEnum):
    """What a person finds of a fact-check: whether it checks the claim of the post."""

    SAME = "same claim"
    RELATED = "related"
    OTHER = "other claim"


class Hit(FrozenModel):
    """A search result, before anything is read. Title and snippet are plain text.

    `notices` are marks that a reader must see: "preprint", "retracted" and the like. `also_found_by`
    are the other providers that gave the same page. `category` is what `evidence/provenance` says of the
    page's host; the program sets it after the search. `rating` is what a fact-checker's review calls the
    claim, in the checker's own words, and `check` all that is known of that review. `notes` are earlier notes that
    link to the page, the nearest first.
    """

    provider: str
    title: str
    snippet: str
    query: str
    url: str | None = None
    published: date | None = None
    library: str | None = None
    record: int | None = None
    score: float = 0.0
    doi: str | None = None
    pmid: str | None = None
    language: str | None = None
    category: SourceCategory = SourceCategory.OTHER
    rating: str = ""
    check: FactCheck | None = None
    notes: tuple[EarlierNote, ...] = ()
    notices: tuple[str, ...] = ()
    also_found_by: tuple[str, ...] = ()


class ProviderState(LabelledEnum):
    """How a search provider's part of a search ended; a failed search is not "nothing found"."""

    ANSWERED = "answered"
    FAILED = "failed"
    NOT_CONFIGURED = "not configured"
    NOT_ASKED = "not asked"  # no search words were for it: nothing was sent
    RATE_LIMITED = "rate limited"
    TIMED_OUT = "timed out"
    CANCELLED = "cancelled"


class ProviderOutcome(FrozenModel):
    """One provider's part of a search: how many distinct hits, how long, and a sentence for the user."""

    provider: str
    label: str
    state: ProviderState
    found: int = 0
    seconds: float = 0.0
    sentence: str = ""

    @property
    def is_of_library(self) -> bool:
        """Whether a library on this computer was searched: nothing was sent."""
        return self.provider.startswith("library:")

    @property
    def gave_no_answer(self) -> bool:
        """Whether it should have answered and did not."""
        return self.state not in {ProviderState.ANSWERED, ProviderState.NOT_ASKED}


def seems_offline(outcomes: Sequence[ProviderOutcome]) -> bool:
    """Return whether several services were asked, and none could be reached or answered in time.

    A library is on this computer: what it found says nothing of the connection.
    """
    unasked = {ProviderState.NOT_CONFIGURED, ProviderState.NOT_ASKED}
    online = [it.state for it in outcomes if not (it.is_of_library or it.state in unasked)]
    return len(online) > 1 and {*online} <= {ProviderState.FAILED, ProviderState.TIMED_OUT}


def why_none_answered(outcomes: Sequence[ProviderOutcome]) -> str:
    """Return what a search says that none answered: how many failed, and why, those that failed alike together."""
    alike: dict[str, list[str]] = {}
    silent = [item for item in outcomes if item.gave_no_answer]
    for item in silent:
        alike.setdefault(item.sentence, []).append(item.label)
    failed = plural(len(silent), "The search failed", "All {n} searches failed")
    offline = "; you seem to be offline" if seems_offline(outcomes) else ""
    return " ".join([f"{failed}{offline}.", *(f"{', '.join(names)}: {said}" for said, names in alike.items())])


class FetchOutcome(LabelledEnum):
    """How reading a source ended. A page that was read but says nothing useful is still READ.

    UNDATED is given in studies alone, where a page without a date might be later than the cutoff.
    NOT_EVIDENCE are home pages, search results and log-in pages, CONSENT a notice that asks for consent in the place
    of the page.
    """

    READ = "read"
    BLOCKED = "blocked"
    PAYWALLED = "behind a paywall"
    CONSENT = "consent notice"
    NOT_FOUND = "not found"
    TIMED_OUT = "timed out"
    UNREACHABLE = "unreachable"
    SERVER_ERROR = "server error"
    TOO_LARGE = "too large"
    WRONG_TYPE = "not a readable type"
    UNREADABLE = "unreadable"
    REFUSED = "refused as unsafe"
    TOO_LATE = "later than the cutoff"
    UNDATED = "undated"
    NOT_EVIDENCE = "not evidence"


class ReadAs(StrEnum):
    """What of a source was read."""

    WHOLE = "the page"
    ABSTRACT = "the abstract"
    RECORD = "the register's entry"
    ARCHIVED = "an archived copy"
    THROUGH = "a reading service's text"


class DateOrigin(LabelledEnum):
    """Where a source's date is from; a date without a stated origin is not shown."""

    PAGE = "the page"
    LIBRARY = "the library"
    SEARCH = "the search service"
    FILE = "the file itself"
    PERSON = "the contributor"


class Source(FrozenModel):
    """A page or record, read or not. The store has its text under `text_sha256`.

    `read_as` is ABSTRACT when the page itself could not be had and its abstract was read by DOI or
    PubMed id instead; RECORD when a register's own entry was, as its service gave it; ARCHIVED when the archive's copy
    was; THROUGH when a reading service, named by `read_through`, gave the text, which nobody compared with the page.
    `notices` are marks that
    a reader must see ("preprint", "retracted").
    `not_before` is the first day of the year or month stated, where no day is.
    `page_starts` are the offsets in the text at which the pages of a PDF begin. `page_url` is where the
    link leads, when that is another address than `url`. `archived_url` is the archive's copy that was
    read, or one that is known of a page that could not be; publisher and category are those of the original.
    `outcome_detail` says why a page could not be read, `archive_detail` what the archive then said of copies.
    `fact_checks` are what the page's own data, or the search that found it, says of claims that it checks; `notes` the
    earlier notes that link to it.
    """

    id: str
    title: str
    url: str | None = None
    page_url: str | None = None
    publisher: str | None = None
    published: date | None = None
    date_origin: DateOrigin | None = None
    not_before: date | None = None
    category: SourceCategory = SourceCategory.OTHER
    outcome: FetchOutcome = FetchOutcome.READ
    outcome_detail: str = ""
    archive_detail: str = ""
    text_sha256: str | None = None
    characters: int = 0
    library: str | None = None
    record: int | None = None
    language: str | None = None
    read_at: datetime | None = None
    read_as: ReadAs = ReadAs.WHOLE
    read_through: str = ""
    notices: tuple[str, ...] = ()
    doi: str | None = None
    pmid: str | None = None
    archived_url: str | None = None
    page_starts: tuple[int, ...] = ()
    fact_checks: tuple[FactCheck, ...] = ()
    notes: tuple[EarlierNote, ...] = ()

    @property
    def stated_day(self) -> date | None:
        """Its date, unless that is only when its file was made: what the file holds may be older."""
        return None if self.date_origin is DateOrigin.FILE else self.published

    @property
    def year(self) -> int | None:
        """Its year, also where no day is known."""
        first = self.stated_day or self.not_before
        return first.year if first is not None else None

    def years_if_old(self, on: date) -> int:
        """Return how many years old it is on that day; 0 under OLD_YEARS, and where no date is known."""
        first = self.stated_day or self.not_before
        years = 0 if first is None else (on - first).days // 365
        return years if years >= OLD_YEARS else 0

    @property
    def by_hand(self) -> bool:
        """Whether a person copied its words and the program never compared them with the page."""
        return self.id.startswith(BY_HAND)

    @property
    def astray(self) -> str:
        """Why its link does not lead a reader to its words; "" where it does, as far as is known."""
        return ", ".join(notice for notice in self.notices if notice in _ASTRAY)

    def timely(self, until: date | None, *, leave_out_undated: bool = False, collected: date | None = None) -> Source:
        """Return the source labelled if it is later than the cutoff, and marked or None if it has no date.

        `collected` is the day of its library's data: an undated record is no later than that.
        """
        source, day = self._unmarked(), self.stated_day or collected
        if (late := source._why_late(day, until)) is not None:
            return source.replace(outcome=FetchOutcome.TOO_LATE, outcome_detail=late)
        if leave_out_undated and day is None and source.outcome is FetchOutcome.READ:
            why = "It has no date, so it may be too new."
            return source.replace(outcome=FetchOutcome.UNDATED, outcome_detail=why)
        return source._marked_undated(until)

    def kept_by_a_person(self, until: date | None) -> Source:
        """Return a source that a person opened or pasted: kept as it was read, with a notice if late or undated."""
        source = self._unmarked()
        if source._why_late(source.stated_day, until) is not None:
            return source.replace(notices=(*source.notices, AFTER_CUTOFF))
        return source if source.by_hand else source._marked_undated(until)

    def _why_late(self, day: date | None, until: date | None) -> str | None:
        first = day or self.not_before
        if until is None or first is None or first <= until:
            return None
        return (
            f"It is too new: from {day}, after {until}."
            if day
            else f"It is too new: from {first} or later, after {until}."
        )

    def _marked_undated(self, until: date | None) -> Source:
        if until is None or self.stated_day is not None or self.outcome is not FetchOutcome.READ:
            return self
        return self.replace(notices=(*self.notices, UNDATED))

    def _unmarked(self) -> Source:
        """Return it without the marks of an earlier cutoff."""
        kept = tuple(notice for notice in self.notices if notice not in (UNDATED, AFTER_CUTOFF))
        return self if kept == self.notices else self.replace(notices=kept)


class Passage(FrozenModel):
    """The best window of a source for this post (CrowdNotes+ appendix D.2).

    `text` equals the source's text at `span`. `before` and `after` are what surrounds it, for
    reading in context. `marks` are the most relevant sentences, as offsets in `text`, `key_sentences` those that
    models are shown of a long passage, the best first.
    `similarity` is a cosine in [-1, 1] to the post. `page` is the page of a PDF that it begins on, from 1.
    """

    text: str
    span: Span
    similarity: float
    before: str = ""
    after: str = ""
    marks: tuple[Span, ...] = ()
    key_sentences: tuple[Span, ...] = ()
    page: int | None = None


class Verdict(LabelledEnum):
    """What the person who read a passage makes of it."""

    USE = "use"
    BACKGROUND = "background", "read, not cited"
    REJECT = "reject"


class Review(FrozenModel):
    """One reader's inspection of one passage, from when they first opened it; what they make of it is theirs alone.

    `judged_at` is unknown of some verdicts that earlier programs kept.
    """

    reader: Person
    opened_at: datetime
    verdict: Verdict | None = None
    judged_at: datetime | None = None
    reason: str = ""


class Evidence(FrozenModel):
    """One chosen passage: "E1", why it was chosen, and what its readers say of it.

    `aim` is OTHER_SIDE when it was searched for because it may support the post's claim. `reviews` has one per reader,
    that of the newest verdict last.
    """

    id: str
    source: Source
    passage: Passage
    rank: int
    why: str
    aim: Aim = Aim.JUDGE
    reviews: tuple[Review, ...] = ()

    @property
    def number(self) -> int:
        """The number in its id."""
        return int(self.id.removeprefix("E"))

    def review_by(self, reader_key: str) -> Review | None:
        """Return the review of the reader with that `Person.key`; None where they have not opened it."""
        return next((review for review in self.reviews if review.reader.key == reader_key), None)

    @property
    def identity(self) -> str:
        """A value that differs for every passage of other words or from another page."""
        return text_sha256(f"{self.source.url}\x00{self.passage.text}")

    @property
    def working(self) -> Review | None:
        """The review that counts for the note: the newest verdict that any reader gave; None while there is none."""
        return next((review for review in reversed(self.reviews) if review.verdict is not None), None)

    @property
    def verdict(self) -> Verdict | None:
        """The one that counts for the note."""
        return self.working.verdict if self.working else None

    @property
    def used(self) -> bool:
        """Whether the note may use this passage: a reader opened it and chose so, and none decided otherwise since."""
        return self.verdict is Verdict.USE


class ManualSearch(FrozenModel):
    """What helps a person to search by hand: the nearest passage found, what to look for, and where.

    `wanted` is "" if neither the model nor the claim says it; `places` are names of websites, each with a search link.
    """

    nearest: Evidence | None
    wanted: str
    places: tuple[tuple[str, str], ...]


class EvidenceSet(FrozenModel):
    """The passages before something replaced or added to them: `at` is when, `why` by what.

    Sets from before sets were dated have neither of the two.
    """

    at: datetime | None = None
    why: str = ""
    evidence: tuple[Evidence, ...]


def basis_sha256(evidence: tuple[Evidence, ...]) -> str:
    """Return the identity of a set of passages: their ids and exact texts, in order."""
    return text_sha256("\x00".join(f"{item.id}\x01{item.passage.text}" for item in evidence))


class AnswerKind(StrEnum):
    """How a passage answers the claim: outright, by a reader's own conclusion, or not at all."""

    STATED = "stated"
    INFERRED = "inferred"
    NONE = "background"


class Points(StrEnum):
    """Which way a passage points."""

    AGAINST = "against the claim"
    FOR = "for the claim"
    NEITHER = "neither way"


class PassageAnswer(FrozenModel):
    """What one passage gives for a claim: `span` are the words of the passage that show it, as offsets in its text.

    `claim` counts the post's checkable claims from 1, the one that misleads most. `other` is the passage with which
    alone it states the answer, each one step of it. `to_program`: words in it speak to a program instead of people, so
    it answers nothing.
    """

    evidence_id: str
    passage_sha256: str
    answer: AnswerKind
    points: Points = Points.NEITHER
    span: Span | None = None
    tells: str = ""
    to_program: bool = False
    claim: int = 1
    other: str = ""


class Settlement(FrozenModel):
    """What a model found in the passages for the claims, passage by passage, and where else to look for the first.

    A passage occurs more than once if it answers several claims, or parts of one in different places. `best` are the
    ids of those to write from, best first and without near-copies; none if the model named none.
    `post_to_program`: words in the post speak to a program instead of people.
    """

    passages: tuple[PassageAnswer, ...]
    best: tuple[str, ...] = ()
    missing: str = ""
    post_to_program: bool = False
    engine: str
    prompt_version: str | None = None

    def of(self, item: Evidence) -> PassageAnswer | None:
        """Return what was found of a passage in its current words, for the first claim if any; None when not asked."""
        return next(iter(self.all_of(item)), None)

    def all_of(self, item: Evidence) -> list[PassageAnswer]:
        """Return all that was found of a passage in its current words."""
        known = [found for found in self.passages if found.evidence_id == item.id]
        return [found for found in known if found.passage_sha256 == text_sha256(item.passage.text)]

    def answers(self, evidence: Iterable[Evidence]) -> list[tuple[Evidence, PassageAnswer]]:
        """Return the passages that answer a claim, those that state it first."""
        found = [(item, answer) for item in evidence if (answer := self.of(item)) is not None]
        order = (AnswerKind.STATED, AnswerKind.INFERRED)
        return [pair for wanted in order for pair in found if pair[1].answer is wanted]

    def stated(self, evidence: Iterable[Evidence], *, claim: int | None = None) -> list[tuple[Evidence, PassageAnswer]]:
        """Return the passages that state what settles that claim, or any; once for each place that does.

        Two that state it only together count if both are among the `evidence`.
        """
        items = list(evidence)
        ids = {item.id for item in items}
        return [
            (item, answer)
            for item in items
            for answer in self.all_of(item)
            if answer.answer is AnswerKind.STATED and claim in (None, answer.claim) and answer.other in {"", *ids}
        ]

    def has_several_inferred(self, evidence: Sequence[Evidence]) -> bool:
        """Return whether two or more passages contradict one claim whose answer none states."""
        stated = {answer.claim for _, answer in self.stated(evidence)}
        against = Counter(
            claim
            for item in evidence
            for claim in {
                answer.claim
                for answer in self.all_of(item)
                if answer.answer is AnswerKind.INFERRED and answer.points is Points.AGAINST
            }
        )
        return any(count > 1 for claim, count in against.items() if claim not in stated)

    def only_infers(self, evidence: Iterable[Evidence]) -> bool:
        """Return whether a reader has to conclude the answer from these passages; False if one was not asked about."""
        items = list(evidence)
        found = [self.all_of(item) for item in items]
        is_answered = any(answer.answer is not AnswerKind.NONE for answers in found for answer in answers)
        return all(found) and is_answered and not self.stated(items)
