"""Which passage carries each sentence of a note, how well, and what differs.

The attribution that CrowdNotes+ 4.3 asks of the correctness stage, by similarity and word overlap,
lowered by the differences found. First version: a later one is trained.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crowdnotes.domain import Evidence, SentenceSupport, Span, Support
from crowdnotes.embedding import Embedder, FloatArray
from crowdnotes.engines.local.attribution import Credited, false_credit, split_credit
from crowdnotes.engines.local.bare_verdicts import is_bare_verdict, with_verdicts_carried
from crowdnotes.engines.local.contradiction import Contradiction, find_contradiction, is_question
from crowdnotes.engines.local.differences import Compared, differences
from crowdnotes.engines.local.english import foreign_note, in_english
from crowdnotes.engines.local.publishers import publisher_name
from crowdnotes.engines.local.quantities import Quantity, quantities
from crowdnotes.engines.local.units import Unit, passage_stems, split_units
from crowdnotes.engines.local.verdicts import Difference
from crowdnotes.settings import GateSettings
from crowdnotes.text.note_rules import UrlSpan, find_urls
from crowdnotes.text.sentences import split_sentences
from crowdnotes.text.stems import content_tokens

# Even shares, nearly: on the development pairs every split between .4 and .6 for the cosine does as well.
_COSINE = 0.4
_IN_CARRIER = 0.3
_IN_PASSAGE = 0.3
_MOST_SENTENCES = 40
_OPPOSITE = "says the opposite"
_LINK_LABEL = re.compile(r"(?:sources?|links?|read more|see)\W*", re.IGNORECASE)
_ONE_SIDE_DENIES = re.compile(r"The (?:note|passage) says “[^”]+” of “")  # the wording of `polarity`
_LINK_NUMBER = re.compile(r"[(\[]?\d[)\].:/]*")


@dataclass(frozen=True, slots=True)
class _Carrier:
    """The best piece, or two neighbours, of one passage for one sentence; `base` before differences."""

    evidence: Evidence
    text: str
    span: Span
    base: float


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What of a sentence a passage should hold: the stems of its words or, as in "95%.", its numbers alone."""

    stems: frozenset[str]
    numbers: tuple[Quantity, ...]

    def share_in(self, stems: frozenset[str], text: str) -> float:
        """The share of it in a text with these stems, in [0, 1]."""
        if self.stems:
            return len(self.stems & stems) / len(self.stems)
        known = quantities(text) if self.numbers else []
        held = sum(any(number.agrees_with(other) for other in known) for number in self.numbers)
        return held / len(self.numbers) if self.numbers else 0.0


def sentence_supports(
    embedder: Embedder, settings: GateSettings, note: str, evidence: Sequence[Evidence]
) -> tuple[SentenceSupport, ...]:
    """One SentenceSupport for each sentence of the note, in order; URLs are not sentences."""
    spans = note_sentences(note)
    claims = [split_credit(note[span.start : span.end], evidence) for span in spans]
    passages = [
        (item, [unit for unit in split_units(item.passage.text) if not is_question(unit.text)]) for item in evidence
    ]
    texts = [credited.claim for credited in claims] + [unit.text for _, units in passages for unit in units]
    vectors = embedder.encode(texts)
    out = []
    for row, (span, credited) in enumerate(zip(spans, claims, strict=True)):
        carriers = []
        at = len(claims)
        for item, units in passages:
            block = vectors[at : at + len(units)]
            at += len(units)
            if units:
                carriers.append(_best_carrier(credited.claim, vectors[row], item, units, block))
        opposite = find_contradiction(credited.claim, evidence)
        judged = _judged(settings, span, credited, carriers)
        out.append(judged if opposite is None else _contradicted(settings, judged, opposite))
    return with_verdicts_carried(note, out) if evidence else tuple(out)


def comparable_supports(
    embedder: Embedder, settings: GateSettings, note: str, evidence: Sequence[Evidence]
) -> tuple[SentenceSupport, ...]:
    """As `sentence_supports`, without the sentences that cannot be judged for their language.

    Those are all of a note that is not in English; and what no English passage carries or contradicts, when
    another passage may carry it.
    """
    read = in_english(evidence)
    if foreign_note(note) or (evidence and not read):
        return ()
    found = sentence_supports(embedder, settings, note, read)
    return found if len(read) == len(evidence) else tuple(sentence for sentence in found if _is_settled(sentence))


def _is_settled(sentence: SentenceSupport) -> bool:
    """Whether no further passage could change what is said of a sentence."""
    is_carried = sentence.support is Support.SUPPORTED or (sentence.support is Support.PARTLY and not sentence.doubts)
    return is_carried or any(_OPPOSITE in doubt for doubt in sentence.doubts)


def note_sentences(note: str) -> list[Span]:
    """The sentences of a note that say something; lone URLs and their labels ("Source:") do not."""
    urls = find_urls(note)
    kept = []
    for span in split_sentences(note):
        end = span.end
        start = span.start
        inside = [url for url in urls if start <= url.start < end and url.has_scheme]
        # URLs at either end belong to the links, not to the sentence.
        for url in reversed(inside):
            if not note[url.end : end].strip(" .,;)"):
                end = url.start
        for url in inside:
            if url.end < end and not note[start : url.start].strip(" .,;("):
                start = url.end
        words = note[start:end]
        left = len(words) - len(words.lstrip())
        words = words.strip()
        place = Span(start=start + left, end=start + left + len(words))
        says_something = content_tokens(words) or quantities(words) or is_bare_verdict(words)
        if says_something and not _LINK_LABEL.fullmatch(words) and not _numbers_a_link(note, place, urls):
            kept.append(place)
    return kept[:_MOST_SENTENCES]


