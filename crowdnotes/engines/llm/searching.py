"""From a post and its pictures to claims, searches, and the result to read next.

Every index, quote and address is checked.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence

from crowdnotes.domain import Aim, Claim, Hit, Post, Query
from crowdnotes.engines.base import EngineStep, ImageReading, Pick
from crowdnotes.engines.llm.answers import ClaimsAnswer, ImageAnswer, PickAnswer, QueriesAnswer, sanitized
from crowdnotes.engines.llm.asking import Asker, Block, post_block, question
from crowdnotes.engines.prompt_injection import holds_injection, visible, without_injections
from crowdnotes.errors import AnswerUnreadableError, EngineError
from crowdnotes.text.markdown import host
from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.quotes import find_quote

_MOST_CLAIMS = 6
_LONGEST_QUERY = 160
_LONGEST_WHY = 220
_SNIPPET = 320
_AIMS = {
    Aim.JUDGE: "let a reader judge what the post claims, whichever way the evidence points",
    Aim.OTHER_SIDE: "find the best evidence that the claim of the post is right: the case that its author could make",
}


def find_claims(asker: Asker, post: Post) -> list[Claim]:
    """Checkable statements, most misleading first, each in the post's own words."""
    if not without_injections(post.text).strip():
        return []
    asked = question(EngineStep.QUERIES, "claims", ClaimsAnswer, [post_block(post)], values={"limit": _MOST_CLAIMS})
    found: list[Claim] = []
    for item in asker.ask(asked).value.claims:
        span = find_quote(post.text, item.quote)
        if span is None or any(claim.span == span for claim in found) or holds_injection(item.quote):
            continue
        found.append(Claim(text=post.text[span.start : span.end], span=span))
    return found[:_MOST_CLAIMS]


def build_queries(asker: Asker, post: Post, claims: Sequence[Claim], limit: int, aim: Aim, like: str) -> list[Query]:
    """At most `limit` searches that differ; none when the post has no words."""
    if limit <= 0 or not without_injections(post.whole_text).strip():
        return []
    blocks = [post_block(post)]
    if claims:
        blocks.append(Block("claims to check", "\n".join(claim.text for claim in claims)))
    purpose = _AIMS[aim]
    if like:
        blocks.append(Block("passage to find more of", like))
        purpose += "; find more pages that treat what the given passage treats"
    also = "" if post.language in (None, "en") else " and, for about half of them, in the language of the post"
    values = {"limit": limit, "aim": purpose, "language": also}
    asked = question(EngineStep.QUERIES, "queries", QueriesAnswer, blocks, values=values)
    found: list[Query] = []
    seen: set[frozenset[str]] = set()
    for item in asker.ask(asked).value.queries:
        text = _as_search(item.text)
        words = frozenset(re.findall(r"\w+", text.lower()))
        if not words or words in seen or holds_injection(text):
            continue
        seen.add(words)
        language = item.language.strip().lower()
        known = language if re.fullmatch(r"[a-z]{2}", language) else None
        found.append(Query(text=text, purpose=sanitized(item.purpose, 120) or "the claim", language=known))
    return found[:limit]


def pick_next(asker: Asker, post: Post, candidates: Sequence[Hit], chosen: Sequence[Hit], aim: Aim) -> Pick:
    """The candidate worth reading next, or none when the model says that none helps (CrowdNotes+ 4.2, D.1)."""
    if not candidates:
        return Pick(None, "Nothing is left to pick.")
    blocks = [post_block(post)]
    if chosen:
        blocks.append(Block("results already picked", "\n".join(_line(hit) for hit in chosen)))
    # One block, not fifty: each line is cut and flattened, so none can pass for another number.
    listed = "\n".join(f"{number}. {_line(hit)}" for number, hit in enumerate(candidates, 1))
    blocks.append(Block("remaining results", listed, cleared=True))

    def check(answer: PickAnswer) -> None:
        if not 0 <= answer.pick <= len(candidates):
            raise AnswerUnreadableError("The model picked a search result that was not offered.")

    asked = question(EngineStep.UTILITY, "utility", PickAnswer, blocks, values={"aim": _AIMS[aim]}, check=check)
    answer = asker.ask(asked).value
    why = sanitized(answer.why, _LONGEST_WHY)
    if answer.pick == 0:
        return Pick(None, why or "The model gave no reason.")
    return Pick(answer.pick - 1, why or "It speaks to the claim.")


def _as_search(text: str) -> str:
    """A search as typed: one line without addresses and operators."""
    text = re.sub(r"\b[a-z]+:(?!//)(?=\S)", " ", text[: 10 * _LONGEST_QUERY])  # "site:" and its like
    for url in reversed(find_urls(text)):
        text = text[: url.start] + text[url.end :]
    words = re.sub(r"(?<!\w)@\w+|[\"“”<>{}|\\^`\[\]]", " ", text)
    words = " ".join("".join(char if char.isprintable() else " " for char in words).split())
    return words if len(words) <= _LONGEST_QUERY else words[:_LONGEST_QUERY].rsplit(" ", 1)[0]


def _line(hit: Hit) -> str:
    """A result in one line, without what speaks to a model: title, site, day, marks, the start of the snippet."""
    site = host(hit.url) or hit.library or hit.provider
    about = ", ".join(str(part) for part in (site, hit.published, hit.category.value, *hit.notices) if part)
    words = f"{without_injections(hit.title)} ({about}): {without_injections(hit.snippet)}"
    return " ".join(words.split())[:_SNIPPET]


_TYPES = {"image/png", "image/jpeg", "image/webp", "image/gif"}
_MOST_BYTES = 8_000_000
_LONGEST_TEXT = 6_000


def read_image(asker: Asker, content: bytes, media_type: str) -> ImageReading:
    """The words in it and what it shows. Raises EngineError for a kind or size that servers do not take."""
    if media_type not in _TYPES or not content:
        raise EngineError("The model cannot read this kind of picture.", "Type what the picture says.")
    if len(content) > _MOST_BYTES:
        raise EngineError("The picture is too large for the model.", "Type what the picture says.")
    address = f"data:{media_type};base64,{base64.b64encode(content).decode()}"
    blocks = [Block("picture", "The picture is attached.", cleared=True)]
    answer = asker.ask(question(EngineStep.QUERIES, "image", ImageAnswer, blocks, image=address)).value
    return ImageReading(text=visible(answer.text)[:_LONGEST_TEXT].strip(), shows=sanitized(answer.shows, 600))
