"""Candidate notes by a language model: side by side, asked to shorten when too long.

Augmentation and automation use the same writer (CrowdNotes+ appendix D.3). A supernote is one candidate from
several notes (Supernotes 2.1 and 3): their facts, none of their links or tempers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from crowdnotes.domain import Evidence, Post
from crowdnotes.engines.base import EngineStep, WriterAnswer, Written
from crowdnotes.engines.llm.answers import NoteAnswer, ShortenedAnswer, SupernoteAnswer, has_handle, sanitized
from crowdnotes.engines.llm.asking import Asker, Block, passage_block, post_block, question
from crowdnotes.engines.metering import side_by_side
from crowdnotes.engines.prompt_injection import find_injections, holds_injection, visible
from crowdnotes.errors import AnswerUnreadableError, BudgetError, EngineError
from crowdnotes.text.note_rules import find_urls, note_length, without_urls

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
                raise AnswerUnreadableError(f"The model cited {mark}, which it was not given.")
    line = _without_closing_links(" ".join(_MARKS.sub("", line).split()))
    if find_urls(line):
        raise AnswerUnreadableError("The model put a link of its own into the note.")
    if has_handle(line):
        raise AnswerUnreadableError("The model named an account in the note.")
    if holds_injection(line):
        raise AnswerUnreadableError("The model passed on words that speak to a model.")
    if not line:
        raise AnswerUnreadableError("The model said that it wrote a note, and left it empty.")
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
        wanted = raw.strip().strip("[]()").upper()
        if wanted not in offered:
            raise AnswerUnreadableError("The model cited a passage that it was not given.")
        kept[wanted] = None
    return tuple(kept)


def echoes_injection(note: str, texts: Sequence[str]) -> bool:
    """Whether the note says five words in a row that stand in an injection in one of the texts."""
    said = _runs(note)
    return any(said & _runs(visible(text[span.start : span.end])) for text in texts for span in find_injections(text))


def _runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + _ECHO_WORDS]) for i in range(len(words) - _ECHO_WORDS + 1)}


_SHORTENINGS = 2
_SPARE = 20  # models miscount; aiming lower saves most of the calls that ask to shorten
_REASON = 260
_ANGLES = (
    "",
    "Of the ways to begin, take the number, date or comparison that answers the claim, if the passages give one.",
    "Of the ways to begin, take who found, decided or said it, and what exactly.",
    "Of the ways to begin, take what the claim leaves out: its limit, its origin, or what it is confused with.",
)
_ABSTAINED = {"not_needed": "Not needed", "not_enough_evidence": "Not enough evidence"}


@dataclass(frozen=True, slots=True)
class _Abstained:
    """A writer that would rather write nothing, and why."""

    decision: str
    reason: str


def write_notes(
    asker: Asker,
    post: Post,
    evidence: Sequence[Evidence],
    budget: int,
    count: int,
    *,
    temperature: float,
    at_once: int,
) -> WriterAnswer:
    """Up to `count` different notes of at most `budget` characters, in the order in which they were asked for.

    Abstains when most of the writers do. Raises EngineError when no candidate could be had.
    """
    if not evidence or count <= 0:
        return WriterAnswer(abstained="There is no passage to write from.")
    tasks = [partial(_write_one, asker, post, evidence, budget, number, temperature) for number in range(count)]
    written: list[Written] = []
    abstained: list[_Abstained] = []
    errors: list[EngineError] = []
    for result in side_by_side(tasks, at_once):
        if isinstance(result, Written):
            written.append(result)
        elif isinstance(result, _Abstained):
            abstained.append(result)
        else:
            errors.append(result)
    if abstained and len(abstained) >= len(written):
        decision, _ = Counter(item.decision for item in abstained).most_common(1)[0]
        reason = next(item.reason for item in abstained if item.decision == decision)
        return WriterAnswer(abstained=f"{_ABSTAINED[decision]}: {reason}")
    if not written:
        raise next((error for error in errors if isinstance(error, BudgetError)), errors[0])
    lost = [f"{_ABSTAINED[item.decision]}: {item.reason}" for item in abstained] + [error.message for error in errors]
    return WriterAnswer(tuple({item.text: item for item in written}.values()), lost=tuple(lost))


def _write_one(
    asker: Asker,
    post: Post,
    evidence: Sequence[Evidence],
    budget: int,
    number: int,
    temperature: float,
) -> Written | _Abstained:
    offered = [item.id for item in evidence]
    texts = [post.whole_text, *(item.passage.text for item in evidence)]

    def check(answer: NoteAnswer) -> None:
        if answer.decision == "note":
            known_ids(answer.evidence_ids, offered)
            if echoes_injection(clean_note(answer.note, offered), texts):
                raise AnswerUnreadableError("The model passed on words that speak to a model.")

    asked = question(
        EngineStep.WRITING,
        "writing",
        NoteAnswer,
        [post_block(post), *(passage_block(item) for item in evidence)],
        values={"budget": budget, "target": max(1, budget - _SPARE), "angle": _ANGLES[number % len(_ANGLES)]},
        check=check,
        temperature=temperature,
        variant=number,
    )
    answer = asker.ask(asked).value
    if answer.decision != "note":
        return _Abstained(answer.decision, sanitized(answer.reason, _REASON) or "The model gave no reason.")
    text = fitted(asker, clean_note(answer.note, offered), offered, texts, budget)
    return Written(text, known_ids(answer.evidence_ids, offered) or tuple(offered))


def fitted(asker: Asker, text: str, offered: Sequence[str], texts: Sequence[str], budget: int) -> str:
    """The text within the budget: as it is, or shortened by the model. Never cut.

    Raises AnswerUnreadableError when it is still too long after two times.
    """
    for number in range(_SHORTENINGS):
        length = note_length(text)
        if length <= budget:
            return text
        asked = question(
            EngineStep.WRITING,
            "shorten",
            ShortenedAnswer,
            [Block("note", text)],
            # Each time further below, as a model that missed once will miss again.
            values={
                "budget": budget,
                "length": length,
                "excess": length - budget,
                "target": max(1, budget - _SPARE * (number + 1)),
            },
            check=lambda answer: _check_shortened(answer, offered, texts),
            variant=number,
        )
        text = clean_note(asker.ask(asked).value.note, offered)
    if note_length(text) > budget:
        raise AnswerUnreadableError(
            f"The model's note did not fit into {budget} characters, also when asked to shorten."
        )
    return text


def _check_shortened(answer: ShortenedAnswer, offered: Sequence[str], texts: Sequence[str]) -> None:
    if echoes_injection(clean_note(answer.note, offered), texts):
        raise AnswerUnreadableError("The model passed on words that speak to a model.")


_SUPERNOTE_ANGLES = (
    "",
    "Keep to the single fact that most of the notes give.",
    "Take the most precise figure or date that the notes give.",
    "Say in the plainest words what is so, for a reader who knows nothing of the matter.",
)


def write_supernote(
    asker: Asker, post: Post, notes: Sequence[str], budget: int, variant: int, temperature: float
) -> WriterAnswer:
    """One note of at most `budget` characters, without links; `evidence_ids` are "N1", "N2", … by place in `notes`.

    Questions with another `variant` are worded another way. Raises EngineError.
    """
    offered = [f"N{number}" for number in range(1, len(notes) + 1)]
    texts = [post.whole_text, *notes]

    def check(answer: SupernoteAnswer) -> None:
        if answer.decision == "note":
            known_ids(answer.note_ids, offered)
            if echoes_injection(clean_note(answer.note, offered), texts):
                raise AnswerUnreadableError("The model passed on words that speak to a model.")

    blocks = [Block(f"note {name}", without_urls(note)) for name, note in zip(offered, notes, strict=True)]
    asked = question(
        EngineStep.WRITING,
        "supernote",
        SupernoteAnswer,
        [post_block(post), *blocks],
        values={
            "budget": budget,
            "target": max(1, budget - _SPARE),
            "angle": _SUPERNOTE_ANGLES[variant % len(_SUPERNOTE_ANGLES)],
        },
        check=check,
        temperature=temperature,
        variant=variant,
    )
    answer = asker.ask(asked).value
    if answer.decision != "note":
        return WriterAnswer(abstained=sanitized(answer.reason, 260) or "The notes hold no fact that answers the claim.")
    text = fitted(asker, clean_note(answer.note, offered), offered, texts, budget)
    return WriterAnswer((Written(text, known_ids(answer.note_ids, offered) or tuple(offered)),))
