"""Reads the numbers of a text, and says which of a note's sentence no source has."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import permutations

from crowdnotes.text.tokens import ENGLISH_STOP_WORDS, fold, stem

_SPELLED_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_SPELLED_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_VALUE_BY_WORD = {
    **{word: float(value) for value, word in enumerate(_SPELLED_ONES)},
    **dict(zip(_SPELLED_TENS, range(20, 100, 10), strict=True)),
    "half": 0.5,
}
_FACTOR_BY_SCALE = {
    "dozen": 12.0, "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "k": 1e3,
    "m": 1e6, "bn": 1e9, "tn": 1e12, "lakh": 1e5, "crore": 1e7,
}  # fmt: skip
_SPELLED_NUMBERS = "|".join(sorted(_VALUE_BY_WORD, key=len, reverse=True))
# "two hundred and fifty", "two and a half"
_SPELLED = rf"(?:{_SPELLED_NUMBERS})(?:[- ](?:{_SPELLED_NUMBERS}))?"
_SCALES = "dozen|hundred|thousand|million|billion|trillion|lakh|crore"
# 3.5 × 10^6 as pages are read · 1,000 · 1 000 (after a space only groups of three digits count) · 1.5, and its unit
_POWER = r"(?:\d+(?:\.\d+)?\s?[×x·*]\s?)?10\^[-−–+]?\d{1,2}"
_QUANTITY_PATTERN = re.compile(
    r"(?:(?P<money>[$€£¥]\s?)?(?<![\w.,^])(?<![A-Za-z]-)(?<!\^[-−–+])(?!(?<=\b(?:19|20)\d\d[/–-])\d\d(?!\d))"
    r"(?!(?:0?\d|1[0-2])/(?:\d\d?/)?(?:19|20)\d\d\b)"  # the month of "3/14/2019"
    rf"(?P<digits>{_POWER}|\d*[½¼¾⅓⅔⅛]|"
    r"\d{1,3}(?:[,\u00a0\u202f ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?!\d)"
    rf"|\b(?P<words>{_SPELLED}(?:[- ]hundred(?:(?: and)? {_SPELLED}(?! (?:{_SCALES})\b))?)?(?: and a half)?|"
    rf"an?(?= (?:{_SCALES})\b))\b)"
    rf"(?:[\s-]?(?P<scale>{_SCALES}|k|(?-i:M)|bn|tn)\b)?(?P<more>\+)?"
    r"(?:[\s-]?(?P<unit>[%€]|per cent\b|(?:°\s?|degrees? )(?:[CF]|Celsius|centigrade|Fahrenheit)\b|"
    r"sq(?:uare|\.)? (?:km|kilomet(?:re|er)s?|miles?)\b|[^\W\d_]+))?",
    re.IGNORECASE,
)
# Words before a number that say how exact it is: 0 about that, 1 that or more, -1 that or less, -2 that at the most.
_AT_MOST = -2
_QUALIFIERS = tuple(
    (side, re.compile(rf"(?<!\w)(?:{words})\s*(?:an? )?[$€£¥]?$", re.IGNORECASE))
    for side, words in (
        (
            _AT_MOST,
            r"(?:no|not|never|cannot|\w+n['’]t) (?:\w+ ){0,2}?(?:more than|over|above|exceed)|at most|up to|"
            r"as (?:many|much|long|high) as|maximum(?: of)?",
        ),
        (1, r"no (?:fewer|less) than|more than|over|above|at least|greater than|upwards? of|exceed\w*|[>≥]"),
        (-1, r"nearly|almost|(?:just )?under|less than|fewer than|below|not quite|[<≤]"),
        (None, "between"),
        (0, r"within|about|around|approximately|approx\.?|roughly|some|circa|an estimated|estimated|close to|[~≈]"),
    )
)
_MAX_QUALIFIER_CHARACTERS = 40
# Words next to a percentage that say which way it went.
_UP = (
    r"ris(?:e|es|ing|en)|rose|rais\w*|increas\w*|gr[eo]w\w*|gain\w*|climb\w*|jump\w*|surg\w*|soar\w*|higher|up(?! to\b)"
)
_DOWN = r"f[ae]ll\w*|drop\w*|declin\w*|decreas\w*|reduc\w*|cuts?|lower\w*|shr[aiu]nk\w*|plung\w*|down(?! to\b)"
_TREND_BEFORE = re.compile(rf".*\b(?P<word>(?P<up>{_UP})|(?:{_DOWN}))(?: \w+){{0,3}} $", re.IGNORECASE | re.DOTALL)
_TREND_AFTER = re.compile(
    rf" (?:\w+ )?(?:(?P<up>{_UP}|more|greater|above)|(?:{_DOWN}|less|fewer|smaller|below))\b", re.IGNORECASE
)
# The same after it: "4 tablets or fewer".
_QUALIFIERS_AFTER = (
    (_AT_MOST, re.compile(r"(?:\s\w+)? (?:(?:or|and) (?:less|fewer|under|below|younger|lower)|at (?:the )?most)\b")),
    (1, re.compile(r"(?:\s\w+)? (?:or|and) (?:more|over|above|older|greater|higher)\b")),
)
_UNIT_BY_NAME = {
    "%": "%", "percent": "%", "per cent": "%", "percentage": "points",  # points, of which 2 are not 2 %
    "year": "year", "yr": "year", "month": "month", "week": "week", "day": "day", "hour": "hour", "minute": "minute",
    "time": "times", "fold": "times", "°c": "°c", "°f": "°f",
    "kg": "kg", "kilogram": "kg", "kilogramme": "kg", "kilo": "kg", "g": "g", "gram": "g", "gramme": "g",
    "mg": "mg", "milligram": "mg", "milligramme": "mg", "ng": "ng", "nanogram": "ng",
    "mcg": "mcg", "ug": "mcg", "µg": "mcg", "μg": "mcg", "microgram": "mcg", "microgramme": "mcg",
    "l": "l", "litre": "l", "liter": "l", "dl": "dl", "cl": "cl", "ml": "ml", "millilitre": "ml", "milliliter": "ml",
    "km": "km", "kilometre": "km", "kilometer": "km", "metre": "metre", "meter": "metre", "cm": "cm", "mm": "mm",
    "m": "metre", "centimetre": "cm", "centimeter": "cm", "millimetre": "mm", "millimeter": "mm",
    "mile": "mile", "mph": "mile", "kph": "km", "inch": "inch", "inche": "inch", "foot": "foot", "feet": "foot",
    "ft": "foot", "yard": "yard", "pound": "pound", "lb": "pound", "ounce": "ounce", "oz": "ounce",
    "tonne": "tonne", "ton": "tonne", "gallon": "gallon", "hectare": "hectare", "ha": "hectare", "acre": "acre",
    "km2": "km²", "sq km": "km²", "sq kilometre": "km²", "sq kilometer": "km²", "sq mile": "sq mile", "iu": "iu",
    "dollar": "dollar", "usd": "dollar", "euro": "euro", "eur": "euro", "€": "euro", "gbp": "pound", "yen": "yen",
    "°celsius": "°c", "°centigrade": "°c", "°fahrenheit": "°f",
}  # fmt: skip
# Factors between units.
_SIZE_BY_UNIT = {
    "ng": ("mass", 1e-9), "mcg": ("mass", 1e-6), "mg": ("mass", 1e-3), "g": ("mass", 1.0), "kg": ("mass", 1e3),
    "ml": ("volume", 1e-3), "cl": ("volume", 1e-2), "dl": ("volume", 1e-1), "l": ("volume", 1.0),
    "mm": ("length", 1e-3), "cm": ("length", 1e-2), "metre": ("length", 1.0), "km": ("length", 1e3),
    "tonne": ("mass", 1e6), "pound": ("mass", 453.592), "ounce": ("mass", 28.35), "gallon": ("volume", 3.785),
    "inch": ("length", 0.0254), "foot": ("length", 0.3048), "yard": ("length", 0.9144), "mile": ("length", 1_609.344),
    "hectare": ("area", 1.0), "km²": ("area", 100.0), "acre": ("area", 0.404686), "sq mile": ("area", 258.999),
    "°c": ("temperature", 1.0), "°f": ("temperature", 5 / 9),
    "minute": ("minutes", 1.0), "hour": ("minutes", 60.0), "day": ("minutes", 1_440.0), "week": ("minutes", 10_080.0),
    "month": ("months", 1.0), "year": ("months", 12.0),
}  # fmt: skip
_OTHER_SYSTEM = frozenset(("pound", "ounce", "gallon", "inch", "foot", "yard", "mile", "acre", "sq mile", "°f"))
_FREEZING_POINT = {"°c": -160 / 9, "°f": 32.0}  # of the other scale's 0; a difference of degrees has none
_ENDS_IN_SCALE = re.compile(rf"(?:{_SCALES}|k|m|bn|tn)$", re.IGNORECASE)
_MEASURING_UNITS = frozenset(_UNIT_BY_NAME.values())
_PEOPLE = "people"
_PEOPLE_NAMES = frozenset(
    "people person participant patient adult individual subject volunteer respondent".split()
)  # one unit: a press release calls the participants of a paper people
_OF_PEOPLE = re.compile(rf" of (?:\w+ ){{0,2}}?(?:{'|'.join(sorted(_PEOPLE_NAMES))})s?\b", re.IGNORECASE)
_CHANGED_BY = re.compile(r"\bby (?:\w+ ){0,2}$", re.IGNORECASE)
_DISTINCT_UNITS = _MEASURING_UNITS | {_PEOPLE}  # 90 % are not 90 people
_PART = "part"  # the 7 of "7 in 1,000", which is not 7 %
_WORDS_AFTER_NUMBER = re.compile(r"(?:\s+[^\W\d_]+){1,3}")
_YEARS = range(1900, 2101)
_VULGAR_FRACTIONS = frozenset("½¼¾⅓⅔⅛")
_UNIT_BY_SIGN = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yen"}


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number at text[start:end]; `unit` is normalised, or "" where nothing is counted.

    `step` is the unit of its last digit (1,000 in "46,000"). `side` is how the words before it qualify it: 0 for
    "about", 1 for "more than", -1 for "fewer than", -2 for "up to", None for the number alone; `said` is the number
    with such words. `trend` is 1 for "rose by 5 %", -1 for "5 % fewer", else 0. `of_people`: "5 % of people".
    """

    value: float
    unit: str
    text: str
    start: int
    end: int
    step: float = 1.0
    side: int | None = None
    said: str = ""
    trend: int = 0
    of_people: bool = False

    def agrees_with(self, other: Quantity) -> bool:
        """Return whether values agree as far as both are rounded, and units where both measure or count people."""
        size, other_size = _SIZE_BY_UNIT.get(self.unit), _SIZE_BY_UNIT.get(other.unit)
        if size and other_size and self.unit != other.unit and size[0] == other_size[0]:
            factor = other_size[1] / size[1]
            is_other_system = (self.unit in _OTHER_SYSTEM) != (other.unit in _OTHER_SYSTEM)
            other = replace(other, value=other.value * factor, step=other.step * factor, unit=self.unit)
            if is_other_system:
                width = min(max(self.step, other.step) / 2, _MAX_CONVERTED * self.value)
                starts = {0.0, _FREEZING_POINT.get(self.unit, 0.0)}
                return any(abs(start + other.value - self.value) <= width for start in starts)
        if (self.unit, other.unit) == ("times", "%"):  # doubled: 100 % more; halved: 50 % less
            change = other.value / 100 * (1 if self.value > 1 else -1)
            other = replace(other, value=1 + change, step=other.step / 100, unit="times")
        if self.unit in _DISTINCT_UNITS and other.unit in _DISTINCT_UNITS and self.unit != other.unit:
            return False
        if {self.unit, other.unit} == {"%", _PART}:
            return False
        if (
            self.trend * other.trend < 0
            or (self.side or 0) * (other.side or 0) < 0
            or (self.side is None and other.side == _AT_MOST)
        ):
            return False
        if math.isclose(self.value, other.value):
            return True
        (low, high), (other_low, other_high) = self._range(), other._range()
        return low <= other.value <= high or other_low <= self.value <= other_high

    def _range(self) -> tuple[float, float]:
        """Return the lowest and the highest number that it may be a rounded form of."""
        value, step = self.value, self.step
        if self.side is None:
            is_rounded = value >= 10 * step and (value >= 1_000 or step <= 1) and value not in _YEARS
            width = step / 2 if is_rounded else 0.0
            return value - width, value + width
        if self.side == 0:
            width = min(step / 2, _MAX_ABOUT * value)
            return value - width, value + width
        width = min(step, _MAX_BEYOND * value)
        return (value, value + width) if self.side > 0 else (value - width, value)


