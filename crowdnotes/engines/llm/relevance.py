"""Gate 1 by a language model: does a passage help to judge the claim (CrowdNotes+ 4.3, E.1).

It is what was found when the passages were asked whether they settle the claim; only new ones are asked about.
"""

from __future__ import annotations

from collections.abc import Sequence

from crowdnotes.domain import AnswerKind, Evidence, Finding, GateName, GateResult, GateStatus, PassageAnswer
from crowdnotes.engines.base import Brief, MadeBy
from crowdnotes.engines.llm.answers import sanitized
from crowdnotes.engines.llm.asking import Asker
from crowdnotes.engines.llm.settling import settle
from crowdnotes.engines.prompt_injection import holds_injection, without_injections

_HOW = {AnswerKind.STATED: "states it", AnswerKind.INFERRED: "helps", AnswerKind.NONE: "does not help"}


def judge_relevance(asker: Asker, brief: Brief, evidence: Sequence[Evidence], made_by: MadeBy) -> GateResult:
    """PASS if a passage states or helps to infer the answer, shown by words that stand in it. One finding a passage.

    Raises EngineError.
    """
    if not evidence:
        return GateResult.not_run(GateName.RELEVANCE, "There is no evidence to judge yet.")
    if not without_injections(brief.post.whole_text).strip():
        return GateResult.not_run(GateName.RELEVANCE, "The post has no words to compare the evidence with.")
    settlement = settle(asker, brief, evidence, 0, made_by).settlement
    findings = [_finding(item, found) for item in evidence if (found := settlement.of(item)) is not None]
    helping = settlement.answers(evidence)
    stated = sum(found.answer is AnswerKind.STATED for _, found in helping)
    if helping:
        reason = f"{stated} of {len(evidence)} passages state what settles the claim; {len(helping)} help to judge it."
    else:
        reason = f"No passage helps to judge what the post claims. {findings[0].message}"
    marked = [found.evidence_id for found in settlement.passages if found.to_program]
    return GateResult(
        gate=GateName.RELEVANCE,
        status=GateStatus.PASS if helping else GateStatus.FAIL,
        reason=reason,
        findings=tuple(findings),
        marked=tuple(sorted([*marked, *(["post"] if settlement.post_to_program else [])])),
    )


def _finding(item: Evidence, found: PassageAnswer) -> Finding:
    message = f"{item.id} {_HOW[found.answer]}: {found.tells}"
    if found.span is not None:
        message += f" (“{sanitized(item.passage.text[found.span.start : found.span.end], 120)}”)"
    if holds_injection(item.passage.text):
        message += " Words in it that are addressed to a model were left out."
    return Finding(message=message, evidence_id=item.id, ok=found.answer is not AnswerKind.NONE)
