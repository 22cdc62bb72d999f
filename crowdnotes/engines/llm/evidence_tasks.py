"""Judges with a language model whether passages settle the claim, and whether the note distorts them.

The first is gate 1 (relevance), asked passage by passage before a note is written; the second gate 2 (correctness;
CrowdNotes+ 4.3, E.2). The model proposes and the program verifies: an answer, a distortion or support for a sentence
counts only with words that occur in the passage, so that no text can talk its way through. A general page on the
subject is background.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Literal

from pydantic import Field

from crowdnotes.domain import (
    AnswerKind,
    Evidence,
    Finding,
    GateName,
    GateResult,
    GateStatus,
    PassageAnswer,
    Points,
    SentenceSupport,
    Settlement,
    Span,
    Support,
    text_sha256,
)
from crowdnotes.engines.base import Brief, EngineStep, FurtherSearch, ResultOrigin
from crowdnotes.engines.embedding import Embedder
from crowdnotes.engines.llm.calls import ModelClient, judged
from crowdnotes.engines.llm.parsing import LINE, Answer, PassageId, ToProgram, YesNo, find_marked_ids, sanitized
from crowdnotes.engines.llm.request import Block, excerpt, passage_block, question
from crowdnotes.engines.llm.search_tasks import NO_SEARCHES, AskedQuery, brief_blocks, search_blocks, searches
from crowdnotes.engines.prompt_injection import (
    TO_AI_SENTENCE,
    find_injections,
    holds_injection,
    without_injections,
)
from crowdnotes.engines.prompts import load_prompt
from crowdnotes.errors import AnswerUnreadableError
from crowdnotes.text.languages import language_of
from crowdnotes.text.quotes import find_quote, tells_enough
from crowdnotes.text.tokens import content_stems
from crowdnotes.wording import fill, plural

_MAX_REASON_CHARACTERS = 240
_MIN_SHARED_WORDS = 3  # two sentences of one page may share two and be about different things
MODEL = "the model"
_MESSAGE_BY_DISTORTION = {
    "unsupported": "No source says this: {why}.",
    "misread": "The source says something else: {why}.",
    "overgeneralised": "Says more than the source: {why}.",
    "selective": "Leaves out a limit in the source: {why}.",
}


class Carried(Answer):
    """Where the model finds a sentence of the note in a passage. Sentences count from 1."""

    sentence: int
    evidence_id: PassageId
    quote: str


class Distortion(Answer):
    """One way in which the note departs from a passage."""

    kind: Literal["unsupported", "misread", "overgeneralised", "selective"]
    note_words: str
    evidence_id: PassageId = ""
    passage_words: str = ""
    explanation: str


class CorrectnessAnswer(Answer):
    """See correctness.md."""

    to_program: ToProgram = Field(default_factory=list)
    carried: list[Carried] = Field(default_factory=list)
    distortions: list[Distortion] = Field(default_factory=list)
    reason: str
    faithful: YesNo


def judge_correctness(
    model_client: ModelClient,
    embedder: Embedder,
    note: str,
    evidence: Sequence[Evidence],
    support: Sequence[SentenceSupport],
    *,
    votes: int,
) -> GateResult:
    """Return PASS if the model calls the note faithful, shows no distortion, and every sentence is supported.

    Raises EngineError if the model gives no usable answer, or calls the note distorted without pointing at words that
    occur.
    """
    if not evidence:
        return GateResult.not_run(GateName.CORRECTNESS, "There are no sources yet.")
    if not support:
        return GateResult.not_run(GateName.CORRECTNESS, "The note has no sentence to check.")
    injected = find_injections(note)
    if injected:
        findings = [Finding(message=TO_AI_SENTENCE, span=span) for span in injected]
        return _build_correctness_result(GateStatus.FAIL, TO_AI_SENTENCE, findings, 0.0)
    passages = {item.id: without_injections(item.passage.text) for item in evidence}
    numbered = "\n".join(f"{number}. {note[item.span.start : item.span.end]}" for number, item in enumerate(support, 1))
    # A note that a person wrote may rest on words that no model saw: the words nearest to each sentence are sent too.
    blocks = [
        Block("note, sentence by sentence", numbered),
        *(
            passage_block(item, also=[one.carrier for one in support if one.evidence_id == item.id and one.carrier])
            for item in evidence
        ),
    ]

    def check(answer: CorrectnessAnswer) -> None:
        if answer.faithful == "no" and not _locate_distortions(note, passages, answer.distortions):
            raise AnswerUnreadableError("The model called the note distorted, but pointed at no words that are there.")

    asked = question(EngineStep.JUDGING, "correctness", CorrectnessAnswer, blocks, check=check, verdict="faithful")
    answered = judged(model_client, asked, lambda answer: answer.faithful == "yes", votes)
    answer = answered.value
    distortions = _locate_distortions(note, passages, answer.distortions)
    marked = find_marked_ids(answer.to_program, list(passages))
    sentences = _compare_sentences(embedder, note, passages, support, answer.carried, distortions, marked)
    uncarried = [
        _report_unsupported_sentence(
            f"“{sanitized(item.words_in(note), 80).rstrip('.')}”", item.span, number, answer.carried, marked
        )
        for number, item in enumerate(sentences, 1)
        if item.support is Support.UNSUPPORTED
    ]
    if distortions or uncarried:
        findings = [*distortions, *uncarried]
        reason = sanitized(answer.reason, _MAX_REASON_CHARACTERS) if answer.faithful == "no" else findings[0].message
        # If the program overrules the model, the model's probability belongs to another verdict.
        probability = answered.probability if answer.faithful == "no" else None
        return _build_correctness_result(GateStatus.FAIL, reason, findings, probability, marked, sentences)
    return _build_correctness_result(
        GateStatus.PASS, sanitized(answer.reason, _MAX_REASON_CHARACTERS), [], answered.probability, marked, sentences
    )


def _build_correctness_result(
    status: GateStatus,
    reason: str,
    findings: Sequence[Finding],
    probability: float | None,
    marked: Iterable[str] = (),
    sentences: Sequence[SentenceSupport] = (),
) -> GateResult:
    return GateResult(
        gate=GateName.CORRECTNESS,
        status=status,
        reason=reason or ("The note says what its sources say." if status is GateStatus.PASS else "It does not."),
        score=probability,
        threshold=None if probability is None else LINE,
        probability=probability,
        findings=tuple(findings),
        marked=tuple(sorted(marked)),
        sentences=tuple(sentences),
    )


def _locate_distortions(note: str, passages: dict[str, str], distortions: Sequence[Distortion]) -> list[Finding]:
    """Return the distortions whose words occur; drop the others."""
    found: list[Finding] = []
    for item in distortions:
        span = find_quote(note, item.note_words, whole=False)
        where = find_quote(passages.get(item.evidence_id, ""), item.passage_words, whole=False)
        if span is None or (item.kind != "unsupported" and where is None):
            continue
        message = fill(
            _MESSAGE_BY_DISTORTION[item.kind], why=sanitized(item.explanation, _MAX_REASON_CHARACTERS).rstrip(".")
        )
        if where is not None:
            quoted = sanitized(passages[item.evidence_id][where.start : where.end], 160)
            message += f" {item.evidence_id} says: “{quoted}”."
        known = item.evidence_id if item.evidence_id in passages else None
        found.append(Finding(message=message, evidence_id=known, span=span))
    return found


def _compare_sentences(
    embedder: Embedder,
    note: str,
    passages: dict[str, str],
    support: Sequence[SentenceSupport],
    carried: Sequence[Carried],
    distortions: Sequence[Finding],
    marked: set[str],
) -> list[SentenceSupport]:
    """Return each sentence with the words that support it, according to the model; PARTLY if it has a distortion.

    A passage that speaks to a program supports nothing.
    """
    found = []
    for number, item in enumerate(support, 1):
        words = item.words_in(note)
        shown = (
            (each.evidence_id, find_quote(passages.get(each.evidence_id, ""), each.quote))
            for each in carried
            if each.sentence == number
            and each.evidence_id not in marked
            and _can_support(embedder, note, words, passages.get(each.evidence_id, ""), each.quote)
        )
        name, carrier = next(((name, span) for name, span in shown if span is not None), (None, None))
        faults = [fault for fault in distortions if fault.span and fault.span.overlaps(item.span)]
        verdict = Support.PARTLY if faults else Support.SUPPORTED
        found.append(
            item.replace(
                support=verdict if name else Support.UNSUPPORTED,
                evidence_id=name,
                carrier=carrier,
                doubts=tuple(fault.message for fault in faults),
                doubted=tuple(fault.span for fault in faults),
                by=MODEL,
            )
        )
    return found


def _report_unsupported_sentence(
    words: str, span: Span, number: int, carried: Sequence[Carried], marked: set[str]
) -> Finding:
    """Return the finding that nothing supports a sentence, or only a passage that speaks to a program."""
    name = next((each.evidence_id for each in carried if each.sentence == number and each.evidence_id in marked), None)
    if name is None:
        return Finding(message=f"The AI found no source for {words}.", span=span)
    message = f"Only {name} supports {words}, and it has words addressed to an AI."
    return Finding(message=message, evidence_id=name, span=span)


def _can_support(embedder: Embedder, note: str, sentence: str, passage: str, quote: str) -> bool:
    """Return whether a quote has to do with the sentence: a true quote of something else supports nothing.

    They share three content words, two if both have a figure, since a sum is reworded, or are near in meaning; in two
    languages neither is required.
    """
    have_figures = all(any(map(str.isdigit, text)) for text in (quote, sentence))
    if len(content_stems(quote) & content_stems(sentence)) >= _MIN_SHARED_WORDS - have_figures:
        return True
    one, other = embedder.encode([sentence, quote])
    if float(one @ other) >= embedder.thresholds.relevant:
        return True
    of_note, of_passage = language_of(note), language_of(passage)
    return None not in (of_note, of_passage) and of_note != of_passage


_MAX_TELLS_CHARACTERS = 220


class FoundInPassage(Answer):
    """One passage's answer to a claim, by its number in the record."""

    id: PassageId
    claim: int = 1
    quote: str = ""
    tells: str = ""
    points: str = ""
    other: PassageId = ""
    answer: str


