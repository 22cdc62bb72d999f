"""Find quoted words in a text, and the words that two texts do not share.

A quote is found letter for letter, but for case, white space, the shape of marks and dashes, hyphens within words (a
line may have ended there) and the numbers of footnotes. It begins and ends with whole words and numbers: "5 mg is safe"
is no quote of "15 mg is safe".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher
from functools import lru_cache

from crowdnotes.domain import Span
from crowdnotes.text.tokens import content_stems, is_spaceless

_WORD_PATTERN = re.compile(r"\S+")
_WORD_EDGES = ".,;:!?\"'“”‘’()[]…"
_MAX_COMPARED_PAIRS = 40_000  # of words: two texts of 200 each, four times a note
_MAX_LONE_WORD_LETTERS = 3  # letters: a lone "the" between two changed words joins nothing


def changed_words(before: str, after: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Return the runs of words that only `before` has, and those that only `after` has.

    Case, punctuation and the place of a link do not count.
    """
    old, new = list(_WORD_PATTERN.finditer(before)), list(_WORD_PATTERN.finditer(after))
    was, now = ([_normalise_word(found.group()) for found in words] for words in (old, new))
    same_old, same_new = [False] * len(old), [False] * len(new)
    for block in _find_matching_blocks(was, now):
        if block.size == 1 and len(was[block.a]) <= _MAX_LONE_WORD_LETTERS and max(len(old), len(new)) > 1:
            continue
        for offset in range(block.size):
            same_old[block.a + offset] = same_new[block.b + offset] = True
    links = {word for word in was if "://" in word}.intersection(now)  # the same at any place
    same_old = [same or word in links for same, word in zip(same_old, was, strict=True)]
    same_new = [same or word in links for same, word in zip(same_new, now, strict=True)]
    return _group_changed_words(old, same_old), _group_changed_words(new, same_new)


def _find_matching_blocks(was: list[str], now: list[str]) -> Iterator[Match]:
    """Yield the runs of words that both have.

    Of long texts only how they begin and end alike: more takes the square.
    """
    most = min(len(was), len(now))
    begin = next((at for at in range(most) if was[at] != now[at]), most)
    end = next((at for at in range(most - begin) if was[-1 - at] != now[-1 - at]), most - begin)
    inside = was[begin : len(was) - end], now[begin : len(now) - end]
    yield Match(0, 0, begin)
    if len(inside[0]) * len(inside[1]) <= _MAX_COMPARED_PAIRS:
        for block in SequenceMatcher(None, *inside, autojunk=False).get_matching_blocks():
            yield Match(block.a + begin, block.b + begin, block.size)
    yield Match(len(was) - end, len(now) - end, end)


def _normalise_word(word: str) -> str:
    return word.strip(_WORD_EDGES).casefold() or word


def _group_changed_words(words: list[re.Match[str]], same: list[bool]) -> tuple[Span, ...]:
    runs: list[Span] = []
    for place, word in enumerate(words):
        if same[place]:
            continue
        if runs and place and not same[place - 1]:
            runs[-1] = Span(start=runs[-1].start, end=word.end())
        else:
            runs.append(Span(start=word.start(), end=word.end()))
    return tuple(runs)


_CHARACTER_FOLDS = str.maketrans(
    dict.fromkeys("“”„‟″", '"')
    | dict.fromkeys("’‘‚‛′´`‹›", "'")
    | dict.fromkeys("–—‑‐―−", "-")
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", None)
    | {"⁄": "/", "≤": "<=", "≥": ">=", "·": "."}
)
_RAISED_SIGNS = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")
# What two prints of the same words may differ in: a hyphen in a word, with a gap behind it where a line ended; the
# number or sign of a footnote; the gap before a mark, and around a sign between numbers and names.
_NOT_COMPARED_PATTERN = re.compile(
    r"(?<=[^\W\d_])- ?(?=[^\W_])|(?<=\d)- ?(?=[^\W\d_])| ?\[\d{1,3}(?:[,-] ?\d{1,3}){0,9}\]"
    r"| (?=[%?!;:»<=>°])|(?<=[«<=>]) |(?<=[^\W_])[*†‡§](?=[ .,;:])"
)
# "…", "..." and ". . .", in brackets or not.
_ELLIPSIS_PATTERN = re.compile(r"[\[(]?(?:…|\.{3,9}|\. \. \.)[\])]?")
_QUOTE_EDGES = " \t\n\"'.…,;:!?"
_MIN_QUOTE_CHARACTERS = 3
_MIN_CONTENT_WORDS = 2  # words
_MIN_PART_CHARACTERS = 6  # characters of a part of a quote with words left out: "of … the" is in every text
_MAX_PARTS = 5
_MAX_STARTS_TRIED = 50
_MAX_GAP_CHARACTERS = 400  # characters left out at most, some three sentences; with more left out it is two quotes
_MAX_COMBINING_MARKS = 30  # of one letter; more are no writing, and slow to put in order