def _numbers_a_link(note: str, place: Span, urls: Sequence[UrlSpan]) -> bool:
    """Whether the words are the "[1]" before or after a URL: a mark, where "95%." would be a statement."""
    if not _LINK_NUMBER.fullmatch(note[place.start : place.end]):
        return False
    return any(
        not note[place.end : url.start].strip() if url.start >= place.end else not note[url.end : place.start].strip()
        for url in urls
    )


def _best_carrier(text: str, vector: FloatArray, item: Evidence, units: Sequence[Unit], block: FloatArray) -> _Carrier:
    """The piece or pair of neighbours that is nearest in meaning and holds most of the words."""
    wanted = _Wanted(frozenset(token.stem for token in content_tokens(text)), tuple(quantities(text)))
    passage = item.passage.text
    everywhere = wanted.share_in(passage_stems(passage), passage)
    singles = block @ vector
    best: tuple[float, int, int] = (-1.0, 0, 0)
    for index, unit in enumerate(units):
        held = wanted.share_in(unit.stems, unit.text)
        score = _mix(float(singles[index]), held, everywhere)
        if score > best[0]:
            best = (score, index, index)
    for index in range(len(units) - 1):
        pair = block[index] + block[index + 1]
        norm = float(np.linalg.norm(pair)) or 1.0
        both = passage[units[index].span.start : units[index + 1].span.end]
        held = wanted.share_in(units[index].stems | units[index + 1].stems, both)
        score = _mix(float(pair @ vector) / norm, held, everywhere)
        if score > best[0] + 0.02:  # two pieces must earn their length
            best = (score, index, index + 1)
    score, first, last = best
    span = Span(start=units[first].span.start, end=units[last].span.end)
    return _Carrier(item, passage[span.start : span.end], span, score)


def _mix(cosine: float, in_carrier: float, in_passage: float) -> float:
    return min(1.0, max(0.0, _COSINE * max(0.0, cosine) + _IN_CARRIER * in_carrier + _IN_PASSAGE * in_passage))


def _judged(settings: GateSettings, span: Span, credited: Credited, carriers: Sequence[_Carrier]) -> SentenceSupport:
    if not carriers:
        return SentenceSupport(span=span, support=Support.UNSUPPORTED, score=0.0)
    results = [_lowered(settings, span.start, credited, carrier) for carrier in carriers]
    score, doubts, doubted, carrier = max(results, key=lambda result: result[0])
    if score < settings.partly and not doubts:
        doubts, doubted = ("No passage says this.",), (span,)
    support = Support.UNSUPPORTED
    if score >= settings.partly:
        support = Support.SUPPORTED if score >= settings.supported else Support.PARTLY
    return SentenceSupport(
        span=span,
        support=support,
        score=round(score, 4),
        evidence_id=carrier.evidence.id,
        carrier=carrier.span,
        doubts=doubts,
        doubted=doubted,
    )


def _contradicted(settings: GateSettings, judged: SentenceSupport, opposite: Contradiction) -> SentenceSupport:
    """Not supported, whatever else seemed to carry it, with the words that say the opposite."""
    doubt, place = f"{opposite.evidence.id} {_OPPOSITE}: “{opposite.text.strip()}”", judged.span
    rest = list(zip(judged.doubts, judged.doubted, strict=True))
    same = next((pair for pair in rest if _ONE_SIDE_DENIES.match(pair[0])), None)
    if same is not None:  # one doubt, at the words that deny
        rest.remove(same)
        doubt, place = f"{doubt}. {same[0]}", same[1]
    return judged.model_copy(
        update={
            "support": Support.UNSUPPORTED,
            "score": round(min(judged.score, settings.partly - 0.01) * 0.5, 4),
            "evidence_id": opposite.evidence.id,
            "carrier": opposite.span,
            "doubts": (doubt, *(message for message, _ in rest)),
            "doubted": (place, *(span for _, span in rest)),
        }
    )


def _names_the_publisher(difference: Difference, claim: str, carrier: Evidence) -> bool:
    """Whether the words doubted are who published the passage, as in "to prevent it, the CDC recommends …"."""
    doubted = content_tokens(claim[difference.span.start : difference.span.end])
    own = {token.folded for token in content_tokens(publisher_name(carrier.source))}
    return difference.kind == "entity" and all(token.folded in own for token in doubted)


def _lowered(
    settings: GateSettings, sentence_start: int, credited: Credited, carrier: _Carrier
) -> tuple[float, tuple[str, ...], tuple[Span, ...], _Carrier]:
    shift = sentence_start + credited.start
    found = [
        (difference, shift)
        for difference in differences(Compared(credited.claim, carrier.text, carrier.evidence.passage.text))
        if not _names_the_publisher(difference, credited.claim, carrier.evidence)
    ]
    found += [(difference, sentence_start) for difference in false_credit(credited, carrier.evidence)]
    score = carrier.base
    for difference, _ in found:
        score *= difference.factor
    if any(difference.serious for difference, _ in found):
        score = min(score, settings.supported - 0.01)
    doubts = {d.message: Span(start=at + d.span.start, end=at + d.span.end) for d, at in reversed(found)}
    return max(0.0, score), tuple(reversed(doubts)), tuple(reversed(doubts.values())), carrier
