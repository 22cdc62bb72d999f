"""Split notes into sentences and links, choose the notes for each call, and build a candidate's text.

The engine returns sentences; links are the program's own, from the notes and pages that the sentences rest on.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import zip_longest

from crowdnotes.domain import Candidate, Evidence, ExistingNote, LinkCheck, LinkState, Span, SupernoteSentence, Usage
from crowdnotes.domain.base import LOCAL_ENGINE
from crowdnotes.engines import NoteSentence, ResultOrigin
from crowdnotes.engines.local import tone
from crowdnotes.engines.prompt_injection import holds_injection
from crowdnotes.errors import EngineError
from crowdnotes.evidence.duplicates import without_near_duplicates
from crowdnotes.notes.existing_notes import drawn_mean, links_of, pages_of
from crowdnotes.text.note_rules import (
    MAX_NOTE_LINKS,
    NOTE_LIMIT,
    URL_WEIGHT,
    characters_for_words,
    find_urls,
    note_length,
    without_urls,
)
from crowdnotes.text.sentences import split_sentences
from crowdnotes.text.urls import canonical_url, linkable

_LINK_LABEL = re.compile(
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
_SENTENCE_START = re.compile(r"\s+[\"“(]?[A-Z]")
_LIST_MARKER = re.compile(r"^\s*(?:\(?\d{1,2}[.)]\s*(?=\D)|[-•*–]\s+)")
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
# Continues the sentence before it.
_CONNECTIVES = (
    r"and|but|or|so|also|however|yet|still|then|thus|therefore|hence|moreover|furthermore|additionally|besides|"
    r"instead|rather|otherwise|nevertheless|nonetheless|meanwhile|likewise|similarly|consequently|conversely|indeed|"
    r"in (?:addition|fact|other words|contrast|short|reality|turn)|for (?:example|instance)|on the other hand|"
    r"as (?:such|a result)|after that|at that time|even (?:then|so)|what is more|not only that|since then"
)
_CONNECTIVE_START = re.compile(rf"^\W*(?:{_CONNECTIVES})\b", re.IGNORECASE)
# Continues it, or means something that it names.
_DEPENDENT_START = re.compile(
    rf"^\W*(?:{_CONNECTIVES}|"
    r"this|that|these|those|such|he|she|it|its|they|them|his|her|their|the (?:former|latter|same)|"
    r"the (?:article|report|study|paper|source|link|author|bill|law|statement)s?)\b",
    re.IGNORECASE,
)
# Means the post, or nothing before it: "This photo", "It is not known whether".
_INDEPENDENT_START = re.compile(
    r"^\W*(?:(?:this|that|the|these) (?:[\w-]+ ){0,2}?(?:post|tweet|claim|video|image|photo|picture|quote|account|meme|"
    r"screenshot|headline|clip|footage|graph|chart|user|poster|allegation|assertion|person)s?\b|"
    r"it (?:is|was|has been) (?:\w+ ){1,3}(?:that|who|whether|how|why)\b)",
    re.IGNORECASE,
)
# Ends the first clause, if a verb comes before: "In 2019, the agency approved it" is one clause.
_CLAUSE_END = re.compile(
    r"[,;:–—]\s|\b(?:and|but|or|which|who|whose|because|since|when|while|where|although|though|if|unless|until|"
    r"as|than|so|after|before)\b",
    re.IGNORECASE,
)
# Needs an earlier sentence to be understood: "it" is never its own clause's subject ("WHO recommends it"). Not so
# "its" and "their", which mostly mean the subject, "this year", and "those who", which what follows explains.
_BACKWARD_PRONOUN = re.compile(
    r"\b(?:it(?!(?:['’]s| is| was| has been) (?:\w+ ){1,3}(?:that|who|whether)\b)|they|them|he|him|she|"
    r"also(?! (?:known|called|named)\b)|however|instead(?! of\b)|these|such(?! as\b)|"
    r"this(?! (?:[\w-]+ )?(?:year|month|week|morning|summer|winter|spring|autumn|post|tweet|video|image|photo|picture|"
    r"claim|account)s?\b)|"
    r"those(?! (?:who|with|whose|in|of|at|from|that)\b)|both(?! (?:[\w-]+ ){1,3}?and\b))\b",
    re.IGNORECASE,
)
_MIN_WORDS_WITHOUT_VERB = 10  # words; fragments without a verb are shorter
_CAPITALISED_NAME = re.compile(r"\s[A-Z][a-z]{2,}")
_MIN_STEMS = 3  # one fewer with a name: "The river is the Aller."


def _split_note_sentences(text: str) -> Iterator[str]:
    """Split a note into sentences; one that begins right after a link counts as one of its own."""
    for span in split_sentences(text):
        words = text[span.start : span.end]
        start = 0
        for url in find_urls(words):
            if url.has_scheme and _SENTENCE_START.match(words, url.end):
                yield words[start : url.end].strip()
                start = url.end
        yield words[start:].strip()


@lru_cache(maxsize=1024)
def parts_of(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the sentences of a note without the links at their ends, each with its links or those of what follows."""
    found: list[tuple[str, list[str]]] = []
    open_from = 0  # the first sentence that the next links may belong to
    was_link = False
    for piece in _split_note_sentences(text):
        words = _LIST_MARKER.sub("", piece)
        urls = [url for url in find_urls(words) if url.link]
        bare = words
        for url in reversed(urls):
            if not any(char.isalnum() for char in bare[url.end :]):
                bare = bare[: url.start].rstrip(" ([<-–—:")
        if any(char.isalnum() for char in bare) and not _LINK_LABEL.match(bare):
            if was_link:
                open_from = len(found)
            found.append((bare.strip(), []))
            was_link = False
        if urls:
            for _, links in found[open_from:]:
                links.extend(url.link for url in urls)
            was_link = True
    return tuple((words, tuple(dict.fromkeys(links))) for words, links in found)