_MAX_CONVERTED = 0.1  # of a number in another system: "6 feet" are 2 metres
_MAX_ABOUT = 0.12  # of a number after "about": "about half" is from 44 % to 56 %
_MAX_BEYOND = 0.25  # of a number after "more than"
_SHARE_STEP = 0.04  # of a spelled share without a qualifier: "half" is from 49 % to 51 %
_FRACTIONS = {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}
_NAMED_FRACTIONS = "|".join(name for name in _FRACTIONS if name != "half")
_PART_OF_WHOLE = re.compile(
    rf"\b(?P<part>\d+(?:\.\d+)?|{_SPELLED_NUMBERS})(?:/(?=\d{{1,2}} of\b)| (?:in|out of|per|of(?= (?:every|each)\b)|"
    r"(?:[^\W\d_]+ )?(?:per|for every|for each|in every)) (?:every |each )?(?:a )?)"
    rf"(?P<whole>(?!(?:19|20)\d\d\b)\d[\d,]*|{_SPELLED_NUMBERS}|hundred|thousand|million)(?: (?P<scale>{_SCALES}))?\b",
    re.IGNORECASE,
)
_FRACTION = re.compile(
    rf"\b(?:(?P<top>one|an?)[- ](?P<bottom>{_NAMED_FRACTIONS})(?=\s+(?:of|as)\b|[.,;:)]|$)"
    rf"|(?P<tops>two|three|four|five|seven|nine)[- ](?P<bottoms>{_NAMED_FRACTIONS})s"
    r"|(?<!first )(?<!second )(?<!other )(?<!latter )(?<!and a )(?<!and one )(?P<half>half)(?![\w-])"
    rf"(?!\s+(?:an?|the (?:time|day|year|dose)|hours?|days?|years?|times?|{_SCALES})\b))",
    re.IGNORECASE,
)


