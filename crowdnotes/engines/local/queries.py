"""Searches that are meant to differ: the claim, its denial, the medical terms, the authority, the study.

CrowdNotes+ 4.2 asks for diverse queries because they find different things. Every word of a query is the
post's own, a term from the table of health terms, or a fixed word such as "safety".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from crowdnotes.domain import Aim, Claim, Post, Query
from crowdnotes.engines.local.abroad import denial_words, in_english, language_of_post
from crowdnotes.engines.local.angles import angle_of, authority_on, denial_of
from crowdnotes.engines.local.claims import has_pronoun_subject
from crowdnotes.engines.local.topics import Topic, find_topics
from crowdnotes.engines.local.words import content_tokens, is_content, plain_post, tokens

_LONGEST_QUERY = 160
_LONGEST_LABEL = 60
_CLAIM_WORDS = 14
_CORE = 3  # topics that a post is about; further ones are asides
_HEADING_WORDS = 12
_OPENING = re.compile(
    r"^(?:(?:breaking|urgent|new|just in|news|thread|reminder|fact|fun fact|psa|icymi|update|wow|lol|omg|rt|via|so|and|"
    r"but|oh|well|hey|look|listen|folks|guys)\b[\s:!,.–—-]*)+",
    re.IGNORECASE,
)


def build_queries(
    post: Post, claims: Sequence[Claim], limit: int, *, aim: Aim = Aim.JUDGE, like: str = ""
) -> list[Query]:
    """At most `limit` queries, each with the purpose that sets it apart; empty when nothing can be searched.

    With Aim.OTHER_SIDE they look for what speaks for the claim; with `like`, for more passages of its kind.
    """
    topics = find_topics(post.whole_text)
    if not topics or limit <= 0:
        return []
    language = language_of_post(post.whole_text)
    if like:
        found = _more_like(topics, like)
    elif aim is Aim.OTHER_SIDE:
        found = _for_the_claim(topics, claims, post.whole_text)
    elif language is not None:
        found = _from_abroad(topics, claims, post.whole_text, language)
    else:
        found = _to_judge(topics, claims, post.whole_text)
    return _distinct(found)[:limit]


def _to_judge(topics: Sequence[Topic], claims: Sequence[Claim], text: str) -> list[Query]:
    core = _core(topics)
    subject, angle = core[0], angle_of(text)
    medical = " ".join(topic.official for topic in core)
    found = [_query(_claim(claims, text, subject), "the claim in the post's own words")]
    found.append(_query(medical, "the terms that medical sources use, without the post's framing"))
    headings = [heading for topic in core for heading in topic.headings]
    if headings:
        found.append(_query(_headings(headings), "what health authorities file it under"))
    found.extend(_query(f"What is {topic.official}", f"an overview of {_label(topic)}") for topic in core[:2])
    found.append(_query(_denial(core, text), f"what speaks against it: {_label(subject)}"))
    found.append(
        _query(f"{authority_on(text)} {subject.official} {angle.words}", f"what authorities say on {angle.label}")
    )
    found.append(_query(f"{medical} {angle.study}", "the study behind it"))
    if len(claims) > 1:
        found.append(_query(_claim(claims[1:], text, subject), "the second claim in the post's own words"))
    found.extend(
        _query(f"{topic.official} {subject.official}", f"what else the post is about: {_label(topic)}")
        for topic in topics[_CORE : _CORE + 3]
    )
    return found


def _from_abroad(topics: Sequence[Topic], claims: Sequence[Claim], text: str, language: str) -> list[Query]:
    """The claim in the post's language, and what a table can say of it in English."""
    claim = _claim(claims, text, topics[0])
    own = [Query(text=_clip(claim), purpose="the claim in the post's own language", language=language)]
    english = in_english(text, language)
    denied = f"{' '.join(topic.text for topic in topics[:2])} {denial_words(language)}"
    denial = Query(text=_clip(denied), purpose="what speaks against it, in the post's language", language=language)
    if not english:
        return [*own, denial]
    translated = find_topics(" ".join(english))
    purpose = "in English, word by word from a table: "
    return [
        *own,
        *(
            query.model_copy(update={"purpose": f"{purpose}{query.purpose}"})
            for query in _to_judge(translated, [], " ".join(english))[1:6]
        ),
        denial,
    ]


def _for_the_claim(topics: Sequence[Topic], claims: Sequence[Claim], text: str) -> list[Query]:
    core = _core(topics)
    angle = angle_of(text)
    medical = " ".join(topic.official for topic in core)
    return [
        _query(_claim(claims, text, core[0]), "the claim in the post's own words"),
        _query(f"{medical} {angle.support}", "evidence that supports the claim"),
        _query(f"{medical} {angle.study}", "studies that found what the post says"),
        _query(f"{core[0].official} {angle.support} case reports", "cases that speak for the claim"),
        _query(f"{medical} association increased", "figures that speak for the claim"),
    ]


def _more_like(topics: Sequence[Topic], like: str) -> list[Query]:
    subject = topics[0]
    own = find_topics(like)[:4]
    words = " ".join(topic.official for topic in own)
    return [
        _query(f"{subject.official} {words}", "more of the same kind: the passage's terms and the post's subject"),
        _query(_shortened(like), "more of the same kind: the passage's own words"),
        *(_query(f"{topic.official} {subject.official}", f"more on {_label(topic)}") for topic in own),
    ]


def _core(topics: Sequence[Topic]) -> list[Topic]:
    """What the post is about: known terms; its other phrases only where no term is known."""
    specific = [topic for topic in topics if (topic.medical or topic.headings) and not topic.is_broad]
    return [*specific, *(topic for topic in topics if topic not in specific)][: max(_CORE, min(len(specific), 4))]


def _claim(claims: Sequence[Claim], text: str, subject: Topic) -> str:
    """The first claim's words; one about "it" or "they" gets the subject put before it."""
    claim = _OPENING.sub("", plain_post(claims[0].text if claims else text))
    pronoun = has_pronoun_subject(claim) and subject.text.casefold() not in claim.casefold()
    return _shortened(f"{subject.text} {claim}" if pronoun else claim)


def _shortened(text: str) -> str:
    """A text as a search: its words up to the 14th content word, without the marks."""
    kept = []
    count = 0
    for token in tokens(plain_post(text)):
        count += is_content(token.folded)
        if count > _CLAIM_WORDS:
            break
        kept.append(token.text)
    return " ".join(kept)


def _headings(headings: Sequence[str]) -> str:
    return " ".join(" ".join(dict.fromkeys(headings)).split()[:_HEADING_WORDS])


def _denial(core: Sequence[Topic], text: str) -> str:
    first, second = core[0].official, core[1].official if len(core) > 1 else ""
    return denial_of(text, first, second)


def _query(text: str, purpose: str) -> Query:
    return Query(text=_clip(_once(text)), purpose=purpose, language="en")


def _once(text: str) -> str:
    """Each word once: terms and headings share words."""
    words = text.split()
    folded = [word.casefold() for word in words]
    return " ".join(word for index, word in enumerate(words) if folded[index] not in folded[:index])


def _label(topic: Topic) -> str:
    return topic.text if len(topic.text) <= _LONGEST_LABEL else f"{topic.text[:_LONGEST_LABEL]}…"


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
