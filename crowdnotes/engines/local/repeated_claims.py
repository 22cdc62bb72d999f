"""Finds sentences and passages that say what the post says, and so do not correct it.

By words and not by embeddings, in which a claim and its denial are near each other. In doubt a passage does not count
as a repetition: one word against the post anywhere in it is enough. Of 439 notes that readers found helpful one is said
to repeat its post, and does; of 163,774 sentences of medquad, seven are said to repeat one of their 439 posts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from crowdnotes.domain import Evidence, Post
from crowdnotes.engines.local.health_terms import foreign_post, in_english, medical_name
from crowdnotes.engines.local.quantities import quantities
from crowdnotes.engines.local.queries import find_claims
from crowdnotes.engines.local.tone import ALL, HEDGE, VERDICT, contradicts, negations
from crowdnotes.text.sentences import split_sentences
from crowdnotes.text.tokens import content_tokens, plain_post, stem

_MIN_SAID_SHARE = 0.75  # of the claim's content words, in a sentence that repeats it
_MIN_OWN_SHARE = 0.35  # of the sentence's words, in the claim: a longer sentence says something else
_MIN_OWN_SHARE_OF_SHORT = 0.5  # for short claims: few words easily match by chance
_MAX_SHORT_STEMS = 3
_MIN_SPOKEN_SHARE = 0.5  # of the claim's words, in a sentence about it
_MIN_CLAIM_STEMS = 2
_MAX_DENIAL_CHARACTERS = 60  # after "not", to search for the denied word
_MAX_VERDICT_STEMS = 2  # "Verdict: False." is about the sentence before it

# What a claim says one thing does to another; all words of one side count the same.
_HARM = (
    r"caus(?:e[sd]?|ing)|trigger\w*|lead(?:s|ing)?|led|result(?:s|ed|ing)? in|responsible for|behind|"
    r"creat(?:es?|ed|ing)|induc\w+|produc(?:es?|ed|ing)|(?:linked|tied) to|giv(?:es?|ing)|increas\w+|"
    r"rais(?:es?|ed|ing)|kill\w*|harm\w*|damag\w*|destroy\w*|worsen\w*|weaken\w*|"
    r"poison\w*|toxic|dangerous|deadly|unsafe|ineffective|useless"
)
_HELP = (
    r"prevent\w*|protect\w*|reduc\w+|lower(?:s|ed|ing)?|decreas\w+|cur(?:es?|ed|ing)|heal(?:s|ed|ing)?|"
    r"treat(?:s|ed|ing)?|stop(?:s|ped|ping)?|block(?:s|ed|ing)?|boost\w*|improv\w+|strengthen\w*|safe|safely|effective|"
    r"benefi\w+|helps?|revers(?:es?|ed|ing)"
)
_PATTERN_BY_SIDE = {
    side: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for side, words in (("harm", _HARM), ("help", _HELP))
}
_CAUSE = re.compile(
    r"\b(?:trigger(?:s|ed|ing)?|leads? to|led to|results? in|resulted in|(?:is|are|was|were) (?:a |the )?(?:\w+ )?"
    r"(?:cause of|responsible for|behind|caused by)|brings? (?:on|about)|gives? you|induces?)\b",
    re.IGNORECASE,
)
# Words that limit what a sentence says.
_LIMIT = re.compile(
    r"\b(?:only|just|unless|except|if|whether|hardly|barely|rarely|seldom|fail(?:s|ed|ing)?|fewer|less|"
    r"too (?:early|little|few)|(?:little|weak|poor|scant|insufficient|limited|mixed) evidence|"
    r"look(?:s|ed|ing) (?:at|for|into)|investigat\w+|examin\w+|so-called|supposed(?:ly)?|alleged(?:ly)?)\b",
    re.IGNORECASE,
)
# Findings that contradict a claim without a denial: "memory stayed the same".
_NO_EFFECT = re.compile(
    r"\b(?:the same|similar(?:ly)?|unchanged|alike|equal(?:ly)?|as (?:many|likely|often))\b", re.IGNORECASE
)
_SPEAKS_OF_IT = re.compile(
    r"\b(?:claims?|posts?|rumou?rs?|myths?|stor(?:y|ies)|theor(?:y|ies)|ideas?|statements?)\b|^\W*(?:this|that|it|these|"
    r"such)\b",
    re.IGNORECASE,
)


def repeats(sentence: str, claims: Sequence[str]) -> bool:
    """Return whether a sentence says what one of the claims says, as surely, as widely, with its numbers."""
    if sentence.rstrip(" \"'”’)").endswith("?"):
        return False
    said = _find_stems(sentence)
    return any(_says_same(sentence, said, claim) for claim in claims)


def _says_same(sentence: str, said: frozenset[str], claim: str) -> bool:
    wanted = _find_stems(claim)
    shared = len(wanted & said)
    own = _MIN_OWN_SHARE if len(wanted) > _MAX_SHORT_STEMS else _MIN_OWN_SHARE_OF_SHORT
    return (
        len(wanted) >= _MIN_CLAIM_STEMS
        and shared >= _MIN_SAID_SHARE * len(wanted)
        and shared >= own * len(said)
        and _find_denials(sentence) == _find_denials(claim)
        and _find_sides(sentence) <= _find_sides(claim)
        and not any(pattern.search(sentence) and not pattern.search(claim) for pattern in (HEDGE, _LIMIT))
        and not (ALL.search(claim) and not ALL.search(sentence))
        and _has_its_numbers(sentence, claim)
    )


def _has_its_numbers(sentence: str, claim: str) -> bool:
    mine = quantities(sentence)
    return all(any(number.agrees_with(other) for other in mine) for number in quantities(claim))


@lru_cache(maxsize=4096)
def _find_denials(text: str) -> tuple[frozenset[str], bool]:
    """Return the stem of the word after each "not", and whether the text calls something untrue."""
    denied = (
        next(iter(content_tokens(text[found.end() : found.end() + _MAX_DENIAL_CHARACTERS])), None)
        for found in negations(text)
    )
    return frozenset(token.stem if token else "" for token in denied), VERDICT.search(text) is not None


def _find_sides(text: str) -> frozenset[str]:
    return frozenset(side for side, pattern in _PATTERN_BY_SIDE.items() if pattern.search(text))


@lru_cache(maxsize=4096)
def _find_stems(text: str) -> frozenset[str]:
    """Return the stems of the content words; "leads to" becomes "causes", an everyday word its medical name."""
    words = content_tokens(_CAUSE.sub(" causes ", plain_post(text)))
    return frozenset(stem(medical_name(word.folded) or word.folded) for word in words)


def repeating_passages(post: Post, evidence: Sequence[Evidence]) -> frozenset[str]:
    """Return the ids of passages that only repeat or report what the post says and contradict none of its claims.

    English posts and passages only: denials in other languages are not recognised.
    """
    claims = claims_of(post)
    found = (item for item in in_english(evidence) if claims)
    return frozenset(
        item.id for item in found if _is_repetition(claims, item.passage.before, item.passage.text, item.passage.after)
    )


def claims_of(post: Post) -> tuple[str, ...]:
    """Return what an English post claims, in its words: its checkable sentences, or all of it without any."""
    if foreign_post(post):
        return ()
    return tuple(plain_post(claim.text) for claim in find_claims(post)) or (plain_post(post.whole_text),)


@lru_cache(maxsize=256)  # every rerun of the page asks for each passage
def _is_repetition(claims: tuple[str, ...], before: str, text: str, after: str) -> bool:
    inside, around = (
        [words[span.start : span.end] for span in split_sentences(words)]
        for words in (text, f"{before} {text} {after}")
    )
    return any(repeats(sentence, claims) for sentence in inside) and not any(
        _speaks_against(sentence, claims) for sentence in around
    )


def _speaks_against(sentence: str, claims: Sequence[str]) -> bool:
    said = _find_stems(sentence)
    is_of_it = _SPEAKS_OF_IT.search(sentence) is not None and contradicts(sentence)
    is_verdict = len(said) <= _MAX_VERDICT_STEMS and VERDICT.search(sentence) is not None
    for claim in claims:
        wanted = _find_stems(claim)
        is_spoken_of = len(wanted & said) >= _MIN_SPOKEN_SHARE * max(1, len(wanted))
        is_turned = _find_denials(sentence) != _find_denials(claim) or not _find_sides(sentence) <= _find_sides(claim)
        if is_turned and (is_spoken_of or is_of_it or is_verdict):
            return True
    return _NO_EFFECT.search(sentence) is not None
