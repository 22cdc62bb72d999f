"""Particulars of a text: names of persons, bodies, studies and products, and figures and dates as they are written."""

from __future__ import annotations

import re

from crowdnotes.text.tokens import ENGLISH_STOP_WORDS, STOP_WORDS

_NAME_TOKEN_PATTERN = re.compile(r"[^\W_](?:[\w'’&-]*[^\W_])?|[^\w\s]")
_NAME_PARTICLES = frozenset("of the de du van von der la and for &".split())
_PERSONAL_TITLES = frozenset("dr mr mrs ms prof professor breaking".split())
_COMMON_WORDS = ENGLISH_STOP_WORDS.union(STOP_WORDS)
_WORDS_BEFORE_NAMES = _PERSONAL_TITLES | _COMMON_WORDS
_MIN_NAME_WORDS, _MAX_NAME_WORDS = 2, 6  # words of a name
_MAX_ACRONYM = 3  # letters: a longer word in capitals is often shouted
_POSSESSIVE_PATTERN = re.compile(r"['’]s$")
_ACCOUNT_PATTERN = re.compile(r"(?!Mc|Mac|Di|De|La|Le|Van|Fitz)[A-Z][a-z]+[A-Z]\w*")
_MAX_CAPITALS_SHARE = 0.5  # of all letters: above it a text is shouted, and capitals mean nothing


def names_in(text: str) -> list[str]:
    """Return the names of two to six words, each once, as they are written; none of what is shouted.

    A word at the start of a sentence counts to the name that follows it unless it is a common one. Account names
    ("PaulBrandITV") and owners ("FDA's Peter Marks") are no part of a name.
    """
    letters = [letter for letter in text if letter.isalpha()]
    if not letters or sum(map(str.isupper, letters)) > _MAX_CAPITALS_SHARE * len(letters):
        return []
    found: list[str] = []
    run: list[str] = []
    for token in [*_NAME_TOKEN_PATTERN.findall(text), "."]:
        if _POSSESSIVE_PATTERN.search(token) or _ACCOUNT_PATTERN.fullmatch(token):
            found.append(_trim_name(run))
            run = []
        elif token[0].isupper() or (run and token in _NAME_PARTICLES):
            run.append(token)
        elif token == "." and run and run[-1].lower() in _PERSONAL_TITLES:
            continue
        else:
            found.append(_trim_name(run))
            run = []
    return list(dict.fromkeys(name for name in found if name))


_MONTH_NAMES = "January|February|March|April|May|June|July|August|September|October|November|December"
_DAY_NUMBER = r"\d{1,2}(?:st|nd|rd|th)?"
_DATE_PATTERN = re.compile(rf"\b(?:{_DAY_NUMBER} (?:of )?)?(?:{_MONTH_NAMES})(?: {_DAY_NUMBER},?)? \d{{4}}\b")
_FIGURE_PATTERN = re.compile(
    r"(?<![\w.,:/$€£-])(?:"
    r"[$€£]\s?\d[\d,.]*\d?\s(?:hundred|thousand|million|billion|trillion)"
    r"|\d[\d,]*(?:\.\d+)?\s?%\s(?P<percent_of>[a-z]{3,})"
    r"|\d[\d,]*(?:\.\d+)?\s(?:hundred|thousand|million|billion|trillion)(?:\s[a-z]{3,})?"
    r"|(?:\d{1,3}(?:,\d{3})+|\d{5,9})\s(?P<count_of>[a-z]{3,})"
    r")\b",
    re.IGNORECASE,
)


def figures_in(text: str) -> list[str]:
    """Numbers with what they count ("11,306 people", "80% increase", "$35.7 billion") and dates, each once.

    Numbers under ten thousand and years alone are left out: every page has some. So are those that count nothing
    ("80% were", "100% safe").
    """
    figures = (match for match in _FIGURE_PATTERN.finditer(text) if _counts_something(match))
    found = [match.group() for match in (*figures, *_DATE_PATTERN.finditer(text))]
    return list(dict.fromkeys(" ".join(figure.split()) for figure in found))


def _counts_something(figure: re.Match[str]) -> bool:
    of = (figure["percent_of"] or figure["count_of"] or "").lower()
    return of not in _COMMON_WORDS and not figure.group().startswith("100%")


def dates_in(text: str) -> list[str]:
    """Days as they are written in English ("December 10, 1974"), each once."""
    return list(dict.fromkeys(match.group() for match in _DATE_PATTERN.finditer(text)))


def _trim_name(run: list[str]) -> str:
    while run and run[0].lower() in _WORDS_BEFORE_NAMES:
        run = run[1:]
    while run and run[-1] in _NAME_PARTICLES:
        run = run[:-1]
    if sum(word.isupper() and len(word) > _MAX_ACRONYM for word in run) > 1 or all(map(str.isupper, run)):
        return ""  # shouted, or two acronyms side by side
    capitals = sum(word[0].isupper() for word in run)
    return " ".join(run) if capitals >= _MIN_NAME_WORDS and len(run) <= _MAX_NAME_WORDS else ""
