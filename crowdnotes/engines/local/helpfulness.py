"""Judge by a trained head whether raters of different views find the note helpful (gate 3), and why.

The head (assets/judges/helpfulness.md) gives a calibrated probability; the gate passes it from
`settings.helpfulness` on. The caller cuts the text to 280 first (CrowdNotes+ E.3).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import exp

import numpy as np

from crowdnotes.domain import Finding, GateName, GateResult, GateStatus, Post, Span, in_100
from crowdnotes.engines.embedding import Embedder
from crowdnotes.engines.local import tone
from crowdnotes.engines.local.health_terms import foreign_note, foreign_post
from crowdnotes.engines.local.relevance import of_needed
from crowdnotes.engines.local.trained_models import (
    HELPFULNESS,
    Blocks,
    Explained,
    linked_hosts,
    note_words,
    readable_note,
    readable_post,
    reader_for,
    shipped_head,
    vectors_of,
    without_each,
    word_counts,
)
from crowdnotes.settings_sections import GateSettings
from crowdnotes.text.tokens import content_tokens, plain_post, stem, tokens
from crowdnotes.wording import fill

_MAX_REASONS = 3
_MAX_NAMED_WORDS = 3
_MIN_BLOCK_EFFECT = 0.05  # of the probability; what moves it less is not worth a sentence
_MIN_WORD_EFFECT = 0.015  # the same of one word
_WORD_PATTERN = re.compile(r"\w\w+")


@dataclass(frozen=True, slots=True)
class _Reason:
    """One sentence part; `worth` is above 0 when it speaks for the note; the furthest from 0 comes first."""

    message: str
    worth: float
    span: Span | None = None


def judge_helpfulness(embedder: Embedder, settings: GateSettings, post: Post, note: str) -> GateResult:
    """The probability against `settings.helpfulness`; NOT_RUN for a note without words, or not in English.

    What no note of the training was, the head cannot judge: a note without a link, a bare "false" or an insult
    fails by rule.
    """
    words = note_words(note)
    if not content_tokens(words):
        reason = "The note has no words to judge yet."
        return GateResult.not_run(GateName.HELPFULNESS, reason)
    foreign = foreign_note(note) or foreign_post(post)
    if foreign:
        return GateResult.not_run(GateName.HELPFULNESS, foreign)
    head, reader = shipped_head(HELPFULNESS), reader_for(embedder)
    blocks = helpfulness_blocks(reader, head.embedder, [(post, note)])
    tone_words = _find_tone_words(post, note)
    explained = head.explained(blocks, without_each(note, list(tone_words.values())), {"words": word_counts})
    score = round(explained.probability, 4)
    broken = list(_find_broken_rules(note, words))
    if broken:
        score = min(score, round(settings.helpfulness / 2, 4))
    found = sorted(
        [*broken, *_explain_blocks(explained, blocks), *_explain_words(explained, tone_words)],
        key=lambda reason: -abs(reason.worth),
    )
    return GateResult(
        gate=GateName.HELPFULNESS,
        status=GateStatus.PASS if score >= settings.helpfulness else GateStatus.FAIL,
        reason=_write_gate_reason(found, score, settings.helpfulness, by_rule=bool(broken)),
        score=score,
        threshold=settings.helpfulness,
        probability=score,
        findings=(
            *(Finding(message=reason.message, span=reason.span, ok=reason.worth > 0) for reason in found),
            *(
                [
                    Finding(
                        message=(
                            "Similarity of note and post was left out: the judge was trained with another embedding "
                            "model."
                        ),
                        ok=False,
                    )
                ]
                if blocks["note"] is None
                else []
            ),
        ),
    )


def helpfulness_blocks(reader: Embedder | None, fitted_to: str, pairs: list[tuple[Post, str]]) -> Blocks:
    """What the head looks at of each note and the post above it; no vectors without the reader it was fitted to."""
    notes = [note for _, note in pairs]
    texts = [readable_note(note) for note in notes] + [readable_post(plain_post(post.text)) for post, _ in pairs]
    vectors = None if reader is None else vectors_of(reader, fitted_to, texts)
    of_notes, of_posts = (None, None) if vectors is None else np.split(vectors, 2)
    return {"words": word_counts(notes), "note": of_notes, "post": of_posts}


def _find_broken_rules(note: str, words: str) -> Iterator[_Reason]:
    if tone.BARE_VERDICT.match(words):
        yield _Reason("it only says that the post is wrong", worth=-1.0)
    if not linked_hosts(note):
        yield _Reason("it has no source link", worth=-1.0)
    for span in tone.insults(note):
        yield _Reason(f"an insult: “{note[span.start : span.end]}”", worth=-1.0, span=span)


def _explain_blocks(explained: Explained, blocks: Blocks) -> Iterator[_Reason]:
    """The note as a whole, and what lies in the post, which no wording can change."""
    worths = explained.worths
    sentences = (
        ("note", "it reads like notes that raters of both camps approve", "it reads unlike notes that raters approve"),
        ("post", "notes under posts like this are often rated helpful", "notes under such posts are seldom shown"),
    )
    for name, good, bad in sentences:
        if blocks[name] is not None and abs(worths[name]) / 4 >= _MIN_BLOCK_EFFECT:
            yield _Reason(good if worths[name] > 0 else bad, worths[name] / 4)  # near 0.5, log-odds / 4 is probability


def _find_tone_words(post: Post, note: str) -> dict[str, Span]:
    """The words that say how something is said, and where each stands; none that the post has too.

    What the note is about and whom it cites move the probability too, but no writer can do without them.
    """
    in_post = {token.stem for token in tokens(plain_post(post.text))}
    words = ((note[span.start : span.end], span) for span in tone.matches(_WORD_PATTERN, note))
    found = [(word.lower(), span) for word, span in words if word != "US"]  # the country is no pronoun
    return {word: span for word, span in found if tone.is_about_tone(word) and stem(word) not in in_post}


def _explain_words(explained: Explained, tone_words: Mapping[str, Span]) -> Iterator[_Reason]:
    """The words of tone that move the probability most, told by leaving each out."""
    ranked = sorted(zip(explained.gains, tone_words.items(), strict=True), key=lambda item: item[0])
    for named, text in (
        (
            [item for item in ranked[:_MAX_NAMED_WORDS] if item[0] <= -_MIN_WORD_EFFECT],
            "notes with such words were rated lower: {words}",
        ),
        (
            [item for item in ranked[::-1][:_MAX_NAMED_WORDS] if item[0] >= _MIN_WORD_EFFECT],
            "notes with these were rated higher: {words}",
        ),
    ):
        if named:
            listed = ", ".join(f"“{word}”" for _, (word, _) in named)
            yield _Reason(fill(text, words=listed), sum(gain for gain, _ in named), named[0][1][1])


# Raters grew stricter: of the newest quarter of the training notes (216, November 2024 to August 2025), 36 in 100 were
# rated helpful, and the held-out probabilities are too high for them by this much in log-odds (95 %: 0.33 to 0.92).
_STRICTER_LOG_ODDS = 0.60
_RECENT_HELPFUL_SHARE = 0.356


def of_recent(probability: float) -> float:
    """The share of recent notes with that probability that were rated helpful."""
    odds = probability / max(1e-6, 1 - probability) * exp(-_STRICTER_LOG_ODDS)
    return odds / (1 + odds)


def _write_gate_reason(found: list[_Reason], score: float, needed: float, *, by_rule: bool) -> str:
    passed = score >= needed
    name = (
        (
            "About {n} of 100 recent notes with such a score were rated helpful, and about {all} of 100 of all recent "
            "notes. It judges the words, not whether they are true ({probability})."
        )
        if passed
        else "Unlikely to be rated helpful as it is ({probability})."
        if by_rule
        else (
            "Unlikely to be rated helpful as it is: about {n} of 100 recent notes with such a score were, and about "
            "{all} of 100 of all recent notes ({probability})."
        )
    )
    shares = {} if by_rule else {"n": in_100(of_recent(score)), "all": in_100(_RECENT_HELPFUL_SHARE)}
    reason = fill(name, probability=of_needed(score, needed), **shares)
    against = [each.message for each in found if each.worth < 0][:_MAX_REASONS]
    if not against and not passed:
        against = ["its words and sites, taken together"]
    if against:
        reason += f" What counts most against it: {'; '.join(against)}."
    return reason


class TrainedJudge:
    """The trained head, on this machine, without a model server (assets/judges/helpfulness.md)."""

    name = "trained head"
    server = ""
    prompt_version = None

    def __init__(self, embedder: Embedder, settings: GateSettings) -> None:
        self._embedder = embedder
        self._settings = settings

    def judge(self, post: Post, note: str) -> GateResult:
        """See `local.helpfulness.judge_helpfulness`."""
        return judge_helpfulness(self._embedder, self._settings, post, note)
