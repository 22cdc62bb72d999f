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
from itertools import zip_longest

from crowdnotes.domain import Candidate, Evidence, ExistingNote, LinkCheck, LinkState, Quoted, Span, SupernoteSentence
from crowdnotes.engines import MadeBy, NoteSentence
from crowdnotes.engines.local import tone
from crowdnotes.engines.prompt_injection import holds_injection
from crowdnotes.errors import EngineError
from crowdnotes.evidence.merging import without_near_duplicates
from crowdnotes.supernotes.existing import links_of
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
            turn = chance.sample(leads, len(leads))
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
        text += " " if text else ""
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
    r"\b(?:here|below|following|this link|links?|sources?|see|according to)\W*$", re.IGNORECASE
)
# Rests on the sentence before it.
_LEANS = re.compile(
    r"^\W*(?:and|but|or|so|also|however|yet|still|then|thus|therefore|hence|moreover|furthermore|additionally|besides|"
    r"instead|rather|otherwise|nevertheless|nonetheless|meanwhile|likewise|similarly|consequently|conversely|indeed|"
    r"in (?:addition|fact|other words|contrast|short|reality|turn)|for (?:example|instance)|on the other hand|"
    r"as (?:such|a result)|after that|at that time|even (?:then|so)|what is more|not only that|while|because|"
    r"since then|"
    r"he|she|it|its|they|them|his|her|their|those|these|that|one|both|such|another|others?|the (?:former|latter|same)|"
    r"the (?:article|report|study|paper|video|source|link|author|bill|law|quote|statement|image|photo)s?)\b",
    re.IGNORECASE,
)
_ON_POST = re.compile(
    r"^\W*(?:this|that|the|these) (?:[\w-]+ ){0,2}?(?:post|tweet|claim|statement|video|image|photo|picture|quote|"
    r"account|"
    r"meme|screenshot|headline|clip|footage|graph|chart|user|poster|author|allegation|assertion|person)s?\b",
    re.IGNORECASE,
)
_THIS = re.compile(r"^\W*(?:this|that|it|they|he|she)\b", re.IGNORECASE)
_FEWEST_STEMS = 3
_SAME = 0.6  # of the words of the shorter sentence that the other has too
_ALIKE_SUBJECT = 0.34


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence of a note: the words without the links at its end, and whether it leans on the one before it."""

    text: str
    note: str
    place: int
    leans: bool
    stems: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Unit:
    """Sentences of one note that stand only together: one that stands alone, and those after it that lean on it."""

    sentences: tuple[_Said, ...]
    opens: bool

    @property
    def length(self) -> int:
        """As it stands in a note, with a space behind each sentence."""
        return sum(note_length(item.text) + 1 for item in self.sentences)


@lru_cache(maxsize=1024)
def _parts(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The sentences of a note without the links at their ends, each with the links that it or what follows it has."""
    found: list[tuple[str, list[str]]] = []
    open_from = 0  # the first sentence that the next links may belong to
    was_link = False
    for span in split_sentences(text):
        words = text[span.start : span.end]
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


def _units(note: ExistingNote) -> Iterator[_Unit]:
    """The sentences of a note that can be set into another, alone or with those that they lean on."""
    chain: list[_Said] = []
    for place, (words, _) in enumerate(_parts(note.text)):
        stems = content_stems(words)
        opens = place == 0
        leans = bool(_LEANS.match(words) or _THIS.match(words)) and not _ON_POST.match(words)
        said = _Said(words, note.id, place, leans, stems)
        if not _is_sentence(words, stems):
            chain = []
            continue
        if leans and not opens:
            if not chain:
                continue
            chain = [*chain, said]
        else:
            chain = [said]
        yield _Unit(tuple(chain), opens and not _CONNECTS.match(words))


_CONNECTS = re.compile(
    r"^\W*(?:and|but|or|so|also|however|yet|therefore|moreover|furthermore|additionally)\b", re.IGNORECASE
)


