"""Which sentences of a passage can stand in a note: whole, plain statements that need no other."""

from __future__ import annotations

import re

from crowdnotes.text.stems import content_tokens, tokens

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
