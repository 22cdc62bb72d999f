"""Two things that the note has changed places: "A more than B" for "B more than A", "from 9 to 4" for "from 4 to 9".

Every word is in the passage, so only the order tells.
"""

from __future__ import annotations

import re
from itertools import pairwise

from crowdnotes.domain import Span
from crowdnotes.engines.local.quantities import quantities
from crowdnotes.engines.local.verdicts import Difference
from crowdnotes.text.stems import Token, content_tokens

_MORE = re.compile(r"\b(?:more|higher|greater|larger|better|safer|\w{3,}ier|oftener)\b", re.IGNORECASE)
_LESS = re.compile(r"\b(?:less|fewer|lower|smaller|worse|rarer)\b", re.IGNORECASE)
_THAN = re.compile(r"\bthan\s+(?:in |among |with |for |by |to )?(?:the |an? )?", re.IGNORECASE)
_STOP = re.compile(r"[.;:!?]")
_JOINED = re.compile(r"\b(?:to|against|than)\b")
_REACH = 8


def swap_differences(sentence: str, passage: str) -> list[Difference]:
    """What stands on the wrong side of a comparison or of a change, at the words of the sentence."""
    return [*_compared(sentence, passage), *_changed(sentence, passage)]


def _compared(sentence: str, passage: str) -> list[Difference]:
    """Finds “women … more often than men”, where the passage has men before "than" and women after it."""
    theirs = [_sides(passage, match) for match in _THAN.finditer(passage)]
    for match in _THAN.finditer(sentence):
        before, after, more = _sides(sentence, match)
        for other_before, other_after, other_more in theirs:
            if after is None or other_after is None or not before or more is None or more != other_more:
                continue
            swapped = after.stem != other_after.stem and {after.stem} <= {t.stem for t in other_before}
            if swapped and other_after.stem in {token.stem for token in before}:
                message = f"The passage compares the other way round: “than {other_after.text}”."
                return [Difference("swap", message, Span(start=match.start(), end=after.end), 0.45)]
    return []


def _sides(text: str, than: re.Match[str]) -> tuple[list[Token], Token | None, bool | None]:
    """The words before a "than" in its clause, the first after it, and whether it says more (None: neither)."""
    start = max((stop.end() for stop in _STOP.finditer(text, 0, than.start())), default=0)
    tokens = content_tokens(text)
    before = [token for token in tokens if start <= token.start < than.start()][-_REACH:]
    after = next((token for token in tokens if token.start >= than.end()), None)
    clause = text[start : than.start()]
    more, less = bool(_MORE.search(clause)), bool(_LESS.search(clause))
    return before, after, more if more != less else None


def _changed(sentence: str, passage: str) -> list[Difference]:
    """Finds “from 310 to 120” where the passage goes from 120 to 310, or “12 percent … against 21” likewise."""
    mine, theirs = quantities(sentence), [(number.value, number.unit) for number in quantities(passage)]
    for first, second in pairwise(mine):
        joined = _JOINED.search(sentence, first.end, second.start)
        if first.value == second.value or first.unit != second.unit or joined is None:
            continue
        pairs = set(pairwise(theirs))
        here, there = (first.value, first.unit), (second.value, second.unit)
        if (there, here) in pairs and (here, there) not in pairs:
            message = f"The passage has these numbers the other way round: “{second.text}”, then “{first.text}”."
            return [Difference("swap", message, Span(start=first.start, end=second.end), 0.45)]
    return []
