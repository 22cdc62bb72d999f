"""Makes a passage's sentence stand alone and fit, without touching a number, a negation or a hedge.

Only whole pieces go: a leading connective, a bracket, a list of examples at the end. What cannot be
taken out safely stays.
"""

from __future__ import annotations

import re

from crowdnotes.engines.local.common_words import ORDINARY_WORDS
from crowdnotes.text.stems import ENGLISH_STOP_WORDS, fold

_CONNECTIVE = re.compile(
    r"^(?:however|in addition|additionally|also|moreover|furthermore|in fact|therefore|thus|consequently|as a result|"
    r"fortunately|unfortunately|in other words|summary:|answer:|note:|there is:|nevertheless|nonetheless|finally|"
    r"overall|in summary|in conclusion|indeed|similarly|"
    r"and|but|so),?\s+(?=\w)",
    re.IGNORECASE,
)
# "HPV vaccine The vaccine prevents …": a heading that ran into its sentence.
_HEADING = re.compile(r"^[A-Z][\w-]*(?: [a-z][\w-]*){0,3} (?=(?:The|Some|Most|Studies|Being) [a-z(])")
_NEEDS_COMMA = re.compile(r"^(?:and|but|so)\b", re.IGNORECASE)
_BRACKETS = re.compile(r"(?<!\s)\s*(?:\([^()]*\)|\[[^\[\]]*\])")
_CITATION = re.compile(r"\s?\[\d+(?:[,–-]\s?\d+)*\]")
_TAILS = (
    re.compile(r",? (?:and|or) (?:other|others|more|various other)\b[^,;.]*(?=\.$)"),
    re.compile(r",? (?:such as|including|for example,?|e\.g\.,?|like) [^.;]*(?=\.$)"),
    re.compile(r";\s[^;]*(?=\.$)"),
    re.compile(r", (?:which|where|who) [^,;]*(?=\.$)"),
)
_HOLDS_MEANING = re.compile(
    r"\d|%|\b(?:no|not|never|none|without|only|unless|except|but|may|might|could|can|cannot|if|most|some|many|"
    r"all|few|rare\w*|"
    r"likely|usually|sometimes|often|about|up to|at least|however|although|\w+n['’]t)\b",
    re.IGNORECASE,
)
# Endings of common nouns, adverbs and gerunds: no name of a person, place or virus has them.
_COMMON_ENDING = re.compile(r"(?:ing|tion|tions|ly|ments?|ness|ists|osis|itis|emia|ectomy|therapy|ants|ers|ous|ies)$")
_EPONYM = re.compile(
    r"^(?:alzheimer|parkinson|crohn|hodgkin|ebola|zika|lyme|kaposi|merkel|huntington|tourette|marfan|graves|hashimoto)",
    re.IGNORECASE,
)
_KEEPS_CAPITAL = re.compile(r"^(?:I|[A-Z][A-Za-z]*[A-Z]\w*|[A-Z]\.|[A-Z]|\w+['’]s)$")


def standing_alone(sentence: str) -> str:
    """The sentence without a leading connective and with tidy spaces; a capital first and a stop last."""
    text = _CITATION.sub("", re.sub(r"\s+", " ", sentence)).strip(" -–•*·")
    text = _HEADING.sub("", re.sub(r"\s+([,.;:])", r"\1", text))
    without = _CONNECTIVE.sub("", text, count=1)
    if without != text and (not _NEEDS_COMMA.match(text) or len(without) > 20):
        text = without
    text = _BRACKETS.sub(lambda match: match.group() if _HOLDS_MEANING.search(match.group()) else "", text)
    text = re.sub(r"\s+([,.;:])", r"\1", text).strip()
    if text and text[-1] not in ".!?。！？؟۔":
        text = f"{text.rstrip(',;:')}."
    return text[:1].upper() + text[1:]


def shorter_forms(sentence: str) -> list[str]:
    """The sentence and shorter forms of it, longest first; each is grammatical by itself and says no more."""
    forms = [sentence]
    for tail in _TAILS:
        match = tail.search(forms[-1])
        if match is None or _HOLDS_MEANING.search(match.group()):
            continue
        cut = forms[-1][: match.start()].rstrip(" ,;") + "."
        if len(cut.split()) >= 6:
            forms.append(cut)
    return forms


def lower_first(sentence: str, passage: str) -> str | None:
    """The sentence with a small first letter, to follow a comma; None when its first word may be a name.

    A word that the passage writes with a capital inside a sentence is a name and keeps it. A function
    word, a word of plain or medical English, or one that the passage writes small somewhere, does not.
    """
    word = re.match(r"[\w'’.-]+", sentence)
    if word is None or not sentence[:1].isupper():
        return sentence
    first = word.group()
    small = first[0].lower() + first[1:]
    if first != "I" and fold(first) in ENGLISH_STOP_WORDS:
        return small + sentence[len(first) :]
    if _KEEPS_CAPITAL.match(first) or _EPONYM.match(first) or re.match(r"\s[A-Z]", sentence[len(first) :]):
        return sentence
    written_small = re.search(rf"(?<![\w-]){re.escape(small)}(?![\w-])", passage)
    if not written_small and re.search(rf"(?<=[a-z,] ){re.escape(first)}(?![\w-])", passage):
        return sentence
    ordinary = written_small or _COMMON_ENDING.search(small) or fold(first) in ORDINARY_WORDS
    return small + sentence[len(first) :] if ordinary else None
