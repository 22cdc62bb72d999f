"""Words of a text: tokens with offsets, stems, stop words, and the folded form for searching.

Stems are those of Snowball's English rules: texts are compared in English, and most of what is searched is in it.
A word with other letters than a to z is its own stem, without case and accents.
"""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from Stemmer import Stemmer

from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.plain_letters import plain_letters

_ACCENT_PATTERN = re.compile(
    "[\u0300-\u036f]"
)  # of Latin, Greek and Cyrillic letters; other scripts' marks are letters
_QUOTATION_MARK_FOLDS = str.maketrans("’‘ʼ“”„«»", '\'\'\'"""""')
_SEARCH_PART_PATTERN = re.compile(r'"([^"]*)"|([^\s"]+)')


def folded(text: str) -> str:
    """`text` for searching: without case and accents, one form of each character and quotation mark, single spaces."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", plain_letters(text)).casefold())
    # Again: some letters look like Latin ones only without their accent or case.
    bare = plain_letters(unicodedata.normalize("NFC", _ACCENT_PATTERN.sub("", plain))).casefold()
    return " ".join(bare.translate(_QUOTATION_MARK_FOLDS).split())


def search_parts(search: str) -> list[str]:
    """Return the words of a search, `folded`, each once; words in quotation marks stay together."""
    found = (phrase.strip() or word for phrase, word in _SEARCH_PART_PATTERN.findall(folded(search)))
    return [part for part in dict.fromkeys(found) if part]


_SPACELESS_RANGES = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# Marks that belong to a word but are no letters: Latin, Hebrew and Arabic points, Indic vowel signs.
_WORD_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u0900-\u0963\u0966-\u0dff"
_ANY_WORD_PATTERN = re.compile(rf"[{_SPACELESS_RANGES}]|(?:(?![{_SPACELESS_RANGES}])(?:[^\W_]|[{_WORD_MARKS}]))+")
_SPACELESS_PATTERN = re.compile(f"([{_SPACELESS_RANGES}])")
# Combining marks belong to the letter before them: accents, Hebrew and Arabic points, Indic and Thai vowels.
_COMBINING_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u065f\u0900-\u0dff\u0e31-\u0eff"
_TOKEN_PATTERN = re.compile(rf"[^\W_](?:[\w{_COMBINING_MARKS}]|['’.,‑-](?=[^\W_]))*", re.UNICODE)
_MENTION_PATTERN = re.compile(r"(?<!\w)@\w{1,30}")
_HASHTAG_PATTERN = re.compile(r"#(\w+)")
_CAMEL_CASE_PATTERN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_MAX_WORD_CHARACTERS = 60

ENGLISH_STOP_WORDS = frozenset(
    "a about above according after again all also although am among an and another any are aren aren't around as at "
    "be because become been before being below between both but by came can can't cannot come could couldn couldn't "
    "did didn didn't do does doesn doesn't doing don don't down during each either else etc even ever every few for "
    "from further get gets getting give given go goes going gone gonna got had hadn hadn't has hasn hasn't have haven "
    "haven't having he her here hers herself him himself his how however i i'd i'll i'm i've if in into is isn isn't "
    "it it's its itself just keep know let lets like ll lot lots made make makes many may me might more most much "
    "must my myself need neither no nor not now of off often on once one only or other others our ours out over own "
    "per quite rather re really said same say says see seem she should shouldn shouldn't since so some such take than "
    "that that's the their theirs them themselves then there there's these they they're thing things this those "
    "though through thus to too under until up upon us use used uses using ve very via want was wasn wasn't way we "
    "we're well were weren weren't what what's when where whether which while who whom whose why will with within "
    "without won't would wouldn wouldn't yes yet you you're your yours yourself".split()
)
# The commonest words of some languages; in a search they only slow and mislead. One set a language, because one
# language's article is another's content word (German "die"). English comes first: it wins a tie.
STOP_WORDS: tuple[frozenset[str], ...] = (
    ENGLISH_STOP_WORDS,
    frozenset(
        "de la que el en y a los se del las un por con no una su para es al lo como más o pero sus le ha me si sin "
        "sobre este ya entre cuando todo esta ser son dos también fue había era muy años hasta desde está mi porque "
        "qué sólo han yo hay vez puede todos así nos ni parte tiene él uno donde bien tiempo mismo ese ahora cada e "
        "vida otro después te otros aunque esa eso hace".split()
    ),
    frozenset(
        "de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont la avec ils aux "
        "d l son mais comme ou si leur y dont elle deux ces être tout nous sa fait été même on cette n ont c j je s "
        "vous avait peut aussi ses très sans était entre lui faire où bien encore qu".split()
    ),
    frozenset(
        "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat "
        "daß dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur "
        "bis mehr durch man sein wurde sei ihr wenn wir ich kann diese dieser uns".split()
    ),
    frozenset(
        "de a o que e do da em um para é com não uma os no se na por mais as dos como mas foi ao ele das tem à seu sua "
        "ou ser quando muito há nos já está eu também só pelo pela até isso ela entre era depois sem mesmo aos ter "
        "seus quem nas me esse eles estão você tinha foram".split()
    ),
    frozenset(
        "di e il la che in un a per è una non sono si da con i le dei del della come anche ma lo più al gli nel ha "
        "alla o ci se questo delle mi io nella era ho ma dal sua suo essere tra fra ne quando cosa molto tutti cui "
        "perché loro lei lui noi".split()
    ),
    frozenset(
        "de en van het een in is dat op te zijn met voor niet aan er om ook als dan maar bij of uit nog naar door over "
        "ze zich hij zij wij we je ik dit die deze was wordt werd worden heeft hebben kan wel geen meer".split()
    ),
)


def words(text: str) -> list[str]:
    """Return a text's words in plain letters, in order; of scripts without spaces (Chinese, Thai) each character."""
    return _ANY_WORD_PATTERN.findall(plain_letters(text))


