"""Gate 1: does any passage help to judge the post (CrowdNotes+ 4.3 and E.1)? A cosine and its threshold."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from crowdnotes.domain import Evidence, Finding, GateName, GateResult, GateStatus, Post
from crowdnotes.embedding import Embedder, FloatArray
from crowdnotes.engines.local.claims import find_claims
from crowdnotes.engines.local.foreign_terms import foreign_passages, foreign_post, in_english
from crowdnotes.settings import GateSettings
from crowdnotes.text.publishers import publisher_name
from crowdnotes.text.sentences import split_sentences, split_units
from crowdnotes.text.stems import content_stems, content_tokens, plain_post

_FEWEST_DIGITS = 2
_MOST_DIGITS = 4


def of_needed(score: float, threshold: float) -> str:
    """Both, as "0.55 of the 0.82 needed", with the two to four digits that it takes to tell them apart."""
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS + 1):
        if f"{score:.{digits}f}" != f"{threshold:.{digits}f}":
            return f"{score:.{digits}f} of the {threshold:.{digits}f} needed"
    return f"{score:.{_FEWEST_DIGITS}f} of the {threshold:.{_FEWEST_DIGITS}f} needed"


def judge_relevance(embedder: Embedder, settings: GateSettings, post: Post, evidence: Sequence[Evidence]) -> GateResult:
    """PASS if a passage that is no satire reaches the line. NOT_RUN without either side; one finding a passage.

    NOT_RUN too for a post in another language than English, and when only passages in one may be relevant.
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
    # Satire that does not say so cannot reach the line, however near it is in meaning.
    scores = [
        min(score, threshold - 0.01) if is_satire_unsaid(item) else score
        for item, score in zip(evidence, _nearness(embedder, asked_of(post, question), evidence), strict=True)
    ]
    findings = tuple(_finding(question, *pair, threshold) for pair in zip(evidence, scores, strict=True))
    helpful = sum(finding.ok for finding in findings)
    if not helpful and not_compared:
        return GateResult.not_run(GateName.RELEVANCE, not_compared).model_copy(update={"findings": findings})
    near = f"{helpful} of {len(scores)} passages bear on the post. {not_compared}".rstrip()
    return GateResult(
        gate=GateName.RELEVANCE,
        status=GateStatus.PASS if helpful else GateStatus.FAIL,
        reason=near if helpful else "No passage is close enough to what the post says to help a reader judge it.",
        score=round(max(scores), 4),
        threshold=threshold,
        findings=findings,
    )


def asked_of(post: Post, question: str) -> list[str]:
    """What passages are held against: the post's words (`question`, as prose), then each of its claims."""
    return [question, *(claim.text for claim in find_claims(post))]


def nearest_to(embedder: Embedder, asked: Sequence[str], texts: Sequence[str]) -> FloatArray:
    """The cosine of each text to what it is nearest to of `asked`; shape (texts,)."""
    vectors = embedder.encode([*asked, *texts])
    near: FloatArray = (vectors[len(asked) :] @ vectors[: len(asked)].T).max(axis=1)
    return near


def _nearness(embedder: Embedder, asked: Sequence[str], evidence: Sequence[Evidence]) -> list[float]:
    """For each passage the mean of its whole and its nearest piece, to the post or its nearest claim, in [0, 1]."""
    texts = [[item.passage.text, *(unit.text for unit in split_units(item.passage.text))] for item in evidence]
    near = nearest_to(embedder, asked, [text for of_one in texts for text in of_one])
    out = []
    for of_one in texts:
        block, near = near[: len(of_one)], near[len(of_one) :]
        out.append(float(np.clip((block[0] + block[1:].max(initial=block[0])) / 2, 0.0, 1.0)))
    return out


_SATIRE = re.compile(
    r"\b(?:satir(?:e|ical|ist\w*)|parod(?:y|ies)|spoof\w*|(?:purely|entirely|all) fictional|"
    r"for entertainment purposes only|humou?r (?:site|website|paper|magazine|column))\b",
    re.IGNORECASE,
)
_SELF = re.compile(
    r"\b(?:we|our|us|this (?:is|site|website|page|paper|newspaper|article|story|publication|account|magazine))\b",
    re.IGNORECASE,
)


def is_satire_unsaid(item: Evidence) -> bool:
    """Whether the source says of itself that it is satire, and this passage does not.

    A page that reports on someone else's satire is none: the sentence must name the source or say "we".
    """
    source, passage = item.source, item.passage
    if _SATIRE.search(passage.text):
        return False
    if _SATIRE.search(f"{source.title} {source.publisher or ''}"):
        return True
    own = {token.folded for token in content_tokens(source.publisher or publisher_name(source) or source.title)}
    for text in (passage.before, passage.after):
        for span in split_sentences(text) if _SATIRE.search(text) else ():
            sentence = text[span.start : span.end]
            words = {token.folded for token in content_tokens(sentence)}
            if _SATIRE.search(sentence) and (_SELF.search(sentence) or (own and own <= words)):
                return True
    return False


def _finding(question: str, item: Evidence, score: float, threshold: float) -> Finding:
    if is_satire_unsaid(item):
        message = f"{item.id} does not bear on the post: its source is satire, and this passage does not say so."
        return Finding(message=message, evidence_id=item.id)
    ok = score >= threshold
    in_passage = content_stems(item.passage.text)
    shared = dict.fromkeys(token.folded for token in content_tokens(question) if token.stem in in_passage)
    about = f"; both speak of {', '.join(list(shared)[:3])}" if shared else "; they share no key word"
    verdict = "bears on the post" if ok else "is too far from the post"
    return Finding(message=f"{item.id} {verdict}: {of_needed(score, threshold)}{about}.", evidence_id=item.id, ok=ok)
