"""CSS selectors: which elements of a page they choose in a browser that nobody has touched yet.

Written after https://www.w3.org/TR/selectors-4/ on the tokens of tinycss2. cssselect2 and lxml's XPath take time that
grows with a power of a page's depth, and cannot be stopped; and they do not know what may be: a script may change the
names of the whole page, and no page says all states of an element. Such an answer is None.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tinycss2.nth import parse_nth

WHOLE_PAGE = frozenset({"html", "body"})
_MAX_STEPS = 1_000_000  # elements that are compared with a part of a selector, for one page
_CHARACTERS_A_STEP = 100  # of an attribute's value
_MAX_PARTS = 50  # of one selector, between which signs or spaces are
_MAX_DEPTH = 8  # of selectors within others

_Specificity = tuple[int, ...]
_Test = tuple[str, Any]  # what is asked, and of what
_NEVER: _Test = ("never", None)  # a state that takes a visitor to do something, or is no state that browsers know
_PSEUDO_ELEMENTS = frozenset({"before", "after", "first-line", "first-letter"})  # their old form has one colon
_UNKNOWN_STATES = frozenset(
    "has lang dir defined enabled disabled required optional valid invalid in-range out-of-range placeholder-shown"
    " read-only read-write default indeterminate open host host-context scope".split()
)
_ENDS: dict[str, tuple[bool, ...]] = {"first": (False,), "last": (True,), "only": (False, True)}  # from the end


@dataclass(frozen=True, slots=True)
class Part:
    """What one element has to be: its tag ("" for any), its ".class"es and "#id"s, and what else is asked."""

    tag: str = ""
    names: frozenset[str] = frozenset()
    tests: tuple[_Test, ...] = ()


@dataclass(frozen=True, slots=True)
class Selector:
    """The parts of a selector, that of the element itself first, and the signs between them (" ", ">", "+" or "~")."""

    parts: tuple[Part, ...]
    ways: tuple[str, ...]
    specificity: _Specificity

    @property
    def is_plain(self) -> bool:
        """Whether nothing but the element's own tag and names decides, and one of them is given."""
        own = self.parts[0]
        return not self.ways and not own.tests and bool(own.tag or own.names)

    @property
    def key(self) -> str:
        """Return a name that every element has that is chosen: see `Chooser.keys_of`."""
        own = self.parts[0]
        attribute = next((f"[{given[0]}" for kind, given in own.tests if kind == "attribute"), "*")
        return max(own.names, default=own.tag or attribute)

    @property
    def names(self) -> Iterator[str]:
        """All that has to be on the page: tags, classes and ids."""
        for part in self.parts:
            yield from part.names
            if part.tag:
                yield part.tag


def _keys_of(element: Any) -> Iterator[str]:
    if not isinstance(element.tag, str):
        return
    yield from ("*", element.tag)
    yield from (f".{name}" for name in (element.get("class") or "").split())
    if element.get("id"):
        yield f"#{element.get('id').strip()}"
    yield from (f"[{name}" for name in element.attrib)


def parse_selectors(tokens: Iterable[Any], around: Sequence[Selector] | None = None, depth: int = 0) -> list[Selector]:
    """Return the selectors of a rule, without broken ones and those that choose no element ("::before").

    `around` are those of the rule that this one is nested in: "&" means them.
    """
    written: list[list[Any]] = [[]]
    for token in tokens:
        if token == ",":
            written.append([])
        elif token.type != "comment":
            written[-1].append(token)
    return [selector for one in written if (selector := _parse_selector(one, around, depth)) is not None]


def _parse_selector(tokens: Iterable[Any], around: Sequence[Selector] | None, depth: int) -> Selector | None:
    steps: list[tuple[str, list[Any]]] = []
    way = ""
    for token in tokens:
        if token.type == "whitespace":
            way = way or " "
        elif token.type == "literal" and token.value in (">", "+", "~"):
            way = token.value
        else:
            if way or not steps:
                steps.append((way, []))
            steps[-1][1].append(token)
            way = ""
    if way.strip() or not steps or len(steps) > _MAX_PARTS:
        return None
    parsed = [_parse_part(own, around, depth) for _, own in steps]
    ways = [way for way, _ in steps[1:]]
    if around is not None and not any(token == "&" for _, own in steps for token in own):
        parsed.insert(0, (Part(tests=(("is", tuple(around)),)), _heaviest(around)))
        ways.insert(0, steps[0][0].strip() or " ")
    elif steps[0][0].strip():
        return None
    known = [one for one in parsed if one is not None]
    if len(known) < len(parsed):
        return None
    parts, weights = zip(*reversed(known), strict=True)
    return Selector(parts, tuple(reversed(ways)), _add(weights))