def shares(text: str) -> list[Quantity]:
    """Return parts of a whole as percent: "7 in 100", "one out of ten", "half", "two thirds"."""
    found = []
    for match in _PART_OF_WHOLE.finditer(text):
        part, whole = (_parse_number(match[name]) for name in ("part", "whole"))
        whole *= _FACTOR_BY_SCALE.get((match["scale"] or "").lower(), 1.0)
        if 0 < part <= whole:
            is_counted = whole >= 100  # "7 in 100" is exact to the percent, "one in five" is not
            found.append(_build_share(text, match, part / whole, 100 / whole if is_counted else None))
    for match in _FRACTION.finditer(text):
        top, bottom = match["tops"] or "one", match["bottom"] or match["bottoms"] or "half"
        found.append(_build_share(text, match, _VALUE_BY_WORD[top.lower()] / _FRACTIONS[bottom.lower()]))
    return found


def _build_share(text: str, match: re.Match[str], share: float, step: float | None = None) -> Quantity:
    side, said = _qualify(text, *match.span())
    if step is None:  # words are rounded
        step, side = 100 * share * (_SHARE_STEP if side is None else 1.0), side or 0
    return Quantity(100 * share, "%", match.group(), match.start(), match.end(), step, side, said)


def _qualify(text: str, start: int, end: int) -> tuple[int | None, str]:
    """Return the `side` of the number at text[start:end], and the number with the words that say so."""
    first = max(0, start - _MAX_QUALIFIER_CHARACTERS)
    for side, pattern in _QUALIFIERS:
        if match := pattern.search(text[first:start]):
            return side, text[first + match.start() : end]
    for side, pattern in _QUALIFIERS_AFTER:
        if match := pattern.match(text, end):
            return side, text[start : match.end()]
    return None, text[start:end]


