"""Do the passages settle the claim? Asked once, passage by passage, before a word is written.

What a model says of a passage counts only with words of it that are there. A general page on the matter is background.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from crowdnotes.domain import (
    AnswerKind,
    Evidence,
    Finding,
    GateName,
    GateResult,
    GateStatus,
    PassageAnswer,
    Points,
    Settlement,
    text_sha256,
)
from crowdnotes.engines.base import Brief, EngineStep, FurtherSearch, MadeBy
from crowdnotes.engines.llm.asking import Asker
from crowdnotes.engines.llm.claims import AskedQuery, brief_blocks, searches
from crowdnotes.engines.llm.parsing import Answer, PassageId, ToProgram, marked_as, sanitized
from crowdnotes.engines.llm.request import near, passage_block, question
from crowdnotes.engines.prompt_injection import holds_injection, without_injections
from crowdnotes.engines.prompts import load_prompt
from crowdnotes.errors import AnswerUnreadableError
from crowdnotes.text.quotes import find_quote, tells_enough
from crowdnotes.wording import say

_TELLS = 220
_NO_SEARCHES = 'Leave "searches" empty.'
_ROOM = 1_200  # characters of a passage around its sentences that are nearest to what is asked


class FoundInPassage(Answer):
    """What one passage gives for a claim, by its number in the record."""

    id: PassageId
    claim: int = 1
    quote: str = ""
    tells: str = ""
    points: str = ""
    answer: str


class SettleAnswer(Answer):
    """See settle.md."""

    to_program: ToProgram = Field(default_factory=list)
    passages: list[FoundInPassage]
    missing: str = ""
    searches: list[AskedQuery] = Field(default_factory=list)


_ANSWERS = {kind.value: kind for kind in AnswerKind}
_POINTS = {points.value.split()[0]: points for points in Points}


def settle(asker: Asker, brief: Brief, evidence: Sequence[Evidence], limit: int, made_by: MadeBy) -> FurtherSearch:
    """What each passage gives, and at most `limit` searches for what none states.

    Only passages of which nothing is known yet are asked about. Raises EngineError.
    """
    before = brief.settlement
    if before is not None and (before.engine, before.prompt_version) != (made_by.engine, made_by.prompt_version):
        before = None  # what another model found is not told as this one's
    known = {item.id: found for item in evidence if before is not None and (found := before.all_of(item))}
    asked = [item for item in evidence if item.id not in known]
    readable = [item for item in asked if without_injections(item.passage.text).strip()]
    answer = SettleAnswer(passages=[])
    if readable or (limit and not evidence):  # where nothing was found, what to search for is asked all the same
        answer = _ask(asker, brief, readable, limit)
    ids = [item.id for item in readable]
    marked = marked_as(answer.to_program, ids)
    for item in asked:
        said = [found for found in answer.passages if found.id == item.id and item in readable]
        known[item.id] = _judged(item, said, speaks_to_program=item.id in marked)
    # What was found of passages that are not there now is kept: a person may bring them back.
    gone = [found for found in before.passages if found.evidence_id not in known] if before is not None else []
    settlement = Settlement(
        passages=(*(found for item in evidence for found in known[item.id]), *gone),
        missing=sanitized(answer.missing, _TELLS) or (before.missing if before is not None else ""),
        post_to_program="post" in marked or (before is not None and before.post_to_program),
        engine=made_by.engine,
        prompt_version=made_by.prompt_version,
    )
    if settlement.stated(evidence):
        return FurtherSearch(settlement.model_copy(update={"missing": ""}))
    return FurtherSearch(settlement, searches(answer.searches, limit))


def _ask(asker: Asker, brief: Brief, evidence: Sequence[Evidence], limit: int) -> SettleAnswer:
    ids = [item.id for item in evidence]
    claims = max(1, len(brief.checkable))

    def check(answer: SettleAnswer) -> None:
        missing = set(ids) - {item.id for item in answer.passages}
        if missing:
            raise AnswerUnreadableError(say("answers.says_nothing_of", ids=", ".join(sorted(missing))))
        if any(not 1 <= item.claim <= claims for item in answer.passages):
            raise AnswerUnreadableError(say("answers.no_such_claim", last=claims))

    blocks = [
        *brief_blocks(brief),
        *(passage_block(near(item, item.passage.marks, _ROOM), brief.today) for item in evidence),
    ]
    further = load_prompt("settle_searches").filled({"queries": limit})[0] if limit else _NO_SEARCHES
    return asker.ask(
        question(EngineStep.JUDGING, "settle", SettleAnswer, blocks, values={"searches": further}, check=check)
    ).value


_MOST_ANSWERS = 3  # of one passage: one a claim, or one for each part of it
_STRONGEST_FIRST = (AnswerKind.STATED, AnswerKind.INFERRED, AnswerKind.NONE)


def _judged(item: Evidence, said: Sequence[FoundInPassage], *, speaks_to_program: bool) -> list[PassageAnswer]:
    """What is found of a passage: its answers to the first claim, then to others; or once that it answers none."""
    nothing = PassageAnswer(
        evidence_id=item.id,
        passage_sha256=text_sha256(item.passage.text),
        answer=AnswerKind.NONE,
        tells=say("model.only_orders"),
    )
    if speaks_to_program and said:
        return [nothing.model_copy(update={"tells": say("model.to_program"), "to_program": True})]
    found = [_shown(item, nothing, one) for one in said] or [nothing]
    answers: dict[object, PassageAnswer] = {}
    for one in sorted(found, key=lambda one: (one.claim, _STRONGEST_FIRST.index(one.answer))):
        if one.answer is not AnswerKind.NONE:
            answers.setdefault((one.claim, one.span), one)  # a place counts once for a claim
    return [*answers.values()][:_MOST_ANSWERS] or found[:1]


def _shown(item: Evidence, nothing: PassageAnswer, found: FoundInPassage) -> PassageAnswer:
    """What the model says of a passage, if it shows words of it."""
    kind = _ANSWERS.get(found.answer.strip().lower(), AnswerKind.NONE)
    # Looked for outside the injections: a passage must not count by words that it put into the judge's mouth.
    span = find_quote(without_injections(item.passage.text), found.quote)
    if kind is not AnswerKind.NONE and (span is None or not tells_enough(found.quote)):
        return nothing.model_copy(update={"tells": say("model.no_words_shown")})
    return nothing.model_copy(
        update={
            "answer": kind,
            "points": _POINTS.get(found.points.strip().lower().split(" ")[0], Points.NEITHER),
            "span": span,
            "tells": sanitized(found.tells, _TELLS) or say("model.no_reason"),
            "claim": found.claim,
        }
    )


_HOW = {  # of the first claim, of a further one
    AnswerKind.STATED: ("model.states", "model.states_claim"),
    AnswerKind.INFERRED: ("model.helps", "model.helps_claim"),
    AnswerKind.NONE: ("model.no_help", "model.no_help_claim"),
}


def judge_relevance(asker: Asker, brief: Brief, evidence: Sequence[Evidence], made_by: MadeBy) -> GateResult:
    """PASS if a passage states or helps to infer the answer, shown by words that stand in it. One finding an answer.

    Raises EngineError.
    """
    if not evidence:
        return GateResult.not_run(GateName.RELEVANCE, say("relevance.no_evidence"))
    if not without_injections(brief.post.whole_text).strip():
        return GateResult.not_run(GateName.RELEVANCE, say("relevance.no_post_words"))
    settlement = settle(asker, brief, evidence, 0, made_by).settlement
    findings = [_finding(item, found) for item in evidence for found in settlement.all_of(item)]
    helping = settlement.answers(evidence)
    stated = len(settlement.stated(evidence))
    if helping:
        reason = say("model.answering", stated=stated, all=len(evidence), helping=len(helping))
    else:
        reason = say("model.none_helps", finding=findings[0].message)
    marked = [item.id for item in evidence if (found := settlement.of(item)) is not None and found.to_program]
    return GateResult(
        gate=GateName.RELEVANCE,
        status=GateStatus.PASS if helping else GateStatus.FAIL,
        reason=reason,
        findings=tuple(findings),
        marked=tuple(sorted([*marked, *(["post"] if settlement.post_to_program else [])])),
    )


def _finding(item: Evidence, found: PassageAnswer) -> Finding:
    message = say(_HOW[found.answer][found.claim > 1], id=item.id, claim=found.claim, tells=found.tells)
    if found.span is not None:
        message += f" (“{sanitized(item.passage.text[found.span.start : found.span.end], 120)}”)"
    if holds_injection(item.passage.text):
        message += " " + say("model.orders_left_out")
    return Finding(message=message, evidence_id=item.id, ok=found.answer is not AnswerKind.NONE)
