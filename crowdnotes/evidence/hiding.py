"""Declarations that hide an element: not displayed, transparent, moved off the screen, clipped to nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping

_NUMBER = re.compile(r"(-?(?:\d+(?:\.\d+)?|\.\d+))(px|em|rem|pt|%|vw|vh|)?$")
_FAR = {"px": -300.0, "pt": -200.0, "em": -20.0, "rem": -20.0, "%": -100.0, "vw": -100.0, "vh": -100.0, "": -300.0}

Style = Mapping[str, str]  # property to value, in lowercase


def is_hiding(style: Style) -> bool:
    """Whether an element with this style takes its words away from the reader."""
    if not style:
        return False
    if style.get("display") == "none" or style.get("content-visibility") == "hidden":
        return True
    opacity = length_of(style.get("opacity", ""))
    if opacity is not None and opacity[0] <= (5 if opacity[1] == "%" else 0.05):
        return True
    return _is_moved_away(style) or _is_clipped(style)


def _is_moved_away(style: Style) -> bool:
    places = ["text-indent", "margin-left", "margin-top"]
    if style.get("position") in ("absolute", "fixed", "relative"):
        places += ["left", "top", "right", "bottom"]
    for place in places:
        length = length_of(style.get(place, ""))
        if length is not None and length[0] <= _FAR[length[1]]:
            return True
    transform = style.get("transform", "")
    moved = (length_of(number) for number in re.findall(r"-\d[\w.%]*", transform) if "translate" in transform)
    return "scale(0" in transform.replace("scale(0.", "") or any(
        length is not None and length[0] <= 2 * _FAR[length[1]] for length in moved
    )


def _is_clipped(style: Style) -> bool:
    cut = style.get("clip", "") + style.get("clip-path", "")
    if re.search(r"rect\(\s*[01](?:px)?[\s,]+[01](?:px)?[\s,]+[01](?:px)?|inset\(\s*(?:50|100)%|circle\(\s*0", cut):
        return True
    if "hidden" not in style.get("overflow", "") and "clip" not in style.get("overflow", ""):
        return False
    sizes = (length_of(style.get(name, "")) for name in ("width", "height", "max-height", "max-width"))
    return any(size is not None and 0 <= size[0] <= 1 for size in sizes)


def length_of(value: str) -> tuple[float, str] | None:
    """Number and unit, "" for none, of a CSS length at the beginning of `value`; None when there is none."""
    found = _NUMBER.match(value.strip())
    return (float(found.group(1)), found.group(2) or "") if found else None
