"""Further searches, the results worth reading, and what a picture says. Every index and address is checked."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from pydantic import Field

from crowdnotes.domain import Aim, Hit, Query, first_shown
from crowdnotes.engines.base import MOST_OFFERED, Brief, EngineStep, ImageReading, Pick, Ranking
from crowdnotes.engines.llm.asking import Asker
from crowdnotes.engines.llm.claims import AskedQuery, brief_blocks, searches
from crowdnotes.engines.llm.parsing import Answer, sanitized
from crowdnotes.engines.llm.request import Block, question
from crowdnotes.engines.prompt_injection import visible, without_injections
from crowdnotes.errors import AnswerUnreadableError, EngineError
from crowdnotes.text.markdown import host
from crowdnotes.wording import say

_LONGEST_WHY = 220
_SNIPPET = 160  # characters of a result
_AIMS = {
    Aim.JUDGE: "let a reader judge what the post claims, whichever way the evidence points",
    Aim.OTHER_SIDE: "find the best evidence that the claim of the post is right: the case that its author could make",
}


class QueriesAnswer(Answer):
    """See queries.md."""

    queries: list[AskedQuery]


class AskedPick(Answer):
    """A result by its number in the list, and what its page should tell."""

    number: int
    tells: str = ""


class RankingAnswer(Answer):
    """See ranking.md."""

    picks: list[AskedPick] = Field(default_factory=list)
    rest: str = ""


class PickAnswer(Answer):
    """See utility.md. `pick` is a number from the list, or 0 for none."""

    why: str
    pick: int


class ImageAnswer(Answer):
    """See image.md."""

    text: str
    shows: str


def build_queries(asker: Asker, brief: Brief, limit: int, aim: Aim, like: str) -> list[Query]:
    """At most `limit` searches that differ; none when the post has no words."""
    if limit <= 0 or not without_injections(brief.post.whole_text).strip():
        return []
    blocks = brief_blocks(brief)
    purpose = _AIMS[aim]
    if like:
        blocks.append(Block("passage to find more of", like))
        purpose += "; find more pages that treat what the given passage treats"
    also = "" if brief.post.language in (None, "en") else " and, for about half of them, in the language of the post"
    values = {"limit": limit, "aim": purpose, "language": also}
    answer = asker.ask(question(EngineStep.QUERIES, "queries", QueriesAnswer, blocks, values=values)).value
    return list(searches(answer.queries, limit))


def rank(asker: Asker, brief: Brief, candidates: Sequence[Hit], chosen: Sequence[Hit], quota: int, aim: Aim) -> Ranking:
    """The candidates worth reading, best first, in one call."""
    offered = candidates[:MOST_OFFERED]
    if not offered or quota <= 0:
        return Ranking((), say("model.none_left"))

    def check(answer: RankingAnswer) -> None:
        if any(not 1 <= pick.number <= len(offered) for pick in answer.picks):
            raise AnswerUnreadableError(say("answers.not_offered_of", count=len(offered)))

    asked = question(
        EngineStep.UTILITY,
        "ranking",
        RankingAnswer,
        _offer(brief, offered, chosen),
        values={"aim": _AIMS[aim], "quota": quota},
        check=check,
    )
    answer = asker.ask(asked).value
    first = {pick.number: pick for pick in reversed(answer.picks)}
    picks = [
        Pick(number - 1, sanitized(first[number].tells, _LONGEST_WHY) or say("model.speaks"))
        for number in dict.fromkeys(pick.number for pick in answer.picks)
    ]
    rest = sanitized(answer.rest, _LONGEST_WHY) or say("model.no_reason")
    return Ranking(tuple(picks[:quota]), rest)


def rank_one_by_one(
    asker: Asker, brief: Brief, candidates: Sequence[Hit], chosen: Sequence[Hit], quota: int, aim: Aim
) -> Ranking:
    """The same as the paper does it: a call for each pick, which sees what was picked before (CrowdNotes+ 4.2, D.1)."""
    left = list(range(len(candidates)))
    picks: list[Pick] = []
    while left and len(picks) < quota:
        offered = [candidates[index] for index in left]
        had = [*chosen, *(candidates[pick.index] for pick in picks)]

        def check(answer: PickAnswer, most: int = len(offered)) -> None:
            if not 0 <= answer.pick <= most:
                raise AnswerUnreadableError(say("answers.not_offered"))

        blocks = _offer(brief, offered, had)
        asked = question(EngineStep.UTILITY, "utility", PickAnswer, blocks, values={"aim": _AIMS[aim]}, check=check)
        answer = asker.ask(asked).value
        why = sanitized(answer.why, _LONGEST_WHY)
        if answer.pick == 0:
            return Ranking(tuple(picks), why or say("model.no_reason"))
        picks.append(Pick(left.pop(answer.pick - 1), why or say("model.speaks")))
    return Ranking(tuple(picks))


def _offer(brief: Brief, offered: Sequence[Hit], chosen: Sequence[Hit]) -> list[Block]:
    blocks = brief_blocks(brief)
    if chosen:
        blocks.append(Block("results already picked", "\n".join(_line(hit) for hit in chosen)))
    # One block, not fifty: each line is cut and flattened, so none can pass for another number.
    listed = "\n".join(f"{number}. {_line(hit)}" for number, hit in enumerate(offered, 1))
    blocks.append(Block("remaining results", listed, cleared=True))
    return blocks


def _line(hit: Hit) -> str:
    """A result in one line, without what speaks to a model: title, site, day, marks, the start of the snippet."""
    site = host(hit.url) or hit.library or hit.provider
    note = first_shown(hit.notes)
    cited = note.cited if note is not None else ""
    about = ", ".join(str(part) for part in (site, hit.published, hit.category.value, *hit.notices, cited) if part)
    words = f"{without_injections(hit.title)} ({about}): {without_injections(hit.snippet)}"
    return " ".join(words.split())[:_SNIPPET]


_TYPES = {"image/png", "image/jpeg", "image/webp", "image/gif"}
_MOST_BYTES = 8_000_000
_LONGEST_TEXT = 6_000


def read_image(asker: Asker, content: bytes, media_type: str) -> ImageReading:
    """The words in it and what it shows. Raises EngineError for a kind or size that servers do not take."""
    if media_type not in _TYPES or not content:
        raise EngineError(say("model.no_picture"), say("model.type_picture"))
    if len(content) > _MOST_BYTES:
        raise EngineError(say("model.large_picture"), say("model.type_picture"))
    address = f"data:{media_type};base64,{base64.b64encode(content).decode()}"
    blocks = [Block("picture", "The picture is attached.", cleared=True)]
    answer = asker.ask(question(EngineStep.QUERIES, "image", ImageAnswer, blocks, image=address)).value
    return ImageReading(text=visible(answer.text)[:_LONGEST_TEXT].strip(), shows=sanitized(answer.shows, 600))
