"""Who stands where: media, public figures, groups and turns of phrase, by hand-written files of assets/jury/leanings.

Common knowledge, and coarse. It is there because votes of the past say nothing of names and sources that were
not in the news yet. How much each group counts, and in which direction, is learned from votes.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from crowdnotes.errors import ConfigurationError
from crowdnotes.jury.raters import LEANINGS

_FILES = ("hosts.toml", "accounts_left.toml", "accounts_right.toml", "names.toml", "topics.toml")
_HOST_LEANS = {"left": -2, "left_of_centre": -1, "right_of_centre": 1, "right": 2}
_TOKEN = re.compile(r"\w+(?:'\w+)*")
_NOT_PLAIN = re.compile(r"[^\w' .,;:!?()]+")
_STEM = 3  # letters by which words with a star are looked up


@dataclass(frozen=True)
class Token:
    """A word in lower case without a final 's, and its place in the plain text."""

    word: str
    start: int
    end: int


@dataclass(frozen=True)
class Match:
    """A phrase found at tokens first to last (included), of one group."""

    group: str
    first: int
    last: int


@dataclass
class _Node:
    words: dict[str, _Node] = field(default_factory=dict)
    stems: dict[str, list[tuple[str, _Node]]] = field(default_factory=dict)
    groups: tuple[str, ...] = ()


class Phrases:
    """Phrases by group, found in one pass; "word*" is any word that begins so."""

    def __init__(self, groups: Mapping[str, Sequence[str]]) -> None:
        self._root = _Node()
        for group, phrases in groups.items():
            for phrase in phrases:
                self._add(group, phrase)

    def find(self, tokens: Sequence[Token]) -> list[Match]:
        """The longest match of each group at each place; matches of one group do not overlap."""
        found: list[Match] = []
        free: dict[str, int] = {}
        for place in range(len(tokens)):
            ends = dict(self._ends(tokens, place))
            for group, last in ends.items():
                if place >= free.get(group, 0):
                    found.append(Match(group, place, last))
                    free[group] = last + 1
        return found

    def _add(self, group: str, phrase: str) -> None:
        node = self._root
        for word in phrase.lower().split():
            if word.endswith("*"):
                stem = word[:-1]
                if len(stem) < _STEM:
                    raise ConfigurationError(f'"{word}" in the leanings is too short.', "Write at least three letters.")
                entries = node.stems.setdefault(stem[:_STEM], [])
                known = next((child for text, child in entries if text == stem), None)
                if known is None:
                    known = _Node()
                    entries.append((stem, known))
                node = known
            else:
                node = node.words.setdefault(word.removesuffix("'s"), _Node())
        if group not in node.groups:
            node.groups = (*node.groups, group)

    def _ends(self, tokens: Sequence[Token], place: int) -> Iterator[tuple[str, int]]:
        """Groups with the last token of a match that begins at `place`, shorter matches first."""
        nodes = [self._root]
        while nodes and place < len(tokens):
            word = tokens[place].word
            following = [child for node in nodes if (child := node.words.get(word)) is not None]
            for node in nodes:
                following += [child for stem, child in node.stems.get(word[:_STEM], ()) if word.startswith(stem)]
            for node in following:
                for group in node.groups:
                    yield group, place
            nodes = following
            place += 1


@dataclass(frozen=True)
class Leanings:
    """What the files hold. Leans go from -2 (left) to 2 (right).

    sides: each group of names to -1 or 1. topics: group to -1, 0 or 1. sha256: of the files, so that
    a model can tell whether it was trained with them.
    """

    hosts: Mapping[str, int]
    accounts: Mapping[str, int]
    names: Phrases
    sides: Mapping[str, int]
    topics: Phrases
    topic_sides: Mapping[str, int]
    sha256: str

    def of_host(self, host: str) -> int:
        """The lean of a host (without www.), or of the one that it is a part of; 0 when it is not listed."""
        lean = self.hosts.get(host)
        if lean is None and host.count(".") > 1:
            lean = self.hosts.get(host.partition(".")[2])
        return lean or 0


def plain_text(text: str) -> str:
    """Lower case, straight apostrophes, no hyphens, no marks but those that end a sentence or part one."""
    return _NOT_PLAIN.sub(" ", text.lower().replace("’", "'").replace("-", " "))


def tokens_of(text: str) -> list[Token]:
    """Words of plain text."""
    return [Token(match.group().removesuffix("'s"), match.start(), match.end()) for match in _TOKEN.finditer(text)]


@lru_cache(maxsize=1)
def shipped_leanings() -> Leanings:
    """The files that ship with the program. Raises ConfigurationError when they cannot be read."""
    try:
        raw = [(LEANINGS / name).read_bytes() for name in _FILES]
        hosts, left, right, names, topics = (tomllib.loads(content.decode("utf-8")) for content in raw)
    except (OSError, ValueError) as error:
        raise ConfigurationError("The jury's leanings cannot be read.", "Install the program again.") from error
    return Leanings(
        hosts=_leans(hosts["hosts"]),
        accounts=_leans(left["accounts"] | right["accounts"]),
        names=Phrases(_flat(names["names"])),
        sides=_sides(names["names"]),
        topics=Phrases(_flat(topics["topics"])),
        topic_sides=_sides(topics["topics"]),
        sha256=hashlib.sha256(b"".join(raw)).hexdigest(),
    )


def _leans(listed: Mapping[str, Sequence[str]]) -> dict[str, int]:
    return {name: _HOST_LEANS[lean] for lean, names in listed.items() for name in names}


def _flat(by_side: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    return {group: list(phrases) for groups in by_side.values() for group, phrases in groups.items()}


def _sides(by_side: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    sign = {"left": -1, "right": 1, "other": 0}
    return {group: sign[side] for side, groups in by_side.items() for group in groups}
