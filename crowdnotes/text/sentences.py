"""Where sentences begin and end, with offsets: notes, passages and posts are judged by sentence.

Rules, not a model: fast enough to run on every keystroke, and the same on every machine.
"""

from __future__ import annotations

import re

from crowdnotes.domain import Span
from crowdnotes.text import kept_by_text
from crowdnotes.text.note_rules import find_urls

_ABBREVIATIONS = frozenset(
    "dr mr mrs ms prof st vs e.g i.e etc fig no approx al jr sr inc ltd co dept u.s u.k u.n e.u a.m p.m "
    "jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
# A stop, closing quotes or brackets, then white space; or a stop of a script that needs no space. A run of stops is
# looked at once, from its beginning: else twenty thousand dots take half a minute.
_STOPS = r"[.!?\u2026\u061f\u06d4]"
_STOP = re.compile(rf"(?:(?<!{_STOPS}){_STOPS}++[\"'\u201d\u2019)\]]*+(?=\s|$))|[\u3002\uff01\uff1f]+|\n+")
_LAST_WORD = re.compile(r"([^\s(\[\"']+)$")


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
    for stop in _STOP.finditer(text):
        while url < len(urls) and urls[url][1] <= stop.start():
            url += 1
        if url < len(urls) and urls[url][0] < stop.end():
            continue
        if stop.group()[0] == "." and _is_abbreviation(text[max(start, stop.start() - 24) : stop.start()]):
            continue
        _append(spans, text, start, stop.end())
        start = stop.end()
    _append(spans, text, start, len(text))
    return tuple(spans)


def _is_abbreviation(before: str) -> bool:
    match = _LAST_WORD.search(before)
    if match is None:
        return False
    word = match.group(1).lower()
    is_initial = len(word) == 1 and word.isalpha() and match.group(1).isupper()
    is_list_number = word.isdigit() and before.strip() == match.group(1)
    return word in _ABBREVIATIONS or is_initial or is_list_number


def _append(spans: list[Span], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    stripped = piece.strip()
    if stripped:
        spans.append(Span(start=start + left, end=start + left + len(stripped)))
