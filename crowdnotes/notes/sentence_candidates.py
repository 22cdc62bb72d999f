"""Candidates without a model: whole sentences of the notes, none cut and none altered."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Self

from crowdnotes.domain import Candidate, Evidence, ExistingNote, LinkCheck
from crowdnotes.engines import NoteSentence
from crowdnotes.engines.embedding import Embedder, FloatArray
from crowdnotes.engines.local import tone
from crowdnotes.evidence.duplicates import without_near_duplicates
from crowdnotes.notes.candidates import (
    LOCAL,
    between,
    budget_for,
    build_candidate,
    goes_on,
    is_sentence,
    needs_previous_sentence,
    parts_of,
)
from crowdnotes.notes.existing_notes import ENOUGH_RATINGS, drawn_mean
from crowdnotes.text.note_rules import note_length, without_urls
from crowdnotes.text.tokens import content_stems

_PERSON_START = re.compile(r"^\W*(?:he|she|they|his|her|their)\b", re.IGNORECASE)
_NUMBER_PATTERN = re.compile(r"\d[\d.,]*\d")
_MIN_SAME_WORD_SHARE = 0.6  # of the words of the shorter sentence that the other has too
_MIN_SAME_COSINE = 0.7  # cosine
_MIN_SAME_SUM = 1.0  # both
_MIN_SAME_FIGURE_COSINE = 0.5  # cosine, with a year or number that is in both
_MIN_SAME_SUBJECT = (0.34, 0.6)  # word share, cosine: from here a denial contradicts
_MAX_REJECTED_MEAN = 0.35  # mean rating, from as many ratings as X asks for before it gives a status
_MAX_SENTENCES = 800  # of all notes together: each is compared with each, which took minutes for 3,600
_MAX_MISSES_BEFORE_WORSE = 20  # fruitless draws in a row, after which all units are drawn alike
_MAX_MISSES = 200
_MAX_DRAWS_PER_CANDIDATE = 5  # the others are near-duplicates
_UNCLEAN_WEIGHT = 0.1  # words that a filter will reject, or "he" without a name: drawn seldom
_DEPENDENT_WEIGHT = 0.5  # a sentence that needs others takes more characters with them
_PREFERRED_WEIGHT = 1.5


@dataclass(frozen=True, slots=True)
class _SourceSentence:
    """A sentence of a note, without the links at its end; `place` is its index in the note, `row` among all."""

    text: str
    note: str
    place: int
    row: int
    stems: frozenset[str]
    has_link: bool

    @property
    def figures(self) -> frozenset[str]:
        """The years and other numbers in it."""
        return frozenset(_NUMBER_PATTERN.findall(self.text))


@dataclass(frozen=True, slots=True)
class _SentenceUnit:
    """Sentences of one note that are used together: one that needs no other, and those after it that need it.

    `must_lead`: its first one opens its note and means the post by "this" or "he", so that it can only open the new
    one.
    """

    sentences: tuple[_SourceSentence, ...]
    must_lead: bool

    @property
    def length(self) -> int:
        """The length in a note, with what joins it to the next."""
        return sum(note_length(item.text) + len(between(item.text)) for item in self.sentences)

    @property
    def first(self) -> _SourceSentence:
        """The sentence that needs no other."""
        return self.sentences[0]


def _list_units(note: ExistingNote, row: int, most: int) -> Iterator[_SentenceUnit]:
    """Yield the sentences of a note, of its first `most`, that fit into another, with those that they need."""
    chain: tuple[_SourceSentence, ...] = ()
    must_lead = False
    for place, (words, links) in enumerate(parts_of(note.text)[:most]):
        stems = content_stems(words)
        if not is_sentence(words, stems):
            chain = ()
            continue
        said = _SourceSentence(words, note.id, place, row + place, stems, bool(links))
        leans = needs_previous_sentence(words)
        if leans and not chain and (place or goes_on(words)):
            continue
        if chain and leans:
            chain = (*chain, said)
        else:
            chain, must_lead = (said,), leans
        yield _SentenceUnit(chain, must_lead)


def whole_sentences(
    notes: Sequence[ExistingNote],
    wanted: int,
    seed: int,
    evidence: Sequence[Evidence] = (),
    links: Sequence[LinkCheck] = (),
    among: Collection[str] = (),
    embedder: Embedder | None = None,
) -> tuple[Candidate, ...]:
    """Return up to `wanted` candidates without a model: whole sentences of the notes, none cut and none altered.

    Sentences that need no other and that other notes confirm come first and most often; none repeats or denies another;
    one that needs another ("This", "He", "recommends it") only follows it. Notes that real raters rejected are left out
    while there are others. Fewer where the notes hold no more, none where no sentence fits. With `among` each holds a
    sentence of one of these notes. With an embedder sentences are compared by meaning, else by words.
    """
    pool = _UnitPool.of(notes, embedder, random.Random(seed))  # noqa: S311 - for variety, not for secrets
    leads = [note for note in pool.by_note if not among or note in among]

    def made() -> Iterator[Candidate]:
        for units in islice(pool.draws(leads), _MAX_DRAWS_PER_CANDIDATE * wanted):
            said = [NoteSentence(item.text, (item.note,)) for unit in units for item in unit.sentences]
            yield build_candidate(said, notes, evidence, LOCAL, links)

    return tuple(without_near_duplicates(made(), lambda item: without_urls(item.text), wanted))


@dataclass(frozen=True)
class _UnitPool:
    """The units of the notes, their weights, and how close any two sentences are in meaning, where known."""

    by_note: dict[str, list[_SentenceUnit]]
    weights: dict[_SentenceUnit, float]
    alike: FloatArray | None
    budget: int
    chance: random.Random

    @classmethod
    def of(cls, notes: Sequence[ExistingNote], embedder: Embedder | None, chance: random.Random) -> Self:
        """Build the pool from the notes that raters did not reject, or from all where they rejected all."""
        good = [
            note
            for note in notes
            if note.ratings.count < ENOUGH_RATINGS or (note.ratings.mean or 0.0) >= _MAX_REJECTED_MEAN
        ] or list(notes)
        most = max(1, _MAX_SENTENCES // max(1, len(good)))
        budget = budget_for(notes)
        row = 0
        by_note: dict[str, list[_SentenceUnit]] = {}
        for note in good:
            units = [unit for unit in _list_units(note, row, most) if unit.length <= budget + 1]
            row += len(parts_of(note.text)[:most])
            if units:
                by_note[note.id] = units
        texts = [words for note in good for words, _ in parts_of(note.text)[:most]]
        vectors = embedder.encode(texts) if embedder is not None and texts else None
        pool = cls(by_note, {}, None if vectors is None else vectors @ vectors.T, budget, chance)
        means = {note.id: drawn_mean(note) for note in notes}
        pool.weights.update(
            {unit: pool.weight(unit) * (0.5 + means[note]) for note, units in by_note.items() for unit in units}
        )
        return pool

    def weight(self, unit: _SentenceUnit) -> float:
        """Weigh a unit: confirmed by other notes, with a source, needing no other, in neutral words."""
        others = [units for note, units in self.by_note.items() if note != unit.first.note]
        borne = [max(self.closeness(unit.first, other.first) for other in units) for units in others]
        found = 0.2 + sum(borne) / max(1, len(borne))
        text = " ".join(said.text for said in unit.sentences)
        found *= 1.0 if self._is_clean(text) and not _PERSON_START.match(text) else _UNCLEAN_WEIGHT
        found *= _PREFERRED_WEIGHT if unit.first.place == 0 and not unit.must_lead else 1.0
        found *= _DEPENDENT_WEIGHT if unit.must_lead or len(unit.sentences) > 1 else 1.0
        return found * (_PREFERRED_WEIGHT if unit.first.has_link else 1.0)

    @staticmethod
    def _is_clean(text: str) -> bool:
        at_fault = (tone.loaded_words, tone.speculative_words, tone.first_person, tone.shouting)
        return not any(words(text) for words in at_fault) and not tone.matches(tone.SECOND_PERSON, text)

    def closeness(self, one: _SourceSentence, other: _SourceSentence) -> float:
        """Return how close two sentences are, from 0 to 1: in meaning, or in the words of the shorter one."""
        if self.alike is not None:
            return max(0.0, float(self.alike[one.row, other.row]))
        return len(one.stems & other.stems) / min(len(one.stems), len(other.stems))

    def draws(self, leads: Sequence[str]) -> Iterator[list[_SentenceUnit]]:
        """Yield candidates that differ, each of these notes in turn, until no more are found."""
        seen: set[frozenset[str]] = set()
        turn: list[str] = []
        misses = 0
        while leads and misses < _MAX_MISSES:
            turn = turn or self.chance.sample(leads, len(leads))
            any_serves = misses >= _MAX_MISSES_BEFORE_WORSE
            units = self.drawn(turn.pop(), any_serves=any_serves)
            key = frozenset(said.text for unit in units for said in unit.sentences)
            if key in seen or not self._has_link(units) or (len(units) == 1 and not any_serves):
                misses += 1
                continue
            misses = max(0, misses - _MAX_MISSES_BEFORE_WORSE) if any_serves else 0
            seen.add(key)
            yield units

    def drawn(self, note: str, *, any_serves: bool) -> list[_SentenceUnit]:
        """Draw a unit of that note and other units, in reading order: better ones more often, or all alike."""
        units = [self._one_of(self.by_note[note], any_serves)]
        rest = [unit for theirs in self.by_note.values() for unit in theirs if not unit.must_lead]
        most = self.chance.choice((1, 2, 3, 4) if any_serves else (2, 2, 3, 3, 3, 4))
        left = self.budget + 1 - units[0].length
        while rest and len(units) < most:
            unit = self._one_of(rest, any_serves)
            rest.remove(unit)
            chosen = [sentence for other in units for sentence in other.sentences]
            if unit.length <= left and not any(self._clash(a, b) for a in unit.sentences for b in chosen):
                units.append(unit)
                left -= unit.length
        return self._in_order(units)

    def _one_of(self, units: Sequence[_SentenceUnit], any_serves: bool) -> _SentenceUnit:
        return self.chance.choices(units, None if any_serves else [self.weights[unit] for unit in units])[0]

    def _in_order(self, units: Sequence[_SentenceUnit]) -> list[_SentenceUnit]:
        """Sort units: the best one first; those of one note together and in its own order."""
        best = max(units, key=lambda unit: (unit.must_lead, self.weights[unit]))
        heaviest = {
            note: max(self.weights[unit] for unit in units if unit.first.note == note)
            for note in {unit.first.note for unit in units}
        }
        return sorted(
            units,
            key=lambda unit: (
                unit.first.note != best.first.note,
                -heaviest[unit.first.note],
                unit.first.note,
                unit.first.place,
            ),
        )

    def _has_link(self, units: Sequence[_SentenceUnit]) -> bool:
        """Return whether these have a source, as far as any sentence has one."""
        has_links = any(unit.first.has_link for theirs in self.by_note.values() for unit in theirs)
        return not has_links or any(said.has_link for unit in units for said in unit.sentences)

    def _clash(self, one: _SourceSentence, other: _SourceSentence) -> bool:
        """Return whether two sentences say the same, or one denies what the other says."""
        shared = len(one.stems & other.stems) / min(len(one.stems), len(other.stems))
        close = 0.0 if self.alike is None else float(self.alike[one.row, other.row])
        if (
            one.row == other.row
            or shared >= _MIN_SAME_WORD_SHARE
            or close >= _MIN_SAME_COSINE
            or shared + close >= _MIN_SAME_SUM
        ):
            return True
        if close >= _MIN_SAME_FIGURE_COSINE and one.figures & other.figures:
            return True
        is_one_subject = shared >= _MIN_SAME_SUBJECT[0] or close >= _MIN_SAME_SUBJECT[1]
        return is_one_subject and tone.denies(one.text) != tone.denies(other.text)
