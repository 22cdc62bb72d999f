"""What a reader of the page cannot see is taken out before anything is extracted from it.

Text for programs alone (orders to a language model, words for search engines) must not become
evidence that a person believes to stand on the page. Judged are attributes, inline styles and simple
rules of the page's own style sheets (see `style_sheets`); those in other files are not fetched, so what
only they hide stays in. White words count as hidden unless another background is named.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tinycss2.color4 import parse_color

from crowdnotes.evidence.hiding import Style, is_hiding, length_of
from crowdnotes.evidence.style_sheets import StyleSheets

_NEVER_SHOWN = frozenset("template noscript datalist noframes noembed".split())
# The screen-reader classes of the common frameworks.
_HIDDEN_CLASSES = frozenset("sr-only visually-hidden screen-reader-text visuallyhidden".split())
_TINY = {"px": 2.0, "pt": 2.0, "em": 0.2, "rem": 0.2, "%": 20.0, "vw": 0.2, "vh": 0.2, "": 0.0}
_NEAR = 0.08  # of the range of each colour channel: nobody tells such colours apart

_PAINTS = ("background-image", "background-color", "background")
_WHOLE_PAGE = frozenset({"html", "body"})
_WHITE = (1.0, 1.0, 1.0)


def drop_hidden(tree: Any) -> None:
    """Take what is not shown out of an lxml tree, in place; what follows it stays. Inline styles go too.

    They have been judged, and extraction takes "overflow: hidden" for a hidden text.
    """
    unseen, wordless = _find(tree, StyleSheets(tree))
    for element in wordless:
        element.text = None
        for child in element:
            child.tail = None
    for element in unseen:
        element.drop_tree()
    for element in tree.iter():
        element.attrib.pop("style", None)


@dataclass(frozen=True, slots=True)
class _Look:
    """How words look here: what elements inherit, until one of them says otherwise."""

    colour: str = ""
    behind: tuple[float, ...] = _WHITE
    is_tiny: bool = False
    is_unseen: bool = False

    @property
    def shows_words(self) -> bool:
        return not (self.is_tiny or self.is_unseen or _is_same(self.colour, self.behind))

    def within(self, element: Any, style: Style) -> _Look:
        if not style and element.get("color") is None and element.get("bgcolor") is None:
            return self
        painted = next((style[name] for name in _PAINTS if style.get(name, "none") != "none"), "")
        sizes = [size for size in _font_sizes(style) if length_of(size) is not None]
        visibility = style.get("visibility", "")
        is_whole = element.tag in _WHOLE_PAGE  # hidden until a script shows it, as some sites do
        return _Look(
            colour=style.get("color") or element.get("color") or self.colour,
            behind=_painted(painted or element.get("bgcolor") or "", self.behind),
            is_tiny=_is_tiny(sizes[-1]) and not is_whole if sizes else self.is_tiny,
            is_unseen=visibility in ("hidden", "collapse") and not is_whole if visibility else self.is_unseen,
        )


def _find(root: Any, sheets: StyleSheets) -> tuple[list[Any], list[Any]]:
    """The outermost elements that are not shown, and shown ones whose own words are not to be seen.

    Walks without recursion: pages nest deeper than Python does.
    """
    unseen: list[Any] = []
    wordless: list[Any] = []
    stack = [(root, _Look())]
    while stack:
        element, around = stack.pop()
        if not isinstance(element.tag, str) or element.tag == "head":
            continue
        style = sheets.style_of(element)
        if element.tag not in _WHOLE_PAGE and (_is_marked(element) or is_hiding(style)):
            if element.getparent() is not None:
                unseen.append(element)
            continue
        look = around.within(element, style)
        if not look.shows_words:
            wordless.append(element)
        stack.extend((child, look) for child in element)
    return unseen, wordless


def _is_marked(element: Any) -> bool:
    if element.tag in _NEVER_SHOWN or element.get("hidden") is not None:
        return True
    if element.tag == "dialog" and element.get("open") is None:
        return True
    if (element.get("aria-hidden") or "").strip().lower() == "true":
        return True
    return not _HIDDEN_CLASSES.isdisjoint((element.get("class") or "").lower().split())


def _font_sizes(style: Style) -> Iterable[str]:
    yield style.get("font-size", "")
    yield from (word.partition("/")[0] for word in style.get("font", "").split() if word[:1].isdigit())


def _is_tiny(value: str) -> bool:
    length = length_of(value)
    return length is not None and 0 <= length[0] <= _TINY[length[1]]


def _painted(value: str, behind: tuple[float, ...]) -> tuple[float, ...]:
    """The colour behind an element's words; () when it is a picture or something else that is not known."""
    if not value or value in ("none", "transparent", "inherit", "initial", "unset"):
        return behind
    colour = _colour(value)
    if colour is None:
        return ()
    return colour[:3] if colour[3] > 0.5 else behind


def _is_same(words: str, behind: tuple[float, ...]) -> bool:
    if not words:
        return False
    colour = _colour(words)
    if colour is None:
        return False
    if colour[3] <= 0.05:
        return True
    return bool(behind) and all(abs(a - b) <= _NEAR for a, b in zip(colour, behind, strict=False))


@lru_cache(maxsize=1024)
def _colour(value: str) -> tuple[float, float, float, float] | None:
    """Red, green, blue and opacity in [0, 1]."""
    try:
        colour = parse_color(value)
        rgb = None if colour is None or isinstance(colour, str) else colour.to("srgb")  # a string: "currentcolor"
    except (ValueError, TypeError, AssertionError, ArithmeticError, NotImplementedError, RecursionError):
        return None
    if rgb is None:
        return None
    red, green, blue, alpha = rgb
    return (float(red), float(green), float(blue), float(alpha))
