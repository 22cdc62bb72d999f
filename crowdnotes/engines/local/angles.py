"""What a post claims of its subject, which decides the words that an authority or a study would use."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Angle:
    """Words for one kind of claim."""

    label: str
    pattern: str
    words: str
    study: str
    support: str


@dataclass(frozen=True, slots=True)
class Link:
    """A verb that joins two things ("causes"), the words that hold its agent and its effect, and how one denies it.

    `denial` and `affirmation` are filled with the two; the second is the answer to a post that says "does not".
    """

    agent_in: str
    effect_in: str
    is_denied: bool
    denial: str
    affirmation: str

    def opposite(self, agent: str, effect: str) -> str:
        """How a text on the same two things would say the opposite."""
        return (self.affirmation if self.is_denied else self.denial).format(agent=agent, effect=effect)


_VACCINE = r"vaccin|vax|jab\b|jabs\b|immuni[sz]|mrna"
_IS_VACCINE = re.compile(r"\b(?:vaccin\w*|vaxx?\w*|jabs?|immuni[sz]ations?|mrna)$", re.IGNORECASE)
_ANGLES = (
    Angle(
        "safety",
        rf"{_VACCINE}|\b(?:safe|safer|safety|unsafe|toxic\w*|poison\w*|danger\w*|harm(?:s|ed|ing|ful)?|side effects?"
        r"|injur\w+)\b",
        "safety side effects",
        "systematic review safety cohort study",
        "adverse effects reported risk",
    ),
    Angle(
        "treatment",
        r"\b(?:cure[sd]?|curing|treat\w*|heal(?:s|ed|ing)?|remed(?:y|ies)|protocol|detox\w*|revers(?:e[sd]?|ing)"
        r"|dissolv\w+)\b",
        "treatment evidence",
        "randomized trial systematic review",
        "effective benefit improved",
    ),
    Angle(
        "causes",
        r"\b(?:caus\w+|link(?:s|ed)? to|leads? to|led to|trigger\w*|risks?|risk factors?|carcinogen\w*)\b",
        "causes risk factors",
        "cohort study meta-analysis risk",
        "causes linked to increased risk",
    ),
    Angle(
        "prevention",
        r"\b(?:prevent\w*|protect\w*|immun\w*|boost\w*)\b",
        "prevention",
        "randomized trial prevention systematic review",
        "prevents protects effective",
    ),
    Angle(
        "how it spreads",
        r"\b(?:spread\w*|contag\w*|transmi\w+|outbreak|infect\w*)\b",
        "transmission",
        "transmission study",
        "transmission cases confirmed",
    ),
    Angle(
        "figures",
        r"\d\s*%|\b(?:rates?|deaths?|died|million|thousand|cases)\b",
        "statistics",
        "incidence mortality surveillance study",
        "increase statistics rates",
    ),
)
_ANY = Angle("the subject", "", "facts", "systematic review study", "evidence supports")
# A verb, how one denies it, how one affirms it; the passive ("caused by") turns agent and effect round.
_LINKS = tuple(
    (re.compile(verb, re.IGNORECASE), denial, affirmation)
    for verb, denial, affirmation in (
        (
            r"\b(?:caus(?:e[sd]?|ing)|link(?:s|ed) (?:to|with)|leads? to|led to|trigger(?:s|ed)?"
            r"|gives? (?:you|them|people|kids)|risk factor for|risk of)\b(?P<passive> by)?",
            "{agent} does not cause {effect}",
            "{agent} causes {effect}",
        ),
        (
            r"\b(?:cure[sd]?|curing|treat(?:s|ed)?|heal(?:s|ed)?|revers(?:e[sd]?)|dissolves?)\b"
            r"(?P<passive> (?:by|with))?",
            "{agent} is not a proven treatment for {effect}",
            "{agent} treatment for {effect}",
        ),
        (
            r"\b(?:prevent(?:s|ed)?|protects? (?:you |people )?(?:against|from))\b(?P<passive> by)?",
            "{agent} does not prevent {effect}",
            "{agent} prevents {effect}",
        ),
    )
)
_NEAR_BEFORE = 6  # words: further away another thing is named
_NEAR_AFTER = 8
_DENIED = re.compile(r"(?:\b(?:not|never|no|cannot)|n['’]t)(?:\s+\w+)?\s*$", re.IGNORECASE)
_NEGATION_AFTER = re.compile(r"\s*not\b", re.IGNORECASE)
_AUTHORITIES = (
    (rf"{_VACCINE}|covid|measles|polio|flu\b|virus|outbreak|infect", "CDC"),
    (r"\b(?:drugs?|pills?|medicines?|ivermectin|foods?|supplements?|milk|additives?|approv\w+|recall\w*)\b", "FDA"),
    (r"cancer|tumou?r|chemo", "National Cancer Institute"),
)


def angle_of(text: str) -> Angle:
    """The first kind of claim whose words a text holds."""
    lowered = text.lower()
    return next((angle for angle in _ANGLES if re.search(angle.pattern, lowered)), _ANY)


def link_in(sentence: str) -> Link | None:
    """The first verb in a sentence that says what one thing does to another; None when it has none."""
    found = [
        (match.start(), match, denial, affirmation)
        for verb, denial, affirmation in _LINKS
        if (match := verb.search(sentence)) is not None
    ]
    if not found:
        return None
    _, match, denial, affirmation = min(found, key=lambda item: item[0])
    before, after = sentence[: match.start()], sentence[match.end() :]
    is_denied = _DENIED.search(before) is not None or _NEGATION_AFTER.match(after) is not None
    near = (" ".join(before.split()[-_NEAR_BEFORE:]), " ".join(after.split()[:_NEAR_AFTER]))
    agent_in, effect_in = reversed(near) if match.group("passive") else near
    return Link(agent_in, effect_in, is_denied, denial, affirmation)


def is_vaccine(name: str) -> bool:
    """Whether a thing's name is that of a vaccine, or a word for vaccination."""
    return _IS_VACCINE.search(name) is not None


def authority_on(text: str) -> str:
    """Which authority speaks on a text's subject; "WHO" where no other is nearer."""
    lowered = text.lower()
    return next((name for pattern, name in _AUTHORITIES if re.search(pattern, lowered)), "WHO")
