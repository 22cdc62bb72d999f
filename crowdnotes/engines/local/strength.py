"""How strongly something is said: all against most, certain against "may", cause against link."""

from __future__ import annotations

import re

from crowdnotes.domain import Span
from crowdnotes.engines.local.verdicts import Difference

_ALL = re.compile(
    r"\b(?:all|every|each|always|everyone|everybody|anyone|any|whenever|entirely|completely|invariably|never|"
    r"none|no one|"
    r"guarantee\w*|definitely|certainly|every case|without exception|100\s?%)\b",
    re.IGNORECASE,
)
_LIMITED = re.compile(
    r"\b(?:most|many|some|several|few|usually|often|generally|typically|sometimes|mainly|mostly|commonly|"
    r"occasionally|"
    r"may|might|can|could|possibl\w+|likely|probabl\w+|up to|about half|nearly|almost|in some cases|at times|certain|"
    r"suggest\w*|appear\w*|seem\w*|rarely|tend\w*|partly|frequent\w*|majority|largely|primarily|believed|"
    r"thought|unclear|not always)\b",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:may|might|could|possibl\w+|suggest\w*|appear\w*|seem\w*|perhaps|potential\w*|believed|thought to|unclear|"
    r"not (?:yet )?(?:known|clear|proven|certain)|under study|being (?:studied|tested)|likely|probabl\w+)\b",
    re.IGNORECASE,
)
_SOFT = re.compile(
    rf"{_HEDGE.pattern}|\b(?:can|sometimes|often|usually|some|many|most|in some|at times|stud(?:y|ied)|research)\b",
    re.IGNORECASE,
)
# What one thing is said to do to another. The order is of no weight; the classes must meet.
_EFFECTS: dict[str, re.Pattern[str]] = {
    "cause": re.compile(
        r"\b(?:caus(?:e|es|ed|ing)|due to|brought on by|brings? on|leads? to|led to|results? (?:in|from)|because of|"
        r"responsible for|trigger\w*|produc\w+|comes? from|gives? rise|creat\w+|induc\w+)\b",
        re.IGNORECASE,
    ),
    "prevent": re.compile(
        r"\b(?:prevent\w*|keeps? \S+(?: \S+){0,3} from|protect\w*|stops? \S+ from|avoid\w*|immun\w+|ward\w* off)\b",
        re.IGNORECASE,
    ),
    "cure": re.compile(
        r"\b(?:cur(?:e|es|ed|ing|able)|eliminat\w+|gets? rid|eradicat\w+|revers(?:e|es|ed|ing))\b", re.IGNORECASE
    ),
    "treat": re.compile(
        r"\b(?:treat\w*|therap\w*|manag\w+|control\w*|reliev\w+|eas(?:e|es|ed|ing)|help\w*|improv\w+|slow\w*|"
        r"reduc\w+|lower\w*|correct\w*|clear\w*|decreas\w+)\b",
        re.IGNORECASE,
    ),
    "link": re.compile(
        r"\b(?:associat\w+|links?|linked|correlat\w+|risks?|related|tied|connect\w+|chance|likely|"
        r"play a (?:role|part)|contribut\w+|factors?|worse\w*|aggravat\w+)\b",
        re.IGNORECASE,
    ),
}
_CLAIMS_MORE = {"cause": "link", "cure": "treat", "prevent": "treat"}


def strength_differences(sentence: str, carrier: str) -> list[Difference]:
    """Overgeneralised, overconfident or causally overstated words of the note."""
    return [*_overgeneral(sentence, carrier), *_lost_hedge(sentence, carrier), *_effects(sentence, carrier)]


def _overgeneral(sentence: str, carrier: str) -> list[Difference]:
    match = _ALL.search(sentence)
    if match is None or _ALL.search(carrier):
        return []
    limit = _LIMITED.search(carrier)
    message = f"The note says “{match.group()}”; the passage " + (
        f"says “{limit.group()}”." if limit else "does not go that far."
    )
    span = Span(start=match.start(), end=match.end())
    return [Difference("overgeneralisation", message, span, 0.55 if limit else 0.8, serious=limit is not None)]


def _lost_hedge(sentence: str, carrier: str) -> list[Difference]:
    hedge = _HEDGE.search(carrier)
    if hedge is None or _SOFT.search(sentence):
        return []
    message = f"The passage says “{hedge.group()}”; the note states it as certain."
    return [Difference("hedge", message, Span(start=0, end=len(sentence)), 0.8, serious=False)]


def _effects(sentence: str, carrier: str) -> list[Difference]:
    mine = {name: match for name, pattern in _EFFECTS.items() if (match := pattern.search(sentence))}
    theirs = {name: match for name, pattern in _EFFECTS.items() if (match := pattern.search(carrier))}
    for strong, weak in _CLAIMS_MORE.items():
        if strong in mine and strong not in theirs and weak in theirs:
            word, other = mine[strong], theirs[weak]
            message = f"The note says “{word.group()}”, the passage only says “{other.group()}”."
            return [Difference("causality", message, Span(start=word.start(), end=word.end()), 0.55)]
    if "treat" in mine and "treat" not in theirs and "prevent" in theirs and "prevent" not in mine:
        word, other = mine["treat"], theirs["prevent"]
        message = f"The note says “{word.group()}”, the passage says “{other.group()}”."
        return [Difference("causality", message, Span(start=word.start(), end=word.end()), 0.7)]
    return []
