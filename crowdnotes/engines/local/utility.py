"""Which search result to read next: relevance, a slight leaning to public bodies, and diversity.

The utility judgement of CrowdNotes+ 4.2 and D.1, by similarity instead of a language model.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

import numpy as np

from crowdnotes.domain import Hit, Post
from crowdnotes.embedding import Embedder
from crowdnotes.engines.base import Pick
from crowdnotes.engines.local.keyphrases import key_phrases
from crowdnotes.engines.local.words import content_tokens, plain_post

_RELEVANT = 0.2  # cosine of a result and the post under which reading the page is a waste of the person's time
_DIVERSITY = 0.25
_RANK = 0.05
_AUTHORITY = 0.04  # breaks ties only: a page of a public body that is off topic must not win
_SUFFIXES = (".gov", ".int", ".edu", ".gov.uk", ".nhs.uk", ".ac.uk", ".gov.au", ".gc.ca", ".europa.eu")


def pick_next(embedder: Embedder, post: Post, candidates: Sequence[Hit], chosen: Sequence[Hit]) -> Pick | None:
    """The most useful candidate given what is chosen already; None when none is relevant."""
    question = plain_post(post.text)
    if not candidates or not question:
        return None
    texts = [_text(hit) for hit in (*candidates, *chosen)]
    vectors = embedder.encode([question, *texts])
    relevance = vectors[1:] @ vectors[0]
    own = relevance[: len(candidates)]
    similar = np.zeros(len(candidates), dtype=np.float32)
    if chosen:
        similar = (vectors[1 : len(candidates) + 1] @ vectors[len(candidates) + 1 :].T).max(axis=1)
    ranks = np.array([min(1.0, max(0.0, hit.score)) for hit in candidates], dtype=np.float32)
    prior = np.array([_AUTHORITY if _is_public_body(hit.url) else 0.0 for hit in candidates], dtype=np.float32)
    utility = own + _RANK * ranks + prior - _DIVERSITY * np.maximum(0.0, similar)
    utility[own < _RELEVANT] = -np.inf
    best = int(np.argmax(utility))
    if not np.isfinite(utility[best]):
        return None
    return Pick(best, _why(post, candidates[best], float(own[best]), chosen))


def _text(hit: Hit) -> str:
    return f"{hit.title}. {hit.snippet}"


def _host(url: str | None) -> str:
    try:
        return (urlsplit(url or "").hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def _is_public_body(url: str | None) -> bool:
    return _host(url).endswith(_SUFFIXES)


def _why(post: Post, hit: Hit, relevance: float, chosen: Sequence[Hit]) -> str:
    stems = {token.stem for token in content_tokens(_text(hit))}
    shared = [
        phrase.text
        for phrase in key_phrases(post.text)
        if {token.stem for token in content_tokens(phrase.text)} & stems
    ]
    parts = [f"on {', '.join(shared[:2])}" if shared else "close to the post in meaning"]
    parts.append(f"similarity to the post {relevance:.2f}")
    if _is_public_body(hit.url):
        parts.append("a public body or university")
    if chosen and _host(hit.url) and _host(hit.url) not in {_host(other.url) for other in chosen}:
        parts.append("a publisher not chosen yet")
    elif not chosen:
        parts.append("the strongest result")
    return "; ".join(parts)
