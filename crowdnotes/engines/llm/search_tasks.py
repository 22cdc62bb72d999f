"""Plans searches for a post's claims, ranks results and reads pictures with a language model.

Every later step uses the same claim record, so that all of them answer the same claim. Every quote, number and search
that the model gives is checked.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from datetime import date

from pydantic import Field

from crowdnotes.domain import Aim, Claim, ClaimKind, Hit, NoteWanted, Post, Query, Span, WhyUnwanted, first_shown
from crowdnotes.engines.base import MOST_OFFERED, Brief, EngineStep, ImageReading, Pick, Ranking, SearchPlan
from crowdnotes.engines.llm.calls import ModelClient
from crowdnotes.engines.llm.parsing import Answer, Of100, sanitized
from crowdnotes.engines.llm.request import Block, post_block, question
from crowdnotes.engines.prompt_injection import holds_injection, visible, without_injections
from crowdnotes.engines.prompts import load_prompt
from crowdnotes.errors import AnswerUnreadableError, EngineError
from crowdnotes.settings_sections import SECOND_QUERIES
from crowdnotes.text.markdown import host
from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.quotes import find_quote
from crowdnotes.text.sentences import split_sentences
from crowdnotes.text.tokens import content_stems

_MAX_CLAIMS = 3
_MAX_QUERY_CHARACTERS = 160
_MAX_CLAIM_CHARACTERS = 400
_PARTIAL_DATE = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")
_OPENING_QUOTES, _CLOSING_QUOTES = "\"“„«‘'", "\"”“»’'"


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
    """See claims.md. A model that says nothing of `wanted` leaves it unknown."""

    claims: list[FoundClaim]
    why_not: str = ""
    why: str = ""
    wanted: Of100 = -1
    queries: list[AskedQuery] = Field(default_factory=list)


_CLAIM_KIND_BY_NAME = {kind.name.lower(): kind for kind in ClaimKind}
_WHY_UNWANTED_BY_NAME = {why.value: why for why in WhyUnwanted}


def plan_search(
    model_client: ModelClient, post: Post, limit: int, today: date, places: Sequence[str] = ()
) -> SearchPlan:
    """Return the claims, most misleading first, and at most `limit` searches for them.

    `places` are what will be searched. Raises EngineError.
    """
    if not without_injections(post.text).strip():
        return SearchPlan(why_none="The post has no text.")

    def check(answer: ClaimsAnswer) -> None:
        if not answer.claims:
            raise AnswerUnreadableError("The model named no claim and did not say what else the post is.")

    blocks = [post_block(post), Block("days", days(post, today), cleared=True)]
    if places and limit:
        blocks.append(Block("places searched", "; ".join(places)))
    values = {"claims": _MAX_CLAIMS, "queries": limit}
    answer = model_client.ask(
        question(EngineStep.QUERIES, "claims", ClaimsAnswer, blocks, values=values, check=check)
    ).value
    claims = _build_claims(post, answer.claims)
    checkable = [claim for claim in claims if claim.kind is ClaimKind.CHECKABLE]
    wanted = _read_wanted(answer)
    if not checkable:
        kind = claims[0].kind.value if claims else "no claim to check"
        return SearchPlan(tuple(claims), why_none=f"Nothing to check: {kind}.", wanted=wanted)
    others = (claim for claim in claims if claim not in checkable)
    return SearchPlan((*checkable, *others), searches(answer.queries, limit), wanted=wanted)


def _read_wanted(answer: ClaimsAnswer) -> NoteWanted | None:
    if answer.wanted < 0:
        return None
    why_not = _WHY_UNWANTED_BY_NAME.get(" ".join(answer.why_not.lower().replace("_", " ").split()))
    reason = sanitized(answer.why, _MAX_WHY_CHARACTERS)
    return NoteWanted(chance=answer.wanted / 100, why_not=why_not, reason=reason)


def days(post: Post, today: date) -> str:
    """Return the post's day and today as every prompt gives them. A post of unknown day may be years old."""
    posted = post.posted_at.date().isoformat() if post.posted_at else "not known, today or any day before"
    return f"day of the post: {posted} · today: {today.isoformat()}"