def _find_trend(text: str, start: int, end: int, said: str) -> tuple[int, str]:
    """Return the `trend` of the percentage at text[start:end], and what is said with the words for it."""
    first = max(0, start - _MAX_QUALIFIER_CHARACTERS)
    if match := _TREND_BEFORE.match(text[first:start]):
        return 1 if match["up"] else -1, text[first + match.start("word") : end]
    if match := _TREND_AFTER.match(text, end):
        return 1 if match["up"] else -1, said + match.group()
    return 0, said


_DECIMAL_DOT_PATTERN = re.compile(r"(?<=\d)·(?=\d)(?!10\^)")  # as The Lancet prints "2·5"


def quantities(text: str) -> list[Quantity]:
    """Return all numbers of a text, in order; "one" counts only before a scale or a unit."""
    found: list[Quantity] = []
    for match in _QUANTITY_PATTERN.finditer(_DECIMAL_DOT_PATTERN.sub(".", text)):
        scale, unit = match["scale"], _normalise_unit(match["unit"] or "")
        if match["money"]:
            scale = "m" if match["unit"] == "m" else scale  # else it is metres
            unit = _UNIT_BY_SIGN[match["money"][0]]
        number = match["digits"] or match["words"]
        if number.lower() == "one" and not scale and unit not in _MEASURING_UNITS:
            continue
        ends_in_unit = scale != match["scale"] or (unit in _MEASURING_UNITS and not match["money"])
        last = "unit" if ends_in_unit else "scale" if scale else "digits" if match["digits"] else "words"
        if unit not in _MEASURING_UNITS and _counts_people(text, match.end(last)):
            unit = _PEOPLE
        factor = _FACTOR_BY_SCALE.get((scale or "").lower(), 1.0)
        side, said = _qualify(text, match.start(), match.end(last))
        side = 1 if match["more"] else side
        place = text[match.start() : match.end(last)], match.start(), match.end(last)
        step = _find_step(number, rounds_small=side is not None) * factor
        trend, said = _find_trend(text, match.start(), match.end(last), said) if unit == "%" else (0, said)
        of_people = _OF_PEOPLE.match(text, match.end(last)) if unit == "%" and not trend else None
        said += of_people.group() if of_people else ""
        quantity = Quantity(_parse_number(number) * factor, unit, *place, step, side, said, trend, bool(of_people))
        if found:
            found[-1], quantity = _join_range(text, found[-1], quantity, factor)
        found.append(quantity)
    return found


