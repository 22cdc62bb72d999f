"""Finds the passage nearest to each sentence of a note, and hints at where to look when a person compares them.

The attribution that CrowdNotes+ 4.3 asks of the correctness stage, and hints of its kinds. A hint is no verdict: on 160
notes in natural wording their number separates distorted from faithful ones little better than chance (AUC 0.60).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from crowdnotes.domain import Evidence, SentenceSupport, Span, Support
from crowdnotes.engines.embedding import Embedder, FloatArray
from crowdnotes.engines.local import tone
from crowdnotes.engines.local.denials import denies, list_denials, says
from crowdnotes.engines.local.health_terms import foreign_note, foreign_passages, medical_name
from crowdnotes.engines.local.quantities import missing_numbers, quantities
from crowdnotes.text.dates import month_number
from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.publishers import publisher_name
from crowdnotes.text.sentences import Unit, split_sentences, split_units
from crowdnotes.text.tokens import Token, content_stems, content_tokens, stem
from crowdnotes.wording import fill


@dataclass(frozen=True, slots=True)
class Compared:
    """A sentence of a note, the piece of the passage nearest to it, all of the passage, and its source's names.

    `around` is the text before and after the passage on its page, `others` are the passages of the other sources in
    use: a number may come from any of these, and what any says of a denial counts.
    """

    sentence: str
    piece: str
    passage: str
    source: str
    others: tuple[str, ...] = ()
    around: str = ""

    @property
    def known(self) -> frozenset[str]:
        """The stems of the passage and of its source's names."""
        return content_stems(self.passage) | content_stems(self.source)

    @property
    def months(self) -> frozenset[int | None]:
        """The numbers of the months that the passage names: "Sept. 5", "September", "2026-09-05"."""
        return frozenset(month_number(match[1] or match[0]) for match in _MONTH.finditer(self.passage))


