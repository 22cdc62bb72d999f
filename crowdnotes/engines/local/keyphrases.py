"""Key phrases of a post: runs of content words between stop words, ranked.

After RAKE (Rose et al., 2010) for the runs and YAKE (Campos et al., 2020) for the features: how often,
how early, capitals, and whether words are of the domain. No part-of-speech tags and no model.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass

from crowdnotes.engines.local.health_terms import medical_name
from crowdnotes.engines.local.vocabulary import CAUSAL_WORDS, HEALTH_WORDS
from crowdnotes.text.stems import Token, is_content, plain_post, stem, tokens

_LONGEST_PHRASE = 3
_HEALTH_STEMS = frozenset(stem(word) for word in HEALTH_WORDS)
# Words that carry meaning in a sentence but find nothing as a search: posts are full of them.
_EMPTY = frozenset(
    "people person thing stuff guys folks today yesterday tomorrow day days year years week month time times "
    "way ways "
    "good bad great best better worst big huge small new old first last next real really actually literally "
    "basically "
    "amazing crazy insane wow omg lol lmao rt dm please thanks thank thread breaking watch video read share "
    "follow retweet "
    "know think believe tell told want wants going look looking said thinks believes guess feel feels remember wait "
    "right wrong sure maybe probably definitely exactly absolutely never ever always forever everyone "
    "everybody anyone "
    "someone nobody anything everything nothing something etc amp gonna wanna gotta yall y'all ya dont cant "
    "wont im ive "
    "man dude bro stop start started happen happens happened happening work works working try trying tried help "
    "love hate hope live life world back put take takes took leave left find found show says talk talking ask "
    "asking".split()
)


@dataclass(frozen=True, slots=True)
class KeyPhrase:
    """Words of the post as written (1 to 3 of them), and how much they tell about its subject."""

    text: str
    folded: str
    score: float


def key_phrases(post_text: str, limit: int = 8) -> list[KeyPhrase]:
    """The phrases that say most about a post's subject, best first; no two share most of their words.

    Empty for a post without content words (only emoji, links, mentions).
    """
    text = plain_post(post_text)
    words = tokens(text)
    counts = Counter(token.stem for token in words if is_content(token.folded))
    best: dict[str, KeyPhrase] = {}
    for run, position in _runs(text, words):
        for size in range(min(_LONGEST_PHRASE, len(run)), 0, -1):
            for begin in range(len(run) - size + 1):
                part = run[begin : begin + size]
                phrase = _scored(text, part, counts, (position + begin) / (len(words) + 1))
                if phrase.score > 0 and phrase.score > best.get(phrase.folded, phrase).score - 1e-9:
                    best[phrase.folded] = phrase
    return _distinct(sorted(best.values(), key=lambda phrase: (-phrase.score, phrase.folded)), limit)


def is_health_word(token: Token) -> bool:
    """Whether a word is of the health domain, by list or by its medical ending."""
    return token.stem in _HEALTH_STEMS or bool(
        re.search(r"(itis|emia|osis|oma|ectomy|pathy|virus|vaccin\w*)$", token.folded)
    )


def _runs(text: str, words: list[Token]) -> list[tuple[list[Token], int]]:
    """Unbroken runs of content words, each with the index of its first word."""
    runs: list[tuple[list[Token], int]] = []
    current: list[Token] = []
    for index, token in enumerate(words):
        broken = current and not re.fullmatch(r"[\s/&'’\"“”-]*", text[current[-1].end : token.start])
        useful = is_content(token.folded) and token.folded not in _EMPTY and token.folded not in CAUSAL_WORDS
        if current and (broken or not useful):
            runs.append((current, index - len(current)))
            current = []
        if useful:
            current.append(token)
    if current:
        runs.append((current, len(words) - len(current)))
    return runs


def _scored(text: str, part: list[Token], counts: Counter[str], depth: float) -> KeyPhrase:
    total = 0.0
    for token in part:
        weight = 1.0 + 0.5 * math.log2(counts[token.stem]) if counts[token.stem] else 1.0
        if is_health_word(token):
            weight += 1.5
        if token.text[0].isupper() and not text.isupper():
            weight += 0.4
        if len(token.folded) <= 3 and not token.text.isupper():
            weight -= 0.4
        total += weight
    # A phrase is more telling than its words, but a long run of chatter is not.
    spread = total / len(part) * (1 + 0.35 * (len(part) - 1))
    folded = " ".join(token.folded for token in part)
    if medical_name(folded):
        spread += 1.0
    return KeyPhrase(text[part[0].start : part[-1].end], folded, spread * (1 - 0.3 * depth))


def _distinct(phrases: list[KeyPhrase], limit: int) -> list[KeyPhrase]:
    chosen: list[KeyPhrase] = []
    taken: set[str] = set()
    for phrase in phrases:
        stems = {stem(word) for word in phrase.folded.split()}
        if len(stems & taken) * 2 >= len(stems):
            continue
        chosen.append(phrase)
        taken |= stems
        if len(chosen) == limit:
            break
    return chosen
