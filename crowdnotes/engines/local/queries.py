"""Searches that differ: the claim, its terms alone, the medical terms, and authority wordings.

CrowdNotes+ 4.2 asks for diverse queries because they find different things. Every word of a query
is the post's own, a medical synonym of it, or a fixed word such as "safety".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from crowdnotes.domain import Claim, Post, Query
from crowdnotes.engines.local.keyphrases import KeyPhrase, key_phrases
from crowdnotes.engines.local.vocabulary import LAY_TO_MEDICAL
from crowdnotes.engines.local.words import content_tokens, is_content, plain_post, tokens

_LONGEST_QUERY = 160
_LONGEST_LABEL = 60
_CLAIM_WORDS = 14
_LAY = re.compile(
    r"(?<![\w-])(?:" + "|".join(sorted(map(re.escape, LAY_TO_MEDICAL), key=len, reverse=True)) + r")(?![\w-])"
)
# What the claim is about decides which authority wording is likely to meet a page's own.
_ANGLES: tuple[tuple[str, str, str], ...] = (
    (r"\b(vaccin\w*|vax\w*|jab\w*|shot|shots|safe\w*|toxic\w*|poison\w*|danger\w*)\b", "safety side effects", "safety"),
    (r"\b(cur\w+|treat\w*|heal\w*|remed\w*|protocol|detox\w*|revers\w+)\b", "treatment evidence", "treatment"),
    (r"\b(caus\w+|link\w*|lead\w*|trigger\w*|risk\w*|carcinogen\w*)\b", "causes risk factors", "causes"),
    (r"\b(prevent\w*|protect\w*|immun\w*|boost\w*)\b", "prevention", "prevention"),
    (r"\b(spread\w*|contag\w*|transmi\w+|outbreak|infect\w*)\b", "transmission", "how it spreads"),
    (r"\d\s*%|\b(rate\w*|deaths?|died|million|thousand|cases)\b", "statistics", "figures"),
)


def build_queries(post: Post, claims: Sequence[Claim], limit: int) -> list[Query]:
    """At most `limit` queries, each with the purpose that sets it apart; empty when nothing can be searched."""
    phrases = key_phrases(post.text)
    if not phrases or limit <= 0:
        return []
    subject = phrases[0]
    found: list[Query] = []
    if claims:
        found.append(Query(text=_shortened(claims[0].text), purpose="the claim in the post's own words"))
    terms = _once(" ".join(phrase.text for phrase in phrases[:3]))
    found.append(Query(text=_clip(terms), purpose="the key terms alone, without the post's framing"))
    medical = _medical(phrases[:3])
    if medical:
        found.append(Query(text=_clip(medical), purpose="the terms that medical sources use"))
    found.extend(_angles(post.text, subject, phrases))
    if len(claims) > 1:
        found.append(Query(text=_shortened(claims[1].text), purpose="the second claim in the post's own words"))
    found.extend(
        Query(
            text=_clip(_once(f"{phrase.text} {subject.text}")), purpose=f"what else the post is about: {_label(phrase)}"
        )
        for phrase in phrases[3:6]
    )
    return _distinct(found)[:limit]


def _shortened(claim: str) -> str:
    """The claim as a search: its words up to the 14th content word, without the marks."""
    plain = plain_post(claim)
    kept = []
    count = 0
    for token in tokens(plain):
        count += is_content(token.folded)
        if count > _CLAIM_WORDS:
            break
        kept.append(token.text)
    return _clip(" ".join(kept))


def _medical(phrases: Sequence[KeyPhrase]) -> str:
    """The phrases with lay words replaced; empty when no word has a medical term."""
    plain = " ".join(phrase.folded for phrase in phrases)
    text = _LAY.sub(lambda match: LAY_TO_MEDICAL[match.group()], plain)
    if text == plain:
        return ""
    return _once(text)


def _once(text: str) -> str:
    """Each word once: phrases of a post share words."""
    words = text.split()
    folded = [word.casefold() for word in words]
    return " ".join(word for index, word in enumerate(words) if folded[index] not in folded[:index])


def _angles(post_text: str, subject: KeyPhrase, phrases: Sequence[KeyPhrase]) -> list[Query]:
    text = plain_post(post_text).lower()
    about = LAY_TO_MEDICAL.get(subject.folded, subject.text)
    companion = next((phrase.text for phrase in phrases[1:2]), "")
    found = [
        Query(text=_clip(f"{about} {words}"), purpose=f"what authorities say about {label}: {_label(subject)}")
        for pattern, words, label in _ANGLES
        if re.search(pattern, text)
    ][:2]
    overview = f"{about} {companion}".strip()
    found.append(
        Query(text=_clip(f"what is known about {_once(overview)}"), purpose=f"an overview of {_label(subject)}")
    )
    return found


def _label(phrase: KeyPhrase) -> str:
    return phrase.text if len(phrase.text) <= _LONGEST_LABEL else f"{phrase.text[:_LONGEST_LABEL]}…"


def _clip(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip()
    return text if len(text) <= _LONGEST_QUERY else (text[:_LONGEST_QUERY].rsplit(" ", 1)[0] or text[:_LONGEST_QUERY])


def _distinct(queries: list[Query]) -> list[Query]:
    seen: set[frozenset[str]] = set()
    kept = []
    for query in queries:
        key = frozenset(token.stem for token in content_tokens(query.text)) or frozenset([query.text])
        if query.text and key not in seen:
            seen.add(key)
            kept.append(query)
    return kept
