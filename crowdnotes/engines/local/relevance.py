"""Gate 1: does any passage give context that helps to judge the post (CrowdNotes+ 4.3 and E.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crowdnotes.domain import Evidence, Finding, GateName, GateResult, GateStatus, Post
from crowdnotes.embedding import Embedder
from crowdnotes.engines.local.claims import find_claims
from crowdnotes.engines.local.units import split_units
from crowdnotes.engines.local.words import content_tokens, plain_post
from crowdnotes.settings import GateSettings

_READ_CLAIMS = 3


def judge_relevance(embedder: Embedder, settings: GateSettings, post: Post, evidence: Sequence[Evidence]) -> GateResult:
    """PASS if the best passage reaches `settings.relevance`; one finding a passage. NOT_RUN without either side."""
    question = plain_post(post.text)
    if not evidence:
        return _not_run("There is no evidence to judge yet.")
    if not question:
        return _not_run("The post has no words to compare the evidence with.")
    scores = _scores(embedder, post, question, evidence)
    findings = tuple(
        _finding(post, item, score, settings.relevance) for item, score in zip(evidence, scores, strict=True)
    )
    best = max(scores)
    helpful = sum(score >= settings.relevance for score in scores)
    passed = helpful > 0
    if passed:
        reason = f"{helpful} of {len(scores)} passages bear on the post."
    else:
        reason = "No passage is close enough to what the post says to help a reader judge it."
    return GateResult(
        gate=GateName.RELEVANCE,
        status=GateStatus.PASS if passed else GateStatus.FAIL,
        reason=reason,
        score=round(best, 4),
        threshold=settings.relevance,
        findings=findings,
    )


def _scores(embedder: Embedder, post: Post, question: str, evidence: Sequence[Evidence]) -> list[float]:
    """For each passage the mean of its whole and its nearest piece, to the post or its nearest claim, in [0, 1]."""
    asked = [question, *(plain_post(claim.text) for claim in find_claims(post)[:_READ_CLAIMS])]
    pieces = [[item.passage.text, *(unit.text for unit in split_units(item.passage.text))] for item in evidence]
    flat = [text for texts in pieces for text in texts]
    vectors = embedder.encode([*asked, *flat])
    cosines = vectors[len(asked) :] @ vectors[: len(asked)].T
    out = []
    at = 0
    for texts in pieces:
        block = cosines[at : at + len(texts)]
        at += len(texts)
        whole = float(block[0].max())
        nearest = float(block[1:].max()) if len(block) > 1 else whole
        out.append(float(np.clip((whole + nearest) / 2, 0.0, 1.0)))
    return out


def _finding(post: Post, item: Evidence, score: float, threshold: float) -> Finding:
    ok = score >= threshold
    in_passage = {token.stem for token in content_tokens(item.passage.text)}
    shared: list[str] = []
    for token in content_tokens(plain_post(post.text)):
        if token.stem in in_passage and token.folded not in shared:
            shared.append(token.folded)
    about = f"; both speak of {', '.join(shared[:3])}" if shared else "; they share no key word"
    verdict = "bears on the post" if ok else "is too far from the post"
    return Finding(
        message=f"{item.id} {verdict}: {score:.2f} of the {threshold:.2f} needed{about}.", evidence_id=item.id, ok=ok
    )


def _not_run(reason: str) -> GateResult:
    return GateResult(gate=GateName.RELEVANCE, status=GateStatus.NOT_RUN, reason=reason)
