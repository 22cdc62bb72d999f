"""The principles of a good note (Supernotes 2.2, the raters' tags) that a program can check, with the words at fault.

Whether a note answers the claim and says what is true takes understanding: these two can fail here, and never pass.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Sequence

import numpy as np

from crowdnotes.domain import Finding, GateStatus, Post, PrincipleName, PrincipleResult, Span
from crowdnotes.engines.embedding import Embedder, FloatArray
from crowdnotes.engines.local import tone
from crowdnotes.engines.local.health_terms import foreign_note, foreign_post
from crowdnotes.engines.local.relevance import of_needed
from crowdnotes.engines.local.trained_models import (
    OPINION,
    Blocks,
    letter_counts,
    linked_hosts,
    note_words,
    shipped_head,
    vectors_of,
    without_each,
    word_counts,
)
from crowdnotes.text.note_rules import without_urls
from crowdnotes.text.tokens import ENGLISH_STOP_WORDS, content_tokens, plain_post
from crowdnotes.wording import fill

_MAX_SENTENCE_WORDS = 40
_MIN_READING_EASE = 5.0
_MIN_CONTEXT_WORDS = 7
_MAX_NAMED_WORDS = 3
_MAX_JUDGED_WORDS = 200  # a note has some 50 words
_OPINION_FROM = 0.5  # probability of being opinion or hostile; 1 in 9 notes reaches it
_MIN_WORD_EFFECT = 0.01  # on the probability; a word that adds less says nothing by itself
_WORD_PATTERN = re.compile(r"\w\w+")
_NUMBER_PATTERN = re.compile(r"\d[\d,.]*")
_QUOTATION = re.compile(r"[\"“][^\"”]{15,1000}[\"”]")
_NOT_JUDGED_HERE = {PrincipleName.SOURCES_SUPPORT, PrincipleName.WANTED}
_MAX_FEATURE_COUNT = 10.0  # more says no more


def judge_principles(embedder: Embedder, post: Post, note: str) -> tuple[PrincipleResult, ...]:
    """Judge the principles that wording alone decides; NOT_RUN without words, or not in English.

    A principle without a result was not checked.
    """
    words = without_urls(note)
    reason = _explain_not_judged(note)
    if reason:
        return tuple(PrincipleResult.not_run(name, reason) for name in PrincipleName if name not in _NOT_JUDGED_HERE)
    found = (
        _judge_neutral(note),
        _judge_opinion(note, *read_opinion(embedder, note)),
        _judge_addresses_claim(embedder, post, words),
        _judge_context(words),
        _judge_readable(note, words),
    )
    return tuple(result for result in found if result is not None)


def tone_principles(embedder: Embedder, notes: Sequence[str]) -> tuple[tuple[PrincipleResult, ...], ...]:
    """Judge neutral language and opinion for many notes together: a hundred take a second.

    As `judge_principles`, but without naming the words that the trained head objects to.
    """
    if not notes:
        return ()
    head = shipped_head(OPINION)
    chances = head.probabilities(opinion_blocks(embedder, head.embedder, notes))
    found = []
    for note, chance in zip(notes, chances, strict=True):
        reason = _explain_not_judged(note)
        both = (PrincipleName.NEUTRAL, PrincipleName.NO_SPECULATION)
        judged = (_judge_neutral(note), _judge_opinion(note, float(chance), ()))
        found.append(tuple(PrincipleResult.not_run(name, reason) for name in both) if reason else judged)
    return tuple(found)


def _explain_not_judged(note: str) -> str:
    return foreign_note(note) if content_tokens(without_urls(note)) else "The note has no words yet."


def _build_pass_or_fail(name: PrincipleName, good: str, bad: str, findings: Iterable[Finding]) -> PrincipleResult:
    found = tuple(findings)
    return PrincipleResult(
        principle=name,
        status=GateStatus.FAIL if found else GateStatus.PASS,
        reason=bad if found else good,
        findings=found,
    )


def _build_findings_at(note: str, spans: Iterable[Span], text: str) -> list[Finding]:
    return [Finding(message=fill(text, words=note[span.start : span.end]), span=span) for span in spans]


def _judge_neutral(note: str) -> PrincipleResult:
    findings = [
        *_build_findings_at(note, tone.loaded_words(note), "“{words}” takes a side."),
        *_build_findings_at(note, tone.shouting(note), "“{words}” reads like shouting."),
        *_build_findings_at(note, tone.questions(note), "State the fact instead of asking."),
    ]
    good, bad = "No loaded words, insults or shouting.", "Some words take a side."
    return _build_pass_or_fail(PrincipleName.NEUTRAL, good, bad, findings)


def _judge_opinion(note: str, probability: float, words: Sequence[Span]) -> PrincipleResult:
    """Judge by word lists, and by the trained head, which finds opinion beyond any word list."""
    findings = [
        *_build_findings_at(note, tone.speculative_words(note), "“{words}” is opinion or a guess."),
        *_build_findings_at(note, tone.first_person(note), "“{words}” makes it your view."),
    ]
    good, bad = "No words of opinion or guesses.", "Some words are opinion or a guess."
    if probability >= _OPINION_FROM:
        share = f"{probability:.0%} of such notes were judged opinion or hostile"
        bad = f"It reads as opinion: {share}."
        listed = {finding.span for finding in findings}
        new = [span for span in words if span not in listed]
        findings += _build_findings_at(note, new, "“{words}” is typical of notes that argue.")
        findings = findings or [Finding(message=f"The wording as a whole: {share}.")]
    result = _build_pass_or_fail(PrincipleName.NO_SPECULATION, good, bad, findings)
    return result.replace(probability=round(1 - probability, 4))


def _judge_addresses_claim(embedder: Embedder, post: Post, words: str) -> PrincipleResult | None:
    """Fail a note that is far from the post; None for others, which may speak of its subject and not of its claim."""
    question = plain_post(post.text)
    reason = foreign_post(post) if question else "The post has no text to compare the note with."
    if reason:
        return PrincipleResult.not_run(PrincipleName.ADDRESSES_CLAIM, reason)
    vectors = embedder.encode([question, words])
    cosine, needed = float(vectors[0] @ vectors[1]), embedder.thresholds.addresses
    if cosine >= needed:
        return None
    scale = f"similarity {of_needed(cosine, needed)}"
    reason, fault = f"It does not answer the post ({scale}).", f"The note is far from the post ({scale})."
    return _build_failure(PrincipleName.ADDRESSES_CLAIM, reason, fault)


def _judge_context(words: str) -> PrincipleResult | None:
    """Fail a note without content; None for others, as only who knows the subject can say whether it is true."""
    if tone.BARE_VERDICT.match(words):
        fault = "It only says that the post is wrong. Say what is true."
    elif len(content_tokens(words)) < _MIN_CONTEXT_WORDS:
        fault = "It is too short to tell readers something new."
    else:
        return None
    return _build_failure(PrincipleName.CONTEXT, "It gives readers little they can use.", fault)


def _build_failure(name: PrincipleName, reason: str, fault: str) -> PrincipleResult:
    found = (Finding(message=fault),)
    return PrincipleResult(principle=name, status=GateStatus.FAIL, reason=reason, findings=found)


def _judge_readable(note: str, words: str) -> PrincipleResult:
    read = tone.reading(words)
    findings = []
    if read.longest_sentence is not None and read.longest_words > _MAX_SENTENCE_WORDS:
        opening = words[read.longest_sentence.start : read.longest_sentence.end]
        place = note.find(opening)
        span = Span(start=place, end=place + len(opening)) if place >= 0 else None
        findings.append(Finding(message=f"Split the sentence of {read.longest_words} words.", span=span))
    if read.ease is not None and read.ease < _MIN_READING_EASE:
        findings.append(Finding(message=f"Use shorter words: reading ease {read.ease:.0f} (30 hard, 60 plain)."))
    good, bad = "Short enough sentences and words.", "It is hard to read."
    return _build_pass_or_fail(PrincipleName.READABLE, good, bad, findings)


def opinion_blocks(embedder: Embedder, fitted_to: str, notes: Sequence[str]) -> Blocks:
    """Return the features of the opinion head; no vectors without the embedder that it was fitted to."""
    vectors = vectors_of(embedder, fitted_to, [note_words(note) for note in notes])
    features = opinion_features(notes)
    return {"words": word_counts(notes), "letters": letter_counts(notes), "note": vectors, "features": features}


def opinion_features(notes: Sequence[str]) -> FloatArray:
    """Return length, links, and marks of tone, which word counts do not show; shape (notes, features)."""
    rows = []
    for note in notes:
        text, words = html.unescape(note), note_words(note)
        hosts = linked_hosts(note)
        found = (
            not hosts,
            len(set(hosts)),
            math.log1p(len(words)),
            len(tone.loaded_words(text)),
            len(tone.speculative_words(text)),
            len(tone.first_person(text)),
            len(tone.questions(text)),
            len(tone.shouting(text)),
            words.count("!"),
            len(_NUMBER_PATTERN.findall(words)),
            len(_QUOTATION.findall(words)),
            words[:1].islower(),
        )
        rows.append([min(_MAX_FEATURE_COUNT, float(value)) for value in found])
    return np.array(rows, dtype=np.float32)


def read_opinion(embedder: Embedder, note: str) -> tuple[float, tuple[Span, ...]]:
    """Return the probability that a note is opinion or hostile, and the words that add most to it, strongest first.

    What a word adds is measured by removing it; with another embedder than the head's, only words and letters count.
    """
    head = shipped_head(OPINION)
    blocks = opinion_blocks(embedder, head.embedder, [note])
    words = tone.matches(_WORD_PATTERN, note)
    spans = [span for span in words if note[span.start : span.end].lower() not in ENGLISH_STOP_WORDS][
        :_MAX_JUDGED_WORDS
    ]
    counters = {"words": word_counts, "letters": letter_counts, "features": opinion_features}
    explained = head.explained(blocks, without_each(note, spans), counters)
    ranked = sorted(zip(explained.gains, spans, strict=True), key=lambda item: -item[0])
    return explained.probability, tuple(span for gain, span in ranked[:_MAX_NAMED_WORDS] if gain >= _MIN_WORD_EFFECT)
