"""Words in their place: the kind of note that they stand in, and what is said next to whom.

A word tells more with its setting. "Opinion" in a note that says no note is needed defends the post, and names
of tomorrow are unknown: so names are put by their side and group first ("@left did not"), then read with the words
around them. What was learned of one name then holds for the next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crowdnotes.jury.leanings import Match, Token, shipped_leanings
from crowdnotes.jury.parsed import parsed
from crowdnotes.jury.sources import sources_of

_NOT_NEEDED, _NEEDED = "not_needed", "needed"
_SIDES = {-1: "@left", 1: "@right"}
_END = "|"  # of a clause
_LONGEST = 3  # words in a row
_REACH = 4  # words on each side of a name


def words_by_kind(note: str) -> list[str]:
    """The note's words and sources, each marked with the kind of note: no note needed, a note needed, or neither."""
    read = parsed(note)
    kind = _kind(read.topics)
    return [f"{kind} {word}" for word in (*(token.word for token in read.tokens), *sources_of(note))]


def frames(note: str) -> list[str]:
    """Runs of one to three words with a name in them, and pairs of a name and a word near it, in its clause.

    Names are read twice: by side, and by group together with turns of phrase.
    """
    read = parsed(note)
    sides = shipped_leanings().sides
    by_side: dict[int, str] = {}
    by_group: dict[int, str] = {}
    for name in read.names:
        places = range(name.first, name.last + 1)
        by_side |= _marked(places, _SIDES[sides[name.group]])
        by_group |= _marked(places, f"@{name.group}")
    for topic in read.topics:
        places = range(topic.first, topic.last + 1)
        if topic.group not in (_NOT_NEEDED, _NEEDED) and not any(place in by_side for place in places):
            by_group |= _marked(places, f"#{topic.group}")
    found: set[str] = set()
    for marks in (by_side, by_group):
        found |= _near_marks(_abstracted(read.plain, read.tokens, marks))
    return sorted(found)


def _kind(topics: Sequence[Match]) -> str:
    groups = {match.group for match in topics}
    return next((kind for kind in (_NOT_NEEDED, _NEEDED) if kind in groups), "other")


def _marked(places: range, mark: str) -> dict[int, str]:
    """A phrase's first word becomes its mark, the others nothing."""
    return {place: mark if place == places[0] else "" for place in places}


def _abstracted(text: str, tokens: Sequence[Token], marks: Mapping[int, str]) -> list[str]:
    """The words with marks in the place of phrases, and `_END` between clauses."""
    out: list[str] = []
    for place, token in enumerate(tokens):
        if place and any(mark in text[tokens[place - 1].end : token.start] for mark in ".;:!?"):
            out.append(_END)
        word = marks.get(place, token.word)
        if word:
            out.append(word)
    return out


def _near_marks(words: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for place, word in enumerate(words):
        for length in range(1, _LONGEST + 1):
            run = words[place : place + length]
            if len(run) == length and any(part[0] in "@#" for part in run):
                found.add(" ".join(run))
        if word[0] in "@#":
            found |= {f"{word} > {other}" for other in _clause(words[place + 1 : place + 1 + _REACH])}
            found |= {f"{word} < {other}" for other in _clause(words[max(0, place - _REACH) : place][::-1])}
    return found


def _clause(words: Sequence[str]) -> Sequence[str]:
    return words[: words.index(_END)] if _END in words else words
