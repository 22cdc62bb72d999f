"""Gate 3: would raters of different views find the note helpful, by a trained head, with what moved it.

The head (assets/judges/helpfulness.md) gives a calibrated probability; the gate passes it from
`settings.helpfulness` on. The caller cuts the text to 280 first (CrowdNotes+ E.3).
"""

from __future__ import annotations

from crowdnotes.domain import Finding, GateName, GateResult, GateStatus, Post
from crowdnotes.embedding import Embedder
from crowdnotes.engines.local.foreign_terms import foreign_note, foreign_post
from crowdnotes.engines.local.heads.link_kinds import linked_hosts
from crowdnotes.engines.local.heads.reasons import NO_LINK, Reason, reasons_for
from crowdnotes.engines.local.heads.samples import note_words, pair_sample, taught_reads, vector_of
from crowdnotes.engines.local.heads.shipped import helpfulness_head, note_reader_for, readings
from crowdnotes.engines.local.support import of_needed
from crowdnotes.engines.local.tone import BARE_VERDICT, insults
from crowdnotes.settings import GateSettings
from crowdnotes.text.stems import content_tokens, plain_post

_MOST_REASONS = 3
_OTHER_EMBEDDER = "Similarity of note and post was left out: the judge was trained with another embedding model."


def judge_helpfulness(embedder: Embedder, settings: GateSettings, post: Post, note: str) -> GateResult:
    """The probability against `settings.helpfulness`; NOT_RUN for a note without words, or not in English.

    What no note of the training was, the head cannot judge: a note without a link, a bare "false" or an insult
    fails by rule.
    """
    words = note_words(note)
    if not content_tokens(words):
        reason = "The note has no words to judge yet."
        return GateResult(gate=GateName.HELPFULNESS, status=GateStatus.NOT_RUN, reason=reason)
    foreign = foreign_note(note) or foreign_post(post)
    if foreign:
        return GateResult(gate=GateName.HELPFULNESS, status=GateStatus.NOT_RUN, reason=foreign)
    head = helpfulness_head()
    post_vector, note_vector = vector_of(embedder, head.embedder, [plain_post(post.text), words])
    reader = note_reader_for(embedder)
    taught = taught_reads(reader, [(post, note)])[0] if reader is not None else None
    sample = pair_sample(post, note, readings(), post_vector, note_vector, taught)
    parts = head.judge(sample)
    found = reasons_for(plain_post(post.text), note, sample, parts)
    score = round(parts.probability, 4)
    rules = _broken_rules(note, words)
    if rules:
        score = min(score, round(settings.helpfulness / 2, 4))
        found = [*rules, *(reason for reason in found if reason.message not in {rule.message for rule in rules})]
    passed = score >= settings.helpfulness
    return GateResult(
        gate=GateName.HELPFULNESS,
        status=GateStatus.PASS if passed else GateStatus.FAIL,
        reason=_sentence(found, score, settings.helpfulness),
        score=score,
        threshold=settings.helpfulness,
        probability=score,
        findings=(
            *(Finding(message=reason.message, span=reason.span, ok=reason.worth > 0) for reason in found),
            *([Finding(message=_OTHER_EMBEDDER, ok=False)] if note_vector is None else []),
        ),
    )


def _broken_rules(note: str, words: str) -> list[Reason]:
    broken = []
    if BARE_VERDICT.match(words):
        broken.append(Reason("it only says that the post is wrong", worth=-1.0))
    if not linked_hosts(note):
        broken.append(Reason(NO_LINK, worth=-1.0))
    broken += [Reason(f"an insult: “{note[span.start : span.end]}”", worth=-1.0, span=span) for span in insults(note)]
    return broken


def _sentence(found: list[Reason], score: float, needed: float) -> str:
    passed = score >= needed
    start = "Likely to be rated helpful" if passed else "Unlikely to be rated helpful as it is"
    reason = f"{start}: probability {of_needed(score, needed)}."
    against = [each.message for each in found if each.worth < 0][:_MOST_REASONS]
    if against:
        reason += f" What counts most against it: {'; '.join(against)}."
    return reason
