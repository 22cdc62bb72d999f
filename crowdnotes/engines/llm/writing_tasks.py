"""Writes candidate notes with a language model; a judge grades them and revises the best one.

Three notes in one call, each sentence with the words of a passage that support it; nobody sees a note before the
program has found these words there. Augmentation and automation use the same writer (CrowdNotes+ appendix D.3). The
judge sees the notes in a mixed order; if the best two are close it is asked again in the opposite order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol, TypeVar

from pydantic import Field

from crowdnotes.domain import (
    AnswerKind,
    Basis,
    Draft,
    Evidence,
    PassageAnswer,
    Post,
    Quotation,
    Settlement,
    Source,
    Span,
    text_sha256,
)
from crowdnotes.engines.base import Brief, EngineStep, Revision, WriterAnswer, Written, WrittenSentence
from crowdnotes.engines.llm.calls import ModelClient
from crowdnotes.engines.llm.parsing import MAX_OBJECTION_CHARACTERS, Answer, Objection, PassageId, has_handle, sanitized
from crowdnotes.engines.llm.request import Block, passage_block, post_block, question
from crowdnotes.engines.llm.search_tasks import brief_blocks
from crowdnotes.engines.prompt_injection import find_injections, holds_injection, visible, without_injections
from crowdnotes.engines.prompts import load_prompt
from crowdnotes.errors import AnswerUnreadableError, ModelAnswerError
from crowdnotes.text.boilerplate import split_evidence
from crowdnotes.text.note_rules import find_urls, note_length, without_urls
from crowdnotes.text.publishers import with_publishers_named
from crowdnotes.text.quotes import find_quote, tells_enough
from crowdnotes.text.tokens import content_stems
from crowdnotes.wording import fill, plural

# For text with one space between words.
_CITATION_MARK = re.compile(r" ?[(\[] ?(?:passages? |evidence )?([EN]\d++(?: ?[,;&] ?[EN]\d++)*+) ?[)\]]")
_URL_START = re.compile(r"https?://\S", re.IGNORECASE)
_TRAILING_LINK_LABEL = re.compile(r"\b(?:sources?|links?|via|see|read more|more)$", re.IGNORECASE)
_ECHO_WORDS = 5


def clean_note(text: str, offered: Sequence[str]) -> str:
    """Return one line without marks like [E1] and without links after the words; the program adds links.

    Raises AnswerUnreadableError for what cannot be corrected: a mark that was not offered, a link or account name
    inside the words, or words that speak to a model.
    """
    line = " ".join(visible(text).split())
    for match in _CITATION_MARK.finditer(line):
        for mark in re.findall(r"[EN]\d+", match.group(1)):
            if mark not in offered:
                raise AnswerUnreadableError(f"The model cited {mark}, which it was not given.")
    line = _strip_closing_links(" ".join(_CITATION_MARK.sub("", line).split()))
    if find_urls(line):
        raise AnswerUnreadableError("The AI made up a link.")
    if has_handle(line):
        raise AnswerUnreadableError("The model named an account in the note.")
    if holds_injection(line):
        raise AnswerUnreadableError("The model passed on words that speak to a model.")
    if not line:
        raise AnswerUnreadableError("The model said that it wrote a note, and left it empty.")
    return line


def _strip_closing_links(line: str) -> str:
    """Return the line without the links at its end and the "Source:" or bracket before them."""
    words = line.split(" ")
    first = len(words)
    while first and (not words[first - 1].strip(",;)]") or _URL_START.match(words[first - 1].lstrip(",;)]"))):
        first -= 1
    closing = " ".join(words[max(0, first - 1) :])  # with the word before: a link may begin inside it
    link = _URL_START.search(closing)
    if link is None:
        return line
    head = line[: len(line) - len(closing) + link.start()].rstrip().removesuffix(":").rstrip()
    word = _TRAILING_LINK_LABEL.search(head[-12:])
    return (head[: len(head) - len(word.group())] if word else head).rstrip(" ([")


def check_ids(ids: Sequence[str], offered: Sequence[str]) -> tuple[str, ...]:
    """Return the ids as offered, each once. Raises AnswerUnreadableError for one that was not offered."""
    kept: dict[str, None] = {}
    for raw in ids:
        wanted = raw.strip()
        if wanted not in offered:
            raise AnswerUnreadableError("The model cited a passage that it was not given.")
        kept[wanted] = None
    return tuple(kept)


def echoes_injection(note: str, texts: Sequence[str]) -> bool:
    """Return whether the note has five words in a row from an injection in one of the texts."""
    said = _list_word_runs(note)
    return any(
        said & _list_word_runs(visible(text[span.start : span.end])) for text in texts for span in find_injections(text)
    )


def _list_word_runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + _ECHO_WORDS]) for i in range(len(words) - _ECHO_WORDS + 1)}


_CHARACTERS_PER_WORD = 6.9  # in real notes: 40 words fill 276. Models count words better than letters
_MAX_PASSAGES = 4  # a note of 280 characters holds no more facts
_MAX_REASON_CHARACTERS = 260
_MESSAGE_BY_DECISION = {"not_needed": "Not needed: {reason}", "not_enough_evidence": "Not enough evidence: {reason}"}
_PHRASE_BY_ANSWER = {AnswerKind.STATED: "states what settles", AnswerKind.INFERRED: "helps to infer"}
_BASIS_BY_NAME = {basis.value: basis for basis in Basis}


class QuotedWords(Answer):
    """Words of a passage, by its id."""

    id: PassageId
    quote: str


class SentenceAnswer(Answer):
    """A sentence of a note, and the words that support it."""

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
    model_client: ModelClient,
    brief: Brief,
    evidence: Sequence[Evidence],
    budget: int,
    count: int,
    *,
    temperature: float,
    earlier: Sequence[str],
) -> WriterAnswer:
    """Return up to `count` different notes of at most `budget` characters, in the order the model wrote them.

    Raises EngineError if it neither abstains nor writes one whose words are in the passages.
    """
    if not evidence or count <= 0:
        return WriterAnswer(abstained="No source to write from.")

    def check(answer: WritingAnswer) -> None:
        good, faults = _split_valid_notes(answer, brief, evidence, budget)
        if answer.decision == "note" and not good:
            raise AnswerUnreadableError(" ".join(faults) or "There is no note in it.")

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
    answer = model_client.ask(asked).value
    if answer.decision != "note":
        reason = sanitized(answer.reason, _MAX_REASON_CHARACTERS) or "The AI gave no reason."
        return WriterAnswer(abstained=fill(_MESSAGE_BY_DECISION[answer.decision], reason=reason))
    good, faults = _split_valid_notes(answer, brief, evidence, budget)
    return WriterAnswer(tuple(good[:count]), lost=tuple(faults))


def bounds(budget: int) -> dict[str, object]:
    """Return the values for the rules on the length of a note."""
    return {"budget": budget, "words": max(1, round(budget / _CHARACTERS_PER_WORD))}


def passages_for(
    brief: Brief, evidence: Sequence[Evidence], *, every: bool = False, notes: Sequence[Draft] = ()
) -> list[Block]:
    """Return the passages to write from, as the judge saw them; without those that answer nothing, unless `every`.

    All of them if none was found to answer or nobody has asked: then a person chose them. A judge of `notes` sees of
    each only what answers a claim and what the notes rest on, with its surroundings; with `every`, of those that the
    notes cite as much as their writer saw.
    """
    settlement = brief.settlement
    answering = _choose_answering(settlement, evidence) if settlement is not None else []
    if not answering or settlement is None:
        return [passage_block(item, brief.today) for item in evidence]
    chosen = {item.id for item in answering}
    # What a person chose is shown whatever a model says about it, unless it speaks to programs.
    for item in evidence:
        answer = settlement.of(item)
        if answer is None or ((item.used or every) and not answer.to_program):
            chosen.add(item.id)
    cited = {evidence_id for note in notes for evidence_id in note.evidence_ids}
    # Only whether it answers, not what a model said about it: that model had read pages that may give orders.
    several = len(brief.checkable) > 1
    gives = {item.id: _describe_answers(settlement.all_of(item), several=several) for item in answering}
    return [
        passage_block(
            item,
            brief.today,
            gives.get(item.id, ""),
            [*(answer.span for answer in settlement.all_of(item) if answer.span), *_list_note_spans(notes, item)],
            is_brief=bool(notes) and not (every and item.id in cited),
        )
        for item in evidence
        if item.id in chosen
    ]


def _choose_answering(settlement: Settlement, evidence: Sequence[Evidence]) -> list[Evidence]:
    """Return the few passages that their judge would write from, or the first that answer if it named none.

    First comes one passage for each claim that is stated, with its other half if it takes two, then others that state
    an answer, then the rest.
    """
    answering = _drop_astray_links(settlement, _interleave_by_claim(settlement, evidence))
    best = [item for name in settlement.best for item in answering if item.id == name]
    if not best:
        return answering[:_MAX_PASSAGES]
    stated = {
        item.id: {one.claim for one in settlement.all_of(item) if one.answer is AnswerKind.STATED} for item in answering
    }
    best.sort(key=lambda item: not stated[item.id])
    covering: list[Evidence] = []
    for item in [*best, *answering]:
        if stated[item.id] - {claim for other in covering for claim in stated[other.id]}:
            covering.append(item)
            others = {one.other for one in settlement.all_of(item)}
            covering += [half for half in answering if half.id in others and half not in covering]
    return [*covering, *(item for item in best if item not in covering)][:_MAX_PASSAGES]


def _drop_astray_links(settlement: Settlement, answering: Sequence[Evidence]) -> list[Evidence]:
    """Drop passages whose link does not lead to their words, if others state the same answer.

    Keep what is only inferred: two such passages may infer it from different facts.
    """
    stated = {
        (one.claim, one.points)
        for item in answering
        if not item.source.astray
        for one in settlement.all_of(item)
        if one.answer is AnswerKind.STATED and not one.other
    }
    return [
        item
        for item in answering
        if not item.source.astray
        or any(
            one.answer is AnswerKind.INFERRED or one.other or (one.claim, one.points) not in stated
            for one in settlement.all_of(item)
        )
    ]


_MIN_NEW_WORDS = 2  # of the notes, in a sentence of a passage, that are not shown yet


def _list_note_spans(notes: Sequence[Draft], item: Evidence) -> list[Span]:
    """Return the places of a passage that notes rest on: quoted words, and sentences with other words of them."""
    text = item.passage.text
    spans = [one.carrier for note in notes for one in note.sentences if one.evidence_id == item.id and one.carrier]
    if item.id not in {evidence_id for note in notes for evidence_id in note.evidence_ids}:
        return spans
    missing = content_stems(" ".join(without_urls(note.text) for note in notes))
    missing -= {stem for span in spans for stem in content_stems(text[span.start : span.end])}
    for sentence in split_evidence(text):
        held = content_stems(text[sentence.start : sentence.end]) & missing
        if len(held) >= _MIN_NEW_WORDS:
            spans.append(sentence)
            missing -= held
    return spans


def _interleave_by_claim(settlement: Settlement, evidence: Sequence[Evidence]) -> list[Evidence]:
    """Return the passages that answer, those first that state it; among them the claims take turns."""
    turns: Counter[tuple[AnswerKind, int]] = Counter()
    places: dict[str, tuple[bool, int, int]] = {}
    answering = [item for item, _ in settlement.answers(evidence)]
    for item in answering:
        for answer in settlement.all_of(item):
            turns[answer.answer, answer.claim] += 1
            place = (answer.answer is not AnswerKind.STATED, turns[answer.answer, answer.claim], answer.claim)
            places[item.id] = min(place, places.get(item.id, place))
    return sorted(answering, key=lambda item: places[item.id])


def _describe_answers(answers: Sequence[PassageAnswer], *, several: bool) -> str:
    """Return for example "states what settles claim 1, helps to infer claim 2": the best for each claim."""
    stated = {one.claim for one in answers if one.answer is AnswerKind.STATED}
    said = {one.claim: AnswerKind.STATED if one.claim in stated else one.answer for one in answers}
    claims = {claim: f"claim {claim}" if several else "the claim" for claim in said}
    return ", ".join(f"{_PHRASE_BY_ANSWER[kind]} {claims[claim]}" for claim, kind in said.items())


def _split_valid_notes(
    answer: WritingAnswer, brief: Brief, evidence: Sequence[Evidence], budget: int
) -> tuple[list[Written], list[str]]:
    """Return the valid notes, and what is wrong with each of the others."""
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
    """Return the note of these sentences, each with the place of the words that support it.

    A note that is too long loses its last sentences: each rests on a passage by itself, and the first answers the
    claim. Raises AnswerUnreadableError, with what is wrong in words that the model can correct: quotes that occur in no
    passage, a note that is too long, what `clean_note` refuses.
    """
    passages = {item.id: without_injections(item.passage.text) for item in evidence}
    texts = [brief.post.whole_text, *(item.passage.text for item in evidence)]
    sources = [item.source for item in evidence]
    checked = [_check_sentence(item, passages, sources) for item in sentences if item.text.strip()]
    text = " ".join(item.text for item in checked)
    if not text:
        raise AnswerUnreadableError("The model said that it wrote a note, and left it empty.")
    if echoes_injection(text, texts):
        raise AnswerUnreadableError("The model passed on words that speak to a model.")
    length, whole = note_length(text), list(checked)
    while len(checked) > 1 and note_length(" ".join(item.text for item in checked)) > budget:
        checked.pop()
    text = " ".join(item.text for item in checked)
    if note_length(text) > budget:
        raise AnswerUnreadableError(
            f"A note has {length} characters, and {budget} is the most: “{sanitized(text, 60)}”"
        )
    ids = dict.fromkeys(carrier.evidence_id for item in checked for carrier in item.carriers)
    return Written(text, tuple(ids), tuple(checked), _describe_cut(whole[len(checked) :], length - budget))


def _describe_cut(left_out: Sequence[WrittenSentence], excess: int) -> str:
    if not left_out:
        return ""
    words = " ".join(item.text for item in left_out)
    return f"Left out, as the note was {plural(excess, '1 character', '{n} characters')} too long: “{words}”"


def _check_sentence(item: SentenceAnswer, passages: dict[str, str], sources: Sequence[Source]) -> WrittenSentence:
    text = clean_note(with_publishers_named(item.text, sources), list(passages))
    carriers = locate_quotes(item.passages, passages)
    if not carriers:
        raise AnswerUnreadableError(f"Nothing is given that carries “{sanitized(text, 80)}”")
    basis = _BASIS_BY_NAME.get(item.basis.strip().lower(), Basis.INFERRED)
    return WrittenSentence(text, carriers, basis)


def locate_quotes(quoted: Sequence[QuotedWords], passages: Mapping[str, str]) -> tuple[Quotation, ...]:
    """Return where the quoted words occur, by passage id. Raises AnswerUnreadableError if they do not."""
    carriers: list[Quotation] = []
    for words in quoted:
        (name,) = check_ids([words.id], list(passages))
        span = find_quote(passages[name], words.quote)
        if span is None:
            raise AnswerUnreadableError(f"These words do not stand in {name}: “{sanitized(words.quote, 80)}”")
        if not tells_enough(words.quote):
            raise AnswerUnreadableError(f"“{sanitized(words.quote, 40)}” is too little to carry a sentence.")
        carriers.append(Quotation(evidence_id=name, span=span))
    return tuple(carriers)


_CLOSE_GRADE_GAP = 0.5  # grades of 0 to 10 that differ by less may depend on the order
_NOTE_LETTERS = "ABCDEFGHIJ"


class Grade(Answer):
    """The judge's opinion of one note."""

    note: str
    objections: list[Objection] = Field(default_factory=list)
    grade: float = Field(ge=0, le=10)