def find_quote(text: str, quote: str, *, whole: bool = True) -> Span | None:
    """Return where the quote is in the text, or None. Quotation marks and stops at its ends do not count.

    If not `whole`, it may begin and end within words: then it only points at a place, and proves nothing.
    "…" inside it means words left out: the parts must follow in that order, each near the one before it, and the
    span covers all from the first to the last. A quote of fewer than 3 letters proves nothing and is not looked for.
    """
    wanted = _normalise_quote(quote)
    _, starts, ends = _normalise_text(text)
    at = _find_words(text, wanted, whole=whole) if len(wanted) >= _MIN_QUOTE_CHARACTERS else -1
    end = at + len(wanted)
    if at < 0:
        parts = [part for part in map(_normalise_quote, _ELLIPSIS_PATTERN.split(quote)) if part]
        found = _find_parts(text, parts, whole=whole)
        if found is None:
            return None
        at, end = found
    return Span(start=starts[at], end=ends[end - 1])


def _find_words(text: str, wanted: str, begin: int = 0, until: int | None = None, *, whole: bool = True) -> int:
    """Return where `wanted` is in the normalised text, as whole words and numbers if `whole`; -1 for nowhere."""
    searched = _normalise_text(text)[0]
    at = searched.find(wanted, begin, until)
    while whole and at >= 0 and not (_may_begin(text, at) and _may_end(text, at + len(wanted))):
        at = searched.find(wanted, at + 1, until)
    return at


# Beginnings and endings that reverse or change the meaning of a word, with or without a hyphen.
_CONTRARY_START_PATTERN = re.compile(r"(?<![^\W_])(?:non|un|anti|in|dis|mis|ex|pre|post|sub)$")
_CONTRARY_END_PATTERN = re.compile(r"(?:free|less|proof|like|resistant|negative)(?![^\W_])")
_DASHES = frozenset("–—―")


def _may_begin(text: str, at: int) -> bool:
    """Return whether a quote may begin there: not within a word, a number or a range of numbers."""
    searched = _normalise_text(text)[0]
    before, first = searched[at - 1 : at], searched[at : at + 1]
    if not before or not first.isalnum() or is_spaceless(first):
        return True
    if before.isalnum():
        is_free = not first.isdigit() and not _CONTRARY_START_PATTERN.search(searched, max(0, at - 6), at)
        return is_spaceless(before) or _is_parted(text, at, is_free=is_free)
    is_in_number = before in ".,/:" and searched[at - 2 : at - 1].isdigit()
    return not (first.isdigit() and (before in "-+±<>=^" or is_in_number))


def _may_end(text: str, end: int) -> bool:
    searched = _normalise_text(text)[0]
    last, after = searched[end - 1 : end], searched[end : end + 1]
    if not after or not last.isalnum() or is_spaceless(last):
        return True
    if after.isalnum():
        is_free = _CONTRARY_END_PATTERN.match(searched, end) is None
        return is_spaceless(after) or _is_parted(text, end, is_free=is_free)
    return not (last.isdigit() and (after in "%^" or (after in ".,/:" and searched[end + 1 : end + 2].isdigit())))


