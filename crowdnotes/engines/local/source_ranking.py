"""Chooses the search result to read next: by relevance, publisher and style, and what earlier picks cover.

The utility judgement of CrowdNotes+ 4.2 and D.1, by similarity and rules instead of a language model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from crowdnotes.domain import Aim, Hit, Post, SourceCategory
from crowdnotes.engines.base import Pick, Ranking
from crowdnotes.engines.embedding import Embedder, FloatArray
from crowdnotes.engines.local.health_terms import Topic, find_topics, known_words
from crowdnotes.engines.local.queries import find_claims
from crowdnotes.engines.local.tone import reading
from crowdnotes.text.languages import language_of
from crowdnotes.text.note_rules import without_urls
from crowdnotes.text.plain_letters import plain_letters
from crowdnotes.text.sentences import split_units
from crowdnotes.text.tokens import content_stems, plain_post


@dataclass(frozen=True, slots=True)
class RankingReason:
    """A reason in plain words and its weight; below 0 it speaks against."""

    words: str
    weight: float


# Bodies that are accountable for what they say come first; a post cannot vouch for a post.
_REASON_BY_CATEGORY = {
    SourceCategory.HEALTH_AUTHORITY: RankingReason("from a health authority", 0.06),
    SourceCategory.RESEARCH: RankingReason("research literature", 0.05),
    SourceCategory.HEALTH_PORTAL: RankingReason("from a health portal", 0.03),
    SourceCategory.NEWS: RankingReason("from news media", 0.01),
    SourceCategory.COMMERCIAL_ADVOCACY_NGO: RankingReason("its publisher has an interest in it", -0.03),
    SourceCategory.SOCIAL: RankingReason("only social media", -0.15),
}
_REASON_BY_NOTICE = {
    "retracted": RankingReason("it was retracted", -0.6),
    "withdrawn": RankingReason("it was withdrawn", -0.6),
    "a retraction notice": RankingReason("a retraction notice", -0.1),
    "expression of concern": RankingReason("its journal doubts it", -0.2),
    "preprint": RankingReason("a preprint, not reviewed", -0.05),
}
_PRESS_RELEASE = re.compile(
    r"eurekalert|prnewswire|businesswire|globenewswire|newswise|press[-_ ]?releases?|news[-_ ]?releases?|newsroom",
    re.IGNORECASE,
)
_OPINION_TITLE = re.compile(r"\b(?:opinion|editorial|op-ed|letter to the editor)\b", re.IGNORECASE)
_DENYING_PHRASE = re.compile(
    r"\b(?:no (?:link|evidence|association|proof)|(?:does|do|did|is|are|was|were|has|have|can)(?: not|n['’]t|not)\b"
    r"|not (?:cause|associated|linked|effective|recommended)|myth|false|debunk\w*|misinformation|unproven)",
    re.IGNORECASE,
)
_SUPPORTING_PHRASE = re.compile(
    r"\b(?:associated with|linked to|increased? (?:the )?risk|may (?:cause|lead|help|reduce)|can (?:cause|lead|help)"
    r"|effective|benefit\w*|improved?|suggests? that|found that|reported)\b",
    re.IGNORECASE,
)
AGAINST = RankingReason("it speaks against the claim", -0.2)
TOWARDS = RankingReason("it may support the claim", 0.15)
_MIN_CLAIM_SHARE = 0.6  # of a claim's topic words, in a sentence that supports it
_HARD_READING_EASE = 15.0  # Flesch reading ease at which most readers give up
_EASY_READING_EASE = 50.0
_MIN_SNIPPET_WORDS = 15
_RECENT_YEARS = 4
_LOWER_RANK_YEARS = 12  # older hits rank lower; see `OLD_YEARS` for a source that was read


def ranking_reasons(hit: Hit, aim: Aim, newest: date | None, claims: Sequence[str] = ()) -> list[RankingReason]:
    """Return all reasons that hold for a hit.

    `newest` is the day that its age is counted from; None ignores age. With Aim.OTHER_SIDE a hit also counts by whether
    it supports one of `claims`.
    """
    found = [_REASON_BY_CATEGORY.get(hit.category), *(_REASON_BY_NOTICE.get(notice) for notice in hit.notices)]
    found += [_rate_origin(hit), _rate_reading_ease(hit), _rate_age(hit, newest)]
    if aim is Aim.OTHER_SIDE:
        found.append(_rate_side(hit, claims))
    return [reason for reason in found if reason is not None]


def _rate_origin(hit: Hit) -> RankingReason | None:
    if _PRESS_RELEASE.search(f"{hit.url or ''} {hit.title}"):
        return RankingReason("only a press release", -0.06)
    if _OPINION_TITLE.search(hit.title):
        return RankingReason("an opinion piece", -0.04)
    if hit.category is SourceCategory.RESEARCH and (hit.doi or hit.pmid):
        return RankingReason("the paper itself", 0.03)
    return None


def _rate_reading_ease(hit: Hit) -> RankingReason | None:
    read = reading(hit.snippet)
    if read.ease is None or read.words < _MIN_SNIPPET_WORDS:
        return None
    if read.ease < _HARD_READING_EASE:
        return RankingReason("hard to read", -0.03)
    return RankingReason("easy to read", 0.02) if read.ease >= _EASY_READING_EASE else None


def _rate_age(hit: Hit, newest: date | None) -> RankingReason | None:
    if newest is None or hit.published is None:
        return None
    years = (newest - hit.published).days / 365.25
    if years > _LOWER_RANK_YEARS:
        return RankingReason(f"old, of {hit.published.year}", -0.03)
    return RankingReason(f"recent, of {hit.published.year}", 0.02) if years <= _RECENT_YEARS else None


def _rate_side(hit: Hit, claims: Sequence[str]) -> RankingReason | None:
    """Rate whether a hit supports a claim or speaks against it, by cue words near the words of the claim."""
    text = f"{hit.title} {hit.snippet}"
    against, towards = len(_DENYING_PHRASE.findall(text)), len(_SUPPORTING_PHRASE.findall(text))
    if against > towards:
        return AGAINST
    of_title = content_stems(hit.title)
    said = [of_title | unit.stems for unit in split_units(text) if _SUPPORTING_PHRASE.search(unit.text)]
    wanted = [
        content_stems(" ".join(topic.text for topic in find_topics(claim))) or content_stems(claim) for claim in claims
    ]
    speaks = any(
        len(stems & of_claim) >= _MIN_CLAIM_SHARE * len(of_claim) for of_claim in wanted if of_claim for stems in said
    )
    return TOWARDS if towards > against and speaks else None


_MAX_RANKED_HITS = 40  # those that the search ranked highest: the rest is noise
_RELEVANCE_WEIGHT = 0.3  # of similarity to the post, on top of the score that the search gave
_FAIR_MATCH, _STRONG_MATCH = 0.4, 0.6  # similarity to the post from which a result is called so
_MIN_NAMED_GAIN = 0.2  # in similarity to a topic, to be named
_COVERAGE_WEIGHT = 0.1  # for each topic to which a result is nearer than any chosen one
_REPETITION_PENALTY = 0.1
_MAX_TOPICS = 4
_MAX_TITLE_CHARACTERS = 200
_MAX_SNIPPET_CHARACTERS = 240  # some 60 tokens
_MAX_NAMED_REASONS = 3


def rank(
    embedder: Embedder, post: Post, candidates: Sequence[Hit], chosen: Sequence[Hit], quota: int, aim: Aim = Aim.JUDGE
) -> Ranking:
    """Return at most `quota` candidates, each the most useful given `chosen` and those before; and why no more follow.

    With Aim.OTHER_SIDE it skips hits that do not support the claim, or rather contradict it, however near they are. A
    hit under `thresholds.related` to the post and its topics would waste the person's time.
    """
    question = plain_post(post.whole_text)
    if not candidates:
        return Ranking((), "Nothing is left to pick.")
    if not question:
        return Ranking((), "The post has no text to compare results with.")
    most = max(1, _MAX_RANKED_HITS - len(chosen))
    order = sorted(range(len(candidates)), key=lambda index: -candidates[index].score)[:most]
    pool = [candidates[index] for index in order]
    topics = find_topics(post.whole_text)[:_MAX_TOPICS]
    asked = [question, *(topic.official for topic in topics)]
    vectors = embedder.encode([*asked, *(_join_hit_text(hit) for hit in (*pool, *chosen))])
    hits = vectors[len(asked) :]
    near = np.maximum(0.0, hits @ vectors[: len(asked)].T)  # to the post, then to each topic
    alike = np.maximum(0.0, hits @ hits.T)
    newest = _find_reference_day(post, [*pool, *chosen])
    claims = _list_claim_texts(post) if aim is Aim.OTHER_SIDE else []
    reasons = [ranking_reasons(hit, aim, newest, claims) for hit in pool]
    by_itself = (
        np.array([min(1.0, max(0.0, hit.score)) for hit in pool])
        + _RELEVANCE_WEIGHT * near[: len(pool), 0]
        + np.array([sum(reason.weight for reason in found) for found in reasons])
    )
    by_itself[near[: len(pool)].max(axis=1) < embedder.thresholds.related] = -np.inf
    if aim is Aim.OTHER_SIDE:  # without a supporting word it is not shown as support
        by_itself[[TOWARDS not in found for found in reasons]] = -np.inf
    had = list(range(len(pool), len(hits)))
    picks: list[Pick] = []
    while len(picks) < quota and np.isfinite(by_itself).any():
        gains = np.maximum(0.0, near[: len(pool), 1:] - near[had, 1:].max(axis=0, initial=0.0))
        repetition = alike[: len(pool), had].max(axis=1, initial=0.0)
        best = int(np.argmax(by_itself + _COVERAGE_WEIGHT * gains.sum(axis=1) - _REPETITION_PENALTY * repetition))
        why = _explain_pick(pool[best], float(near[best, 0]), topics, gains[best] if had else None, reasons[best])
        picks.append(Pick(order[best], why))
        had.append(best)
        by_itself[best] = -np.inf
    if len(picks) == quota:
        return Ranking(tuple(picks))
    if len(picks) == len(candidates):
        return Ranking(tuple(picks), "Nothing is left to pick.")
    return Ranking(
        tuple(picks),
        "No other result supports the claim." if aim is Aim.OTHER_SIDE else "No other result is close to the post.",
    )


def _list_claim_texts(post: Post) -> list[str]:
    """Return the claims of a post; of a post in another language its health words in English."""
    text = plain_post(post.whole_text)
    language = language_of(text) or post.language or ""
    if language in ("", "en"):
        return [plain_letters(claim.text) for claim in find_claims(post)] or [text]
    return [" ".join(known.english for known in known_words(text, language))]


def _join_hit_text(hit: Hit) -> str:
    """Return the text of a hit as a library's search reads a record, so that its vector is cached.

    Of an abstract it takes both ends, which hold the question and the result; all of it would take seconds for forty
    hits. A page that an earlier note links to is as near as that note; these words go into no prompt.
    """
    if hit.notes and not hit.snippet:
        return without_urls(hit.notes[0].text)
    words = hit.snippet
    if hit.library is None and len(words) > _MAX_SNIPPET_CHARACTERS:
        words = f"{words[: _MAX_SNIPPET_CHARACTERS // 2]} … {words[-_MAX_SNIPPET_CHARACTERS // 2 :]}"
    return f"{hit.title[:_MAX_TITLE_CHARACTERS]}\n{words}"


def _find_reference_day(post: Post, hits: Sequence[Hit]) -> date | None:
    """Return the day that age is counted from: the post's, else that of the newest result."""
    if post.posted_at is not None:
        return post.posted_at.date()
    return max((hit.published for hit in hits if hit.published), default=None)


def _explain_pick(
    hit: Hit, relevance: float, topics: Sequence[Topic], gains: FloatArray | None, reasons: Sequence[RankingReason]
) -> str:
    stems = content_stems(_join_hit_text(hit))
    shared = [topic for topic in topics if content_stems(f"{topic.text} {topic.medical}") & stems]
    shared = [topic for topic in shared if topic.is_known] or shared
    named = [f"“{topic.text if content_stems(topic.text) & stems else topic.medical}”" for topic in shared]
    parts = [f"on {' and '.join(named[:2])}" if named else "similar wording"]
    match = "strong" if relevance >= _STRONG_MATCH else "fair" if relevance >= _FAIR_MATCH else "weak"
    parts.append(f"{match} match ({relevance:.2f})")
    if gains is not None and len(gains) and gains.max() > _MIN_NAMED_GAIN:
        parts.append(f"says more about “{topics[int(gains.argmax())].text}”")
    elif gains is None:
        parts.append("the best match")
    strongest = sorted(reasons, key=lambda reason: -abs(reason.weight))[:_MAX_NAMED_REASONS]
    parts += [reason.words if reason.weight > 0 else f"although: {reason.words}" for reason in strongest]
    return "; ".join(parts)