class FinalNote(Answer):
    """The best note, revised."""

    sentences: list[SentenceAnswer]
    changes: str = ""


class RevisionAnswer(Answer):
    """See revision.md."""

    grades: list[Grade]
    final: FinalNote


def revise(
    model_client: ModelClient, brief: Brief, evidence: Sequence[Evidence], notes: Sequence[Draft], budget: int
) -> Revision:
    """Return the notes in the judge's order, with its objections, and the best one revised. Raises EngineError."""
    answer, order, grades = grade_in_mixed_order(
        len(notes), notes[0].sha256, lambda order: _ask_to_revise(model_client, brief, evidence, notes, order, budget)
    )
    given = grades_by_place(answer.grades, order)
    final = answer.final
    inferred = [note.is_inferred(brief.settlement, evidence) for note in notes]
    return Revision(
        order=tuple(sorted(grades, key=lambda place: (inferred[place], -grades[place], place))),
        objections=tuple(
            describe_objections(notes[place].text, given[place].objections) for place in range(len(notes))
        ),
        final=checked_note(final.sentences, brief, evidence, budget) if final.sentences else None,
        changes=sanitized(final.changes, MAX_OBJECTION_CHARACTERS),
    )


class Graded(Protocol):
    """An answer that grades each of several texts."""

    @property
    def grades(self) -> Sequence[Grade]:
        """One per text."""
        ...


