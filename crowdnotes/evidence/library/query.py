"""From any text to a full-text expression that cannot break: each word quoted, common words left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from crowdnotes.text.note_rules import without_urls
from crowdnotes.text.stems import content_words, is_spaceless

_MOST_TERMS = 24  # a longer query only slows the search: its rare words already decide
_MOST_CHARACTERS = 5_000
# What kind of document is wanted, not what about: in a library these rare words would outweigh the subject.
_FRAME = frozenset(
    "systematic review randomized trial cohort study studies meta analysis evidence known overview facts myths myth "
    "cdc fda who according authority".split()
)


@dataclass(frozen=True, slots=True)
class Expression:
    """`fts` is an FTS5 expression ("" when the text holds no words); `terms` are what it looks for."""

    fts: str
    terms: tuple[str, ...]


def build_expression(text: str) -> Expression:
    """Any of the text's content words, as an FTS5 expression. Never raises, whatever the text.

    Every word is a quoted string, so FTS5 syntax in the text is only words. Stop words of the
    text's own language go, and words for a kind of document ("systematic review"), unless nothing else
    would be left. Runs of a script without spaces
    become phrases of two characters.
    """
    found = content_words(without_urls(text[:_MOST_CHARACTERS]))
    terms = _terms([word for word in found if word not in _FRAME] or found)
    return Expression(" OR ".join(f'"{term}"' for term in terms), tuple(terms))


def _terms(found: Sequence[str]) -> list[str]:
    terms: dict[str, None] = {}
    for joined, group in groupby(found, key=is_spaceless):
        run = list(group)
        if joined and len(run) > 1:
            run = [f"{a} {b}" for a, b in pairwise(run)]
        terms.update(dict.fromkeys(run))
    return list(terms)[:_MOST_TERMS]
