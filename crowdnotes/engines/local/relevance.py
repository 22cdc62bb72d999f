"""Gate 1: does any passage give context that helps to judge the post (CrowdNotes+ 4.3 and E.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crowdnotes.domain import Evidence, Finding, GateName, GateResult, GateStatus, Post
from crowdnotes.embedding import Embedder
from crowdnotes.engines.local.foreign_terms import foreign_passages, foreign_post, in_english
from crowdnotes.engines.local.polarity import split_units
from crowdnotes.engines.local.quotable import statements
from crowdnotes.engines.local.subjects import SILENT, Subject, subject_of, subjects_of, text_stems, what_is_missing
from crowdnotes.engines.local.support import of_needed
from crowdnotes.engines.local.writing import answers, is_satirical, says_satire
from crowdnotes.settings import GateSettings
from crowdnotes.text.stems import content_tokens, plain_post

# How much nearer than the line a passage is taken to speak of the claim though no sentence is seen to: read on 76
# sets of passages judged by hand; on 47 newer ones 61 % of the helpful and 25 % of the unhelpful sets pass.
_BY_NEARNESS = 0.12


def judge_relevance(embedder: Embedder, settings: GateSettings, post: Post, evidence: Sequence[Evidence]) -> GateResult:
    """PASS if a passage names the claim's subject and reaches the line. NOT_RUN without either side.

    NOT_RUN too for a post in another language than English, and when only passages in one may be relevant. One
    finding a passage; that of a passage on the general topic alone says which subject it lacks.
    """
    question = plain_post(post.text)
    foreign = foreign_post(post)
    if foreign:
        return GateResult.not_run(GateName.RELEVANCE, foreign)
    if not evidence:
        return GateResult.not_run(GateName.RELEVANCE, "There is no evidence to judge yet.")
    if not question:
        return GateResult.not_run(GateName.RELEVANCE, "The post has no words to compare the evidence with.")
    not_compared, evidence = foreign_passages(evidence), in_english(evidence)
    if not evidence:
        return GateResult.not_run(GateName.RELEVANCE, not_compared)
    threshold = embedder.thresholds.relevant if settings.relevance is None else settings.relevance
    subjects = subjects_of(post) or [subject_of(question)]
    findings = []
    scores = []
    faults = []
    for item, near in zip(evidence, _nearness(embedder, question, subjects, evidence), strict=True):
        fault = _fault(subjects, item, near.speaks or near.similarity >= threshold + _BY_NEARNESS)
        # What does not speak of the claim's subject cannot reach the line, however near it is in meaning.
        score = min(near.similarity, threshold - 0.01) if fault else near.similarity
        scores.append(score)
        faults.append(fault)
        findings.append(_finding(question, item, score, threshold, fault))
    best = max(scores)
    helpful = sum(score >= threshold for score in scores)
    passed = helpful > 0
    if not passed and not_compared:
        return GateResult.not_run(GateName.RELEVANCE, not_compared).model_copy(update={"findings": tuple(findings)})
    if passed:
        reason = f"{helpful} of {len(scores)} passages bear on the post. {not_compared}".rstrip()
    else:
        reason = "No passage is close enough to what the post says to help a reader judge it."
        if all(faults):
            reason = what_is_missing(subjects, (_all_text(item) for item in evidence))
    return GateResult(
        gate=GateName.RELEVANCE,
        status=GateStatus.PASS if passed else GateStatus.FAIL,
        reason=reason,
        score=round(best, 4),
        threshold=threshold,
        findings=tuple(findings),
    )


@dataclass(frozen=True, slots=True)
class _Near:
    """How near a passage is to the post, in [0, 1], and whether it says something of what the post claims."""

    similarity: float
    speaks: bool


def _nearness(
    embedder: Embedder, question: str, subjects: Sequence[Subject], evidence: Sequence[Evidence]
) -> list[_Near]:
    """For each passage the mean of its whole and its nearest piece, to the post or its nearest claim."""
    asked = [question, *(subject.text for subject in subjects)]
    pieces = [_pieces(item.passage.text) for item in evidence]
    flat = [text for item, texts in zip(evidence, pieces, strict=True) for text in (item.passage.text, *texts)]
    vectors = embedder.encode([*asked, *flat])
    cosines = vectors[len(asked) :] @ vectors[: len(asked)].T
    out = []
    at = 0
    for item, texts in zip(evidence, pieces, strict=True):
        block = cosines[at : at + len(texts) + 1]
        at += len(texts) + 1
        whole = float(block[0].max())
        nearest = float(block[1:].max()) if len(block) > 1 else whole
        speaks = any(
            answers(subject, f"{before} {text}".strip(), float(row[1 + number]), item.source.title)
            for before, text, row in zip(["", *texts], texts, block[1:], strict=False)
            for number, subject in enumerate(subjects)
        )
        out.append(_Near(float(np.clip((whole + nearest) / 2, 0.0, 1.0)), speaks))
    return out


def _pieces(passage: str) -> list[str]:
    """Its sentences and list items, and each item with its lead-in."""
    items = (statement.text for statement in statements(passage) if statement.is_item)
    return [*(unit.text for unit in split_units(passage)), *items]


def _all_text(item: Evidence) -> str:
    return f"{item.source.title} {item.passage.text}"


def _fault(subjects: Sequence[Subject], item: Evidence, speaks: bool) -> str:
    """Why a passage cannot help whatever its similarity; "" when it may.

    It lacks the subject, or says nothing of what the post says of it, or is a joke.
    """
    if is_satirical(item) and not says_satire(item.passage.text):
        return "its source is satire, and this passage does not say so"
    stems = text_stems(_all_text(item))
    is_named = any(subject.is_named_by(stems) for subject in subjects)
    if speaks and is_named:
        return ""
    if is_named:
        return "it has the subject, but does not speak of what the post says of it"
    return f"it shares the general topic at most. {what_is_missing(subjects, [_all_text(item)])}".replace(
        SILENT, "It does not speak about"
    ).removesuffix(".")


def _finding(question: str, item: Evidence, score: float, threshold: float, fault: str) -> Finding:
    if fault:
        return Finding(message=f"{item.id} does not bear on the post: {fault}.", evidence_id=item.id, ok=False)
    ok = score >= threshold
    in_passage = {token.stem for token in content_tokens(item.passage.text)}
    shared: list[str] = []
    for token in content_tokens(question):
        if token.stem in in_passage and token.folded not in shared:
            shared.append(token.folded)
    about = f"; both speak of {', '.join(shared[:3])}" if shared else "; they share no key word"
    verdict = "bears on the post" if ok else "is too far from the post"
    return Finding(message=f"{item.id} {verdict}: {of_needed(score, threshold)}{about}.", evidence_id=item.id, ok=ok)
