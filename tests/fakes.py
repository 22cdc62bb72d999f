"""Fakes of every boundary, shipped so that other projects' tests can use them too."""

from __future__ import annotations

import re
import string
import tempfile
import threading
import zlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np

from crowdnotes.domain import (
    BY_PERSON,
    Actor,
    Candidate,
    Case,
    Claim,
    DateOrigin,
    Draft,
    Evidence,
    ExistingNote,
    GateName,
    GateResult,
    GateStatus,
    Hit,
    Mode,
    Passage,
    Person,
    Post,
    PrincipleName,
    PrincipleResult,
    Query,
    Review,
    Role,
    SentenceSupport,
    Settlement,
    Source,
    SourceCategory,
    Span,
    SuggestionAnswer,
    Support,
    Verdict,
    text_sha256,
)
from crowdnotes.engines import (
    Aim,
    Brief,
    EngineStep,
    FurtherSearch,
    ImageReading,
    NoteSentence,
    Pick,
    Ranking,
    ResultOrigin,
    Revision,
    SearchPlan,
    SuggestionReplies,
    SuggestionReply,
    SupernoteAnswer,
    SupernoteBrief,
    SupernoteVerdict,
    SupernoteWriter,
    WriterAnswer,
    Written,
)
from crowdnotes.engines.base import HelpfulnessJudge
from crowdnotes.engines.embedding import FloatArray, MiniLMEmbedder
from crowdnotes.errors import ConfigurationError, EngineError
from crowdnotes.jury import Jury
from crowdnotes.text.note_rules import without_urls
from crowdnotes.text.sentences import split_sentences


class HashingEmbedder:
    """Bag of words by hashing: deterministic, instant, and texts that share words are similar."""

    name = "hashing-fake"
    dimensions = 256
    thresholds = MiniLMEmbedder.thresholds

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """See `Embedder.encode`."""
        out = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.lower()):
                out[row, zlib.crc32(word.encode("utf-8", "surrogatepass")) % self.dimensions] += 1
            norm = float(np.linalg.norm(out[row]))
            out[row] = out[row] / norm if norm else 1 / np.sqrt(self.dimensions)
        return out

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """See `Embedder.token_spans`: words and single marks."""
        return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


_LETTERS = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *(f"{begins}{letter}" for begins in ("", "##") for letter in string.ascii_lowercase),
]  # all that a model of letters knows


def make_sentence_model(folder: Path) -> None:
    """A sentence-transformers model of a few kilobytes, untrained: its vectors tell letters apart and no meaning."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizer

    with tempfile.TemporaryDirectory() as parts:
        BertTokenizer(vocab={word: number for number, word in enumerate(_LETTERS)}).save_pretrained(parts)
        size = BertConfig(
            vocab_size=len(_LETTERS), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
        )
        BertModel(size).save_pretrained(parts)
        SentenceTransformer(modules=[Transformer(parts), Pooling(16)]).save(str(folder))


def make_reader_model(folder: Path, labels: Sequence[str] = ("contradiction", "entailment", "neutral")) -> None:
    """A cross-encoder of a few kilobytes with these labels, untrained: it reads letters, and what it says is chance."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    BertTokenizer(vocab={word: number for number, word in enumerate(_LETTERS)}).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(_LETTERS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        id2label=dict(enumerate(labels)),
        label2id={label: number for number, label in enumerate(labels)},
    )
    BertForSequenceClassification(config).save_pretrained(folder, safe_serialization=True)