_RANGE_SIGN = re.compile(r"\s?(?:[-–—]|to|or)\s?")


def _join_range(text: str, low: Quantity, high: Quantity, factor: float) -> tuple[Quantity, Quantity]:
    """Return both ends of "5–7 million kg" with the scale, a `factor`, and the unit of the last, else as they are."""
    is_money = low.unit in _UNIT_BY_SIGN.values() and high.unit not in _MEASURING_UNITS
    is_alike = is_money or low.unit in ("", high.unit)
    between = text[low.end : high.start]
    is_range = _RANGE_SIGN.fullmatch(between) or (between == " and " and low.said[:7].lower() == "between")
    if not is_alike or low.value > high.value or not is_range:
        return low, high
    said = low.said.removesuffix(low.text) + text[low.start : high.end]
    if low.value <= high.value / factor and not _ENDS_IN_SCALE.search(low.text):
        low = replace(low, value=low.value * factor, step=low.step * factor)
    unit = low.unit if is_money else high.unit
    return replace(low, unit=unit, said=said), replace(high, unit=unit, said=said)


def _find_step(number: str, *, rounds_small: bool) -> float:
    """Return the unit of the last digit of a number; "120" alone is exact, "about 120" is in tens."""
    if "^" in number:
        factor, power = _split_power(number)
        return power * (_find_step(factor, rounds_small=rounds_small) if "." in factor else 1.0)
    digits = re.sub(r"[,\s]", "", number)
    if "." in digits:
        return float(10.0 ** -len(digits.partition(".")[2]))
    if digits[-1:] in _VULGAR_FRACTIONS:
        return 0.25
    if not digits.isdigit():
        return 10.0 if rounds_small and _parse_number(number) % 10 == 0 else 1.0
    zeros = len(digits) - len(digits.rstrip("0"))
    return float(10.0**zeros) if rounds_small or float(digits) >= 1_000 else 1.0


