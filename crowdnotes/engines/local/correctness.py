"""Gate 2: does the note distort a passage (CrowdNotes+ 4.3 and E.2), from the support of its sentences."""

from __future__ import annotations

from collections.abc import Sequence

from crowdnotes.domain import (
    Evidence,
    Finding,
    GateName,
    GateResult,
    GateStatus,
    SentenceSupport,
    Support,
)
from crowdnotes.engines.local.english import foreign_note, foreign_passages
from crowdnotes.engines.local.support import note_sentences
from crowdnotes.settings import GateSettings


def judge_correctness(
    settings: GateSettings, note: str, evidence: Sequence[Evidence], support: Sequence[SentenceSupport]
) -> GateResult:
    """FAIL if a sentence is unsupported or a serious doubt keeps it from counting as supported.

    The score is that of the weakest sentence, below the threshold just when the gate fails: a sentence that
    fails for a doubt alone counts as much lower as the line for doubted sentences lies higher. Findings
    point at the words in question; a sentence that is carried in part, without a doubt, is told but does
    not fail the note. NOT_RUN where languages keep a sentence from being compared, and no other fails.
    """
    if not evidence:
        return _not_run("There is no evidence to compare the note with.")
    foreign = foreign_note(note) or foreign_passages(evidence)
    if foreign and not support:
        return _not_run(foreign)
    if not support:
        return _not_run("The note has no sentence to compare.")
    findings: list[Finding] = []
    failing = 0
    for sentence in support:
        fails = _fails(sentence)
        failing += fails
        findings.extend(_findings(note, sentence, ok=not fails))
    if foreign and not failing and len(support) < len(note_sentences(note)):
        return _not_run(foreign).model_copy(update={"findings": tuple(findings)})
    score = min(_score(settings, sentence) for sentence in support)
    if failing:
        first = next(finding.message for finding in findings if not finding.ok)
        sentences = "1 sentence" if failing == 1 else f"{failing} sentences"
        reason = f"{sentences} of {len(support)} not carried by the passages as written. {first}"
    elif any(sentence.support is Support.PARTLY for sentence in support):
        reason = "The passages carry the note, in part in other words: read the marked sentences against them."
    else:
        reason = "The passages carry every sentence, and no number, negation or name differs."
    return GateResult(
        gate=GateName.CORRECTNESS,
        status=GateStatus.FAIL if failing else GateStatus.PASS,
        reason=reason,
        score=score,
        threshold=settings.partly,
        findings=tuple(findings),
    )


def _fails(sentence: SentenceSupport) -> bool:
    return sentence.support is Support.UNSUPPORTED or (
        bool(sentence.doubts) and sentence.support is not Support.SUPPORTED
    )


def _score(settings: GateSettings, sentence: SentenceSupport) -> float:
    if not _fails(sentence):
        return round(max(settings.partly, sentence.score), 4)
    return round(min(settings.partly - 0.001, settings.partly * sentence.score / settings.supported), 4)


def _findings(note: str, sentence: SentenceSupport, *, ok: bool) -> list[Finding]:
    if sentence.doubts:
        spans = [*sentence.doubted, *[sentence.span] * (len(sentence.doubts) - len(sentence.doubted))]
        return [
            Finding(message=doubt, evidence_id=sentence.evidence_id, span=span, ok=ok)
            for doubt, span in zip(sentence.doubts, spans, strict=False)
        ]
    words = note[sentence.span.start : sentence.span.end]
    opening = words if len(words) <= 60 else f"{words[:57].rsplit(' ', 1)[0]}…"
    if sentence.support is Support.SUPPORTED:
        message = f"{sentence.evidence_id} carries “{opening}”."
    elif sentence.support is Support.PARTLY:
        message = f"{sentence.evidence_id} carries “{opening}” in part: compare the wording."
    else:
        message = f"No passage carries “{opening}”."
    return [Finding(message=message, evidence_id=sentence.evidence_id, span=sentence.span, ok=ok)]


def _not_run(reason: str) -> GateResult:
    return GateResult(gate=GateName.CORRECTNESS, status=GateStatus.NOT_RUN, reason=reason)