def links_at(text: str) -> dict[str, tuple[str, ...]]:
    """Return the links of a note by its sentences."""
    return dict(parts_of(text))


def is_sentence(words: str, stems: frozenset[str]) -> bool:
    """Return whether words are a whole statement that fits into a note as they are."""
    return (
        len(stems) >= _MIN_STEMS - bool(_CAPITALISED_NAME.search(words))
        and note_length(words) <= NOTE_LIMIT
        and not words[:1].islower()
        and not words.startswith(("(", "[", "…", "..."))
        and not words.endswith(("?", ":", ",", ";", "...", "…"))
        and words.count('"') % 2 == 0
        and words.count("(") == words.count(")")
        and (len(words.split()) >= _MIN_WORDS_WITHOUT_VERB or _VERB.search(words) is not None)
        and not _POINTS_AT_LINK.search(words)
        and not tone.matches(tone.ABOUT_NOTES, words)
        and not holds_injection(words)
    )


def goes_on(words: str) -> bool:
    """Return whether a sentence only continues another: "However", "For example"."""
    return _CONNECTIVE_START.match(words) is not None


def needs_previous_sentence(words: str) -> bool:
    """Return whether a sentence needs the one before it to be understood.

    By its opening ("This", "He", "The study", "However"), by a pronoun in its first clause ("WHO recommends it"), or by
    a comparison without what it compares with ("11 milligrams before and 11 after").
    Where the pronoun may mean the sentence's own subject ("the firm said it closed") it counts too: the sentence then
    only keeps its place.
    """
    if _INDEPENDENT_START.match(words):
        return False
    return (
        _DEPENDENT_START.match(words) is not None
        or _BACKWARD_PRONOUN.search(_find_first_clause(words)) is not None
        or _BARE_COMPARISON.search(words) is not None
    )


# Compares with what only an earlier sentence says: "11 milligrams before and 11 after", "the others were clean".
_BARE_COMPARISON = re.compile(
    r"\bthe others\b|\b(?:before(?:hand)?|after(?:wards?)?|earlier|later|the (?:rest|same)|otherwise|neither|either)"
    r"(?=\s*(?:[.;,!?]|$|and\b|but\b))",
    re.IGNORECASE,
)


def _find_first_clause(words: str) -> str:
    """Return the words up to the first end of a clause that has a verb; all of them where none has one."""
    verb = _VERB.search(words)
    end = next((e for e in _CLAUSE_END.finditer(words) if e.start() >= verb.end()), None) if verb else None
    return words[: end.start()] if end else words


LOCAL = ResultOrigin(LOCAL_ENGINE)
_MAX_NOTES_PER_CALL = 6  # more than a note of 280 characters can hold
_PROMPT_TOKENS = 1_500  # of the instructions and the post
_CHARACTERS_PER_TOKEN = 4
_TOKENS_PER_CANDIDATE = 150  # of one candidate, its quotes included


def budget_for(notes: Sequence[ExistingNote]) -> int:
    """Return the characters for the words of a note that may link to the pages of these notes."""
    return characters_for_words(len(pages_of(notes)))


