"""Which letters of a PDF page nobody reads on it: struck out, or not to be seen.

pypdf gives the text of a page without its look. So what a page draws is followed here, operator by operator: where
each letter is, in which colour, what is painted over it, and which lines go through it. Where the look of a letter
cannot be known (pictures, patterns, odd colours), it counts as seen. The text behind a scanned page stays: it is what a
program read in the picture.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from pypdf import PageObject, mult
from pypdf.errors import PyPdfError
from pypdf.generic import ArrayObject, DictionaryObject
from pypdf.generic._font import Font

# What pypdf and the format's own oddities raise on damaged files besides PyPdfError.
DAMAGE_ERRORS = (
    PyPdfError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, OverflowError,
    ZeroDivisionError, AssertionError, NotImplementedError, OSError,
)  # fmt: skip

_MIN_AREA_POINTS = 3.0  # of height and width; less is a rule, if it is black
_MAX_AREAS = 400  # painted areas of a page that are compared with its letters
_MAX_LINES_AT_ONE_HEIGHT = 100
_MAX_MEETINGS = 100_000  # of a letter and a line
_BAND = 4.0  # points: lines are found by the band that they lie in
_MIN_POINTS = 1.0  # height of letters; less is not to be seen
_MIN_SCAN_SHARE = 0.5  # of the page, in pictures
_NEAR = 0.08  # of the range of each colour channel: to people such colours look alike
_MIN_ALPHA, _MAX_UNSEEN_ALPHA = 0.95, 0.05
_MAX_STROKE = 0.25  # of the letters' height: a thicker one is a bar
_MIN_STRUCK_SHARE = 0.7  # of a line that goes through letters; a line of a table or chart goes on
_MIN_COVER = 0.6  # of the letters' height
_STRIKE_AT, _STRIKE_REACH = 0.33, 0.25  # of the letters' height above their line: where a line strikes out
_UNSEEN_MODE = 3
_FILLED_MODES = frozenset({0, 4})

Matrix = list[float]  # as pypdf has it
Fonts = dict[object, tuple[object, Font]]  # by what names each, which is kept with it
_IDENTITY: Matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]
Colour = tuple[float, float, float]
_WHITE: Colour = (1.0, 1.0, 1.0)
_RULE_COLOURS = (None, (0.0, 0.0, 0.0))


class Box(NamedTuple):
    """A rectangle in the page's own points."""

    left: float
    bottom: float
    right: float
    top: float

    def has(self, x: float, y: float) -> bool:
        """Return whether it holds a point."""
        return self.left <= x <= self.right and self.bottom <= y <= self.top

    def within(self, other: Box) -> Box:
        """Return the part of it within the other."""
        left, bottom = max(self.left, other.left), max(self.bottom, other.bottom)
        return Box(left, bottom, min(self.right, other.right), min(self.top, other.top))

    @property
    def size(self) -> float:
        """Its area; 0 for one that is turned inside out."""
        return max(0.0, self.right - self.left) * max(0.0, self.top - self.bottom)


@dataclass(slots=True)
class _State:
    """What `q` keeps and `Q` brings back."""

    matrix: Matrix
    clip: Box
    is_clip_exact: bool = True
    fill: Colour | None = (0.0, 0.0, 0.0)  # None: not known
    space: str = "/DeviceGray"
    alpha: float = 1.0
    is_plain: bool = True  # no blending with what lies below
    mode: float = 0
    line_width: float = 1.0
    font: Font | None = None
    size: float = 0.0
    letter_gap: float = 0.0
    word_gap: float = 0.0
    stretch: float = 100.0  # per cent
    rise: float = 0.0
    leading: float = 0.0


class _Area(NamedTuple):
    """What was painted after so many runs of letters; `colour` is None where it is not known."""

    after: int
    box: Box
    colour: Colour | None
    covers: bool


class _Line(NamedTuple):
    """A straight line along an axis (0: from left to right); its place on the other axis, its ends and its width."""

    axis: int
    at: float
    start: float
    end: float
    width: float


@dataclass(slots=True)
class _Run:
    """Letters of one operator: the middle of each in points, with the operand and the place in it that it has."""

    height: float
    axis: int
    fill: Colour | None
    is_hidden: bool  # by what the run itself says
    clip: Box
    places: list[tuple[int, int]] = field(default_factory=list)
    blanks: set[tuple[int, int]] = field(default_factory=set)  # spaces, which separate words
    middles: list[tuple[float, float, float]] = field(default_factory=list)  # x, y, and its width along the axis


