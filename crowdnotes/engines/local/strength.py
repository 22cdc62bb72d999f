"""How strongly something is said: all against most, certain against "may", cause against link."""

from __future__ import annotations

import re

from crowdnotes.domain import Span
from crowdnotes.engines.local.polarity import negations
from crowdnotes.engines.local.verdicts import Difference
from crowdnotes.text.stems import content_tokens

_GOVERNED = 2

_ALL = re.compile(
    r"\b(?:all|every|each|both|entire(?!ly)|whole|always|everyone|everybody|anyone|any|whenever|everywhere|entirely|"
    r"completely|invariably|never|none|no one|guarantee\w*|without exception|100\s?%)",
    re.IGNORECASE,
)
_CERTAIN = re.compile(
    r"\b(?:prov(?:e|es|ed|en|ing)|confirm(?:s|ed)?|definite(?:ly)?|certainly|undoubtedly|conclusive(?:ly)?|"
    r"beyond (?:any |all )?doubt|without (?:a |any )?doubt)\b",
    re.IGNORECASE,
)
# "Not always" and "some people get all of them" do not generalise.
_NO_UNIVERSAL = re.compile(
    r"(?:\b(?:not|hardly|nearly|almost)|n['’]t) (?:be )?$|\b(?:some|many|most|few) [^.;,]*$", re.IGNORECASE
)
_KINDS = re.compile(r"\s+(?:kinds|sorts|types)\b", re.IGNORECASE)
# What a source says of the reach of its own finding.
_SCOPE = re.compile(
    r"\b(?:(?:one|a single|(?:a|the|this|its|our) first) (?:\w+ )?(?:sample|bottle|case|study|patient|trial|test|site)|"
    r"only (?:one|two|three|a few|in|at|on|for)\b|(?:in|at|on|for) (?:the |a )?[\w ]{1,30} (?:only|alone)\b|"
    r"small (?:\w+ )?(?:study|trial|sample|number|group)|pilot (?:study|trial)|preliminary|not yet|"
    r"until (?:a|the|more|further|then)|(?:says?|tells?(?: us)?) nothing (?:about|of)|"
    r"(?:do|does|did|can)(?: not|n['’]t|not) (?:say|tell|show|mean|prove)\b|in (?:mice|rats|animals|cells|vitro)|"
    r"(?:mouse|animal|laboratory|test[- ]tube) (?:study|studies|experiments?|tests?)|in (?:a|the) (?:laboratory|lab)\b|"
    r"more (?:research|studies|data) (?:is|are) needed)",
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
        r"responsible for|trigger\w*|produc(?:e|es|ed|ing)|comes? from|gives? rise|creat\w+|induc\w+)\b",
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
_CLAUSE_END = re.compile(r"[.;:!?]|,\s|\b(?:but|and|which|that)\b", re.IGNORECASE)
_CLAIMS_MORE = {"cause": "link", "cure": "treat", "prevent": "treat"}


def is_of_degree(word: str) -> bool:
    """Whether a word says how surely or how widely something holds: "proven", "may", "most", "always"."""
    return any(pattern.fullmatch(word) for pattern in (_ALL, _CERTAIN, _LIMITED, _HEDGE))


def effects_of(text: str) -> dict[str, re.Match[str]]:
    """What a text says that one thing does to another ("cause", "prevent", "cure", "treat", "link"), and where."""
    return {name: match for name, pattern in _EFFECTS.items() if (match := pattern.search(text))}


def strength_differences(sentence: str, carrier: str, passage: str) -> list[Difference]:
    """Overgeneralised, overconfident or causally overstated words of the note, and limits of the source it drops."""
    broad = _overgeneral(sentence, carrier)
    certain = _overconfident(sentence, carrier)
    return [
        *broad,
        *certain,
        *_lost_scope(sentence, passage, [*broad, *certain]),
        *_lost_hedge(sentence, carrier),
        *_effects(sentence, carrier),
    ]


def _overgeneral(sentence: str, carrier: str) -> list[Difference]:
    theirs = [(match.group().lower(), _governed(carrier, match)) for match in _ALL.finditer(carrier)]
    for match in _ALL.finditer(sentence):
        mine = _governed(sentence, match)
        if _NO_UNIVERSAL.search(sentence[: match.start()]) or _KINDS.match(sentence[match.end() :]):
            continue
        if any(mine & nouns or (word == match.group().lower() and not (mine and nouns)) for word, nouns in theirs):
            continue  # the passage says as much of the same thing
        limit = _SCOPE.search(carrier) or (None if theirs else _LIMITED.search(carrier))
        message = f"The note says “{match.group()}”; the passage " + (
            f"says “{limit.group()}”." if limit else "does not go that far."
        )
        span = Span(start=match.start(), end=match.end())
        return [Difference("overgeneralisation", message, span, 0.55 if limit else 0.8, serious=limit is not None)]
    return []


def _governed(text: str, universal: re.Match[str]) -> set[str]:
    """The stems of the next words that "all" or "every" may be said of; empty when none follows."""
    clause = re.split(r"[.,;:!?]", text[universal.end() :], maxsplit=1)[0]
    return {token.stem for token in content_tokens(clause)[:_GOVERNED]}


def _overconfident(sentence: str, carrier: str) -> list[Difference]:
    match = _CERTAIN.search(sentence)
    if match is None or _CERTAIN.search(carrier):
        return []
    message = f"The note says “{match.group()}”; the passage does not claim that certainty."
    return [Difference("certainty", message, Span(start=match.start(), end=match.end()), 0.8, serious=False)]


def _lost_scope(sentence: str, passage: str, overstated: list[Difference]) -> list[Difference]:
    """Limits that the passage sets and the note drops, once the note generalises or speaks with certainty."""
    limit = _SCOPE.search(passage)
    if limit is None or not overstated or _SCOPE.search(sentence):
        return []
    message = f"The passage limits this (“{limit.group().strip()}”); the note drops the limit."
    return [Difference("scope", message, overstated[0].span, 0.6)]


def _lost_hedge(sentence: str, carrier: str) -> list[Difference]:
    hedge = _HEDGE.search(carrier)
    if hedge is None or _SOFT.search(sentence):
        return []
    message = f"The passage says “{hedge.group()}”; the note states it as certain."
    return [Difference("hedge", message, Span(start=0, end=len(sentence)), 0.8, serious=False)]


def _is_denied(sentence: str, word: re.Match[str]) -> bool:
    """Whether a negation stands before a word in its clause."""
    return any(
        cue.end() <= word.start() and not _CLAUSE_END.search(sentence, cue.end(), word.start())
        for cue in negations(sentence)
    )


def _effects(sentence: str, carrier: str) -> list[Difference]:
    mine, theirs = effects_of(sentence), effects_of(carrier)
    for strong, weak in _CLAIMS_MORE.items():
        if strong in mine and strong not in theirs and weak in theirs:
            word, other = mine[strong], theirs[weak]
            if _is_denied(sentence, word):  # who denies a cause claims less than who denies a link
                continue
            message = f"The note says “{word.group()}”, the passage only says “{other.group()}”."
            return [Difference("causality", message, Span(start=word.start(), end=word.end()), 0.55)]
    if "treat" in mine and "treat" not in theirs and "prevent" in theirs and "prevent" not in mine:
        word, other = mine["treat"], theirs["prevent"]
        message = f"The note says “{word.group()}”, the passage says “{other.group()}”."
        return [Difference("causality", message, Span(start=word.start(), end=word.end()), 0.7)]
    return []