def note_subsets(
    notes: Sequence[ExistingNote], calls: int, seed: int, among: Collection[str] = ()
) -> tuple[tuple[ExistingNote, ...], ...]:
    """Choose the notes that each call is shown, in its order: different subsets, while there are any.

    Each note is shown, and comes first, as often as any other, as far as the calls suffice. With `among` each call
    begins with one of the notes with these ids: what changed since the candidates that are kept.
    """
    chance = random.Random(seed)  # noqa: S311 - for variety, not for secrets
    leads = [note for note in notes if not among or note.id in among]
    if not leads:
        return ()
    shown = dict.fromkeys((note.id for note in notes), 0)
    turn: list[ExistingNote] = []
    seen: set[tuple[str, ...]] = set()
    found = []
    most = min(_MAX_NOTES_PER_CALL, len(notes))
    for _ in range(calls):
        if not turn:
            # Few calls may not reach all of many notes: those that raters like lead first.
            turn = sorted(chance.sample(leads, len(leads)), key=drawn_mean)
        lead = turn.pop()
        drawn: tuple[ExistingNote, ...] = (lead,)
        for _ in range(20):  # a subset that is not in the plan yet, if one is found
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
    """Estimate what the calls of a plan will take, each giving `a_call` candidates."""
    pages = sum(len(item.passage.text) for item in evidence)
    letters = sum(pages + sum(len(note.text) + 200 for note in drawn) for drawn in plan)
    return Usage(
        calls=len(plan),
        input_tokens=len(plan) * _PROMPT_TOKENS + letters // _CHARACTERS_PER_TOKEN,
        output_tokens=len(plan) * a_call * _TOKENS_PER_CANDIDATE,
        estimated=True,
    )


def build_candidate(
    sentences: Sequence[NoteSentence],
    notes: Sequence[ExistingNote],
    evidence: Sequence[Evidence],
    result_origin: ResultOrigin,
    links: Sequence[LinkCheck] = (),
) -> Candidate:
    """Build a note from these sentences, with at most three links of the notes and pages that support them.

    Each sentence gives a link in turn: first pages whose words support it, then pages that were read, then links that
    answer. A dead link is used only where a sentence has no other. Raises EngineError for an unknown note or passage,
    no words, or a link of the engine's own.
    """
    by_id = {note.id: note for note in notes}
    passages = {item.id: item for item in evidence}
    _check_references(sentences, by_id, passages)
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
    wanted = [_rank_links(sentence, by_id, passages, read, states) for sentence in sentences]
    chosen: dict[str, str] = {}
    for turn in zip_longest(*wanted):
        for url in turn:
            fits = note_length(" ".join([text, *chosen.values()])) + URL_WEIGHT + 1 <= NOTE_LIMIT
            if url is not None and len(chosen) < MAX_NOTE_LINKS and fits and canonical_url(url) not in there:
                chosen.setdefault(canonical_url(url), url)
    return Candidate(
        text=" ".join([text, *chosen.values()]),
        sentences=tuple(parts),
        engine=result_origin.engine,
        prompt_version=result_origin.prompt_version,
    )


def between(text: str) -> str:
    """Return what joins a text to the next sentence: a space, and the full stop that a writer left out."""
    if not text:
        return ""
    return " " if text.rstrip("\"'”’)]»")[-1:] in _SENTENCE_END_MARKS else ". "


_SENTENCE_END_MARKS = ".!?…:;。！？؟۔"


def _check_references(
    sentences: Sequence[NoteSentence], by_id: dict[str, ExistingNote], passages: dict[str, Evidence]
) -> None:
    if not any(sentence.text.strip() for sentence in sentences):
        raise EngineError("The AI wrote an empty note.")
    for sentence in sentences:
        unknown = [note for note in sentence.notes if note not in by_id]
        unknown += [item.evidence_id for item in sentence.carriers if item.evidence_id not in passages]
        if unknown:
            raise EngineError(f"The AI named {unknown[0]}, which it was not given.")
        if not sentence.notes:
            raise EngineError("The AI wrote a sentence that no note supports.")
        theirs = {canonical_url(url.url) for note in sentence.notes for url in find_urls(by_id[note].text)}
        if any(canonical_url(url.url) not in theirs for url in find_urls(sentence.text) if url.has_scheme):
            raise EngineError("The AI made up a link.")


def _rank_links(
    sentence: NoteSentence,
    by_id: dict[str, ExistingNote],
    passages: dict[str, Evidence],
    read: Collection[str],
    states: dict[str, LinkState],
) -> list[str]:
    carrying = [linkable(url) for item in sentence.carriers if (url := passages[item.evidence_id].source.url)]
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
    """Return the candidates without those that say nearly the same as an earlier one, and how many were dropped."""
    kept = without_near_duplicates(candidates, lambda item: without_urls(item.text))
    return tuple(kept), len(candidates) - len(kept)
