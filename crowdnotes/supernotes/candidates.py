"""Candidates: which notes each call is shown, what it costs, and how sentences and links become a text.

The engine returns sentences; links are the program's own, from the notes and pages that the sentences rest on. Without
a model candidates are whole sentences of the notes, none cut and none altered.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, zip_longest
from typing import Self

from crowdnotes.domain import Candidate, Evidence, ExistingNote, LinkCheck, LinkState, Quoted, Span, SupernoteSentence
from crowdnotes.embedding import Embedder, FloatArray
from crowdnotes.engines import MadeBy, NoteSentence
from crowdnotes.engines.local import tone
from crowdnotes.engines.prompt_injection import holds_injection
from crowdnotes.errors import EngineError
from crowdnotes.evidence.merging import without_near_duplicates
from crowdnotes.supernotes.existing import ENOUGH_RATINGS, drawn_mean, links_of
from crowdnotes.text.note_rules import NOTE_LIMIT, URL_WEIGHT, find_urls, note_length, without_urls
from crowdnotes.text.sentences import split_sentences
from crowdnotes.text.stems import content_stems
from crowdnotes.text.urls import canonical_url

MAX_LINKS = 3  # each costs a character and a space
LOCAL = MadeBy("local")
_NOTES_A_CALL = 6  # more than a note of 280 characters can hold
_PROMPT_TOKENS = 1_500  # of the instructions and the post
_LETTERS_A_TOKEN = 4
_ANSWER_TOKENS = 150  # of one candidate, its quotes included


def budget_for(notes: Sequence[ExistingNote]) -> int:
    """Characters for the words of a note that may link to the pages of these notes."""
    pages = {canonical_url(url) for note in notes for url in links_of(note)}
    return NOTE_LIMIT - min(MAX_LINKS, len(pages)) * (URL_WEIGHT + 1)


def samples(
    notes: Sequence[ExistingNote], calls: int, seed: int, among: Collection[str] = ()
) -> tuple[tuple[ExistingNote, ...], ...]:
    """Which notes each of so many calls is shown, in its order: subsets that differ, as long as there are others.

    Every note is shown, and leads, as often as any other, as far as the calls suffice. With `among` each call holds
    one of the notes with these ids, in the lead: what changed since the candidates that are kept.
    """
    chance = random.Random(seed)  # noqa: S311 - for variety, not for secrets
    leads = [note for note in notes if not among or note.id in among]
    if not leads:
        return ()
    shown = dict.fromkeys((note.id for note in notes), 0)
    turn: list[ExistingNote] = []
    seen: set[tuple[str, ...]] = set()
    found = []
    most = min(_NOTES_A_CALL, len(notes))
    for _ in range(calls):
        if not turn:
            # Few calls may not reach all of many notes: those that raters like lead first.
            turn = sorted(chance.sample(leads, len(leads)), key=drawn_mean)
        lead = turn.pop()
        drawn: tuple[ExistingNote, ...] = (lead,)
        for _ in range(20):  # another one, while there may be
            size = chance.randint(min(2, most), most)
            others = [note for note in notes if note.id != lead.id]
            chance.shuffle(others)
            others.sort(key=lambda note: shown[note.id] + chance.random())  # those that were shown least
            drawn = (lead, *others[: size - 1])
            if tuple(note.id for note in drawn) not in seen:
                break
        seen.add(tuple(note.id for note in drawn))
        for note in drawn:
            shown[note.id] += 1
        found.append(drawn)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a plan is expected to take: calls of the model, and tokens in both directions."""

    calls: int
    input_tokens: int
    output_tokens: int


def cost(plan: Sequence[Sequence[ExistingNote]], evidence: Sequence[Evidence], a_call: int) -> Cost:
    """What the calls of a plan will take, each giving so many candidates: an estimate, before anything is spent."""
    pages = sum(len(item.passage.text) for item in evidence)
    letters = sum(pages + sum(len(note.text) + 200 for note in drawn) for drawn in plan)
    return Cost(
        len(plan), len(plan) * _PROMPT_TOKENS + letters // _LETTERS_A_TOKEN, len(plan) * a_call * _ANSWER_TOKENS
    )


