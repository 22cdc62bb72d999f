"""Gate 1 by a language model: passage by passage, does it help to judge the claim (CrowdNotes+ 4.3, E.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from crowdnotes.domain import Evidence, Finding, GateName, GateResult, GateStatus, Post
from crowdnotes.engines.base import EngineStep
from crowdnotes.engines.llm.answers import LINE, RelevanceAnswer, marked_as, sanitized
from crowdnotes.engines.llm.asking import Asker, judged, passage_block, post_block, question
from crowdnotes.engines.metering import side_by_side
from crowdnotes.engines.prompt_injection import holds_injection, without_injections
from crowdnotes.errors import EngineError
from crowdnotes.text.quotes import find_quote

_REASON = 240


@dataclass(frozen=True, slots=True)
class _Judged:
    """One passage: whether it helps, why, and how likely that is."""

    ok: bool
    message: str
    probability: float | None
    marked: frozenset[str] = frozenset()


def judge_relevance(asker: Asker, post: Post, evidence: Sequence[Evidence], *, votes: int, at_once: int) -> GateResult:
    """PASS if one passage helps, shown by words that stand in it. One finding a passage.

    The probability is that of the passage most likely to help. Raises EngineError when no passage passed
    and one could not be judged: that is not a "no".
    """
    if not evidence:
        return GateResult.not_run(GateName.RELEVANCE, "There is no evidence to judge yet.")
    if not without_injections(post.whole_text).strip():
        return GateResult.not_run(GateName.RELEVANCE, "The post has no words to compare the evidence with.")
    results = side_by_side([partial(_judge_one, asker, post, item, votes) for item in evidence], at_once)
    findings: list[Finding] = []
    known: list[_Judged] = []
    broken: EngineError | None = None
    for item, result in zip(evidence, results, strict=True):
        if isinstance(result, EngineError):
            broken = broken or result
            message = f"{item.id} could not be judged: {result.message}"
            findings.append(Finding(message=message, evidence_id=item.id))
            continue
        known.append(result)
        findings.append(Finding(message=result.message, evidence_id=item.id, ok=result.ok))
    helping = [result for result in known if result.ok]
    if not helping and broken is not None:
        raise broken
    marked = frozenset[str]().union(*(result.marked for result in known))
    shares = [result.probability for result in known if result.probability is not None]
    best = max(shares) if len(shares) == len(evidence) else None
    if helping:
        reason = f"{_count(len(helping), len(evidence))} to judge the post."
    else:
        reason = f"No passage helps to judge what the post claims. {known[0].message}"
    return GateResult(
        gate=GateName.RELEVANCE,
        status=GateStatus.PASS if helping else GateStatus.FAIL,
        reason=reason,
        score=best,
        threshold=None if best is None else LINE,
        probability=best,
        findings=tuple(findings),
        marked=tuple(sorted(marked)),
    )


def _judge_one(asker: Asker, post: Post, item: Evidence, votes: int) -> _Judged:
    words = without_injections(item.passage.text)
    if not words.strip():
        return _Judged(False, f"{item.id} holds only words addressed to a language model.", 0.0)
    asked = question(
        EngineStep.JUDGING, "relevance", RelevanceAnswer, [post_block(post), passage_block(item)], verdict="relevant"
    )
    answered = judged(asker, asked, lambda answer: answer.relevant == "yes", votes)
    answer = answered.value
    reason = sanitized(answer.reason, _REASON)
    marked = frozenset(marked_as(answer.to_program, [item.id]))
    if item.id in marked:
        message = f"{item.id} does not count: it holds words that speak to a program instead of people."
        return _Judged(False, message, None, marked)
    # Looked for outside the injections: a passage must not pass by words that it put into the judge's mouth.
    shown = find_quote(words, answer.quote)
    left_out = " Words in it that are addressed to a model were left out." if holds_injection(item.passage.text) else ""
    if answer.relevant == "yes" and shown is None:
        message = f"{item.id} does not count: the model could not show words of it that help.{left_out}"
        return _Judged(False, message, None, marked)
    if answer.relevant == "no" or shown is None:
        return _Judged(False, f"{item.id} does not help: {reason}{left_out}", answered.probability, marked)
    quoted = sanitized(words[shown.start : shown.end], 120)
    return _Judged(True, f"{item.id} helps: {reason} (“{quoted}”){left_out}", answered.probability, marked)


def _count(helping: int, of: int) -> str:
    if of == 1:
        return "The passage gives what helps"
    return f"{helping} of {of} passages {'gives' if helping == 1 else 'give'} what helps"