def brief_blocks(brief: Brief) -> list[Block]:
    """Return the post and its claim record, as every later step gets them."""
    return [post_block(brief.post), Block("claim record", "\n".join(_list_claim_record(brief)))]


def _list_claim_record(brief: Brief) -> Iterable[str]:
    claim, others = brief.claim, brief.checkable[1:]
    if claim is not None:
        yield f"claim{' 1' if others else ''}: {claim.in_full}"
        for name, said in (("implies", claim.implies), ("settled by", claim.settled_by)):
            if said:
                yield f"{name}: {said}"
        if claim.since:
            yield f"since: {claim.since_when}"
        for number, other in enumerate(others, 2):
            since = f" (since: {other.since_when})" if other.since else ""
            yield f"claim {number}: {other.in_full}{since}"
    yield days(brief.post, brief.today)


def _build_claims(post: Post, found: Sequence[FoundClaim]) -> list[Claim]:
    """Return the claims with their places: of the quote, or the whole post for an implied claim."""
    claims: list[Claim] = []
    for item in found[:_MAX_CLAIMS]:
        statement = sanitized(item.claim, _MAX_CLAIM_CHARACTERS)
        if not statement or holds_injection(item.quote) or holds_injection(item.claim):
            continue
        span = find_quote(post.text, item.quote, whole=False)
        span = Span(start=0, end=len(post.text)) if span is None else _include_quotation_marks(post.text, span)
        if any((claim.span, claim.statement) == (span, statement) for claim in claims):
            continue
        claims.append(
            Claim(
                text=post.text[span.start : span.end],
                span=span,
                statement=statement,
                implies=sanitized(item.implies, _MAX_CLAIM_CHARACTERS),
                settled_by=sanitized(item.settled_by, _MAX_CLAIM_CHARACTERS),
                since=_parse_partial_date(item.since),
                kind=_CLAIM_KIND_BY_NAME.get(item.kind.strip().lower().split(" ")[0], ClaimKind.CHECKABLE),
            )
        )
    return claims


def _include_quotation_marks(text: str, span: Span) -> Span:
    """Extend a span by the quotation marks at its ends: a post may quote what it rejects."""
    start, end = span.start, span.end
    if start and text[start - 1] in _OPENING_QUOTES and not text[start - 2 : start - 1].isalnum():
        start -= 1
    if end < len(text) and text[end] in _CLOSING_QUOTES:
        end += 1
    return Span(start=start, end=end)


def _parse_partial_date(said: str) -> date | None:
    match = _PARTIAL_DATE.fullmatch(said.strip())
    if match is None:
        return None
    year, month, day = (int(part or 1) for part in match.groups())
    try:
        return date(year, month, day)
    except ValueError:
        return None


def searches(asked: Sequence[AskedQuery], limit: int) -> tuple[Query, ...]:
    """Return at most `limit` different searches, without addresses, operators and account names."""
    found: list[Query] = []
    seen: set[frozenset[str]] = set()
    for item in asked:
        text = _clean_query(item.text)
        words = frozenset(re.findall(r"\w+", text.lower()))
        if not words or words in seen or holds_injection(text):
            continue
        seen.add(words)
        language = item.language.strip().lower()
        known = language if re.fullmatch(r"[a-z]{2}", language) else None
        found.append(Query(text=text, purpose=sanitized(item.purpose, 120) or "the claim", language=known))
    return tuple(found[:limit])


NO_SEARCHES = 'Leave "searches" empty.'  # for a model that may not name further searches


def search_blocks(brief: Brief) -> list[Block]:
    """Return the searches made and the places searched; none where the model may not name further searches."""
    if not brief.places:
        return []
    return [Block("searches made", "\n".join(brief.searched)), Block("places searched", "\n".join(brief.places))]