class SettleAnswer(Answer):
    """See settle.md."""

    to_program: ToProgram = Field(default_factory=list)
    passages: list[FoundInPassage]
    best: list[PassageId] = Field(default_factory=list)
    missing: str = ""
    searches: list[AskedQuery] = Field(default_factory=list)


_ANSWER_KIND_BY_NAME = {kind.value: kind for kind in AnswerKind}
_POINTS_BY_WORD = {points.value.split()[0]: points for points in Points}


def settle(
    model_client: ModelClient, brief: Brief, evidence: Sequence[Evidence], limit: int, result_origin: ResultOrigin
) -> FurtherSearch:
    """Return what each passage answers, and at most `limit` searches for what none states.

    Asks only about passages that were not judged yet. Raises EngineError.
    """
    before = brief.settlement
    if before is not None and (before.engine, before.prompt_version) != (
        result_origin.engine,
        result_origin.prompt_version,
    ):
        before = None  # another model's findings do not count as this one's
    known = {item.id: found for item in evidence if before is not None and (found := before.all_of(item))}
    asked = [item for item in evidence if item.id not in known]
    readable = [item for item in asked if excerpt(item.passage)]
    answer = _ask_to_settle(model_client, brief, readable, limit) if readable else SettleAnswer(passages=[])
    ids = [item.id for item in readable]
    marked = find_marked_ids(answer.to_program, ids)
    for item in asked:
        said = [found for found in answer.passages if found.id == item.id and item in readable]
        known[item.id] = _judge_passage(item, said, speaks_to_program=item.id in marked)
    known = _without_missing_halves(known)
    # Answers of removed passages are kept: a person may restore the passages.
    gone = [found for found in before.passages if found.evidence_id not in known] if before is not None else []
    best = [name for name in answer.best if name in ids]
    # Each judgement ranks only the passages that it saw, so the two take turns.
    by_turns = chain.from_iterable(zip_longest(best, before.best if before is not None else ()))
    settlement = Settlement(
        passages=(*(found for item in evidence for found in known[item.id]), *gone),
        best=tuple(dict.fromkeys(name for name in by_turns if name is not None)),
        missing=sanitized(answer.missing, _MAX_TELLS_CHARACTERS) or (before.missing if before is not None else ""),
        post_to_program="post" in marked or (before is not None and before.post_to_program),
        engine=result_origin.engine,
        prompt_version=result_origin.prompt_version,
    )
    if settlement.stated(evidence, claim=1):
        return FurtherSearch(settlement.replace(missing=""))
    return FurtherSearch(settlement, searches(answer.searches, limit))


