"""Takes out of a page what its readers cannot see, before any text is extracted from it.

Text for programs alone (orders to a language model, words for search engines) must not become evidence that a person
believes to be on the page. We judge by attributes, inline styles and the page's own style sheets, as a wide screen
shows them before anybody touches the page. Style sheets in other files are not fetched, so what only they hide stays
in. White words count as hidden unless another background is named or they lie over a picture. Text that a button
unfolds or that fades in on scrolling looks the same as text that nobody ever sees: it goes too, and is counted. So does
what is struck out, which the page no longer says.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tinycss2.color4 import parse_color

from crowdnotes.evidence.reading.selectors import WHOLE_PAGE
from crowdnotes.evidence.reading.style_sheets import Style, StyleSheets, is_hiding, is_tiny, length_of

_NEVER_SHOWN = frozenset("template noscript datalist noframes noembed".split())
# The screen-reader classes of the common frameworks.
_HIDDEN_CLASSES = frozenset("sr-only visually-hidden screen-reader-text visuallyhidden".split())
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
_WHITE = (1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What was taken out of a page: how each piece of hidden prose begins, and whether words were struck out.

    `is_unfinished` when the page has more styles than we look at, so that what they hide may still be in it.
    """

    prose: tuple[str, ...] = ()
    is_struck: bool = False
    is_unfinished: bool = False


def drop_hidden(tree: Any) -> LeftOut:
    """Take what is not shown out of an lxml tree, in place; what follows it stays.

    Inline styles and aria-hidden go too: they have been judged, and extraction takes "overflow: hidden" for a hidden
    text. What a style sets above or below the line becomes "sup" or "sub".
    """
    sheets = StyleSheets(tree)
    unseen: list[Any] = []  # the outermost elements that are not shown
    wordless: list[Any] = []  # shown ones whose own words are not to be seen
    struck: list[Any] = []
    raised: list[tuple[Any, str]] = []
    missed: list[str] = []
    stack = [(tree, _Look(), False)]  # without recursion: pages nest deeper than Python does
    while stack:
        element, around, is_beside = stack.pop()
        if not isinstance(element.tag, str) or element.tag == "head":
            continue
        style = sheets.style_of(element)
        is_beside = is_beside or _is_beside(element)
        if element.tag not in WHOLE_PAGE and (_is_marked(element) or is_hiding(style)):
            if element.getparent() is not None:
                unseen.append(element)
                missed += [] if is_beside else _prose(itertools.islice(element.itertext(), _MAX_COUNTED_PIECES))
            continue
        if element.tag not in WHOLE_PAGE and _is_struck(element, style) and element.getparent() is not None:
            struck.append(element)
            continue
        if element.tag in _RAISED_TAGS:
            raised.append((element, _raised_tag(element, style) or element.tag))
        if _is_counter(element):
            element.text = _COUNTED
            missed.append(f"{_COUNTED} is a number")  # which is nowhere on the page
        look = around.within(element, style)
        if not look.shows_words and not (look.is_painted_over and _is_over_picture(element, sheets)):
            wordless.append(element)
            missed += [] if is_beside else _prose((element.text or "", *(child.tail or "" for child in element)))
        stack.extend((child, look, is_beside) for child in element)
    for element, tag in raised:  # not before: rules go by tags
        element.tag = tag
    _take_own_words(wordless)
    is_struck = any(
        text.strip() for element in struck for text in itertools.islice(element.itertext(), _MAX_COUNTED_PIECES)
    )
    for element in (*unseen, *struck):
        element.drop_tree()
    for element in tree.iter():
        element.attrib.pop("style", None)
        element.attrib.pop("aria-hidden", None)
    return LeftOut(tuple(missed), is_struck, sheets.is_unfinished)


def _take_own_words(elements: Iterable[Any]) -> None:
    for element in elements:
        element.text = None
        for child in element:
            child.tail = None


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
        or (element.tag not in WHOLE_PAGE and _BESIDE_PATTERN.search(names_of(element)) is not None)
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

    @property
    def is_painted_over(self) -> bool:
        """Whether the words would be seen on another background than the one that was found."""
        return not (self.is_tiny or self.is_unseen or _is_same(self.colour, ()))

    def within(self, element: Any, style: Style) -> _Look:
        if not style and element.get("color") is None and element.get("bgcolor") is None:
            return self
        painted = next((style[name] for name in _PAINTS if style.get(name, "none") != "none"), "")
        visibility = style.get("visibility", "")
        is_whole = element.tag in WHOLE_PAGE  # hidden until a script shows it, as some sites do
        return _Look(
            colour=style.get("color") or element.get("color") or self.colour,
            behind=_painted(painted or element.get("bgcolor") or "", self.behind),
            is_tiny=_has_tiny_letters(style, self.is_tiny) and not is_whole,
            is_unseen=visibility in ("hidden", "collapse") and not is_whole if visibility else self.is_unseen,
        )


_PICTURE_TAGS = frozenset("img picture video svg canvas".split())
_MAX_AROUND = 5  # elements from the words outwards that may be laid over a picture
_MAX_BESIDE = 5  # elements on each side of those that may be it, and elements within one of them
_LAID = ("absolute", "fixed")


def _is_over_picture(element: Any, sheets: StyleSheets) -> bool:
    """Return whether words are laid over a picture or a painted element next to them, or that is laid below them."""
    is_laid = False
    for around in itertools.islice(itertools.chain([element], element.iterancestors()), _MAX_AROUND):
        is_laid = is_laid or sheets.style_of(around).get("position") in _LAID
        sides = (itertools.islice(around.itersiblings(preceding=way), _MAX_BESIDE) for way in (True, False))
        for other in itertools.chain.from_iterable(sides):
            style = sheets.style_of(other)
            is_picture = any(one.tag in _PICTURE_TAGS for one in itertools.islice(other.iter(), _MAX_BESIDE))
            is_painted = any(_painted(style.get(name, ""), _WHITE) != _WHITE for name in _PAINTS)
            if (is_laid or style.get("position") in _LAID) and (is_picture or is_painted):
                return True
    return False


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


_SIZE_WORDS = frozenset("xx-small x-small small medium large x-large xx-large xxx-large initial".split())
_MANY_TIMES = {"em": 4.0, "%": 400.0}  # tiny letters are still tiny at less than that


def _has_tiny_letters(style: Style, is_tiny_around: bool) -> bool:
    sizes = [style.get("font-size", "")]
    sizes += (word.partition("/")[0] for word in style.get("font", "").split() if word[:1].isdigit())
    given = [size for size in sizes if size in _SIZE_WORDS or length_of(size) is not None]
    if not given:
        return is_tiny_around
    number, unit = length_of(given[-1]) or (0.0, "word")
    return is_tiny(given[-1]) or (is_tiny_around and number < _MANY_TIMES.get(unit, 0.0))


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
