"""Writes one note from the notes under a post: candidates, their judge, and answers to readers' suggestions.

Each sentence has the ids of the notes that say it and, if their pages were read, words of a passage. Notes, pages and
suggestions are data; what a model makes of them is checked as the words of any other note are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field

from crowdnotes.domain import (
    Candidate,
    Classification,
    Evidence,
    ExistingNote,
    GateStatus,
    PrincipleName,
    PrincipleResult,
    Ratings,
    Source,
    Span,
    SuggestionAnswer,
)
from crowdnotes.engines.base import (
    Brief,
    EngineStep,
    NoteSentence,
    SuggestionReplies,
    SuggestionReply,
    SupernoteAnswer,
    SupernoteBrief,
    SupernoteVerdict,
)
from crowdnotes.engines.llm.calls import ModelClient
from crowdnotes.engines.llm.parsing import Answer, Objection, PassageIds, locate_objections, sanitized
from crowdnotes.engines.llm.request import Block, passage_block, post_block, question
from crowdnotes.engines.llm.search_tasks import brief_blocks
from crowdnotes.engines.llm.writing_tasks import (
    Grade,
    QuotedWords,
    assign_letters,
    bounds,
    check_grades,
    clean_note,
    describe_objections,
    echoes_injection,
    grade_in_mixed_order,
    grades_by_place,
    locate_quotes,
)
from crowdnotes.engines.prompt_injection import without_injections
from crowdnotes.errors import AnswerUnreadableError
from crowdnotes.settings_sections import LlmSettings
from crowdnotes.text.markdown import clip, host
from crowdnotes.text.note_rules import find_urls, note_length, tag_words, without_urls
from crowdnotes.text.publishers import with_publishers_named
from crowdnotes.text.quotes import find_quote
from crowdnotes.text.urls import canonical_url

_MAX_REASON_CHARACTERS = 200
_NUMBER_PATTERN = re.compile(r"(?<![\w-])\d[\d.,]*+")  # not the 19 of COVID-19
_QUOTATION = re.compile(r"[\"“„«]([^\"“”„«»]{2,200})[\"”“»]")
_WORD_SEPARATOR = re.compile(r"[\W_]+")
_OPAQUE_URL_ID = re.compile(r"(?=\S*\d)\S{9,}")  # neither a word nor a date
_MAX_ADDRESS_CHARACTERS = 130
_TONE_PRINCIPLES = (PrincipleName.NEUTRAL, PrincipleName.NO_SPECULATION)


class SupernoteSentenceAnswer(Answer):
    """A sentence, the notes that say it, and the words that support it."""

    text: str
    notes: PassageIds = Field(default_factory=list)
    passages: list[QuotedWords] = Field(default_factory=list)


class CandidateAnswer(Answer):
    """One candidate."""

    sentences: list[SupernoteSentenceAnswer]


class CandidatesAnswer(Answer):
    """See supernote.md."""

    facts: str = ""
    candidates: list[CandidateAnswer]


class FinalCandidate(Answer):
    """The best candidate, revised."""

    sentences: list[SupernoteSentenceAnswer]
    changes: str = ""


class BrokenAnswer(Objection):
    """A principle that a candidate breaks."""

    number: int
    principle: Literal["neutral", "no_speculation"]


class ToneAnswer(Answer):
    """See tone.md."""

    breaks: list[BrokenAnswer] = Field(default_factory=list)


class VerdictAnswer(Answer):
    """See supernote_judge.md."""

    verdicts: list[Grade]
    final: FinalCandidate

    @property
    def grades(self) -> Sequence[Grade]:
        """One per candidate."""
        return self.verdicts


class ReplyAnswer(Answer):
    """The answer to one suggestion."""

    number: int
    reason: str
    changed: str = ""
    answer: Literal["yes", "no", "in part"]


class RepliesAnswer(Answer):
    """See suggestions.md."""

    replies: list[ReplyAnswer]
    sentences: list[SupernoteSentenceAnswer] = Field(default_factory=list)


class LlmSupernotes:
    """Implements `SupernoteWriter`. Safe to share between threads."""

    def __init__(self, model_client: ModelClient, settings: LlmSettings, judge: ModelClient | None = None) -> None:
        self._client = model_client
        self._judge = judge or model_client
        self._settings = settings

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """See `SupernoteWriter.price`."""
        return self._client.price(input_tokens, output_tokens)

    def write(self, given: SupernoteBrief, count: int, *, variant: int = 0) -> SupernoteAnswer:
        """See `SupernoteWriter.write`."""
        check = _AnswerChecker(given)

        def check_answer(answer: CandidatesAnswer) -> None:
            good, faults = check.split_valid(answer)
            if not good and (answer.candidates or not answer.facts.strip()):
                raise AnswerUnreadableError(" ".join(faults) or "There is no candidate in it.")

        asked = question(
            EngineStep.WRITING,
            "supernote",
            CandidatesAnswer,
            _build_supernote_blocks(given),
            values={"count": count, **bounds(given.budget)},
            check=check_answer,
            temperature=self._settings.supernote_temperature,
        )
        asked = replace(asked, top_p=self._settings.supernote_top_p, variant=variant)
        answer = self._client.ask(asked).value
        if not answer.candidates:
            return SupernoteAnswer((), (f"Nothing to write from: {sanitized(answer.facts, _MAX_REASON_CHARACTERS)}",))
        good, faults = check.split_valid(answer)
        return SupernoteAnswer(tuple(good[:count]), tuple(faults))

    def tone(self, brief: Brief, texts: Sequence[str]) -> tuple[tuple[PrincipleResult, ...], ...]:
        """Judge, see `SupernoteWriter.tone`. An objection counts only with words that occur in the candidate."""

        def check(answer: ToneAnswer) -> None:
            if strange := next((item.number for item in answer.breaks if not 1 <= item.number <= len(texts)), None):
                raise AnswerUnreadableError(f"There is no candidate {strange}.")

        words = (f"{number}. {without_urls(text).strip()}" for number, text in enumerate(texts, 1))
        blocks = [post_block(brief.post), Block("candidates", "\n".join(words))]
        answer = self._judge.ask(question(EngineStep.JUDGING, "tone", ToneAnswer, blocks, check=check)).value
        return tuple(
            tuple(
                _build_tone_result(name, text, [item for item in answer.breaks if item.number == number])
                for name in _TONE_PRINCIPLES
            )
            for number, text in enumerate(texts, 1)
        )

    def judge(self, given: SupernoteBrief, candidates: Sequence[Candidate]) -> SupernoteVerdict:
        """See `SupernoteWriter.judge`."""
        check, values = _AnswerChecker(given), bounds(given.budget)

        def check_answer(answer: VerdictAnswer) -> None:
            check_grades(answer.verdicts, len(candidates))
            check.sentences(answer.final.sentences)

        def ask(order: Sequence[int]) -> VerdictAnswer:
            shown = [
                Block(f"candidate {letter}", _describe_candidate(candidates[place]))
                for letter, place in assign_letters(order)
            ]
            blocks = [*_build_supernote_blocks(given), *shown]
            asked = question(
                EngineStep.JUDGING, "supernote_judge", VerdictAnswer, blocks, values=values, check=check_answer
            )
            return self._client.ask(asked).value

        answer, order, grades = grade_in_mixed_order(len(candidates), candidates[0].sha256, ask)
        verdicts = grades_by_place(answer.verdicts, order)
        places = range(len(candidates))
        return SupernoteVerdict(
            grades=tuple(grades[place] for place in places),
            objections=tuple(
                describe_objections(candidates[place].text, verdicts[place].objections) for place in places
            ),
            final=check.sentences(answer.final.sentences),
            changes=sanitized(answer.final.changes, _MAX_REASON_CHARACTERS),
        )

    def answer(self, given: SupernoteBrief, note: str, suggestions: Sequence[str]) -> SuggestionReplies:
        """Answer, see `SupernoteWriter.answer`. Suggestions that only give orders to a program reach no model."""
        readable = [place for place, text in enumerate(suggestions) if without_injections(text).strip()]
        check = _AnswerChecker(given, own=note, suggestions=suggestions)
        refused = SuggestionReply(SuggestionAnswer.NO, "It speaks to an AI, not to readers.")
        if not readable:
            return SuggestionReplies((refused,) * len(suggestions))

        def check_answer(answer: RepliesAnswer) -> None:
            _check_replies(answer.replies, len(readable))
            if any(reply.answer != "no" for reply in answer.replies):
                final = check.sentences(answer.sentences)
                if " ".join(item.text for item in final) == without_urls(note).strip():
                    raise AnswerUnreadableError("A suggestion was granted, but the note is as it was.")

        blocks = [
            *_build_supernote_blocks(given),
            Block("the note", without_urls(note).strip()),
            *(Block(f"suggestion {number}", suggestions[place]) for number, place in enumerate(readable, 1)),
        ]
        values = bounds(given.budget)
        answer = self._client.ask(
            question(EngineStep.WRITING, "suggestions", RepliesAnswer, blocks, values=values, check=check_answer)
        ).value
        said = {readable[reply.number - 1]: _build_suggestion_reply(reply) for reply in answer.replies}
        replies = tuple(said.get(place, refused) for place in range(len(suggestions)))
        granted = any(reply.answer is not SuggestionAnswer.NO for reply in replies)
        return SuggestionReplies(replies, check.sentences(answer.sentences) if granted else None)


def _build_tone_result(name: PrincipleName, text: str, broken: Sequence[BrokenAnswer]) -> PrincipleResult:
    findings = locate_objections(text, [item for item in broken if item.principle == name.name.lower()])
    return PrincipleResult(
        principle=name,
        status=GateStatus.FAIL if findings else GateStatus.PASS,
        reason=findings[0].message if findings else "It holds.",
        findings=findings,
    )


def _check_replies(replies: Sequence[ReplyAnswer], count: int) -> None:
    if sorted(reply.number for reply in replies) != list(range(1, count + 1)):
        raise AnswerUnreadableError(f"Each of the {count} suggestions needs one reply, by its number.")
    for reply in replies:
        if not reply.reason.strip():
            raise AnswerUnreadableError(f"The reply to suggestion {reply.number} gives no reason.")


def _build_suggestion_reply(reply: ReplyAnswer) -> SuggestionReply:
    answer = SuggestionAnswer(reply.answer)
    changed = "" if answer is SuggestionAnswer.NO else sanitized(reply.changed, _MAX_REASON_CHARACTERS)
    return SuggestionReply(answer, sanitized(reply.reason, _MAX_REASON_CHARACTERS), changed)


class _AnswerChecker:
    """Checks every text that is made from these notes and passages.

    `own` is the current note, which a person may have worded; `suggestions` are no source.
    """

    def __init__(self, given: SupernoteBrief, *, own: str = "", suggestions: Sequence[str] = ()) -> None:
        notes, evidence = given.notes, given.evidence
        self._notes = [note.id for note in notes]
        self._passages = {item.id: without_injections(item.passage.text) for item in evidence}
        self._notes_by_passage = {
            item.id: [
                note.id for note in notes if any(_is_link_to(url.url, item.source) for url in find_urls(note.text))
            ]
            for item in evidence
        }
        self._sources = [*(item.source for item in evidence), *_list_linked_sources(notes)]
        texts = [note.text for note in notes] + [item.passage.text for item in evidence]
        texts += [given.brief.post.whole_text, own]
        linked = (_describe_address(url.url) for note in notes for url in find_urls(note.text))
        dates = (_WORD_SEPARATOR.sub(" ", str(item.source.published or "")) for item in evidence)
        self._said = [without_injections(text) for text in texts]
        self._known_numbers = {
            number for text in (*map(without_urls, texts), *linked, *dates) for number in _extract_numbers(text)
        }
        self._texts = [*texts, *suggestions]
        self._budget = given.budget

    def split_valid(self, answer: CandidatesAnswer) -> tuple[list[tuple[NoteSentence, ...]], list[str]]:
        """Return the valid candidates, and what is wrong with each of the others."""
        good: dict[str, tuple[NoteSentence, ...]] = {}
        faults: list[str] = []
        for candidate in answer.candidates:
            try:
                sentences = self.sentences(candidate.sentences)
            except AnswerUnreadableError as error:
                faults.append(error.message)
            else:
                good.setdefault(" ".join(item.text for item in sentences), sentences)
        return list(good.values()), list(dict.fromkeys(faults))

    def sentences(self, said: Sequence[SupernoteSentenceAnswer]) -> tuple[NoteSentence, ...]:
        """Return the sentences with their sources. Raises AnswerUnreadableError in words that a model can correct."""
        checked = tuple(self._check_sentence(item) for item in said if item.text.strip())
        text = " ".join(item.text for item in checked)
        if not text:
            raise AnswerUnreadableError("There is a note without a sentence.")
        if echoes_injection(text, self._texts):
            raise AnswerUnreadableError("The model passed on words that speak to a model.")
        if (length := note_length(text)) > self._budget:
            raise AnswerUnreadableError(
                f"A note has {length} characters, and {self._budget} is the most: “{sanitized(text, 60)}”"
            )
        return checked

    def _check_sentence(self, item: SupernoteSentenceAnswer) -> NoteSentence:
        text = clean_note(with_publishers_named(item.text, self._sources), [*self._notes, *self._passages])
        # Without a passage some models leave the form empty, or quote the note.
        quoted = [words for words in item.passages if words.quote.strip() and words.id not in self._notes]
        carriers = locate_quotes(quoted, self._passages)
        if unknown := next((name for name in item.notes if name not in self._notes), None):
            raise AnswerUnreadableError(f"There is no note {sanitized(unknown, 20)}.")
        notes = tuple(dict.fromkeys(item.notes))
        notes = notes or tuple(
            dict.fromkeys(name for it in carriers for name in self._notes_by_passage[it.evidence_id])
        )
        if not notes:
            raise AnswerUnreadableError(f"No note is named that says “{sanitized(text, 80)}”")
        if strange := next((number for number in _extract_numbers(text) if number not in self._known_numbers), None):
            raise AnswerUnreadableError(f"The number in “{sanitized(text, 80)}” ({strange}) stands nowhere.")
        for words in _QUOTATION.findall(text):
            if " " in words.strip() and not any(find_quote(said, words) for said in self._said):
                raise AnswerUnreadableError(f"Nobody says “{sanitized(words, 80)}” in these words.")
        return NoteSentence(text, notes, carriers)


def _extract_numbers(text: str) -> list[str]:
    """Return the numbers of a text without separators."""
    return [re.sub(r"[.,]", "", match.group()).lstrip("0") or "0" for match in _NUMBER_PATTERN.finditer(text)]


def _describe_address(url: str) -> str:
    """Return a link's site and the words of its path, which often say what its page is about and when."""
    words = _WORD_SEPARATOR.sub(" ", urlsplit(url).path.removesuffix(".html")).split()
    return clip(
        " ".join([host(url), *(word for word in words if not _OPAQUE_URL_ID.fullmatch(word))]), _MAX_ADDRESS_CHARACTERS
    )


