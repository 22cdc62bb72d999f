"""What counts as a written reason for passing a check over: enough words that somebody can weigh it later."""

from __future__ import annotations

import re

LETTERS_OF_A_REASON = 10  # fewer is a keystroke to get by, not a reason that somebody can weigh later
WORDS_OF_A_REASON = 3  # different ones, for the same reason
A_REASON = f"{WORDS_OF_A_REASON} different words and {LETTERS_OF_A_REASON} letters"
_LETTERS = re.compile(r"[^\W\d_]+")
# Chinese, Japanese, Thai, Lao, Burmese and Khmer put no spaces between words: there each sign counts as one.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def is_reason(text: str) -> bool:
    """Whether a text says enough to pass a check over: letters that make different words."""
    return not missing_from(text)


def missing_from(text: str) -> str:
    """What a text still needs to be a reason: "2 more different words and 4 more letters"; empty for a reason."""
    unspaced = _UNSPACED.findall(text)
    # Two signs of those scripts are about a word, and say as much as a longer run of letters.
    letters = sum(character.isalpha() for character in text) + len(unspaced)
    words = len({*_LETTERS.findall(_UNSPACED.sub(" ", text).casefold()), *unspaced})
    return " and ".join(
        f"{wanted - there} more {name}" + ("" if wanted - there == 1 else "s")
        for there, wanted, name in (
            (words, WORDS_OF_A_REASON, "different word"),
            (letters, LETTERS_OF_A_REASON, "letter"),
        )
        if there < wanted
    )