G = TypeVar("G", bound=Graded)


def grade_in_mixed_order(
    count: int, key: str, ask: Callable[[Sequence[int]], G]
) -> tuple[G, Sequence[int], dict[int, float]]:
    """Return a judge's answer on texts in a mixed order, that order, and the grades by place.

    If the best two are close it is asked again in the opposite order, and the means count. `key` sets the order: the
    same each time, so that cached answers are found.
    """
    order = sorted(range(count), key=lambda place: text_sha256(f"{place} {key}"))
    answer = ask(order)
    grades = {place: item.grade for place, item in grades_by_place(answer.grades, order).items()}
    if count == 1:
        return answer, order, grades
    best, second = sorted(grades.values(), reverse=True)[:2]
    if best - second >= _CLOSE_GRADE_GAP:
        return answer, order, grades
    turned = order[::-1]
    try:
        answer_turned = ask(turned)
    except ModelAnswerError:
        return answer, order, grades  # keep the first answer
    again = grades_by_place(answer_turned.grades, turned)
    return answer_turned, turned, {place: (grades[place] + again[place].grade) / 2 for place in grades}


def grades_by_place(grades: Sequence[Grade], order: Sequence[int]) -> dict[int, Grade]:
    """Return each grade by the place of its text, given the order in which they were shown."""
    return {order[_NOTE_LETTERS.index(_parse_letter(item.note))]: item for item in grades}