def _ask_to_settle(model_client: ModelClient, brief: Brief, evidence: Sequence[Evidence], limit: int) -> SettleAnswer:
    ids = [item.id for item in evidence]
    claims = max(1, len(brief.checkable))

    def check(answer: SettleAnswer) -> None:
        missing = set(ids) - {item.id for item in answer.passages}
        if missing:
            raise AnswerUnreadableError(f"The answer says nothing of {', '.join(sorted(missing))}.")
        if any(not 1 <= item.claim <= claims for item in answer.passages):
            raise AnswerUnreadableError(f"There is no such claim: the record's last is number {claims}.")

    blocks = [
        *brief_blocks(brief),
        *(search_blocks(brief) if limit else ()),
        *(passage_block(item, brief.today) for item in evidence),
    ]
    further = load_prompt("settle_searches").filled({"queries": limit})[0] if limit else NO_SEARCHES
    return model_client.ask(
        question(EngineStep.JUDGING, "settle", SettleAnswer, blocks, values={"searches": further}, check=check)
    ).value


def _without_missing_halves(known: Mapping[str, list[PassageAnswer]]) -> dict[str, list[PassageAnswer]]:
    """Return the answers; one stated only with another passage is inferred if that one does not state it."""
    stated = {
        (one.evidence_id, one.claim) for said in known.values() for one in said if one.answer is AnswerKind.STATED
    }
    return {
        name: [
            one
            if not one.other or (one.other != name and (one.other, one.claim) in stated)
            else one.replace(answer=AnswerKind.INFERRED, other="")
            for one in said
        ]
        for name, said in known.items()
    }


