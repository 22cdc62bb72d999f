"""Takes out of a page what its readers cannot see, before any text is extracted from it.

Text for programs alone (orders to a language model, words for search engines) must not become evidence that a person
believes to be on the page. We judge by attributes, inline styles and the page's own style sheets: their rules for
elements by tag, class and id, also within others. Style sheets in other files are not fetched, so what only they hide
stays in. White words count as hidden unless another background is named. Text that a button unfolds or that fades in on
scrolling looks the same as text that nobody ever sees: it goes too, and is counted. So does what is struck out, which
the page no longer says. Colours and sizes of letters are judged only by rules for an element itself.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import tinycss2
from tinycss2.color4 import parse_color

_NEVER_SHOWN = frozenset("template noscript datalist noframes noembed".split())
# The screen-reader classes of the common frameworks.
_HIDDEN_CLASSES = frozenset("sr-only visually-hidden screen-reader-text visuallyhidden".split())
_TINY = {"px": 2.0, "pt": 2.0, "em": 0.2, "rem": 0.2, "%": 20.0, "vw": 0.2, "vh": 0.2, "": 0.0}
_NEAR = 0.08  # of the range of each colour channel: nobody can see the difference

_PAINTS = ("background-image", "background-color", "background")
_STRUCK_TAGS = frozenset({"s", "strike", "del"})
# As CSS frameworks name it ("text-line-through", "tw-line-through"), but not what only a pointer strikes out.
_STRUCK_CLASS_PATTERN = re.compile(r"(?:(?!no-)[\w-]+-)?(?:line-through|strike-?through|strike-?out)|strike|struck")
_RAISED_TAGS = frozenset("span small a font b i em strong".split())  # which a style may set above or below the line
_BEFORE_CLASS = "(?:(?:text|txt|font|type|is|u|c|align|va)-)?"
_RAISED_CLASS_PATTERN = re.compile(
    rf"((?:[\w-]+-)?superscript(?:-[\w-]+)?|{_BEFORE_CLASS}sup(?:-text)?)"
    rf"|(?:[\w-]+-)?subscript(?:-[\w-]+)?|{_BEFORE_CLASS}sub"
)
_RAISING = ("vertical-align", "font-variant-position", "font-feature-settings", "baseline-shift")
_RAISING_PATTERN = re.compile(r"\b(super|sups)\b|\b(?:sub|subs|sinf)\b")
_SHIFT_PATTERN = re.compile(r"translatey\(\s*([^)]{1,20})\)")
# What every page hides or has around its text, and nobody misses.
_BESIDE_TAGS = frozenset("nav header footer aside form dialog".split())
_BESIDE_ROLES = frozenset(
    "dialog alertdialog menu navigation search tooltip banner contentinfo complementary alert".split()
)
_BESIDE_WORDS = (
    "cookies?|consent|gdpr|modal|popup|pop-up|lightbox|dialog|tooltip|newsletter|subscri\\w*|sign-?up|log-?in|share|social|menu|nav\\w*"
    "|search|toast|banner|advert\\w*|promo|paywall|sidebar|comments?|related|skip"
)
_BESIDE_PATTERN = re.compile(rf"(?:^|[\s_-])(?:{_BESIDE_WORDS})(?:$|[\s_-])", re.IGNORECASE)
_MIN_PROSE_WORDS = 8
_MAX_COUNTED_PIECES = 2_000  # texts of one hidden element that are looked at
_KNOWN_BY = 60  # characters by which a piece that was left out is known
_WHOLE_PAGE = frozenset({"html", "body"})
_WHITE = (1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What was taken out of a page: how each piece of hidden prose begins, and whether words were struck out."""

    prose: tuple[str, ...] = ()
    is_struck: bool = False


def drop_hidden(tree: Any) -> LeftOut:
    """Take what is not shown out of an lxml tree, in place; what follows it stays.

    Inline styles and aria-hidden go too: they have been judged, and extraction takes "overflow: hidden" for a hidden
    text. What a style sets above or below the line becomes "sup" or "sub".
    """
    sheets = StyleSheets(tree)
    unseen: list[Any] = []  # the outermost elements that are not shown
    wordless: list[Any] = []  # shown ones whose own words are not to be seen
    struck: list[Any] = []
    missed: list[str] = []
    stack = [(tree, _Look(), False)]  # without recursion: pages nest deeper than Python does
    while stack:
        element, around, is_beside = stack.pop()
        if not isinstance(element.tag, str) or element.tag == "head":
            continue
        style = sheets.style_of(element)
        is_beside = is_beside or _is_beside(element)
        if element.tag not in _WHOLE_PAGE and (_is_marked(element) or is_hiding(style)):
            if element.getparent() is not None:
                unseen.append(element)
                missed += [] if is_beside else _prose(itertools.islice(element.itertext(), _MAX_COUNTED_PIECES))
            continue
        if element.tag not in _WHOLE_PAGE and _is_struck(element, style) and element.getparent() is not None:
            struck.append(element)
            continue
        if element.tag in _RAISED_TAGS:
            element.tag = _raised_tag(element, style) or element.tag
        if _is_counter(element):
            element.text = _COUNTED
            missed.append(f"{_COUNTED} is a number")  # which is nowhere on the page
        look = around.within(element, style)
        if not look.shows_words:
            wordless.append(element)
            missed += [] if is_beside else _prose((element.text or "", *(child.tail or "" for child in element)))
        stack.extend((child, look, is_beside) for child in element)
    for element in wordless:
        element.text = None
        for child in element:
            child.tail = None
    is_struck = any(
        text.strip() for element in struck for text in itertools.islice(element.itertext(), _MAX_COUNTED_PIECES)
    )
    for element in (*unseen, *struck):
        element.drop_tree()
    for element in tree.iter():
        element.attrib.pop("style", None)
        element.attrib.pop("aria-hidden", None)
    return LeftOut(tuple(missed), is_struck)


