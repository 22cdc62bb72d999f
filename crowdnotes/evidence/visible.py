"""What a reader of the page cannot see is taken out before anything is extracted from it.

Text for programs alone (orders to a language model, words for search engines) must not become
evidence that a person believes to stand on the page. Judged are attributes, inline styles and simple
rules of the page's own style sheets; style sheets in other files are not fetched, so what only they
hide stays in. White words count as hidden unless another background is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import tinycss2
from tinycss2.color4 import parse_color

_NEVER_SHOWN = frozenset("template noscript datalist noframes noembed".split())
# The screen-reader classes of the common frameworks.
_HIDDEN_CLASSES = frozenset("sr-only visually-hidden screen-reader-text visuallyhidden".split())
_TELLING = re.compile(
    r"display|visibility|opacity|font|color|background|position|indent|clip|transform|overflow|left|top|right|bottom"
    r"|width|height|content|filter|\\|/\*",
    re.IGNORECASE,
)
_SIMPLE = re.compile(r"([a-z][a-z0-9]*)?(?:([.#])((?:[\w-]|[^\x00-\x7f])+))?", re.IGNORECASE)
_NUMBER = re.compile(r"(-?\d*\.?\d+)(px|em|rem|pt|%|vw|vh|)?$")
_MAX_CSS = 200_000  # characters of a page's own style sheets that are looked at
_FAR = {"px": -300.0, "pt": -200.0, "em": -20.0, "rem": -20.0, "%": -100.0, "vw": -100.0, "vh": -100.0, "": -300.0}
_TINY = {"px": 2.0, "pt": 2.0, "em": 0.2, "rem": 0.2, "%": 20.0, "vw": 0.2, "vh": 0.2, "": 0.0}
_NEAR = 0.08  # of the range of each colour channel: nobody tells such colours apart

Style = Mapping[str, str]
_NOTHING: Style = {}
_PAINTS = ("background-image", "background-color", "background")
_WHOLE_PAGE = frozenset({"html", "body"})
_WHITE = (1.0, 1.0, 1.0)


def drop_hidden(tree: Any) -> None:
    """Take what is not shown out of an lxml tree, in place; what follows it stays. Inline styles go too.

    They have been judged, and extraction takes "overflow: hidden" for a hidden text.
    """
    unseen, wordless = _find(tree, _rules(tree))
    for element in wordless:
        element.text = None
        for child in element:
            child.tail = None
    for element in unseen:
        element.drop_tree()
    for element in tree.iter():
        element.attrib.pop("style", None)


@dataclass(slots=True)
class _Rules:
    """Declarations by tag, ".class" and "#id", each with the tag that it is for or ""."""

    by_key: dict[str, list[tuple[str, Style]]] = field(default_factory=dict)

    def style_of(self, element: Any) -> Style:
        inline = element.get("style")
        own = _declared(inline) if inline and _TELLING.search(inline) else _NOTHING
        if not self.by_key:
            return own
        keys = [element.tag, *(f".{name}" for name in (element.get("class") or "").split())]
        if element.get("id"):
            keys.append(f"#{element.get('id').strip()}")
        found: dict[str, str] = {}
        for key in keys:
            for tag, style in self.by_key.get(key, ()):
                if tag in ("", element.tag):
                    found.update(style)
        return {**found, **own} if found else own


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
        painted = next((style[name] for name in _PAINTS if style.get(name, "none") != "none"), "")
        sizes = [size for size in _font_sizes(style) if _length(size) is not None]
        visibility = style.get("visibility", "")
        is_whole = element.tag in _WHOLE_PAGE  # hidden until a script shows it, as some sites do
        return _Look(
            colour=style.get("color") or element.get("color") or self.colour,
            behind=_painted(painted or element.get("bgcolor") or "", self.behind),
            is_tiny=_is_tiny(sizes[-1]) and not is_whole if sizes else self.is_tiny,
            is_unseen=visibility in ("hidden", "collapse") and not is_whole if visibility else self.is_unseen,
        )


def _find(root: Any, rules: _Rules) -> tuple[list[Any], list[Any]]:
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
        style = rules.style_of(element)
        if element.tag not in _WHOLE_PAGE and (_is_marked(element) or _is_styled_away(style)):
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


def _is_styled_away(style: Style) -> bool:
    if not style:
        return False
    if style.get("display") == "none" or style.get("content-visibility") == "hidden":
        return True
    opacity = _length(style.get("opacity", ""))
    if opacity is not None and opacity[0] <= (5 if opacity[1] == "%" else 0.05):
        return True
    return _is_moved_away(style) or _is_clipped(style)


def _font_sizes(style: Style) -> Iterable[str]:
    yield style.get("font-size", "")
    yield from (word.partition("/")[0] for word in style.get("font", "").split() if word[:1].isdigit())


def _is_tiny(value: str) -> bool:
    length = _length(value)
    return length is not None and 0 <= length[0] <= _TINY[length[1]]


def _is_moved_away(style: Style) -> bool:
    places = ["text-indent", "margin-left", "margin-top"]
    if style.get("position") in ("absolute", "fixed", "relative"):
        places += ["left", "top", "right", "bottom"]
    for place in places:
        length = _length(style.get(place, ""))
        if length is not None and length[0] <= _FAR[length[1]]:
            return True
    transform = style.get("transform", "")
    moved = (_length(number) for number in re.findall(r"-\d[\w.%]*", transform) if "translate" in transform)
    return "scale(0" in transform.replace("scale(0.", "") or any(
        length is not None and length[0] <= 2 * _FAR[length[1]] for length in moved
    )


def _is_clipped(style: Style) -> bool:
    cut = style.get("clip", "") + style.get("clip-path", "")
    if re.search(r"rect\(\s*[01](?:px)?[\s,]+[01](?:px)?[\s,]+[01](?:px)?|inset\(\s*(?:50|100)%|circle\(\s*0", cut):
        return True
    if "hidden" not in style.get("overflow", "") and "clip" not in style.get("overflow", ""):
        return False
    sizes = (_length(style.get(name, "")) for name in ("width", "height", "max-height", "max-width"))
    return any(size is not None and 0 <= size[0] <= 1 for size in sizes)


def _length(value: str) -> tuple[float, str] | None:
    found = _NUMBER.match(value.strip())
    return (float(found.group(1)), found.group(2) or "") if found else None


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


@lru_cache(maxsize=4096)
def _declared(css: str) -> Style:
    """Property to value, in lowercase; a later one wins, unless an earlier one is important."""
    return _as_style(tinycss2.parse_blocks_contents(css[:2_000], skip_comments=True, skip_whitespace=True))


def _as_style(nodes: Iterable[Any]) -> Style:
    style: dict[str, str] = {}
    important: set[str] = set()
    for node in nodes:
        if node.type != "declaration" or (node.lower_name in important and not node.important):
            continue
        if node.important:
            important.add(node.lower_name)
        style[node.lower_name] = tinycss2.serialize(node.value).strip().lower()
    return style


def _rules(tree: Any) -> _Rules:
    """The rules of the page's own style sheets whose selectors are one tag, class or id."""
    rules = _Rules()
    css = "\n".join(element.text or "" for element in tree.iter("style"))[:_MAX_CSS]
    if _TELLING.search(css):
        _collect(tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True), rules)
    return rules


def _collect(nodes: Iterable[Any], rules: _Rules) -> None:
    for node in nodes:
        if node.type == "at-rule" and node.lower_at_keyword == "media" and node.content is not None:
            medium = tinycss2.serialize(node.prelude).strip().lower()
            if medium in ("all", "screen"):
                _collect(tinycss2.parse_rule_list(node.content, skip_comments=True, skip_whitespace=True), rules)
        elif node.type == "qualified-rule":
            contents = tinycss2.parse_blocks_contents(node.content, skip_comments=True, skip_whitespace=True)
            style = _as_style(contents)
            for selector in tinycss2.serialize(node.prelude).split(","):
                _add(selector.strip(), style, rules)


def _add(selector: str, style: Style, rules: _Rules) -> None:
    found = _SIMPLE.fullmatch(selector)
    if found is None or not selector:
        return
    tag, mark, name = (found.group(1) or "").lower(), found.group(2), found.group(3)
    key = f"{mark}{name}" if mark else tag
    rules.by_key.setdefault(key, []).append((tag, style))
