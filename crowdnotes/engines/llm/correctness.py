"""Gate 2 by a language model: does the note distort a passage (CrowdNotes+ 4.3, E.2); what it points to is checked.

The model proposes, the program verifies: a distortion counts only if its words stand in the note and the
passage, and a sentence passes only if words that the model shows in a passage carry it. So no text can talk its way
through.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import Field

from crowdnotes.domain import Evidence, Finding, GateName, GateResult, GateStatus, SentenceSupport, Span, Support
from crowdnotes.engines.base import EngineStep
from crowdnotes.engines.embedding import Embedder
from crowdnotes.engines.llm.asking import Asker, judged
from crowdnotes.engines.llm.parsing import LINE, Answer, PassageId, ToProgram, YesNo, marked_as, sanitized
from crowdnotes.engines.llm.request import Block, passage_block, question
from crowdnotes.engines.prompt_injection import find_injections, without_injections
from crowdnotes.errors import AnswerUnreadableError
from crowdnotes.text.languages import language_of
from crowdnotes.text.quotes import find_quote
from crowdnotes.text.stems import content_stems
from crowdnotes.wording import say

_REASON = 240
_SHARED = 3  # words: two sentences of one page may share two and speak of other things
MODEL = "the model"
_KINDS = {
    "unsupported": "model.unsupported",
    "misread": "model.misread",
    "overgeneralised": "model.overgeneralised",
    "selective": "model.selective",
}


class Carried(Answer):
    """Where the model finds a sentence of the note in a passage. Sentences count from 1."""

    sentence: int
    evidence_id: PassageId
    quote: str


class Distortion(Answer):
    """One way in which the note departs from a passage."""

    kind: Literal["unsupported", "misread", "overgeneralised", "selective"]
    note_words: str
    evidence_id: PassageId = ""
    passage_words: str = ""
    explanation: str


class CorrectnessAnswer(Answer):
    """See correctness.md."""

    to_program: ToProgram = Field(default_factory=list)
    carried: list[Carried] = Field(default_factory=list)
    distortions: list[Distortion] = Field(default_factory=list)
    reason: str
    faithful: YesNo


def judge_correctness(
    asker: Asker,
    embedder: Embedder,
    note: str,
    evidence: Sequence[Evidence],
    support: Sequence[SentenceSupport],
    *,
    votes: int,
) -> GateResult:
    """PASS if the model calls the note faithful, shows no distortion, and every sentence is carried.

    Raises EngineError when the model gives no usable answer, or calls the note distorted without
    pointing at words that are there.
    """
    if not evidence:
        return GateResult.not_run(GateName.CORRECTNESS, say("model.no_evidence"))
    if not support:
        return GateResult.not_run(GateName.CORRECTNESS, say("local.no_sentence"))
    injected = find_injections(note)
    if injected:
        message = say("model.to_model")
        return _result(GateStatus.FAIL, message, [Finding(message=message, span=span) for span in injected], 0.0)
    passages = {item.id: without_injections(item.passage.text) for item in evidence}
    numbered = "\n".join(f"{number}. {note[item.span.start : item.span.end]}" for number, item in enumerate(support, 1))
    blocks = [Block("note, sentence by sentence", numbered), *(passage_block(item) for item in evidence)]

    def check(answer: CorrectnessAnswer) -> None:
        if answer.faithful == "no" and not _shown(note, passages, answer.distortions):
            raise AnswerUnreadableError(say("answers.no_distortion"))

    asked = question(EngineStep.JUDGING, "correctness", CorrectnessAnswer, blocks, check=check, verdict="faithful")
    answered = judged(asker, asked, lambda answer: answer.faithful == "yes", votes)
    answer = answered.value
    distortions = _shown(note, passages, answer.distortions)
    marked = marked_as(answer.to_program, list(passages))
    sentences = _compared(embedder, note, passages, support, answer.carried, distortions, marked)
    uncarried = [
        _uncarried(f"“{sanitized(item.words_in(note), 80).rstrip('.')}”", item.span, number, answer.carried, marked)
        for number, item in enumerate(sentences, 1)
        if item.support is Support.UNSUPPORTED
    ]
    if distortions or uncarried:
        findings = [*distortions, *uncarried]
        told = sanitized(answer.reason, _REASON) if answer.faithful == "no" else findings[0].message
        # Where the program overrules the model, the model's probability is of another verdict.
        probability = answered.probability if answer.faithful == "no" else None
        return _result(GateStatus.FAIL, told, findings, probability, marked, sentences)
    return _result(GateStatus.PASS, sanitized(answer.reason, _REASON), [], answered.probability, marked, sentences)


def _result(
    status: GateStatus,
    reason: str,
    findings: Sequence[Finding],
    probability: float | None,
    marked: Iterable[str] = (),
    sentences: Sequence[SentenceSupport] = (),
) -> GateResult:
    return GateResult(
        gate=GateName.CORRECTNESS,
        status=status,
        reason=reason or say("model.faithful" if status is GateStatus.PASS else "model.not_faithful"),
        score=probability,
        threshold=None if probability is None else LINE,
        probability=probability,
        findings=tuple(findings),
        marked=tuple(sorted(marked)),
        sentences=tuple(sentences),
    )


def _shown(note: str, passages: dict[str, str], distortions: Sequence[Distortion]) -> list[Finding]:
    """The distortions whose words are there; the others are dropped."""
    found: list[Finding] = []
    for item in distortions:
        span = find_quote(note, item.note_words)
        where = find_quote(passages.get(item.evidence_id, ""), item.passage_words)
        if span is None or (item.kind != "unsupported" and where is None):
            continue
        message = say(_KINDS[item.kind], why=sanitized(item.explanation, _REASON).rstrip("."))
        if where is not None:
            quoted = sanitized(passages[item.evidence_id][where.start : where.end], 160)
            message += " " + say("model.says", id=item.evidence_id, words=quoted)
        known = item.evidence_id if item.evidence_id in passages else None
        found.append(Finding(message=message, evidence_id=known, span=span))
    return found


def _compared(
    embedder: Embedder,
    note: str,
    passages: dict[str, str],
    support: Sequence[SentenceSupport],
    carried: Sequence[Carried],
    distortions: Sequence[Finding],
    marked: set[str],
) -> list[SentenceSupport]:
    """Each sentence with the words that the model shows to carry it; in part where a distortion stands in it.

    What stands in a passage that speaks to a program carries nothing.
    """
    found = []
    for number, item in enumerate(support, 1):
        words = item.words_in(note)
        shown = (
            (each.evidence_id, find_quote(passages.get(each.evidence_id, ""), each.quote))
            for each in carried
            if each.sentence == number
            and each.evidence_id not in marked
            and _may_carry(embedder, note, words, passages.get(each.evidence_id, ""), each.quote)
        )
        name, carrier = next(((name, span) for name, span in shown if span is not None), (None, None))
        faults = [fault for fault in distortions if fault.span and _overlap(fault.span, item.span)]
        verdict = Support.PARTLY if faults else Support.SUPPORTED
        update = {
            "support": verdict if name else Support.UNSUPPORTED,
            "evidence_id": name,
            "carrier": carrier,
            "doubts": tuple(fault.message for fault in faults),
            "doubted": tuple(fault.span for fault in faults),
            "by": MODEL,
        }
        found.append(item.model_copy(update=update))
    return found


def _uncarried(words: str, span: Span, number: int, carried: Sequence[Carried], marked: set[str]) -> Finding:
    """That nothing carries a sentence, or only a passage that speaks to a program."""
    name = next((each.evidence_id for each in carried if each.sentence == number and each.evidence_id in marked), None)
    if name is None:
        return Finding(message=say("model.not_carried", words=words), span=span)
    message = say("model.carried_by_program", id=name, words=words)
    return Finding(message=message, evidence_id=name, span=span)


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def _may_carry(embedder: Embedder, note: str, sentence: str, passage: str, quote: str) -> bool:
    """Whether a quote has to do with the sentence: a true quote of something else carries nothing.

    They share three words that tell something, two where both hold a figure, as a sum is said in words of its own, or
    are near in meaning; in two languages neither need be.
    """
    have_figures = all(any(map(str.isdigit, text)) for text in (quote, sentence))
    if len(content_stems(quote) & content_stems(sentence)) >= _SHARED - have_figures:
        return True
    one, other = embedder.encode([sentence, quote])
    if float(one @ other) >= embedder.thresholds.relevant:
        return True
    of_note, of_passage = language_of(note), language_of(passage)
    return None not in (of_note, of_passage) and of_note != of_passage
