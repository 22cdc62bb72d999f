"""Gate 3: signals from the official criteria, each weighted and shown; not a trained judge.

Criteria: communitynotes.x.com/guide (cite sources, address the claim, add context, be neutral and
clear). The caller cuts the text to 280 first (CrowdNotes+ E.3). Weights are round numbers, set by hand
and checked on the development half of HealthNotes; a later version is trained.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from crowdnotes.domain import Finding, GateName, GateResult, GateStatus, Post, Span
from crowdnotes.embedding import Embedder
from crowdnotes.engines.local import tone
from crowdnotes.engines.local.readability import reading
from crowdnotes.engines.local.scores import of_needed
from crowdnotes.engines.local.words import content_tokens, plain_post
from crowdnotes.note_text import find_urls, without_urls
from crowdnotes.settings import GateSettings

_OFF_TOPIC, _ON_TOPIC = 0.15, 0.6  # cosines of note and post between which the credit rises
_FEW_WORDS, _ENOUGH_WORDS = 3, 14  # content words, likewise
_HARD, _PLAIN = 0.0, 30.0  # Flesch ease, likewise; medical words alone push plain notes into the thirties
_CREDIT_BY_SOURCES = (0.2, 0.55, 0.85, 1.0)  # by distinct sites that are not social media; 0.2 for a social one
_SOCIAL = re.compile(
    r"(?:^|\.)(?:x|twitter|t|facebook|instagram|youtube|youtu|tiktok|reddit|medium|substack|threads)\.(?:com|"
    r"co|be|net)$"
)
_SETS_RIGHT = re.compile(
    r"\b(?:no (?:\w+ )?evidence|not|no|never|false|myth|debunked|incorrect|misleading|inaccurate|satire|however|"
    r"actually|in fact|cannot|\w+n['’]t)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Signal:
    """One criterion: its weight, its credit in [0, 1], what to say if met or not, the words in question."""

    weight: float
    credit: float
    good: str
    bad: str
    spans: tuple[Span, ...] = ()

    @property
    def met(self) -> bool:
        return self.credit >= 0.5


def judge_helpfulness(embedder: Embedder, settings: GateSettings, post: Post, note: str) -> GateResult:
    """The weighted share of the criteria met, against `settings.helpfulness`. NOT_RUN for a note without words."""
    words = without_urls(note)
    if not content_tokens(words):
        reason = "The note has no words to judge yet."
        return GateResult(gate=GateName.HELPFULNESS, status=GateStatus.NOT_RUN, reason=reason)
    signals = [*_topic(embedder, post, words), _sources(note), *_substance(words), *_tone(note)]
    score = sum(signal.weight * signal.credit for signal in signals) / sum(signal.weight for signal in signals)
    score = min(1.0, max(0.0, score))
    passed = score >= settings.helpfulness
    missing = sorted(signals, key=lambda signal: -signal.weight * (1 - signal.credit))
    missed = [signal.bad for signal in missing if signal.credit < 0.75]
    start = "Likely to help readers" if passed else "Unlikely to help readers as it is"
    reason = f"{start}: {of_needed(score, settings.helpfulness)}."
    if missed:
        reason += f" What counts most against it: {'; '.join(missed[:3])}."
    findings = tuple(
        Finding(message=signal.good if signal.met else signal.bad, span=next(iter(signal.spans), None), ok=signal.met)
        for signal in signals
    )
    return GateResult(
        gate=GateName.HELPFULNESS,
        status=GateStatus.PASS if passed else GateStatus.FAIL,
        reason=reason,
        score=round(score, 4),
        threshold=settings.helpfulness,
        findings=findings,
    )


def _topic(embedder: Embedder, post: Post, words: str) -> list[_Signal]:
    question = plain_post(post.text)
    if not question:  # only an image or a link: closeness to the text says nothing
        return []
    vectors = embedder.encode([question, words])
    credit = _between(float(vectors[0] @ vectors[1]), _OFF_TOPIC, _ON_TOPIC)
    return [_Signal(4, credit, "it addresses what the post says", "it is far from what the post says")]


def _sources(note: str) -> _Signal:
    hosts = {_host(url.url) for url in find_urls(note) if url.has_scheme}
    sites = {host for host in hosts if not _SOCIAL.search(host)}
    credit = _CREDIT_BY_SOURCES[min(3, len(sites))] if hosts else 0.0
    if not hosts:
        bad = "it cites no source"
    elif not sites:
        bad = "it cites social media alone"
    else:
        bad = "it cites one site; a second, independent one would help"
    return _Signal(4, credit, "it cites sources", bad)


def _substance(words: str) -> list[_Signal]:
    fullness = _between(len(content_tokens(words)), _FEW_WORDS, _ENOUGH_WORDS)
    ease = reading(words).ease
    plain = 1.0 if ease is None else _between(ease, _HARD, _PLAIN)
    right = 1.0 if _SETS_RIGHT.search(words) or not words.isascii() else 0.0
    bare = 0.0 if tone.BARE_VERDICT.match(words) else 1.0
    verdict = "it only says that the post is wrong"
    return [
        _Signal(1.5, fullness, "it tells readers something", "it says little that readers can use"),
        _Signal(1.5, right, "it says what does not hold", "it does not say what in the post does not hold"),
        _Signal(1.5, bare, "it says what is the case, not only that the post is wrong", verdict),
        _Signal(0.5, plain, "it is readable", "long words or sentences make it hard to read"),
    ]


def _tone(note: str) -> list[_Signal]:
    checks = (
        (1.0, tone.loaded_words(note), "its words are neutral", "it uses loaded words"),
        (1.0, tone.shouting(note), "it does not shout", "it shouts or mocks"),
        (1.5, tone.speculative_words(note), "it does not speculate", "it speculates or argues about motives"),
        (1.0, tone.first_person(note), "it does not speak of its writer", "it speaks in the first person"),
        (2.0, tone.questions(note), "it asks no questions", "it asks instead of stating"),
        (0.5, tone.matches(tone.SECOND_PERSON, note), "it does not talk to the author", "it talks to “you”"),
        (1.5, tone.matches(tone.ABOUT_NOTES, note), "it speaks of the post", "it argues about notes or the poster"),
    )
    return [_Signal(weight, 0.0 if spans else 1.0, good, bad, tuple(spans)) for weight, spans, good, bad in checks]


def _between(value: float, low: float, high: float) -> float:
    return min(1.0, max(0.0, (value - low) / (high - low)))


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:  # "https://[" is a URL to a reader, not to the parser
        return ""
