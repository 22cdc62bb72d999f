"""What a page's own style sheets and inline styles declare for an element, as far as hiding words goes.

Exactly matched are selectors of one tag, classes and an id (".a", "p.a.b"). Of all others (parts around
the element, attributes, states, media of some screens) it is not known whether they hold, so they can
only show again what another rule hides. Order: CSS Cascading 4, section 6 (importance, specificity, place).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import tinycss2

from crowdnotes.evidence.hiding import Style, is_hiding

_MAX_CSS = 200_000  # characters of a page's own style sheets that are looked at
_MAX_RULES = 5_000  # with different selectors
_MAX_ALIKE = 30  # rules that are tried for one class, id or tag of an element
_MAX_VALUE = 200  # characters of a declared value
_TELLING = re.compile(
    r"display|visibility|opacity|font|color|background|position|indent|clip|transform|overflow|left|top|right|bottom"
    r"|width|height|content|filter|\\|/\*",
    re.IGNORECASE,
)
_JUDGED = frozenset(
    "display content-visibility visibility opacity font font-size color background background-color background-image"
    " position text-indent margin-left margin-top left top right bottom transform clip clip-path overflow width height"
    " max-width max-height".split()
)
# Where a reader must do something first; what only then appears is not on the page.
_ACTIONS = frozenset("hover active focus focus-within focus-visible".split())
_PSEUDO_ELEMENTS = frozenset("before after first-line first-letter".split())

_Specificity = tuple[int, int, int]
_Rank = tuple[bool, bool, _Specificity, int]  # important, inline, specificity, place
_Ranked = Mapping[str, tuple[_Rank, str]]
_INLINE: _Specificity = (0, 0, 0)


@dataclass(slots=True)
class _Selector:
    """Tags, ".class"es and "#id"s: of the element itself, and of others around it."""

    tag: str = ""
    names: set[str] = field(default_factory=set)
    around: set[str] = field(default_factory=set)
    specificity: _Specificity = (0, 0, 0)
    is_exact: bool = True

    def add(self, name: str) -> None:
        ids, classes, tags = self.specificity
        if name[0] == "#":
            self.specificity = (ids + 1, classes, tags)
        elif name[0] in ".:[":
            self.specificity = (ids, classes + 1, tags)
        else:
            self.specificity = (ids, classes, tags + 1)
            self.tag = name
        if name[0] in ".#":
            self.names.add(name)

    def step(self) -> None:
        """On to the next element: what was named so far stands around it."""
        self.around |= self.names | ({self.tag} if self.tag else set())
        self.tag, self.names, self.is_exact = "", set(), False


@dataclass(slots=True)
class _Rule:
    tag: str
    names: frozenset[str]
    specificity: _Specificity
    declared: dict[tuple[str, bool], tuple[int, str]] = field(default_factory=dict)


class StyleSheets:
    """The styles of one page, from its lxml tree."""

    def __init__(self, tree: Any) -> None:
        self._rules: dict[tuple[str, frozenset[str], _Specificity], _Rule] = {}
        self._by_name: dict[str, list[_Rule]] = {}
        self._known: set[str] = set()
        self._on_page: frozenset[str] = frozenset()
        self._place = 0
        self._cache: dict[tuple[str, frozenset[str]], tuple[_Ranked, Style]] = {}
        css = "\n".join(element.text or "" for element in tree.iter("style"))[:_MAX_CSS]
        if _TELLING.search(css):
            self._on_page = frozenset(name for element in tree.iter() for name in _names(element))
            self._collect(tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True), is_sure=True)

    def style_of(self, element: Any) -> Style:
        """Property to value, in lowercase, of what judges whether an element's words are to be seen."""
        ranked, style = self._matched(element)
        inline = element.get("style")
        if not inline or not _TELLING.search(inline):
            return style
        found = dict(ranked)
        for (name, is_important), (place, value) in _inline(inline).items():
            _raise(found, name, (is_important, True, _INLINE, place), value)
        return {name: value for name, (_, value) in found.items()}

    def _matched(self, element: Any) -> tuple[_Ranked, Style]:
        if not self._by_name:
            return {}, {}
        key = (element.tag, frozenset(_names(element)) & self._known)
        if key not in self._cache:
            tag, names = key
            found: dict[str, tuple[_Rank, str]] = {}
            for rule in (rule for name in (tag, *names) for rule in self._by_name.get(name, ())):
                if rule.tag in ("", tag) and rule.names <= names:
                    for (name, is_important), (place, value) in rule.declared.items():
                        _raise(found, name, (is_important, False, rule.specificity, place), value)
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
                for selector in _selectors(node.prelude):
                    selector.is_exact = selector.is_exact and is_sure
                    self._add(selector, declared)

    def _add(self, selector: _Selector, declared: Mapping[tuple[str, bool], tuple[int, str]]) -> None:
        """Merge the declarations into the rule of the same selector: the last one wins."""
        if not selector.is_exact:
            declared = {key: value for key, value in declared.items() if _shows(key[0], value[1])}
        if not declared or not selector.around <= self._on_page or not (selector.tag or selector.names):
            return
        key = (selector.tag, frozenset(selector.names), selector.specificity)
        rule = self._rules.get(key)
        if rule is None:
            alike = self._by_name.setdefault(max(key[1], default=selector.tag), [])
            if len(self._rules) >= _MAX_RULES or len(alike) >= _MAX_ALIKE:
                return
            rule = self._rules[key] = _Rule(*key)
            alike.append(rule)
            self._known |= selector.names
        for name, (_, value) in declared.items():
            self._place += 1
            rule.declared[name] = (self._place, value)


