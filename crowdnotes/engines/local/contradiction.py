"""A sentence of the note that a passage says the other way round, though another piece may seem to carry it.

"The season has been cancelled" beside "the season has not been cancelled": nearly the same words, and
"not" on one side alone. Looked for in every clause of every passage, not only in the best carrier.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from crowdnotes.domain import Evidence, Span
from crowdnotes.engines.local.polarity import hedges_a_denial, negations, second_verbs
from crowdnotes.engines.local.units import split_units
from crowdnotes.text.stems import stem, tokens

_SAME_WORDS = 0.6  # share of the sentence's words that a clause must hold to speak of the same thing
_AGREES = 0.1  # a clause that says it as the note does, and is at most this much further off, settles it
_FEWEST_WORDS = 2
_SCOPE = 3  # words after "not" that it may be about
_SHORT = 4  # a sentence of fewer words must be there whole: sharing most of it is chance
_CLAUSE = re.compile(
    r"[;:()]|,\s+(?:and|but|although|though|while|whereas|yet)\b|\b(?:but|although|whereas)\b", re.IGNORECASE
)
# A note packs more into a sentence: what a relative clause or a second "and" adds is compared on its own.
# Not at a colon: "False: …" denies what follows.
_NOTE_CLAUSE = re.compile(
    r"[;()]|,\s+(?:and|but|although|though|while|whereas|yet)\b|\b(?:but|although|whereas)\b|,\s+(?=(?:which|who|so|or)\b)",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:unless|until|without|except|only if|neither)\b", re.IGNORECASE)
_CARRIES_NO_MEANING = frozenset(
    "a an the of to and or in on at by for with that this it its is are was were be been being do does did has have had"
    " not no never none neither nor nobody nothing cannot can without any all".split()
)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """The clause that says the opposite, at evidence.passage.text[span]."""

    evidence: Evidence
    span: Span
    text: str


def find_contradiction(sentence: str, evidence: Sequence[Evidence]) -> Contradiction | None:
    """The clause nearest in words to one of the sentence's, if it denies what that says, or the reverse.

    None when a clause about as near says it as the sentence does, or when either side denies without
    saying "not" ("unlikely", "a myth", "unless"): that is left to `polarity`.
    """
    best: tuple[float, Contradiction] | None = None
    for span in _cut(sentence, 0, len(sentence), _NOTE_CLAUSE):
        found = _denied(sentence[span.start : span.end], sentence, evidence)
        if found is not None and (best is None or found[0] > best[0]):
            best = found
    return best[1] if best is not None else None


def _denied(words: str, sentence: str, evidence: Sequence[Evidence]) -> tuple[float, Contradiction] | None:
    """The nearest clause of the passages that says the opposite of these words, with the share of them it holds.

    What one side denies and the other's whole sentence denies too is said alike, in whichever clause it stands.
    """
    wanted = _words(words)
    if len(wanted) < _FEWEST_WORDS or hedges_a_denial(words) or _CONDITION.search(words):
        return None
    denied = len(negations(words))
    agrees = 0.0
    best: tuple[float, Contradiction] | None = None
    for item in evidence:
        for whole, span in _clauses(item.passage.text):
            clause = item.passage.text[span.start : span.end]
            share = len(wanted & _words(clause)) / len(wanted)
            if share < (_SAME_WORDS if len(wanted) >= _SHORT else 1.0) or hedges_a_denial(clause):
                continue
            other = len(negations(clause))
            if denied > 1 or other > 1 or _CONDITION.search(clause):
                agrees = max(agrees, share)  # "not … without": nobody can count that
            elif denied == other or _is_denied_in(words if denied else clause, whole if denied else sentence):
                agrees = max(agrees, share)
            elif (best is None or share > best[0]) and _denies(words if denied else clause, wanted & _words(clause)):
                best = (share, Contradiction(item, span, clause))
    return best if best is not None and best[0] > agrees + _AGREES else None


def _denies(text: str, shared: set[str]) -> bool:
    """Whether what a "not" of the text denies, the words after it or the one before, is what both sides speak of."""
    words = [(token.start, stem(token.folded)) for token in tokens(text) if token.folded not in _CARRIES_NO_MEANING]
    for cue in negations(text):
        after = [word for start, word in words if start >= cue.end()][:_SCOPE]
        before = [word for start, word in words if start < cue.start()][-1:]
        if shared & {*after, *before}:
            return True
    return False


def _is_denied_in(clause: str, sentence: str) -> bool:
    """Whether the other side's sentence denies all that a clause does."""
    denied = _denied_words(clause)
    return bool(denied) and denied <= _denied_words(sentence)


def _denied_words(text: str) -> set[str]:
    """The stem of the word that each "not" stands before."""
    words = [(token.start, stem(token.folded)) for token in tokens(text) if token.folded not in _CARRIES_NO_MEANING]
    return {word for cue in negations(text) for word in [word for start, word in words if start >= cue.end()][:1]}


def is_question(text: str) -> bool:
    """Whether a piece asks: it then carries no statement."""
    return text.rstrip("\"'”’) ").endswith("?")


def _words(text: str) -> set[str]:
    return {
        stem(token.folded)
        for token in tokens(text)
        if token.folded not in _CARRIES_NO_MEANING and not token.folded.endswith("n't")
    }


def _clauses(passage: str) -> list[tuple[str, Span]]:
    """The clauses of the passage's statements, each with its whole statement; a question says nothing either way."""
    return [
        (unit.text, span)
        for unit in split_units(passage)
        if not is_question(unit.text)
        for span in _cut(passage, unit.span.start, unit.span.end, _CLAUSE)
    ]


def _cut(text: str, start: int, end: int, at: re.Pattern[str]) -> list[Span]:
    pieces: list[Span] = []
    joints = [joint for joint in second_verbs(text) if start <= joint.start() < end]
    for cut in sorted([*at.finditer(text, start, end), *joints], key=lambda cut: cut.start()):
        if cut.start() < start:
            continue
        pieces.append(Span(start=start, end=cut.start()))
        start = cut.end()
    return [*pieces, Span(start=start, end=end)]