@dataclass(frozen=True, slots=True)
class Unread:
    """The letters of a page that nobody reads: by run, their places; and whether some are struck out, or not seen."""

    places: Mapping[int, Set[tuple[int, int]]]
    is_struck: bool
    is_hidden: bool


class PageLook:
    """What the page draws, collected while pypdf extracts the text."""

    def __init__(self, page: PageObject, fonts: Fonts) -> None:
        self._page = page
        self._fonts = fonts  # of the whole file, by object
        left, bottom, right, top = (float(edge) for edge in page.cropbox)
        self._paper = Box(min(left, right), min(bottom, top), max(left, right), max(bottom, top))
        self._unit = float(page.user_unit)
        self._state = _State(_IDENTITY, self._paper)
        self._kept: list[_State] = []
        self._forms: list[tuple[_State, list[_State], Any]] = []
        self._resources: Any = page.get("/Resources", DictionaryObject())
        self._line_start, self._at = _IDENTITY, 0.0  # of the present line of text, and how far it has gone on it
        self._path: list[list[tuple[float, float]]] = []  # the corners of each part
        self._pending_clip = False
        self._runs: list[_Run] = []
        self._areas: list[_Area] = []
        self._lines: list[_Line] = []
        self._pictures = 0.0
        self._off: list[bool] = []  # of the parts that are open now: whether they are layers that are not shown
        self._hidden_layers = _hidden_layers(page)
        self._handlers: dict[bytes, Callable[[Sequence[Any]], None]] = {
            b"q": self._save, b"Q": self._restore, b"cm": self._move_all, b"gs": self._set_look,
            b"BT": self._begin_text, b"Tf": self._set_font, b"Tm": self._set_place, b"Td": self._move,
            b"TD": self._move_with_leading, b"T*": self._next_line, b"Tj": self._add_run,
            b"TJ": lambda shown: self._add_run(shown[0]), b"'": self._show_next, b'"': self._show_spaced,
            b"m": self._start_path, b"l": self._go_on, b"c": self._curve, b"v": self._curve, b"y": self._curve,
            b"re": self._rectangle, b"W": self._clip, b"W*": self._clip, b"n": self._end_path,
            b"BMC": self._begin_part, b"BDC": self._begin_part, b"EMC": self._end_part, b"Do": self._draw,
            b"sh": self._shade, b"INLINE IMAGE": lambda _: self._add_picture(is_solid=False),
        }  # fmt: skip

    @property
    def font(self) -> Font | None:
        """The font that is set now."""
        return self._state.font

    @property
    def rise(self) -> float:
        """How far the page now moves letters off their line."""
        return self._state.rise

    @property
    def run(self) -> int:
        """The number of the last run of letters, from 0."""
        return len(self._runs) - 1

    def before(self, operator: bytes, operands: Any) -> None:
        """Follow one operator of the page, or of a form on it, before pypdf does. What is damaged changes nothing."""
        if operator in SHOWING:
            self._runs.append(_Run(0.0, 0, None, False, self._state.clip))
        with suppress(*DAMAGE_ERRORS):
            self._follow(operator, operands)

    def _follow(self, operator: bytes, operands: Any) -> None:
        state = self._state
        if operator in _NUMBERS:
            setattr(state, _NUMBERS[operator], float(operands[0]))
        elif operator in _PAINTERS:
            self._paint(operator)
        elif operator in _COLOURING:
            self._set_fill(operator, operands)
        elif (handler := self._handlers.get(operator)) is not None:
            handler(operands)

    def after(self, operator: bytes, *_: object) -> None:
        """Note what an operator has ended: pypdf calls this after it."""
        if operator == b"Do":
            self._state, self._kept, self._resources = self._forms.pop()

    def unread(self) -> Unread:
        """Return which letters nobody reads."""
        is_scan = self._pictures >= _MIN_SCAN_SHARE * self._paper.size
        struck, hidden = (
            {(number, place) for number, place in found if place not in self._runs[number].blanks}
            for found in (self._struck(), self._unseen(is_scan=is_scan))
        )
        places: dict[int, set[tuple[int, int]]] = defaultdict(set)
        for number, place in struck | hidden:
            places[number].add(place)
        return Unread(places, bool(struck), bool(hidden))

    # What the page says of the look of all that follows.

    def _save(self, _: Sequence[Any]) -> None:
        self._kept.append(copy.copy(self._state))

    def _restore(self, _: Sequence[Any]) -> None:
        if self._kept:
            self._state = self._kept.pop()

    def _move_all(self, operands: Sequence[Any]) -> None:
        self._state.matrix = mult(_matrix(operands), self._state.matrix)

    def _set_look(self, operands: Sequence[Any]) -> None:
        look = _found(self._resources, "/ExtGState", operands[0])
        if "/ca" in look:
            self._state.alpha = float(look["/ca"])
        if "/BM" in look or "/SMask" in look:
            blend = look.get("/BM", "/Normal")
            self._state.is_plain = blend in ("/Normal", "/Compatible") and look.get("/SMask", "/None") == "/None"

    def _set_fill(self, operator: bytes, operands: Sequence[Any]) -> None:
        state = self._state
        if operator == b"cs":
            state.space, state.fill = str(operands[0]), None
            return
        numbers = [float(one) for one in operands if not isinstance(one, str | bytes)]
        if operator in (b"sc", b"scn"):
            state.fill = _colour(numbers) if self._is_plain_space(state.space, len(numbers)) else None
        else:
            state.space, state.fill = "", _colour(numbers)

    def _is_plain_space(self, name: str, channels: int) -> bool:
        """Return whether numbers in that colour space mean grey, red-green-blue or printing colours."""
        if name in ("/DeviceGray", "/DeviceRGB", "/DeviceCMYK"):
            return True
        space = _found(self._resources, "/ColorSpace", name)
        if isinstance(space, ArrayObject) and space and space[0] in ("/ICCBased", "/CalRGB", "/CalGray"):
            return channels in (1, 3, 4)
        return False

    def _begin_part(self, operands: Sequence[Any]) -> None:
        layer: Any = {}
        if len(operands) > 1 and operands[0] == "/OC":
            listed = _found(self._resources, "/Properties")
            layer = listed.raw_get(operands[1]) if operands[1] in listed else {}
        self._off.append(self._is_off(layer))

    def _end_part(self, _: Sequence[Any]) -> None:
        if self._off:
            self._off.pop()

    def _is_off(self, layer: Any) -> bool:
        """Return whether the file says that a layer is not shown."""
        if not self._hidden_layers or not layer:
            return False
        members = layer.get_object().get("/OCGs", layer)
        members = members if isinstance(members, ArrayObject) else [members]
        return all(getattr(member, "idnum", None) in self._hidden_layers for member in members)

    # Text.

    def _begin_text(self, _: Sequence[Any]) -> None:
        self._line_start, self._at = _IDENTITY, 0.0

    def _set_font(self, operands: Sequence[Any]) -> None:
        state = self._state
        state.font, state.size = self._font(operands[0]), float(operands[1])

    def _font(self, name: str) -> Font | None:
        fonts = _found(self._resources, "/Font")
        if name not in fonts:
            return None
        given = fonts.raw_get(name)
        key = getattr(given, "idnum", id(given))
        if key not in self._fonts:
            self._fonts[key] = given, Font.from_font_resource(given.get_object())
        return self._fonts[key][1]

    def _set_place(self, operands: Sequence[Any]) -> None:
        self._line_start, self._at = _matrix(operands), 0.0

    def _move(self, operands: Sequence[Any]) -> None:
        self._line_start = mult([1.0, 0.0, 0.0, 1.0, float(operands[0]), float(operands[1])], self._line_start)
        self._at = 0.0

    def _move_with_leading(self, operands: Sequence[Any]) -> None:
        self._state.leading = -float(operands[1])
        self._move(operands)

    def _next_line(self, _: Sequence[Any]) -> None:
        self._move((0, -self._state.leading))

    def _show_next(self, operands: Sequence[Any]) -> None:
        self._next_line(())
        self._add_run(operands)

    def _show_spaced(self, operands: Sequence[Any]) -> None:
        self._state.word_gap, self._state.letter_gap = float(operands[0]), float(operands[1])
        self._next_line(())
        self._add_run((b"", b"", *operands[2:]))

    def _add_run(self, operands: Sequence[Any]) -> None:
        state = self._state
        whole = mult(self._line_start, state.matrix)
        axis = 0 if abs(whole[0]) >= abs(whole[1]) else 1
        height = abs(state.size) * max(abs(whole[2]), abs(whole[3])) * self._unit
        is_hidden = state.mode == _UNSEEN_MODE or height < _MIN_POINTS or state.alpha <= _MAX_UNSEEN_ALPHA
        known = state.fill if state.mode in _FILLED_MODES and state.alpha >= _MIN_ALPHA and state.is_plain else None
        run = self._runs[-1]
        run.height, run.axis, run.fill = height / self._unit, axis, known
        run.is_hidden = is_hidden or any(self._off)
        if state.font is None:
            return
        middle = state.rise + _STRIKE_AT * state.size
        along = abs(whole[axis]) or 1.0
        for item, operand in enumerate(operands):
            if isinstance(operand, bytes):
                for place, (letter, width, is_blank) in enumerate(letters_of(operand, state.font)):
                    gap = state.letter_gap + (state.word_gap if letter == b" " else 0.0)
                    step = width / 1000 * state.size + gap
                    if is_blank:
                        run.blanks.add((item, place))
                    x, y = _moved(whole, self._at + step * state.stretch / 100 / 2, middle)
                    run.places.append((item, place))
                    run.middles.append((x, y, abs(step * state.stretch / 100) * along))
                    self._at += step * state.stretch / 100
            elif not isinstance(operand, str):
                self._at -= float(operand) / 1000 * state.size * state.stretch / 100

    # What is drawn.

    def _start_path(self, operands: Sequence[Any]) -> None:
        self._path.append([_moved(self._state.matrix, float(operands[0]), float(operands[1]))])

    def _go_on(self, operands: Sequence[Any]) -> None:
        if self._path:
            self._path[-1].append(_moved(self._state.matrix, float(operands[-2]), float(operands[-1])))

    def _curve(self, operands: Sequence[Any]) -> None:
        for at in range(0, len(operands) - 1, 2):
            self._go_on(operands[at : at + 2])
        if self._path:
            self._path[-1].append(self._path[-1][-1])  # no rectangle has as many corners

    def _rectangle(self, operands: Sequence[Any]) -> None:
        x, y, width, height = (float(one) for one in operands[:4])
        corners = ((x, y), (x + width, y), (x + width, y + height), (x, y + height))
        self._path.append([_moved(self._state.matrix, *corner) for corner in corners])

    def _clip(self, _: Sequence[Any]) -> None:
        self._pending_clip = True

    def _end_path(self, _: Sequence[Any]) -> None:
        state = self._state
        if self._pending_clip and self._path:
            boxes = [_box(part) for part in self._path]
            around = _box([corner for box in boxes for corner in ((box.left, box.bottom), (box.right, box.top))])
            state.clip = state.clip.within(around)
            state.is_clip_exact = state.is_clip_exact and len(self._path) == 1 and _is_rectangle(self._path[0])
        self._path, self._pending_clip = [], False

    def _paint(self, operator: bytes) -> None:
        state = self._state
        fills, strokes = operator not in (b"S", b"s"), operator not in (b"f", b"F", b"f*")
        is_solid = state.alpha >= _MIN_ALPHA and state.is_plain
        for part in self._path:
            box, is_rectangle = _box(part), _is_rectangle(part)
            if fills:
                colour = state.fill if is_solid and is_rectangle else None
                self._add_area(box, colour, covers=is_rectangle and colour is not None and len(self._path) == 1)
                self._add_bar(box, state.alpha)
            if strokes:
                a, b, c, d, *_ = state.matrix
                half = state.line_width * abs(a * d - b * c) ** 0.5 / 2
                for ends in pairwise(part):
                    left, bottom, right, top = _box(ends)
                    if top - bottom < 1 or right - left < 1:
                        wide, high = (0.0, half) if top - bottom < 1 else (half, 0.0)
                        bar = Box(left - wide, bottom - high, right + wide, top + high)
                        self._add_bar(bar, state.alpha)
                        self._add_area(bar, None, covers=False)
        self._end_path(())

    def _add_area(self, box: Box, colour: Colour | None, *, covers: bool) -> None:
        seen = box.within(self._state.clip)
        is_rule = min(seen.right - seen.left, seen.top - seen.bottom) < _MIN_AREA_POINTS and colour in _RULE_COLOURS
        if seen.size > 0 and not is_rule and len(self._areas) < _MAX_AREAS and not any(self._off):
            is_exact = self._state.is_clip_exact
            self._areas.append(_Area(len(self._runs), seen, colour if is_exact else None, covers and is_exact))

    def _add_bar(self, box: Box, alpha: float) -> None:
        """Keep a thin bar as a line that may strike letters out, unless nobody sees it."""
        wide, high = box.right - box.left, box.top - box.bottom
        is_seen = alpha > _MAX_UNSEEN_ALPHA and not any(self._off) and box.within(self._state.clip).size > 0
        if not is_seen or max(wide, high) < 2 * min(wide, high):
            return
        if wide > high:
            self._lines.append(_Line(0, (box.bottom + box.top) / 2, box.left, box.right, high))
        else:
            self._lines.append(_Line(1, (box.left + box.right) / 2, box.bottom, box.top, wide))

    def _draw(self, operands: Sequence[Any]) -> None:
        self._forms.append((copy.copy(self._state), self._kept, self._resources))
        drawn = _found(self._resources, "/XObject", operands[0])
        if drawn.get("/Subtype") == "/Image":
            self._add_picture(is_solid=not ({"/SMask", "/Mask", "/ImageMask"} & drawn.keys()))
            return
        state, self._kept = self._state, []
        state.matrix = mult(_matrix(drawn.get("/Matrix", _IDENTITY)), state.matrix)
        if "/BBox" in drawn:
            left, bottom, right, top = (float(edge) for edge in drawn["/BBox"])
            corners = ((left, bottom), (right, bottom), (right, top), (left, top))
            state.clip = state.clip.within(_box([_moved(state.matrix, *corner) for corner in corners]))
        self._resources = drawn.get("/Resources", self._resources)

    def _add_picture(self, *, is_solid: bool) -> None:
        matrix = self._state.matrix
        box = _box([_moved(matrix, x, y) for x in (0, 1) for y in (0, 1)])
        self._pictures += box.within(self._state.clip).size
        is_shown = self._state.alpha >= _MIN_ALPHA and self._state.is_plain
        self._add_area(box, None, covers=is_solid and is_shown)

    def _shade(self, _: Sequence[Any]) -> None:
        self._add_area(self._state.clip, None, covers=False)

    # What follows from it.

    def _struck(self) -> Iterator[tuple[int, tuple[int, int]]]:
        bands: dict[tuple[int, int], list[_Line]] = defaultdict(list)
        for line in dict.fromkeys(self._lines):  # some are drawn twice
            band = bands[line.axis, int(line.at // _BAND)]
            if len(band) < _MAX_LINES_AT_ONE_HEIGHT:
                band.append(line)
        marked = self._struck_boxes()
        met: dict[_Line, float] = defaultdict(float)  # how much of each line goes through letters
        through: list[tuple[_Line, int, tuple[int, int]]] = []
        for number, run in enumerate(self._runs):
            if not run.middles or not (bands or marked):
                continue
            across, reach = 1 - run.axis, _STRIKE_REACH * run.height
            heights = [middle[across] for middle in run.middles]
            first, last = int((min(heights) - reach) // _BAND), int((max(heights) + reach) // _BAND)
            near = [
                line
                for band in range(first, min(last, first + 50) + 1)
                for line in bands.get((run.axis, band), ())
                if line.width <= _MAX_STROKE * run.height
            ]
            for place, middle in zip(run.places, run.middles, strict=True):
                for line in near:
                    is_met = abs(line.at - middle[across]) <= reach and line.start <= middle[run.axis] <= line.end
                    if is_met and len(through) < _MAX_MEETINGS:
                        met[line] += middle[2]
                        through.append((line, number, place))
                if any(box.has(middle[0], middle[1]) for box in marked):
                    yield number, place
        for line, number, place in through:
            if met[line] >= _MIN_STRUCK_SHARE * (line.end - line.start):
                yield number, place

    def _struck_boxes(self) -> list[Box]:
        """Return where the page's own annotations strike words out."""
        boxes: list[Box] = []
        for given in self._page.annotations or ():
            note = given.get_object()
            if note.get("/Subtype") == "/StrikeOut" and not int(note.get("/F", 0)) & 2:  # 2: it is hidden
                corners = [float(one) for one in note.get("/QuadPoints", note.get("/Rect", ()))]
                points = list(zip(corners[::2], corners[1::2], strict=False))
                step = 4 if "/QuadPoints" in note else 2
                boxes += [_box(points[at : at + step]) for at in range(0, len(points) - step + 1, step)]
        return boxes[:_MAX_AREAS]

    def _unseen(self, *, is_scan: bool) -> Iterator[tuple[int, tuple[int, int]]]:
        painted = {_WHITE, *(area.colour for area in self._areas if area.colour is not None)}
        off = [not any(run.clip.has(x, y) for x, y, _ in run.middles) for run in self._runs]
        is_any_on = not all(off)  # else the page's own size is wrong
        for number, run in enumerate(self._runs):
            if (off[number] and is_any_on) or (run.is_hidden and not is_scan):
                yield from ((number, place) for place in run.places)
                continue
            if is_scan:
                continue
            may_fade = any(_is_near(run.fill, one) for one in painted)
            above = [area.box for area in self._areas if area.covers and area.after > number]
            above = [box for box in above if box.top - box.bottom > _MIN_COVER * run.height]
            for place, (x, y, _) in zip(run.places, run.middles, strict=True):
                if any(box.has(x, y) for box in above) or (may_fade and _is_near(run.fill, self._behind(number, x, y))):
                    yield number, place

    def _behind(self, number: int, x: float, y: float) -> Colour | None:
        """Return the colour of the page behind a run of letters; None where it is not known."""
        for area in reversed(self._areas):
            if area.after <= number and area.box.has(x, y):
                return area.colour
        return _WHITE if len(self._areas) < _MAX_AREAS else None


SHOWING = frozenset({b"Tj", b"TJ", b"'", b'"'})
_NUMBERS = {
    b"Tc": "letter_gap", b"Tw": "word_gap", b"Tz": "stretch", b"Ts": "rise", b"Tr": "mode", b"TL": "leading",
    b"w": "line_width",
}  # fmt: skip
_COLOURING = frozenset({b"g", b"rg", b"k", b"sc", b"scn", b"cs"})
_PAINTERS = frozenset({b"S", b"s", b"f", b"F", b"f*", b"B", b"B*", b"b", b"b*"})


def letters_of(shown: bytes, font: Font) -> Iterator[tuple[bytes, float, bool]]:
    """Yield a string's letters as in the file: their bytes, width in thousandths, and whether it is a space."""
    if isinstance(font.encoding, str):
        codec = font.encoding
        found = [(letter.encode(codec, "replace"), letter, letter) for letter in shown.decode(codec, "replace")]
    else:
        found = [(bytes((byte,)), chr(byte), font.encoding.get(byte, chr(byte))) for byte in shown]
    for given, name, letter in found:
        width = font.space_width if name == font.space_char else font.get_text_width(name)
        yield given, float(width), str(font.character_map.get(letter, letter)).isspace()


def _hidden_layers(page: PageObject) -> frozenset[int]:
    """Return the object numbers of the layers that a file does not show when it is opened."""
    root: Any = page.pdf.root_object if page.pdf is not None else DictionaryObject()
    shown = _found(root, "/OCProperties", "/D")
    return frozenset(layer.idnum for layer in shown.get("/OFF", ()) if hasattr(layer, "idnum"))


def _found(resources: Any, *names: str) -> Any:
    """Return what these names lead to in the page's resources, one within the other; an empty mapping for nothing."""
    for name in names:
        resources = resources.get_object().get(name, DictionaryObject()).get_object()
    return resources


def _matrix(operands: Sequence[Any]) -> Matrix:
    a, b, c, d, e, f = (float(one) for one in operands[:6])
    return [a, b, c, d, e, f]


def _moved(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return (a * x + c * y + e, b * x + d * y + f)


def _box(corners: Sequence[tuple[float, float]]) -> Box:
    across, up = [x for x, _ in corners], [y for _, y in corners]
    return Box(min(across), min(up), max(across), max(up))


def _is_rectangle(corners: Sequence[tuple[float, float]]) -> bool:
    """Return whether a path has four corners along the axes."""
    if len(corners) == 5 and corners[0] == corners[4]:
        corners = corners[:4]
    if len(corners) != 4:
        return False
    return all(
        min(abs(x - other_x), abs(y - other_y)) < 0.01
        for (x, y), (other_x, other_y) in zip(corners, (*corners[1:], corners[0]), strict=True)
    )


def _colour(numbers: Sequence[float]) -> Colour | None:
    """Red, green and blue of numbers for grey, red-green-blue or printing colours."""
    if len(numbers) == 1:
        return (numbers[0], numbers[0], numbers[0])
    if len(numbers) == 3:
        return (numbers[0], numbers[1], numbers[2])
    if len(numbers) == 4:
        cyan, magenta, yellow, black = numbers
        return ((1 - cyan) * (1 - black), (1 - magenta) * (1 - black), (1 - yellow) * (1 - black))
    return None


def _is_near(one: Colour | None, other: Colour | None) -> bool:
    return one is not None and other is not None and all(abs(a - b) <= _NEAR for a, b in zip(one, other, strict=True))
