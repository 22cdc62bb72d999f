"""Texts in other languages: which of them cannot be judged here, and the English of their health words."""

from __future__ import annotations

import csv
import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from crowdnotes.domain import Evidence, Post
from crowdnotes.engines.local.topics import find_terms
from crowdnotes.text.languages import LANGUAGE_NAMES, language_of
from crowdnotes.text.note_rules import without_urls
from crowdnotes.text.stems import plain_post
from crowdnotes.wording import say


def foreign_note(note: str) -> str:
    """Why a note cannot be judged, for a person; "" when it is in English."""
    language = _named(language_of(without_urls(note)))
    return say("local.foreign_note", language=language) if language else ""


def foreign_post(post: Post) -> str:
    """Why a text cannot be compared with a post; "" when the post is in English."""
    code = language_of(plain_post(post.text)) or (post.language or "").split("-")[0].lower()
    return say("local.foreign_post", language=_named(code)) if _named(code) else ""


def foreign_passages(evidence: Sequence[Evidence]) -> str:
    """Which passages cannot be compared with English words, and why; "" when all are in English."""
    languages = {item.id: language for item in evidence if (language := _of_passage(item))}
    if not languages:
        return ""
    names, joined = sorted(set(languages.values())), say("local.and").join
    return say("local.foreign_passages", n=len(languages), ids=joined(languages), languages=joined(names))


def in_english(evidence: Sequence[Evidence]) -> list[Evidence]:
    """The passages that can be compared with English words."""
    return [item for item in evidence if not _of_passage(item)]


def _of_passage(item: Evidence) -> str:
    return _named(language_of(item.passage.text))


def _named(code: str | None) -> str:
    """The name of a language other than English, else ""."""
    return "" if code in (None, "", "en") else LANGUAGE_NAMES.get(code, code)


_WORDS = Path(__file__).with_name("foreign_terms.tsv")
_SEARCHES = Path(__file__).with_name("foreign_searches.toml")
_UNSPACED = frozenset({"ja"})  # words follow each other without spaces
_SHORTEST_NAME = 5  # letters; a shorter English term is often another word in another language
_MARKS = "\u0300-\u036f\u0610-\u065f\u0900-\u0dff"  # which Python does not count among the letters of a word
_LETTER = rf"[\w{_MARKS}]"
_VOICED = frozenset("\u3099\u309a")  # they make another letter of a Japanese one, not an accent
_LIKE = str.maketrans({"ı": "i", "ł": "l", "’": "'"})
_READ = 4_000  # characters: what a post is about stands well before
_SAID_OF_THINGS = frozenset(
    "causes cures prevents kills proven approved dangerous safe banned risk death study treatment symptoms health "
    "disease doctor patient contagious women men hospital".split()
) | {"linked to"}
# "and", "with", "to" and "the" are written as part of an Arabic word.
_ARABIC_BEGINNING = "(?:و|ف)?(?:ب|ك|ل)?(?:ال|ل)?"


@dataclass(frozen=True, slots=True)
class Known:
    """A health word as a text has it, and its English. `is_subject` is False for what is said of things ("causes")."""

    text: str
    english: str

    @property
    def is_subject(self) -> bool:
        """Whether it names a thing."""
        return self.english not in _SAID_OF_THINGS


def known_words(text: str, language: str) -> list[Known]:
    """The health words of a text that the table knows, in their order; the same English may come twice.

    Accents and case do not matter.
    """
    plain, places = _plain_with_places(text[:_READ])
    found: dict[int, tuple[int, str]] = {}
    if language in list(_table()[0])[1:]:
        english, pattern = _patterns(language)
        for match in pattern.finditer(plain):
            group = match.lastgroup or ""
            found[match.start(group)] = (match.end(group), english[group])
    taken = {place for start, (end, _) in found.items() for place in range(start, end)}
    for term in find_terms(plain):
        is_name = len(term.text) >= _SHORTEST_NAME and not term.is_broad and term.text.isascii()
        if is_name and taken.isdisjoint(range(term.start, term.end)):
            found[term.start] = (term.end, term.text)
    return [
        Known(text[places[start] : places[end - 1] + 1], english) for start, (end, english) in sorted(found.items())
    ]


def search_words(kind: str, language: str) -> str:
    """The words of a search of one kind ("denial", "check", "support"), "" in a language without them."""
    return _searches()[kind].get(language, "")


@cache
def _table() -> list[Mapping[str, str]]:
    with _WORDS.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t")
        return list(rows)


@cache
def _searches() -> Mapping[str, Mapping[str, str]]:
    with _SEARCHES.open("rb") as file:
        return tomllib.load(file)


@cache
def _patterns(language: str) -> tuple[Mapping[str, str], re.Pattern[str]]:
    """A pattern with a group for each form, the longest form first, and the English of each group."""
    forms = {
        _plain(form.strip()): row["english"]
        for row in reversed(_table())  # of two rows with one form the first counts
        for form in (row[language] or "").split("|")
        if form.strip()
    }
    longest_first = sorted(forms, key=lambda form: (-len(form), form))
    groups = {f"f{number}": forms[form] for number, form in enumerate(longest_first)}
    alternatives = "|".join(f"(?P<f{number}>{_as_pattern(form)})" for number, form in enumerate(longest_first))
    if language in _UNSPACED:
        return groups, re.compile(alternatives)
    # Elsewhere than at a letter none of the alternatives need be tried.
    beginning = _ARABIC_BEGINNING if language == "ar" else f"(?={_LETTER})"
    return groups, re.compile(rf"(?<!{_LETTER}){beginning}(?:{alternatives})(?!{_LETTER})")


def _as_pattern(form: str) -> str:
    return rf"{_LETTER}*".join(re.escape(part) for part in form.split("*"))


@cache
def _plain_letter(letter: str) -> str:
    parts = unicodedata.normalize("NFKD", letter)
    kept = "".join(part for part in parts if part in _VOICED or not unicodedata.combining(part))
    return unicodedata.normalize("NFC", kept).casefold().translate(_LIKE)


def _plain(text: str) -> str:
    """Lower case without accents."""
    return "".join(map(_plain_letter, text))


def _plain_with_places(text: str) -> tuple[str, list[int]]:
    """The same, and for each of its letters the place of the one in `text` that it comes from."""
    letters = [_plain_letter(letter) for letter in text]
    places = [place for place, letter in enumerate(letters) for _ in letter]
    return "".join(letters), places
