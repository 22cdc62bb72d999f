"""A sentence of the note that a passage says the other way round, though another piece may seem to carry it.

"The season has been cancelled" beside "the season has not been cancelled": nearly the same words, and
"not" on one side alone. Looked for in every clause of every passage, not only in the best carrier.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from crowdnotes.domain import Evidence, Span
from crowdnotes.engines.local.polarity import hedges_a_denial, negations
from crowdnotes.engines.local.units import split_units
from crowdnotes.engines.local.words import stem, tokens

_SAME_WORDS = 0.6  # share of the sentence's words that a clause must hold to speak of the same thing
_AGREES = 0.1  # a clause that says it as the note does, and is at most this much further off, settles it
_FEWEST_WORDS = 2
_SHORT = 4  # a sentence of fewer words must be there whole: sharing most of it is chance
_CLAUSE = re.compile(
    r"[;:()]|,\s+(?:and|but|although|though|while|whereas|yet)\b|\b(?:but|although|whereas)\b", re.IGNORECASE
)
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
    """The clause nearest in words to the sentence, if it denies what the sentence says, or the reverse.

    None when a clause about as near says it as the sentence does, or when either side denies without
    saying "not" ("unlikely", "a myth"): that is left to `polarity`.
    """
    wanted = _words(sentence)
    if len(wanted) < _FEWEST_WORDS or hedges_a_denial(sentence):
        return None
    denied = bool(negations(sentence))
    agrees = 0.0
    best: tuple[float, Contradiction] | None = None
    for item in evidence:
        for span in _clauses(item.passage.text):
            clause = item.passage.text[span.start : span.end]
            share = len(wanted & _words(clause)) / len(wanted)
            if share < (_SAME_WORDS if len(wanted) >= _SHORT else 1.0) or hedges_a_denial(clause):
                continue
            if bool(negations(clause)) is denied:
                agrees = max(agrees, share)
            elif best is None or share > best[0]:
                best = (share, Contradiction(item, span, clause))
    return best[1] if best is not None and best[0] > agrees + _AGREES else None


def is_question(text: str) -> bool:
    """Whether a piece asks: it then carries no statement."""
    return text.rstrip("\"'”’) ").endswith("?")


def _words(text: str) -> set[str]:
    return {
        stem(token.folded)
        for token in tokens(text)
        if token.folded not in _CARRIES_NO_MEANING and not token.folded.endswith("n't")
    }


def _clauses(passage: str) -> list[Span]:
    """The clauses of the passage's statements; a question says nothing either way."""
    found: list[Span] = []
    for unit in split_units(passage):
        if is_question(unit.text):
            continue
        start = unit.span.start
        for cut in _CLAUSE.finditer(passage, unit.span.start, unit.span.end):
            found.append(Span(start=start, end=cut.start()))
            start = cut.end()
        found.append(Span(start=start, end=unit.span.end))
    return found
