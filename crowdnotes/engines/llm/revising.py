"""One judge for all candidates: which is best, what is wrong with each, and the best one made better.

The order in which it sees them is mixed; where the best two are close it is asked again in the opposite order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, TypeVar

from pydantic import Field

from crowdnotes.domain import AnswerKind, Draft, Evidence, Post, text_sha256
from crowdnotes.engines.base import Brief, EngineStep, Revision
from crowdnotes.engines.llm.asking import Asker
from crowdnotes.engines.llm.claims import brief_blocks
from crowdnotes.engines.llm.parsing import Answer, Objection, sanitized
from crowdnotes.engines.llm.request import Block, post_block, question
from crowdnotes.engines.llm.writing import SentenceAnswer, bounds, checked_note, passages_for
from crowdnotes.errors import AnswerUnreadableError, ModelAnswerError
from crowdnotes.text.note_rules import without_urls
from crowdnotes.text.quotes import find_quote
from crowdnotes.wording import say

_CLOSE = 0.5  # grades of 0 to 10 that differ by less may turn with the order
_OBJECTION = 200
_LETTERS = "ABCDEFGHIJ"


class Grade(Answer):
    """What the judge thinks of one note."""

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


def revise(asker: Asker, brief: Brief, evidence: Sequence[Evidence], notes: Sequence[Draft], budget: int) -> Revision:
    """The notes in the judge's order, with its objections, and the best one revised. Raises EngineError."""
    answer, order, grades = in_mixed_order(
        len(notes), notes[0].sha256, lambda order: _ask(asker, brief, evidence, notes, order, budget)
    )
    given = by_place(answer.grades, order)
    final = answer.final
    return Revision(
        order=tuple(sorted(grades, key=lambda place: (notes[place].is_inferred, -grades[place], place))),
        objections=tuple(told_objections(notes[place].text, given[place].objections) for place in range(len(notes))),
        final=checked_note(final.sentences, brief, evidence, budget),
        changes=sanitized(final.changes, _OBJECTION),
    )


class Graded(Protocol):
    """An answer that grades each of several texts."""

    @property
    def grades(self) -> Sequence[Grade]:
        """One a text."""
        ...


G = TypeVar("G", bound=Graded)


def in_mixed_order(
    count: int, key: str, ask: Callable[[Sequence[int]], G]
) -> tuple[G, Sequence[int], dict[int, float]]:
    """What a judge says of texts in a mixed order, that order, and the grades by place.

    Where the best two are close it is asked again in the opposite order, and the means count. `key` sets the order:
    the same each time, so that what is cached is found.
    """
    order = sorted(range(count), key=lambda place: text_sha256(f"{place} {key}"))
    answer = ask(order)
    grades = {place: item.grade for place, item in by_place(answer.grades, order).items()}
    if count == 1:
        return answer, order, grades
    best, second = sorted(grades.values(), reverse=True)[:2]
    if best - second >= _CLOSE:
        return answer, order, grades
    turned = order[::-1]
    try:
        answer_turned = ask(turned)
    except ModelAnswerError:
        return answer, order, grades  # the first answer stands
    again = by_place(answer_turned.grades, turned)
    return answer_turned, turned, {place: (grades[place] + again[place].grade) / 2 for place in grades}


def by_place(grades: Sequence[Grade], order: Sequence[int]) -> dict[int, Grade]:
    """Each grade by the place of its text, where they were shown in this order."""
    return {order[_LETTERS.index(_letter(item.note))]: item for item in grades}


def lettered(order: Sequence[int]) -> list[tuple[str, int]]:
    """The letter under which each place is shown."""
    return list(zip(_LETTERS, order, strict=False))


def check_grades(grades: Sequence[Grade], count: int) -> None:
    """Raises AnswerUnreadableError unless each text has one grade."""
    letters = _LETTERS[:count]
    if sorted(_letter(item.note) for item in grades) != list(letters):
        raise AnswerUnreadableError(say("answers.no_grade", letters=", ".join(letters)))


def _ask(
    asker: Asker, brief: Brief, evidence: Sequence[Evidence], notes: Sequence[Draft], order: Sequence[int], budget: int
) -> RevisionAnswer:
    def check(answer: RevisionAnswer) -> None:
        check_grades(answer.grades, len(order))
        checked_note(answer.final.sentences, brief, evidence, budget)

    shown = [
        Block(f"note {letter}", "\n".join([without_urls(notes[place].text).strip(), *_found_wrong(notes[place])]))
        for letter, place in lettered(order)
    ]
    blocks = [*brief_blocks(brief), *passages_for(brief, _wanted(brief, evidence, notes)), *shown]
    return asker.ask(
        question(EngineStep.JUDGING, "revision", RevisionAnswer, blocks, values=bounds(budget), check=check)
    ).value


def _wanted(brief: Brief, evidence: Sequence[Evidence], notes: Sequence[Draft]) -> list[Evidence]:
    """Without the passages that only help to infer the answer and that no note rests on."""
    cited = {evidence_id for note in notes for evidence_id in note.evidence_ids}
    found = brief.settlement.answers(evidence) if brief.settlement is not None else []
    inferred = {item.id for item, answer in found if answer.answer is AnswerKind.INFERRED and not item.used}
    return [item for item in evidence if item.id not in inferred - cited]


def _found_wrong(note: Draft) -> list[str]:
    """What was found wrong with it before, in lines."""
    return ["Found wrong by a check:", *note.objections] if note.objections else []


def _letter(said: str) -> str:
    return said.upper().removeprefix("NOTE").removeprefix("CANDIDATE").strip(" []().:") or "?"


def told_objections(note: str, objections: Sequence[Objection]) -> tuple[str, ...]:
    """In words, each with what it is about; one about words that are not there is left out."""
    told: list[str] = []
    for item in objections:
        said = sanitized(item.objection, _OBJECTION)
        if not said or (item.quote.strip() and find_quote(note, item.quote) is None):
            continue
        told.append(f"“{sanitized(item.quote, 80)}”: {said}" if item.quote.strip() else said)
    return tuple(dict.fromkeys(told))


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


def compare(asker: Asker, post: Post, left: str, right: str) -> ComparisonAnswer:
    """Which of two notes the model prefers, by criterion. Raises EngineError."""
    blocks = [post_block(post), Block("left note", left), Block("right note", right)]
    return asker.ask(question(EngineStep.JUDGING, "comparison", ComparisonAnswer, blocks)).value


class SourcesAnswer(Answer):
    """See source_comparison.md."""

    why: str = ""
    better: Preferred


def compare_sources(asker: Asker, post: Post, left: str, right: str) -> SourcesAnswer:
    """Which of two sets of sources the model finds of more use. Raises EngineError."""
    blocks = [post_block(post), Block("left sources", left), Block("right sources", right)]
    return asker.ask(question(EngineStep.JUDGING, "source_comparison", SourcesAnswer, blocks)).value