def _is_parted(text: str, at: int, *, is_free: bool) -> bool:
    """Return whether something that is not compared is between two letters there: a dash, a note's number, a hyphen.

    `is_free`: a hyphen counts too.
    """
    _, starts, ends = _normalise_text(text)
    between = text[ends[at - 1] : starts[at]]
    return not _DASHES.isdisjoint(between) or "[" in between or (is_free and between.strip("\u00ad\u200b\u2060") != "")


def _find_parts(text: str, parts: Sequence[str], *, whole: bool) -> tuple[int, int] | None:
    """Return the start and end of the parts in that order, none far from the one before it."""
    if not 2 <= len(parts) <= _MAX_PARTS or min(map(len, parts)) < _MIN_PART_CHARACTERS:
        return None
    first, *others = parts
    start = _find_words(text, first, whole=whole)
    for _ in range(_MAX_STARTS_TRIED):
        if start < 0:
            break
        end = start + len(first)
        for part in others:
            at = _find_words(text, part, end, end + _MAX_GAP_CHARACTERS + len(part), whole=whole)
            if at < 0:
                break
            end = at + len(part)
        else:
            return start, end
        start = _find_words(text, first, start + 1, whole=whole)
    return None


def tells_enough(quote: str) -> bool:
    """Return whether a quote has two words that carry meaning, or a number; “the” is in every text."""
    words = re.findall(r"\w+", quote)
    has_number = any(word[0].isdigit() for word in words) and len(words) > 1
    return (
        has_number
        or len(content_stems(quote)) >= _MIN_CONTENT_WORDS
        or sum(map(is_spaceless, quote)) >= _MIN_QUOTE_CHARACTERS
    )


def holds_quote(text: str, quote: str) -> bool:
    """Return whether the text has the quote. "…" means words left out: each part must occur, in order."""
    at = 0
    for wanted in filter(None, map(_normalise_quote, _ELLIPSIS_PATTERN.split(quote))):
        found = _find_words(text, wanted, at)
        if found < 0:
            return False
        at = found + len(wanted)
    return True


def _normalise_quote(quote: str) -> str:
    return _normalise_text(quote)[0].strip(_QUOTE_EDGES)


@lru_cache(maxsize=32)
def _normalise_text(text: str) -> tuple[str, Sequence[int], Sequence[int]]:
    """Return the text as it is searched, and where in `text` each of its characters begins and ends."""
    folded, starts, ends = _fold_characters(text)
    words = [(word.start(), word.group()) for word in re.finditer(r"\S+", folded)]
    places = [start + offset for start, word in words for offset in range(len(word) + 1)]
    spaced = " ".join(word for _, word in words)
    pieces: list[str] = []
    kept: list[int] = []
    at = 0
    for found in _NOT_COMPARED_PATTERN.finditer(spaced):
        pieces.append(spaced[at : found.start()])
        kept += places[at : found.start()]
        at = found.end()
    kept += places[at : len(spaced)]
    searched = re.sub("[«»]", '"', "".join([*pieces, spaced[at:]]))
    return searched, [starts[place] for place in kept], [ends[place] for place in kept]


def _fold_characters(text: str) -> tuple[str, Sequence[int], Sequence[int]]:
    """Case, compatibility forms, marks and dashes made one; and where in the text each character begins and ends."""
    if text.isascii():
        return text.lower(), range(len(text) + 1), range(1, len(text) + 2)
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    start = 0
    while start < len(text):
        end = start + 1
        while end < len(text) and end - start < _MAX_COMBINING_MARKS and unicodedata.combining(text[end]):
            end += 1
        piece = unicodedata.normalize("NFKC", text[start:end]).translate(_CHARACTER_FOLDS).casefold()
        if text[start] in _RAISED_SIGNS and text[start - 1 : start] not in _RAISED_SIGNS:
            piece = f"^{piece}"  # or 10⁶ would be 106
        elif "/" in piece and text[start] != "/" and text[start - 1 : start].isdigit():
            piece = f" {piece}"  # or 3½ would be 31/2
        pieces.append(piece)
        starts.extend([start] * len(piece))
        ends.extend([end] * len(piece))
        start = end
    return "".join(pieces), [*starts, len(text)], [*ends, len(text)]
