"""Sentences on what people hide and why: no fact answers a motive, so what a post states beside it is looked at first.

Common English of posts on health, not drawn from any data set. What it misses is taken as a plain statement.
"""

from __future__ import annotations

import re

from crowdnotes.engines.local.vocabulary import CAUSAL_WORDS
from crowdnotes.text.stems import plain_post, tokens

_ACTORS = (
    r"\b(?:they|he|nobody|no one|doctors?|physicians?|surgeons?|\w+ologists?|scientists?|researchers|experts?|"
    r"(?:big )?(?:pharma|tech|food)|industry|compan(?:y|ies)|corporations?|manufacturers|governments?|politicians?|"
    r"elites?|media|press|hospitals?|authorit(?:y|ies)|agenc(?:y|ies)|associations?|lobby|establishment|"
    r"(?-i:FDA|CDC|WHO|NIH|NHS|EMA)|pfizer|moderna|merck|monsanto|bayer|fauci|gates)\b"
)
# What is said to be kept from people. "Cover up burns" and "suppress the immune system" keep nothing from anybody.
_HIDDEN = (
    r"(?:it|this|that|them|these|(?:\w+ ){0,3}(?:truth|facts?|data|evidence|results?|stud(?:y|ies)|research|cures?|"
    r"remed(?:y|ies)|information|news|stor(?:y|ies)|reports?|deaths?|harms?|injur(?:y|ies)|risks?|dangers?|"
    r"(?:side|adverse) effects?))"
)
_PEOPLE = r"(?:you|us|me|him|her|them|any(?:one|body)|every(?:one|body)|people|patients|the (?:public|people|world))"
_NOT_WANTED = (
    rf"(?:{_HIDDEN}|{_PEOPLE} (?:to (?:know|hear|see|find|learn|reali[sz]e|talk|ask)|"
    r"(?:to \w+ )?(?:well|healthy|better|cured)))"
)
_CONCEALS = re.compile(
    rf"{_ACTORS}[^.;:]{{0,60}}?\b(?:"
    r"(?:hid(?:e|es|ing|den)?|conceal(?:s|ed|ing)?)\b(?! (?:in|inside|within|behind|beneath|under|among|deep|out|away|"
    r"itself|themselves|from (?:the|your|our) (?:immune|body))\b)|"
    rf"(?:suppress(?:es|ed|ing)?|bur(?:y|ies|ied|ying)|cover(?:s|ed|ing)? up) {_HIDDEN}|"
    r"cover(?:s|ed|ing)? (?:it|this|that|them|everything) up|censor\w*|"
    rf"silenc(?:e|es|ed|ing) (?:{_PEOPLE}|those|critics|whistleblowers|doctors|scientists|{_HIDDEN})|"
    rf"l(?:ie|ies|ied|ying) (?:to {_PEOPLE}|about (?:everything|{_HIDDEN}))|"
    rf"ke(?:ep|eps|pt|eping) {_HIDDEN} (?:(?:a )?(?:secret|quiet)|from {_PEOPLE})|"
    r"says? nothing|stay(?:s|ed)? silent|"
    rf"(?:(?:do|does|did|wo)n['’]t|(?:do|does|did|will) not|never) (?:ever )?(?:want {_NOT_WANTED}|"
    rf"(?:tell|told)(?: {_PEOPLE})?\b(?! (?:\w+ ){{0,2}}to\b)|let {_PEOPLE} (?:know|hear|see|find|talk|ask|say)|"
    r"(?:say|admit)(?: (?:it|this|so|anything|the truth)|(?=\W*$)))|"
    r"refuses? to (?:tell|say|admit))\b",
    re.IGNORECASE,
)
_GAINS = re.compile(
    rf"{_ACTORS}.{{0,100}}?\b(?:profit(?:s|ed|ing|able)?|ma(?:k(?:es?|ing)|de) (?:\w+ ){{0,2}}(?:money|[bm]illions)|"
    r"(?:for|about|after) (?:the |your )?money|"
    r"earn(?:s|ed|ing)? (?:on|from|off|more|(?:\w+ ){0,3}(?:money|[bm]illions?))|(?:get|gets|got) rich(?:er)?|greed\w*|"
    r"kickbacks?|(?:get|gets|got|for|more) grants|brib\w+|(?:get|gets|got|are|is|was|were) paid|"
    r"pays? (?:them|him|off|for (?:its|their|his))|"
    r"(?:ca(?:nnot|n['’]t)|can not) (?:be )?patent\w*|patent\w* (?:\w+ ){0,4}(?:money|profits?|[bm]illions)|"
    r"shareholders|los(?:e|ing) (?:customers|money|business)|would lose (?:\w+ )?patients|keep you sick|"
    r"want(?:s|ed)? (?:control|power)|to sell (?:you|us|more|them|their|its))\b",
    re.IGNORECASE,
)
_AMOUNT = re.compile(r"[$€£] ?\d|\d(?: \w+illion| thousand|k)? (?:dollars|euros|pounds)\b", re.IGNORECASE)
_MOTIVE = re.compile(
    r"\b(?:because|since|so that|in order to|just to|for (?:the )?(?:money|profits?))\b", re.IGNORECASE
)
_GOES_ON = re.compile(r",? but\b|: *\S")
_OF_ANOTHER = re.compile(r"\b(?:it|this|that|them|these)\b", re.IGNORECASE)
_TELLS_WHAT = re.compile(r"\b(?:that|how|the fact|tell you|know|say|admit)\b", re.IGNORECASE)


def is_motive(sentence: str) -> bool:
    """Whether a sentence says that people hide something, or what they gain, and not what is so.

    "They hide that X causes Y" states that X causes Y, and "They hide this, but X is safe" that X is safe.
    A sum of money is a statement too, unless it stands as a reason: "Hospitals get paid $39,000 a ventilator."
    """
    plain = plain_post(sentence)
    if _AMOUNT.search(_before_reason(plain)):
        return False
    conceals = _CONCEALS.search(plain)
    if conceals is None:
        return _GAINS.search(plain) is not None
    if _GOES_ON.search(plain[conceals.end() :]):
        return False
    told = _TELLS_WHAT.search(plain[conceals.start() :])
    return told is None or not _has_causal_word(_before_reason(plain[conceals.end() :]))


def stands_alone(motive: str) -> bool:
    """Whether a motive can be looked up without the sentences beside it: "Pfizer hid the deaths of 1,200 people."

    It has a number or a causal word before its reason, and nothing like "it" that stands for what was said before.
    """
    accused = _before_reason(plain_post(motive))
    has_figure = any(token.folded[0].isdigit() for token in tokens(accused))
    return (has_figure or _has_causal_word(accused)) and _OF_ANOTHER.search(accused) is None


def _before_reason(text: str) -> str:
    return _MOTIVE.split(text)[0]


def _has_causal_word(text: str) -> bool:
    return any(token.folded in CAUSAL_WORDS for token in tokens(text))