def content_words(text: str) -> list[str]:
    """Return the words in lowercase without the stop words of the text's own language and stray letters.

    A text of nothing else keeps them all: "who is it?" is still a search.
    """
    folded = [word.casefold() for word in words(text)]
    stop = max(STOP_WORDS, key=lambda language: sum(word in language for word in folded))
    kept = [word for word in folded if word not in stop and (len(word) > 1 or not "a" <= word <= "z")]
    return kept or folded


def is_spaceless(word: str) -> bool:
    """Return whether the word is one character of a script written without spaces."""
    return _SPACELESS_PATTERN.fullmatch(word) is not None


def spaced(text: str) -> str:
    """Return the text with spaces around each character of a spaceless script, so that an index sees words."""
    return _SPACELESS_PATTERN.sub(r" \1 ", text) if _SPACELESS_PATTERN.search(text) else text


def word_stems(text: str) -> list[str]:
    """Return the stem of each word, in order."""
    return [stem(word) for word in words(text)]


@dataclass(frozen=True, slots=True)
class Token:
    """A word at text[start:end]: as written, folded to lower case without accents, and its stem."""

    text: str
    folded: str
    stem: str
    start: int
    end: int


def tokens(text: str) -> list[Token]:
    """Return the words and numbers of a text, in order."""
    found = []
    for match in _TOKEN_PATTERN.finditer(text):
        folded = fold(match.group()[:_MAX_WORD_CHARACTERS])
        found.append(Token(match.group(), folded, stem(folded), match.start(), match.end()))
    return found


def content_tokens(text: str) -> list[Token]:
    """Tokens that carry meaning: no stop words, no single Latin letters, no bare numbers."""
    return [token for token in tokens(text) if is_content(token.folded)]


@lru_cache(maxsize=4096)
def content_stems(text: str) -> frozenset[str]:
    """Return the stems of the words that carry meaning."""
    return frozenset(token.stem for token in content_tokens(plain_letters(text)))


@lru_cache(maxsize=50_000)
def is_content(folded: str) -> bool:
    """Return whether a folded word carries meaning of its own."""
    if folded in ENGLISH_STOP_WORDS or folded[0].isdigit():
        return False
    return len(folded) > 1 or not folded.isascii()


@lru_cache(maxsize=50_000)
def fold(word: str) -> str:
    """Lower case, without accents, curly quotes and a final possessive."""
    plain = plain_letters(word).replace("’", "'").replace("‑", "-")
    if not plain.isascii():
        decomposed = unicodedata.normalize("NFKD", plain)
        plain = "".join(mark for mark in decomposed if not unicodedata.combining(mark)) or word
    plain = plain.casefold()
    return plain.removesuffix("'s")


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return the word folded and without its ending: "prevents", "Prevention" and "preventive" meet at "prevent"."""
    folded = fold(word[:_MAX_WORD_CHARACTERS])
    # A stemmer of our own for each word: one that is shared is not safe between threads, and its cache slows it.
    return str(Stemmer("english", 0).stemWord(folded)) if folded.isascii() and folded.isalpha() else folded


def plain_post(text: str) -> str:
    """Return a post as prose in plain letters: entities undone, URLs and @mentions out, #CamelCase hashtags as words.

    Empty when no word is left: emoji and marks alone cannot be compared with anything.
    """
    text = html.unescape(text)
    for url in reversed(find_urls(text)):
        text = f"{text[: url.start]} {text[url.end :]}"
    text = plain_letters(text)
    text = _MENTION_PATTERN.sub(" ", text)
    text = _HASHTAG_PATTERN.sub(lambda match: split_camel(match.group(1)), text)
    return re.sub(r"\s+", " ", text).strip() if _TOKEN_PATTERN.search(text) else ""


def split_camel(tag: str) -> str:
    """Return a hashtag's words: "CovidVaccineSafety" as "Covid Vaccine Safety"; without capitals it stays one word."""
    return " ".join(_CAMEL_CASE_PATTERN.findall(tag)) or tag
