"""An engine over a scripted server, as the tests of this folder use it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from crowdnotes.cases import intake
from crowdnotes.cases.cases import Cases
from crowdnotes.domain import (
    AnswerKind,
    Assessment,
    Claim,
    Evidence,
    GateResult,
    Mode,
    PassageAnswer,
    Post,
    PrincipleResult,
    Span,
    text_sha256,
)
from crowdnotes.engines.llm.engine import LLMEngine
from crowdnotes.errors import EngineError, ModelServerError
from crowdnotes.notes.gates import assess
from crowdnotes.settings_sections import GateSettings, LlmSettings
from tests.fakes import TODAY, FixedClock, HashingEmbedder, brief_of, make_evidence
from tests.llm_server import Body, LLMServer, Say
from tests.shared import PATIENCE

POST = Post(text="This drink makes children ill, a study proves it! Share before it is deleted.")
CLAIM = Claim(
    text="This drink makes children ill",
    span=Span(start=0, end=29),
    statement="The juice of Acme makes children ill.",
    implies="Children should not drink it.",
    settled_by="A study of illness in children who drink the juice.",
)
BRIEF = brief_of(POST, CLAIM)
PASSAGE = "The review of 12 studies found no link between the drink and the illness. It may cause a mild rash."
NOTE = "The review of 12 studies found no link between the drink and the illness."


def evidence(text: str = PASSAGE, number: int = 1) -> Evidence:
    return make_evidence(number, text, url=f"https://health.example.org/review-{number}")


def answered(item: Evidence, kind: AnswerKind, span: Span | None = None) -> PassageAnswer:
    """What a model found of a passage, by its first ten letters unless it is said by which."""
    sha256 = text_sha256(item.passage.text)
    span = span or Span(start=0, end=10)
    return PassageAnswer(evidence_id=item.id, passage_sha256=sha256, answer=kind, span=span, tells="A model's words.")


def engine_for(base_url: str, folder: Path, **settings: object) -> LLMEngine:
    """With a model, no patience for failures, and no cache unless asked for."""
    usual: dict[str, object] = {"base_url": base_url, "model": "small", "max_retries": 0, "cache_mb": 0}
    usual["timeout_seconds"] = PATIENCE
    return LLMEngine(LlmSettings.model_validate(usual | settings), GateSettings(), HashingEmbedder(), folder)


def begun_case(cases: Cases) -> str:
    """The id of a case with one passage pasted, so that a note can be written."""
    case = intake.create_case(cases, "Vitamin C cures a cold.", mode=Mode.AUGMENTATION)
    text = "Vitamin C does not cure colds. Trials of 11,306 people found no effect on how often they came."
    intake.add_passage_by_hand(cases, case.id, url="https://t.example.org/c", title="Trials", text=text)
    return case.id


@contextmanager
def engine_over(answer: Callable[[Body], Say | str], **settings: object) -> Iterator[tuple[LLMEngine, LLMServer]]:
    """An engine whose server answers as told; both end with the block."""
    with LLMServer(answer).running() as server, tempfile.TemporaryDirectory() as folder:
        yield engine_for(server.base_url, Path(folder), **settings), server


def refusal_of(
    answer: Callable[[Body], Say | str],
    words: str | None = None,
    kind: type[EngineError] = ModelServerError,
    **settings: object,
) -> tuple[EngineError, LLMServer]:
    """The error that asking for the claims ends in, and the server that was asked."""
    with engine_over(answer, **settings) as (engine, server), pytest.raises(kind, match=words) as caught:
        engine.plan(POST, 5, TODAY)
    return caught.value, server


def correctness_of(answer: Callable[[Body], Say | str], note: str = NOTE, item: Evidence | None = None) -> GateResult:
    """How a note is judged against its passage."""
    items = [item or evidence()]
    with engine_over(answer) as (engine, _):
        return engine.correctness(note, items, engine.support(note, items))


def principles_of(answer: Callable[[Body], Say | str], note: str = NOTE) -> tuple[PrincipleResult, ...]:
    """How a note keeps to the principles."""
    with engine_over(answer) as (engine, _):
        return engine.principles(POST, note)


def assessed(answer: Callable[[Body], Say | str], **settings: object) -> Assessment:
    """All that is said of the note."""
    with engine_over(answer, **settings) as (engine, _):
        return assess(engine, BRIEF, NOTE, [evidence()], FixedClock())


QUOTE = "found no link between the drink"


def gives(answer: str, quote: str = QUOTE, number: int = 1, **more: object) -> Body:
    """What a model says of one passage: "stated", "inferred" or "background"."""
    return {"id": f"E{number}", "quote": quote, "tells": "It weighs it.", "points": "against", "answer": answer} | more


def settles(
    *passages: Body, to_program: object = (), missing: str = "", searches: Sequence[str] = (), best: Sequence[str] = ()
) -> str:
    """A model's answer to whether passages settle the claim."""
    asked = [{"text": text, "purpose": "p", "language": "en"} for text in searches]
    said = {"to_program": to_program, "passages": passages, "best": best, "missing": missing, "searches": asked}
    return json.dumps(said)


def sentence(text: str = NOTE, quote: str = QUOTE, name: str = "E1", basis: str = "stated") -> Body:
    """A sentence of a note as a model writes it."""
    return {"text": text, "passages": [{"id": name, "quote": quote}], "basis": basis}


def words_answer(helpful: str = "yes", *, failing: Sequence[str] = (), rewrite: str = "", **more: object) -> str:
    """What a model says of a note's words; `failing` are the principles that it breaks, `objections` of all these."""
    names = ("addresses_claim", "context", "neutral", "no_speculation", "readable", "wanted")
    objections = more.pop("objections", [])
    broken = [{"objections": objections, "reason": "Because.", "name": name} for name in failing]
    said = {"broken": broken, "kept": [name for name in names if name not in failing]}
    said |= {"rewrite": rewrite, "objections": objections, "reason": "It is vague."}
    return json.dumps({**said, "helpful": helpful, **more})
