"""Which passage carries each sentence of a note, how well, and what differs; and the correctness gate made of that.

The attribution that CrowdNotes+ 4.3 asks of the correctness stage, by similarity and word overlap, lowered by the
differences found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crowdnotes.domain import (
    Evidence,
    Finding,
    GateName,
    GateResult,
    GateStatus,
    SentenceSupport,
    Span,
    Support,
)
from crowdnotes.embedding import Embedder, FloatArray
from crowdnotes.engines.local.differences import (
    Compared,
    Contradiction,
    Quantity,
    corrects,
    differences,
    find_contradiction,
    is_question,
    quantities,
)
from crowdnotes.engines.local.foreign_terms import foreign_note, foreign_passages, in_english
from crowdnotes.engines.local.polarity import Difference, Unit, negations, passage_stems, split_units
from crowdnotes.engines.local.source_ranking import publisher_name
from crowdnotes.engines.local.tone import BARE_VERDICT
from crowdnotes.settings import GateSettings
from crowdnotes.text.note_rules import UrlSpan, find_urls
from crowdnotes.text.sentences import split_sentences
from crowdnotes.text.stems import content_tokens

_FEWEST_DIGITS = 2
_MOST_DIGITS = 4


def of_needed(score: float, threshold: float) -> str:
    """Both, as "0.55 of the 0.82 needed", with the two to four digits that it takes to tell them apart."""
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS + 1):
        if f"{score:.{digits}f}" != f"{threshold:.{digits}f}":
            return f"{score:.{digits}f} of the {threshold:.{digits}f} needed"
    return f"{score:.{_FEWEST_DIGITS}f} of the {threshold:.{_FEWEST_DIGITS}f} needed"


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


_SAY_WHAT = "Nothing in the note says what is wrong; add what the evidence says instead."


def is_bare_verdict(sentence: str) -> bool:
    """Whether a sentence says that something is false, or a joke, and nothing else."""
    return BARE_VERDICT.match(sentence) is not None


def with_verdicts_carried(note: str, sentences: Sequence[SentenceSupport]) -> tuple[SentenceSupport, ...]:
    """The same supports with each bare verdict judged by the other sentences of the note.

    Supported as the first of them that is supported and denies, corrects or limits something, before
    or after it; unsupported without one, with a doubt at the verdict that says what to add.
    """
    says_what = next((sentence for sentence in sentences if _says_what_is_wrong(note, sentence)), None)
    return tuple(
        _carried(sentence, says_what) if is_bare_verdict(_words(note, sentence)) else sentence for sentence in sentences
    )


def _says_what_is_wrong(note: str, sentence: SentenceSupport) -> bool:
    words = _words(note, sentence)
    if sentence.support is not Support.SUPPORTED or is_bare_verdict(words):
        return False
    return bool(negations(words)) or corrects(words)


def _carried(verdict: SentenceSupport, by: SentenceSupport | None) -> SentenceSupport:
    if by is None:
        return SentenceSupport(
            span=verdict.span, support=Support.UNSUPPORTED, score=0.0, doubts=(_SAY_WHAT,), doubted=(verdict.span,)
        )
    return by.model_copy(update={"span": verdict.span, "doubts": (), "doubted": ()})


def _words(note: str, sentence: SentenceSupport) -> str:
    return note[sentence.span.start : sentence.span.end]


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


def judge_correctness(
    settings: GateSettings, note: str, evidence: Sequence[Evidence], support: Sequence[SentenceSupport]
) -> GateResult:
    """FAIL if a sentence is unsupported or a serious doubt keeps it from counting as supported.

    The score is that of the weakest sentence, below the threshold just when the gate fails: a sentence that
    fails for a doubt alone counts as much lower as the line for doubted sentences lies higher. Findings
    point at the words in question; a sentence that is carried in part, without a doubt, is told but does
    not fail the note. NOT_RUN where languages keep a sentence from being compared, and no other fails.
    """
    if not evidence:
        return _not_run("There is no evidence to compare the note with.")
    foreign = foreign_note(note) or foreign_passages(evidence)
    if foreign and not support:
        return _not_run(foreign)
    if not support:
        return _not_run("The note has no sentence to compare.")
    findings: list[Finding] = []
    failing = 0
    for sentence in support:
        fails = _fails(sentence)
        failing += fails
        findings.extend(_findings(note, sentence, ok=not fails))
    if foreign and not failing and len(support) < len(note_sentences(note)):
        return _not_run(foreign).model_copy(update={"findings": tuple(findings)})
    score = min(_score(settings, sentence) for sentence in support)
    if failing:
        first = next(finding.message for finding in findings if not finding.ok)
        sentences = "1 sentence" if failing == 1 else f"{failing} sentences"
        reason = f"{sentences} of {len(support)} not carried by the passages as written. {first}"
    elif any(sentence.support is Support.PARTLY for sentence in support):
        reason = "The passages carry the note, in part in other words: read the marked sentences against them."
    else:
        reason = "The passages carry every sentence, and no number, negation or name differs."
    return GateResult(
        gate=GateName.CORRECTNESS,
        status=GateStatus.FAIL if failing else GateStatus.PASS,
        reason=reason,
        score=score,
        threshold=settings.partly,
        findings=tuple(findings),
    )


def _fails(sentence: SentenceSupport) -> bool:
    return sentence.support is Support.UNSUPPORTED or (
        bool(sentence.doubts) and sentence.support is not Support.SUPPORTED
    )


def _score(settings: GateSettings, sentence: SentenceSupport) -> float:
    if not _fails(sentence):
        return round(max(settings.partly, sentence.score), 4)
    return round(min(settings.partly - 0.001, settings.partly * sentence.score / settings.supported), 4)


def _findings(note: str, sentence: SentenceSupport, *, ok: bool) -> list[Finding]:
    if sentence.doubts:
        spans = [*sentence.doubted, *[sentence.span] * (len(sentence.doubts) - len(sentence.doubted))]
        return [
            Finding(message=doubt, evidence_id=sentence.evidence_id, span=span, ok=ok)
            for doubt, span in zip(sentence.doubts, spans, strict=False)
        ]
    words = note[sentence.span.start : sentence.span.end]
    opening = words if len(words) <= 60 else f"{words[:57].rsplit(' ', 1)[0]}…"
    if sentence.support is Support.SUPPORTED:
        message = f"{sentence.evidence_id} carries “{opening}”."
    elif sentence.support is Support.PARTLY:
        message = f"{sentence.evidence_id} carries “{opening}” in part: compare the wording."
    else:
        message = f"No passage carries “{opening}”."
    return [Finding(message=message, evidence_id=sentence.evidence_id, span=sentence.span, ok=ok)]


def _not_run(reason: str) -> GateResult:
    return GateResult(gate=GateName.CORRECTNESS, status=GateStatus.NOT_RUN, reason=reason)