def _add(weights: Iterable[_Specificity]) -> _Specificity:
    return tuple(map(sum, zip((0, 0, 0), *weights, strict=True)))


def _heaviest(selectors: Iterable[Selector]) -> _Specificity:
    return max((one.specificity for one in selectors), default=(0, 0, 0))


def _parse_part(
    tokens: Iterable[Any], around: Sequence[Selector] | None, depth: int
) -> tuple[Part, _Specificity] | None:
    tag, names, tests, weights = "", set[str](), list[_Test](), list[_Specificity]()
    rest = iter(tokens)
    for token in rest:
        if token == "*":
            continue
        if token.type == "ident" and not (tag or names or tests):
            tag = token.lower_value
            weights.append((0, 0, 1))
        elif token.type == "hash":
            names.add(f"#{token.value}")
            weights.append((1, 0, 0))
        elif token == "&" and around is not None:
            tests.append(("is", tuple(around)))
            weights.append(_heaviest(around))
        elif token.type == "[] block" and (attribute := _parse_attribute(token.content)) is not None:
            tests.append(attribute)
            weights.append((0, 1, 0))
        elif token == "." and (name := next(rest, None)) is not None and name.type == "ident":
            names.add(f".{name.value}")
            weights.append((0, 1, 0))
        elif token == ":" and (state := _parse_state(next(rest, None), depth)) is not None:
            tests += state[0]
            weights.append(state[1])
        else:
            return None
    return Part(tag, frozenset(names), tuple(tests)), _add(weights)


_ATTRIBUTE_SIGNS = frozenset({"=", "~=", "|=", "^=", "$=", "*="})


def _parse_attribute(tokens: Iterable[Any]) -> _Test | None:
    given = [token for token in tokens if token.type not in ("whitespace", "comment")]
    name = given[0].lower_value if given and given[0].type == "ident" else ""
    if not name or len(given) == 1:
        return ("attribute", (name, "", "", False)) if name else None
    sign = given[1].value if given[1].type == "literal" else ""
    if sign not in _ATTRIBUTE_SIGNS or len(given) not in (3, 4) or given[2].type not in ("ident", "string"):
        return None
    is_folded = len(given) == 4 and given[3].type == "ident" and given[3].lower_value == "i"
    return "attribute", (name, sign, given[2].value.lower() if is_folded else given[2].value, is_folded)


def _parse_state(token: Any, depth: int) -> tuple[list[_Test], _Specificity] | None:
    """Return what a pseudo-class asks, and its weight; None for a pseudo-element and what is broken."""
    if token is None or token.type not in ("ident", "function"):
        return None
    if token.type == "function":
        return _parse_function(token.lower_name, token.arguments, depth)
    name, own = token.lower_value, (0, 1, 0)
    if name in _PSEUDO_ELEMENTS:
        return None
    if found := re.fullmatch(r"(first|last|only)-(child|of-type)", name):
        return [("place", (0, 1, end, found[2] == "of-type")) for end in _ENDS[found[1]]], own
    if name in ("root", "empty", "checked", "link", "any-link"):
        return [(name.removeprefix("any-"), None)], own
    return [("unknown", None) if name in _UNKNOWN_STATES else _NEVER], own


def _parse_function(name: str, arguments: list[Any], depth: int) -> tuple[list[_Test], _Specificity] | None:
    if name in ("is", "where", "not") and depth < _MAX_DEPTH:
        inner = tuple(parse_selectors(arguments, depth=depth + 1))
        if name == "not" and not inner:
            return None
        return [("not" if name == "not" else "is", inner)], (0, 0, 0) if name == "where" else _heaviest(inner)
    if found := re.fullmatch(r"nth-(last-)?(child|of-type)", name):
        place = parse_nth(arguments)
        return [("place", (*place, bool(found[1]), found[2] == "of-type")) if place else ("unknown", None)], (0, 1, 0)
    return [("unknown", None) if name in {*_UNKNOWN_STATES, "is", "where", "not"} else _NEVER], (0, 1, 0)


