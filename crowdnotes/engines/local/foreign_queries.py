"""Searches for a post in another language: in its own words, and in English as far as a table has its words.

Half are in each language, for both find what the other does not: the country's authorities and fact-checkers
write in its language, and most research is in English.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, zip_longest

from crowdnotes.domain import Aim, Claim, Query
from crowdnotes.engines.local.abroad import Known, known_words, search_words
from crowdnotes.engines.local.english_queries import for_the_claim, more_like, to_judge
from crowdnotes.engines.local.query_words import claim_words, query, shortened
from crowdnotes.engines.local.topics import find_topics
from crowdnotes.text.languages import language_of

_SUBJECTS = 3
_TRANSLATED = "in English, word by word from a table: "


def build(text: str, claims: Sequence[Claim], language: str, aim: Aim, like: str) -> list[Query]:
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
