"""Names in a text: persons, bodies, studies and products, as runs of words that begin with a capital."""

from __future__ import annotations

import re

from crowdnotes.text.stems import ENGLISH_STOP_WORDS, STOP_WORDS

_TOKEN = re.compile(r"[^\W_](?:[\w'’&-]*[^\W_])?|[^\w\s]")
_WITHIN = frozenset("of the de du van von der la and for &".split())
_TITLES = frozenset("dr mr mrs ms prof professor breaking".split())
_BEFORE = _TITLES.union(STOP_WORDS, ENGLISH_STOP_WORDS)
_SHORTEST, _LONGEST = 2, 6  # words of a name
_MOST_CAPITALS = 0.5  # of all letters: above it a text is shouted, and capitals tell nothing


def names_in(text: str) -> list[str]:
    """Names of two to six words, each once, as they are written; none of a text in capitals.

    A word at the start of a sentence counts to the name that follows it unless it is a common one.
    """
    letters = [letter for letter in text if letter.isalpha()]
    if not letters or sum(map(str.isupper, letters)) > _MOST_CAPITALS * len(letters):
        return []
    found: list[str] = []
    run: list[str] = []
    for token in [*_TOKEN.findall(text), "."]:
        if token[0].isupper() or (run and token in _WITHIN):
            run.append(token)
        elif token == "." and run and run[-1].lower() in _TITLES:
            continue
        else:
            found.append(_name(run))
            run = []
    return list(dict.fromkeys(name for name in found if name))


def _name(run: list[str]) -> str:
    while run and (run[0].lower() in _BEFORE):
        run = run[1:]
    while run and run[-1] in _WITHIN:
        run = run[:-1]
    capitals = sum(word[0].isupper() for word in run)
    return " ".join(run) if capitals >= _SHORTEST and len(run) <= _LONGEST else ""
