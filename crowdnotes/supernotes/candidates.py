"""Candidates: which notes each call is shown, what it costs, and how sentences and links become a text.

The engine returns sentences; links are the program's own, from the notes and pages that the sentences rest on.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from itertools import zip_longest

from crowdnotes.domain import Candidate, Evidence, ExistingNote, LinkCheck, LinkState, Span, SupernoteSentence, Usage
from crowdnotes.engines import MadeBy, NoteSentence
from crowdnotes.errors import EngineError
from crowdnotes.evidence.duplicates import without_near_duplicates
from crowdnotes.supernotes.existing import drawn_mean, links_of, pages_of
from crowdnotes.supernotes.note_sentences import links_at
from crowdnotes.text.note_rules import NOTE_LIMIT, URL_WEIGHT, find_urls, note_length, without_urls
from crowdnotes.text.urls import canonical_url
from crowdnotes.wording import say

MAX_LINKS = 3  # each costs a character and a space
LOCAL = MadeBy("local")
_NOTES_A_CALL = 6  # more than a note of 280 characters can hold
_PROMPT_TOKENS = 1_500  # of the instructions and the post
_LETTERS_A_TOKEN = 4
_ANSWER_TOKENS = 150  # of one candidate, its quotes included


def budget_for(notes: Sequence[ExistingNote]) -> int:
    """Characters for the words of a note that may link to the pages of these notes."""
    return NOTE_LIMIT - min(MAX_LINKS, len(pages_of(notes))) * (URL_WEIGHT + 1)


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


def cost(plan: Sequence[Sequence[ExistingNote]], evidence: Sequence[Evidence], a_call: int) -> Usage:
    """What the calls of a plan will take, each giving so many candidates: an estimate, before anything is spent."""
    pages = sum(len(item.passage.text) for item in evidence)
    letters = sum(pages + sum(len(note.text) + 200 for note in drawn) for drawn in plan)
    return Usage(
        calls=len(plan),
        input_tokens=len(plan) * _PROMPT_TOKENS + letters // _LETTERS_A_TOKEN,
        output_tokens=len(plan) * a_call * _ANSWER_TOKENS,
        estimated=True,
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
        text += between(text)
        parts.append(
            SupernoteSentence(
                span=Span(start=len(text), end=len(text) + len(words)),
                notes=tuple(dict.fromkeys(sentence.notes)),
                carriers=sentence.carriers,
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


def between(text: str) -> str:
    """What stands between a text and the next sentence: the stop too that a writer left out at the end of a line."""
    if not text:
        return ""
    return " " if text.rstrip("\"'”’)]»")[-1:] in _STOPS else ". "


_STOPS = ".!?…:;。！？؟۔"


def _check(sentences: Sequence[NoteSentence], by_id: dict[str, ExistingNote], passages: dict[str, Evidence]) -> None:
    if not any(sentence.text.strip() for sentence in sentences):
        raise EngineError(say("candidates_checked.no_words"))
    for sentence in sentences:
        unknown = [note for note in sentence.notes if note not in by_id]
        unknown += [item.evidence_id for item in sentence.carriers if item.evidence_id not in passages]
        if unknown:
            raise EngineError(say("candidates_checked.unknown", id=unknown[0]))
        if not sentence.notes:
            raise EngineError(say("candidates_checked.no_note"))
        theirs = {canonical_url(url.url) for note in sentence.notes for url in find_urls(by_id[note].text)}
        if any(canonical_url(url.url) not in theirs for url in find_urls(sentence.text) if url.has_scheme):
            raise EngineError(say("candidates_checked.own_link"))


def _links_for(
    sentence: NoteSentence,
    by_id: dict[str, ExistingNote],
    passages: dict[str, Evidence],
    read: Collection[str],
    states: dict[str, LinkState],
) -> list[str]:
    """The links that a sentence may carry, best first."""
    carrying = [url for item in sentence.carriers if (url := passages[item.evidence_id].source.url)]
    own = [url for note in sentence.notes for url in links_at(by_id[note].text).get(sentence.text, ())]
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
