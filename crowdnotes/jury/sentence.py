"""One plain sentence for a verdict: what each side would do, and no more than the simulation can tell.

Where chance alone decides on which side of the line a note lands, or the model sees no more in it than in
any note, the sentence says that in the place of what the votes look like.
"""

from __future__ import annotations

from collections.abc import Sequence

from crowdnotes.domain import Influence, Interval, SideVotes

_MOSTLY = 0.6  # mean rating from which a side "would mostly find it helpful"
_SELDOM = 0.4
_CLOSE = 0.08  # sides closer than this are called alike
_WORTH_NAMING = 0.02
# The chance that a note divides the sides, about its share among all notes that the model learned from (0.43).
_LIKE_ANY_NOTE = (0.3, 0.6)


def like_any_note(splits: float | None) -> bool:
    """Whether the model cannot tell the note from an average one; False where it does not say how likely it divides."""
    return splits is not None and _LIKE_ANY_NOTE[0] <= splits <= _LIKE_ANY_NOTE[1]


def plain_sentence(
    negative: SideVotes,
    positive: SideVotes,
    influences: Sequence[Influence],
    *,
    interval: Interval,
    line: float,
    splits: float | None,
) -> str:
    """For instance: "Both sides would mostly find this note helpful; side + less".

    interval: of the note intercept over repeated juries. line: the intercept that shows a note.
    splits: the model's chance that the note divides the sides, None where it has none.
    """
    low, high = negative.mean, positive.mean
    if low is None or high is None:
        alone = negative if high is None else positive
        return f"Only side {alone.side} sits on this jury, and it {_would(alone.mean or 0.0)} find this note helpful."
    harsher = positive if low >= high else negative
    apart = abs(low - high) >= _CLOSE
    because = _because(harsher, influences) if apart else ""
    less = f"; side {harsher.side} finds it helpful less often{because}" if apart else ""
    if interval.low < line <= interval.high:
        return f"Too close to call: some of the simulated juries would show this note, others would not{less}."
    if like_any_note(splits):
        return f"The simulation cannot tell this note from an average one{less}."
    return _of_votes(negative if harsher is positive else positive, harsher, interval.high < line, less, because)


def _of_votes(kinder: SideVotes, harsher: SideVotes, under_the_line: bool, less: str, because: str) -> str:
    top, bottom = kinder.mean or 0.0, harsher.mean or 0.0
    if bottom >= _MOSTLY:
        if under_the_line:
            return f"Nothing in the words divides the two sides; whether they like it, words alone hardly tell{less}."
        return f"Both sides would mostly find this note helpful{less}."
    if top < _SELDOM:
        return "Neither side would find this note helpful."
    if top >= _MOSTLY:
        return f"Side {kinder.side} would mostly find this note helpful; side {harsher.side} {_would(bottom)}{because}."
    return f"Neither side is won{less}." if less else "Each side is divided over this note."


def _would(mean: float) -> str:
    if mean >= _MOSTLY:
        return "would mostly"
    return "would seldom" if mean < _SELDOM else "would about half the time"


def _because(harsher: SideVotes, influences: Sequence[Influence]) -> str:
    """The word that costs the harsher side most, if one does."""

    def cost(found: Influence) -> float:
        return found.on_negative if harsher.side == "−" else found.on_positive

    words = [found for found in influences if not found.whole_sentence and cost(found) <= -_WORTH_NAMING]
    if not words:
        return ""
    named = min(words, key=cost).words
    if named.startswith(("http://", "https://")):
        return f", most of all because of the link to {named.split('/')[2]}"
    return f', most of all because of "{named}"'
