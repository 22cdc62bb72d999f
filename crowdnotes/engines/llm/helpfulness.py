"""Judges the wording of a note in one call: the principles, and gate 3, helpfulness (CrowdNotes+ 4.3, E.3).

Gate and principles ask the same question, which is sent once (see `ModelClient`). Another judge of helpfulness, which
may answer as HealthJudge was trained to ("Final decision: yes"), decides the gate alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import Field

from crowdnotes.domain import Finding, GateName, GateResult, GateStatus, Post, PrincipleName, PrincipleResult
from crowdnotes.engines.base import EngineStep
from crowdnotes.engines.llm.calls import ModelClient, judged
from crowdnotes.engines.llm.parsing import (
    LINE,
    Answer,
    Objection,
    Of100,
    YesNo,
    has_handle,
    locate_objections,
    sanitized,
    without_thoughts,
)
from crowdnotes.engines.llm.request import Block, Question, post_block, question
from crowdnotes.engines.prompt_injection import TO_AI_SENTENCE, find_injections, holds_injection
from crowdnotes.engines.prompts import load_prompt
from crowdnotes.errors import AnswerEmptyError, AnswerUnreadableError
from crowdnotes.text.markdown import host
from crowdnotes.text.note_rules import NOTE_LIMIT, characters_for_words, find_urls, note_length, without_urls

_MAX_REASON_CHARACTERS = 260
_FINAL_DECISION_LINE = re.compile(r"[\s*_#]*Final decision[\s*_]*:[\s*_]*(yes|no)[\s*_.]*", re.IGNORECASE)
_FINAL_DECISION_PREFIX = re.compile(r"Final decision[\s*_]*:[\s*_]*(?=yes|no)", re.IGNORECASE)
# Here something is missing, so there may be no words to quote.
_WHOLE_NOTE_PRINCIPLES = {PrincipleName.ADDRESSES_CLAIM, PrincipleName.CONTEXT, PrincipleName.WANTED}


class FinalDecision(Answer):
    """See helpfulness_final.md: the last line, for judges that were trained to end with it."""

    helpful: YesNo
    said: str = ""


class BrokenPrinciple(Answer):
    """What breaks a principle. Its name is the one in words.md, in lower case."""

    objections: list[Objection] = Field(default_factory=list)
    reason: str = ""
    name: str


class WordsAnswer(Answer):
    """See words.md."""

    broken: list[BrokenPrinciple] = Field(default_factory=list)
    kept: list[str]
    rewrite: str = ""
    of_100: Of100 = -1
    objections: list[Objection] = Field(default_factory=list)
    reason: str
    helpful: YesNo


ASKED = tuple(name for name in PrincipleName if name is not PrincipleName.SOURCES_SUPPORT)
"""All but "sources support it", which the correctness gate finds."""


def judge_helpfulness(model_client: ModelClient, post: Post, note: str, *, form: str, votes: int) -> GateResult:
    """Return PASS if the judge says yes. It sees the words and the sites of the links. Raises EngineError."""
    injected = find_injections(note)
    if injected:
        return _build_helpfulness_result(
            False,
            TO_AI_SENTENCE,
            [Finding(message=TO_AI_SENTENCE, span=span) for span in injected],
            0.0,
        )
    if not without_urls(note).strip():
        return GateResult.not_run(GateName.HELPFULNESS, "The note has no words yet.")
    if form == "final decision":
        asked = Question(
            step=EngineStep.JUDGING.value,
            prompt=load_prompt("helpfulness_final"),
            blocks=_build_helpfulness_blocks(post, note),
            read=read_final_decision,
            verdict=_FINAL_DECISION_PREFIX,
        )
        decided = judged(model_client, asked, lambda answer: answer.helpful == "yes", votes)
        said = sanitized(decided.value.said, _MAX_REASON_CHARACTERS) or f"{model_client.model} gives only its decision."
        return _build_helpfulness_result(decided.value.helpful == "yes", said, (), decided.probability)
    answered = judged(model_client, _build_words_question(post, note), lambda answer: answer.helpful == "yes", votes)
    answer = answered.value
    reason = sanitized(answer.reason, _MAX_REASON_CHARACTERS) or "The AI gave no reason."
    return _build_helpfulness_result(
        answer.helpful == "yes", reason, locate_objections(note, answer.objections), answered.probability
    )


def judge_principles(model_client: ModelClient, post: Post, note: str) -> tuple[PrincipleResult, ...]:
    """Return a result for each of `ASKED`, in order. Raises EngineError."""
    if not without_urls(note).strip():
        return tuple(PrincipleResult.not_run(name, "The note has no words yet.") for name in ASKED)
    injected = find_injections(note)
    if injected:
        findings = tuple(Finding(message=TO_AI_SENTENCE, span=span) for span in injected)
        return tuple(
            PrincipleResult(
                principle=name,
                status=GateStatus.FAIL,
                reason=TO_AI_SENTENCE,
                findings=findings,
            )
            for name in ASKED
        )
    answer = model_client.ask(_build_words_question(post, note)).value
    rewrite = _check_rewrite(answer.rewrite, note)
    return tuple(_build_principle_result(name, answer, note, rewrite) for name in ASKED)


def _normalise_principle_name(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip().lower())


def _build_principle_result(name: PrincipleName, answer: WordsAnswer, note: str, rewrite: str) -> PrincipleResult:
    # Some models name a principle twice.
    broken = [item for item in answer.broken if _normalise_principle_name(item.name) == name.name.lower()]
    chance = answer.of_100 / 100 if name is PrincipleName.WANTED and answer.of_100 >= 0 else None
    if not broken:
        if name.name.lower() not in map(_normalise_principle_name, answer.kept):
            return PrincipleResult.not_run(name, "The AI did not judge it.")
        return PrincipleResult(principle=name, status=GateStatus.PASS, reason="It holds.", probability=chance)
    objections = [objection for item in broken for objection in item.objections]
    findings = locate_objections(note, objections)
    if name in _WHOLE_NOTE_PRINCIPLES:
        unquoted = (sanitized(item.objection, _MAX_REASON_CHARACTERS) for item in objections if not item.quote.strip())
        findings += tuple(Finding(message=words) for words in dict.fromkeys(unquoted) if words)
    elif not findings:
        return PrincipleResult.not_run(name, "The AI objected, but pointed at no words in the note.")
    reason = (
        sanitized(" ".join(dict.fromkeys(item.reason for item in broken)), _MAX_REASON_CHARACTERS)
        or "It does not hold."
    )
    rewrite = "" if name is PrincipleName.WANTED else rewrite  # other words do not make raters want a note
    return PrincipleResult(
        principle=name,
        status=GateStatus.FAIL,
        reason=reason,
        findings=findings,
        rewrite=rewrite,
        probability=chance,
    )


def _build_words_question(post: Post, note: str) -> Question[WordsAnswer]:
    values = {"budget": characters_for_words(links=2)}
    return question(
        EngineStep.JUDGING,
        "words",
        WordsAnswer,
        _build_helpfulness_blocks(post, note),
        values=values,
        verdict="helpful",
    )


def _build_helpfulness_blocks(post: Post, note: str) -> list[Block]:
    sites = dict.fromkeys(host(url.url) for url in find_urls(note))
    words = [Block("note", without_urls(note).strip())]
    return [post_block(post), *words, Block("its links lead to", ", ".join(filter(None, sites)))]


def read_final_decision(words: str) -> FinalDecision:
    """Return the decision in the last line, and what was said before it. Nothing else in the answer counts.

    Raises AnswerEmptyError or AnswerUnreadableError.
    """
    lines = [line for line in without_thoughts(words).splitlines() if line.strip()]
    if not lines:
        raise AnswerEmptyError("The model gave an empty answer.")
    match = _FINAL_DECISION_LINE.fullmatch(lines[-1])
    if match is None:
        raise AnswerUnreadableError("The judge did not end with “Final decision: yes” or “Final decision: no”.")
    helpful = match.group(1).lower()
    return FinalDecision.model_validate({"helpful": helpful, "said": " ".join(lines[:-1])})


def _build_helpfulness_result(
    passes: bool, reason: str, findings: Sequence[Finding], probability: float | None
) -> GateResult:
    return GateResult(
        gate=GateName.HELPFULNESS,
        status=GateStatus.PASS if passes else GateStatus.FAIL,
        reason=reason,
        score=probability,
        threshold=None if probability is None else LINE,
        probability=probability,
        findings=tuple(findings),
    )


def _check_rewrite(rewrite: str, note: str) -> str:
    """Return the rewrite followed by the note's links; "" if it breaks a rule or changes nothing."""
    words = " ".join(rewrite.split())
    old = without_urls(note).strip()
    if not words or words == old or find_urls(words) or has_handle(words) or holds_injection(words):
        return ""
    whole = " ".join([words, *(url.url for url in find_urls(note))])
    return whole if note_length(whole) <= NOTE_LIMIT else ""