_MAX_ANSWERS_PER_PASSAGE = 3  # one per claim, or one for each part of it
_STRONGEST_FIRST = (AnswerKind.STATED, AnswerKind.INFERRED, AnswerKind.NONE)


def _judge_passage(item: Evidence, said: Sequence[FoundInPassage], *, speaks_to_program: bool) -> list[PassageAnswer]:
    """Return the answers of a passage, to the first claim first; or one that says it answers none."""
    nothing = PassageAnswer(
        evidence_id=item.id,
        passage_sha256=text_sha256(item.passage.text),
        answer=AnswerKind.NONE,
        tells="It has only notices, links or words addressed to an AI.",
    )
    if speaks_to_program and said:
        return [nothing.replace(tells="It has words that speak to an AI, not to people.", to_program=True)]
    found = [_verify_passage_answer(item, nothing, one) for one in said] or [nothing]
    answers: dict[object, PassageAnswer] = {}
    for one in sorted(found, key=lambda one: (one.claim, _STRONGEST_FIRST.index(one.answer))):
        if one.answer is not AnswerKind.NONE:
            answers.setdefault((one.claim, one.span), one)  # each place counts once per claim
    return [*answers.values()][:_MAX_ANSWERS_PER_PASSAGE] or found[:1]


def _verify_passage_answer(item: Evidence, nothing: PassageAnswer, found: FoundInPassage) -> PassageAnswer:
    """Return the model's answer on a passage if it quotes words of it."""
    kind = _ANSWER_KIND_BY_NAME.get(found.answer.strip().lower(), AnswerKind.NONE)
    # Search outside the injections: a passage must not count by words that it made the judge say.
    span = find_quote(without_injections(item.passage.text), found.quote)
    if kind is not AnswerKind.NONE and (span is None or not tells_enough(found.quote)):
        return nothing.replace(tells="The AI could not show where it answers the claim.")
    return nothing.replace(
        answer=kind,
        points=_POINTS_BY_WORD.get(found.points.strip().lower().split(" ")[0], Points.NEITHER),
        span=span,
        tells=sanitized(found.tells, _MAX_TELLS_CHARACTERS) or "The AI gave no reason.",
        claim=found.claim,
        other=found.other if kind is AnswerKind.STATED else "",
    )