def from_sentences(
    sentences: Sequence[NoteSentence],
    notes: Sequence[ExistingNote],
    evidence: Sequence[Evidence],
    made_by: MadeBy,
    links: Sequence[LinkCheck] = (),
) -> Candidate:
    """The text of these sentences with the links of the notes and pages that they rest on, at most three.

    Each sentence has its turn; pages that carry it come first, then those that were read, then links that answer. A
    dead link stands only where a sentence has no other.
    Raises EngineError for an unknown note or passage, no words, or a link of the engine's own.
    """
    by_id = {note.id: note for note in notes}
    passages = {item.id: item for item in evidence}
    _check(sentences, by_id, passages)
    text = ""
    parts = []
    for sentence in sentences:
        words = " ".join(sentence.text.split())
        text += _between(text)
        parts.append(
            SupernoteSentence(
                span=Span(start=len(text), end=len(text) + len(words)),
                notes=tuple(dict.fromkeys(sentence.notes)),
                carriers=tuple(Quoted(evidence_id=item.evidence_id, span=item.span) for item in sentence.carriers),
            )
        )
        text += words
    there = {canonical_url(url.url) for url in find_urls(text)}
    read = {canonical_url(item.source.url) for item in evidence if item.source.url}
    states = {canonical_url(check.url): check.state for check in links}
    wanted = [_links_for(sentence, by_id, passages, read, states) for sentence in sentences]
    chosen: dict[str, str] = {}
    for turn in zip_longest(*wanted):
        for url in turn:
            room = note_length(" ".join([text, *chosen.values()])) + URL_WEIGHT + 1 <= NOTE_LIMIT
            if url is not None and len(chosen) < MAX_LINKS and room and canonical_url(url) not in there:
                chosen.setdefault(canonical_url(url), url)
    return Candidate(
        text=" ".join([text, *chosen.values()]),
        sentences=tuple(parts),
        engine=made_by.engine,
        prompt_version=made_by.prompt_version,
    )


def _between(text: str) -> str:
    """What stands between a text and the next sentence: the stop too that a writer left out at the end of a line."""
    if not text:
        return ""
    return " " if text.rstrip("\"'”’)]»")[-1:] in _STOPS else ". "


_STOPS = ".!?…:;。！？؟۔"


def _check(sentences: Sequence[NoteSentence], by_id: dict[str, ExistingNote], passages: dict[str, Evidence]) -> None:
    if not any(sentence.text.strip() for sentence in sentences):
        raise EngineError("The engine wrote a note without words.")
    for sentence in sentences:
        unknown = [note for note in sentence.notes if note not in by_id]
        unknown += [item.evidence_id for item in sentence.carriers if item.evidence_id not in passages]
        if unknown:
            raise EngineError(f"The engine named {unknown[0]}, which is neither a note nor a passage given.")
        if not sentence.notes:
            raise EngineError("The engine wrote a sentence that rests on no note.")
        theirs = {canonical_url(url.url) for note in sentence.notes for url in find_urls(by_id[note].text)}
        if any(canonical_url(url.url) not in theirs for url in find_urls(sentence.text) if url.has_scheme):
            raise EngineError("The engine put a link of its own into the note.")


def _links_for(
    sentence: NoteSentence,
    by_id: dict[str, ExistingNote],
    passages: dict[str, Evidence],
    read: Collection[str],
    states: dict[str, LinkState],
) -> list[str]:
    """The links that a sentence may carry, best first."""
    carrying = [url for item in sentence.carriers if (url := passages[item.evidence_id].source.url)]
    own = [url for note in sentence.notes for url in _links_at(by_id[note].text).get(sentence.text, ())]
    of_notes = own or [url for note in sentence.notes for url in links_of(by_id[note])]

    def rank(url: str) -> tuple[int, bool, bool]:
        state = states.get(canonical_url(url))
        dead = 2 if state in {LinkState.DEAD, LinkState.REFUSED} else state is LinkState.UNREACHABLE
        return int(dead), canonical_url(url) not in read, state is not LinkState.LIVE

    rest = sorted(of_notes, key=rank)
    usable = [url for url in rest if rank(url)[0] == 0] or rest[:1]
    return list(dict.fromkeys([*carrying, *usable]))


