"""How a text says things: what it denies, how surely and how widely, and what one thing does to another in it."""

from __future__ import annotations

import re
from itertools import islice

_MOST_CUES = 60  # a passage has some ten
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|nor|nobody|nothing|cannot|without|\w+n['’]t|(?:can|do|does|did|is|are|"
    r"was|were|wo|would|should|could|has|have|had)nt)\b",
    re.IGNORECASE,
)
# Say "no" without saying it.
_IMPLICIT = re.compile(
    r"\b(?:unable|unlikely|lack\w*|absence|absent|fail\w*|rare\w*|seldom|hardly|barely|false\w*|untrue|"
    r"myth\w*|incorrect|"
    r"wrong|den(?:y|ies|ied)|refut\w+|debunk\w*|disprov\w+|unproven|unsupported|unfounded|baseless|avoid\w*|"
    r"prohibit\w*|ban(?:s|ned)?|forbid\w*|exclud\w*|instead|rather|except|alone|only|impossible|"
    r"un(?:aware|safe|known|treated|common|proven)|in(?:effective|correct|accurate)|cease\w*|beyond|other than)\b",
    re.IGNORECASE,
)
# Fixed phrases in which "not" or "no" denies nothing that could be compared.
_IDLE = re.compile(
    r"\b(?:not only|no matter|whether or not|no longer than|no more than|no fewer than|not just)\b", re.IGNORECASE
)
ALL = re.compile(
    r"\b(?:all|every|each|both|entire(?!ly)|whole|always|everyone|everybody|anyone|any|whenever|everywhere|entirely|"
    r"completely|invariably|never|none|no one|guarantee\w*|without exception|100\s?%)",
    re.IGNORECASE,
)
CERTAIN = re.compile(
    r"\b(?:prov(?:e|es|ed|en|ing)|confirm(?:s|ed)?|definite(?:ly)?|certainly|undoubtedly|conclusive(?:ly)?|"
    r"beyond (?:any |all )?doubt|without (?:a |any )?doubt)\b",
    re.IGNORECASE,
)
# What a source says of the reach of its own finding.
SCOPE = re.compile(
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
HEDGE = re.compile(
    r"\b(?:may|might|could|possibl\w+|suggest\w*|appear\w*|seem\w*|perhaps|potential\w*|believed|thought to|unclear|"
    r"not (?:yet )?(?:known|clear|proven|certain)|under study|being (?:studied|tested)|likely|probabl\w+)\b",
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


def negations(text: str) -> list[re.Match[str]]:
    """The words that deny something: "not", "never", "doesn't", but not the "not" of "not only"."""
    idle = [match.span() for match in islice(_IDLE.finditer(text), _MOST_CUES)]
    cues = islice(_NEGATION.finditer(text), _MOST_CUES)
    return [cue for cue in cues if not any(a <= cue.start() < b for a, b in idle)]


def denies(text: str) -> bool:
    """Whether a text denies something, also without saying "not": "unlikely", "a myth"."""
    return bool(negations(text)) or _IMPLICIT.search(text) is not None


def is_of_degree(word: str) -> bool:
    """Whether a word says how surely or how widely something holds, or denies it: "proven", "may", "most", "rarely"."""
    return any(pattern.fullmatch(word) for pattern in (ALL, CERTAIN, _LIMITED, HEDGE, _IMPLICIT, _IDLE))


def effects_of(text: str) -> dict[str, re.Match[str]]:
    """What a text says that one thing does to another ("cause", "prevent", "cure", "treat", "link"), and where."""
    return {name: match for name, pattern in _EFFECTS.items() if (match := pattern.search(text))}
