"""From a post to its claim record and the searches for it, in one call; what the model says is checked.

The record is what every later step goes by, so that all of them answer the same claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date

from pydantic import Field

from crowdnotes.domain import Claim, ClaimKind, Post, Query, Span
from crowdnotes.engines.base import Brief, EngineStep, SearchPlan
from crowdnotes.engines.llm.asking import Asker
from crowdnotes.engines.llm.parsing import Answer, sanitized
from crowdnotes.engines.llm.request import Block, post_block, question
from crowdnotes.engines.prompt_injection import holds_injection, without_injections
from crowdnotes.errors import AnswerUnreadableError
from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.quotes import find_quote
from crowdnotes.wording import say

_MOST_CLAIMS = 3
_LONGEST_QUERY = 160
_LONGEST = 400  # characters of a claim in full words
_DAY = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")
_OPENING, _CLOSING = "\"“„«‘'", "\"”“»’'"


class AskedQuery(Answer):
    """One search."""

    text: str
    purpose: str = ""
    language: str = ""


class FoundClaim(Answer):
    """One entry of the claim record."""

    quote: str
    claim: str
    implies: str = ""
    settled_by: str = ""
    since: str = ""
    kind: str = "checkable"


class ClaimsAnswer(Answer):
    """See claims.md."""

    claims: list[FoundClaim]
    queries: list[AskedQuery] = Field(default_factory=list)


_KINDS = {kind.name.lower(): kind for kind in ClaimKind}


def plan_search(asker: Asker, post: Post, limit: int, today: date) -> SearchPlan:
    """The claims, most misleading first, and at most `limit` searches; a post that claims nothing is asked about once.

    Raises EngineError.
    """
    if not without_injections(post.text).strip():
        return SearchPlan(why_none=say("model.no_post_words"))

    def check(answer: ClaimsAnswer) -> None:
        if not answer.claims:
            raise AnswerUnreadableError(say("answers.no_claim"))

    blocks = [post_block(post), Block("days", days(post, today), cleared=True)]
    values = {"claims": _MOST_CLAIMS, "queries": limit}
    answer = asker.ask(question(EngineStep.QUERIES, "claims", ClaimsAnswer, blocks, values=values, check=check)).value
    claims = _claims(post, answer.claims)
    checkable = [claim for claim in claims if claim.kind is ClaimKind.CHECKABLE]
    if not checkable:
        kind = claims[0].kind.value if claims else say("model.nothing_checkable")
        return SearchPlan(tuple(claims), why_none=say("model.nothing_to_check", kind=kind))
    return SearchPlan(
        (*checkable, *(claim for claim in claims if claim not in checkable)), searches(answer.queries, limit)
    )


def days(post: Post, today: date) -> str:
    """The post's day and the present one, as every prompt tells them."""
    posted = post.posted_at.date().isoformat() if post.posted_at else "not known"
    return f"day of the post: {posted} · today: {today.isoformat()}"


def brief_blocks(brief: Brief) -> list[Block]:
    """The post and its claim record, as every later step is told them."""
    return [post_block(brief.post), Block("claim record", "\n".join(_record(brief)))]


def _record(brief: Brief) -> Iterable[str]:
    claim, others = brief.claim, brief.checkable[1:]
    if claim is not None:
        yield f"claim{' 1' if others else ''}: {claim.in_full}"
        for name, said in (("implies", claim.implies), ("settled by", claim.settled_by)):
            if said:
                yield f"{name}: {said}"
        if claim.since:
            yield f"since: {claim.since}"
        yield from (f"claim {number}: {other.in_full}" for number, other in enumerate(others, 2))
    yield days(brief.post, brief.today)


def _claims(post: Post, found: Sequence[FoundClaim]) -> list[Claim]:
    """With the place of each in the post: that of its quote, or the whole post where it is only implied."""
    claims: list[Claim] = []
    for item in found[:_MOST_CLAIMS]:
        statement = sanitized(item.claim, _LONGEST)
        if not statement or holds_injection(item.quote) or holds_injection(item.claim):
            continue
        span = find_quote(post.text, item.quote)
        span = Span(start=0, end=len(post.text)) if span is None else _with_marks(post.text, span)
        if any((claim.span, claim.statement) == (span, statement) for claim in claims):
            continue
        claims.append(
            Claim(
                text=post.text[span.start : span.end],
                span=span,
                statement=statement,
                implies=sanitized(item.implies, _LONGEST),
                settled_by=sanitized(item.settled_by, _LONGEST),
                since=_day(item.since),
                kind=_KINDS.get(item.kind.strip().lower().split(" ")[0], ClaimKind.CHECKABLE),
            )
        )
    return claims


def _with_marks(text: str, span: Span) -> Span:
    """With the quotation marks at its ends: a post may quote what it rejects."""
    start, end = span.start, span.end
    if start and text[start - 1] in _OPENING and not text[start - 2 : start - 1].isalnum():
        start -= 1
    if end < len(text) and text[end] in _CLOSING:
        end += 1
    return Span(start=start, end=end)


def _day(said: str) -> date | None:
    match = _DAY.fullmatch(said.strip())
    if match is None:
        return None
    year, month, day = (int(part or 1) for part in match.groups())
    try:
        return date(year, month, day)
    except ValueError:
        return None


def searches(asked: Sequence[AskedQuery], limit: int) -> tuple[Query, ...]:
    """At most `limit` searches that differ, without addresses, operators and account names."""
    found: list[Query] = []
    seen: set[frozenset[str]] = set()
    for item in asked:
        text = _as_search(item.text)
        words = frozenset(re.findall(r"\w+", text.lower()))
        if not words or words in seen or holds_injection(text):
            continue
        seen.add(words)
        language = item.language.strip().lower()
        known = language if re.fullmatch(r"[a-z]{2}", language) else None
        found.append(Query(text=text, purpose=sanitized(item.purpose, 120) or "the claim", language=known))
    return tuple(found[:limit])


def _as_search(text: str) -> str:
    """A search as typed: one line without addresses and operators."""
    text = re.sub(r"\b[a-z]+:(?!//)(?=\S)", " ", text[: 10 * _LONGEST_QUERY])  # "site:" and its like
    for url in reversed(find_urls(text)):
        text = text[: url.start] + text[url.end :]
    words = re.sub(r"(?<!\w)@\w+|[\"“”<>{}|\\^`\[\]]", " ", text)
    words = " ".join("".join(char if char.isprintable() else " " for char in words).split())
    return words if len(words) <= _LONGEST_QUERY else words[:_LONGEST_QUERY].rsplit(" ", 1)[0]
