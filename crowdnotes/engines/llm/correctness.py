"""Gate 2 by a language model: does the note distort a passage (CrowdNotes+ 4.3, E.2); what it points to is checked.

The model proposes, the program verifies: a distortion counts only if its words stand in the note and the
passage, and a sentence passes only if the program's own comparison, or words that the model shows in a
passage, carry it. So no text can talk its way through.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from crowdnotes.domain import Evidence, Finding, GateName, GateResult, GateStatus, SentenceSupport, Support
from crowdnotes.engines.base import EngineStep
from crowdnotes.engines.llm.answers import (
    LINE,
    Carried,
    CorrectnessAnswer,
    Distortion,
    marked_as,
    sanitized,
)
from crowdnotes.engines.llm.asking import Asker, Block, judged, passage_block, question
from crowdnotes.engines.prompt_injection import find_injections, without_injections
from crowdnotes.errors import AnswerUnreadableError
from crowdnotes.text.languages import language_of
from crowdnotes.text.quotes import find_quote
from crowdnotes.text.stems import content_tokens

_REASON = 240
_KINDS = {
    "unsupported": "No passage says this",
    "misread": "The passage says something else",
    "overgeneralised": "Firmer or wider than the passage",
    "selective": "A limit in the passage is left out",
}


def judge_correctness(
    asker: Asker, note: str, evidence: Sequence[Evidence], support: Sequence[SentenceSupport], *, votes: int
) -> GateResult:
    """PASS if the model calls the note faithful, shows no distortion, and every sentence is carried.

    Raises EngineError when the model gives no usable answer, or calls the note distorted without
    pointing at words that are there.
    """
    if not evidence:
        return GateResult.not_run(GateName.CORRECTNESS, "There is no evidence to compare the note with.")
    if not support:
        return GateResult.not_run(GateName.CORRECTNESS, "The note has no sentence to compare.")
    injected = find_injections(note)
    if injected:
        message = "These words speak to a language model, not to readers."
        return _result(GateStatus.FAIL, message, [Finding(message=message, span=span) for span in injected], 0.0)
    passages = {item.id: without_injections(item.passage.text) for item in evidence}
    numbered = "\n".join(f"{number}. {note[item.span.start : item.span.end]}" for number, item in enumerate(support, 1))
    blocks = [Block("note, sentence by sentence", numbered), *(passage_block(item) for item in evidence)]

    def check(answer: CorrectnessAnswer) -> None:
        if answer.faithful == "no" and not _shown(note, passages, answer.distortions):
            raise AnswerUnreadableError("The model called the note distorted, but pointed at no words that are there.")

    asked = question(EngineStep.JUDGING, "correctness", CorrectnessAnswer, blocks, check=check, verdict="faithful")
    answered = judged(asker, asked, lambda answer: answer.faithful == "yes", votes)
    answer = answered.value
    distortions = _shown(note, passages, answer.distortions)
    marked = marked_as(answer.to_program, list(passages))
    uncarried = _uncarried(note, passages, support, answer.carried, marked)
    doubts = [
        Finding(message=f"The program's own comparison asks: {doubt}", evidence_id=item.evidence_id, span=item.span)
        for item in support
        for doubt in item.doubts
        if item.support is not Support.UNSUPPORTED
    ]
    if distortions or uncarried:
        findings = [*distortions, *uncarried]
        told = sanitized(answer.reason, _REASON) if answer.faithful == "no" else findings[0].message
        # Where the program overrules the model, the model's probability is of another verdict.
        probability = answered.probability if answer.faithful == "no" else None
        return _result(GateStatus.FAIL, told, [*findings, *doubts], probability, marked)
    return _result(GateStatus.PASS, sanitized(answer.reason, _REASON), doubts, answered.probability, marked)


def _result(
    status: GateStatus,
    reason: str,
    findings: Sequence[Finding],
    probability: float | None,
    marked: Iterable[str] = (),
) -> GateResult:
    return GateResult(
        gate=GateName.CORRECTNESS,
        status=status,
        reason=reason or ("The note says what the passages say." if status is GateStatus.PASS else "It does not."),
        score=probability,
        threshold=None if probability is None else LINE,
        probability=probability,
        findings=tuple(findings),
        marked=tuple(sorted(marked)),
    )


def _shown(note: str, passages: dict[str, str], distortions: Sequence[Distortion]) -> list[Finding]:
    """The distortions whose words are there; the others are dropped."""
    found: list[Finding] = []
    for item in distortions:
        span = find_quote(note, item.note_words)
        where = find_quote(passages.get(item.evidence_id, ""), item.passage_words)
        if span is None or (item.kind != "unsupported" and where is None):
            continue
        message = f"{_KINDS[item.kind]}: {sanitized(item.explanation, _REASON).rstrip('.')}."
        if where is not None:
            quoted = sanitized(passages[item.evidence_id][where.start : where.end], 160)
            message += f" {item.evidence_id} says: “{quoted}”."
        known = item.evidence_id if item.evidence_id in passages else None
        found.append(Finding(message=message, evidence_id=known, span=span))
    return found


def _uncarried(
    note: str,
    passages: dict[str, str],
    support: Sequence[SentenceSupport],
    carried: Sequence[Carried],
    marked: set[str],
) -> list[Finding]:
    """Sentences that neither the program's comparison nor words shown by the model carry.

    What stands in a passage that speaks to a program carries nothing.
    """
    shown = {
        item.sentence
        for item in carried
        if 1 <= item.sentence <= len(support)
        and item.evidence_id not in marked
        and find_quote(passages.get(item.evidence_id, ""), item.quote) is not None
        and _may_carry(note, _words(note, support[item.sentence - 1]), passages[item.evidence_id], item.quote)
    }
    findings = []
    for number, item in enumerate(support, 1):
        words = f"“{sanitized(_words(note, item), 80)}”"
        if number in shown:
            continue
        if item.support is Support.UNSUPPORTED:
            findings.append(Finding(message=f"No passage was shown to carry {words}.", span=item.span))
        elif item.evidence_id in marked:
            message = f"Only {item.evidence_id} carries {words}, and it holds words that speak to a program."
            findings.append(Finding(message=message, evidence_id=item.evidence_id, span=item.span))
    return findings


def _words(note: str, item: SentenceSupport) -> str:
    return note[item.span.start : item.span.end]


def _may_carry(note: str, sentence: str, passage: str, quote: str) -> bool:
    """Whether a quote shares a word with the sentence; in two languages it need not."""
    stems = {token.stem for token in content_tokens(quote)}
    if any(token.stem in stems for token in content_tokens(sentence)):
        return True
    of_note, of_passage = language_of(note), language_of(passage)
    return None not in (of_note, of_passage) and of_note != of_passage
