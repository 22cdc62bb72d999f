"""What a sentence of a note says otherwise than the passage that should carry it.

Each check returns the words of the note it is about, a sentence for a person, and how far the
support falls. The kinds are those of CrowdNotes+ 4.3: factual errors, exaggeration, selective framing.
"""

from __future__ import annotations

from dataclasses import dataclass

from crowdnotes.domain import Span
from crowdnotes.engines.local.polarity import polarity_differences
from crowdnotes.engines.local.quantities import Quantity, quantities
from crowdnotes.engines.local.strength import strength_differences
from crowdnotes.engines.local.swaps import swap_differences
from crowdnotes.engines.local.terms import term_differences
from crowdnotes.engines.local.verdicts import Difference
from crowdnotes.text.stems import content_tokens


@dataclass(frozen=True, slots=True)
class Compared:
    """The two sides: a sentence of the note, the piece that carries it, and all the passage."""

    sentence: str
    carrier: str
    passage: str


def differences(sides: Compared) -> list[Difference]:
    """All differences, most serious first. Offsets are in `sides.sentence`."""
    if not content_tokens(sides.sentence):  # "95%." has no words that could be denied or overstated
        return _number_differences(sides)
    found = [
        *_number_differences(sides),
        *polarity_differences(sides.sentence, sides.carrier, sides.passage),
        *strength_differences(sides.sentence, sides.carrier, sides.passage),
        *term_differences(sides.sentence, sides.carrier, sides.passage),
        *swap_differences(sides.sentence, sides.passage),
    ]
    return sorted(found, key=lambda difference: (difference.factor, difference.span.start))


def _number_differences(sides: Compared) -> list[Difference]:
    """Numbers of the note that the passage does not hold, or holds for another unit.

    The whole passage is searched: a number may stand a sentence before the one that carries the rest.
    """
    in_carrier = quantities(sides.carrier)
    in_passage = quantities(sides.passage)
    found = []
    for number in quantities(sides.sentence):
        if any(number.agrees_with(other) for other in _comparable(number, in_carrier)):
            continue
        elsewhere = any(number.agrees_with(other) for other in _comparable(number, in_passage))
        counterpart = _counterpart(number, in_carrier) or _counterpart(number, in_passage)
        if elsewhere and not _counterpart(number, in_carrier):
            continue
        span = Span(start=number.start, end=number.end)
        if counterpart is not None:
            message = f"The note says “{number.text}”, the passage says “{counterpart.text}”."
        elif elsewhere:
            message = f"The passage says “{number.text}” of something else."
        else:
            message = f"The number “{number.text}” is not in the passage."
        found.append(Difference("number", message, span, 0.6 if elsewhere else 0.45))
    return found


def _comparable(number: Quantity, others: list[Quantity]) -> list[Quantity]:
    """Of several numbers those in the same unit, if there are any: 3 years is not "three drinks"."""
    same = [other for other in others if other.unit == number.unit]
    return same if same and number.unit else others


def _counterpart(number: Quantity, others: list[Quantity]) -> Quantity | None:
    """The passage's number that counts the same thing, or else the only one there is."""
    same_unit = [other for other in others if other.unit == number.unit and number.unit]
    same_value = [other for other in others if other.value == number.value]
    pool = same_value or same_unit or (others if len(others) == 1 else [])
    return min(pool, key=lambda other: abs(other.value - number.value)) if pool else None
