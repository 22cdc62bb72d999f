"""The Engine boundary: every step that needs judgement, by the local engine or a language model.

An engine never returns a URL: it answers with indices, evidence ids and words, and the program adds
the links from what was searched or pasted. It gives verdicts on its own step alone; the order of
the gates, the budget and the attribution are the program's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from crowdnotes.domain import (
    Aim,
    Claim,
    Evidence,
    GateResult,
    Hit,
    Post,
    PrincipleResult,
    Query,
    Quotation,
    SentenceSupport,
)

if TYPE_CHECKING:
    from crowdnotes.engines.judges.judge import HelpfulnessJudge


@dataclass(frozen=True, slots=True)
class Pick:
    """One utility pick (CrowdNotes+ 4.2): `index` into the candidates given, None when none of them helps; and why."""

    index: int | None
    why: str


@dataclass(frozen=True, slots=True)
class Written:
    """One candidate note without URLs; `evidence_ids` are the passages it is written from."""

    text: str
    evidence_ids: tuple[str, ...]


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
class MadeBy:
    """What stands on a result: the engine with its model, and the version of the prompts, if it has any."""

    engine: str
    prompt_version: str | None = None


OnText = Callable[[int, str], None]
"""Told the number of a candidate and its words so far while it is written; what it raises stops the writing."""


class Engine(Protocol):
    """Claims, searches, notes and judgements. Implementations are safe to share between threads and hold no case."""

    @property
    def name(self) -> str:
        """Stored on every result, e.g. "local" or "llm:gpt-x"."""
        ...

    def made_by(self, step: EngineStep) -> MadeBy:
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

    def claims(self, post: Post) -> list[Claim]:
        """Checkable statements of the post, most checkable first. May be empty."""
        ...

    def queries(
        self, post: Post, claims: Sequence[Claim], limit: int, *, aim: Aim = Aim.JUDGE, like: str = ""
    ) -> list[Query]:
        """At most `limit` searches that are meant to differ. Empty when the post holds nothing to search.

        `aim` is what they are for; with `like`, a passage's text, they look for more of its kind.
        """
        ...

    def pick(self, post: Post, candidates: Sequence[Hit], chosen: Sequence[Hit], *, aim: Aim = Aim.JUDGE) -> Pick:
        """The candidate most useful for `aim` given what is chosen, or none, with the reason."""
        ...

    def write(
        self, post: Post, evidence: Sequence[Evidence], budget: int, count: int, on_text: OnText | None = None
    ) -> WriterAnswer:
        """Up to `count` candidate notes of at most `budget` characters, without URLs, from the passages alone."""
        ...

    def support(self, note: str, evidence: Sequence[Evidence]) -> tuple[SentenceSupport, ...]:
        """Which piece of which passage is nearest to each sentence of the note, and where to look; no verdict."""
        ...

    def relevance(self, post: Post, evidence: Sequence[Evidence]) -> GateResult:
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
