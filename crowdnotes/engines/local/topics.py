"""What a post is about, strongest first: known health terms, and key phrases that the table does not hold."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from crowdnotes.engines.local.common_words import PLAIN_STEMS, TOPIC_STEMS
from crowdnotes.engines.local.health_terms import HealthTerm, find_terms
from crowdnotes.engines.local.keyphrases import is_health_word, key_phrases
from crowdnotes.text.stems import is_content, plain_post, stem, tokens

_KNOWN = 2.0
_BROAD = 0.8
_HEALTH_PHRASE = 1.6
_OTHER_PHRASE = 0.7
_DEPTH = 0.3  # of the weight is lost towards the end of a post: its subject stands early
_PHRASES = 8
_CLASSES = re.compile(r"(?:cancer|tumou?r|infection|disease|syndrome|disorder|deficiency|poisoning)s?", re.IGNORECASE)
_LONGEST_WORD = 60  # letters
_WORD_BEFORE = re.compile(r"([^\W\d_][\w'’-]+) $")


@dataclass(frozen=True, slots=True)
class Topic:
    """`text` as the post has it, `medical` the term that means the same (or ""), `headings` broader ones.

    `is_known` tells terms of the table and words of medicine from phrases that only stand out.
    """

    text: str
    weight: float
    medical: str = ""
    headings: tuple[str, ...] = ()
    is_broad: bool = False
    is_known: bool = True

    @property
    def official(self) -> str:
        """As medical sources say it."""
        return self.medical or self.text


def find_topics(post_text: str) -> list[Topic]:
    """The topics of a post, strongest first; none of a post without content words."""
    text = plain_post(post_text)
    if not text:
        return []
    topics = _known(text)
    taken = {stem(token.folded) for topic in topics for token in tokens(topic.text)}
    for phrase in key_phrases(post_text, _PHRASES):
        words = tokens(phrase.text)
        left = [token for token in words if token.stem not in taken]
        if not left:
            continue
        kept = phrase.text if len(left) == len(words) else " ".join(token.text for token in left)
        is_known = any(is_health_word(token) for token in left)
        weight = _HEALTH_PHRASE if is_known else _OTHER_PHRASE
        place = max(0, text.casefold().find(left[0].text.casefold()))
        topics.append(Topic(kept, weight * _by_place(place, text), is_known=is_known))
        taken |= {token.stem for token in left}
    return sorted(topics, key=lambda topic: -topic.weight)


def _known(text: str) -> list[Topic]:
    found: dict[str, tuple[HealthTerm, int]] = {}
    for term in (_with_its_site(term, text) for term in find_terms(text)):
        key = term.medical or stem(term.text.lower())
        first, count = found.get(key, (term, 0))
        found[key] = (first, count + 1)
    return [
        Topic(
            term.text,
            (_BROAD if term.is_broad else _KNOWN) * (1 + 0.3 * math.log2(count)) * _by_place(term.start, text)
            + 0.3 * term.text.count(" "),
            term.medical,
            term.headings,
            term.is_broad,
        )
        for term, count in found.values()
    ]


def _with_its_site(term: HealthTerm, text: str) -> HealthTerm:
    """The whole name, "throat cancer", where the table has "cancer": the word before such a term says which."""
    if _CLASSES.fullmatch(term.text) is None:
        return term
    first = max(0, term.start - _LONGEST_WORD - 1)
    before = _WORD_BEFORE.search(text[first : term.start])
    if before is None:
        return term
    word = tokens(before.group(1))[0]
    if not is_content(word.folded) or word.stem in PLAIN_STEMS or word.stem in TOPIC_STEMS:
        return term
    return replace(term, text=f"{before.group(1)} {term.text}", start=first + before.start(1))


def _by_place(start: int, text: str) -> float:
    return 1 - _DEPTH * start / (len(text) + 1)
