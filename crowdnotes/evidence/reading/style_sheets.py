"""The styles that a page's own style sheets and its style attributes give its elements, and what hides words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import tinycss2

from crowdnotes.evidence.reading.media_queries import media_holds
from crowdnotes.evidence.reading.selectors import Chooser, Selector, parse_selectors

_MAX_CSS = 500_000  # characters of a page's own style sheets that are looked at
_MAX_RULES = 5_000  # with different selectors
_MAX_ALIKE = 300  # rules that are tried for one class, id or tag of an element
_MAX_VALUE = 200  # characters of a declared value
_MAX_NESTED = 10  # rules and conditions within one another
_TELLING = re.compile(
    r"display|visibility|opacity|decoration|align|shift|font|color|background|position|indent|clip|transform|overflow|left|top|right|bottom"
    r"|width|height|content|filter|scale|zoom|\\|/\*",
    re.IGNORECASE,
)
_JUDGED = frozenset(
    "display content-visibility visibility opacity font font-size color background background-color background-image"
    " position text-indent margin-left margin-top left top right bottom transform clip clip-path overflow width height"
    " max-width max-height filter scale zoom text-decoration text-decoration-line vertical-align font-variant-position"
    " font-feature-settings baseline-shift".split()
)

_Rank = tuple[bool, bool, tuple[int, ...], int]  # important, inline, layer and specificity, place
_Ranked = Mapping[str, tuple[_Rank, str]]
_Declared = dict[tuple[str, bool], tuple[int, str]]  # (property, whether it is important) to (place, value)
_INLINE: tuple[int, ...] = ()
_UNLAYERED = 10**6  # comes after all layers


class StyleSheets:
    """The styles of one page, from its lxml tree, as a browser has them on a wide screen before anybody touches it."""

    def __init__(self, tree: Any) -> None:
        self._rules: dict[Selector, _Declared] = {}
        self._by_key: dict[str, list[Selector]] = {}
        self._known: set[str] = set()
        self._in_context: dict[str, list[tuple[Selector, _Declared, _Declared]]] = {}  # what is sure, what may be
        self._layers: dict[str, int] = {}
        self._place = 0
        self._chooser = Chooser()
        self._is_cut = False
        self._cache: dict[tuple[str, frozenset[str]], tuple[_Ranked, Style]] = {}
        css = "\n".join(element.text or "" for element in tree.iter("style"))
        if _TELLING.search(css):
            self._on_page = frozenset(key for element in tree.iter() for key in self._chooser.keys_of(element))
            self._is_cut = len(css) > _MAX_CSS
            nodes = tinycss2.parse_stylesheet(css[:_MAX_CSS], skip_comments=True, skip_whitespace=True)
            self._collect(nodes, None, is_sure=True)

    @property
    def is_unfinished(self) -> bool:
        """Whether there were more rules, or elements for them, than are looked at."""
        return self._is_cut or self._chooser.steps_left <= 0

    def style_of(self, element: Any) -> Style:
        """Property to value, in lowercase, of what judges whether an element's words are to be seen."""
        ranked, style = self._matched(element)
        inline = element.get("style")
        is_styled = bool(inline) and _TELLING.search(inline) is not None
        in_context = list(self._find_in_context(element)) if self._in_context else []
        if not is_styled and not in_context:
            return style
        found = dict(ranked)
        for selector, declared in in_context:
            for (name, is_important), (place, value) in declared.items():
                _raise(found, name, (is_important, False, selector.specificity, place), value)
        for (name, is_important), (place, value) in _inline(inline).items() if is_styled else ():
            _raise(found, name, (is_important, True, _INLINE, place), value)
        return {name: value for name, (_, value) in found.items()}

    def _find_in_context(self, element: Any) -> Iterator[tuple[Selector, _Declared]]:
        for key in self._chooser.keys_of(element) & self._in_context.keys():
            for selector, sure, possible in self._in_context[key]:
                verdict = self._chooser.chooses(selector, element)
                if verdict is not False:
                    yield selector, sure if verdict else possible

    def _matched(self, element: Any) -> tuple[_Ranked, Style]:
        if not self._by_key:
            return {}, {}
        key = (element.tag, self._chooser.keys_of(element) & self._known)
        if key not in self._cache:
            tag, names = key
            found: dict[str, tuple[_Rank, str]] = {}
            for selector in (selector for name in (tag, *names) for selector in self._by_key.get(name, ())):
                own = selector.parts[0]
                if own.tag in ("", tag) and own.names <= names:
                    for (name, is_important), (place, value) in self._rules[selector].items():
                        _raise(found, name, (is_important, False, selector.specificity, place), value)
            self._cache[key] = (found, {name: value for name, (_, value) in found.items()})
        return self._cache[key]

    def _collect(
        self,
        nodes: Sequence[Any],
        chosen: Sequence[Selector] | None,
        *,
        is_sure: bool,
        layer: str = "",
        depth: int = 0,
    ) -> None:
        """Keep the rules among `nodes`, and the declarations there, which are for what is `chosen` around them."""
        if depth > _MAX_NESTED:
            self._is_cut = True
            return
        if chosen and (declared := {key: one for key, one in _declarations(nodes).items() if key[0] in _JUDGED}):
            self._keep(chosen, declared, is_sure=is_sure, layer=layer)
        for node in nodes:
            if node.type == "qualified-rule":
                inner = tinycss2.parse_blocks_contents(node.content, skip_comments=True, skip_whitespace=True)
                selectors = parse_selectors(node.prelude, chosen)
                self._collect(inner, selectors, is_sure=is_sure, layer=layer, depth=depth + 1)
            elif node.type == "at-rule":
                holds, inner_layer = self._enter(node, layer)
                if node.content is None or holds is False:
                    continue
                parse = tinycss2.parse_rule_list if chosen is None else tinycss2.parse_blocks_contents
                inner = parse(node.content, skip_comments=True, skip_whitespace=True)
                self._collect(inner, chosen, is_sure=is_sure and holds is True, layer=inner_layer, depth=depth + 1)

    def _enter(self, node: Any, layer: str) -> tuple[bool | None, str]:
        """Return whether what is in an at-rule holds (None: perhaps), and in which layer it is."""
        prelude = tinycss2.serialize(node.prelude).strip().lower()
        match node.lower_at_keyword:
            case "media":
                return media_holds(prelude), layer
            case "supports":
                return (None if re.search(r"\bnot\b|\(\s*-|selector|font-", prelude) else True), layer
            case "layer":
                for name in prelude.split(","):
                    inner = f"{layer}.{name.strip() or len(self._layers)}"
                    self._layers.setdefault(inner, len(self._layers))
                return True, inner
            case "container":
                return None, layer
        return False, layer

    def _keep(self, selectors: Iterable[Selector], declared: _Declared, *, is_sure: bool, layer: str) -> None:
        possible = {key: (0, shown) for key, (_, value) in declared.items() if (shown := _shown(key[0], value))}
        rank = self._layers[layer] if layer else _UNLAYERED
        for written in selectors:
            if not self._on_page.issuperset(written.names):
                continue
            selector = replace(written, specificity=(rank, *written.specificity))
            if selector.is_plain:
                self._keep_plain(selector, declared if is_sure else possible)
            elif self._has_room(self._in_context.setdefault(selector.key, [])):
                sure, possible_here = (self._placed(one) for one in (declared if is_sure else possible, possible))
                self._in_context[selector.key].append((selector, sure, possible_here))

    def _keep_plain(self, selector: Selector, declared: _Declared) -> None:
        """Merge the declarations into those of the same selector: the last one wins."""
        if not declared:
            return
        if selector not in self._rules:
            alike = self._by_key.setdefault(selector.key, [])
            if not self._has_room(alike):
                return
            self._rules[selector] = {}
            alike.append(selector)
            self._known |= selector.parts[0].names
        self._rules[selector] |= self._placed(declared)

    def _has_room(self, alike: Sequence[object]) -> bool:
        has_room = len(self._rules) < _MAX_RULES and len(alike) < _MAX_ALIKE
        self._is_cut |= not has_room
        return has_room

    def _placed(self, declared: _Declared) -> _Declared:
        self._place += 1
        return {key: (self._place, value) for key, (_, value) in declared.items()}