_MESSAGES_BY_ANSWER = {  # of the first claim, of a further one
    AnswerKind.STATED: ("{id} settles it: {why}", "{id} settles claim {claim}: {why}"),
    AnswerKind.INFERRED: ("{id} helps: {why}", "{id} helps with claim {claim}: {why}"),
    AnswerKind.NONE: ("{id} does not help: {why}", "{id} does not help with claim {claim}: {why}"),
}


def judge_relevance(
    model_client: ModelClient, brief: Brief, evidence: Sequence[Evidence], result_origin: ResultOrigin
) -> GateResult:
    """Return PASS if a passage states or helps to infer the answer, shown by its words. One finding per answer.

    Raises EngineError.
    """
    if not evidence:
        return GateResult.not_run(GateName.RELEVANCE, "There are no sources to judge yet.")
    if not without_injections(brief.post.whole_text).strip():
        return GateResult.not_run(GateName.RELEVANCE, "The post has no text to compare the sources with.")
    settlement = settle(model_client, brief, evidence, 0, result_origin).settlement
    findings = [_build_passage_finding(item, found) for item in evidence for found in settlement.all_of(item)]
    helping = settlement.answers(evidence)
    stated = {item.id for item, _ in settlement.stated(evidence, claim=1)}  # the same count as above the sources
    rest = len(helping) - len(stated)
    if helping:
        reason = plural(
            len(stated),
            "{n} of {all} sources settles the claim",
            "{n} of {all} sources settle the claim",
            all=len(evidence),
        )
        more = "; {n} more helps to judge the post.", "; {n} more help to judge the post."
        reason += plural(rest, *more) if rest else "."
    else:
        reason = f"No source helps to judge the claim. {findings[0].message}"
    marked = [item.id for item in evidence if (found := settlement.of(item)) is not None and found.to_program]
    return GateResult(
        gate=GateName.RELEVANCE,
        status=GateStatus.PASS if helping else GateStatus.FAIL,
        reason=reason,
        findings=tuple(findings),
        marked=tuple(sorted([*marked, *(["post"] if settlement.post_to_program else [])])),
    )


def _build_passage_finding(item: Evidence, found: PassageAnswer) -> Finding:
    message = fill(_MESSAGES_BY_ANSWER[found.answer][found.claim > 1], id=item.id, claim=found.claim, why=found.tells)
    if found.other:
        message += f" Only together with {found.other}."
    if found.span is not None:
        message += f" (“{sanitized(item.passage.text[found.span.start : found.span.end], 120)}”)"
    if holds_injection(item.passage.text):
        message += " We left out words in it addressed to an AI."
    return Finding(message=message, evidence_id=item.id, ok=found.answer is not AnswerKind.NONE)
