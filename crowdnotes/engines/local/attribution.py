"""Who a sentence of a note credits, and whether the passage that carries it is theirs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from crowdnotes.domain import Evidence, Span
from crowdnotes.engines.local.publishers import publisher_name
from crowdnotes.engines.local.verdicts import Difference
from crowdnotes.text.stems import content_tokens

_SAYS = r"(?:says?|states?|reports?|notes?|advises?|explains?)"
_TELLS = r"(?:says?|said|states?|stated|reports?|reported|notes?|noted|advises?|explains?|recommends?|lists?|found)"
_FREE = re.compile(
    rf"^(?:according to (?P<after>[^,]{{2,90}}),\s*|(?P<before>[^\s,.:][^,.:]{{1,80}}?)\s{_SAYS}(?: that\b|:)\s*)",
    re.IGNORECASE,
)
_AT_THE_END = re.compile(r",\s*according to (?P<after>[^,]{2,90}?)(?=\W*$)", re.IGNORECASE)
_SHORTEST_CLAIM = 10


@dataclass(frozen=True, slots=True)
class Credited:
    """A sentence split in two: what it states from `start` on, and whom it credits ("" for nobody)."""

    claim: str
    start: int
    credit: str
    credit_span: Span


def split_credit(sentence: str, evidence: Sequence[Evidence]) -> Credited:
    """The sentence without "According to X," or "X says:" before it, or ", according to X" behind it.

    Names with commas are known from the evidence.
    """
    for name in {publisher_name(item.source) for item in evidence} - {""}:
        known = re.match(
            rf"(?:according to {re.escape(name)},\s*|{re.escape(name)} {_TELLS}(?: that\b|:)?\s+)",
            sentence,
            re.IGNORECASE,
        )
        if known:
            return _split(sentence, known.end(), name, sentence.lower().find(name.lower()))
    free = _FREE.match(sentence)
    if free is None:
        behind = _AT_THE_END.search(sentence)
        if behind is None or behind.start() < _SHORTEST_CLAIM:
            return _split(sentence, 0, "", 0)
        credit = Span(start=behind.start("after"), end=behind.end("after"))
        return Credited(sentence[: behind.start()], 0, behind["after"], credit)
    group = "after" if free["after"] else "before"
    return _split(sentence, free.end(), free[group], free.start(group))


def _split(sentence: str, start: int, credit: str, credit_start: int) -> Credited:
    if len(sentence) - start < _SHORTEST_CLAIM:
        start, credit = 0, ""
    span = Span(start=credit_start, end=credit_start + len(credit)) if credit else Span(start=0, end=0)
    return Credited(sentence[start:], start, credit, span)


def false_credit(credited: Credited, carrier: Evidence) -> list[Difference]:
    """A difference when neither the source nor its text knows the name that the note credits.

    An abbreviation counts as the name: "the WHO" for "World Health Organization".
    """
    names = content_tokens(credited.credit)
    if not names:
        return []
    source = carrier.source
    told = (publisher_name(source), source.publisher, source.title, source.url, carrier.passage.text)
    known = " ".join(part for part in told if part).lower()
    initials = "".join(token.text[0] for token in names if token.text[0].isupper()).lower()
    if any(token.folded in known for token in names) or (len(initials) > 2 and initials in known):
        return []
    theirs = publisher_name(source) or carrier.id
    message = f"The note credits “{credited.credit}”; the passage is from {theirs}."
    return [Difference("credit", message, credited.credit_span, 0.7)]