def _shown(name: str, value: str) -> str:
    """Return the value of a declaration that may hold, if it can only make more of an element be seen; else ""."""
    if name == "color" or name.startswith("background"):
        return "unknown"
    if name == "font-size":
        is_shown = not is_tiny(value)
    elif name in ("position", "overflow", "visibility"):
        is_shown = value in ("static", "visible")
    elif name.startswith("text-decoration"):
        is_shown = "line-through" not in value
    else:
        letters = ("font", "vertical", "baseline")
        is_shown = not name.startswith(letters) and not is_hiding(
            {"position": "absolute", "overflow": "hidden", name: value}
        )
    return value if is_shown else ""


def _raise(found: dict[str, tuple[_Rank, str]], name: str, rank: _Rank, value: str) -> None:
    if name not in found or found[name][0] <= rank:
        found[name] = (rank, value)


@lru_cache(maxsize=4096)
def _inline(css: str) -> Mapping[tuple[str, bool], tuple[int, str]]:
    return _declarations(tinycss2.parse_blocks_contents(css[:2_000], skip_comments=True, skip_whitespace=True))


def _declarations(nodes: Iterable[Any]) -> _Declared:
    """Names and values in lowercase; a later one wins."""
    return {
        (node.lower_name, node.important): (place, tinycss2.serialize(node.value).strip().lower()[:_MAX_VALUE])
        for place, node in enumerate(nodes)
        if node.type == "declaration"
    }


_NUMBER = re.compile(r"(-?(?:\d+(?:\.\d+)?|\.\d+))(px|em|rem|pt|%|vw|vh|)?$")
_FAR = {"px": -300.0, "pt": -200.0, "em": -20.0, "rem": -20.0, "%": -100.0, "vw": -100.0, "vh": -100.0, "": -300.0}

_SEE_THROUGH_PATTERN = re.compile(r"opacity\(\s*(?:0(?:\.0[0-5]?\d*)?|[0-5]?%|0?\.0[0-5]?\d*)\s*\)")

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
    if _SEE_THROUGH_PATTERN.search(style.get("filter", "")) or re.fullmatch(
        r"0(?:\.0+)?%?(?:\s.*)?", style.get("scale", "")
    ):
        return True
    zoom = length_of(style.get("zoom", ""))
    if zoom is not None and 0 < zoom[0] <= (10 if zoom[1] == "%" else 0.1):
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
    """Return number and unit, "" for none, of a CSS length at the beginning of `value`; None when there is none."""
    found = _NUMBER.match(value.strip())
    return (float(found.group(1)), found.group(2) or "") if found else None


_TINY = {"px": 2.0, "pt": 2.0, "em": 0.2, "rem": 0.2, "%": 20.0, "vw": 0.2, "vh": 0.2, "": 0.0}


def is_tiny(value: str) -> bool:
    """Whether letters of this size are too small to be read."""
    length = length_of(value)
    return length is not None and 0 <= length[0] <= _TINY[length[1]]
