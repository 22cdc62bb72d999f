"""Candidate notes by a language model: three in one call, each sentence with the words of a passage that carry it.

Augmentation and automation use the same writer (CrowdNotes+ appendix D.3). Nobody sees a note before the program has
found its words in the passages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from crowdnotes.domain import AnswerKind, Basis, Evidence, PassageAnswer, Quotation, Settlement, Source
from crowdnotes.engines.base import Brief, EngineStep, WriterAnswer, Written, WrittenSentence
from crowdnotes.engines.llm.asking import Asker
from crowdnotes.engines.llm.claims import brief_blocks
from crowdnotes.engines.llm.parsing import Answer, PassageId, has_handle, sanitized
from crowdnotes.engines.llm.request import Block, near, passage_block, question
from crowdnotes.engines.prompt_injection import find_injections, holds_injection, visible, without_injections
from crowdnotes.errors import AnswerUnreadableError
from crowdnotes.text.note_rules import find_urls, note_length
from crowdnotes.text.publishers import with_publishers_named
from crowdnotes.text.quotes import find_quote, tells_enough
from crowdnotes.wording import say

# For text in which one space stands between words.
_MARKS = re.compile(r" ?[(\[] ?(?:passages? |evidence )?([EN]\d++(?: ?[,;&] ?[EN]\d++)*+) ?[)\]]")
_LINK = re.compile(r"https?://\S", re.IGNORECASE)
_LINK_WORD = re.compile(r"\b(?:sources?|links?|via|see|read more|more)$", re.IGNORECASE)
_ECHO_WORDS = 5


def clean_note(text: str, offered: Sequence[str]) -> str:
    """One line without marks like [E1] and without links put behind the words; links are the program's to add.

    Raises AnswerUnreadableError for what cannot be mended: a mark that was not offered, a link or account
    name inside the words, or words that speak to a model.
    """
    line = " ".join(visible(text).split())
    for match in _MARKS.finditer(line):
        for mark in re.findall(r"[EN]\d+", match.group(1)):
            if mark not in offered:
                raise AnswerUnreadableError(say("answers.not_given", id=mark))
    line = _without_closing_links(" ".join(_MARKS.sub("", line).split()))
    if find_urls(line):
        raise AnswerUnreadableError(say("answers.own_link"))
    if has_handle(line):
        raise AnswerUnreadableError(say("answers.names_account"))
    if holds_injection(line):
        raise AnswerUnreadableError(say("answers.injected"))
    if not line:
        raise AnswerUnreadableError(say("answers.empty_note"))
    return line


def _without_closing_links(line: str) -> str:
    """The line without the links at its end and the "Source:" or bracket before them."""
    words = line.split(" ")
    first = len(words)
    while first and (not words[first - 1].strip(",;)]") or _LINK.match(words[first - 1].lstrip(",;)]"))):
        first -= 1
    closing = " ".join(words[max(0, first - 1) :])  # with the last word that is none: a link may begin inside it
    link = _LINK.search(closing)
    if link is None:
        return line
    head = line[: len(line) - len(closing) + link.start()].rstrip().removesuffix(":").rstrip()
    word = _LINK_WORD.search(head[-12:])
    return (head[: len(head) - len(word.group())] if word else head).rstrip(" ([")


def known_ids(ids: Sequence[str], offered: Sequence[str]) -> tuple[str, ...]:
    """The ids as offered, each once. Raises AnswerUnreadableError for one that was not offered."""
    kept: dict[str, None] = {}
    for raw in ids:
        wanted = raw.strip()
        if wanted not in offered:
            raise AnswerUnreadableError(say("answers.passage_not_given"))
        kept[wanted] = None
    return tuple(kept)


def echoes_injection(note: str, texts: Sequence[str]) -> bool:
    """Whether the note says five words in a row that stand in an injection in one of the texts."""
    said = _runs(note)
    return any(said & _runs(visible(text[span.start : span.end])) for text in texts for span in find_injections(text))


def _runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + _ECHO_WORDS]) for i in range(len(words) - _ECHO_WORDS + 1)}


_SPARE = 35  # models miscount, and a note too long is lost
_MOST_PASSAGES = 4  # a note of 280 characters holds no more facts
_ROOM = {AnswerKind.STATED: 1_000, AnswerKind.INFERRED: 600}  # characters of a passage around the words found in it
_REASON = 260
_ABSTAINED = {"not_needed": "model.not_needed", "not_enough_evidence": "model.not_enough"}
_GIVES = {AnswerKind.STATED: "states what settles", AnswerKind.INFERRED: "helps to infer"}
_BASES = {basis.value: basis for basis in Basis}


class QuotedWords(Answer):
    """Words of a passage, by its id."""

    id: PassageId
    quote: str


class SentenceAnswer(Answer):
    """A sentence of a note, and what carries it."""

    text: str
    passages: list[QuotedWords] = Field(default_factory=list)
    basis: str = "inferred"


class NoteInSentences(Answer):
    """One note."""

    sentences: list[SentenceAnswer]


class WritingAnswer(Answer):
    """See writing.md."""

    reason: str
    decision: Literal["note", "not_needed", "not_enough_evidence"]
    notes: list[NoteInSentences] = Field(default_factory=list)


def write_notes(
    asker: Asker,
    brief: Brief,
    evidence: Sequence[Evidence],
    budget: int,
    count: int,
    *,
    temperature: float,
    earlier: Sequence[str],
) -> WriterAnswer:
    """Up to `count` different notes of at most `budget` characters, in the order in which the model wrote them.

    Raises EngineError when it neither abstains nor writes one whose words are in the passages.
    """
    if not evidence or count <= 0:
        return WriterAnswer(abstained=say("model.no_passage"))

    def check(answer: WritingAnswer) -> None:
        good, faults = _good(answer, brief, evidence, budget)
        if answer.decision == "note" and not good:
            raise AnswerUnreadableError(" ".join(faults) or say("answers.no_note"))

    blocks = [*brief_blocks(brief), *passages_for(brief, evidence)]
    if earlier:
        blocks.append(Block("notes proposed before", "\n".join(earlier)))
    asked = question(
        EngineStep.WRITING,
        "writing",
        WritingAnswer,
        blocks,
        values=bounds(budget),
        check=check,
        temperature=temperature,
    )
    answer = asker.ask(asked).value
    if answer.decision != "note":
        reason = sanitized(answer.reason, _REASON) or say("model.no_reason")
        return WriterAnswer(abstained=say(_ABSTAINED[answer.decision], reason=reason))
    good, faults = _good(answer, brief, evidence, budget)
    return WriterAnswer(tuple(good[:count]), lost=tuple(faults))


def bounds(budget: int) -> dict[str, object]:
    """What the rules of a note say of its length."""
    return {"budget": budget, "target": max(1, budget - _SPARE)}


def passages_for(brief: Brief, evidence: Sequence[Evidence]) -> list[Block]:
    """The passages to write from, around the words found in them; those that only share the topic are left out.

    Whole, where none was found to answer or nobody has asked: then a person chose them.
    """
    settlement = brief.settlement
    answering = _in_turn(settlement, evidence)[:_MOST_PASSAGES] if settlement is not None else []
    if not answering or settlement is None:
        return [passage_block(item, brief.today) for item in evidence]
    chosen = {item.id: _around(item, settlement.all_of(item)) for item in answering}
    # What a person chose to use is shown whatever a model says of it, unless it speaks to programs.
    for item in evidence:
        answer = settlement.of(item)
        if answer is None or (item.used and not answer.to_program):
            chosen.setdefault(item.id, item)
    # Only whether it answers, and not what a model said of it: it had read pages that may give orders.
    several = len(brief.checkable) > 1
    gives = {item.id: _gives(settlement.all_of(item), several=several) for item in answering}
    return [
        passage_block(chosen[item.id], brief.today, gives.get(item.id, "")) for item in evidence if item.id in chosen
    ]


def _in_turn(settlement: Settlement, evidence: Sequence[Evidence]) -> list[Evidence]:
    """The passages that answer, those first that state it; among them the claims take turns."""
    turns: Counter[tuple[AnswerKind, int]] = Counter()
    places: dict[str, tuple[bool, int, int]] = {}
    answering = [item for item, _ in settlement.answers(evidence)]
    for item in answering:
        for answer in settlement.all_of(item):
            turns[answer.answer, answer.claim] += 1
            place = (answer.answer is not AnswerKind.STATED, turns[answer.answer, answer.claim], answer.claim)
            places[item.id] = min(place, places.get(item.id, place))
    return sorted(answering, key=lambda item: places[item.id])


def _gives(answers: Sequence[PassageAnswer], *, several: bool) -> str:
    """As in "states what settles claim 1, helps to infer claim 2"."""
    said = (f"{_GIVES[one.answer]} {f'claim {one.claim}' if several else 'the claim'}" for one in answers)
    return ", ".join(dict.fromkeys(said))


def _around(item: Evidence, answers: Sequence[PassageAnswer]) -> Evidence:
    found = [answer.span for answer in answers if answer.span is not None]
    return near(item, found, max(_ROOM[answer.answer] for answer in answers))


def _good(
    answer: WritingAnswer, brief: Brief, evidence: Sequence[Evidence], budget: int
) -> tuple[list[Written], list[str]]:
    """The notes that hold, and what is wrong with each of the others."""
    good: dict[str, Written] = {}
    faults: list[str] = []
    for note in answer.notes:
        try:
            written = checked_note(note.sentences, brief, evidence, budget)
        except AnswerUnreadableError as error:
            faults.append(error.message)
        else:
            good.setdefault(written.text, written)
    return list(good.values()), list(dict.fromkeys(faults))


def checked_note(
    sentences: Sequence[SentenceAnswer], brief: Brief, evidence: Sequence[Evidence], budget: int
) -> Written:
    """The note of these sentences, each with the place of the words that carry it.

    Raises AnswerUnreadableError, with what is wrong in words that the model can mend: words that stand in no passage,
    a note that is too long, what `clean_note` refuses.
    """
    passages = {item.id: without_injections(item.passage.text) for item in evidence}
    texts = [brief.post.whole_text, *(item.passage.text for item in evidence)]
    sources = [item.source for item in evidence]
    checked = [_checked(item, passages, sources) for item in sentences if item.text.strip()]
    text = " ".join(item.text for item in checked)
    if not text:
        raise AnswerUnreadableError(say("answers.empty_note"))
    if echoes_injection(text, texts):
        raise AnswerUnreadableError(say("answers.injected"))
    length = note_length(text)
    if length > budget:
        raise AnswerUnreadableError(say("answers.too_long", length=length, most=budget, words=sanitized(text, 60)))
    ids = dict.fromkeys(carrier.evidence_id for item in checked for carrier in item.carriers)
    return Written(text, tuple(ids), tuple(checked))


def _checked(item: SentenceAnswer, passages: dict[str, str], sources: Sequence[Source]) -> WrittenSentence:
    text = clean_note(with_publishers_named(item.text, sources), list(passages))
    carriers = found_carriers(item.passages, passages)
    if not carriers:
        raise AnswerUnreadableError(say("answers.nothing_carries", words=sanitized(text, 80)))
    basis = _BASES.get(item.basis.strip().lower(), Basis.INFERRED)
    return WrittenSentence(text, carriers, basis)


def found_carriers(quoted: Sequence[QuotedWords], passages: Mapping[str, str]) -> tuple[Quotation, ...]:
    """Where the quoted words stand in the passages, by id. Raises AnswerUnreadableError where they do not."""
    carriers: list[Quotation] = []
    for words in quoted:
        (name,) = known_ids([words.id], list(passages))
        span = find_quote(passages[name], words.quote)
        if span is None:
            raise AnswerUnreadableError(say("answers.not_in_passage", id=name, words=sanitized(words.quote, 80)))
        if not tells_enough(words.quote):
            raise AnswerUnreadableError(say("answers.too_little", words=sanitized(words.quote, 40)))
        carriers.append(Quotation(evidence_id=name, span=span))
    return tuple(carriers)
