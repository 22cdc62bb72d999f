"""From one note's juries to its verdict: the first jury's votes, status and reasons, and the spread of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crowdnotes.bridging import NoteSignals, Side, StatusResult, decide
from crowdnotes.domain import Influence, Interval, JuryQuality, JuryVerdict, RuleWord, SideVotes, text_sha256
from crowdnotes.jury.ballots import Outcome, counts, middle
from crowdnotes.jury.sentence import plain_sentence
from crowdnotes.settings import BridgingSettings


@dataclass(frozen=True)
class Told:
    """What the verdict passes on as it is."""

    seed: int
    sampling: str
    splits: float | None
    influences: tuple[Influence, ...]
    cautions: tuple[str, ...]
    means_nothing: bool
    model: str
    quality: JuryQuality


def verdict_of(
    text: str, post: str | None, juries: Sequence[Outcome], told: Told, bridging: BridgingSettings
) -> JuryVerdict:
    """juries: of this note alone; the first is shown, all make the intervals."""
    shown = juries[0]
    negative, positive = side_votes(shown)
    status = decide(_signals(shown), bridging)
    interval = _interval([float(jury.intercepts[0]) for jury in juries])
    return JuryVerdict(
        text_sha256=text_sha256(text),
        post_sha256=None if post is None else text_sha256(post),
        jurors=len(shown.jurors),
        seed=told.seed,
        sampling=told.sampling,
        note_intercept=float(shown.intercepts[0]),
        intercept_interval=interval,
        note_factor=float(shown.factors[0]),
        factor_interval=_interval([float(jury.factors[0]) for jury in juries]),
        helpful_line=bridging.helpful_intercept,
        status=status.status.value,
        decided_by=RuleWord(rule=status.decided_by.value, reason=status.reason),
        blocked_by=_blocked(status),
        not_applied=tuple(f"{said.rule.value} (needs {said.missing})" for said in status.not_applied),
        negative=negative,
        positive=positive,
        splits=told.splits,
        influences=told.influences,
        sentence=plain_sentence(
            negative,
            positive,
            told.influences,
            interval=interval,
            line=bridging.helpful_intercept,
            splits=told.splits,
        ),
        cautions=told.cautions,
        means_nothing=told.means_nothing,
        model=told.model,
        quality=told.quality,
    )


def side_votes(outcome: Outcome) -> tuple[SideVotes, SideVotes]:
    """How side − (factor below 0) and side + rated the outcome's one note."""
    positive = outcome.jurors.factors >= 0
    sides = []
    for name, of in (("−", ~positive), ("+", positive)):
        helpful, somewhat, not_helpful = counts(outcome.ratings[0], of)
        sides.append(SideVotes(side=name, helpful=helpful, somewhat_helpful=somewhat, not_helpful=not_helpful))
    return sides[0], sides[1]


def _signals(outcome: Outcome) -> NoteSignals:
    """What the status rules may know of a note that only simulated jurors rated: no tags, no history."""
    negative, positive = side_votes(outcome)
    return NoteSignals(
        note_id="draft",
        ratings=len(outcome.jurors),
        intercept=float(outcome.intercepts[0]),
        factor=float(outcome.factors[0]),
        negative=_side(negative),
        positive=_side(positive),
        misleading=True,  # only such notes are ever shown, and only such are written here
        upper_bound=float(outcome.upper_bounds[0]),
        was_helpful=False,
    )


def _side(votes: SideVotes) -> Side:
    mean = votes.mean
    return Side(votes.jurors, float("nan") if mean is None else mean, votes.helpful - votes.not_helpful)


def _interval(values: list[float]) -> Interval:
    low, high = middle(np.asarray(values))
    return Interval(low=float(low), high=float(high))


def _blocked(status: StatusResult) -> tuple[RuleWord, ...]:
    return tuple(RuleWord(rule=said.rule.value, reason=said.reason) for said in status.blocked_by)
