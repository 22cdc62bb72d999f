"""Filter the candidates, rank them by the jury, and credit the notes that the winner is made from.

The filters are those of Supernotes 2.2, and what the linked pages say beyond it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from crowdnotes.domain import (
    Candidate,
    Classification,
    Credit,
    CrowdStatus,
    Evidence,
    ExistingNote,
    FilterName,
    GateStatus,
    JuryVerdict,
    LinkCheck,
    LinkState,
    PrincipleName,
    PrincipleResult,
    SupernoteRound,
    SupernoteScore,
)
from crowdnotes.domain.supernote import is_tied, jury_order
from crowdnotes.notes.candidates import LOCAL
from crowdnotes.notes.existing_notes import AVERAGE, ENOUGH_RATINGS, drawn_mean, pages_of
from crowdnotes.text.note_rules import NOTE_LIMIT, find_urls, note_length
from crowdnotes.text.quotes import tells_enough
from crowdnotes.text.urls import canonical_url
from crowdnotes.wording import plural

if TYPE_CHECKING:
    from crowdnotes.jury import Jury


Principles = Callable[[str], Sequence[PrincipleResult]]


def filtered(
    candidates: Sequence[Candidate],
    notes: Sequence[ExistingNote],
    links: Sequence[LinkCheck],
    evidence: Sequence[Evidence],
    principles: Principles,
) -> tuple[Candidate, ...]:
    """Return the candidates in order, each with the first filter it failed and the filters that could not judge it.

    `principles` judges a text; it is asked only about candidates that passed the filters before it.
    """
    known = _FilterContext(tuple(notes), tuple(links), tuple(evidence), principles)
    return tuple(_filter_candidate(candidate, known) for candidate in candidates)


@dataclass(frozen=True)
class _FilterContext:
    """What the filters compare candidates with."""

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
        """How each address answered; empty where none answered at all, which is more likely the network."""
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


def _filter_candidate(candidate: Candidate, known: _FilterContext) -> Candidate:
    not_run = []
    results: Sequence[PrincipleResult] | None = None
    for name in FilterName:
        if name in _PRINCIPLE_BY_FILTER:
            results = known.principles(candidate.text) if results is None else results
            why = _check_principle(results, _PRINCIPLE_BY_FILTER[name])
        else:
            why = _CHECK_BY_FILTER[name](candidate, known)
        if why is None:
            not_run.append(name)
        elif why:
            return candidate.replace(failed=name, why=why, not_run=tuple(not_run))
    return candidate.replace(failed=None, why="", not_run=tuple(not_run))


def _check_length(candidate: Candidate, _: _FilterContext) -> str | None:
    """Like each check, return why the candidate fails, "" where it passes, None where that is not known."""
    length = note_length(candidate.text)
    return f"It has {length} characters." if length > NOTE_LIMIT else ""


def _check_own_links(candidate: Candidate, known: _FilterContext) -> str | None:
    foreign = [url.url for url in find_urls(candidate.text) if canonical_url(url.url) not in known.own]
    return f"{foreign[0]} is in none of the notes." if foreign else ""


def _check_live_links(candidate: Candidate, known: _FilterContext) -> str | None:
    addresses = [url.url for url in find_urls(candidate.text) if url.has_scheme]
    checks = [known.answers.get(canonical_url(url)) for url in addresses]
    bad = next((check for check in checks if check is not None and check.state is not LinkState.LIVE), None)
    if bad is not None:
        return f"{bad.url}: {bad.as_text}."
    return None if None in checks else ""


_PRINCIPLE_BY_FILTER = {
    FilterName.NEUTRAL: PrincipleName.NEUTRAL,
    FilterName.NO_OPINION: PrincipleName.NO_SPECULATION,
}


def _check_principle(results: Sequence[PrincipleResult], name: PrincipleName) -> str | None:
    result = next((item for item in results if item.principle is name), None)
    if result is None or result.status is GateStatus.NOT_RUN:
        return None
    if result.status is GateStatus.PASS:
        return ""
    return result.findings[0].message if result.findings else result.reason


def _check_supported(candidate: Candidate, known: _FilterContext) -> str | None:
    if candidate.engine == LOCAL.engine:
        return None  # no model compared the sentences with the pages
    unread = False
    for sentence in candidate.sentences:
        words = candidate.text[sentence.span.start : sentence.span.end]
        if not sentence.carriers:
            if known.readable.intersection(sentence.notes):
                return f"No linked page supports “{words}”."
            unread = True
        for item in sentence.carriers:
            passage = known.passages.get(item.evidence_id)
            quoted = passage.passage.text[item.span.start : item.span.end] if passage else ""
            if not tells_enough(quoted):
                return f"The words for “{words}” are not in the page."
    return None if unread else ""


_CHECK_BY_FILTER: dict[FilterName, Callable[[Candidate, _FilterContext], str | None]] = {
    FilterName.LENGTH: _check_length,
    FilterName.OWN_LINKS: _check_own_links,
    FilterName.LIVE_LINKS: _check_live_links,
    FilterName.SUPPORTED: _check_supported,
}


def ranked(done: SupernoteRound, jury: Jury, post_text: str | None) -> SupernoteRound:
    """Return the round with scores of all candidates that passed and of all existing notes, from the same jurors.

    Candidates are sorted by intercept, then by the chance of being shown; those too close to the best for the jury, by
    the real ratings of their notes. Those that the jury cannot read come next, those that failed a filter last. The
    first is the winner; `with_winner` sets another. Deterministic.
    """
    known = [(item.text, item.score) for item in done.passed]
    known += [(note.text, done.existing.get(note.id)) for note in done.notes]
    # A verdict does not depend on the other texts: what this jury has scored before keeps its score.
    scores = {text: score for text, score in known if score is not None and done.measured == jury.quality.note}
    unscored = [text for text, _ in known if text not in scores]
    for text, verdict in zip(unscored, jury.compare(post_text, unscored) if unscored else (), strict=True):
        if isinstance(verdict, JuryVerdict):
            scores[text] = score_of(verdict)
    scored = [item.replace(score=scores.get(item.text)) for item in done.passed]
    existing = {note.id: scores[note.text] for note in done.notes if note.text in scores}
    scored.sort(key=jury_order)
    judged = "the simulated readers"
    near = sum(is_tied(item, scored[0]) for item in scored)
    if near > 1 and any(note.ratings.count for note in done.notes):
        scored[:near] = sorted(scored[:near], key=lambda item: -rate_source_notes(item, done.notes))
        judged = f"the ratings of its notes, among {near} too close for the simulated readers"
    failed = [item.replace(score=None) for item in done.candidates if item.failed is not None]
    best, best_by = best_existing(done.notes, existing)
    after = done.replace(
        candidates=(*scored, *failed),
        existing=existing,
        best_existing=best,
        best_by=best_by,
        measured=jury.quality.note,
    )
    return with_winner(after, scored[0].sha256, judged) if scored else with_winner(after, None, "")


def rate_source_notes(item: Candidate, notes: Sequence[ExistingNote]) -> float:
    """Return the mean rating (0 to 1) of the notes that a candidate is made from, by their shares of its words."""
    liked = {note.id: drawn_mean(note) for note in notes}
    words = _count_words_by_note(item)
    return sum(liked.get(note, AVERAGE) * count for note, count in words.items()) / max(1.0, sum(words.values()))


def _count_words_by_note(item: Candidate) -> dict[str, float]:
    """Count the words that come from each note; those of several are shared evenly."""
    words: dict[str, float] = {}
    for sentence in item.sentences:
        count = len(item.text[sentence.span.start : sentence.span.end].split())
        for note in sentence.notes:
            words[note] = words.get(note, 0.0) + count / len(sentence.notes)
    return words


def with_winner(done: SupernoteRound, winner: str | None, judged: str) -> SupernoteRound:
    """Return the round with that candidate (its sha256) as the winner, who chose it, and what each note gave to it."""
    after = done.replace(winner=winner, judged=judged)
    return after.replace(credits=credit(after))


def score_of(verdict: JuryVerdict) -> SupernoteScore:
    """Return what a candidate keeps of its verdict."""
    return SupernoteScore(
        intercept=verdict.note_intercept,
        interval=verdict.intercept_interval,
        factor=verdict.note_factor,
        status=verdict.status,
        chance_of_shown=verdict.chance_of_shown,
        negative=verdict.negative,
        positive=verdict.positive,
        means_nothing=verdict.means_nothing,
    )


def best_existing(notes: Sequence[ExistingNote], scores: dict[str, SupernoteScore]) -> tuple[str | None, str]:
    """Return the id of the best note that calls the post misleading, and who says so: real raters, or the jury.

    Real ratings count where a note has enough of them; the mean of few is pulled towards the middle.
    """
    able = [note for note in notes if note.classification is Classification.MISLEADING] or list(notes)
    shown = [note for note in able if note.status is CrowdStatus.HELPFUL]
    rated = [note for note in shown or able if note.ratings.count >= ENOUGH_RATINGS]
    if rated:
        best = max(shown or able, key=drawn_mean)
        return best.id, plural(best.ratings.count, "its 1 rating", "its {n} ratings")
    if shown:
        return shown[0].id, "X, which shows it"
    judged = [note for note in able if note.id in scores]
    if not judged:
        return (able[0].id, "its place: few or none have rated it") if able else (None, "")
    return max(judged, key=lambda note: scores[note.id].intercept).id, "the simulated readers"


def credit(done: SupernoteRound) -> tuple[Credit, ...]:
    """Return what each note gave to the winner: its share of the words, and what the best candidate without it scores.

    A sentence of several notes is shared evenly among them. Empty without a winner.
    """
    winner = done.winning
    if winner is None:
        return ()
    words = _count_words_by_note(winner)
    total = sum(words.values())
    return tuple(
        Credit(note=note, share=min(1.0, share / total) if total else 0.0, **_score_without_note(note, winner, done))
        for note, share in sorted(words.items(), key=lambda item: -item[1])
    )


def _score_without_note(note: str, winner: Candidate, done: SupernoteRound) -> dict[str, float | None]:
    """Return the score of the best candidate that takes nothing from a note, and the loss."""
    left = [
        item.score for item in done.passed if note not in item.notes and item.score and not item.score.means_nothing
    ]
    best = max((score.intercept for score in left), default=None)
    mine = winner.score if winner.score is not None and not winner.score.means_nothing else None
    loss = mine.intercept - best if mine is not None and best is not None else None
    return {"without": best, "loss": loss}


def random_candidate(done: SupernoteRound, seed: int) -> Candidate | None:
    """Return, for the ablation, any other candidate that passed the filters; None where there is none."""
    others = sorted((item for item in done.passed if item.sha256 != done.winner), key=lambda item: item.sha256)
    return random.Random(seed).choice(others) if others else None  # noqa: S311 - for chance, not for secrets
