"""Media queries of style sheets: which hold on the wide screen of a visitor with usual settings."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping

_SCREEN = {"width": 1280.0, "height": 800.0}  # pixels
_HOLDS = frozenset(
    "all screen (hover) (hover:hover) (any-hover:hover) (pointer:fine) (any-pointer:fine) (orientation:landscape)"
    " (prefers-color-scheme:light) (prefers-reduced-motion:no-preference)".split()
)
_FAILS = frozenset(
    "print speech (hover:none) (any-hover:none) (pointer:coarse) (pointer:none) (any-pointer:none)"
    " (orientation:portrait) (prefers-color-scheme:dark)"
    " (prefers-reduced-motion) (prefers-reduced-motion:reduce)".split()
)
_LENGTH = r"(\d*\.?\d+)(px|em|rem)"
_BOUND_PATTERN = re.compile(rf"\((min|max)-(width|height):{_LENGTH}\)")
_RANGE_PATTERN = re.compile(rf"\((width|height)([<>]=?|[:=]){_LENGTH}\)")
_BETWEEN_PATTERN = re.compile(rf"\({_LENGTH}<(=?)(width|height)<(=?){_LENGTH}\)")
_SIGNS: Mapping[str, Callable[[float, float], bool]] = {
    "min": operator.ge, "max": operator.le, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    ":": operator.eq, "=": operator.eq,
}  # fmt: skip
_MAX_CHARACTERS = 300  # of one query


def media_holds(queries: str) -> bool | None:
    """Return whether one of some media queries, in lowercase, holds; None where that depends on what is not known."""
    verdicts = [_query_holds(query.strip()[:_MAX_CHARACTERS]) for query in queries.split(",")]
    return True if True in verdicts else None if None in verdicts else False


def _query_holds(query: str) -> bool | None:
    is_not = query.startswith("not ")
    tight = re.sub(r"\s*([():<>=])\s*", r"\1", re.sub(r"^(?:not|only)\s", "", query).strip())
    tight = _BETWEEN_PATTERN.sub(r"(\4>\3\1\2)and(\4<\5\6\7)", tight)
    verdicts = [_condition_holds(condition) for condition in re.split(r"(?<=\))and\b\s*|\s+and\b\s*", tight)]
    verdict = False if False in verdicts else None if None in verdicts else True
    return verdict if verdict is None else verdict is not is_not


def _condition_holds(condition: str) -> bool | None:
    if condition in _HOLDS or condition in _FAILS or not condition:
        return condition not in _FAILS
    if found := _BOUND_PATTERN.fullmatch(condition):
        sign, name, number, unit = found.groups()
    elif found := _RANGE_PATTERN.fullmatch(condition):
        name, sign, number, unit = found.groups()
    else:
        return None
    return _SIGNS[sign](_SCREEN[name], float(number) * (1 if unit == "px" else 16))