def assign_letters(order: Sequence[int]) -> list[tuple[str, int]]:
    """Return the letter under which each place is shown."""
    return list(zip(_NOTE_LETTERS, order, strict=False))


def check_grades(grades: Sequence[Grade], count: int) -> None:
    """Raise AnswerUnreadableError unless each text has one grade."""
    letters = _NOTE_LETTERS[:count]
    if sorted(_parse_letter(item.note) for item in grades) != list(letters):
        raise AnswerUnreadableError(f"Each of the notes {', '.join(letters)} needs one grade.")


def _ask_to_revise(
    model_client: ModelClient,
    brief: Brief,
    evidence: Sequence[Evidence],
    notes: Sequence[Draft],
    order: Sequence[int],
    budget: int,
) -> RevisionAnswer:
    mends = len(notes) == 1 and bool(notes[0].objections)

    def check(answer: RevisionAnswer) -> None:
        check_grades(answer.grades, len(order))
        if answer.final.sentences or not mends:
            checked_note(answer.final.sentences, brief, evidence, budget)

    shown = []
    for letter, place in assign_letters(order):
        objections = notes[place].objections
        wrong = ["Found wrong by a check:", *objections] if objections else []
        shown.append(Block(f"note {letter}", "\n".join([without_urls(notes[place].text).strip(), *wrong])))
    # What a check found missing may be in a passage that no note cites. Of 20 notes that were only compared none took a
    # fact from such a passage.
    cited = {evidence_id for note in notes for evidence_id in note.evidence_ids}
    chosen = evidence if mends else [item for item in evidence if item.used or item.id in cited]
    blocks = [*brief_blocks(brief), *passages_for(brief, chosen, every=mends, notes=notes), *shown]
    values = {**bounds(budget), "mending": load_prompt("revision_mending").words if mends else ""}
    return model_client.ask(
        question(EngineStep.JUDGING, "revision", RevisionAnswer, blocks, values=values, check=check)
    ).value