def merged(candidates: Sequence[Candidate]) -> tuple[tuple[Candidate, ...], int]:
    """The candidates without those that say nearly the same as an earlier one, and how many those were."""
    kept = without_near_duplicates(candidates, lambda item: without_urls(item.text))
    return tuple(kept), len(candidates) - len(kept)


_LABEL = re.compile(
    r"^\W*(?:sources?|links?|references?|see(?: also| here| more)?|read(?: more)?(?: here)?|"
    r"more(?: info\w*)?(?: here)?|"
    r"(?:for )?more (?:information|details)|via|here|cf|fact[- ]?check(?:ed)?(?: here)?)\W*$",
    re.IGNORECASE,
)
_POINTS_AT_LINK = re.compile(
    r"^\W*(?:here (?:is|are|’s|'s)|links?|makes|claims|says|states|implies|shows)\b|"
    r"\b(?:here|below|following|this link|links?|sources?|see|according to)\W*$",
    re.IGNORECASE,
)
# Goes on from a sentence before it.
_GOES_ON = (
    r"and|but|or|so|also|however|yet|still|then|thus|therefore|hence|moreover|furthermore|additionally|besides|"
    r"instead|rather|otherwise|nevertheless|nonetheless|meanwhile|likewise|similarly|consequently|conversely|indeed|"
    r"in (?:addition|fact|other words|contrast|short|reality|turn)|for (?:example|instance)|on the other hand|"
    r"as (?:such|a result)|after that|at that time|even (?:then|so)|what is more|not only that|since then"
)
_CONNECTS = re.compile(rf"^\W*(?:{_GOES_ON})\b", re.IGNORECASE)
# That, or speaks of what was named there.
_LEANS = re.compile(
    rf"^\W*(?:{_GOES_ON}|"
    r"this|that|these|those|such|he|she|it|its|they|them|his|her|their|the (?:former|latter|same)|"
    r"the (?:article|report|study|paper|source|link|author|bill|law|statement)s?)\b",
    re.IGNORECASE,
)
# Speaks of the post, or of nothing before it: "This photo", "It is not known whether".
_STANDS = re.compile(
    r"^\W*(?:(?:this|that|the|these) (?:[\w-]+ ){0,2}?(?:post|tweet|claim|video|image|photo|picture|quote|account|meme|"
    r"screenshot|headline|clip|footage|graph|chart|user|poster|allegation|assertion|person)s?\b|"
    r"it (?:is|was|has been) (?:\w+ ){1,3}(?:that|who|whether|how|why)\b)",
    re.IGNORECASE,
)
_PERSON = re.compile(r"^\W*(?:he|she|they|his|her|their)\b", re.IGNORECASE)
_BEGINS = re.compile(r"\s+[\"“(]?[A-Z]")
_LIST_NUMBER = re.compile(r"^\s*(?:\(?\d{1,2}[.)]\s*(?=\D)|[-•*–]\s+)")
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|do|does|did|will|would|can|could|may|might|must|should|cannot|"
    r"\w+n['’]t|\w+['’](?:s|re|ve|ll)|\w+ (?:\w+ly )?\w{2,}ed (?:to|by|that|in|at|on|for|with|from|the|an?|his|her|its|"
    r"their|as|no|\d\S*)|says?|said|shows?|claims?|states?|found|made|took|won|lost|gave|went|came|remains?|appears?|contains?|"
    r"includes?|means?|broke|began|became|built|bought|brought|caught|chose|died|fell|felt|flew|got|grew|held|kept|knew|"
    r"led|left|met|paid|put|ran|rose|saw|sold|sent|shot|spoke|spent|stood|told|thought|wore|wrote|implies|omits|ignores|"
    r"lacks|exists?|fails|needs?|refers|uses|makes|takes|gets|gives|supports?|"
    r"comes|goes|works|causes?|reports?|confirms?|suggests?|presents?|quotes?|mis\w+s)\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d[\d.,]*\d")
