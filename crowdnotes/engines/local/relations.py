"""What a claim says of its subject, by kind: that it causes, prevents, cures, harms, spreads, works or exists.

A passage on the same subject answers a claim only when it speaks of the same kind of thing: that insulin
is a hormone is true, and no answer to a post on what insulin does.
"""

from __future__ import annotations

import re

from crowdnotes.engines.local.strength import effects_of

_KINDS: dict[str, re.Pattern[str]] = {
    "cause": re.compile(
        r"\b(?:blam\w+|behind|giv(?:es?|ing) (?:\w+ ){0,2}(?:kids|people|children|you|us)|makes?|making|made|"
        r"turns? into|more likely|raises?|increas\w+|risk factors?)\b",
        re.IGNORECASE,
    ),
    "harm": re.compile(
        r"\b(?:harm\w*|(?:un)?safe\w*|dangers?|dangerous\w*|(?:non)?toxic\w*|neurotoxi\w+|bad for|good for|hurts?|"
        r"damag\w+|poison(?:s|ed|ing|ous)?|deadly|(?:not |never |non-?)?fatal\w*|lethal|life-threatening|"
        r"kill(?:s|ed|ing)?|d(?:ies?|ied|eaths?|ying)|side effects?|injur\w+|(?:un)?healthy|worst|serious|severe|"
        r"mild|complications?|problems?|risks?)\b",
        re.IGNORECASE,
    ),
    "spread": re.compile(
        r"\b(?:spread\w*|transmi\w+|contagious|catch(?:es|ing)?|caught|infectious|passed (?:on|to|from)|"
        r"get (?:it|infected)|from person to person|contact with)\b",
        re.IGNORECASE,
    ),
    "work": re.compile(r"\b(?:works?|worked|effective\w*|ineffective\w*|efficacy|useless|wiped out)\b", re.IGNORECASE),
    "exist": re.compile(
        r"\b(?:exist\w*|(?:is|are|was|were|isn['’]t|wasn['’]t) (?:not )?(?:all |so |very )?(?:real|fake)|hoax|"
        r"no such thing|available|there (?:is|are|was|were) (?:no|now|currently|a)\b|^(?:so )?no (?:vaccine|cure)s?)",
        re.IGNORECASE,
    ),
    "is there": re.compile(
        r"\b(?:exist\w*|available|real|wiped out|eliminated|eradicated|occurs?|found in|outbreaks?|epidemics?|"
        r"pandemics?|(?:vaccine|shot)s? (?:can|is|are|protects?|causes?))\b",
        re.IGNORECASE,
    ),
}
# Which kinds in a sentence speak to a kind in a claim.
_SPOKEN_TO_BY: dict[str, frozenset[str]] = {
    "cause": frozenset({"cause", "prevent"}),
    "prevent": frozenset({"prevent", "treat", "work"}),
    "cure": frozenset({"cure", "treat", "prevent", "work"}),
    "treat": frozenset({"treat", "cure", "prevent", "work"}),
    "harm": frozenset({"harm", "cause"}),
    "spread": frozenset({"spread"}),
    "work": frozenset({"work", "prevent", "treat", "cure"}),
    "exist": frozenset({"is there", "work"}),
}
_WHAT_CAUSES = re.compile(
    r"\bwhat causes\b|\bcauses? (?:of [^.;]{3,60} )?(?:is|are|remains?) (?:still |largely )?(?:unknown|not |un)|"
    r"\bunknown cause|\bcaused by\b|\bresults? from\b|\bdue to\b",
    re.IGNORECASE,
)
_NO_CURE = re.compile(
    r"\bno (?:known |specific |single )?(?:cure|treatment|medicine)|"
    r"\b(?:cannot|can['’]t|can not) be (?:cured|reversed)|\bnot curable|\bno (?:medicine|drug|pill)s? (?:can|will)\b",
    re.IGNORECASE,
)
_COPULA = re.compile(r"\b(?:is|are|was|were)(?:n['’]t)?\b", re.IGNORECASE)


def relations_of(text: str) -> frozenset[str]:
    """The kinds of statement that a text makes; "link" counts as "cause"."""
    kinds = {"cause" if name == "link" else name for name in effects_of(text)}
    return frozenset(kinds | {name for name, pattern in _KINDS.items() if pattern.search(text)})


def speak_to(claimed: frozenset[str], said: frozenset[str]) -> bool:
    """Whether a sentence with these kinds speaks to what a claim with those says."""
    return any(said & _SPOKEN_TO_BY.get(kind, frozenset()) for kind in claimed)


def tells_causes(sentence: str) -> bool:
    """Whether a sentence says what causes something, or that nobody knows."""
    return _WHAT_CAUSES.search(sentence) is not None


def denies_cures(sentence: str) -> bool:
    """Whether a sentence says that something has no cure or treatment at all."""
    return _NO_CURE.search(sentence) is not None


def copula_at(text: str) -> int:
    """Where "is" or "are" stands in a text; -1 without one."""
    found = _COPULA.search(text)
    return found.start() if found else -1
