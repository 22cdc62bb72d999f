"""Words of manner: how surely, how far and in what tone something is said, rather than what it is about.

Advice on wording names these alone: a writer can drop "never" or "hoax", not the thing that the note is about.
"""

from __future__ import annotations

import re

from crowdnotes.engines.local.polarity import hedges_a_denial
from crowdnotes.engines.local.strength import is_of_degree
from crowdnotes.engines.local.tone import FIRST_PERSON, INSULTS, LOADED, SECOND_PERSON, SPECULATION

_IN_TONE = (LOADED, INSULTS, SPECULATION, FIRST_PERSON, SECOND_PERSON)
_ADVERB = re.compile(r"[a-z]{4,}ly")
_NO_ADVERBS = frozenset("family daily supply reply assembly anomaly butterfly monopoly italy july".split())


def is_of_manner(word: str) -> bool:
    """Whether a word in lower case says how something is said."""
    if _ADVERB.fullmatch(word):
        return word not in _NO_ADVERBS
    return is_of_degree(word) or hedges_a_denial(word) or any(pattern.fullmatch(word) for pattern in _IN_TONE)
