"""The jury's choice among the candidates, the best existing note beside it, and what each note gave to the winner."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from crowdnotes.domain import (
    Candidate,
    Classification,
    Credit,
    CrowdStatus,
    ExistingNote,
    JuryVerdict,
    SupernoteRound,
    SupernoteScore,
)
from crowdnotes.supernotes.existing import AVERAGE, ENOUGH_RATINGS, drawn_mean
from crowdnotes.wording import say

if TYPE_CHECKING:
    from crowdnotes.jury import Jury

# Of 1,296 pairs of notes on one post (pilot of 2021, five ratings or more each) the jury's intercept told the better
# one in 51 % where it differed by less than 0.05, in 62 % up to 0.1, in 71 % up to 0.2, in 94 % beyond; ratings by half
# of the raters told what the other half found better in 69 %.
_UNSURE = 0.1


def ranked(done: SupernoteRound, jury: Jury, post_text: str | None) -> SupernoteRound:
    """The round with scores of all candidates that passed and of all existing notes, before the same jurors.

    Candidates by intercept, then the chance of being shown; those so near the best that the jury cannot tell them apart
    by what real raters made of their notes. Those that the jury cannot read come after, those that failed a filter
    last. The first is the winner; `with_winner` sets another. Deterministic.
    """
    told = [(item.text, item.score) for item in done.passed]
    told += [(note.text, done.existing.get(note.id)) for note in done.notes]
    # A verdict does not depend on the texts beside it: what this jury has heard before keeps its score.
    scores = {text: score for text, score in told if score is not None and done.measured == jury.quality.note}
    unheard = [text for text, _ in told if text not in scores]
    for text, verdict in zip(unheard, jury.compare(post_text, unheard) if unheard else (), strict=True):
        if isinstance(verdict, JuryVerdict):
            scores[text] = score_of(verdict)
    scored = [item.model_copy(update={"score": scores.get(item.text)}) for item in done.passed]
    existing = {note.id: scores[note.text] for note in done.notes if note.text in scores}
    scored.sort(key=_rank)
    judged = say("candidates_checked.by_jury")
    near = sum(_is_near(item, scored[0]) for item in scored)
    if near > 1 and any(note.ratings.count for note in done.notes):
        liked = {note.id: drawn_mean(note) for note in done.notes}
        scored[:near] = sorted(scored[:near], key=lambda item: -_liked(item, liked))
        judged = say("candidates_checked.by_ratings", jury=judged, n=near)
    failed = [item.model_copy(update={"score": None}) for item in done.candidates if item.failed is not None]
    best, best_by = best_existing(done.notes, existing)
    update = {"candidates": (*scored, *failed), "existing": existing, "best_existing": best, "best_by": best_by}
    update |= {"measured": jury.quality.note}
    after = done.model_copy(update=update)
    return with_winner(after, scored[0].sha256, judged) if scored else with_winner(after, None, "")


def _is_near(item: Candidate, best: Candidate) -> bool:
    """Whether the jury cannot tell a candidate from the best one."""
    if item.score is None or best.score is None or item.score.means_nothing != best.score.means_nothing:
        return item is best
    return best.score.intercept - item.score.intercept < _UNSURE


def _liked(item: Candidate, liked: dict[str, float]) -> float:
    """The mean rating of the notes that a candidate is made from, by their shares of its words."""
    words = _words_by_note(item)
    return sum(liked.get(note, AVERAGE) * count for note, count in words.items()) / max(1.0, sum(words.values()))


def _words_by_note(item: Candidate) -> dict[str, float]:
    """How many words come from which note; those of several are shared evenly."""
    words: dict[str, float] = {}
    for sentence in item.sentences:
        count = len(item.text[sentence.span.start : sentence.span.end].split())
        for note in sentence.notes:
            words[note] = words.get(note, 0.0) + count / len(sentence.notes)
    return words


def with_winner(done: SupernoteRound, winner: str | None, judged: str) -> SupernoteRound:
    """The round with that candidate (its sha256) as the winner, who chose it, and what each note gave to it."""
    after = done.model_copy(update={"winner": winner, "judged": judged})
    return after.model_copy(update={"credits": credit(after)})


def score_of(verdict: JuryVerdict) -> SupernoteScore:
    """What a candidate keeps of its verdict."""
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


def _rank(candidate: Candidate) -> tuple[bool, float, float]:
    score = candidate.score
    if score is None:
        return True, 0.0, 0.0
    return score.means_nothing, -score.intercept, -(score.chance_of_shown or 0.0)


def best_existing(notes: Sequence[ExistingNote], scores: dict[str, SupernoteScore]) -> tuple[str | None, str]:
    """The id of the best note that says the post is misleading, and who says so: real raters, or the jury.

    Real ratings count where a note has enough of them; the mean of few is drawn to the middle.
    """
    able = [note for note in notes if note.classification is Classification.MISLEADING] or list(notes)
    shown = [note for note in able if note.status is CrowdStatus.HELPFUL]
    rated = [note for note in shown or able if note.ratings.count >= ENOUGH_RATINGS]
    if rated:
        best = max(shown or able, key=drawn_mean)
        return best.id, say("candidates_checked.by_raters", n=best.ratings.count)
    if shown:
        return shown[0].id, say("candidates_checked.by_x")
    judged = [note for note in able if note.id in scores]
    if not judged:
        return (able[0].id, say("candidates_checked.by_place")) if able else (None, "")
    return max(judged, key=lambda note: scores[note.id].intercept).id, say("candidates_checked.by_jury")


def credit(done: SupernoteRound) -> tuple[Credit, ...]:
    """What each note gave to the winner: its share of the words, and what the best one without it scores.

    A sentence of several notes is shared evenly among them. Empty without a winner.
    """
    winner = done.winning
    if winner is None:
        return ()
    words = _words_by_note(winner)
    total = sum(words.values())
    return tuple(
        Credit(note=note, share=min(1.0, share / total) if total else 0.0, **_without(note, winner, done))
        for note, share in sorted(words.items(), key=lambda item: -item[1])
    )


def _without(note: str, winner: Candidate, done: SupernoteRound) -> dict[str, float | None]:
    """The score of the best candidate that takes nothing from a note, and what is lost with it."""
    left = [
        item.score for item in done.passed if note not in item.notes and item.score and not item.score.means_nothing
    ]
    best = max((score.intercept for score in left), default=None)
    mine = winner.score if winner.score is not None and not winner.score.means_nothing else None
    loss = mine.intercept - best if mine is not None and best is not None else None
    return {"without": best, "loss": loss}


def random_candidate(done: SupernoteRound, seed: int) -> Candidate | None:
    """For the ablation: any candidate that passed the filters but the winner; None where there is no other."""
    others = sorted((item for item in done.passed if item.sha256 != done.winner), key=lambda item: item.sha256)
    return random.Random(seed).choice(others) if others else None  # noqa: S311 - for chance, not for secrets
