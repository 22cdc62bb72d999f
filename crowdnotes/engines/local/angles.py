"""What a post claims of its subject, which decides the words that an authority or a study would use."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Angle:
    """Words for one kind of claim; `denial` is filled with the first and second topic."""

    label: str
    pattern: str
    words: str
    denial: str
    study: str
    support: str


_VACCINE = r"vaccin|vax|jab\b|jabs\b|immuni[sz]|mrna"
_ANGLES = (
    Angle(
        "safety",
        rf"{_VACCINE}|\b(?:safe\w*|unsafe|toxic\w*|poison\w*|danger\w*|harm\w*|side effects?|injur\w+)\b",
        "safety side effects",
        "is {first} safe: myths and facts about {second}",
        "systematic review safety cohort study",
        "adverse effects reported risk",
    ),
    Angle(
        "treatment",
        r"\b(?:cur\w+|treat\w*|heal\w*|remed\w*|protocol|detox\w*|revers\w+|dissolv\w+)\b",
        "treatment evidence",
        "{first} is not a proven treatment for {second}",
        "randomized trial systematic review",
        "effective benefit improved",
    ),
    Angle(
        "causes",
        r"\b(?:caus\w+|link\w*|lead\w*|trigger\w*|risk\w*|carcinogen\w*)\b",
        "causes risk factors",
        "{first} does not cause {second}",
        "cohort study meta-analysis risk",
        "causes linked to increased risk",
    ),
    Angle(
        "prevention",
        r"\b(?:prevent\w*|protect\w*|immun\w*|boost\w*)\b",
        "prevention",
        "{first} does not prevent {second}",
        "randomized trial prevention systematic review",
        "prevents protects effective",
    ),
    Angle(
        "how it spreads",
        r"\b(?:spread\w*|contag\w*|transmi\w+|outbreak|infect\w*)\b",
        "transmission",
        "how {first} {second} does and does not spread",
        "transmission study",
        "transmission cases confirmed",
    ),
    Angle(
        "figures",
        r"\d\s*%|\b(?:rates?|deaths?|died|million|thousand|cases)\b",
        "statistics",
        "how common is {first} {second}",
        "incidence mortality surveillance study",
        "increase statistics rates",
    ),
)
_UNLINKED = "{first} does not cause {second}"
_LINKED = re.compile(r"\b(?:caus\w+|link(?:s|ed)? to|leads? to|led to|trigger\w*|gives? (?:you|them|people|kids))\b")
_ANY = Angle(
    "the subject",
    "",
    "facts",
    "{first} {second} myths and facts",
    "systematic review study",
    "evidence supports",
)
_AUTHORITIES = (
    (rf"{_VACCINE}|covid|measles|polio|flu\b|virus|outbreak|infect", "CDC"),
    (r"\b(?:drug|pill|medicine|ivermectin|food|supplement|milk|additive|approv\w+|recall\w*)", "FDA"),
    (r"cancer|tumou?r|chemo", "National Cancer Institute"),
)


def angle_of(text: str) -> Angle:
    """The first kind of claim whose words a text holds."""
    lowered = text.lower()
    return next((angle for angle in _ANGLES if re.search(angle.pattern, lowered)), _ANY)


def denial_of(text: str, first: str, second: str) -> str:
    """How a text on the same two topics would say the opposite; "does not cause" only when the post links them."""
    template = _UNLINKED if _LINKED.search(text.lower()) else angle_of(text).denial
    return template.format(first=first, second=second)


def authority_on(text: str) -> str:
    """Which authority speaks on a text's subject; "WHO" where no other is nearer."""
    lowered = text.lower()
    return next((name for pattern, name in _AUTHORITIES if re.search(pattern, lowered)), "WHO")
