"""Correctness by the person who writes: they compare each sentence with its passage, the program keeps what they find.

Without a language model nothing else can judge whether a note says what its passages say (CrowdNotes+ 4.3); hints show
where to look. PASS means: compared by this person, each sentence carried, no hint left open.
"""

from __future__ import annotations

from collections.abc import Sequence

from crowdnotes.domain import (
    BY_PERSON,
    Assessment,
    Evidence,
    Finding,
    GateName,
    GateResult,
    GateStatus,
    SentenceCheck,
    SentenceSupport,
    Support,
    text_sha256,
)
from crowdnotes.gates.assess import in_order, with_sources
from crowdnotes.wording import say

_FINDS = {
    Support.PARTLY: "gates.partly",
    Support.UNSUPPORTED: "gates.not_said",
}


def with_checks(
    assessment: Assessment, note: str, evidence: Sequence[Evidence], checks: Sequence[SentenceCheck]
) -> Assessment:
    """The assessment with what a person found of its sentences; as it is where a model judges correctness."""
    if not assessment.is_compared_by_person:
        return assessment
    passages = {item.id: text_sha256(item.passage.text) for item in evidence}
    said = (check for check in checks if check.support is not Support.UNCHECKED)  # who took it back says nothing
    known = {(check.words, check.evidence_id, check.passage_sha256): check for check in said}
    sentences = tuple(_checked(sentence, note, passages, known) for sentence in assessment.sentences)
    before = next(result for result in assessment.found if result.gate is GateName.CORRECTNESS)
    correctness = _verdict(note, sentences, [finding for finding in before.findings if finding.by_rule])
    gates, held = in_order([correctness if result.gate is correctness.gate else result for result in assessment.found])
    principles = with_sources(assessment.principles, correctness)
    return assessment.model_copy(
        update={"sentences": sentences, "gates": gates, "held": held, "principles": principles}
    )


def _checked(
    sentence: SentenceSupport,
    note: str,
    passages: dict[str, str],
    known: dict[tuple[str, str, str], SentenceCheck],
) -> SentenceSupport:
    name = sentence.evidence_id or ""
    check = known.get((sentence.words_in(note), name, passages.get(name, "")))
    if check is None:
        return sentence.model_copy(update={"support": Support.UNCHECKED, "by": "", "doubts_settled": False})
    settled = check.doubts_settled and check.doubts == sentence.doubts
    return sentence.model_copy(update={"support": check.support.in_scores, "by": check.by, "doubts_settled": settled})


def _verdict(note: str, sentences: Sequence[SentenceSupport], faults: Sequence[Finding]) -> GateResult:
    """`faults` are what the program found wrong by itself: no comparing mends those."""
    unread = [sentence for sentence in sentences if sentence.support is Support.UNCHECKED]
    wrong = tuple(
        Finding(
            message=f"“{sentence.words_in(note)}”: {say(_FINDS[sentence.support])}",
            evidence_id=sentence.evidence_id,
            span=sentence.span,
        )
        for sentence in sentences
        if sentence.support in _FINDS
    )
    open_hints = sum(len(sentence.doubts) for sentence in sentences if sentence.has_open_hint)
    status = GateStatus.NOT_RUN
    if faults:
        status, reason = GateStatus.FAIL, faults[0].message
    elif not sentences:
        reason = say("gates.no_sentence")
    elif wrong:
        status = GateStatus.FAIL
        reason = say("gates.not_supported", n=len(wrong), all=len(sentences))
    elif unread:
        reason = say("gates.to_compare", n=len(unread), all=len(sentences))
    elif open_hints:
        reason = say("gates.hints", n=open_hints)
    else:
        status = GateStatus.PASS
        reason = say("gates.checked", names=", ".join(sorted({sentence.by for sentence in sentences})))
    findings = (*faults, *wrong)
    return GateResult(gate=GateName.CORRECTNESS, status=status, reason=reason, judge=BY_PERSON, findings=findings)
