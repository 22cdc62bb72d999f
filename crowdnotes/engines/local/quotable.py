"""What of a passage may be quoted: whole sentences that stand alone, and list items with the line that leads into them.

Shortening takes out whole pieces only, and never a number, a negation or a hedge.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from crowdnotes.engines.local.lexicon import ORDINARY_WORDS
from crowdnotes.engines.local.polarity import split_units
from crowdnotes.text.stems import ENGLISH_STOP_WORDS, content_tokens, fold, tokens

_FEWEST_WORDS = 6
_MOST_WORDS = 48
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|may|might|could|will|would|should|does|do|did|must|cannot|\w+n['’]t|"
    r"cause[sd]?|affect(?:s|ed)?|include[sd]?|occur(?:s|red)?|help(?:s|ed)?|reduce[sd]?|increase[sd]?|"
    r"prevent(?:s|ed)?|"
    r"show(?:s|ed|n)?|found|suggest(?:s|ed)?|recommend(?:s|ed)?|contain(?:s|ed)?|works|"
    r"become(?:s)?|became|needs|lead(?:s)?|led|protect(?:s|ed)?|treat(?:s|ed)?|make(?:s)?|made|"
    r"happen(?:s|ed)?|take(?:s)?|took|die(?:s|d)?|develop(?:s|ed)?|grow(?:s)?|depend(?:s|ed)?|remain(?:s|ed)?|"
    r"require[sd]?|rose|rises|fell|falls|dropped|declined|reached|went|goes|began|begins|ran|runs|kill(?:s|ed)|carr(?:y|ies|"
    r"ied)|spreads?|last(?:s|ed)?|use[sd]?|call(?:s|ed)|asked|told|tells|stays?|keeps?|kept|holds?|held|put|puts|lets|saw|"
    r"vary|varies|ranges|consists?|"
    r"supports|say(?:s)?|said|reported|appear(?:s|ed)?|seem(?:s|ed)?|get(?:s)?|got|give(?:s)?|gave|"
    r"produce[sd]?|provide[sd]?|receive[sd]?|come(?:s)?|came|mean(?:s|t)?|lived|know(?:s)?|believe[sd]?)\b",
    re.IGNORECASE,
)
_DANGLING = re.compile(
    r"^(?:this|that|these|those|it|its|they|their|them|he|she|his|her|such|both|others?|another|some of "
    r"(?:these|them)|(?:most|some|many|all|a few|several) (?:are|is|were|have|has|can|may|do|of (?:these|them))|"
    r"here|there(?:fore|by)|the (?:above|following|former|latter|same)|one of (?:these|them)|then|next|"
    r"for (?:example|instance)|instead|otherwise|also, (?:this|it|they)|if so|in (?:this|these|such) \w+|at this)\b",
    re.IGNORECASE,
)
_POINTS_ELSEWHERE = re.compile(
    r"\b(?:click|see (?:also|the|below|table|figure)|(?:figure|table|fig\.) \d|read more|learn more|more information|"
    r"for more|visit|contact|call|subscribe|sign up|cookies?|copyright|all rights reserved|privacy policy|"
    r"terms of use|"
    r"last (?:updated|reviewed)|reviewed by|web ?site|below|above|following|as follows|this (?:page|article|"
    r"section|site|fact sheet)|"
    r"photo|image|advertisement|newsletter|talk (?:to|with) your|ask your|tell your|check with your|clinical "
    r"?trials?\.gov|"
    r"key points|organization|resources?|database|orphanet|omim|medlineplus)\b",
    re.IGNORECASE,
)
# "Substances that are harmless." has a verb, but not one of its own.
_BORROWED = re.compile(
    r"\b(?:that|which|who|whose|when|if|where|because)(?: \w+ly| usually| often| also)? $", re.IGNORECASE
)
# "Beach flags and what they mean." has none either.
_QUESTION_CLAUSE = re.compile(r"(?:,? and|:) (?:what|how|why|where|when|who|which)\b[^,;]*$", re.IGNORECASE)
_STOPS = ".!…。！۔\"'”’)"
_LATIN = re.compile(r"[A-Za-z]{3}")
_BACK_IN_CLAUSE = re.compile(r"^(?:when|if|because|although|once|while|as|since) [^,]*\b(?:it|they)\b", re.IGNORECASE)
_ORDERS = re.compile(
    r"^(?:use|include|start|begin|ask|talk|avoid|eat|drink|try|take|follow|keep|make|get|wash|be|do|don't|do not|"
    r"choose|limit|call|"
    r"check|see|consider|learn|remember|find|help|stop|quit|wear|stay|read|go|tell|know)\b(?! of\b)",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(r"\b(?:this|these|those|such) [a-z]{3,}|\bof those\b|\bdo so\b", re.IGNORECASE)
# True of any illness, an answer to nothing.
_NO_NEWS = re.compile(
    r"\b(?:clinical trials?|to learn more|of course|phenotype ontology|definition of|the following|risk group|"
    r"is given to|are done to)\b",
    re.IGNORECASE,
)
_PRONOUN_AFTER_START = re.compile(r"^(?:[A-Z][^,]{1,40}, )(?:it|they|this|these|he|she) ", re.IGNORECASE)
_SELF = re.compile(r"\b(?:i|we|our|us|my)\b", re.IGNORECASE)
_YOU = re.compile(r"\b(?:you|your|yours)\b", re.IGNORECASE)
_LIST_LEFTOVER = re.compile(r"[-–•*]\s|\s{3,}|:$|:\.$|\|")


def is_usable(sentence: str) -> bool:
    """Whether a sentence may enter a note at all."""
    text = sentence.strip()
    words = tokens(text)
    if not _FEWEST_WORDS <= len(words) <= _MOST_WORDS or len(content_tokens(text)) < 3:
        return False
    if text.isupper() or text.endswith(("?", "؟", "？", ":")):
        return False
    first = text[0]
    if (first.isalpha() and first.islower()) or not (first.isalnum() or first in "\"'“‘("):
        return False
    # A heading or a table cell: its source did not end it, or it has no verb.
    if text[-1] not in _STOPS or (_LATIN.search(text) and not _has_own_verb(text)):
        return False
    return not (
        _DANGLING.match(text)
        or _ORDERS.match(text)
        or _PRONOUN_AFTER_START.match(text)
        or _NO_NEWS.search(text)
        or _LIST_LEFTOVER.search(text)
        or text.count("(") != text.count(")")
    )


def _has_own_verb(text: str) -> bool:
    main = _QUESTION_CLAUSE.sub("", text)
    return any(not _BORROWED.search(main[: verb.start()]) for verb in _VERB.finditer(main) if verb.start() > 0)


def penalty(sentence: str) -> float:
    """What a usable sentence loses in the choice: 0 for a plain statement, up to about 0.5."""
    loss = 0.0
    if _POINTS_ELSEWHERE.search(sentence):
        loss += 0.25
    if _POINTS_BACK.search(sentence):
        loss += 0.12
    if _BACK_IN_CLAUSE.match(sentence):
        loss += 0.12
    if sum(word[:1].isupper() and not word.isupper() for word in sentence.split()[:8]) >= 4:
        loss += 0.15  # a heading that ran into its sentence
    if _SELF.search(sentence.replace("US", "")):
        loss += 0.2
    if _YOU.search(sentence):
        loss += 0.08
    if sentence.count(",") >= 5:
        loss += 0.06
    return loss


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


_MARK = re.compile(r"[-–•*·]\s*$")
_MARKED = re.compile(r"^[-–•*·]\s+")
_LEADS = re.compile(r":\s*$")
_STATES = re.compile(
    r"\b(?:include|affect|cause|are|is|can|may|help|prevent|increase|reduce|raise|lower|treat|have|has|do|does)\w*\b",
    re.IGNORECASE,
)
_NOT_OF_THINGS = re.compile(
    r"\b(?:you|your|we|our|steps|questions|tips|these|this|those|such|they|it can|it may|tests?|exams?|stages?|"
    r"see|visit|contact|symptoms?|signs?)\b",
    re.IGNORECASE,
)
_LONGEST_ITEM = 110
_MOST_ITEMS = 15


@dataclass(frozen=True, slots=True)
class Statement:
    """Words to quote; `is_item` when they are an item with its lead-in."""

    text: str
    is_item: bool = False


@lru_cache(maxsize=512)
def statements(passage: str) -> tuple[Statement, ...]:
    """Everything in a passage that can stand in a note, in order."""
    found: list[Statement] = []
    lead = ""
    items = 0
    end = 0
    for unit in split_units(passage):
        marked = _MARK.search(passage[end : unit.span.start]) or _MARKED.match(unit.text)
        text = _MARKED.sub("", unit.text).strip()
        end = unit.span.end
        if _LEADS.search(text):
            lead, items = " ".join(text.split()), 0
            continue
        if lead and marked and items < _MOST_ITEMS:
            items += 1
            if _may_lead(lead) and _is_item(text):
                found.append(Statement(f"{lead} {text[:1].lower() + text[1:] if _is_plain(text) else text}", True))
            continue
        lead = ""
        if is_usable(text):
            found.append(Statement(text))
    return tuple(found)


def _may_lead(lead: str) -> bool:
    return (
        4 <= len(lead.split()) <= 24
        and lead[0].isupper()
        and _STATES.search(lead) is not None
        and _NOT_OF_THINGS.search(lead) is None
    )


def _is_item(text: str) -> bool:
    return 1 < len(text) <= _LONGEST_ITEM and text.count("(") == text.count(")") and not text.endswith(("?", ":"))


def _is_plain(text: str) -> bool:
    """Whether the item's first letter may be made small: not of an abbreviation."""
    first = text.split(maxsplit=1)[0]
    return len(first) > 1 and first[1:].islower() and not re.match(r"\s[A-Z]", text[len(first) :])
