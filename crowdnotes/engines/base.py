"""The Engine boundary: every step that needs judgement, by the local engine or a language model.

An engine never returns a URL: it answers with indices, evidence ids and words, and the program adds
the links from what was searched or pasted. It gives verdicts on its own step alone; the order of
the gates, the budget and the attribution are the program's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from typing import Protocol

from crowdnotes.domain import (
    Aim,
    Basis,
    Candidate,
    Claim,
    ClaimKind,
    Draft,
    Evidence,
    ExistingNote,
    GateResult,
    Hit,
    NoteWanted,
    Post,
    PrincipleResult,
    Query,
    Quotation,
    SentenceSupport,
    Settlement,
    SuggestionAnswer,
)
from crowdnotes.text.tokens import content_stems

MOST_OFFERED = 18  # results that a model ranks in one question: of 51 records that stated an answer, 46 stood there
MOST_OFFERED_LATER = 12  # in a follow-up search, which looks for less: all that answered stood there


@dataclass(frozen=True, slots=True)
class Brief:
    """What every step after the first goes by: the post as it is read, its claims, and the day.

    `today` is the last day that evidence may be from, where the case has one. `settlement` is what was found of the
    passages so far. Where more may be searched for, `searched` are the searches made so far and `places` what is
    searched, each with what it holds. `unwanted`: raters would probably want no note, and no person asked for one
    all the same.
    """

    post: Post
    today: date
    claims: tuple[Claim, ...] = ()
    settlement: Settlement | None = None
    searched: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    unwanted: NoteWanted | None = None

    @property
    def claim(self) -> Claim | None:
        """The checkable claim that would mislead most."""
        return next(iter(self.checkable), None)

    @property
    def checkable(self) -> list[Claim]:
        """The claims that can be checked, those first that mislead more; later steps count them from 1."""
        return [claim for claim in self.claims if claim.kind is ClaimKind.CHECKABLE]

    @property
    def asked_stems(self) -> frozenset[str]:
        """The stems of what the post and its claims ask."""
        claims = (words for claim in self.checkable for words in (claim.in_full, claim.settled_by))
        return content_stems(" ".join([self.post.text, *claims]))


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """The claims of a post and the searches for them; `why_none` says why there is nothing to search for.

    `wanted`: whether raters would want a note; None from an engine that cannot judge that.
    """

    claims: tuple[Claim, ...] = ()
    queries: tuple[Query, ...] = ()
    why_none: str = ""
    wanted: NoteWanted | None = None

    def as_insisted(self) -> SearchPlan:
        """The plan for a person who wants a note all the same: what is no claim is searched for as if it were one."""
        if self.queries or not self.claims:
            return self
        claims = tuple(claim.replace(kind=ClaimKind.CHECKABLE) for claim in self.claims)
        return replace(self, claims=claims, queries=(Query(text=claims[0].in_full[:160], purpose="the claim"),))


@dataclass(frozen=True, slots=True)
class Pick:
    """One pick by utility (CrowdNotes+ 4.2): `index` into the candidates given, and what its page should tell."""

    index: int
    why: str


@dataclass(frozen=True, slots=True)
class Ranking:
    """The candidates worth reading, best first; `rest` is why none of the others is.

    `queries` are searches to make where none is worth reading.
    """

    picks: tuple[Pick, ...]
    rest: str = ""
    queries: tuple[Query, ...] = ()


@dataclass(frozen=True, slots=True)
class FurtherSearch:
    """What was found of the passages, and the searches for what is missing; none where nothing is."""

    settlement: Settlement
    queries: tuple[Query, ...] = ()


@dataclass(frozen=True, slots=True)
class WrittenSentence:
    """One sentence of a note, with what carries it, and how it rests on that."""

    text: str
    carriers: tuple[Quotation, ...]
    basis: Basis


@dataclass(frozen=True, slots=True)
class Written:
    """One candidate note without URLs; `evidence_ids` are the passages it is written from, most important first.

    `cut` says which sentences the program left out of it, and why.
    """

    text: str
    evidence_ids: tuple[str, ...]
    sentences: tuple[WrittenSentence, ...] = ()
    cut: str = ""


@dataclass(frozen=True, slots=True)
class WriterAnswer:
    """Candidates, the one to begin with first; or none, with the reason, and `quotations` that a person may use.

    `lost`: why others that were tried are not there.
    """

    candidates: tuple[Written, ...] = field(default=())
    abstained: str = ""
    lost: tuple[str, ...] = field(default=())
    quotations: tuple[Quotation, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Revision:
    """What the judge of several notes says: their places in the order given, best first, and objections to each.

    `final` is the best one revised, `changes` what was changed and why. `final` is None where a note that failed a gate
    cannot be mended from the passages, and `changes` says why.
    """

    order: tuple[int, ...]
    objections: tuple[tuple[str, ...], ...]
    final: Written | None
    changes: str


@dataclass(frozen=True, slots=True)
class SupernoteBrief:
    """What one note is made from: the notes in the order to be shown, and passages; `budget` characters at most."""

    brief: Brief
    notes: Sequence[ExistingNote]
    evidence: Sequence[Evidence]
    budget: int


@dataclass(frozen=True, slots=True)
class NoteSentence:
    """One sentence made from existing notes: the ids of the notes that say it, and the words of pages that carry it."""

    text: str
    notes: tuple[str, ...]
    carriers: tuple[Quotation, ...] = ()


@dataclass(frozen=True, slots=True)
class SupernoteAnswer:
    """Candidates made from existing notes, as sentences and without URLs; `lost` is why others are not there."""

    candidates: tuple[tuple[NoteSentence, ...], ...]
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SupernoteVerdict:
    """What one judge says of several candidates, in the order given: a grade from 0 to 10 and objections to each.

    `final` is the best one revised, `changes` what was changed and why.
    """

    grades: tuple[float, ...]
    objections: tuple[tuple[str, ...], ...]
    final: tuple[NoteSentence, ...]
    changes: str


@dataclass(frozen=True, slots=True)
class SuggestionReply:
    """The answer to one suggestion: its reason, and where it is not "no" what changed in the note for it."""

    answer: SuggestionAnswer
    reason: str
    changed: str = ""


@dataclass(frozen=True, slots=True)
class SuggestionReplies:
    """One reply a suggestion, in the order given, and the note with what was granted; None where nothing is."""

    replies: tuple[SuggestionReply, ...]
    final: tuple[NoteSentence, ...] | None = None


@dataclass(frozen=True, slots=True)
class ImageReading:
    """What an engine that sees finds in an image: the words in it, and what it shows."""

    text: str
    shows: str


class EngineStep(StrEnum):
    """The steps that may each have a model of their own."""

    QUERIES = "queries"
    UTILITY = "utility"
    WRITING = "writing"
    JUDGING = "judging"


@dataclass(frozen=True, slots=True)
class ResultOrigin:
    """What stands on a result: the engine with its model, and the version of the prompts, if it has any."""

    engine: str
    prompt_version: str | None = None


class SupernoteWriter(Protocol):
    """Makes one note from the notes that a post has. Words of notes, pages and suggestions are data, never orders."""

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """US dollars for so many tokens of its model; None when nobody knows."""
        ...

    def write(self, given: SupernoteBrief, count: int, *, variant: int = 0) -> SupernoteAnswer:
        """Up to `count` candidates, in one call.

        Another `variant` gives others from the same notes; `engines.metering.completed_calls` makes many calls side by
        side. Raises EngineError.
        """
        ...

    def tone(self, brief: Brief, texts: Sequence[str]) -> tuple[tuple[PrincipleResult, ...], ...]:
        """Neutral words and no opinion, for each of these texts, in one call. Raises EngineError."""
        ...

    def judge(self, given: SupernoteBrief, candidates: Sequence[Candidate]) -> SupernoteVerdict:
        """The candidates compared with each other, and the best one made better. Raises EngineError."""
        ...

    def answer(self, given: SupernoteBrief, note: str, suggestions: Sequence[str]) -> SuggestionReplies:
        """Each suggestion on a note answered, and the note redrafted where one is granted. Raises EngineError."""
        ...


class Engine(Protocol):
    """Claims, searches, notes and judgements. Implementations are safe to share between threads and hold no case."""

    @property
    def name(self) -> str:
        """Stored on every result, e.g. "local" or "llm:gpt-x"."""
        ...

    def result_origin(self, step: EngineStep) -> ResultOrigin:
        """What to store on a result of that step."""
        ...

    @property
    def uses_language_model(self) -> bool:
        """False must be said on screen."""
        ...

    @property
    def sees(self) -> bool:
        """Whether it can read images; if not, the person types what an image says."""
        ...

    def read_image(self, content: bytes, media_type: str) -> ImageReading:
        """What an image says and shows. Raises EngineError when `sees` is False or the image cannot be read."""
        ...

    def plan(self, post: Post, limit: int, today: date, places: Sequence[str] = ()) -> SearchPlan:
        """The claims of a post, the most misleading first, and at most `limit` searches that are meant to differ.

        `places` are what will be searched, each with what it holds.
        """
        ...

    def queries(self, brief: Brief, limit: int, *, aim: Aim = Aim.JUDGE, like: str = "") -> list[Query]:
        """At most `limit` further searches for `aim`; with `like`, a passage's text, for more of its kind."""
        ...

    def rank(
        self,
        brief: Brief,
        candidates: Sequence[Hit],
        chosen: Sequence[Hit],
        quota: int,
        *,
        spare: int = 0,
        aim: Aim = Aim.JUDGE,
    ) -> Ranking:
        """Return the candidates that are most useful for `aim` beside what is chosen, best first, each once.

        The first `quota` are read; up to `spare` more are there for those that cannot be.
        """
        ...

    def settle(self, brief: Brief, evidence: Sequence[Evidence], limit: int) -> FurtherSearch | None:
        """Whether the passages settle the claim, and at most `limit` searches for what is missing.

        None from an engine that cannot tell. What `brief.settlement` says of a passage is not asked again.
        """
        ...

    def write(
        self, brief: Brief, evidence: Sequence[Evidence], budget: int, count: int, *, earlier: Sequence[str] = ()
    ) -> WriterAnswer:
        """Up to `count` notes of at most `budget` characters, without URLs, from the passages alone.

        They are to differ from the `earlier` ones.
        """
        ...

    def revise(
        self, brief: Brief, evidence: Sequence[Evidence], notes: Sequence[Draft], budget: int
    ) -> Revision | None:
        """The notes compared with each other, and the best one made better. None from an engine that writes none."""
        ...

    @property
    def supernotes(self) -> SupernoteWriter | None:
        """Who makes one note from many; None for an engine that writes none."""
        ...

    def support(self, note: str, evidence: Sequence[Evidence]) -> tuple[SentenceSupport, ...]:
        """Which piece of which passage is nearest to each sentence of the note, and where to look; no verdict."""
        ...

    def relevance(self, brief: Brief, evidence: Sequence[Evidence]) -> GateResult:
        """Gate 1: does any passage help to judge the claim (CrowdNotes+ E.1)."""
        ...

    def correctness(self, note: str, evidence: Sequence[Evidence], support: Sequence[SentenceSupport]) -> GateResult:
        """Gate 2: does the note distort a passage (CrowdNotes+ E.2). BY_PERSON is its `judge` where a person is."""
        ...

    @property
    def judge(self) -> HelpfulnessJudge:
        """Who judges helpfulness: a boundary of its own, since it need not be the one who writes."""
        ...

    def helpfulness(self, post: Post, note: str) -> GateResult:
        """Gate 3: by the official criteria, on text cut to 280 (CrowdNotes+ E.3), with the name of its `judge`."""
        ...

    def principles(self, post: Post, note: str) -> tuple[PrincipleResult, ...]:
        """The principles, each with the words it objects to; "sources support it" is the correctness gate's."""
        ...


class HelpfulnessJudge(Protocol):
    """Judges whether raters would find a note helpful. Implementations are safe to share between threads."""

    @property
    def name(self) -> str:
        """Stored on the gate's result, e.g. "trained head" or "llm:healthjudge"."""
        ...

    @property
    def server(self) -> str:
        """The host that posts and notes are sent to; "" when they stay in this program. Shown on screen."""
        ...

    @property
    def prompt_version(self) -> str | None:
        """Of the prompt that it is asked with, if it has one."""
        ...

    def judge(self, post: Post, note: str) -> GateResult:
        """By the official criteria, on text cut to 280 (CrowdNotes+ E.3). Raises EngineError."""
        ...


def named_result(judge: HelpfulnessJudge, post: Post, note: str) -> GateResult:
    """The judge's result with its name on it."""
    return judge.judge(post, note).replace(judge=judge.name)
