"""The plain letters of a text in "Unicode fonts" (𝗯𝗼𝗹𝗱, ⓑⓛⓞⓑ, ｗｉｄｅ), look-alike letters and invisible marks.

For searching, comparing and detecting the language. What is shown and quoted stays as it was written.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from crowdnotes.text import kept_by_text

_KEYCAP_PATTERN = re.compile("([0-9])\ufe0f?\u20e3(?=(.)?)", re.DOTALL)
# Zero-width and direction marks, soft hyphens, variation selectors and tags cut a word in two for a program alone.
_INVISIBLE_PATTERN = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e01ef]|(?<=[A-Za-z\u00c0-\u024f])[\u200c\u200d]+(?=[A-Za-z\u00c0-\u024f])"
)
# Lines through, under and over letters, and heaps of marks ("zalgo"); an accent is one with its letter by then.
_OVERLAY_PATTERN = re.compile(
    "(?<=[A-Za-z\u00c0-\u024f\u1e00-\u1eff])[\u0300-\u036f\u20d0-\u20ff]+"
    "|(?<=\\w)[\u0305\u0332-\u0338\u033f\u0488\u0489\u20d0-\u20ff]+"
)
_CIRCLED_DIGITS_PATTERN = re.compile("[①-⑨⓪❶-❾➀-➈➊-➒⓵-⓽⓿]{2,}")  # one alone numbers a list
_SPECIAL_PATTERN = re.compile("[^\0-\u024f]+")
_CJK_PATTERN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LETTER_NAME_PATTERN = re.compile(
    r"(?:(?:(?:CROSSED )?NEGATIVE )?(?:CIRCLED|SQUARED)|PARENTHESIZED|FULLWIDTH|CIRCLED ITALIC)?"
    r" ?LATIN (?P<case>CAPITAL|SMALL)? ?LETTER (?P<small>SMALL CAPITAL |SCRIPT )?(?P<letter>[A-Z])"
)
_FONT_FORMS = frozenset({"<font>", "<narrow>", "<initial>", "<medial>", "<final>", "<isolated>"})
_RAISED_FORMS = frozenset({"<super>", "<sub>"})
_LIGATURES = frozenset("ﬀﬁﬂﬃﬄﬅﬆ")
_OTHER_FORMS = {"ɑ": "a", "ɩ": "i", "ℹ": "ℹ"}  # the last is an emoji
_LETTER = "[^\\W\\d_]"
_WORD_PATTERN = re.compile(f"{_LETTER}(?:{_LETTER}|[\u0300-\u036f])*")
_LATIN_PATTERN = re.compile("[A-Za-z\u00c0-\u024f]")
_FIRST_GREEK = "\u0370"

# Letters of other scripts that look like Latin ones: those that look the same, and those that
# are clear within a word of Latin letters.
_SAME_LOOK = dict(
    zip(
        "АВЕКМНОРСТУХІЈЅԌԚԜӀасеорухіјѕһԁԛԝӏҮᎪᏴᏟᎠᎬᏀᎻᎥᎫᏦᏞᎷᏢᏒᏚᎢᏙᎳᏃΑΒΕΖΗΙΚΜΝΟΡΤΥΧονϲϳօսհոꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴᗩᗷᑕᗪᖴᕼᒍᒪᗰᑎᑭᑫᖇᑌᐯᗯ᙭ᔕᘔᗴᗝᘜѴѵ",
        "ABEKMHOPCTYXIJSGQWIaceopyxijshdqwlYABCDEGHiJKLMPRSTVWZABEZHIKMNOPTYXovcjouhnBPDTGKJCZFMNLSRVHWXYAEIOUABCDFHJLMNPqRUVWXSZEOGVv",
        strict=True,
    )
)
_SIMILAR_LOOK = dict(zip("вкмнтпгьғєяиЯИαειικρτυχηωγςσյցազҽ", "bkmhtnrbfernRNaeiikptuxnwycojgwqe", strict=True))
_LOOK_ALIKES = _SAME_LOOK | _SIMILAR_LOOK
_LOOK_ALIKE_TABLE = str.maketrans(_LOOK_ALIKES)
_MIN_LATIN_LETTERS = 3  # of a word with one Greek letter at its end or beginning: "TNFα" and "µg" are written so


@kept_by_text
def plain_letters(text: str) -> str:
    """Return the text as a reader sees its letters; its length may change.

    Writing in another script, numbers such as 10² and emoji are left as they are.
    """
    if text.isascii():
        return text
    text = _KEYCAP_PATTERN.sub(lambda m: m[1] if not (m[2] or "").isalpha() else f"{m[1]} ", text)
    text = _OVERLAY_PATTERN.sub("", unicodedata.normalize("NFC", _INVISIBLE_PATTERN.sub("", text)))
    text = _CIRCLED_DIGITS_PATTERN.sub(lambda m: "".join(str(unicodedata.digit(sign)) for sign in m[0]), text)
    has_cjk = _CJK_PATTERN.search(text) is not None
    text = _SPECIAL_PATTERN.sub(lambda m: _replace_fonts(m[0], has_cjk=has_cjk), text)
    return _replace_look_alikes(text)


def _replace_fonts(run: str, *, has_cjk: bool) -> str:
    return unicodedata.normalize(
        "NFC", "".join(_plain_wide(sign, has_cjk=has_cjk) or _plain_sign(sign) or sign for sign in run)
    )


def _plain_wide(sign: str, *, has_cjk: bool) -> str:
    """Return a full-width sign as an ordinary one; among Chinese, Japanese and Korean words a stop stays theirs."""
    is_wide = unicodedata.decomposition(sign).startswith("<wide>")
    return unicodedata.normalize("NFKC", sign) if is_wide and (not has_cjk or sign.isalnum() or sign == "％") else ""


@lru_cache(maxsize=8192)
def _plain_sign(sign: str) -> str:
    """Return the letter that a sign of a "font" means; "" for any other."""
    if sign in _OTHER_FORMS:
        return _OTHER_FORMS[sign]
    form = unicodedata.decomposition(sign).partition(" ")[0]
    if form in _FONT_FORMS or sign in _LIGATURES or "\u2160" <= sign <= "\u217f":  # Roman numerals, which look the same
        return unicodedata.normalize("NFKC", sign)
    if form in _RAISED_FORMS:
        plain = unicodedata.normalize("NFKC", sign)
        return plain if len(plain) == 1 and plain.isalpha() and plain.isascii() else ""
    named = _LETTER_NAME_PATTERN.fullmatch(unicodedata.name(sign, ""))
    if named is None:
        return ""
    is_small = named["case"] == "SMALL" or named["small"] is not None
    return named["letter"].lower() if is_small else named["letter"]


def _replace_look_alikes(text: str) -> str:
    """Replace look-alikes among Latin letters, and words of look-alikes alone if no other word is of their script."""
    if _LATIN_PATTERN.search(text) is None:
        return text
    own_scripts = {_script_of(letter) for letter in set(text) if _is_foreign(letter) and letter not in _SAME_LOOK}

    def replaced(match: re.Match[str]) -> str:
        word = match.group()
        foreign = [letter for letter in word if _is_foreign(letter)]
        if not foreign or not all(letter in _LOOK_ALIKES for letter in foreign):
            return word
        if len(foreign) == len(word):
            return word if own_scripts.intersection(map(_script_of, foreign)) else word.translate(_LOOK_ALIKE_TABLE)
        return word if _is_scientific(word, foreign) else word.translate(_LOOK_ALIKE_TABLE)

    return _WORD_PATTERN.sub(replaced, text)


def _is_foreign(letter: str) -> bool:
    return letter >= _FIRST_GREEK and letter.isalpha() and _script_of(letter) != "LATIN"


def _is_scientific(word: str, foreign: list[str]) -> bool:
    """Return whether one Greek letter names something: "TNFα", "αSMA", "NFκB"."""
    is_greek = len(foreign) == 1 and foreign[0] not in _SAME_LOOK and _script_of(foreign[0]) == "GREEK"
    small = sum("a" <= letter <= "z" for letter in word)
    return is_greek and (word.endswith(foreign[0]) or small < _MIN_LATIN_LETTERS)


@lru_cache(maxsize=4096)
def _script_of(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]