def _is_struck(element: Any, style: Style) -> bool:
    return (
        element.tag in _STRUCK_TAGS
        or "line-through" in style.get("text-decoration", "") + style.get("text-decoration-line", "")
        or (element.get("role") or "").strip().lower() == "deletion"
        or any(map(_STRUCK_CLASS_PATTERN.fullmatch, (element.get("class") or "")[:400].lower().split()))
    )


# Numbers that a script counts up from a nought on the page when a reader scrolls to them.
_COUNTER_NAME_PATTERN = re.compile(
    r"data-(?:\w+-)*(?:target|count|counter|countto|to|end|value|number|num|stop|final|goal)"
)
_ZERO_PATTERN = re.compile(r"\s*0+(?:[.,]0+)?\s*[%+]?\s*")
_NUMBER_PATTERN = re.compile(r"\s*\d[\d.,\s]{0,20}[%+]?\s*")
_COUNTED = "[…]"


def _is_counter(element: Any) -> bool:
    if len(element) or element.tag in ("td", "th") or not _ZERO_PATTERN.fullmatch((element.text or " ")[:40]):
        return False
    values = [value[:40] for name, value in element.attrib.items() if _COUNTER_NAME_PATTERN.fullmatch(name[:60])]
    return any(_NUMBER_PATTERN.fullmatch(value) and not _ZERO_PATTERN.fullmatch(value) for value in values)


def _raised_tag(element: Any, style: Style) -> str:
    """Return "sup" or "sub" for what a style or a class sets above or below the line; "" for anything else."""
    classes = (element.get("class") or "")[:400].lower().split()
    named = next(filter(None, map(_RAISED_CLASS_PATTERN.fullmatch, classes)), None)
    if found := named or _RAISING_PATTERN.search(" ".join(style.get(name, "") for name in _RAISING)):
        return "sup" if found[1] else "sub"
    align = style.get("vertical-align", "")
    if not _is_small(style.get("font-size", "")):
        return ""
    if align == "text-top":
        return "sup"
    shifted = _SHIFT_PATTERN.match(style.get("transform", ""))
    lengths = [(align, 1), (shifted[1] if shifted is not None else "", -1)]
    if style.get("position") == "relative":
        lengths += [(style.get("bottom", ""), 1), (style.get("top", ""), -1)]
    for given, way in lengths:
        length = length_of(given)
        if length is not None and length[0]:
            return "sup" if length[0] * way > 0 else "sub"
    return ""


def _is_small(size: str) -> bool:
    """Whether a font size is less than that of the words around, as far as it says so."""
    length = length_of(size)
    if length is None:
        return size in ("smaller", "small", "x-small", "xx-small")
    value, unit = length
    return value < {"em": 1.0, "rem": 1.0, "%": 100.0, "px": 12.0, "pt": 9.0}.get(unit, 0.0)


def _is_beside(element: Any) -> bool:
    return (
        element.tag in _NEVER_SHOWN
        or element.tag in _BESIDE_TAGS
        or (element.get("role") or "").strip().lower() in _BESIDE_ROLES
        or (element.tag not in _WHOLE_PAGE and _BESIDE_PATTERN.search(names_of(element)) is not None)
        or _has_hiding_class(element)
    )


def _has_hiding_class(element: Any) -> bool:
    return not _HIDDEN_CLASSES.isdisjoint((element.get("class") or "").lower().split())


def names_of(element: Any) -> str:
    """Return the classes and the id of an element, of bounded length."""
    return f"{element.get('class') or ''} {element.get('id') or ''}"[:400]


def _prose(texts: Iterable[str]) -> list[str]:
    """How the text begins, if it is sentences; nothing else is missed."""
    words = " ".join(texts).split()
    is_prose = len(words) >= _MIN_PROSE_WORDS and any(re.search(r"[.!?。]$", word) for word in words)
    return [" ".join(words)[:_KNOWN_BY]] if is_prose else []


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


def _is_marked(element: Any) -> bool:
    if element.tag in _NEVER_SHOWN or element.get("hidden") is not None:
        return True
    if element.tag == "dialog" and element.get("open") is None:
        return True
    if (element.get("aria-hidden") or "").strip().lower() == "true":
        return not _is_read_out_otherwise(element)
    return _has_hiding_class(element)


def _is_read_out_otherwise(element: Any) -> bool:
    """Return whether screen readers say other words, next to the element, in its place: "4,100" for "4.1k"."""
    return element.tag == "span" and any(
        neighbour is not None and _has_hiding_class(neighbour)
        for neighbour in (element.getprevious(), element.getnext())
    )


def _font_sizes(style: Style) -> Iterable[str]:
    yield style.get("font-size", "")
    yield from (word.partition("/")[0] for word in style.get("font", "").split() if word[:1].isdigit())


def _is_tiny(value: str) -> bool:
    length = length_of(value)
    return length is not None and 0 <= length[0] <= _TINY[length[1]]


def _painted(value: str, behind: tuple[float, ...]) -> tuple[float, ...]:
    """Return the colour behind an element's words; () when it is a picture or something else that is not known."""
    if not value or value in ("none", "transparent", "inherit", "initial", "unset"):
        return behind
    colour = _colour(value)
    if colour is None:
        return ()
    return colour[:3] if colour[3] > 0.5 else behind


def _is_same(words: str, behind: tuple[float, ...]) -> bool:
    colour = _colour(words) if words else None
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
                names = {above.tag} if above.tag in _WHOLE_PAGE else frozenset(_names(above))
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
