"""Words of a text: tokens with offsets, a light stem, and which of them carry content.

Rules only, so that each step of the local engine sees the same words. English first; texts in
other scripts give their words as they stand, which is enough to compare them.
"""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from crowdnotes.note_text import find_urls

# Combining marks belong to the letter before them: accents, Hebrew and Arabic points, Indic and Thai vowels.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u065f\u0900-\u0dff\u0e31-\u0eff"
_WORD = re.compile(rf"[^\W_](?:[\w{_MARKS}]|['’.,‑-](?=[^\W_]))*", re.UNICODE)
_MENTION = re.compile(r"(?<!\w)@\w{1,30}")
_HASHTAG = re.compile(r"#(\w+)")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_LONGEST_WORD = 60

STOP_WORDS = frozenset(
    "a about above after again all also although am an and another any are aren't as at be because been before being "
    "below between both but by can can't cannot could couldn't did didn't do does doesn't doing don't down "
    "during each "
    "either else ever every few for from further get gets getting give given go goes going gone got had hadn't has "
    "hasn't have haven't having he her here hers herself him himself his how however i i'd i'll i'm i've if "
    "in into is "
    "isn't it it's its itself just keep let lets like made make makes many may me might more most much must "
    "my myself "
    "need neither no nor not now of off often on once one only or other others our ours out over own per "
    "quite rather "
    "really said same say says see seem she should shouldn't since so some such take than that that's the "
    "their theirs "
    "them themselves then there there's these they they're this those though through thus to too under until up upon "
    "us use used uses using very via was wasn't way we we're well were weren't what what's when where whether which "
    "while who whom whose why will with within without won't would wouldn't yes yet you you're your yours yourself "
    "according among around become came come thing things lot lots etc".split()
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word at text[start:end]: as written, folded to lower case without accents, and its stem."""

    text: str
    folded: str
    stem: str
    start: int
    end: int


def tokens(text: str) -> list[Token]:
    """The words and numbers of a text, in order."""
    found = []
    for match in _WORD.finditer(text):
        word = match.group()[:_LONGEST_WORD]
        folded = fold(word)
        found.append(Token(match.group(), folded, stem(folded), match.start(), match.end()))
    return found


def content_tokens(text: str) -> list[Token]:
    """Tokens that carry meaning: no stop words, no single Latin letters, no bare numbers."""
    return [token for token in tokens(text) if is_content(token.folded)]


@lru_cache(maxsize=50_000)
def is_content(folded: str) -> bool:
    """Whether a folded word carries meaning of its own."""
    if folded in STOP_WORDS or folded[0].isdigit():
        return False
    return len(folded) > 1 or not folded.isascii()


@lru_cache(maxsize=50_000)
def fold(word: str) -> str:
    """Lower case, without accents, curly quotes and a final possessive."""
    plain = word.replace("’", "'").replace("‑", "-")
    if not plain.isascii():
        decomposed = unicodedata.normalize("NFKD", plain)
        plain = "".join(mark for mark in decomposed if not unicodedata.combining(mark)) or word
    plain = plain.casefold()
    return plain.removesuffix("'s")


_SUFFIXES = (
    "ations",
    "ation",
    "ments",
    "ment",
    "ingly",
    "edly",
    "ness",
    "ings",
    "ing",
    "ies",
    "ied",
    "ers",
    "ed",
    "es",
)
_TAILS = ("ion", "ive", "ity", "ous", "al", "ly", "er", "or", "e", "y")


@lru_cache(maxsize=50_000)
def stem(folded: str) -> str:
    """A rough stem: "preventing", "prevents", "prevention" and "preventive" meet at "prevent"."""
    if len(folded) <= 3 or not folded.isascii() or not folded.isalpha():
        return folded
    word = folded
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)]
            break
    else:
        if word.endswith("s") and not word.endswith(("ss", "us", "is")):
            word = word[:-1]
    for tail in _TAILS:
        if word.endswith(tail) and len(word) - len(tail) >= 4:
            word = word[: -len(tail)]
            break
    if len(word) >= 4 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word.rstrip("ei") if len(word) > 4 else word


def plain_post(text: str) -> str:
    """A post as prose: entities undone, URLs and @mentions out, #CamelCase hashtags as words.

    Empty when no word is left: emoji and marks alone cannot be compared with anything.
    """
    text = html.unescape(text)
    for url in reversed(find_urls(text)):
        text = f"{text[: url.start]} {text[url.end :]}"
    text = _MENTION.sub(" ", text)
    text = _HASHTAG.sub(lambda match: split_camel(match.group(1)), text)
    return re.sub(r"\s+", " ", text).strip() if _WORD.search(text) else ""


def split_camel(tag: str) -> str:
    """A hashtag's words: "CovidVaccineSafety" as "Covid Vaccine Safety"; a tag without capitals stays one word."""
    return " ".join(_CAMEL.findall(tag)) or tag
