"""What a candidate has to pass before the jury hears it (Supernotes 2.2, and what the linked pages say beyond it)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from crowdnotes.domain import (
    Candidate,
    Evidence,
    ExistingNote,
    FilterName,
    GateStatus,
    LinkCheck,
    LinkState,
    PrincipleName,
    PrincipleResult,
)
from crowdnotes.supernotes.candidates import LOCAL
from crowdnotes.supernotes.existing import pages_of
from crowdnotes.text.note_rules import NOTE_LIMIT, find_urls, note_length
from crowdnotes.text.quotes import tells_enough
from crowdnotes.text.urls import canonical_url
from crowdnotes.wording import say

Principles = Callable[[str], Sequence[PrincipleResult]]


def filtered(
    candidates: Sequence[Candidate],
    notes: Sequence[ExistingNote],
    links: Sequence[LinkCheck],
    evidence: Sequence[Evidence],
    principles: Principles,
) -> tuple[Candidate, ...]:
    """The candidates in their order, each with the first filter that it did not pass, and those that could not judge.

    `principles` judges a text; it is asked only of those that passed what is before it.
    """
    known = _Known(tuple(notes), tuple(links), tuple(evidence), principles)
    return tuple(_judged(candidate, known) for candidate in candidates)


@dataclass(frozen=True)
class _Known:
    """What the candidates are held against."""

    notes: tuple[ExistingNote, ...]
    links: tuple[LinkCheck, ...]
    evidence: tuple[Evidence, ...]
    principles: Principles

    @cached_property
    def own(self) -> frozenset[str]:
        """Every address in the notes."""
        return frozenset(canonical_url(url.url) for note in self.notes for url in find_urls(note.text))

    @cached_property
    def answers(self) -> dict[str, LinkCheck]:
        """How each address answered; nothing where none answered at all, which says more of the network."""
        if not any(check.status is not None or check.state is LinkState.REFUSED for check in self.links):
            return {}
        return {canonical_url(check.url): check for check in self.links}

    @cached_property
    def passages(self) -> dict[str, Evidence]:
        """The passages by their ids."""
        return {item.id: item for item in self.evidence}

    @cached_property
    def readable(self) -> frozenset[str]:
        """The notes of which a linked page could be read."""
        read = {canonical_url(item.source.url) for item in self.evidence if item.source.url}
        return frozenset(note.id for note in self.notes if read & pages_of([note]))


def _judged(candidate: Candidate, known: _Known) -> Candidate:
    not_run = []
    results: Sequence[PrincipleResult] | None = None
    for name in FilterName:
        if name in _PRINCIPLES:
            results = known.principles(candidate.text) if results is None else results
            why = _by_principle(results, _PRINCIPLES[name])
        else:
            why = _CHECKS[name](candidate, known)
        if why is None:
            not_run.append(name)
        elif why:
            return candidate.model_copy(update={"failed": name, "why": why, "not_run": tuple(not_run)})
    return candidate.model_copy(update={"failed": None, "why": "", "not_run": tuple(not_run)})


def _length(candidate: Candidate, _: _Known) -> str | None:
    """Each check: why it does not pass, "" where it does, None where that could not be told."""
    length = note_length(candidate.text)
    return say("candidates_checked.too_long", n=length) if length > NOTE_LIMIT else ""


def _own_links(candidate: Candidate, known: _Known) -> str | None:
    foreign = [url.url for url in find_urls(candidate.text) if canonical_url(url.url) not in known.own]
    return say("candidates_checked.foreign_link", link=foreign[0]) if foreign else ""


def _live_links(candidate: Candidate, known: _Known) -> str | None:
    addresses = [url.url for url in find_urls(candidate.text) if url.has_scheme]
    checks = [known.answers.get(canonical_url(url)) for url in addresses]
    bad = next((check for check in checks if check is not None and check.state is not LinkState.LIVE), None)
    if bad is not None:
        return f"{bad.url}: {bad.in_words}."
    return None if None in checks else ""


_PRINCIPLES = {
    FilterName.NEUTRAL: PrincipleName.NEUTRAL,
    FilterName.NO_OPINION: PrincipleName.NO_SPECULATION,
}


def _by_principle(results: Sequence[PrincipleResult], name: PrincipleName) -> str | None:
    result = next((item for item in results if item.principle is name), None)
    if result is None or result.status is GateStatus.NOT_RUN:
        return None
    if result.status is GateStatus.PASS:
        return ""
    return result.findings[0].message if result.findings else result.reason


def _supported(candidate: Candidate, known: _Known) -> str | None:
    if candidate.engine == LOCAL.engine:
        return None  # nobody compared the sentences with the pages
    unread = False
    for sentence in candidate.sentences:
        words = candidate.text[sentence.span.start : sentence.span.end]
        if not sentence.carriers:
            if known.readable.intersection(sentence.notes):
                return say("candidates_checked.not_carried", words=words)
            unread = True
        for item in sentence.carriers:
            passage = known.passages.get(item.evidence_id)
            quoted = passage.passage.text[item.span.start : item.span.end] if passage else ""
            if not tells_enough(quoted):
                return say("candidates_checked.not_in_page", words=words)
    return None if unread else ""


_CHECKS: dict[FilterName, Callable[[Candidate, _Known], str | None]] = {
    FilterName.LENGTH: _length,
    FilterName.OWN_LINKS: _own_links,
    FilterName.LIVE_LINKS: _live_links,
    FilterName.SUPPORTED: _supported,
}
