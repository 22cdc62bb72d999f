"""The language of a text: of a post, a page, a passage.

py3langid's model (a naive Bayes over byte n-grams), with probabilities, among the languages that have much on
the web. Read on 4,500 sentences of posts and notes in English, three were taken for another language.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from crowdnotes.domain import Query
from crowdnotes.text.plain_letters import plain_letters

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

# Without the small neighbours of large languages: a short post in Spanish would be taken for Occitan.
_DETECTED_LANGUAGES = (
    "af ar az be bg bn ca cs cy da de el en es et eu fa fi fr ga gl gu he hi hr hu hy id is it ja ka kk km kn ko lt lv "
    "mk ml mn mr ms my ne nl no pa pl pt ro ru si sk sl sq sr sv sw ta te th tl tr uk ur uz vi zh"
).split()
LANGUAGE_NAMES = {
    "ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan", "cs": "Czech", "da": "Danish",
    "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "et": "Estonian", "fa": "Persian",
    "fi": "Finnish", "fr": "French", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian",
    "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian",
    "ms": "Malay", "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian",
    "ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sr": "Serbian", "sv": "Swedish", "sw": "Swahili",
    "ta": "Tamil", "te": "Telugu", "th": "Thai", "tl": "Tagalog", "tr": "Turkish", "uk": "Ukrainian",
    "ur": "Urdu", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip
_MAX_SAMPLE_CHARACTERS = 4_000  # characters
_MIN_LETTERS = 12
_LETTERS_PER_CJK_CHARACTER = 3  # a letter of Chinese, Japanese or Korean says as much as so many others
_FIRST_CJK_CHARACTER = "\u2e80"
_MIN_CERTAIN_PROBABILITY = 0.7
_MIN_LIKELY_PROBABILITY = 0.5  # enough when English is far less likely: taking English for another language costs most
_MIN_ODDS_OVER_ENGLISH = 10
_NON_WORD_PATTERN = re.compile(r"https?://\S+|(?<!\w)@\w+|&\w+;")


def language_of(text: str) -> str | None:
    """Return the ISO 639-1 code of a text's language; None when there is too little of it or it is unsure.

    Links and @mentions say nothing of it. The model loads once (0.8 s).
    """
    return _detect_language(text[:_MAX_SAMPLE_CHARACTERS])


def language_odds(text: str) -> dict[str, float]:
    """Return how likely each language is by its code, for a text of any length; together 1."""
    return {str(code): float(odds) for code, odds in _load_identifier().rank(text[:_MAX_SAMPLE_CHARACTERS])}


@lru_cache(maxsize=512)
def _detect_language(text: str) -> str | None:
    sample = plain_letters(_NON_WORD_PATTERN.sub(" ", text))
    letters = (character for character in sample if character.isalpha())
    if sum(_LETTERS_PER_CJK_CHARACTER if letter >= _FIRST_CJK_CHARACTER else 1 for letter in letters) < _MIN_LETTERS:
        return None
    ranked = _load_identifier().rank(sample)
    code, likely = ranked[0]
    if likely >= _MIN_CERTAIN_PROBABILITY or (
        likely >= _MIN_LIKELY_PROBABILITY and likely >= _MIN_ODDS_OVER_ENGLISH * dict(ranked)["en"]
    ):
        return str(code)
    return None


@cache
def _load_identifier() -> LanguageIdentifier:
    from py3langid import langid

    identifier = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
    identifier.set_languages(_DETECTED_LANGUAGES)
    return identifier


_FIRST_NON_LATIN_CHARACTER = "\u0250"


def languages_of(queries: Sequence[Query]) -> dict[str, str | None]:
    """Return the language of each query by its text, for services that have editions.

    As the engine says; where it does not and the letters are not Latin, as the text looks. Else None.
    """
    return {query.text: query.language or _detect_unless_latin(query.text) for query in queries}


def _detect_unless_latin(text: str) -> str | None:
    letters = [letter for letter in plain_letters(text) if letter.isalpha()]
    latin = sum(letter < _FIRST_NON_LATIN_CHARACTER for letter in letters)
    return language_of(text) if latin * 2 < len(letters) else None
