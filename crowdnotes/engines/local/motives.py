"""Sentences on what people hide and why: no fact answers a motive, so what a post states beside it is looked at first.

Common English of posts on health, not drawn from any data set. What it misses is taken as a plain statement.
"""

from __future__ import annotations

import re

from crowdnotes.engines.local.vocabulary import CAUSAL_WORDS
from crowdnotes.engines.local.words import plain_post, tokens

_ACTORS = (
    r"\b(?:they|he|nobody|no one|doctors?|physicians?|surgeons?|\w+ologists?|scientists?|researchers|experts?|"
    r"(?:big )?(?:pharma|tech|food)|industry|compan(?:y|ies)|corporations?|manufacturers|governments?|politicians?|"
    r"elites?|media|press|hospitals?|authorit(?:y|ies)|agenc(?:y|ies)|associations?|lobby|establishment|"
    r"(?-i:FDA|CDC|WHO|NIH|NHS|EMA)|pfizer|moderna|merck|monsanto|bayer|fauci|gates)\b"
)
_CONCEALS = re.compile(
    rf"{_ACTORS}[^.;:]{{0,60}}?\b(?:hid(?:e|es|ing|den)?|conceal\w*|suppress\w*|bur(?:y|ies|ied|ying)|"
    r"cover(?:s|ed|ing)?(?: \w+)? up|silenc\w+|censor\w*|l(?:ie|ies|ied|ying) (?:to|about)|"
    r"ke(?:ep|eps|pt|eping) (?:it|this|that|the truth) (?:a )?(?:secret|quiet|from)|"
    r"says? nothing|stay(?:s|ed)? silent|"
    r"(?:(?:do|does|did|wo)n['’]t|(?:do|does|did|will) not|never) (?:ever )?(?:want|tell|told|let|say|admit)|"
    r"refuses? to (?:tell|say|admit))\b",
    re.IGNORECASE,
)
_GAINS = re.compile(
    rf"{_ACTORS}.{{0,100}}?\b(?:profit(?:s|ed|ing|able)?|ma(?:k(?:es?|ing)|de) (?:\w+ ){{0,2}}(?:money|[bm]illions)|"
    r"(?:for|about|after) (?:the |your )?money|earn(?:s|ed|ing)?|(?:get|gets|got) rich(?:er)?|greed\w*|"
    r"kickbacks?|grants|brib\w+|(?:get|gets|got|are|is|was|were) paid|pays? (?:them|him|off|for)|"
    r"patent\w*|shareholders|los(?:e|ing) (?:patients|customers|money|business)|keep you sick|"
    r"want(?:s|ed)? (?:control|power)|to sell)\b",
    re.IGNORECASE,
)
_MOTIVE = re.compile(
    r"\b(?:because|since|so that|in order to|just to|for (?:the )?(?:money|profits?))\b", re.IGNORECASE
)
_GOES_ON = re.compile(r",? but\b|: *\S")
_TELLS_WHAT = re.compile(r"\b(?:that|how|the fact|tell you|know)\b", re.IGNORECASE)


def is_motive(sentence: str) -> bool:
    """Whether a sentence says that people hide something, or what they gain, and not what is so.

    "They hide that X causes Y" states that X causes Y, and "They hide this, but X is safe" that X is safe.
    """
    plain = plain_post(sentence)
    conceals = _CONCEALS.search(plain)
    if conceals is None:
        return _GAINS.search(plain) is not None
    if _GOES_ON.search(plain[conceals.end() :]):
        return False
    hidden = _MOTIVE.split(plain[conceals.end() :])[0]
    told = _TELLS_WHAT.search(plain[conceals.start() :])
    return told is None or not any(token.folded in CAUSAL_WORDS for token in tokens(hidden))
