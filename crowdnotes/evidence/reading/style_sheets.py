"""The styles that a page's own style sheets and its style attributes give its elements, and what hides words."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import tinycss2

WHOLE_PAGE = frozenset({"html", "body"})
_MAX_CSS = 200_000  # characters of a page's own style sheets that are looked at
_MAX_RULES = 5_000  # with different selectors
_MAX_ALIKE = 30  # rules that are tried for one class, id or tag of an element
_MAX_VALUE = 200  # characters of a declared value
_MAX_TRIES = 1_000_000  # of rules for what is within others, and steps to what is around, for one page
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
_OF_LETTERS = ("background", "baseline", "color", "font", "vertical")  # what of it depends on what is around the words
_JUDGED_WITHIN = frozenset(name for name in _JUDGED if not name.startswith(_OF_LETTERS))
_WORD = r"((?:[\w-]|\\.)+)"
# A part of a selector: a tag, ".class", "#id" or ":pseudo-class", one in brackets, or any tag.
_PART = re.compile(rf"([.#:]?){_WORD}|:?\[\]|\*")
# What is not on the page: it takes a reader to do something, or is no element.
_NOT_THERE = re.compile(
    r"::|(?<!\\):(?:hover|active|focus|focus-within|focus-visible|before|after|first-line|first-letter)(?![\w-])"
)
_BETWEEN = re.compile(r"(?<!\\)[\s>+~]+")  # what leads from one element to the next

_NOT_READ = {"[] block": "[]", "function": "[]", "comment": ""}  # kinds of tokens, and what is put for them

_Specificity = tuple[int, int, int]
_Rank = tuple[bool, bool, _Specificity, int]  # important, inline, specificity, place
_Ranked = Mapping[str, tuple[_Rank, str]]
_Declared = dict[tuple[str, bool], tuple[int, str]]  # (property, whether it is important) to (place, value)
_INLINE: _Specificity = (0, 0, 0)


@dataclass(frozen=True, slots=True)
class _Selector:
    """The tag, ".class"es and "#id"s of the element itself. `is_exact`: nothing else decides whether it is chosen.

    `around` are those of the elements that it has to be within, the innermost first, and whether as its very child; ()
    also where the selector asks for more than that.
    """

    tag: str
    names: frozenset[str]
    specificity: _Specificity
    is_exact: bool
    around: tuple[tuple[frozenset[str], bool], ...] = ()


class StyleSheets:
    """The styles of one page, from its lxml tree."""

    def __init__(self, tree: Any) -> None:
        self._rules: dict[_Selector, _Declared] = {}
        self._by_name: dict[str, list[_Selector]] = {}
        self._known: set[str] = set()
        self._on_page: frozenset[str] = frozenset()
        self._place = 0
        self._within_others: dict[str, list[tuple[_Selector, _Declared]]] = {}
        self._tries = 0
        self._cache: dict[tuple[str, frozenset[str]], tuple[_Ranked, Style]] = {}
        css = "\n".join(element.text or "" for element in tree.iter("style"))[:_MAX_CSS]
        if _TELLING.search(css):
            self._on_page = frozenset(name for element in tree.iter() for name in _names(element))
            self._collect(tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True), is_sure=True)

    def style_of(self, element: Any) -> Style:
        """Property to value, in lowercase, of what judges whether an element's words are to be seen."""
        ranked, style = self._matched(element)
        inline = element.get("style")
        is_styled = bool(inline) and _TELLING.search(inline) is not None
        within_others = list(self._find_within_others(element)) if self._within_others else []
        if not is_styled and not within_others:
            return style
        found = dict(ranked)
        for selector, declared in within_others:
            for (name, is_important), (place, value) in declared.items():
                _raise(found, name, (is_important, False, selector.specificity, place), value)
        for (name, is_important), (place, value) in _inline(inline).items() if is_styled else ():
            _raise(found, name, (is_important, True, _INLINE, place), value)
        return {name: value for name, (_, value) in found.items()}

    def _find_within_others(self, element: Any) -> Iterator[tuple[_Selector, _Declared]]:
        names = frozenset(_names(element))
        for selector, declared in itertools.chain.from_iterable(self._within_others.get(name, ()) for name in names):
            self._tries += 1
            if self._tries > _MAX_TRIES:
                return
            if selector.tag in ("", element.tag) and selector.names <= names and self._is_within(element, selector):
                yield selector, declared

    def _is_within(self, element: Any, selector: _Selector) -> bool:
        """Return whether all that the selector asks for is around the element, the nearest first; in doubt not.

        Scripts change the names of the whole page's element (class "no-js"), so these are not sure.
        """
        above = element.getparent()
        for wanted, is_child in selector.around:
            while above is not None:
                self._tries += 1
                names = {above.tag} if above.tag in WHOLE_PAGE else frozenset(_names(above))
                if wanted <= names:
                    break
                above = None if is_child or self._tries > _MAX_TRIES else above.getparent()
            if above is None:
                return False
            above = above.getparent()
        return True

    def _matched(self, element: Any) -> tuple[_Ranked, Style]:
        if not self._by_name:
            return {}, {}
        key = (element.tag, frozenset(_names(element)) & self._known)
        if key not in self._cache:
            tag, names = key
            found: dict[str, tuple[_Rank, str]] = {}
            for selector in (selector for name in (tag, *names) for selector in self._by_name.get(name, ())):
                if selector.tag in ("", tag) and selector.names <= names:
                    for (name, is_important), (place, value) in self._rules[selector].items():
                        _raise(found, name, (is_important, False, selector.specificity, place), value)
            self._cache[key] = (found, {name: value for name, (_, value) in found.items()})
        return self._cache[key]

    def _collect(self, nodes: Iterable[Any], is_sure: bool) -> None:
        for node in nodes:
            if node.type == "at-rule" and node.content is not None:
                medium = tinycss2.serialize(node.prelude).strip().lower()
                if node.lower_at_keyword not in ("media", "supports", "layer") or "print" in medium:
                    continue
                inner = tinycss2.parse_rule_list(node.content, skip_comments=True, skip_whitespace=True)
                self._collect(inner, is_sure and node.lower_at_keyword == "media" and medium in ("all", "screen"))
            elif node.type == "qualified-rule":
                contents = tinycss2.parse_blocks_contents(node.content, skip_comments=True, skip_whitespace=True)
                declared = {key: value for key, value in _declarations(contents).items() if key[0] in _JUDGED}
                shown = {key: value for key, value in declared.items() if _shows(key[0], value[1])}
                within = {key: value for key, value in declared.items() if key[0] in _JUDGED_WITHIN}
                may_hide = any(key[0] not in _WITH_OTHERS for key in within.keys() - shown.keys())
                for selector in _selectors(node.prelude, self._on_page):
                    is_exact = selector.is_exact and is_sure
                    self._add(replace(selector, is_exact=True, around=()), declared if is_exact else shown)
                    if may_hide and selector.around and is_sure:
                        self._add_within_others(selector, within)

    def _add_within_others(self, selector: _Selector, declared: _Declared) -> None:
        alike = self._within_others.setdefault(max(selector.names, default=selector.tag), [])
        if len(alike) < _MAX_ALIKE:
            self._place += 1
            alike.append((selector, {name: (self._place, value) for name, (_, value) in declared.items()}))

    def _add(self, selector: _Selector, declared: _Declared) -> None:
        """Merge the declarations into those of the same selector: the last one wins."""
        if not declared:
            return
        if selector not in self._rules:
            alike = self._by_name.setdefault(max(selector.names, default=selector.tag), [])
            if len(self._rules) >= _MAX_RULES or len(alike) >= _MAX_ALIKE:
                return
            self._rules[selector] = {}
            alike.append(selector)
            self._known |= selector.names
        for name, (_, value) in declared.items():
            self._place += 1
            self._rules[selector][name] = (self._place, value)


