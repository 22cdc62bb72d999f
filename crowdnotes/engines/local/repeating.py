"""Sentences that say the post's claim again instead of answering it."""

from __future__ import annotations

import re

from crowdnotes.engines.local.polarity import negations
from crowdnotes.engines.local.quantities import quantities
from crowdnotes.text.stems import content_tokens

_SAME = 0.8  # cosine of two wordings of one statement
_HELD = 0.75  # share of the sentence's content words that the claim holds already
_REPORTED = re.compile(
    r"\b(?:claim|warning|rumou?r|post|message|video|story|meme)s?\b[^.;]{0,80}\b(?:shared|circulat\w+|spread\w*|"
    r"going (?:a?round|viral)|viral|passed (?:on|around)|says? that|claims? that|doing the rounds)\b|"
    r"\b(?:has|have) been shared\b|\bpeople (?:claim|say)\b",
    re.IGNORECASE,
)
_QUALIFIES = re.compile(
    r"\b(?:false\w*|untrue|myth\w*|hoax|joke|satir\w+|parody|misleading|incorrect|wrong|baseless|unproven|unfounded|"
    r"debunk\w*|but|however|although|though|only|unless|except|instead|rather|unlikely|rare\w*|safe(?:ly)?|harmless|"
    r"no evidence|limited to|below|under|fewer|less)\b",
    re.IGNORECASE,
)
_HEDGES = re.compile(r"\b(?:may|might|could|can|some|sometimes|possibl\w+|suggest\w*|unclear)\b", re.IGNORECASE)


def repeats(sentence: str, claim: str, cosine: float) -> bool:
    """Whether a sentence only says the claim again, or that it is going round.

    It does not when it denies or limits what the claim says, hedges it, or gives another figure.
    """
    if _answers(sentence, claim):
        return False
    if _REPORTED.search(sentence):
        return True
    stems = {token.stem for token in content_tokens(sentence)}
    held = len(stems & {token.stem for token in content_tokens(claim)}) / len(stems) if stems else 0.0
    return cosine >= _SAME or held >= _HELD


def corrects(sentence: str) -> bool:
    """Whether a sentence sets something right or limits it by its own words: "a myth", "only", "harmless"."""
    return _QUALIFIES.search(sentence) is not None


def _answers(sentence: str, claim: str) -> bool:
    if bool(negations(sentence)) != bool(negations(claim)):
        return True
    if any(pattern.search(sentence) and not pattern.search(claim) for pattern in (_QUALIFIES, _HEDGES)):
        return True
    known = quantities(claim)
    return any(not any(number.agrees_with(other) for other in known) for number in quantities(sentence))
