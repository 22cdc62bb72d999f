"""Words of any script, and the rough stems that lexical comparison counts in.

Scripts written without spaces (Chinese, Japanese, Thai, Lao, Khmer) give one word a character.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from crowdnotes.evidence.stopwords import STOP_WORDS

_NO_SPACES = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# Marks that belong to a word but are no letters: Latin, Hebrew and Arabic points, Indic vowel signs.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u0900-\u0963\u0966-\u0dff"
_WORD = re.compile(rf"[{_NO_SPACES}]|(?:(?![{_NO_SPACES}])(?:[^\W_]|[{_MARKS}]))+")
_SPACELESS = re.compile(f"([{_NO_SPACES}])")
_STEM_LETTERS = 6


def words(text: str) -> list[str]:
    """The words of a text as they stand, in order."""
    return _WORD.findall(text)


def content_words(text: str) -> list[str]:
    """The words in lowercase without the stop words of the text's own language and stray letters.

    A text of nothing else keeps them all: "who is it?" is still a search.
    """
    folded = [word.casefold() for word in words(text)]
    stop = max(STOP_WORDS, key=lambda language: sum(word in language for word in folded))
    kept = [word for word in folded if word not in stop and (len(word) > 1 or not "a" <= word <= "z")]
    return kept or folded


def is_spaceless(word: str) -> bool:
    """Whether the word is one character of a script written without spaces."""
    return _SPACELESS.fullmatch(word) is not None


def spaced(text: str) -> str:
    """The text with spaces around each character of a spaceless script, so that an index sees words."""
    return _SPACELESS.sub(r" \1 ", text) if _SPACELESS.search(text) else text


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The word without case and accents, cut to its first six letters.

    Six letters join "vaccine", "vaccinated" and "vaccination" in most European languages; the
    collisions cost little where stems only choose which sentences to look at more closely.
    """
    folded = "".join(c for c in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(c))
    return folded[:_STEM_LETTERS]


def stems(text: str) -> list[str]:
    """The stem of each word, in order."""
    return [stem(word) for word in words(text)]
