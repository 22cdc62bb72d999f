"""Where sentences begin and end, with offsets; and the pieces of a passage that are compared: also list items."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from crowdnotes.domain import Span
from crowdnotes.text import kept_by_text
from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.tokens import content_stems

_ABBREVIATIONS = frozenset(
    "dr mr mrs ms prof rep reps sen sens gov gen col lt st vs e.g i.e etc fig no approx al jr sr inc ltd co dept "
    "u.s u.k u.n e.u a.m p.m jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
# A stop, closing quotes or brackets, then white space; or a stop of a script that needs no space. A run of stops is
# looked at once, from its beginning: else twenty thousand dots take half a minute.
_STOP_CHARACTER = r"[.!?\u2026\u061f\u06d4]"
_SENTENCE_END_PATTERN = re.compile(
    rf"(?:(?<!{_STOP_CHARACTER}){_STOP_CHARACTER}++[\"'\u201d\u2019)\]]*+(?=\s|$))|[\u3002\uff01\uff1f]+|\n+"
)
_LAST_WORD_PATTERN = re.compile(r"([^\s(\[\"']+)$")


@kept_by_text
def split_sentences(text: str) -> tuple[Span, ...]:
    """Sentences of a text as spans, in order, without surrounding white space. Empty text gives none.

    A line break ends a sentence. Stops inside URLs, after common abbreviations, after single
    capitals ("J. Smith") and in list numbers ("1. ") do not.
    """
    urls = [(url.start, url.end) for url in find_urls(text)]
    spans: list[Span] = []
    start = 0
    url = 0  # both lists are in order, so they are walked in step: a long text has thousands of each
    for stop in _SENTENCE_END_PATTERN.finditer(text):
        while url < len(urls) and urls[url][1] <= stop.start():
            url += 1
        if url < len(urls) and urls[url][0] < stop.end():
            continue
        if stop.group()[0] == "." and _is_abbreviation(text[max(start, stop.start() - 24) : stop.start()]):
            continue
        _append_sentence(spans, text, start, stop.end())
        start = stop.end()
    _append_sentence(spans, text, start, len(text))
    return tuple(spans)


def _is_abbreviation(before: str) -> bool:
    match = _LAST_WORD_PATTERN.search(before)
    if match is None:
        return False
    word = match.group(1).lower()
    if word == "no" and before.strip() == match.group(1):  # an answer, not a number
        return False
    is_initial = len(word) == 1 and word.isalpha() and match.group(1).isupper()
    is_list_number = word.isdigit() and before.strip() == match.group(1)
    return word in _ABBREVIATIONS or is_initial or is_list_number


def _append_sentence(spans: list[Span], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    stripped = piece.strip()
    if stripped:
        spans.append(Span(start=start + left, end=start + left + len(stripped)))


_LIST_ITEM_PATTERN = re.compile(r"\s+(?:-|–|•|\*|·)\s+(?=\S)|\s{3,}|\t+")
_MAX_UNIT_CHARACTERS = 420
_CLAUSE_END_PATTERN = re.compile(r"[;:]\s+")
_MAX_UNITS = 400  # a passage is about 512 tokens; what is longer was not cut by this program


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence or list item at passage[start:end], with the stems of its content words."""

    text: str
    span: Span
    stems: frozenset[str]


@lru_cache(maxsize=512)
def split_units(passage: str) -> tuple[Unit, ...]:
    """Return the pieces of a passage in order; empty text gives none."""
    units: list[Unit] = []
    for sentence in split_sentences(passage):
        for start, end in _split_into_pieces(passage, sentence.start, sentence.end):
            text = passage[start:end]
            stems = content_stems(text)
            if stems:
                units.append(Unit(text, Span(start=start, end=end), stems))
        if len(units) >= _MAX_UNITS:
            break
    return tuple(units)


def split_pieces(text: str) -> tuple[Span, ...]:
    """Return the sentences and list items of a text as spans, in order; long sentences are cut into clauses."""
    return tuple(
        Span(start=start, end=end)
        for sentence in split_sentences(text)
        for start, end in _split_into_pieces(text, sentence.start, sentence.end)
    )


def _split_into_pieces(text: str, start: int, end: int) -> list[tuple[int, int]]:
    pieces = _split_at_matches(text, start, end, _LIST_ITEM_PATTERN)
    out: list[tuple[int, int]] = []
    for a, b in pieces:
        out.extend(_split_at_matches(text, a, b, _CLAUSE_END_PATTERN) if b - a > _MAX_UNIT_CHARACTERS else [(a, b)])
    return out


def _split_at_matches(text: str, start: int, end: int, at: re.Pattern[str]) -> list[tuple[int, int]]:
    out = []
    begin = start
    for match in at.finditer(text, start, end):
        out.append((begin, match.start()))
        begin = match.end()
    out.append((begin, end))
    return [(a, b) for a, b in out if text[a:b].strip(" -–•*·\t\n")]