def _shows(name: str, value: str) -> bool:
    """Whether a declaration can only make more of an element be seen. Colours depend on others, and never do."""
    if name in ("position", "overflow", "visibility"):
        return value in ("static", "visible")
    if name.startswith(("background", "color", "font")):
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


def _declarations(nodes: Iterable[Any]) -> dict[tuple[str, bool], tuple[int, str]]:
    """(Property, whether it is important) to (place, value), names and values in lowercase; a later one wins."""
    return {
        (node.lower_name, node.important): (place, tinycss2.serialize(node.value).strip().lower()[:_MAX_VALUE])
        for place, node in enumerate(nodes)
        if node.type == "declaration"
    }


def _selectors(prelude: Iterable[Any]) -> Iterator[_Selector]:
    """The selectors of a rule, those left out that choose no element, or one that somebody points at."""
    part: list[Any] = []
    for token in (*(token for token in prelude if token.type != "comment"), None):
        if token is not None and token != ",":
            part.append(token)
            continue
        selector = _selector(part)
        if selector is not None:
            yield selector
        part = []


def _selector(tokens: list[Any]) -> _Selector | None:
    while tokens and tokens[-1].type == "whitespace":
        tokens.pop()
    selector, before = _Selector(), ""
    for token in tokens:
        if token.type == "ident" and before in ("", ".", ":"):
            if before == ":" and token.lower_value in _ACTIONS | _PSEUDO_ELEMENTS:
                return None
            selector.add(f"{before}{token.value}" if before else token.lower_value)
            selector.is_exact = selector.is_exact and before != ":"
        elif token.type == "hash":
            selector.add(f"#{token.value}")
        elif token.type == "[] block" or (token.type == "function" and before == ":"):
            selector.add("[")
            selector.is_exact = False
        elif token.type == "whitespace" or token in (">", "+", "~"):
            if selector.tag or selector.names or not selector.is_exact:
                selector.step()
        elif token not in (".", ":", "*") or (token == ":" and before == ":"):  # "::" starts a pseudo-element
            return None
        before = token.value if token in (".", ":") else ""
    return selector