_LONG = 10  # words; fragments without a verb are shorter
_NAME = re.compile(r"\s[A-Z][a-z]{2,}")
_FEWEST_STEMS = 3  # with a name one fewer: "Hochul is a Democrat."
_SAME_WORDS = 0.6  # of the words of the shorter sentence that the other has too
_SAME_MEANING = 0.7  # cosine
_SAME_TOGETHER = 1.0  # both
_SAME_WITH_FIGURE = 0.5  # cosine, with a year or number that stands in both
_ONE_SUBJECT = (0.34, 0.6)  # the same two, from which a sentence that denies clashes with one that does not
_TURNED_DOWN = 0.35  # mean rating, from as many ratings as X asks for before it gives a status
_MOST_SENTENCES = 800  # of all notes together: each is compared with each, which took minutes for 3,600
_MISSES_OF_THE_BEST = 20  # draws in a row that gave nothing new, after which worse ones are looked at too
_MOST_MISSES = 200
_MOST_DRAWS = 5  # for each candidate wanted: the others are nearly the same as one that is there
_UNCLEAN = 0.1  # words that a filter will object to, or "he" of nobody named: such a sentence is drawn seldom
_PROPPED = 0.5  # a sentence that leans, with all it leans on, takes room
_OPENING = 1.5


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence of a note, without the links at its end; `place` counts the note's sentences, `row` all of them."""

    text: str
    note: str
    place: int
    row: int
    stems: frozenset[str]
    has_link: bool

    @property
    def figures(self) -> frozenset[str]:
        """The years and other numbers in it."""
        return frozenset(_FIGURE.findall(self.text))


@dataclass(frozen=True, slots=True)
class _Unit:
    """Sentences of one note that stand only together: the first alone, and those after it that lean on it.

    `must_lead`: it opens its note and says "this" or "he" of the post, so that it can open this one alone.
    """

    sentences: tuple[_Said, ...]
    must_lead: bool

    @property
    def length(self) -> int:
        """As it stands in a note, with what is between it and the next."""
        return sum(note_length(item.text) + len(_between(item.text)) for item in self.sentences)

    @property
    def first(self) -> _Said:
        """The sentence that stands by itself."""
        return self.sentences[0]


def _pieces(text: str) -> Iterator[str]:
    """The sentences of a note; one that begins right after a link is one of its own."""
    for span in split_sentences(text):
        words = text[span.start : span.end]
        start = 0
        for url in find_urls(words):
            if url.has_scheme and _BEGINS.match(words, url.end):
                yield words[start : url.end].strip()
                start = url.end
        yield words[start:].strip()


