"""What the local engine cannot judge: its word lists and its embedding model know English alone.

A comparison across two languages finds no shared word and calls a faithful translation false. So what is surely in
another language is not judged, with the reason; what is too short to tell is taken for English.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from crowdnotes.domain import Evidence, Post
from crowdnotes.text.languages import LANGUAGE_NAMES, language_of
from crowdnotes.text.note_rules import without_urls
from crowdnotes.text.stems import plain_post

_INSTEAD = "Judge it yourself, or have a language model do so."


def foreign_note(note: str) -> str:
    """Why a note cannot be judged, for a person; "" when it is in English."""
    return _only_english("The note", _named(_language(without_urls(note))))


def foreign_post(post: Post) -> str:
    """Why a text cannot be compared with a post; "" when the post is in English."""
    code = _language(plain_post(post.text)) or (post.language or "").split("-")[0].lower()
    return _only_english("The post", _named(code))


def foreign_passages(evidence: Sequence[Evidence]) -> str:
    """Which passages cannot be compared with English words, and why; "" when all are in English."""
    languages = {item.id: language for item in evidence if (language := _of_passage(item))}
    verb = "is" if len(languages) == 1 else "are"
    return _only_english(" and ".join(languages), " and ".join(sorted(set(languages.values()))), verb)


def in_english(evidence: Sequence[Evidence]) -> list[Evidence]:
    """The passages that can be compared with English words."""
    return [item for item in evidence if not _of_passage(item)]


def _only_english(what: str, language: str, verb: str = "is") -> str:
    if not language:
        return ""
    return f"{what} {verb} in {language}, and the local engine compares English words alone. {_INSTEAD}"


def _of_passage(item: Evidence) -> str:
    return _named(_language(item.passage.text))


def _named(code: str) -> str:
    """The name of a language other than English, else ""."""
    return "" if code in ("", "en") else LANGUAGE_NAMES.get(code, code)


@lru_cache(maxsize=512)
def _language(text: str) -> str:
    """See `language_of`; each gate asks for the same texts."""
    return language_of(text) or ""
