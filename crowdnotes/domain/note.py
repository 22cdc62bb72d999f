"""Drafts of the note, which passage supports each of their sentences, and the note as sent to X."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum

from crowdnotes.domain.base import FrozenModel, LabelledEnum, Span, text_sha256
from crowdnotes.domain.evidence import Evidence, Settlement


class Classification(StrEnum):
    """X's two kinds of note (column `classification` of the public data)."""

    MISLEADING = "MISINFORMED_OR_POTENTIALLY_MISLEADING"
    NOT_MISLEADING = "NOT_MISLEADING"


class Support(LabelledEnum):
    """How far the passages support a sentence of the note. UNCHECKED: nobody has compared them yet.

    Only people find the last two: a passage that is not fit to rest on (scored as not supporting the sentence), and one
    that they cannot judge (scored as unchecked).
    """

    UNCHECKED = "not compared yet"
    SUPPORTED = "supported"
    PARTLY = "partly supported"
    UNSUPPORTED = "not supported"
    WRONG_SOURCE = "wrong source"
    CANNOT_TELL = "cannot tell"

    @property
    def in_scores(self) -> Support:
        """As the scores count it."""
        return _SCORED_SUPPORT.get(self, self)


_SCORED_SUPPORT = {Support.WRONG_SOURCE: Support.UNSUPPORTED, Support.CANNOT_TELL: Support.UNCHECKED}


INFERRED = "No source of this note says outright whether the claim is right"


class Basis(LabelledEnum):
    """How a sentence rests on its passage: said outright, put together from two places, or concluded from it."""

    STATED = "stated"
    JOINED = "joined"
    INFERRED = "inferred"


class SentenceSupport(FrozenModel):
    """Attribution of one sentence of a note: `span` in the note, `carrier` in the passage's text.

    `score` is in [0, 1]: how near the carrier is. `doubts` are hints what to check, in a volunteer's words, and
    `doubted` the words of the note they are about, as offsets in the note. `by` is who compared the two: a person's
    name, or the model. `doubts_settled`: that person checked the hints, and none matters. `basis` is how it rests on
    the passage, as the model that wrote it says.
    """

    span: Span
    support: Support
    score: float
    evidence_id: str | None = None
    carrier: Span | None = None
    doubts: tuple[str, ...] = ()
    doubted: tuple[Span, ...] = ()
    by: str = ""
    doubts_settled: bool = False
    basis: Basis | None = None

    @property
    def has_open_hint(self) -> bool:
        """Whether it is supported but a hint is open. Where a person judges, that is no support yet."""
        return self.support is Support.SUPPORTED and bool(self.doubts) and not self.doubts_settled

    def words_in(self, note: str) -> str:
        """Return the sentence itself."""
        return note[self.span.start : self.span.end]


class SentenceCheck(FrozenModel):
    """What a person found when they compared a sentence with its passage. It holds while both keep their words.

    One for each sentence, passage and reader; `by_key` is their `Person.key`, "" of checks that earlier programs kept.
    `doubts_settled`: none of these `doubts` matters; others would have to be looked at.
    """

    words: str
    evidence_id: str
    passage_sha256: str
    support: Support
    doubts: tuple[str, ...] = ()
    doubts_settled: bool = False
    by: str
    by_key: str = ""
    at: datetime


class Quotation(FrozenModel):
    """Words of a passage that may be quoted, or on which a sentence rests: `span` in the passage's text."""

    evidence_id: str
    span: Span


class Draft(FrozenModel):
    """A note's full text, URLs included, exactly as it would be posted.

    `objections` are what the judge of several candidates holds against this one; `changes` what it changed in the best
    of them to make this one, and why.
    """

    text: str
    evidence_ids: tuple[str, ...] = ()
    sentences: tuple[SentenceSupport, ...] = ()
    engine: str
    prompt_version: str | None = None
    written_at: datetime
    seconds: float = 0.0
    objections: tuple[str, ...] = ()
    changes: str = ""

    def is_inferred(self, settlement: Settlement | None, evidence: Iterable[Evidence]) -> bool:
        """Return whether a reader has to conclude its answer: its writer says so, or no source of it states one.

        `evidence` are the passages of the case, `settlement` what was found of them.
        """
        if self.sentences and self.sentences[0].basis is Basis.INFERRED:
            return True
        return settlement is not None and settlement.only_infers(
            item for item in evidence if item.id in self.evidence_ids
        )

    @property
    def sha256(self) -> str:
        """The text's identity."""
        return text_sha256(self.text)


class OnXState(LabelledEnum):
    """OPEN: it is being sent, or no answer came, so nobody knows whether it arrived."""

    OPEN = "unsettled", "not known whether it arrived"
    SENT = "on x", "sent to X"


class OnX(FrozenModel):
    """The one note that the program sent, or meant to send, to a post of that number.

    `at` is when it was last to be sent, by the database's clock; `status` and `results` (of a test note's evaluation)
    are in X's words, "" before X said any.
    """

    post_id: str
    test_mode: bool
    case_id: str
    text_sha256: str
    attempt: str
    at: datetime
    state: OnXState
    note_id: str = ""
    status: str = ""
    results: str = ""
