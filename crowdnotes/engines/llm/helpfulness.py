"""Gate 3 by a language model, by the official criteria, on text cut to 280 (CrowdNotes+ 4.3, E.3).

The judge may be another model on another server, and may answer in the form that HealthJudge was trained
on: a last line "Final decision: yes" or "no".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from crowdnotes.domain import Finding, GateName, GateResult, GateStatus, Post
from crowdnotes.engines.base import EngineStep
from crowdnotes.engines.llm.answers import LINE, FinalDecision, HelpfulnessAnswer, pointed, sanitized
from crowdnotes.engines.llm.asking import Asker, Block, Question, judged, post_block, question
from crowdnotes.engines.llm.parsing import spoken
from crowdnotes.engines.prompt_injection import find_injections
from crowdnotes.engines.prompts import load_prompt
from crowdnotes.errors import AnswerEmptyError, AnswerUnreadableError
from crowdnotes.text.note_rules import without_urls

_REASON = 260
_LAST_LINE = re.compile(r"[\s*_#]*Final decision[\s*_]*:[\s*_]*(yes|no)[\s*_.]*", re.IGNORECASE)
_BEFORE_VERDICT = re.compile(r"Final decision[\s*_]*:[\s*_]*(?=yes|no)", re.IGNORECASE)


def judge_helpfulness(asker: Asker, post: Post, note: str, *, form: str, votes: int) -> GateResult:
    """PASS if the judge says yes. Links are not shown to it: it judges the words. Raises EngineError."""
    injected = find_injections(note)
    if injected:
        message = "These words speak to a language model, not to readers."
        return _result(False, message, [Finding(message=message, span=span) for span in injected], 0.0)
    words = without_urls(note).strip()
    if not words:
        return GateResult.not_run(GateName.HELPFULNESS, "The note has no words to judge yet.")
    blocks = [post_block(post), Block("note", words)]
    if form == "final decision":
        decided = judged(asker, _final(blocks), lambda answer: answer.helpful == "yes", votes)
        said = sanitized(decided.value.said, _REASON) or f"The judge {asker.model} gives no reason, only its decision."
        return _result(decided.value.helpful == "yes", said, (), decided.probability)
    asked = question(EngineStep.JUDGING, "helpfulness", HelpfulnessAnswer, blocks, verdict="helpful")
    answered = judged(asker, asked, lambda answer: answer.helpful == "yes", votes)
    answer = answered.value
    reason = sanitized(answer.reason, _REASON) or "The judge gave no reason."
    return _result(answer.helpful == "yes", reason, pointed(note, answer.objections), answered.probability)


def read_final_decision(words: str) -> FinalDecision:
    """The decision in the last line, and what was said before it. Nothing else in the answer counts.

    Raises AnswerEmptyError or AnswerUnreadableError.
    """
    lines = [line for line in spoken(words).splitlines() if line.strip()]
    if not lines:
        raise AnswerEmptyError("The model gave an empty answer.")
    match = _LAST_LINE.fullmatch(lines[-1])
    if match is None:
        raise AnswerUnreadableError("The judge did not end with “Final decision: yes” or “Final decision: no”.")
    helpful = match.group(1).lower()
    return FinalDecision.model_validate({"helpful": helpful, "said": " ".join(lines[:-1])})


def _final(blocks: Sequence[Block]) -> Question[FinalDecision]:
    return Question(
        step=EngineStep.JUDGING.value,
        prompt=load_prompt("helpfulness_final"),
        blocks=blocks,
        read=read_final_decision,
        verdict=_BEFORE_VERDICT,
    )


def _result(passes: bool, reason: str, findings: Sequence[Finding], probability: float | None) -> GateResult:
    return GateResult(
        gate=GateName.HELPFULNESS,
        status=GateStatus.PASS if passes else GateStatus.FAIL,
        reason=reason,
        score=probability,
        threshold=None if probability is None else LINE,
        probability=probability,
        findings=tuple(findings),
    )
