"""The principles by a language model, side by side: the words each objects to, and the note without them.

All but "sources support it", which is what the correctness gate finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from crowdnotes.domain import (
    Finding,
    GateStatus,
    Post,
    PrincipleName,
    PrincipleResult,
)
from crowdnotes.engines.base import EngineStep
from crowdnotes.engines.llm.answers import Objection, PrincipleAnswer, has_handle, pointed, sanitized
from crowdnotes.engines.llm.asking import Asker, Block, post_block, question
from crowdnotes.engines.metering import side_by_side
from crowdnotes.engines.prompt_injection import find_injections, holds_injection
from crowdnotes.errors import AnswerUnreadableError, EngineError
from crowdnotes.text.note_rules import NOTE_LIMIT, find_urls, note_length, without_urls

_REASON = 220
_PROMPTS: dict[PrincipleName, str] = {
    name: f"principle_{name.name.lower()}" for name in PrincipleName if name is not PrincipleName.SOURCES_SUPPORT
}
PRINCIPLE_PROMPTS = tuple(_PROMPTS.values())
# Their fault is that something is missing, so there may be no words to point at.
_ABOUT_THE_WHOLE = {PrincipleName.ADDRESSES_CLAIM, PrincipleName.CONTEXT}


def judge_principles(asker: Asker, post: Post, note: str, *, at_once: int) -> tuple[PrincipleResult, ...]:
    """All, in order; one that could not be judged is NOT_RUN with its reason, and the others stand."""
    words = without_urls(note).strip()
    if not words:
        reason = "The note has no words to judge yet."
        return tuple(PrincipleResult.not_run(name, reason) for name in _PROMPTS)
    injected = find_injections(note)
    if injected:
        reason = "These words speak to a language model, not to readers."
        findings = tuple(Finding(message=reason, span=span) for span in injected)
        return tuple(
            PrincipleResult(principle=name, status=GateStatus.FAIL, reason=reason, findings=findings)
            for name in _PROMPTS
        )
    results = side_by_side([partial(_one, asker, name, post, note) for name in _PROMPTS], at_once)
    return tuple(_settled(name, result) for name, result in zip(_PROMPTS, results, strict=True))


def _settled(name: PrincipleName, result: PrincipleResult | EngineError) -> PrincipleResult:
    if isinstance(result, PrincipleResult):
        return result
    reason = f"Could not be checked: {result.message}"
    return PrincipleResult.not_run(name, reason)


def _one(asker: Asker, name: PrincipleName, post: Post, note: str) -> PrincipleResult:
    def check(answer: PrincipleAnswer) -> None:
        if answer.follows == "no" and name not in _ABOUT_THE_WHOLE and not pointed(note, answer.objections):
            raise AnswerUnreadableError("The model objected, but pointed at no words that are in the note.")

    blocks = [post_block(post), Block("note", without_urls(note).strip())]
    asked = question(
        EngineStep.JUDGING, _PROMPTS[name], PrincipleAnswer, blocks, values={"budget": NOTE_LIMIT - 4}, check=check
    )
    answer = asker.ask(asked).value
    # Objections to a note that passes are kept, too: the verdict is the model's, but a person may weigh them otherwise.
    findings = pointed(note, answer.objections)
    if name in _ABOUT_THE_WHOLE:
        findings += tuple(Finding(message=words) for words in _of_the_whole(answer.objections))
    fails = answer.follows == "no"
    return PrincipleResult(
        principle=name,
        status=GateStatus.FAIL if fails else GateStatus.PASS,
        reason=sanitized(answer.reason, _REASON) or ("It does not hold." if fails else "It holds."),
        findings=findings,
        rewrite=_usable(answer.rewrite, note) if fails else "",
    )


def _of_the_whole(objections: Sequence[Objection]) -> list[str]:
    """The objections that point at no words of the note, in their order, each once."""
    said = (sanitized(item.objection, _REASON) for item in objections if not item.quote.strip())
    return [words for words in dict.fromkeys(said) if words]


def _usable(rewrite: str, note: str) -> str:
    """The suggested words with the note's own links behind them; "" when they break a rule or change nothing."""
    words = " ".join(rewrite.split())
    old = without_urls(note).strip()
    if not words or words == old or find_urls(words) or has_handle(words) or holds_injection(words):
        return ""
    whole = " ".join([words, *(url.url for url in find_urls(note))])
    return whole if note_length(whole) <= NOTE_LIMIT else ""