_MONTH = re.compile(
    r"\b(?:(?:19|20)\d\d-(\d\d)-\d\d|(?:jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)[a-z]*)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Hint:
    """What a person should check: a message, and the words of the note's sentence that it is about."""

    message: str
    span: Span
    is_weak: bool = False


NUMBER_HINT = "Number: "  # how hints on numbers begin
_MAX_HINTS = 4  # more hints for one sentence help nobody


def find_hints(sides: Compared) -> list[Hint]:
    """Return at most 4 hints, the strongest first: numbers, denial, amount, names, additions, certainty."""
    if tone.BARE_VERDICT.match(sides.sentence):  # "This is wrong." has no fact to compare
        return []
    if not content_tokens(sides.sentence):  # "95%." has no words to compare
        return list(_find_number_hints(sides))
    found = [
        *_find_number_hints(sides),
        *_find_denial_hints(sides),
        *_find_strength_hints(sides),
        *_find_name_hints(sides),
        *_find_addition_hints(sides),
    ]
    return sorted(found, key=lambda hint: hint.is_weak)[:_MAX_HINTS]


def _find_number_hints(sides: Compared) -> Iterator[Hint]:
    for number, nearest in missing_numbers(sides.sentence, sides.passage, sides.others):
        message = f"{NUMBER_HINT}“{number.text}” is not in the source."
        if nearest:
            message = f"{NUMBER_HINT}the note says “{number.said}”, the source “{nearest.said}”."
        yield Hint(message, Span(start=number.start, end=number.end))


def _find_denial_hints(sides: Compared) -> Iterator[Hint]:
    # "No: polio is …" denies the post, not what the source says.
    words = tone.ANSWER_TO_POST.sub(lambda answer: " " * len(answer.group()), sides.sentence)
    texts = (sides.passage, sides.around, *sides.others)
    for mine in list_denials(words):
        if says(sides.piece, mine) and not any(denies(text, mine) for text in texts):
            message = "Denial: the note says “{words}”, this quotation says it without “{word}”."
            yield Hint(fill(message, words=mine.words, word=mine.word), Span(start=mine.start, end=mine.end))
            return
    for theirs in list_denials(sides.passage):
        if says(words, theirs) and not any(says(text, theirs) for text in texts):
            message = "Denial: the source says “{words}”, the note says it without “{word}”."
            yield Hint(fill(message, words=theirs.words, word=theirs.word), Span(start=0, end=len(words)))
            return


_AMOUNT_WORD = re.compile(
    r"\b(?:most|many|some|several|few|usually|often|generally|sometimes|rarely|majority|half)\b", re.IGNORECASE
)
_SOFTENING_WORD = re.compile(rf"{tone.HEDGE.pattern}|\b(?:can|sometimes|often|usually|some|many)\b", re.IGNORECASE)


def _find_strength_hints(sides: Compared) -> Iterator[Hint]:
    """Yield hints on amount and certainty: "all" for "some", "does" for "may"."""
    for pattern, text in (
        (tone.ALL, "How many: the note says “{words}”. Does the source?"),
        (tone.CERTAIN, "How sure: the note says “{words}”. Does the source?"),
    ):
        word = pattern.search(sides.sentence)
        if word is not None and not pattern.search(sides.piece):
            message = fill(text, words=word.group())
            yield Hint(message, Span(start=word.start(), end=word.end()))
    mine, theirs = _AMOUNT_WORD.search(sides.sentence), _AMOUNT_WORD.search(sides.piece)
    if mine and theirs and not re.search(rf"\b{mine.group()}\b", sides.passage, re.IGNORECASE):
        message = f"How many: the note says “{mine.group()}”, the source “{theirs.group()}”."
        yield Hint(message, Span(start=mine.start(), end=mine.end()))
    hedge = tone.HEDGE.search(sides.piece)
    if hedge is not None and not _SOFTENING_WORD.search(sides.sentence):
        whole = Span(start=0, end=len(sides.sentence))
        yield Hint(f"How sure: the source says “{hedge.group()}”, the note is certain.", whole, is_weak=True)


def _find_name_hints(sides: Compared) -> Iterator[Hint]:
    """Yield names that the passage and its source do not have."""
    known, months, initials = sides.known, sides.months - {None}, _list_initials(f"{sides.passage} {sides.source}")
    shouted = sides.sentence.isupper()
    for token in content_tokens(sides.sentence):
        is_held = month_number(token.text) in months or _is_in_passage(token, known, initials)
        if _is_name(token, sides.sentence, shouted=shouted) and not is_held:
            message = f"Name: “{token.text}” is not in the source."
            yield Hint(message, Span(start=token.start, end=token.end))


def _is_name(token: Token, sentence: str, *, shouted: bool) -> bool:
    """Return whether a word is a name or an abbreviation; the first word may have its capital anyway."""
    if shouted or not token.text[0].isupper():
        return False
    before = sentence[max(0, token.start - 20) : token.start].rstrip()[-1:]
    return (token.text.isupper() and len(token.text) > 1) or (token.start > 0 and before not in ('"', "“", ":", "."))


def _is_in_passage(token: Token, known: frozenset[str], initials: set[str]) -> bool:
    if token.stem in known or token.folded in initials:
        return True
    parts = token.folded.replace("-", " ").split()
    if len(parts) > 1 and all(stem(part) in known for part in parts if len(part) > 2):
        return True
    medical = medical_name(token.folded)
    if medical and all(stem(part) in known for part in medical.split()):
        return True
    # "hypertension" / "hypertensive", "allergy" / "allergic": a long common beginning means the same term.
    return len(token.stem) >= 6 and any(other[:6] == token.stem[:6] for other in known)


def _list_initials(text: str) -> set[str]:
    """Return the abbreviations that the words may have: "human papillomavirus" gives "hp"."""
    words = [word.strip("().,;:") for word in text.split()]
    letters = "".join(word[0].lower() if word else " " for word in words)
    return {letters[i : i + size] for size in (2, 3, 4, 5) for i in range(len(letters) - size + 1)}


_CLAUSE_START = re.compile(r"[;:()–—]|,\s+(?=\w)|\b(?:and|but|because|which|who|although|while|so)\b", re.IGNORECASE)
_MIN_CLAUSE_WORDS = 2  # content words
_MIN_KNOWN_SHARE = 0.34  # of a clause's words that the passage has


def _find_addition_hints(sides: Compared) -> Iterator[Hint]:
    """Yield each part of the sentence that shares hardly a word with the passage: it may be added."""
    known, words = sides.known, content_tokens(sides.sentence)
    cuts = [0, *(cut.start() for cut in _CLAUSE_START.finditer(sides.sentence)), len(sides.sentence)]
    for start, end in pairwise(cuts):
        tokens = [token for token in words if start <= token.start < end]
        held = sum(_is_in_passage(token, known, set()) for token in tokens)
        if len(tokens) >= _MIN_CLAUSE_WORDS and held / len(tokens) < _MIN_KNOWN_SHARE:
            span = Span(start=tokens[0].start, end=tokens[-1].end)
            yield Hint(f"Added: the source hardly says “{sides.sentence[span.start : span.end]}”.", span)


_MAX_SENTENCES = 40
_LINK_LABEL = re.compile(r"(?:sources?|links?|read more|see)\W*", re.IGNORECASE)
_LINK_NUMBER = re.compile(r"[(\[]?\d[)\].:/]*")


def attribute(embedder: Embedder, note: str, evidence: Sequence[Evidence]) -> tuple[SentenceSupport, ...]:
    """Return one UNCHECKED SentenceSupport per sentence of the note, in order; URLs are not sentences.

    `score` is how near the piece is, in [0, 1]: the mean of the cosine and the share of common words.
    """
    spans = note_sentences(note)
    passages = [(item, split_units(item.passage.text)) for item in evidence]
    texts = [note[span.start : span.end] for span in spans]
    vectors = embedder.encode([*texts, *(unit.text for _, units in passages for unit in units)])
    out = []
    for text, vector, span in zip(texts, vectors, spans, strict=False):
        at = len(spans)
        best: tuple[float, Evidence | None, Span | None] = (0.0, None, None)
        for item, units in passages:
            nearest = _find_nearest_piece(text, vector, units, vectors[at : at + len(units)])
            at += len(units)
            if nearest is not None and (best[1] is None or nearest[0] > best[0]):
                best = (nearest[0], item, nearest[1])
        others = tuple(item.passage.text for item in evidence if item is not best[1])
        out.append(_build_sentence_support(span, text, *best, others))
    return tuple(out)


def _find_nearest_piece(
    text: str, vector: FloatArray, units: Sequence[Unit], block: FloatArray
) -> tuple[float, Span] | None:
    """Return the nearest piece of one passage, joined with the next where both hold more of the words."""
    if not units:
        return None
    stems = content_stems(text)

    def score(first: int, last: int) -> float:
        pair = block[first : last + 1].sum(axis=0)
        held = frozenset[str]().union(*(unit.stems for unit in units[first : last + 1]))
        cosine = float(pair @ vector) / (float(np.linalg.norm(pair)) or 1.0)
        return (max(0.0, cosine) + len(stems & held) / (len(stems) or 1)) / 2

    runs = [(first, last) for first in range(len(units)) for last in (first, first + 1) if last < len(units)]
    passed_on = [tone.reports_rumour(unit.text) and not tone.reports_rumour(text) for unit in units]
    worth = {
        (first, last): score(first, last)
        - _LENGTH_PENALTY * (last - first)
        - _RUMOUR_PENALTY * any(passed_on[first : last + 1])
        for first, last in runs
    }
    first, last = max(runs, key=worth.__getitem__)
    return min(1.0, score(first, last)), Span(start=units[first].span.start, end=units[last].span.end)


_LENGTH_PENALTY = 0.02  # for quoting two pieces
_RUMOUR_PENALTY = 0.3  # "A post claims …" is near to a note that says the contrary, and supports nothing


def _build_sentence_support(
    span: Span, text: str, score: float, item: Evidence | None, piece: Span | None, others: tuple[str, ...]
) -> SentenceSupport:
    if item is None or piece is None:
        return SentenceSupport(span=span, support=Support.UNCHECKED, score=0.0)
    passage, source = item.passage.text, item.source
    names = " ".join(filter(None, (publisher_name(source), source.publisher, source.title)))
    is_foreign = foreign_passages([item]) or foreign_note(text)  # no word would match
    around = f"{item.passage.before}\n{item.passage.after}"
    sides = Compared(text, passage[piece.start : piece.end], passage, names, others, around)
    hints = [] if is_foreign else find_hints(sides)
    return SentenceSupport(
        span=span,
        support=Support.UNCHECKED,
        score=round(score, 4),
        evidence_id=item.id,
        carrier=piece,
        doubts=tuple(hint.message for hint in hints),
        doubted=tuple(Span(start=span.start + hint.span.start, end=span.start + hint.span.end) for hint in hints),
    )


def note_sentences(note: str) -> list[Span]:
    """Return the sentences of a note that say something, without URLs, "Source:" and "[1]"."""
    blank = note
    for url in find_urls(note):
        if url.has_scheme:
            blank = f"{blank[: url.start]}{' ' * (url.end - url.start)}{blank[url.end :]}"
    kept = []
    for span in split_sentences(blank):
        words = blank[span.start : span.end]
        says_something = content_tokens(words) or quantities(words) or tone.BARE_VERDICT.match(words)
        if says_something and not _LINK_LABEL.fullmatch(words) and not _LINK_NUMBER.fullmatch(words):
            kept.append(span)
    return kept[:_MAX_SENTENCES]