def _clean_query(text: str) -> str:
    """Return a search as one line without addresses and operators."""
    text = re.sub(r"\b[a-z]+:(?!//)(?=\S)", " ", text[: 10 * _MAX_QUERY_CHARACTERS])  # "site:" and its like
    for url in reversed(find_urls(text)):
        text = text[: url.start] + text[url.end :]
    words = re.sub(r"(?<!\w)@\w+|[\"“”<>{}|\\^`\[\]]", " ", text)
    words = " ".join("".join(char if char.isprintable() else " " for char in words).split())
    return words if len(words) <= _MAX_QUERY_CHARACTERS else words[:_MAX_QUERY_CHARACTERS].rsplit(" ", 1)[0]


_MAX_WHY_CHARACTERS = 220
_MAX_TITLE_CHARACTERS = 90
_MAX_SNIPPET_CHARACTERS = 300  # of a snippet: the part with most of the words asked
_INSTRUCTION_BY_AIM = {
    Aim.JUDGE: "let a reader judge what the post claims, whichever way the evidence points",
    Aim.OTHER_SIDE: "find the best evidence that the claim of the post is right: the case that its author could make",
}


class QueriesAnswer(Answer):
    """See queries.md."""

    queries: list[AskedQuery]


class AskedPick(Answer):
    """A result by its number in the list, and what its page should say."""

    number: int
    tells: str = ""


class RankingAnswer(Answer):
    """See ranking.md."""

    picks: list[AskedPick] = Field(default_factory=list)
    rest: str = ""
    searches: list[AskedQuery] = Field(default_factory=list)


class ImageAnswer(Answer):
    """See image.md."""

    text: str
    shows: str


def build_queries(model_client: ModelClient, brief: Brief, limit: int, aim: Aim, like: str) -> list[Query]:
    """Return at most `limit` different searches; none if the post has no words."""
    if limit <= 0 or not without_injections(brief.post.whole_text).strip():
        return []
    blocks = [*brief_blocks(brief), *search_blocks(brief)]
    purpose = _INSTRUCTION_BY_AIM[aim]
    if like:
        blocks.append(Block("passage to find more of", like))
        purpose += "; find more pages that treat what the given passage treats"
    also = "" if brief.post.language in (None, "en") else " and, for about half of them, in the language of the post"
    values = {"limit": limit, "aim": purpose, "language": also}
    answer = model_client.ask(question(EngineStep.QUERIES, "queries", QueriesAnswer, blocks, values=values)).value
    return list(searches(answer.queries, limit))


def rank(
    model_client: ModelClient,
    brief: Brief,
    candidates: Sequence[Hit],
    chosen: Sequence[Hit],
    quota: int,
    spare: int,
    aim: Aim,
) -> Ranking:
    """Return the candidates worth reading, best first, from one call."""
    offered = candidates[:MOST_OFFERED]
    if not offered or quota <= 0:
        return Ranking((), "Nothing is left to choose from.")

    def check(answer: RankingAnswer) -> None:
        if any(not 1 <= pick.number <= len(offered) for pick in answer.picks):
            raise AnswerUnreadableError(f"The model chose a result that was not offered: there are {len(offered)}.")

    may_search = load_prompt("ranking_searches").filled({"queries": SECOND_QUERIES})[0]
    further = may_search if brief.places else NO_SEARCHES
    asked = question(
        EngineStep.UTILITY,
        "ranking",
        RankingAnswer,
        [*_build_result_blocks(brief, offered, chosen), *search_blocks(brief)],
        values={"aim": _INSTRUCTION_BY_AIM[aim], "quota": quota, "most": quota + spare, "searches": further},
        check=check,
    )
    answer = model_client.ask(asked).value
    first = {pick.number: pick for pick in reversed(answer.picks)}
    picks = [
        Pick(number - 1, sanitized(first[number].tells, _MAX_WHY_CHARACTERS) or "It speaks to the claim.")
        for number in dict.fromkeys(pick.number for pick in answer.picks)
    ]
    rest = sanitized(answer.rest, _MAX_WHY_CHARACTERS) or "The AI gave no reason."
    queries = () if picks or not brief.places else searches(answer.searches, SECOND_QUERIES)
    return Ranking(tuple(picks[: quota + spare]), rest, queries)