def _list_linked_sources(notes: Sequence[ExistingNote]) -> list[Source]:
    """Return the sites that notes link to, for their names."""
    links = dict.fromkeys(url.url for note in notes for url in find_urls(note.text) if url.has_scheme)
    return [Source(id=f"link:{number}", title="", url=url) for number, url in enumerate(links)]


def _is_link_to(url: str, source: Source) -> bool:
    return canonical_url(url) in {canonical_url(address) for address in (source.url, source.page_url) if address}


def _build_supernote_blocks(given: SupernoteBrief) -> list[Block]:
    """Return notes and whole passages, except those that speak to programs.

    A note may rest on a passage that does not answer the claim.
    """
    brief = given.brief
    found = [(item, brief.settlement.of(item) if brief.settlement else None) for item in given.evidence]
    shown = [item for item, answer in found if answer is None or not answer.to_program]
    notes = [_build_note_block(note, given.evidence) for note in given.notes]
    whole = (passage_block(item, brief.today, also=[Span(start=0, end=len(item.passage.text))]) for item in shown)
    return [*brief_blocks(brief), *notes, *whole]


def _build_note_block(note: ExistingNote, evidence: Sequence[Evidence]) -> Block:
    """Return a note with its ratings; each link becomes the passage or the site that it leads to."""
    text = note.text
    for url in reversed(find_urls(text)):
        if url.has_scheme:
            read = next((item.id for item in evidence if _is_link_to(url.url, item.source)), None)
            name = f"passage {read}" if read else _describe_address(url.url)
            text = f"{text[: url.start]}[its link: {name}]{text[url.end :]}"
    parts = [
        "says that the post is not misleading" if note.classification is Classification.NOT_MISLEADING else "",
        str(note.created_at.date()) if note.created_at else "",
        *_describe_ratings(note.ratings),
    ]
    return Block(f"note {note.id}", f"({' · '.join(filter(None, parts))})\n{text}")


def _describe_ratings(ratings: Ratings) -> list[str]:
    if not ratings.count:
        return ["not rated"]
    levels = {"helpful": ratings.helpful, "somewhat": ratings.somewhat_helpful, "not helpful": ratings.not_helpful}
    parts = [f"rated {', '.join(f'{name} {count}' for name, count in levels.items() if count)}"]
    for beginning, means in (("helpful", "for it"), ("notHelpful", "against it")):
        tags = {tag_words(name): count for name, count in ratings.tags.items() if name.startswith(beginning)}
        tags["other"] = 0  # it says nothing
        said = [f"{words} {count}" for words, count in sorted(tags.items(), key=lambda tag: -tag[1]) if words and count]
        if said:
            parts.append(f"{means}: {', '.join(said)}")
    return parts


def _describe_candidate(candidate: Candidate) -> str:
    """Return the words of a candidate, and what a check found wrong before."""
    wrong = ["Found wrong by a check:", *candidate.objections] if candidate.objections else []
    return "\n".join([without_urls(candidate.text).strip(), *wrong])
