"""A post's searches, meant to differ: the claim, its denial, the medical terms, the authority, the study.

CrowdNotes+ 4.2 asks for diverse queries because they find different things. Every word of a query is the post's own, a
term from the table of health terms, or a fixed word such as "safety". A post in another language is searched half in
that, half in English: its authorities and fact-checkers write in its language, and most research is in English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, zip_longest

from crowdnotes.domain import Aim, Claim, Post, Query
from crowdnotes.engines.local.claims import has_pronoun_subject
from crowdnotes.engines.local.foreign_terms import Known, known_words, search_words
from crowdnotes.engines.local.lexicon import PLAIN_STEMS
from crowdnotes.engines.local.tone import negations
from crowdnotes.engines.local.topics import Topic, angle_of, authority_on, find_topics, is_vaccine, link_in
from crowdnotes.text.languages import language_of
from crowdnotes.text.stems import content_tokens, is_content, plain_post, stem, tokens

_LONGEST_QUERY = 160
_LONGEST_LABEL = 60
_CLAIM_WORDS = 14
_OPENING = re.compile(
    r"^(?:(?:breaking|urgent|new|just in|news|thread|reminder|fact|fun fact|psa|icymi|update|wow|lol|omg|rt|via|so|and|"
    r"but|oh|well|hey|look|listen|folks|guys)\b[\s:!,.–—-]*)+",
    re.IGNORECASE,
)


def query(text: str, purpose: str, language: str | None = "en", *, before: str = "") -> Query:
    """A query of at most 160 characters, with each word once: terms and headings share words.

    `before` is a name that stays whole and stands first ("National Cancer Institute").
    """
    words = text.split()
    folded = [word.casefold() for word in words]
    once = " ".join(word for index, word in enumerate(words) if folded[index] not in folded[:index])
    return Query(text=clip(f"{before} {once}"), purpose=purpose, language=language)


def claim_words(claims: Sequence[Claim], text: str, subject: str) -> str:
    """The first claim's words, or the text's; one about "it" or "they" gets the subject put before it."""
    claim = _OPENING.sub("", plain_post(claims[0].text if claims else text))
    pronoun = has_pronoun_subject(claim) and subject.casefold() not in claim.casefold()
    return shortened(f"{subject} {claim}" if pronoun else claim)


def shortened(text: str) -> str:
    """A text as a search: its words up to the 14th content word, without the marks."""
    kept = []
    count = 0
    for token in tokens(plain_post(text)):
        count += is_content(token.folded)
        if count > _CLAIM_WORDS:
            break
        kept.append(token.text)
    return " ".join(kept)


def clip(text: str) -> str:
    """At most 160 characters, cut between words where there are any."""
    text = re.sub(r"\s+", " ", text).strip()
    return text if len(text) <= _LONGEST_QUERY else (text[:_LONGEST_QUERY].rsplit(" ", 1)[0] or text[:_LONGEST_QUERY])


def label_of(text: str) -> str:
    """A topic's words, short enough to be told in a purpose."""
    return text if len(text) <= _LONGEST_LABEL else f"{text[:_LONGEST_LABEL]}…"


def distinct(queries: Sequence[Query]) -> list[Query]:
    """The queries without those that hold the same content words as an earlier one, and deny as it does."""
    seen: set[tuple[bool, frozenset[str]]] = set()
    kept = []
    for one in queries:
        words = frozenset(token.stem for token in content_tokens(one.text)) or frozenset([one.text])
        key = bool(negations(one.text)), words
        if one.text and key not in seen:
            seen.add(key)
            kept.append(one)
    return kept


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


_SUBJECTS = 3
_TRANSLATED = "in English, word by word from a table: "


def in_two_languages(text: str, claims: Sequence[Claim], language: str, aim: Aim, like: str) -> list[Query]:
    """Queries for a post's whole text, which has words; the claim in its own words first."""
    known = known_words(text, language)
    own = _own(text, known)
    if like:
        return _alike(own, known, language, like)
    claim = query(claim_words(claims, text, own), "the claim in the post's own language", language)
    if aim is Aim.OTHER_SIDE:
        kinds = {"support": "what speaks for it, in the post's language"}
    else:
        kinds = {
            "denial": "what speaks against it, in the post's language",
            "check": "fact-checks in the post's language",
        }
    said = {purpose: search_words(kind, language) for kind, purpose in kinds.items()}
    asked = [query(f"{own} {words}", purpose, language) for purpose, words in said.items() if words]
    english = _in_english(known, aim)
    return [claim, *english[:2], *_by_turns(asked, english[2:])]


def _own(text: str, known: Sequence[Known]) -> str:
    """What the post is about in its own words: those of the table, else its strongest phrases."""
    subjects = list(dict.fromkeys(word.text for word in known if word.is_subject))
    return " ".join(subjects[:_SUBJECTS] or [topic.text for topic in find_topics(text)[:2]])


def _in_english(known: Sequence[Known], aim: Aim) -> list[Query]:
    words = " ".join(dict.fromkeys(word.english for word in known))
    topics = find_topics(words)
    if not topics:
        return []
    found = for_the_claim(topics, [], words) if aim is Aim.OTHER_SIDE else to_judge(topics, [], words)
    return [_translated(one) for one in found]


def _alike(own: str, known: Sequence[Known], language: str, like: str) -> list[Query]:
    """More passages like one that may be in the post's language, in English or in a third."""
    passages = language_of(like) or language
    subjects = [word.english for word in known if word.is_subject]
    if passages == "en":
        return more_like(" ".join(subjects[:1]), like)
    there = known_words(like, passages)
    terms = " ".join(dict.fromkeys(word.text for word in there if word.is_subject))
    before = own if passages == language else ""
    english = " ".join(dict.fromkeys(word.english for word in there))
    return [
        query(f"{before} {terms}", "more of the same kind: the passage's terms", passages),
        query(shortened(like), "more of the same kind: the passage's own words", passages),
        *(_translated(one) for one in (more_like(" ".join(subjects[:1]), english) if english else [])),
    ]


def _translated(one: Query) -> Query:
    purpose = one.purpose.removesuffix(" in the post's own words")
    return one.model_copy(update={"purpose": f"{_TRANSLATED}{purpose}"})


def _by_turns(first: Sequence[Query], second: Sequence[Query]) -> list[Query]:
    return [one for one in chain.from_iterable(zip_longest(first, second)) if one is not None]


_ENGLISH = "en"


def build_queries(
    post: Post, claims: Sequence[Claim], limit: int, *, aim: Aim = Aim.JUDGE, like: str = ""
) -> list[Query]:
    """At most `limit` queries, each with the purpose that sets it apart; empty when nothing can be searched.

    With Aim.OTHER_SIDE they look for what speaks for the claim; with `like`, for more passages of its kind.
    A post whose language is not known is searched as an English one.
    """
    text = post.whole_text
    topics = find_topics(text)
    if not topics or limit <= 0:
        return []
    language = (post.language or language_of(text) or _ENGLISH).split("-")[0].lower()
    if {language, language_of(like) or _ENGLISH} != {_ENGLISH}:
        found = in_two_languages(text, claims, language, aim, like)
    elif like:
        found = more_like(topics[0].official, like)
    elif aim is Aim.OTHER_SIDE:
        found = for_the_claim(topics, claims, text)
    else:
        found = to_judge(topics, claims, text)
    return distinct(found)[:limit]
