"""What can be counted of a post, and of how a note answers it, each with a name."""

from __future__ import annotations

import html
import math
import re

from crowdnotes.engines.local.polarity import negations, polarity_differences
from crowdnotes.text.note_rules import find_urls, without_urls
from crowdnotes.text.stems import content_tokens, plain_post

_MOST = 10.0
_NAME = re.compile(r"\b[A-Z][a-z]+")
_NUMBER = re.compile(r"\d[\d,.]*")
_CAPITALS = re.compile(r"\b[A-Z]{3,}\b")
_SLUG = re.compile(r"[a-z]{4,}")
_OWN = re.compile(r"\b(?:i|my|we|our)\b", re.IGNORECASE)
_VACCINES = re.compile(r"\bvaccin|\bvax|\bcovid|\bmrna|\bpfizer", re.IGNORECASE)
_BREAKING = re.compile(r"\bbreaking\b|\bjust in\b", re.IGNORECASE)


def pair_features(post_text: str, note: str) -> dict[str, float]:
    """Each feature by name; the keys are the same for every pair."""
    post = plain_post(post_text)
    text = html.unescape(note)
    words = without_urls(text)
    in_post = {token.stem for token in content_tokens(post)}
    in_note = {token.stem for token in content_tokens(words)}
    shared = len(in_post & in_note)
    folded_post = {token.folded for token in content_tokens(post)}
    folded_note = {token.folded for token in content_tokens(words)}
    slugs = [set(_SLUG.findall(url.url.lower())) for url in find_urls(text) if url.has_scheme]
    return {
        "share of the note in the post": shared / max(1, len(in_note)),
        "share of the post in the note": shared / max(1, len(in_post)),
        "words shared": shared / math.sqrt(max(1, len(in_post) * len(in_note))),
        "link names the post's subject": min(_MOST, max((len(slug & folded_post) for slug in slugs), default=0)),
        "link names the note's subject": min(_MOST, max((len(slug & folded_note) for slug in slugs), default=0)),
        "names shared": min(_MOST, len(set(_NAME.findall(words)) & set(_NAME.findall(post)))),
        "new names": min(_MOST, len(set(_NAME.findall(words)) - set(_NAME.findall(post)))),
        "numbers shared": min(_MOST, len(set(_NUMBER.findall(words)) & set(_NUMBER.findall(post)))),
        "new numbers": min(_MOST, len(set(_NUMBER.findall(words)) - set(_NUMBER.findall(post)))),
        "says otherwise": min(_MOST, len(polarity_differences(words[:1_000], post[:1_000], post[:1_000]))),
        "denies more": max(-_MOST, min(_MOST, len(negations(words)) - len(negations(post)))),
        **_post_features(post_text, post),
    }


def _post_features(post_text: str, post: str) -> dict[str, float]:
    return {
        "post: log characters": math.log1p(len(post)),
        "post: link": float("http" in post_text),
        "post: question": float("?" in post),
        "post: exclamation": float("!" in post),
        "post: capitals": min(_MOST, len(_CAPITALS.findall(post))),
        "post: speaks of itself": float(bool(_OWN.search(post))),
        "post: number": float(bool(_NUMBER.search(post))),
        "post: breaking": float(bool(_BREAKING.search(post))),
        "post: denials": min(_MOST, len(negations(post))),
        "post: vaccines": float(bool(_VACCINES.search(post))),
    }
