"""Scores as a person reads them."""

from __future__ import annotations

_FEWEST_DIGITS = 2
_MOST_DIGITS = 4


def of_needed(score: float, threshold: float) -> str:
    """Both, as "0.55 of the 0.82 needed", with the two to four digits that it takes to tell them apart."""
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS + 1):
        if f"{score:.{digits}f}" != f"{threshold:.{digits}f}":
            return f"{score:.{digits}f} of the {threshold:.{digits}f} needed"
    return f"{score:.{_FEWEST_DIGITS}f} of the {threshold:.{_FEWEST_DIGITS}f} needed"
