"""Numbers in a text, with their units, spelled or in digits."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from crowdnotes.text.stems import ENGLISH_STOP_WORDS, fold, stem

_ONES = dict(
    zip(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split(),
        range(20),
        strict=True,
    )
)
_TENS = dict(zip("twenty thirty forty fifty sixty seventy eighty ninety".split(), range(20, 100, 10), strict=True))
_SCALES = {
    "hundred": 1e2,
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "trillion": 1e12,
    "k": 1e3,
    "m": 1e6,
    "bn": 1e9,
}
_MULTIPLES = {"half": 0.5, "twice": 2.0, "double": 2.0, "triple": 3.0}
_SPELLED = "|".join(sorted([*_ONES, *_TENS], key=len, reverse=True))
# 1,000 · 1 000 · 1.5 · 1950s · 12 (a digit group after a thin or plain space counts only in threes)
_NUMBER = re.compile(
    rf"(?<![\w.,])(?<![A-Za-z]-)(?P<digits>\d{{1,3}}(?:[,\u00a0\u202f ]\d{{3}})+(?:\.\d+)?|"
    rf"\d{{1,3}}(?:\.\d{{3}}){{2,}}(?:,\d+)?(?!\d)|\d+(?:\.\d+)?|\.\d+)"
    rf"(?P<ordinal>st|nd|rd|th)?(?P<scale_letter>[kKmM]|bn)?(?![\d])"
    rf"|\b(?P<words>(?:{_SPELLED})(?:[- ](?:{_SPELLED}))?)\b"
    rf"|\b(?P<scale_alone>hundreds|thousands|millions|billions|half|twice|double|triple)\b",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"[\s-]*(?:(?P<scale>hundred|thousand|million|billion|trillion)\b)?[\s-]*(?P<unit>%|percent\b|per cent\b|"
    r"°\s?[CF]|[^\W\d_]+)?",
    re.IGNORECASE,
)
_UNITS = {
    "percent": "%",
    "mg": "mg", "milligram": "mg", "milligrams": "mg", "g": "g", "gram": "g", "grams": "g", "kg": "kg", "mcg": "mcg",
    "microgram": "mcg", "micrograms": "mcg", "ml": "ml", "year": "year", "years": "year", "yr": "year", "yrs": "year",
    "month": "month", "months": "month", "week": "week", "weeks": "week", "day": "day", "days": "day", "hour": "hour",
    "hours": "hour", "minute": "minute", "minutes": "minute", "times": "times", "fold": "times",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number at text[start:end]; `unit` is normalised, or "" where nothing is counted."""

    value: float
    unit: str
    text: str
    start: int
    end: int

    def agrees_with(self, other: Quantity) -> bool:
        """Same value, and the same unit wherever both have a measuring unit."""
        measured = self.unit in _MEASURES and other.unit in _MEASURES
        return math.isclose(self.value, other.value) and (not measured or self.unit == other.unit)


_MEASURES = frozenset(_UNITS.values()) | {"%"}


_SHARE = re.compile(
    rf"\b(?P<part>\d+|{_SPELLED}) (?:in|out of) (?:every |each )?(?P<whole>\d[\d,]*|ten|twenty|fifty|(?:a )?hundred)\b",
    re.IGNORECASE,
)


def shares(text: str) -> list[Quantity]:
    """Parts of a whole as percent: "7 in 100", "one out of ten"."""
    found = []
    for match in _SHARE.finditer(text):
        part, whole = (_plain_number(match[name]) for name in ("part", "whole"))
        if part and whole and part <= whole:
            found.append(Quantity(100 * part / whole, "%", match.group(), match.start(), match.end()))
    return found


def _plain_number(word: str) -> float | None:
    word = word.lower().removeprefix("a ").replace(",", "")
    if word.isdigit():
        return float(word)
    return {**_ONES, **_TENS, "hundred": 100}.get(word)


def quantities(text: str) -> list[Quantity]:
    """All numbers of a text, in order, spelled or in digits; "one" counts only before a scale or a unit."""
    found: list[Quantity] = []
    for match in _NUMBER.finditer(text):
        value = _value(match)
        after = _AFTER.match(text, match.end())
        scale, unit_text = (after["scale"], after["unit"]) if after else (None, None)
        if scale:
            value *= _SCALES[scale.lower()]
        unit = _unit(unit_text)
        if match.group().lower() == "one" and not scale and unit not in _MEASURES:
            continue
        end = match.end()
        if after and scale:
            end = after.end("scale")
        if after and unit in _MEASURES:
            end = after.end("unit")
        found.append(Quantity(value, unit, text[match.start() : end], match.start(), end))
    return found


def _value(match: re.Match[str]) -> float:
    if match["digits"]:
        digits = match["digits"]
        if digits.count(".") > 1:  # 1.320.000,5
            digits = digits.replace(".", "").replace(",", ".")
        value = float(re.sub(r"[,\u00a0\u202f ]", "", digits))
        return value * _SCALES.get((match["scale_letter"] or "").lower(), 1.0)
    if match["scale_alone"]:
        word = match["scale_alone"].lower()
        return _MULTIPLES[word] if word in _MULTIPLES else _SCALES[word.rstrip("s")]
    parts = re.split(r"[- ]", match["words"].lower())
    return float(sum(_ONES.get(part, _TENS.get(part, 0)) for part in parts))


def _unit(text: str | None) -> str:
    if not text:
        return ""
    if text == "%" or text.lower() == "per cent":
        return "%"
    folded = fold(text)
    if folded in _UNITS:
        return _UNITS[folded]
    return "" if folded in ENGLISH_STOP_WORDS else stem(folded)