class FixedClock:
    """A clock that moves one second at each look, from a set moment."""

    def __init__(self, start: datetime | None = None) -> None:
        self._now = start or datetime(2026, 1, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        """The next moment."""
        self._now += timedelta(seconds=1)
        return self._now


def actor(name: str = "ann", role: Role = Role.ADMIN) -> Actor:
    """Somebody of that name."""
    return Actor(issuer="test", subject=name, name=name, role=role)


def make_evidence(
    number: int = 1,
    text: str = "The review found no link between the drink and the illness.",
    url: str | None = "https://health.example.org/review",
    *,
    published: date | None = None,
    opened_at: datetime | None = None,
    opened_by: Person | None = None,
    verdict: Verdict | None = None,
    reason: str = "",
) -> Evidence:
    """Evidence "E<number>" with one passage, and a review where it is opened: by `actor()` without `opened_by`."""
    source = Source(
        id=f"url:{number}",
        title=f"Source {number}",
        url=url,
        publisher="Example Health",
        published=published,
        date_origin=DateOrigin.PAGE if published else None,
        category=SourceCategory.HEALTH_AUTHORITY,
        text_sha256=text_sha256(text),
        characters=len(text),
    )
    passage = Passage(text=text, span=Span(start=0, end=len(text)), similarity=0.8)
    reviews: tuple[Review, ...] = ()
    if opened_at is not None:
        reader, judged_at = (opened_by or actor()).person, opened_at if verdict else None
        reviews = (Review(reader=reader, opened_at=opened_at, verdict=verdict, judged_at=judged_at, reason=reason),)
    return Evidence(
        id=f"E{number}",
        source=source,
        passage=passage,
        rank=number,
        why="closest to the claim",
        reviews=reviews,
    )


TODAY = date(2026, 1, 1)


def brief_of(post: Post, *claims: Claim, settlement: Settlement | None = None) -> Brief:
    """What an engine is told of a post, on a fixed day."""
    return Brief(post.as_read, TODAY, claims, settlement)


def make_case(**changes: object) -> Case:
    """A case with a post and nothing else, unless `changes` say so."""
    at = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
    case = Case(
        id="c0ffee", created_at=at, updated_at=at, mode=Mode.AUGMENTATION, post=Post(text="This drink makes you ill!")
    )
    return case.replace(**changes)


class LiveLinks:
    """A LinkAsker to which every link answers 200, unless `answers` holds another status for it, or an error."""

    def __init__(self, answers: Mapping[str, int | Exception] | None = None) -> None:
        self.answers = dict(answers or {})
        self.asked: list[str] = []

    def status(self, url: str, seconds: float, check: Callable[[], None]) -> int:
        """See `LinkAsker.status`."""
        self.asked.append(url)
        answer = self.answers.get(url, 200)
        if isinstance(answer, Exception):
            raise answer
        return answer


class ScriptedJudge:
    """A judge of helpfulness that says what it is told."""

    prompt_version = None

    def __init__(self, result: Callable[[], GateResult], name: str = "scripted", server: str = "") -> None:
        self._result = result
        self.name = name
        self.server = server

    def judge(self, post: Post, note: str) -> GateResult:
        """See `HelpfulnessJudge`."""
        return self._result()


def uncertain_result(score: float = 0.3) -> GateResult:
    """What the helpfulness gate says of a note that it is not sure enough to fail."""
    reason = "Readers were divided about notes like this."
    return GateResult(gate=GateName.HELPFULNESS, status=GateStatus.PASS, uncertain=True, reason=reason, score=score)


class ScriptedSupernotes:
    """A writer of supernotes that answers what a test sets; by default each note's first sentence is a candidate.

    `written` counts the calls of `write`; the call of that number raises `breaks`.
    """

    def __init__(self) -> None:
        self.written = 0
        self.loaded = ""
        self.breaks: dict[int, Exception] = {}
        self.verdict: SupernoteVerdict | None = None
        self.replies: SuggestionReplies | None = None
        self._lock = threading.Lock()

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """See `SupernoteWriter.price`: nobody knows."""
        return None

    def write(self, given: SupernoteBrief, count: int, *, variant: int = 0) -> SupernoteAnswer:
        """The first sentence of each note, and the first two together."""
        with self._lock:
            self.written += 1
            error = self.breaks.get(self.written)
        if error is not None:
            raise error
        firsts = [(_first_sentence(note),) for note in given.notes]
        found = [*firsts, *((*one, *other) for one, other in pairwise(firsts))]
        return SupernoteAnswer(
            tuple(item for item in found if len(" ".join(part.text for part in item)) <= given.budget)[:count]
        )

    def tone(self, brief: Brief, texts: Sequence[str]) -> tuple[tuple[PrincipleResult, ...], ...]:
        """All pass, but for the words of `loaded`."""
        return tuple(
            tuple(
                PrincipleResult(
                    principle=name,
                    status=GateStatus.FAIL if self.loaded and self.loaded in text else GateStatus.PASS,
                    reason="as scripted",
                )
                for name in (PrincipleName.NEUTRAL, PrincipleName.NO_SPECULATION)
            )
            for text in texts
        )

    def judge(self, given: SupernoteBrief, candidates: Sequence[Candidate]) -> SupernoteVerdict:
        """What `verdict` holds; else the first candidate, as it is."""
        grades = tuple(9.0 - place for place in range(len(candidates)))
        best = candidates[0]
        final = tuple(NoteSentence(best.text[s.span.start : s.span.end], s.notes) for s in best.sentences)
        return self.verdict or SupernoteVerdict(grades, ((),) * len(candidates), final, "Nothing.")

    def answer(self, given: SupernoteBrief, note: str, suggestions: Sequence[str]) -> SuggestionReplies:
        """What `replies` holds; else no to each."""
        no = SuggestionReply(SuggestionAnswer.NO, "No source carries it.")
        return self.replies or SuggestionReplies((no,) * len(suggestions))


def _first_sentence(note: ExistingNote) -> NoteSentence:
    words = without_urls(note.text)
    first = split_sentences(words)[0]
    return NoteSentence(words[first.start : first.end], (note.id,))


class ScriptedEngine:
    """An engine that answers what a test sets; by default everything passes.

    With `by_person` a person judges correctness, and every sentence has the `hints`.
    """

    name = "scripted"
    uses_language_model = False
    sees = True

    def __init__(self) -> None:
        self.judge: HelpfulnessJudge = ScriptedJudge(lambda: self._judge(GateName.HELPFULNESS))
        self.fails_at: GateName | None = None
        self.breaks_at: GateName | None = None
        self.by_person = False
        self.hints: tuple[str, ...] = ()
        self.judged: list[GateName] = []
        self.reading = ImageReading(text="THIS DRINK MAKES YOU ILL", shows="A glass of juice.")
        self.further: FurtherSearch | None = None
        self.revision: Revision | None = None
        self.supernotes: SupernoteWriter | None = None
        self.answer = WriterAnswer((Written("According to Example Health, the review found no link.", ("E1",)),))

    def result_origin(self, step: EngineStep) -> ResultOrigin:
        """Without prompts."""
        return ResultOrigin(self.name)

    def plan(self, post: Post, limit: int, today: date, places: Sequence[str] = ()) -> SearchPlan:
        """The whole post as claim and as search."""
        claim = Claim(text=post.text, span=Span(start=0, end=len(post.text)))
        return SearchPlan((claim,), (Query(text=post.text, purpose="the claim"),)[:limit])

    def read_image(self, content: bytes, media_type: str) -> ImageReading:
        """What `reading` holds."""
        return self.reading

    def queries(self, brief: Brief, limit: int, *, aim: Aim = Aim.JUDGE, like: str = "") -> list[Query]:
        """The post itself."""
        return [Query(text=brief.post.text, purpose="the claim")][:limit]

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
        """The first ones."""
        most = min(quota + spare, len(candidates))
        picks = tuple(Pick(index, f"pick {len(chosen) + index + 1}") for index in range(most))
        return Ranking(picks, "There is none.")

    def settle(self, brief: Brief, evidence: Sequence[Evidence], limit: int) -> FurtherSearch | None:
        """What `further` holds."""
        return self.further

    def write(
        self, brief: Brief, evidence: Sequence[Evidence], budget: int, count: int, *, earlier: Sequence[str] = ()
    ) -> WriterAnswer:
        """What `answer` holds."""
        return self.answer

    def revise(
        self, brief: Brief, evidence: Sequence[Evidence], notes: Sequence[Draft], budget: int
    ) -> Revision | None:
        """What `revision` holds."""
        return self.revision

    def support(self, note: str, evidence: Sequence[Evidence]) -> tuple[SentenceSupport, ...]:
        """Every sentence carried by the first passage."""
        carrier = evidence[0].id if evidence else None
        label = Support.SUPPORTED if evidence else Support.UNSUPPORTED
        return tuple(
            SentenceSupport(
                span=span,
                support=Support.UNCHECKED if self.by_person else label,
                score=0.9,
                evidence_id=carrier,
                doubts=self.hints,
                doubted=(span,) * len(self.hints),
            )
            for span in split_sentences(note)
        )

    def relevance(self, brief: Brief, evidence: Sequence[Evidence]) -> GateResult:
        """See `fails_at`."""
        return self._judge(GateName.RELEVANCE)

    def correctness(
        self,
        note: str,
        evidence: Sequence[Evidence],
        support: Sequence[SentenceSupport],
    ) -> GateResult:
        """See `fails_at` and `by_person`."""
        result = self._judge(GateName.CORRECTNESS)
        if self.by_person:
            return GateResult.not_run(GateName.CORRECTNESS, "Not compared.").replace(judge=BY_PERSON)
        return result

    def helpfulness(self, post: Post, note: str) -> GateResult:
        """See `fails_at`."""
        return self.judge.judge(post, note)

    def principles(self, post: Post, note: str) -> tuple[PrincipleResult, ...]:
        """All pass."""
        return tuple(PrincipleResult(principle=name, status=GateStatus.PASS, reason="fine") for name in PrincipleName)

    def _judge(self, gate: GateName) -> GateResult:
        self.judged.append(gate)
        if gate is self.breaks_at:
            raise EngineError("The judge did not answer.")
        status = GateStatus.FAIL if gate is self.fails_at else GateStatus.PASS
        return GateResult(gate=gate, status=status, reason="as scripted", score=0.7, threshold=0.5)


def no_jury() -> Jury:
    """A jury that cannot sit: its stage is then NOT RUN, with this reason."""
    raise ConfigurationError("There is no jury in this test.")
