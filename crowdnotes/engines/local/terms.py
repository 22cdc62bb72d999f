"""Names and things in the note that the passage does not mention: another organ, another agency."""

from __future__ import annotations

from crowdnotes.domain import Span
from crowdnotes.engines.local.health_terms import medical_name
from crowdnotes.engines.local.keyphrases import is_health_word
from crowdnotes.engines.local.units import passage_stems
from crowdnotes.engines.local.verdicts import Difference
from crowdnotes.text.stems import Token, content_tokens, stem

_MOST = 3
# Of the domain, yet said of everything in it: another word for them is no difference.
_GENERIC = frozenset(
    stem(word)
    for word in "birth cell clinical condition cure diagnosis diet disability disease doctor dose drug fatal "
    "gene genetic health hospital immune immunity infection medicine mortality nutrient organ patient physician "
    "sleep supplement surgery symptom syndrome therapy treatment wellness pregnancy pharma calcium-rich meds medicines "
    "children".split()
)


def term_differences(sentence: str, carrier: str, passage: str) -> list[Difference]:
    """Named or medical terms of the sentence that occur nowhere in the passage."""
    known = passage_stems(passage) | passage_stems(carrier)
    initials = _initials(passage)
    found = []
    for token in content_tokens(sentence):
        if _is_known(token, known, initials) or not _is_specific(token, sentence):
            continue
        message = f"The passage does not mention “{token.text}”."
        found.append(Difference("entity", message, Span(start=token.start, end=token.end), 0.6))
    return found[:_MOST]


def _is_specific(token: Token, sentence: str) -> bool:
    """A name, an abbreviation or a medical term; the first word's capital says nothing."""
    if is_health_word(token):
        return token.stem not in _GENERIC
    if token.text.isupper() and len(token.text) > 1 and not sentence.isupper():
        return True
    return (
        token.text[0].isupper()
        and token.start > 0
        and sentence[: token.start].rstrip()[-1:] not in ('"', "“", ":", ".")
    )


def _is_known(token: Token, known: frozenset[str], initials: set[str]) -> bool:
    if token.stem in known or token.folded in initials:
        return True
    parts = token.folded.replace("-", " ").split()
    if len(parts) > 1 and all(stem(part) in known for part in parts if len(part) > 2):
        return True
    medical = medical_name(token.folded)
    if medical and all(stem(part) in known for part in medical.split()):
        return True
    # "hypertension" / "hypertensive", "allergy" / "allergic": one long common beginning is one term.
    return len(token.stem) >= 6 and any(other[:6] == token.stem[:6] for other in known)


def _initials(passage: str) -> set[str]:
    """Abbreviations that the passage's own words could stand for: "human papillomavirus virus" gives "hpv"."""
    words = [word.strip("().,;:") for word in passage.split()]
    letters = "".join(word[0].lower() if word else " " for word in words)
    return {letters[i : i + size] for size in (2, 3, 4, 5) for i in range(len(letters) - size + 1)}