@lru_cache(maxsize=1024)
def _parts(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The sentences of a note without the links at their ends, each with the links that it or what follows it has."""
    found: list[tuple[str, list[str]]] = []
    open_from = 0  # the first sentence that the next links may belong to
    was_link = False
    for piece in _pieces(text):
        words = _LIST_NUMBER.sub("", piece)
        urls = [url for url in find_urls(words) if url.has_scheme or "/" in url.url]
        addresses = [url.url if url.has_scheme else f"https://{url.url}" for url in urls]
        bare = words
        for url in reversed(urls):
            if not any(char.isalnum() for char in bare[url.end :]):
                bare = bare[: url.start].rstrip(" ([<-–—:")
        if any(char.isalnum() for char in bare) and not _LABEL.match(bare):
            if was_link:
                open_from = len(found)
            found.append((bare.strip(), []))
            was_link = False
        if addresses:
            for _, links in found[open_from:]:
                links.extend(addresses)
            was_link = True
    return tuple((words, tuple(dict.fromkeys(links))) for words, links in found)


def _links_at(text: str) -> dict[str, tuple[str, ...]]:
    """The links of a note by its sentences."""
    return dict(_parts(text))


def _is_sentence(words: str, stems: frozenset[str]) -> bool:
    """Whether words are a whole statement that can be set into a note as they are."""
    return (
        len(stems) >= _FEWEST_STEMS - bool(_NAME.search(words))
        and note_length(words) <= NOTE_LIMIT
        and not words[:1].islower()
        and not words.startswith(("(", "[", "…", "..."))
        and not words.endswith(("?", ":", ",", ";", "...", "…"))
        and words.count('"') % 2 == 0
        and words.count("(") == words.count(")")
        and (len(words.split()) >= _LONG or _VERB.search(words) is not None)
        and not _POINTS_AT_LINK.search(words)
        and not tone.matches(tone.ABOUT_NOTES, words)
        and not holds_injection(words)
    )


def _units(note: ExistingNote, row: int, most: int) -> Iterator[_Unit]:
    """Of the first `most` sentences of a note those that can be set into another, with those that they lean on."""
    chain: tuple[_Said, ...] = ()
    for place, (words, links) in enumerate(_parts(note.text)[:most]):
        stems = content_stems(words)
        if not _is_sentence(words, stems):
            chain = ()
            continue
        said = _Said(words, note.id, place, row + place, stems, bool(links))
        leans = _LEANS.match(words) is not None and not _STANDS.match(words)
        if leans and not chain and (place or _CONNECTS.match(words)):
            continue
        chain = (*chain, said) if leans and place else (said,)
        yield _Unit(chain, leans and not place)


def whole_sentences(
    notes: Sequence[ExistingNote],
    wanted: int,
    seed: int,
    evidence: Sequence[Evidence] = (),
    links: Sequence[LinkCheck] = (),
    among: Collection[str] = (),
    embedder: Embedder | None = None,
) -> tuple[Candidate, ...]:
    """Up to `wanted` candidates without a model: whole sentences of the notes, none cut and none altered.

    Sentences that stand alone and that other notes bear out come first and oftenest; none repeats or denies another;
    what leans on a sentence ("This", "He", "However") follows it alone. Notes that real raters turned down are left
    out while there are others. Fewer where the notes hold no more, none where no sentence fits. With `among` each holds
    a sentence of one of these notes. With an embedder sentences are compared by meaning, else by words.
    """
    pool = _Pool.of(notes, embedder, random.Random(seed))  # noqa: S311 - for variety, not for secrets
    leads = [note for note in pool.by_note if not among or note in among]

    def made() -> Iterator[Candidate]:
        for units in islice(pool.draws(leads), _MOST_DRAWS * wanted):
            said = [NoteSentence(item.text, (item.note,)) for unit in units for item in unit.sentences]
            yield from_sentences(said, notes, evidence, LOCAL, links)

    return tuple(without_near_duplicates(made(), lambda item: without_urls(item.text), wanted))


@dataclass(frozen=True)
class _Pool:
    """The units of the notes, how well each serves, and how alike any two sentences are in meaning, where known."""

    by_note: dict[str, list[_Unit]]
    weights: dict[_Unit, float]
    alike: FloatArray | None
    budget: int
    chance: random.Random

    @classmethod
    def of(cls, notes: Sequence[ExistingNote], embedder: Embedder | None, chance: random.Random) -> Self:
        """Of the notes that raters did not turn down, or of all where they turned down all."""
        good = [note for note in notes if not _is_turned_down(note)] or list(notes)
        most = max(1, _MOST_SENTENCES // max(1, len(good)))
        budget = budget_for(notes)
        row = 0
        by_note: dict[str, list[_Unit]] = {}
        for note in good:
            units = [unit for unit in _units(note, row, most) if unit.length <= budget + 1]
            row += len(_parts(note.text)[:most])
            if units:
                by_note[note.id] = units
        texts = [words for note in good for words, _ in _parts(note.text)[:most]]
        vectors = embedder.encode(texts) if embedder is not None and texts else None
        pool = cls(by_note, {}, None if vectors is None else vectors @ vectors.T, budget, chance)
        means = {note.id: drawn_mean(note) for note in notes}
        pool.weights.update(
            {unit: pool.weight(unit) * (0.5 + means[note]) for note, units in by_note.items() for unit in units}
        )
        return pool

    def weight(self, unit: _Unit) -> float:
        """How well it serves: borne out by other notes, sourced, standing alone, in clean words."""
        others = [units for note, units in self.by_note.items() if note != unit.first.note]
        borne = [max(self.closeness(unit.first, other.first) for other in units) for units in others]
        found = 0.2 + sum(borne) / max(1, len(borne))
        text = " ".join(said.text for said in unit.sentences)
        found *= 1.0 if self._is_clean(text) and not _PERSON.match(text) else _UNCLEAN
        found *= _OPENING if unit.first.place == 0 and not unit.must_lead else 1.0
        found *= _PROPPED if unit.must_lead or len(unit.sentences) > 1 else 1.0
        return found * (_OPENING if unit.first.has_link else 1.0)

    @staticmethod
    def _is_clean(text: str) -> bool:
        at_fault = (tone.loaded_words, tone.speculative_words, tone.first_person, tone.shouting)
        return not any(words(text) for words in at_fault) and not tone.matches(tone.SECOND_PERSON, text)

    def closeness(self, one: _Said, other: _Said) -> float:
        """From 0 to 1: by meaning, or the share of the shorter one's words that the other has."""
        if self.alike is not None:
            return max(0.0, float(self.alike[one.row, other.row]))
        return len(one.stems & other.stems) / min(len(one.stems), len(other.stems))

    def draws(self, leads: Sequence[str]) -> Iterator[list[_Unit]]:
        """Candidates that differ, each of these notes in its turn, until no more come."""
        seen: set[frozenset[str]] = set()
        turn: list[str] = []
        misses = 0
        while leads and misses < _MOST_MISSES:
            turn = turn or self.chance.sample(leads, len(leads))
            any_serves = misses >= _MISSES_OF_THE_BEST
            units = self.drawn(turn.pop(), any_serves=any_serves)
            key = frozenset(said.text for unit in units for said in unit.sentences)
            if key in seen or not self._has_link(units) or (len(units) == 1 and not any_serves):
                misses += 1
                continue
            misses = max(0, misses - _MISSES_OF_THE_BEST) if any_serves else 0
            seen.add(key)
            yield units

    def drawn(self, note: str, *, any_serves: bool) -> list[_Unit]:
        """A unit of that note and others beside it, in the order to be read: the better the oftener, or all alike."""
        units = [self._one_of(self.by_note[note], any_serves)]
        rest = [unit for theirs in self.by_note.values() for unit in theirs if not unit.must_lead]
        most = self.chance.choice((1, 2, 3, 4) if any_serves else (2, 2, 3, 3, 3, 4))
        left = self.budget + 1 - units[0].length
        while rest and len(units) < most:
            unit = self._one_of(rest, any_serves)
            rest.remove(unit)
            if unit.length <= left and not any(self._clash(unit, other) for other in units):
                units.append(unit)
                left -= unit.length
        return self._in_order(units)

    def _one_of(self, units: Sequence[_Unit], any_serves: bool) -> _Unit:
        return self.chance.choices(units, None if any_serves else [self.weights[unit] for unit in units])[0]

    def _in_order(self, units: Sequence[_Unit]) -> list[_Unit]:
        """The best one leads; those of one note stay together and in its own order."""
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

    def _has_link(self, units: Sequence[_Unit]) -> bool:
        """Whether these have a source, as far as any sentence has one."""
        has_links = any(unit.first.has_link for theirs in self.by_note.values() for unit in theirs)
        return not has_links or any(said.has_link for unit in units for said in unit.sentences)

    def _clash(self, one: _Unit, other: _Unit) -> bool:
        """Whether two units say the same, or one denies what the other says."""
        return any(self._repeats(a, b) for a in one.sentences for b in other.sentences)

    def _repeats(self, one: _Said, other: _Said) -> bool:
        shared = len(one.stems & other.stems) / min(len(one.stems), len(other.stems))
        close = 0.0 if self.alike is None else float(self.alike[one.row, other.row])
        if one.row == other.row or shared >= _SAME_WORDS or close >= _SAME_MEANING or shared + close >= _SAME_TOGETHER:
            return True
        if close >= _SAME_WITH_FIGURE and one.figures & other.figures:
            return True
        is_one_subject = shared >= _ONE_SUBJECT[0] or close >= _ONE_SUBJECT[1]
        return is_one_subject and tone.denies(one.text) != tone.denies(other.text)


def _is_turned_down(note: ExistingNote) -> bool:
    return note.ratings.count >= ENOUGH_RATINGS and (note.ratings.mean or 0.0) < _TURNED_DOWN