def _is_sentence(words: str, stems: frozenset[str]) -> bool:
    """Whether words are a statement that can be set into a note as they are."""
    return (
        len(stems) >= _FEWEST_STEMS
        and note_length(words) <= NOTE_LIMIT
        and not words.endswith("?")
        and not _POINTS_AT_LINK.search(words)
        and not tone.matches(tone.ABOUT_NOTES, words)
        and not holds_injection(words)
    )


def whole_sentences(
    notes: Sequence[ExistingNote],
    wanted: int,
    seed: int,
    evidence: Sequence[Evidence] = (),
    links: Sequence[LinkCheck] = (),
    among: Collection[str] = (),
) -> tuple[Candidate, ...]:
    """Up to `wanted` candidates without a model: whole sentences of the notes, none cut and none altered.

    A sentence that stands alone leads; none repeats or denies another; what leans on a sentence ("This", "He",
    "However") follows it alone. Fewer where the notes hold no more, none where no sentence fits. With `among` each
    holds a sentence of one of these notes.
    """
    chance = random.Random(seed)  # noqa: S311 - for variety, not for secrets
    by_note = {note.id: [unit for unit in _units(note) if unit.length <= budget_for(notes) + 1] for note in notes}
    by_note = {note: units for note, units in by_note.items() if units}
    found: dict[frozenset[str], list[_Unit]] = {}
    turn: list[str] = []
    misses = 0
    while len(found) < wanted and by_note and misses < _MOST_MISSES:
        if not turn:
            turn = [note for note in by_note if not among or note in among]
            chance.shuffle(turn)
            if not turn:
                break
        units = _drawn(by_note, turn.pop(), budget_for(notes), chance)
        key = frozenset(said.text for unit in units for said in unit.sentences)
        misses = misses + 1 if not units or key in found else 0
        if units:
            found.setdefault(key, units)
    return tuple(
        from_sentences(
            [NoteSentence(said.text, (said.note,)) for unit in units for said in unit.sentences],
            notes,
            evidence,
            LOCAL,
            links,
        )
        for units in found.values()
    )


_MOST_MISSES = 200  # draws in a row that gave nothing new


def _drawn(by_note: dict[str, list[_Unit]], note: str, budget: int, chance: random.Random) -> list[_Unit]:
    """One note's unit and others beside it, in the order to be read; empty where nothing can lead."""
    units = [chance.choice(by_note[note])]
    left = budget + 1 - units[0].length
    others = [unit for name, theirs in by_note.items() for unit in theirs if name != note or unit is not units[0]]
    chance.shuffle(others)
    most = chance.choice((1, 2, 2, 3, 3, 3, 4))
    for unit in others:
        if len(units) == most:
            break
        if unit.length <= left and not any(_clash(unit, other) for other in units):
            units.append(unit)
            left -= unit.length
    return _in_order(units)


def _in_order(units: Sequence[_Unit]) -> list[_Unit]:
    """A unit that can open a note first, then as they were drawn, those of one note in its own order."""
    standing = [unit for unit in units if unit.opens or not unit.sentences[0].leans]
    if not standing:
        return []
    lead = next((unit for unit in standing if unit.opens), standing[0])
    rest = [unit for unit in units if unit is not lead]
    if any(unit.sentences[0].leans for unit in rest):  # "This is false." opens its note alone
        return []
    first_of = {unit.sentences[0].note: place for place, unit in reversed(list(enumerate(rest)))}
    rest.sort(key=lambda unit: (first_of[unit.sentences[0].note], unit.sentences[0].place))
    same_note = [unit for unit in rest if unit.sentences[0].note == lead.sentences[0].note]
    if any(unit.sentences[0].place < lead.sentences[0].place for unit in same_note):
        return []
    return [lead, *same_note, *(unit for unit in rest if unit not in same_note)]


def _clash(one: _Unit, other: _Unit) -> bool:
    """Whether two units say the same, or one denies what the other says."""
    return any(_repeats(a, b) for a in one.sentences for b in other.sentences)


def _repeats(one: _Said, other: _Said) -> bool:
    shared = len(one.stems & other.stems) / min(len(one.stems), len(other.stems))
    if shared >= _SAME:
        return True
    return shared >= _ALIKE_SUBJECT and tone.denies(one.text) != tone.denies(other.text)
