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

# Results that a model ranks in one question. Of 36 posts the line with the deciding sentence was among 12 as often as
# among 18 (31); of 34 notes one rested on a result behind the first 14.
MOST_OFFERED = 14
MOST_OFFERED_LATER = 12  # in a follow-up search, which looks for less: all records with an answer were among so many


@dataclass(frozen=True, slots=True)
class Brief:
    """What every step after the first works from: the post, its claims, and the day.

    `today` is the latest day that evidence may be from, where the case has one. `settlement` says what the passages
    show so far. If more may be searched for, `searched` lists the searches made so far and `places` the places to
    search, each with what it holds. `unwanted` says that raters would probably want no note, unless a person asked for
    one anyway.
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
        """Return the plan for a person who wants a note anyway: search for what is no claim as if it were one."""
        if self.queries or not self.claims:
            return self
        claims = tuple(claim.replace(kind=ClaimKind.CHECKABLE) for claim in self.claims)
        return replace(self, claims=claims, queries=(Query(text=claims[0].in_full[:160], purpose="the claim"),))


@dataclass(frozen=True, slots=True)
class Pick:
    """One pick by utility (CrowdNotes+ 4.2): `index` into the candidates given, and what its page should say."""

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
    """What the passages show, and searches for what is missing, if anything is."""

    settlement: Settlement
    queries: tuple[Query, ...] = ()


@dataclass(frozen=True, slots=True)
class WrittenSentence:
    """One sentence of a note, the quotations that support it, and how it follows from them."""

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

    `lost` says why other candidates failed.
    """

    candidates: tuple[Written, ...] = field(default=())
    abstained: str = ""
    lost: tuple[str, ...] = field(default=())
    quotations: tuple[Quotation, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Revision:
    """The judge's answer on several notes: their places in the order given, best first, and objections to each.

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
    """One sentence made from existing notes: the ids of the notes that say it, and quotations that support it."""

    text: str
    notes: tuple[str, ...]
    carriers: tuple[Quotation, ...] = ()


@dataclass(frozen=True, slots=True)
class SupernoteAnswer:
    """Candidates made from existing notes, as sentences and without URLs; `lost` says why others failed."""

    candidates: tuple[tuple[NoteSentence, ...], ...]
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SupernoteVerdict:
    """One judge's answer on several candidates, in the order given: a grade from 0 to 10 and objections to each.

    `final` is the best one revised, `changes` what was changed and why.
    """

    grades: tuple[float, ...]
    objections: tuple[tuple[str, ...], ...]
    final: tuple[NoteSentence, ...]
    changes: str


@dataclass(frozen=True, slots=True)
class SuggestionReply:
    """The answer to one suggestion, its reason, and, unless it is "no", what changed in the note."""

    answer: SuggestionAnswer
    reason: str
    changed: str = ""


@dataclass(frozen=True, slots=True)
class SuggestionReplies:
    """One reply per suggestion, in the order given, and the changed note; None when nothing was granted."""

    replies: tuple[SuggestionReply, ...]
    final: tuple[NoteSentence, ...] | None = None


@dataclass(frozen=True, slots=True)
class ImageReading:
    """What an engine found in an image: the words in it, and what it shows."""

    text: str
    shows: str


class EngineStep(StrEnum):
    """The steps that can each use their own model."""

    QUERIES = "queries"
    UTILITY = "utility"
    WRITING = "writing"
    JUDGING = "judging"


@dataclass(frozen=True, slots=True)
class ResultOrigin:
    """What made a result: the engine with its model, and the version of the prompts, if it has any."""

    engine: str
    prompt_version: str | None = None


class SupernoteWriter(Protocol):
    """Writes one note from the notes under a post. Text of notes, pages and suggestions is data, never orders."""

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """Return the price of so many tokens of its model in US dollars; None if it is unknown."""
        ...

    def write(self, given: SupernoteBrief, count: int, *, variant: int = 0) -> SupernoteAnswer:
        """Return up to `count` candidates, from one call.

        Another `variant` gives others from the same notes; `engines.metering.completed_calls` runs many calls in
        parallel. Raises EngineError.
        """
        ...

    def tone(self, brief: Brief, texts: Sequence[str]) -> tuple[tuple[PrincipleResult, ...], ...]:
        """Judge neutral words and absence of opinion for each text, in one call. Raises EngineError."""
        ...

    def judge(self, given: SupernoteBrief, candidates: Sequence[Candidate]) -> SupernoteVerdict:
        """Compare the candidates and improve the best one. Raises EngineError."""
        ...

    def answer(self, given: SupernoteBrief, note: str, suggestions: Sequence[str]) -> SuggestionReplies:
        """Answer each suggestion on a note, and redraft the note where one is granted. Raises EngineError."""
        ...


class Engine(Protocol):
    """Claims, searches, notes and judgements. Implementations are safe to share between threads and hold no case."""

    @property
    def name(self) -> str:
        """Stored on every result, e.g. "local" or "llm:gpt-x"."""
        ...

    def result_origin(self, step: EngineStep) -> ResultOrigin:
        """Return what to store on a result of that step."""
        ...

    @property
    def uses_language_model(self) -> bool:
        """Whether a language model does the work; the screen must say so if none does."""
        ...

    @property
    def sees(self) -> bool:
        """Whether it can read images; if not, the person types what an image says."""
        ...

    def read_image(self, content: bytes, media_type: str) -> ImageReading:
        """Return what an image says and shows. Raises EngineError if `sees` is False or it cannot be read."""
        ...

    def plan(self, post: Post, limit: int, today: date, places: Sequence[str] = ()) -> SearchPlan:
        """Return the claims of a post, the most misleading first, and at most `limit` diverse searches.

        `places` are what will be searched, each with what it holds.
        """
        ...

    def queries(self, brief: Brief, limit: int, *, aim: Aim = Aim.JUDGE, like: str = "") -> list[Query]:
        """Return at most `limit` further searches for `aim`; for passages like the text `like`, if given."""
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
        """Return the most useful candidates for `aim`, given what is chosen, best first, each once.

        The first `quota` are read; up to `spare` more replace those that cannot be.
        """
        ...

    def settle(self, brief: Brief, evidence: Sequence[Evidence], limit: int) -> FurtherSearch | None:
        """Return whether the passages settle the claim, and at most `limit` searches for what is missing.

        None from an engine that cannot judge this. Passages that `brief.settlement` covers are not judged again.
        """
        ...

    def write(
        self, brief: Brief, evidence: Sequence[Evidence], budget: int, count: int, *, earlier: Sequence[str] = ()
    ) -> WriterAnswer:
        """Return up to `count` notes of at most `budget` characters, without URLs, from the passages alone.

        They should differ from the `earlier` ones.
        """
        ...

    def revise(
        self, brief: Brief, evidence: Sequence[Evidence], notes: Sequence[Draft], budget: int
    ) -> Revision | None:
        """Compare the notes and improve the best one. Return None from an engine that writes none."""
        ...

    @property
    def supernotes(self) -> SupernoteWriter | None:
        """The writer of one note from many; None for an engine that writes none."""
        ...

    def support(self, note: str, evidence: Sequence[Evidence]) -> tuple[SentenceSupport, ...]:
        """Return the nearest piece of a passage for each sentence of the note, with hints; no verdict."""
        ...

    def relevance(self, brief: Brief, evidence: Sequence[Evidence]) -> GateResult:
        """Judge gate 1: whether any passage helps to judge the claim (CrowdNotes+ E.1)."""
        ...

    def correctness(self, note: str, evidence: Sequence[Evidence], support: Sequence[SentenceSupport]) -> GateResult:
        """Judge gate 2: whether the note distorts a passage (E.2). `judge` is BY_PERSON if a person decides."""
        ...

    @property
    def judge(self) -> HelpfulnessJudge:
        """The judge of helpfulness; it need not be the engine that writes."""
        ...

    def helpfulness(self, post: Post, note: str) -> GateResult:
        """Judge gate 3 by the official criteria, on text cut to 280 (E.3), and name its `judge`."""
        ...

    def principles(self, post: Post, note: str) -> tuple[PrincipleResult, ...]:
        """Judge the principles, each with the words it objects to.

        The correctness gate judges "sources support it".
        """
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
        """The version of its prompt, if it has one."""
        ...

    def judge(self, post: Post, note: str) -> GateResult:
        """Judge by the official criteria, on text cut to 280 (CrowdNotes+ E.3). Raises EngineError."""
        ...


def named_result(judge: HelpfulnessJudge, post: Post, note: str) -> GateResult:
    """Return the judge's result with the judge's name on it."""
    return judge.judge(post, note).replace(judge=judge.name)