@dataclass(slots=True)
class Chooser:
    """Says which elements of one page are chosen. Once it has worked as long as it may, it chooses none."""

    steps_left: int = field(default_factory=lambda: _MAX_STEPS)
    _keys: dict[Any, frozenset[str]] = field(default_factory=dict)
    _places: dict[Any, tuple[tuple[int, int], tuple[int, int]]] = field(default_factory=dict)

    def keys_of(self, element: Any) -> frozenset[str]:
        """Return an lxml element's tag, ".class"es, "#id" and "[attribute"s, and "*"."""
        if element not in self._keys:
            self._keys[element] = frozenset(_keys_of(element))
        return self._keys[element]

    def chooses(self, selector: Selector, element: Any) -> bool | None:
        """Return whether a selector chooses an lxml element; None where that depends on what is not known."""
        own = self._is(selector.parts[0], element)
        verdict = own if own is False else self._has_around(selector, element, 0) and own
        return verdict if self.steps_left > 0 else False

    def _has_around(self, selector: Selector, element: Any, at: int) -> bool | None:
        if at == len(selector.ways):
            return True
        verdict: bool | None = False
        way, beyond = selector.ways[at], selector.ways[at + 1 : at + 2]
        for other in self._reach(element, way):
            own = self._is(selector.parts[at + 1], other)
            if own is False:
                continue
            around = self._has_around(selector, other, at + 1)
            if own and around:
                return True
            if around is False and way in (" ", "~") and beyond in ((" ",), (way,)):
                break  # what is farther away has nothing around it that this one has not
            verdict = None if around is not False else verdict
        return verdict

    def _reach(self, element: Any, way: str) -> Iterator[Any]:
        others = element.iterancestors() if way in (" ", ">") else element.itersiblings(preceding=True)
        for other in others:
            if self.steps_left <= 0:
                return
            self.steps_left -= 1
            if isinstance(other.tag, str):
                yield other
                if way in (">", "+"):
                    return

    def _is(self, part: Part, element: Any) -> bool | None:
        self.steps_left -= 1
        if part.tag not in ("", element.tag) or self.steps_left <= 0:
            return False
        if not part.names <= self.keys_of(element):
            return False
        verdict: bool | None = None if part.names and element.tag in WHOLE_PAGE else True
        for kind, given in part.tests:
            one = self._holds(kind, given, element)
            if one is False:
                return False
            verdict = None if one is None else verdict
        return verdict

    def _holds(self, kind: str, given: Any, element: Any) -> bool | None:
        if kind == "is":
            return self._is_any(given, element)
        if kind == "not":
            verdict = self._is_any(given, element)
            return None if verdict is None or (element.tag in WHOLE_PAGE and not verdict) else not verdict
        if kind == "place":
            return self._is_at(element, *given)
        if kind == "attribute":
            self.steps_left -= len(element.get(given[0], "")) // _CHARACTERS_A_STEP
            return _has_attribute(element, *given) and (None if element.tag in WHOLE_PAGE else True)
        return _is_in_state(kind, element)

    def _is_any(self, selectors: Iterable[Selector], element: Any) -> bool | None:
        verdict: bool | None = False
        for selector in selectors:
            one = self.chooses(selector, element)
            if one:
                return True
            verdict = None if one is None else verdict
        return verdict

    def _is_at(self, element: Any, step: int, first: int, from_end: bool, of_type: bool) -> bool:
        parent = element.getparent()
        if parent is None:
            return False
        if element not in self._places:
            siblings = [child for child in parent if isinstance(child.tag, str)]
            self.steps_left -= len(siblings)
            from_start, backwards = _count(siblings), [*reversed([*_count(reversed(siblings))])]
            self._places.update(zip(siblings, zip(from_start, backwards, strict=True), strict=True))
        beyond = self._places[element][from_end][of_type] - first
        return beyond == 0 if step == 0 else beyond % step == 0 and beyond // step >= 0


def _count(elements: Iterable[Any]) -> Iterator[tuple[int, int]]:
    """Yield the place of each element among all, and among those of its tag, from 1."""
    seen: dict[str, int] = {}
    for place, element in enumerate(elements, 1):
        seen[element.tag] = seen.get(element.tag, 0) + 1
        yield place, seen[element.tag]


def _is_in_state(state: str, element: Any) -> bool | None:
    if state == "root":
        return element.getparent() is None
    if state == "empty":
        return not len(element) and not element.text
    if state == "link":
        return element.tag in ("a", "area") and element.get("href") is not None
    if state == "checked":
        return element.get("checked") is not None or element.get("selected") is not None
    return None if state == "unknown" else False


def _has_attribute(element: Any, name: str, sign: str, wanted: str, is_folded: bool) -> bool:
    value = element.get(name)
    if value is None or not sign:
        return value is not None
    if is_folded:
        value = value.lower()
    if sign == "=":
        return bool(value == wanted)
    if sign == "|=":
        return bool(value == wanted or value.startswith(f"{wanted}-"))
    if sign == "~=":
        return wanted in value.split()
    if not wanted:
        return False
    return bool(
        value.startswith(wanted) if sign == "^=" else value.endswith(wanted) if sign == "$=" else wanted in value
    )