def _counts_people(text: str, end: int) -> bool:
    after = _WORDS_AFTER_NUMBER.match(text, end)
    names = (fold(word) for word in after.group().split()) if after is not None else ()
    return any(name in _PEOPLE_NAMES or name.removesuffix("s") in _PEOPLE_NAMES for name in names)


def _parse_number(number: str) -> float:
    if "^" in number:
        factor, power = _split_power(number)
        return float(factor) * power
    if number[-1] in _VULGAR_FRACTIONS:
        return float(number[:-1] or 0) + unicodedata.numeric(number[-1])
    if number[0].isdigit() or number[0] == ".":
        return float(re.sub(r"[,\s]", "", number))
    if number.lower() in ("a", "an"):
        return 1.0
    value = 0.0
    for word in re.split(r"[- ]", number.lower()):
        if word == "hundred" and value:
            value *= 100
        else:
            value += _VALUE_BY_WORD.get(word) or _FACTOR_BY_SCALE.get(word, 0.0)
    return value


def _split_power(number: str) -> tuple[str, float]:
    """Split "3.5 × 10^6" into "3.5" and 1,000,000."""
    *factor, power = re.split(r"\s?[×x·*]\s?(?=10\^)", number, flags=re.IGNORECASE)
    return "".join(factor) or "1", 10.0 ** int(re.sub("[−–]", "-", power.removeprefix("10^")))


def _normalise_unit(text: str) -> str:
    folded = re.sub(r"^sq(?:uare|\.)? ", "sq ", re.sub(r"^(?:° ?|degrees? )(?=[cf])", "°", fold(text)))
    measure = _UNIT_BY_NAME.get(folded) or _UNIT_BY_NAME.get(folded.removesuffix("s"))
    return measure or ("" if folded in ENGLISH_STOP_WORDS else stem(folded))


_MAX_NUMBERS = 40  # of a sentence; each is compared with all of the passage


