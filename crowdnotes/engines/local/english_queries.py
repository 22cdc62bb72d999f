"""Searches in English that are meant to differ: the claim, its denial, the medical terms, the authority, the study.

CrowdNotes+ 4.2 asks for diverse queries because they find different things. Every word of a query is the
post's own, a term from the table of health terms, or a fixed word such as "safety".
"""

from __future__ import annotations

from collections.abc import Sequence

from crowdnotes.domain import Claim, Query
from crowdnotes.engines.local.angles import angle_of, authority_on, is_vaccine, link_in
from crowdnotes.engines.local.common_words import PLAIN_STEMS
from crowdnotes.engines.local.query_words import claim_words, label_of, query, shortened
from crowdnotes.engines.local.topics import Topic, find_topics
from crowdnotes.text.stems import stem, tokens

_CORE = 3  # topics that a post is about; further ones are asides
_HEADING_WORDS = 12
_ROLES = frozenset(map(stem, "doctor doctors physician patient patients hospital nurse health disease".split()))


def to_judge(topics: Sequence[Topic], claims: Sequence[Claim], text: str) -> list[Query]:
    """What a person would search to judge the post, the most telling first."""
    core = _core(topics)
    subject, angle = core[0], angle_of(text)
    medical = " ".join(topic.official for topic in core)
    claim = claim_words(claims, text, subject.text)
    found = [query(claim, "the claim in the post's own words")]
    found.append(query(medical, "the terms that medical sources use, without the post's framing"))
    headings = [heading for topic in core for heading in topic.headings]
    if headings:
        found.append(query(_headings(headings), "what health authorities file it under"))
    known = [topic for topic in core if topic.is_known]
    found.extend(query(f"What is {topic.official}", f"an overview of {label_of(topic.text)}") for topic in known[:2])
    found.append(query(_denial(core, claims, text), f"what speaks against it: {label_of(subject.text)}"))
    named = " ".join(dict.fromkeys((*_vaccine(core)[:1], subject.official)))
    authority = query(f"{named} {angle.words}", f"what authorities say on {angle.label}", before=authority_on(text))
    found.append(authority)
    found.append(query(f"{medical} {angle.study}", "the study behind it"))
    if len(claims) > 1:
        second = claim_words(claims[1:], text, subject.text)
        found.append(query(second, "the second claim in the post's own words"))
    found.extend(
        query(f"{topic.official} {subject.official}", f"what else the post is about: {label_of(topic.text)}")
        for topic in topics[_CORE : _CORE + 3]
    )
    return found


def for_the_claim(topics: Sequence[Topic], claims: Sequence[Claim], text: str) -> list[Query]:
    """What a person would search to see the best that speaks for the claim."""
    core = _core(topics)
    angle = angle_of(text)
    medical = " ".join(topic.official for topic in core)
    return [
        query(claim_words(claims, text, core[0].text), "the claim in the post's own words"),
        query(f"{medical} {angle.support}", "evidence that supports the claim"),
        query(f"{medical} {angle.study}", "studies that found what the post says"),
        query(f"{core[0].official} {angle.support} case reports", "cases that speak for the claim"),
        query(f"{medical} association increased", "figures that speak for the claim"),
    ]


def more_like(subject: str, passage: str) -> list[Query]:
    """What finds more passages of a kind: their terms with the post's subject, and their own words."""
    topics = find_topics(passage)
    own = _apart([topic for topic in topics if topic.is_known] or topics)[:4]
    words = " ".join(topic.official for topic in own)
    return [
        query(f"{subject} {words}", "more of the same kind: the passage's terms and the post's subject"),
        query(shortened(passage), "more of the same kind: the passage's own words"),
        *(
            query(f"{topic.official} {subject}", f"more on {label_of(topic.text)}")
            for topic in own
            if not _stems(topic.official) <= _stems(subject)
        ),
    ]


def _core(topics: Sequence[Topic]) -> list[Topic]:
    """What the post is about: known terms; its other phrases only where no term is known."""
    topics = _apart(topics)
    specific = [topic for topic in topics if (topic.medical or topic.headings) and not topic.is_broad]
    return [*specific, *(topic for topic in topics if topic not in specific)][: max(_CORE, min(len(specific), 4))]


def _headings(headings: Sequence[str]) -> str:
    return " ".join(" ".join(dict.fromkeys(headings)).split()[:_HEADING_WORDS])


def _denial(core: Sequence[Topic], claims: Sequence[Claim], text: str) -> str:
    """How a text on the same things would say the opposite; what it denies is what the post says of them."""
    for sentence in [claim.text for claim in claims[:2]] or [text]:
        link = link_in(sentence)
        if link is None:
            continue
        agent, effect = _thing_in(link.agent_in), _thing_in(link.effect_in)
        if effect is None or (not effect.is_known and not (agent and agent.is_known)):
            effect = core[0]
        if agent and (agent.is_known or " " in agent.text) and _differ(agent, effect):
            return link.opposite(agent.official, effect.official)
    vaccine = _vaccine(core)
    if vaccine:
        others = [topic.official for topic in core if topic.official not in vaccine]
        return f"is {vaccine[0]} safe: myths and facts about {' '.join(others[:1])}"
    return f"{' '.join(topic.official for topic in core[:2])} myths and facts"


def _thing_in(words: str) -> Topic | None:
    """What a few words name, medical things first; None when they name nothing of one's own ("doctors", "able")."""
    topics = [topic for topic in find_topics(words) if not topic.is_broad and not _is_plain(topic)]
    return next(iter(sorted(topics, key=lambda topic: not topic.is_known)), None)


def _is_plain(topic: Topic) -> bool:
    stems = _stems(topic.official)
    return stems <= PLAIN_STEMS or stems <= _ROLES


def _vaccine(core: Sequence[Topic]) -> list[str]:
    """The topics that are vaccines, the one that says most of which first."""
    found = [topic.official for topic in core if is_vaccine(topic.official)]
    return sorted(found, key=lambda name: -name.count(" "))


def _apart(topics: Sequence[Topic]) -> list[Topic]:
    """The topics without those whose name is part of another's, which takes the place of the first of them."""
    kept: list[Topic] = []
    for topic in topics:
        stems = _stems(topic.official)
        if any(stems <= _stems(other.official) for other in kept):
            continue
        parts = [number for number, other in enumerate(kept) if _stems(other.official) < stems]
        place = parts[0] if parts else len(kept)
        kept = [*kept[:place], topic, *(other for other in kept[place:] if not _stems(other.official) < stems)]
    return kept


def _differ(first: Topic, second: Topic) -> bool:
    """Whether neither name holds the other: "prostate" says nothing beside "prostate cancer"."""
    one, other = _stems(first.official), _stems(second.official)
    return not one <= other and not other <= one


def _stems(text: str) -> frozenset[str]:
    return frozenset(token.stem for token in tokens(text))
