"""What a note is about and in which language, fast enough for millions of notes.

Topics: the seven of the CrowdNotes+ paper, by English words (topics.toml). Measured in docs/crowd.md.
Language: by a text's commonest words where they leave no doubt, else by `text.languages`, which is thirty times slower.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from itertools import pairwise, repeat
from typing import Final

from crowdnotes.text.languages import language_of
from crowdnotes.text.plain_letters import plain_letters
from crowdnotes.text.tokens import STOP_WORDS

_WORD_PATTERN = re.compile(r"[^\W_]+")
_URL_PATTERN = re.compile(r"https?://\S+")
_STOP_WORD_LANGUAGES = ("en", "es", "fr", "de", "pt", "it", "nl")  # the languages of STOP_WORDS, in its order
_MIN_VOTES, _MIN_LEAD = 2, 2  # so many of its commonest words, and so many times as many as any other language has
_KANA, _HANGUL = re.compile("[\u3040-\u30ff]"), re.compile("[\uac00-\ud7af]")
_MAX_READ_CHARACTERS = 4_000  # characters; notes have hundreds
_MAX_VOTING_WORDS = 255  # words: what a byte counts
_NO_PAIRS: Final[dict[str, int]] = {}


@cache
def topic_names() -> tuple[str, ...]:
    """In the paper's order."""
    return tuple(topic for topic, _ in _load_topics())


def topics_of(text: str) -> int:
    """Return the topics of an English text, as bits in the order of `topic_names`."""
    return label(text)[1]


def label(text: str) -> tuple[str | None, int]:
    """Return a note's language (None where unsure) and its topics, as bits; a text that is not English has none."""
    plain = plain_letters(_URL_PATTERN.sub(" ", text[:_MAX_READ_CHARACTERS])).casefold()
    words = _WORD_PATTERN.findall(plain)
    language = _detect_language(plain, words)
    return language, _match_topics(words) if language == "en" else 0


def _detect_language(text: str, words: list[str]) -> str | None:
    votes = sum(map(_count_word_votes().get, words[:_MAX_VOTING_WORDS], repeat(0))).to_bytes(len(STOP_WORDS), "little")
    first = max(votes)
    if first >= _MIN_VOTES and first >= _MIN_LEAD * sorted(votes)[-2]:
        return _STOP_WORD_LANGUAGES[votes.index(first)]
    if _HANGUL.search(text):
        return "ko"
    return "ja" if len(_KANA.findall(text)) > _MIN_VOTES else language_of(text)


@cache
def _count_word_votes() -> dict[str, int]:
    """For each common word the languages that it is of: 1 in the language's byte."""
    votes: dict[str, int] = {}
    for place, common in enumerate(STOP_WORDS):
        for word in common:
            votes[word] = votes.get(word, 0) + (1 << 8 * place)
    return votes


def _match_topics(words: list[str]) -> int:
    singles, pairs = _load_vocabulary()
    there = set(words)
    bits = 0
    for word in singles.keys() & there:
        bits |= singles[word]
    if not pairs.keys().isdisjoint(there):
        for before, word in pairwise(words):
            bits |= pairs.get(word, _NO_PAIRS).get(before, 0)
    return bits


@cache
def _load_vocabulary() -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    """Bits of single words, and of pairs: by the second word, then by the first."""
    singles: dict[str, int] = {}
    pairs: dict[str, dict[str, int]] = {}
    for place, (_, entries) in enumerate(_load_topics()):
        for form in (form for entry in entries for form in (entry, f"{entry}s")):
            first, _, second = form.rpartition(" ")
            into = pairs.setdefault(second, {}) if first else singles
            into[first or second] = into.get(first or second, 0) | 1 << place
    return singles, pairs


@cache
def _load_topics() -> tuple[tuple[str, tuple[str, ...]], ...]:
    listed = tomllib.loads((files("crowdnotes.public_data") / "topics.toml").read_text(encoding="utf-8"))["topic"]
    return tuple((topic["name"], tuple(entry.strip() for entry in topic["words"].split(","))) for topic in listed)
