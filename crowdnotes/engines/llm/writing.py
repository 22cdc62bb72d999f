"""Candidate notes by a language model: side by side, asked to shorten when too long, attributed by the program.

Augmentation and automation use the same writer (CrowdNotes+ appendix D.3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic_core import from_json

from crowdnotes.domain import Evidence, Post, SentenceSupport, Support
from crowdnotes.engines.base import EngineStep, OnText, WriterAnswer, Written
from crowdnotes.engines.llm.asking import Asker
from crowdnotes.engines.llm.forms import NoteAnswer, ShortenedAnswer
from crowdnotes.engines.llm.marked import Block
from crowdnotes.engines.llm.note_rules import clean_note, echoes_orders, known_ids
from crowdnotes.engines.llm.questions import passage_block, post_block, question
from crowdnotes.engines.llm.quotes import plain
from crowdnotes.engines.metering import side_by_side
from crowdnotes.errors import AnswerUnreadableError, BudgetError, EngineError
from crowdnotes.text.note_rules import note_length

Attribute = Callable[[str, Sequence[Evidence]], tuple[SentenceSupport, ...]]
_SHORTENINGS = 2
_SPARE = 20  # models miscount; aiming lower saves most of the calls that ask to shorten
_REASON = 260
_ANGLES = (
    "",
    "Of the ways to begin, take the number, date or comparison that answers the claim, if the passages give one.",
    "Of the ways to begin, take who found, decided or said it, and what exactly.",
    "Of the ways to begin, take what the claim leaves out: its limit, its origin, or what it is confused with.",
)
_ABSTAINED = {"not_needed": "Not needed", "not_enough_evidence": "Not enough evidence"}


@dataclass(frozen=True, slots=True)
class _Abstained:
    """A writer that would rather write nothing, and why."""

    decision: str
    reason: str


def write_notes(
    asker: Asker,
    attribute: Attribute,
    post: Post,
    evidence: Sequence[Evidence],
    budget: int,
    count: int,
    *,
    temperature: float,
    at_once: int,
    on_text: OnText | None,
) -> WriterAnswer:
    """Up to `count` notes of at most `budget` characters, those that the passages carry best first.

    Abstains when most of the writers do. Raises EngineError when no candidate could be had.
    """
    if not evidence or count <= 0:
        return WriterAnswer(abstained="There is no passage to write from.")
    tasks = [_writing(asker, post, evidence, budget, number, temperature, on_text) for number in range(count)]
    written: list[Written] = []
    abstained: list[_Abstained] = []
    errors: list[BaseException] = []
    for result in side_by_side(tasks, at_once):
        if isinstance(result, Written):
            written.append(result)
        elif isinstance(result, _Abstained):
            abstained.append(result)
        else:
            errors.append(result)
    for error in errors:
        if not isinstance(error, EngineError):
            raise error
    if abstained and len(abstained) >= len(written):
        decision, _ = Counter(item.decision for item in abstained).most_common(1)[0]
        reason = next(item.reason for item in abstained if item.decision == decision)
        return WriterAnswer(abstained=f"{_ABSTAINED[decision]}: {reason}")
    if not written:
        raise next((error for error in errors if isinstance(error, BudgetError)), errors[0])
    lost = [f"{_ABSTAINED[item.decision]}: {item.reason}" for item in abstained] + [
        str(error.args[0]) for error in errors
    ]
    return WriterAnswer(tuple(_ranked(written, attribute, evidence)), lost=tuple(lost))


def _writing(
    asker: Asker,
    post: Post,
    evidence: Sequence[Evidence],
    budget: int,
    number: int,
    temperature: float,
    on_text: OnText | None,
) -> Callable[[], Written | _Abstained]:
    return lambda: _write_one(asker, post, evidence, budget, number, temperature, on_text)


def _write_one(
    asker: Asker,
    post: Post,
    evidence: Sequence[Evidence],
    budget: int,
    number: int,
    temperature: float,
    on_text: OnText | None,
) -> Written | _Abstained:
    offered = [item.id for item in evidence]
    texts = [post.whole_text, *(item.passage.text for item in evidence)]

    def check(answer: NoteAnswer) -> None:
        if answer.decision == "note":
            known_ids(answer.evidence_ids, offered)
            if echoes_orders(clean_note(answer.note, offered), texts):
                raise AnswerUnreadableError("The model passed on words that speak to a model.")

    asked = question(
        EngineStep.WRITING,
        "writing",
        NoteAnswer,
        [post_block(post), *(passage_block(item) for item in evidence)],
        values={"budget": budget, "target": max(1, budget - _SPARE), "angle": _ANGLES[number % len(_ANGLES)]},
        check=check,
        temperature=temperature,
        variant=number,
    )
    answer = asker.ask(asked, None if on_text is None else lambda words: _tell(on_text, number, words)).value
    if answer.decision != "note":
        return _Abstained(answer.decision, plain(answer.reason, _REASON) or "The model gave no reason.")
    text = fitted(asker, clean_note(answer.note, offered), offered, texts, budget)
    return Written(text, known_ids(answer.evidence_ids, offered) or tuple(offered))


def fitted(asker: Asker, text: str, offered: Sequence[str], texts: Sequence[str], budget: int) -> str:
    """The text within the budget: as it is, or shortened by the model. Never cut.

    Raises AnswerUnreadableError when it is still too long after two times.
    """
    for number in range(_SHORTENINGS):
        length = note_length(text)
        if length <= budget:
            return text
        asked = question(
            EngineStep.WRITING,
            "shorten",
            ShortenedAnswer,
            [Block("note", text)],
            # Each time further below, as a model that missed once will miss again.
            values={
                "budget": budget,
                "length": length,
                "excess": length - budget,
                "target": max(1, budget - _SPARE * (number + 1)),
            },
            check=lambda answer: _check_shortened(answer, offered, texts),
            variant=number,
        )
        text = clean_note(asker.ask(asked).value.note, offered)
    if note_length(text) > budget:
        raise AnswerUnreadableError(
            f"The model's note did not fit into {budget} characters, also when asked to shorten."
        )
    return text


def _check_shortened(answer: ShortenedAnswer, offered: Sequence[str], texts: Sequence[str]) -> None:
    if echoes_orders(clean_note(answer.note, offered), texts):
        raise AnswerUnreadableError("The model passed on words that speak to a model.")


def _tell(on_text: OnText, number: int, words: str) -> None:
    """The note so far, out of an answer that is not finished."""
    begin = words.find("{")
    if begin < 0:
        return
    try:
        part = from_json(words[begin:], allow_partial="trailing-strings")
    except ValueError:
        return
    note = part.get("note") if isinstance(part, dict) else None
    if isinstance(note, str) and note:
        on_text(number, plain(note, 600))


def _ranked(written: Sequence[Written], attribute: Attribute, evidence: Sequence[Evidence]) -> list[Written]:
    """Best carried first; the passages that carry most are cited first, those that carry nothing not at all."""
    by_id = {item.id: item for item in evidence}
    scored = []
    for item in {item.text: item for item in written}.values():
        support = attribute(item.text, [by_id[name] for name in item.evidence_ids])
        carriers = Counter(s.evidence_id for s in support if s.evidence_id and s.support is not Support.UNSUPPORTED)
        cited = sorted((name for name in item.evidence_ids if carriers[name]), key=lambda name: -carriers[name])
        loose = sum(sentence.support is Support.UNSUPPORTED for sentence in support)
        score = sum(sentence.score for sentence in support) / len(support) if support else 0.0
        scored.append((loose, -score, Written(item.text, tuple(cited) or item.evidence_ids)))
    scored.sort(key=lambda entry: entry[:2])
    return [item for _, _, item in scored]