# "95% CI, 90.3 to 97.6": none of these is the result, so a note may have them only where it gives an interval too.
_INTERVAL = re.compile(
    r"(?:\d\d(?:\.\d)?\s?(?:%|per ?cent)[- ])?\b"
    r"(?:CI|CrI|(?:confidence|credible|uncertainty) (?:interval|limit|level)s?)\b"
    r"(?:[\s:;,=(\[]|of|from|was|between|CI){0,12}"
    r"(?:[-−–]?\d[\d.,·]*\s?%?\s?(?:to|and|[-−–—,])\s?[-−–]?\d[\d.·]*\s?%?)?"
)
_NAMES_INTERVAL = re.compile(r"\bCI\b|interval|confidence|margin|\d\s?%?\s?(?:[-–]|to|and)\s?\d", re.IGNORECASE)


def missing_numbers(
    sentence: str, passage: str, others: Sequence[str] = ()
) -> Iterator[tuple[Quantity, Quantity | None]]:
    """Yield numbers that no source in use has, each with the nearest of its kind in the passage.

    `others` are the passages of the other sources: "7 in 100" matches 7 %, "more than 46,000" matches 46,836.

    A number that may be in another notation, such as "12.345", matches if one of both readings does.
    """
    if not _NAMES_INTERVAL.search(sentence):
        passage, *others = (_INTERVAL.sub(lambda it: " " * len(it.group()), text) for text in (passage, *others))
    of_passage = _list_numbers(passage)
    of_sources = [*of_passage, *(number for text in others for number in _list_numbers(text))]
    of_whole, other_readings = shares(sentence), _read_in_other_notation(sentence)
    counted = [
        number
        for number in quantities(sentence)
        if not any(share.start <= number.start < share.end for share in of_whole)
        and not any(other.start < number.start < other.end for other in other_readings.values())
    ]
    changes = _list_times(sentence, only_changes=True)
    for found in [*of_whole, *counted, *changes][:_MAX_NUMBERS]:
        number, is_change = other_readings.get(found.start, found), found in changes
        alike = [it for it in of_sources if it.unit in ("times", "%")] if is_change else of_sources
        if number.trend and _CHANGED_BY.search(sentence[: number.start]):
            alike = [it for it in alike if not it.of_people]  # a part of them is no change
        if any(reading.agrees_with(other) for reading in (found, number) for other in alike):
            continue
        if is_change and _has_ratio(number, of_passage):
            continue
        if _is_spelled_out(number, sentence, (passage, *others), of_sources):
            continue
        measure = _SIZE_BY_UNIT.get(number.unit, (number.unit,))[0]
        same_unit = [it for it in of_passage if measure and _SIZE_BY_UNIT.get(it.unit, (it.unit,))[0] == measure]
        same_value = (it for it in of_passage if it.value == number.value)  # but about something else
        nearest = min(same_unit, key=lambda other: _measure_distance(number, other), default=next(same_value, None))
        yield number, nearest


def _is_spelled_out(number: Quantity, sentence: str, passages: Sequence[str], of_sources: Sequence[Quantity]) -> bool:
    """Return whether a source has a year of "1990s", or the word for "3rd"."""
    if sentence[number.end : number.end + 1] == "s" and number.value in _YEARS:
        return any(0 <= other.value - number.value < 10 for other in of_sources)
    word = _ORDINALS[int(number.value)] if number.value in range(1, len(_ORDINALS)) else ""
    return bool(word and _ORDINAL_ENDING.match(sentence, number.end)) and any(word in text.lower() for text in passages)


_TIMES_BY_WORD = {
    "once": 1.0, "twice": 2.0, "doubl": 2.0, "thrice": 3.0, "tripl": 3.0, "quadrupl": 4.0, "halv": 0.5
}  # fmt: skip
_TIMES = re.compile(
    r"\b(?:(?P<word>once|twice|thrice|(?:doubl|tripl|quadrupl|halv)(?=(?:e[sd]?|ing)\b))(?P<change>ed|es|ing|)e?|"
    rf"(?P<fold>{_SPELLED_NUMBERS})[- ]?fold)\b(?! down\b)",
    re.IGNORECASE,
)
_MAX_OFF = 0.2  # of "doubled", which may be rounded


