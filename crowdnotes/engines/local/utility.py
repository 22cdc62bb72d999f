"""Which search result to read next: relevance, who speaks and how, and what earlier picks already cover.

The utility judgement of CrowdNotes+ 4.2 and D.1, by similarity and rules instead of a language model.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import numpy as np

from crowdnotes.domain import Aim, Hit, Post
from crowdnotes.embedding import Embedder, FloatArray
from crowdnotes.engines.base import Pick
from crowdnotes.engines.local.abroad import known_words
from crowdnotes.engines.local.merits import TOWARDS, Merit, merits_of
from crowdnotes.engines.local.subjects import Subject, subject_of, subjects_of
from crowdnotes.engines.local.topics import Topic, find_topics
from crowdnotes.text.languages import language_of
from crowdnotes.text.stems import content_tokens, plain_post

_JUDGED = 40  # of more candidates, those that the search placed highest are looked at: the rest is noise
_RELEVANT = 0.2  # cosine to the post or a topic of it under which reading the page is a waste of the person's time
_RELEVANCE = 0.3  # the search has weighed relevance already; this is the share of the post's own words
_COVERAGE = 0.1  # for each topic of the post that a result is nearer to than any chosen one
_REPETITION = 0.1
_TOPICS = 4
_TITLE = 200  # characters
_WHOLE = 240  # characters, some 60 tokens
_NAMED = 3  # merits named in a reason


def pick_next(
    embedder: Embedder, post: Post, candidates: Sequence[Hit], chosen: Sequence[Hit], aim: Aim = Aim.JUDGE
) -> Pick:
    """The most useful candidate given what is chosen already, or none when none is relevant.

    With Aim.OTHER_SIDE none is picked that says nothing for the claim, or more against it, however near it is.
    Vectors are asked for in each round: with a `CachedEmbedder` only the first round computes any.
    """
    question = plain_post(post.whole_text)
    if not candidates:
        return Pick(None, "Nothing is left to pick.")
    if not question:
        return Pick(None, "The post has no words to compare results with.")
    judged = max(1, _JUDGED - len(chosen))  # the same ones in each round, less those that were picked
    order = sorted(range(len(candidates)), key=lambda index: -candidates[index].score)[:judged]
    pool = [candidates[index] for index in order]
    topics = find_topics(post.whole_text)[:_TOPICS]
    vectors = embedder.encode([*_asked(question, topics), *(_text(hit) for hit in (*pool, *chosen))])
    targets, hits = vectors[: len(topics) + 1], vectors[len(topics) + 1 :]
    near = np.maximum(0.0, hits @ targets.T)  # to the post, then to each topic
    own, before = near[: len(pool)], near[len(pool) :]
    newest = _newest(post, [*pool, *chosen])
    claims = _claims(post) if aim is Aim.OTHER_SIDE else []
    merits = [merits_of(hit, aim, newest, claims) for hit in pool]
    gains = _gains(own[:, 1:], before[:, 1:])
    utility = (
        np.array([min(1.0, max(0.0, hit.score)) for hit in pool])
        + _RELEVANCE * own[:, 0]
        + _COVERAGE * gains.sum(axis=1)
        - _REPETITION * _repetition(hits, len(pool))
        + np.array([sum(merit.weight for merit in found) for found in merits])
    )
    utility[own.max(axis=1) < _RELEVANT] = -np.inf
    if aim is Aim.OTHER_SIDE:  # what has no word for the claim is not held up as speaking for it
        utility[[TOWARDS not in found for found in merits]] = -np.inf
    best = int(np.argmax(utility))
    if not np.isfinite(utility[best]):
        wanted = "speaks for the post's claim" if aim is Aim.OTHER_SIDE else "is close to the post in meaning"
        return Pick(None, f"None of the results that are left {wanted}.")
    why = _why(pool[best], float(own[best, 0]), topics, gains[best] if chosen else None, merits[best])
    return Pick(order[best], why)


def _claims(post: Post) -> list[Subject]:
    """What a result may speak for; of a post in another language the health words that have an English name."""
    text = plain_post(post.whole_text)
    language = language_of(text) or post.language or ""
    if language in ("", "en"):
        return subjects_of(post) or [subject_of(text)]
    return [subject_of(" ".join(known.english for known in known_words(text, language)))]


def _asked(question: str, topics: Sequence[Topic]) -> list[str]:
    return [question, *(topic.official for topic in topics)]


def _text(hit: Hit) -> str:
    """As a library's search reads a record, so that its vector is known already; of an abstract both ends.

    It says first what was asked and last what was found. All of it would take seconds for forty results.
    """
    words = hit.snippet
    if hit.library is None and len(words) > _WHOLE:
        words = f"{words[: _WHOLE // 2]} … {words[-_WHOLE // 2 :]}"
    return f"{hit.title[:_TITLE]}\n{words}"


def _gains(own: FloatArray, before: FloatArray) -> FloatArray:
    """How much nearer each candidate is to each topic than what is chosen; shape (candidates, topics)."""
    covered = before.max(axis=0) if len(before) else np.zeros(own.shape[1], dtype=np.float32)
    return np.maximum(0.0, own - covered)


def _repetition(hits: FloatArray, candidates: int) -> FloatArray:
    """The similarity of each candidate to the chosen result that is most like it; 0 when nothing is chosen."""
    if candidates == len(hits):
        return np.zeros(candidates, dtype=np.float32)
    similar: FloatArray = np.maximum(0.0, hits[:candidates] @ hits[candidates:].T).max(axis=1)
    return similar


def _newest(post: Post, hits: Sequence[Hit]) -> date | None:
    """The day that age is counted from: the post's, else that of the newest result."""
    if post.posted_at is not None:
        return post.posted_at.date()
    return max((hit.published for hit in hits if hit.published), default=None)


def _why(hit: Hit, relevance: float, topics: Sequence[Topic], gains: FloatArray | None, merits: Sequence[Merit]) -> str:
    stems = {token.stem for token in content_tokens(_text(hit))}
    shared = [
        topic for topic in topics if {token.stem for token in content_tokens(f"{topic.text} {topic.medical}")} & stems
    ]
    told = [f"“{topic.text}”" for topic in shared if topic.is_known] or [f"“{topic.text}”" for topic in shared]
    parts = [f"on {' and '.join(told[:2])}" if told else "close to the post in meaning"]
    parts.append(f"similarity to the post {relevance:.2f}")
    if gains is not None and len(gains) and gains.max() > _RELEVANT:
        parts.append(f"says more on “{topics[int(gains.argmax())].text}” than what is chosen")
    elif gains is None:
        parts.append("the strongest result")
    named = sorted(merits, key=lambda merit: -abs(merit.weight))[:_NAMED]
    parts += [merit.words if merit.weight > 0 else f"although: {merit.words}" for merit in named]
    return "; ".join(parts)