def _parse_letter(said: str) -> str:
    return said.upper().removeprefix("NOTE").removeprefix("CANDIDATE").strip(" []().:") or "?"


def describe_objections(note: str, objections: Sequence[Objection]) -> tuple[str, ...]:
    """Return the objections as texts with the words they are about; drop those about words that do not occur."""
    described: list[str] = []
    for item in objections:
        said = sanitized(item.objection, MAX_OBJECTION_CHARACTERS)
        if not said or (item.quote.strip() and find_quote(note, item.quote, whole=False) is None):
            continue
        described.append(f"“{sanitized(item.quote, 80)}”: {said}" if item.quote.strip() else said)
    return tuple(dict.fromkeys(described))


Preferred = Literal["left", "right", "tie"]


class ComparisonAnswer(Answer):
    """See comparison.md."""

    why: str = ""
    accuracy: Preferred
    directness: Preferred
    sources: Preferred
    neutrality: Preferred
    brevity: Preferred
    overall: Preferred


def compare(model_client: ModelClient, post: Post, left: str, right: str) -> ComparisonAnswer:
    """Return which of two notes the model prefers, by criterion. Raises EngineError."""
    blocks = [post_block(post), Block("left note", left), Block("right note", right)]
    return model_client.ask(question(EngineStep.JUDGING, "comparison", ComparisonAnswer, blocks)).value


class SourcesAnswer(Answer):
    """See source_comparison.md."""

    why: str = ""
    better: Preferred


def compare_sources(model_client: ModelClient, post: Post, left: str, right: str) -> SourcesAnswer:
    """Return which of two sets of sources the model finds more useful. Raises EngineError."""
    blocks = [post_block(post), Block("left sources", left), Block("right sources", right)]
    return model_client.ask(question(EngineStep.JUDGING, "source_comparison", SourcesAnswer, blocks)).value