def _list_times(text: str, *, only_changes: bool = False) -> list[Quantity]:
    """Return the words for so many times: "doubled" and "twofold", and unless `only_changes` "twice" and "double"."""
    found = []
    for match in _TIMES.finditer(text):
        if only_changes and not (match["change"] or match["fold"]):
            continue
        value = _TIMES_BY_WORD[match["word"].lower()] if match["word"] else _parse_number(match["fold"])
        side, said = _qualify(text, *match.span())
        found.append(Quantity(value, "times", match.group(), *match.span(), _MAX_OFF * value, side or 0, said))
    return found


def _has_ratio(change: Quantity, numbers: Sequence[Quantity]) -> bool:
    """Return whether two of the numbers differ as "doubled" says: 4 % and 8 %."""
    counted = [it for it in numbers if it.value > 0 and it.value not in _YEARS]
    return any(
        change.agrees_with(Quantity(one.value / other.value, "times", "", 0, 0))
        for one, other in permutations(counted[:_MAX_NUMBERS], 2)
        if one.unit == other.unit
    )


# "12.345,6" and "3,5" as most of Europe writes them, "12'345" as the Swiss do. "0.005" is no such number.
_OTHER_NOTATION = re.compile(
    r"[$€£¥]?(?<![\w.,'’])(?:[1-9]\d{0,2}(?:\.\d{3})+(?:,\d{1,2})?|0,\d{1,9}|\d{1,9},\d{1,2}"
    r"|[1-9]\d{0,2}(?:['’]\d{3})+(?:\.\d+)?)(?![\d.,'’]*\d)"
)
_YEARS_PATTERN = re.compile(r"\b(19|20)\d\d[/–-](\d\d)(?![\d/–-])")  # the 2019 of "2010–19"
_SWAPPED_SIGNS = str.maketrans(".,", ",.")
_SWISS_SIGNS = str.maketrans("'’", ",,")
_ORDINALS_TO_19 = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth"
).split()
_ORDINALS = (
    "",
    *_ORDINALS_TO_19,
    *(f"{tens}-{one}" if one else f"{tens[:-1]}ieth" for tens in _SPELLED_TENS for one in ("", *_ORDINALS_TO_19[:9])),
)
_ORDINAL_ENDING = re.compile(r"(?:st|nd|rd|th)\b")


@lru_cache(maxsize=256)
def _list_numbers(passage: str) -> tuple[Quantity, ...]:
    """Return all numbers of a passage, in any form."""
    of_whole = shares(passage)
    counted = (
        replace(number, unit=_PART)
        if number.unit not in _DISTINCT_UNITS and any(share.start == number.start for share in of_whole)
        else number
        for number in quantities(passage)
    )
    years = [
        Quantity(float(match[1] + match[2]), "", match.group(), *match.span(), said=match.group())
        for match in _YEARS_PATTERN.finditer(passage)
    ]
    return (*counted, *of_whole, *years, *_read_in_other_notation(passage).values(), *_list_times(passage))


def _read_in_other_notation(text: str) -> dict[int, Quantity]:
    """Return by their places the numbers that may be in another notation than the English one: "12.345" as 12,345."""
    places: set[int] = set()

    def translate(match: re.Match[str]) -> str:
        places.add(match.start())
        return match[0].translate(_SWISS_SIGNS if {"'", "’"} & set(match[0]) else _SWAPPED_SIGNS)

    found = quantities(_OTHER_NOTATION.sub(translate, text)) if _OTHER_NOTATION.search(text) else []
    return {
        it.start: replace(it, text=text[it.start : it.end], said=text[it.start : it.end])
        for it in found
        if it.start in places
    }


def _measure_distance(one: Quantity, other: Quantity) -> float:
    """Return the distance of two numbers, by their ratio where they have one."""
    if one.value > 0 and other.value > 0:
        return abs(math.log(one.value / other.value))
    return math.inf if one.value != other.value else 0.0
