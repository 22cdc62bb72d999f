"""Negations and opposites, "does not spread" against "spreads"; and the pieces of a passage that are compared."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from crowdnotes.domain import Span
from crowdnotes.text.sentences import split_sentences
from crowdnotes.text.stems import Token, content_tokens, stem


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference: `span` in the note's sentence, `message` for a person.

    `factor` in (0, 1] multiplies the sentence's support; `serious` ones alone keep it from
    counting as supported.
    """

    kind: str
    message: str
    span: Span
    factor: float
    serious: bool = True


_BULLET = re.compile(r"\s+(?:-|–|•|\*|·)\s+(?=\S)|\s{3,}|\t+")
_LONG = 420
_CLAUSE_END = re.compile(r"[;:]\s+")
_MOST_UNITS = 400  # a passage is about 512 tokens; what is longer was not cut by this program


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence or list item at passage[start:end], with its content words."""

    text: str
    span: Span
    content: tuple[Token, ...]
    stems: frozenset[str]


@lru_cache(maxsize=512)
def split_units(passage: str) -> tuple[Unit, ...]:
    """The pieces of a passage in order; empty text gives none."""
    units: list[Unit] = []
    for sentence in split_sentences(passage):
        for start, end in _pieces(passage, sentence.start, sentence.end):
            text = passage[start:end]
            content = tuple(content_tokens(text))
            if content:
                units.append(Unit(text, Span(start=start, end=end), content, frozenset(t.stem for t in content)))
        if len(units) >= _MOST_UNITS:
            break
    return tuple(units)


@lru_cache(maxsize=512)
def passage_stems(passage: str) -> frozenset[str]:
    """The stems of all content words of a passage."""
    return frozenset(token.stem for token in content_tokens(passage))


def _pieces(text: str, start: int, end: int) -> list[tuple[int, int]]:
    pieces = _cut(text, start, end, _BULLET)
    out: list[tuple[int, int]] = []
    for a, b in pieces:
        out.extend(_cut(text, a, b, _CLAUSE_END) if b - a > _LONG else [(a, b)])
    return out


def _cut(text: str, start: int, end: int, at: re.Pattern[str]) -> list[tuple[int, int]]:
    out = []
    begin = start
    for match in at.finditer(text, start, end):
        out.append((begin, match.start()))
        begin = match.end()
    out.append((begin, end))
    return [(a, b) for a, b in out if text[a:b].strip(" -–•*·\t\n")]


_NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|nor|nobody|nothing|cannot|without|\w+n['’]t|(?:can|do|does|did|is|are|"
    r"was|were|wo|would|should|could|has|have|had)nt)\b",
    re.IGNORECASE,
)
# Say "no" without saying it; enough to excuse a missing "not", too weak to accuse by themselves.
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
# Deny the statement that follows them in the same sentence: "False: ...", "it is a myth that ...".
_FALSE = r"(?:false|untrue|incorrect|wrong|fake|baseless|unfounded|debunked|(?:a )?(?:myth|hoax|lie))"
_DENIES_REST = re.compile(
    rf"^\W*(?:{_FALSE}\s*[:–—-]|no\.(?=\s+[A-Z])|no[:–—])|\b{_FALSE} that\b|"
    rf"\b(?:claim|idea|notion|belief) that\b(?=[^.;]*\b(?:is|are) {_FALSE}\b)",
    re.IGNORECASE,
)
_DENIAL = re.compile(rf"\b(?:{_FALSE}|no)\b", re.IGNORECASE)
_SCOPE_END = re.compile(
    r"[;:.!?()]|\b(?:but|although|though|while|whereas|yet|however|unless|except|because)\b", re.IGNORECASE
)
_FINITE = r"\b(?:is|are|was|were|has|have|had|will|would|can|could|may|does|do|did)(?:n['’]t)?\b"
_AND_THEN = re.compile(rf"\band\b(?=\s+(?:[^\s,;:.!?()]+\s+){{0,5}}?{_FINITE})", re.IGNORECASE)
_ENDS_WITH_VERB = re.compile(rf"{_FINITE}[^.;:!?()]*$", re.IGNORECASE)
_SCOPE_WORDS = 5
_MOST_CUES = 60  # a passage has some ten; each is compared with all the words around it
_LONGEST_CLAUSE = 200  # characters

_OPPOSITES: tuple[tuple[str, str], ...] = (
    (
        "increase increases increased increasing raise raises raised rise rises rose higher more greater "
        "grow grows grew",
        "decrease decreases decreased decreasing reduce reduces reduced lower lowers lowered less fewer "
        "decline declines declined drop drops dropped fall falls fell cut cuts",
    ),
    ("safe safely safety harmless", "unsafe dangerous harmful harm harms toxic hazardous"),
    (
        "approve approves approved authorized licensed",
        "ban bans banned reject rejects rejected prohibited withdrawn unapproved",
    ),
    ("effective works", "ineffective useless"),
    ("common frequent commonly frequently often", "rare rarely uncommon seldom infrequent"),
    ("benign noncancerous harmless", "malignant cancerous"),
    ("improve improves improved better", "worsen worsens worsened worse"),
    ("legal legally allowed permitted", "illegal illegally forbidden prohibited"),
    ("reversible temporary", "irreversible permanent permanently lasting"),
    ("curable", "incurable"),
    ("acute", "chronic"),
    ("before", "after"),
    ("mild", "severe"),
    ("male males men boys", "female females women girls"),
    ("first", "last"),
    ("majority most", "minority few"),
    ("early", "late"),
    ("true correct accurate", "false incorrect inaccurate"),
)
_SIDES = tuple((frozenset(a.split()), frozenset(b.split())) for a, b in _OPPOSITES)


def polarity_differences(sentence: str, carrier: str, passage: str) -> list[Difference]:
    """Negations on one side alone, about words that both sides use, and opposite words."""
    return [
        *_added_negations(sentence, carrier, passage),
        *_lost_negations(sentence, carrier),
        *_opposites(sentence, carrier),
    ]


def negations(text: str) -> list[re.Match[str]]:
    """The words that deny something: "not", "never", "doesn't", but not the "not" of "not only"."""
    idle = [match.span() for match in islice(_IDLE.finditer(text), _MOST_CUES)]
    cues = islice(_NEGATION.finditer(text), _MOST_CUES)
    return [cue for cue in cues if not any(a <= cue.start() < b for a, b in idle)]


def hedges_a_denial(text: str) -> bool:
    """Whether the text denies without saying "not" ("unlikely", "a myth"), so that counting "not" misleads."""
    return bool(_IMPLICIT.search(text) or _DENIES_REST.search(text) or _IDLE.search(text))


@lru_cache(maxsize=512)
def second_verbs(text: str) -> tuple[re.Match[str], ...]:
    """Each "and" between two clauses with a verb of their own: "were not secret and figures were published".

    What "not" denies ends there; in "no cats and dogs are allowed" it does not.
    """
    return tuple(
        joint
        for joint in _AND_THEN.finditer(text)
        if _ENDS_WITH_VERB.search(text[max(0, joint.start() - _LONGEST_CLAUSE) : joint.start()])
    )


def _scope(text: str, content: list[Token], cue: re.Match[str]) -> list[Token]:
    """The content words that a negation governs: the next few, up to the end of its clause."""
    end_match = _SCOPE_END.search(text, cue.end())
    end = end_match.start() if end_match else len(text)
    end = min([end, *(joint.start() for joint in second_verbs(text) if joint.start() >= cue.end())])
    return [token for token in content if cue.end() <= token.start < end][:_SCOPE_WORDS]


def _governed(text: str, content: list[Token]) -> set[str]:
    return {token.stem for cue in negations(text) for token in _scope(text, content, cue)}


def _clause_of(text: str, position: int) -> str:
    start = max((match.end() for match in _SCOPE_END.finditer(text, 0, position)), default=0)
    after = _SCOPE_END.search(text, position)
    return text[start : after.start() if after else len(text)]


def _added_negations(sentence: str, carrier: str, passage: str) -> list[Difference]:
    content, other = content_tokens(sentence), content_tokens(carrier)
    stems, governed = {token.stem for token in other}, _governed(carrier, other)
    around = content_tokens(passage)
    elsewhere = [{token.stem for token in _scope(passage, around, cue)} for cue in negations(passage)]
    found = []
    for cue in [*negations(sentence), *islice(_DENIES_REST.finditer(sentence), _MOST_CUES)]:
        shared = [token for token in _scope(sentence, content, cue) if token.stem in stems]
        if not shared or any(token.stem in governed for token in shared):
            continue
        denied = {token.stem for token in _scope(sentence, content, cue)}
        if any(len(denied & other_denied) >= 2 for other_denied in elsewhere):
            continue  # the passage denies it in another sentence
        places = [token for token in other if token.stem in {word.stem for word in shared}]
        if any(_IMPLICIT.search(_clause_of(carrier, token.start)) for token in places):
            continue
        word = _DENIAL.search(sentence, cue.start()) if cue.re is _DENIES_REST else cue
        message = f"The note says “{(word or cue).group()}” of “{shared[0].text}”; the passage does not."
        found.append(Difference("negation", message, Span(start=cue.start(), end=shared[-1].end), 0.5))
    return found


def _lost_negations(sentence: str, carrier: str) -> list[Difference]:
    content, other = content_tokens(sentence), content_tokens(carrier)
    by_stem = {token.stem: token for token in content}
    governed = _governed(sentence, content)
    for cue in negations(carrier):
        scope = _scope(carrier, other, cue)
        shared = [by_stem[token.stem] for token in scope if token.stem in by_stem]
        # The word right after the negation is what it denies: without it, the rest is chance.
        if len(shared) < 2 or scope[0].stem not in by_stem or any(token.stem in governed for token in shared):
            continue
        clause = _clause_of(sentence, shared[0].start)
        if _IMPLICIT.search(clause) or negations(clause) or _DENIES_REST.search(sentence):
            continue
        message = f"The passage says “{cue.group()}” of “{shared[0].text}”; the note does not."
        first, last = min(token.start for token in shared), max(token.end for token in shared)
        return [Difference("negation", message, Span(start=first, end=last), 0.5)]
    return []


def _opposites(sentence: str, carrier: str) -> list[Difference]:
    words = {match.group().lower(): match for match in re.finditer(r"[^\W\d_]+", sentence)}
    others = set(re.findall(r"[^\W\d_]+", carrier.lower()))
    # Opposites count only where the two sides speak of the same thing.
    shared = {token.stem for token in content_tokens(sentence)} & {token.stem for token in content_tokens(carrier)}
    if len(shared) < 2 or negations(sentence) or negations(carrier):
        return []
    for pair in _SIDES:
        for here, there in (pair, pair[::-1]):
            mine, theirs = here & words.keys(), there & others
            if mine and theirs and not (here & others) and not (there & words.keys()):
                word, opposite = min(mine), min(theirs)
                if stem(word) == stem(opposite):
                    continue
                match = words[word]
                message = f"The note says “{match.group()}”, the passage says “{opposite}”."
                return [Difference("opposite", message, Span(start=match.start(), end=match.end()), 0.6)]
    return []
