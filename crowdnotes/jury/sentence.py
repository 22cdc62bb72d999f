"""One plain sentence for a verdict: what each side would do, and what stands in the way."""

from __future__ import annotations

from collections.abc import Sequence

from crowdnotes.domain import Influence, SideVotes

_MOSTLY = 0.6  # mean rating from which a side "would mostly find it helpful"
_SELDOM = 0.4
_CLOSE = 0.08  # sides closer than this are called alike
_WORTH_NAMING = 0.02


def plain_sentence(negative: SideVotes, positive: SideVotes, influences: Sequence[Influence]) -> str:
    """For instance: "Both sides would mostly find this helpful; side + less"."""
    low, high = negative.mean, positive.mean
    if low is None or high is None:
        alone = negative if high is None else positive
        return f"Only side {alone.side} sits on this jury, and it {_would(alone.mean or 0.0)} find this note helpful."
    kinder, harsher = (negative, positive) if low >= high else (positive, negative)
    top, bottom = max(low, high), min(low, high)
    because = _because(harsher, influences) if top - bottom >= _CLOSE else ""
    if bottom >= _MOSTLY:
        words = "Both sides would mostly find this note helpful"
        return f"{words}; side {harsher.side} less{because}." if top - bottom >= _CLOSE else f"{words}."
    if top < _SELDOM:
        return "Neither side would find this note helpful."
    if top >= _MOSTLY:
        return f"Side {kinder.side} would mostly find this note helpful; side {harsher.side} {_would(bottom)}{because}."
    if top - bottom < _CLOSE:
        return "Each side is divided over this note."
    return f"Neither side is won: side {harsher.side} finds this note helpful less often{because}."


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
    return f', most of all because of "{min(words, key=cost).words}"'
