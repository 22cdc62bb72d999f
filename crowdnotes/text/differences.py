"""Which words two texts do not share, in order."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from crowdnotes.domain import Span

_WORD = re.compile(r"\S+")
_EDGES = ".,;:!?\"'“”‘’()[]…"
_SMALL = 3  # letters: a lone "the" between two changed words joins nothing


def changed_words(before: str, after: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """The runs of words that only `before` has, and those that only `after` has.

    Case and punctuation do not count, nor where a link stands.
    """
    old, new = list(_WORD.finditer(before)), list(_WORD.finditer(after))
    was, now = ([_plain(found.group()) for found in words] for words in (old, new))
    same_old, same_new = [False] * len(old), [False] * len(new)
    for block in SequenceMatcher(None, was, now, autojunk=False).get_matching_blocks():
        if block.size == 1 and len(was[block.a]) <= _SMALL and max(len(old), len(new)) > 1:
            continue
        for offset in range(block.size):
            same_old[block.a + offset] = same_new[block.b + offset] = True
    links = {word for word in was if "://" in word}.intersection(now)  # the same wherever they stand
    same_old = [same or word in links for same, word in zip(same_old, was, strict=True)]
    same_new = [same or word in links for same, word in zip(same_new, now, strict=True)]
    return _runs(old, same_old), _runs(new, same_new)


def _plain(word: str) -> str:
    return word.strip(_EDGES).casefold() or word


def _runs(words: list[re.Match[str]], same: list[bool]) -> tuple[Span, ...]:
    runs: list[Span] = []
    for place, word in enumerate(words):
        if same[place]:
            continue
        if runs and place and not same[place - 1]:
            runs[-1] = Span(start=runs[-1].start, end=word.end())
        else:
            runs.append(Span(start=word.start(), end=word.end()))
    return tuple(runs)