def _build_result_blocks(brief: Brief, offered: Sequence[Hit], chosen: Sequence[Hit]) -> list[Block]:
    blocks = brief_blocks(brief)
    if chosen:
        picked = (f"{_flatten(hit.title)[:_MAX_TITLE_CHARACTERS]} ({host(hit.url) or hit.provider})" for hit in chosen)
        blocks.append(Block("results already picked", "\n".join(picked)))
    # One block, not fifty: each line is cut and flattened, so none can imitate another number.
    listed = "\n".join(f"{number}. {line}" for number, line in enumerate(describe_hits(brief, offered), 1))
    blocks.append(Block("remaining results", listed, cleared=True))
    return blocks


def describe_hits(brief: Brief, hits: Sequence[Hit]) -> list[str]:
    """Return a line for each hit, without words to programs: title, marks, and the best part of its snippet.

    Marks that all hits share, such as a kind of source, are left out.
    """
    asked = brief.asked_stems
    about = [_list_marks(hit) for hit in hits]
    same = set.intersection(*map(set, about)) if len(about) > 1 else set()
    lines = []
    for hit, marks in zip(hits, about, strict=True):
        title = _flatten(hit.title)[:_MAX_TITLE_CHARACTERS]
        distinct = [mark for mark in marks if mark not in same]
        noted = f" ({', '.join(distinct)})" if distinct else ""
        snippet = _flatten(hit.snippet).removeprefix(title).lstrip()
        best_part = _find_best_part(snippet, asked | content_stems(hit.query), _MAX_SNIPPET_CHARACTERS)
        lines.append(f"{title}{noted}: {best_part}")
    return lines


def _list_marks(hit: Hit) -> list[str]:
    """Return site, day, kind of source, warnings, and an earlier note that cited it."""
    site = host(hit.url) or hit.library or hit.provider
    note = first_shown(hit.notes)
    cited = note.cited if note is not None else ""
    return [str(mark) for mark in (site, hit.published, hit.category.value, *hit.notices, cited) if mark]


def _flatten(text: str) -> str:
    return " ".join(without_injections(text).split())


def _find_best_part(text: str, asked: AbstractSet[str], limit: int) -> str:
    """Return the part of at most `limit` characters with most of the words asked; "…" where it is cut."""
    if len(text) <= limit:
        return text
    starts = sorted(
        {span.start for span in split_sentences(text)} | {text.find(" ", at) + 1 for at in range(0, len(text), limit)}
    )

    def part(start: int) -> str:
        whole = text[start : start + limit]
        return whole if start + limit >= len(text) else whole.rsplit(" ", 1)[0]

    found = {start: len(content_stems(part(start)) & asked) for start in starts}
    best = [start for start in starts if found[start] == max(found.values())]
    start = best[len(best) // 2]  # the first has the words at its cut end, the last nothing before them
    end = start + len(part(start))
    return f"{'… ' if start else ''}{text[start:end]}{' …' if end < len(text) else ''}"


_IMAGE_TYPES = {"image/png", "image/jpeg", "image/webp", "image/gif"}
_MAX_IMAGE_BYTES = 8_000_000
_MAX_IMAGE_TEXT_CHARACTERS = 6_000


def read_image(model_client: ModelClient, content: bytes, media_type: str) -> ImageReading:
    """Return the words in a picture and what it shows. Raises EngineError for a wrong kind or size."""
    if media_type not in _IMAGE_TYPES or not content:
        raise EngineError("The AI cannot read this kind of picture.", "Type what the picture says.")
    if len(content) > _MAX_IMAGE_BYTES:
        raise EngineError("The picture is too large for the AI.", "Type what the picture says.")
    address = f"data:{media_type};base64,{base64.b64encode(content).decode()}"
    blocks = [Block("picture", "The picture is attached.", cleared=True)]
    answer = model_client.ask(question(EngineStep.QUERIES, "image", ImageAnswer, blocks, image=address)).value
    return ImageReading(
        text=visible(answer.text)[:_MAX_IMAGE_TEXT_CHARACTERS].strip(), shows=sanitized(answer.shows, 600)
    )