_WITH_OTHERS = frozenset({"position", "overflow"})  # properties that hide nothing alone


def _shows(name: str, value: str) -> bool:
    """Whether a declaration can only make more of an element be seen. Colours depend on others, and never do."""
    if name in ("position", "overflow", "visibility"):
        return value in ("static", "visible")
    if name.startswith("text-decoration"):
        return "line-through" not in value
    if name.startswith(_OF_LETTERS):
        return False
    return not is_hiding({"position": "absolute", "overflow": "hidden", name: value})


def _names(element: Any) -> Iterator[str]:
    if not isinstance(element.tag, str):
        return
    yield element.tag
    yield from (f".{name}" for name in (element.get("class") or "").split())
    if element.get("id"):
        yield f"#{element.get('id').strip()}"


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


def _selectors(prelude: Iterable[Any], on_page: frozenset[str]) -> Iterator[_Selector]:
    """Return the selectors of a rule, without those that choose no element of the page or wait for a pointer."""
    written = [""]
    for token in prelude:
        if token == ",":
            written.append("")
        else:
            written[-1] += _written(token)
    for selector in written:
        if _NOT_THERE.search(selector):
            continue
        *around, own = ([*_PART.finditer(step)] for step in _BETWEEN.split(selector.strip()))
        ways = [way.strip() for way in _BETWEEN.findall(selector.strip())]
        if "".join(part.group() for parts in (*around, own) for part in parts) != _BETWEEN.sub("", selector):
            continue
        names_around = {name for parts in around for name in _named(parts)}
        names, outer = _named(own), [part for parts in around for part in parts if part.group() != "*"]
        parts = [*outer, *(part for part in own if part.group() != "*")]
        ids, tags = (sum(part[1] == mark and bool(part[2]) for part in parts) for mark in ("#", ""))
        if names and names_around <= on_page:
            is_plain = all(part[1] != ":" and part[2] for part in parts)
            nearest_first = zip(reversed(around), reversed(ways), strict=True)
            yield _Selector(
                tag=next((name for name in names if name[0] not in ".#"), ""),
                names=frozenset(name for name in names if name[0] in ".#"),
                specificity=(ids, len(parts) - ids - tags, tags),
                is_exact=not outer and is_plain,
                around=tuple((frozenset(_named(step)), way == ">") for step, way in nearest_first)
                if is_plain and set(ways) <= {"", ">"}
                else (),
            )


def _written(token: Any) -> str:
    """Return a part of a selector, with a backslash before what is odd in a name."""
    if token.type in ("ident", "hash"):
        return ("#" if token.type == "hash" else "") + re.sub(r"[^\w-]", r"\\\g<0>", token.value)
    return _NOT_READ[token.type] if token.type in _NOT_READ else str(token.serialize())


def _named(parts: Iterable[re.Match[str]]) -> list[str]:
    """Return the tag in lowercase, and names with their mark, without the backslashes of odd ones."""
    words = ((part[1], re.sub(r"\\(.)", r"\1", part[2])) for part in parts if part[2] and part[1] != ":")
    return [f"{mark}{word}" if mark else word.lower() for mark, word in words]


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
