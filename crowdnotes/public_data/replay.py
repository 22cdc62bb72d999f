"""Replay one note's ratings: the score after each, what changed its status, and with fewer of them.

The raters' parameters are held as fitted over all ratings of the index, today's among them: the scores are what these
parameters give, not what X computed at the time. Ratings that are taken away are missing for this note alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from crowdnotes.bridging.columns import HELPFUL_TAGS, NOT_HELPFUL_TAGS
from crowdnotes.bridging.model import (
    NOTE_INTERCEPT,
    IncorrectSignal,
    MaybeNumber,
    NoteSignals,
    NoteStatus,
    RuleName,
    RuleOutcome,
    SampledSignal,
    Side,
    StatusResult,
)
from crowdnotes.bridging.note_signals import FactorScale, tag_weights
from crowdnotes.bridging.rules import decide
from crowdnotes.bridging.scoring import Extremes, score_as_rated
from crowdnotes.bridging.thresholds import THRESHOLDS, Thresholds
from crowdnotes.domain import FrozenModel
from crowdnotes.public_data.database import TAGS, Connection, columns
from crowdnotes.public_data.indexing import LEFT_OUT_SQL, TagScale, last_fit
from crowdnotes.settings_sections import RatersWanted
from crowdnotes.text.markdown import day
from crowdnotes.wording import fill, plural

Floats = npt.NDArray[np.float64]
FIRST_RATINGS = 50  # ratings that are set against all
_MAX_MOMENTS = 200
_LEVEL_FIELDS = ("not_helpful", "somewhat", "helpful")

WHY_X_DIFFERS = (
    "X and this page can differ: X uses more models and signals, goes by the rules and ratings of its day, and usually "
    "keeps a status after two weeks."
)


class Levels(FrozenModel):
    """How many ratings of each level."""

    helpful: int = 0
    somewhat: int = 0
    not_helpful: int = 0

    @property
    def n(self) -> int:
        """All of them."""
        return self.helpful + self.somewhat + self.not_helpful


class Moment(FrozenModel):
    """The note's score and status after its first `ratings` ratings.

    minus, plus: by raters on either side of the viewpoint; unknown: by raters who are not in the fit, and whose ratings
    do not enter the score; left_out: by raters of groups that X's Core model does not take. intercept, factor: null
    while too few known raters have rated. why_besides_score: the same without the reason that its score is too low.
    """

    at: datetime | None
    ratings: int
    minus: Levels
    plus: Levels
    unknown: Levels
    left_out: Levels = Levels()
    intercept: MaybeNumber
    factor: MaybeNumber
    status: NoteStatus
    decided_by: RuleName
    why: str
    why_besides_score: str


class Change(FrozenModel):
    """A change of status, with the rule that decided it and the numbers that crossed a line, as text.

    why: of a note that is shown later than its score sufficed, also what held it back until then.
    """

    at: datetime
    ratings: int
    before: NoteStatus
    after: NoteStatus
    decided_by: RuleName
    why: str
    numbers: tuple[str, ...]


class Recorded(FrozenModel):
    """A status that X recorded, and the one recomputed from the ratings until then. event: verdict, now or lock."""

    event: str
    at: datetime
    status: str
    decided_by: str
    recomputed: Moment | None

    @property
    def as_text(self) -> str:
        """The status as the page words it; X's own word where it is new here."""
        return NoteStatus(self.status).as_text if self.status in set(NoteStatus) else self.status


class ScoreStory(FrozenModel):
    """The score as ratings came in. held: what was held fixed, in a sentence. not_applied: rules that lack something.

    first: after the first 50 ratings, null where there are fewer; now: after all. not_sunk: of a note that waits with a
    score below zero, how far it is from each way to be rated not helpful; else "".
    """

    held: str
    moments: tuple[Moment, ...]
    changes: tuple[Change, ...]
    first: Moment | None
    now: Moment
    not_applied: tuple[str, ...]
    not_sunk: str = ""


def replay(connection: Connection, note: int, misleading: bool, thresholds: Thresholds = THRESHOLDS) -> Replay | str:
    """Return the note's ratings in time under the index's last fit; why not, as a sentence, where that cannot be."""
    fit = last_fit(connection)
    if fit.not_run:
        return f"It has no score: we do not know the sides of raters. {fit.not_run}"
    by_group = fit.whose is not None and fit.whose.by is RatersWanted.CORE
    rows = columns(
        connection,
        f"""
        SELECT coalesce(rated, 0) AS rated, level, tags, raters.rater IS NOT NULL AS known,
            coalesce(intercept, 0.0) AS intercept, coalesce(factor, 0.0) AS factor, coalesce(usual, 0.0) AS usual,
            coalesce(busy, false) AS busy, coalesce(sampled::INTEGER, -1) AS sampled,
            coalesce(is_left_out, false) AS left_out
        FROM ratings LEFT JOIN raters USING (rater)
            LEFT JOIN (SELECT rater, {LEFT_OUT_SQL} AS is_left_out FROM people WHERE ?) USING (rater)
        WHERE note = ? ORDER BY rated, ratings.rater
        """,
        [by_group, note],
    )
    if not len(rows["rated"]):
        return "It has no score: the index has no rating of it."
    (extremes,) = connection.execute("SELECT min(intercept), min(factor), max(factor) FROM raters").fetchall()
    when = f" on {day(fit.made_at)}" if fit.made_at else ""
    held = (
        f"What is known of each rater is kept fixed, from {fit.ratings:,} ratings{when}: X may have computed something "
        "else at the time."
    )
    held_extremes = Extremes(fit.global_intercept, fit.ratings_per_note, *extremes)
    return Replay(rows, held_extremes, misleading, thresholds, held, fit.tags, by_group=by_group)


class Replay:
    """A note's ratings in their order, and what the rules say after any number of them."""

    def __init__(
        self,
        rows: dict[str, npt.NDArray[Any]],
        fit: Extremes,
        misleading: bool,
        thresholds: Thresholds,
        held: str,
        tags: TagScale | None,
        *,
        by_group: bool = False,
    ) -> None:
        """rows: sampled is -1 where not known. by_group: whether raters are left out by their groups, as rows say."""
        self.held = held
        self._rows, self._fit, self._tags, self._by_group = rows, fit, tags, by_group
        self.times: npt.NDArray[np.int64] = rows["rated"].astype(np.int64)
        self._misleading = misleading
        self._thresholds = thresholds
        left_out: npt.NDArray[np.bool_] = rows["left_out"].astype(bool)
        known: npt.NDArray[np.bool_] = rows["known"].astype(bool) & ~left_out
        helpful: Floats = rows["level"].astype(np.float64) / 2
        factor: Floats = rows["factor"].astype(np.float64)
        # What each rating says beyond its rater's usual; NaN for one that does not count.
        self.worth: Floats = np.where(known, helpful - rows["intercept"].astype(np.float64), np.nan)
        # After k ratings the score is that after the known among them.
        self._known = np.cumsum(known)
        self._counted = np.cumsum(~left_out)
        self._scores = score_as_rated(helpful[known], rows["intercept"].astype(np.float64)[known], factor[known], fit)
        groups = (known & (factor < 0), known & (factor >= 0), ~known & ~left_out, left_out)
        self._levels = np.stack(
            [np.cumsum(group & (helpful == value)) for group in groups for value in (0.0, 0.5, 1.0)]
        ).reshape(len(groups), 3, -1)
        bits = rows["tags"].astype(np.int64)
        ticked = np.stack([bits >> place & 1 for place in range(len(TAGS))])
        self._ticked = ticked.cumsum(axis=1)
        calm = known & ~rows["busy"].astype(bool)
        self._calm = np.cumsum(calm)
        self._without_busy = score_as_rated(
            helpful[calm], rows["intercept"].astype(np.float64)[calm], factor[calm], fit
        )[0]
        self._says_sampled = bool((rows["sampled"] >= 0).any())
        asked = known & (rows["sampled"] == 1)
        own_price = replace(fit, ratings_per_note=thresholds.sampled_ratings_per_note)
        self._by_sampled = score_as_rated(
            helpful[asked], rows["intercept"].astype(np.float64)[asked], factor[asked], own_price
        )[0]
        self._sampled = np.stack([np.cumsum(asked & (factor < 0)), np.cumsum(asked & (factor >= 0))])
        self._complaints = _ComplaintTotals(
            tags, thresholds, factor[known], ticked[len(HELPFUL_TAGS) :, known], rows["usual"].astype(np.float64)[known]
        )

    def __len__(self) -> int:
        return len(self.times)

    def without(self, places: npt.NDArray[np.integer[Any]]) -> Replay:
        """Return the same note with the ratings in these places taken away."""
        rows = {name: np.delete(column, places) for name, column in self._rows.items()}
        return Replay(
            rows, self._fit, self._misleading, self._thresholds, self.held, self._tags, by_group=self._by_group
        )

    @property
    def line(self) -> float:
        """The score from which a note is shown."""
        return self._thresholds.helpful_intercept

    def until(self, at_ms: int) -> int:
        """Return how many ratings had been made."""
        return int(np.searchsorted(self.times, at_ms, side="right"))

    def decided(self, ratings: int, *, was_helpful: bool) -> StatusResult:
        """Return what the rules say after so many ratings, at least one."""
        last, scored = ratings - 1, int(self._known[ratings - 1])
        enough = scored >= self._thresholds.min_raters_per_note
        intercept, factor, bound = (float(of[scored - 1]) if enough else float("nan") for of in self._scores)
        chosen = self._ticked[:, last] >= self._thresholds.explanation_raters
        calm, counted = int(self._calm[last]), int(self._counted[last])
        negative, positive = self._sampled[:, last].tolist()
        by_sampled = float(self._by_sampled[negative + positive - 1]) if negative + positive else float("nan")
        signals = NoteSignals(
            note_id=0,
            ratings=counted,
            intercept=intercept,
            factor=factor,
            negative=self._side(0, last) if enough else Side(),
            positive=self._side(1, last) if enough else Side(),
            misleading=self._misleading,
            upper_bound=bound,
            was_helpful=was_helpful,
            intercept_without_high_volume=float(self._without_busy[calm - 1]) if calm else float("nan"),
            left_out=ratings - counted if self._by_group else None,
            sampled=SampledSignal(by_sampled, negative, positive) if self._says_sampled else None,
            **self._complaints.signals(scored if enough else 0, factor),
            helpful_tags=int(chosen[: len(HELPFUL_TAGS)].sum()),
            not_helpful_tags=int(chosen[len(HELPFUL_TAGS) :].sum()),
        )
        return decide(signals, self._thresholds)

    def moment(self, ratings: int, *, was_helpful: bool = False) -> Moment:
        """Return the note's score and status after so many ratings, at least one."""
        said = self.decided(ratings, was_helpful=was_helpful)
        minus, plus, unknown, left_out = (
            Levels(**dict(zip(_LEVEL_FIELDS, of_group[:, ratings - 1].tolist(), strict=True)))
            for of_group in self._levels
        )
        ms = int(self.times[ratings - 1])  # 0 where the rating has no time
        return Moment(
            at=_convert_known_ms(ms) if ms else None,
            ratings=ratings,
            minus=minus,
            plus=plus,
            unknown=unknown,
            left_out=left_out,
            intercept=said.note_intercept,
            factor=said.note_factor,
            status=said.status,
            decided_by=said.decided_by,
            why=why(said),
            why_besides_score=why(said, besides_score=True),
        )

    def _side(self, group: int, last: int) -> Side:
        not_helpful, somewhat, helpful = self._levels[group, :, last].tolist()
        raters = not_helpful + somewhat + helpful
        mean = (helpful + somewhat / 2) / raters if raters else float("nan")
        return Side(raters, mean, helpful - not_helpful)


class _ComplaintTotals:
    """What the rules on tags look at after a number of ratings: of known raters, in their order."""

    def __init__(
        self, scale: TagScale | None, thresholds: Thresholds, factors: Floats, ticked: npt.NDArray[np.int64],
        usual: Floats,
    ) -> None:  # fmt: skip
        """ticked: (tags, m) of NOT_HELPFUL_TAGS; factors, usual: (m,)."""
        self._scale, self._thresholds = scale, thresholds
        self._factors, self._ticked, self._usual = factors, ticked, usual

    def signals(self, ratings: int, note_factor: float) -> dict[str, Any]:
        """Totals, shares and lines by tag, and how often "incorrect" is said; none of it without a scale."""
        if self._scale is None:
            return {}
        raters, ticked = self._factors[:ratings], self._ticked[:, :ratings]
        scale = FactorScale(**self._scale.model_dump(exclude={"half", "lines"}))
        weights = tag_weights(scale.distance(note_factor, raters), self._scale.half)
        totals = ticked @ weights
        everyone = float(weights.sum())
        clip = self._thresholds.incorrect_clip
        distances = np.abs(np.clip(raters, -clip, clip) - np.clip(note_factor, -clip, clip))
        near = ticked.any(axis=0) & (distances < self._thresholds.incorrect_interval)
        says = ticked[NOT_HELPFUL_TAGS.index("notHelpfulIncorrect")][near]
        return {
            "tag_totals": dict(zip(NOT_HELPFUL_TAGS, totals.tolist(), strict=True)),
            "tag_shares": dict(
                zip(NOT_HELPFUL_TAGS, (totals / everyone if everyone else totals).tolist(), strict=True)
            ),
            "tag_lines": self._scale.lines,
            "incorrect": IncorrectSignal(int(near.sum()), int(says.sum()), float(self._usual[:ratings][near].sum())),
        }


def score_story(replayed: Replay) -> ScoreStory:
    """Return the note after each rating, or after some two hundred of them; where its status changes, to the rating."""
    n = len(replayed)
    dated = int(np.searchsorted(replayed.times, 1))  # ratings without a time come first, and have no moment
    places = np.unique(np.linspace(dated + 1, n, min(n - dated, _MAX_MOMENTS)).round().astype(int)).tolist()
    if dated < FIRST_RATINGS <= n:
        places = sorted({*places, FIRST_RATINGS})
    moments: list[Moment] = []
    changes: list[Change] = []
    helpful = False
    before = dated
    status = NoteStatus.NEEDS_MORE_RATINGS
    for place in places:
        moment = replayed.moment(place, was_helpful=helpful)
        if moment.status is not status:
            first = _find_first_rating_with(replayed, before, place, helpful, moment.status)
            said = replayed.decided(first, was_helpful=helpful)
            changes.append(_build_change(replayed, first, status, said))
            status = moment.status
        moments.append(moment)
        helpful, before = status is NoteStatus.HELPFUL, place
    now = moments[-1] if moments else replayed.moment(n)
    last = replayed.decided(n, was_helpful=helpful)
    missing = {entry.rule: entry.missing for entry in last.not_applied}
    return ScoreStory(
        held=replayed.held,
        moments=tuple(moments),
        changes=tuple(changes),
        first=replayed.moment(FIRST_RATINGS) if n >= FIRST_RATINGS else None,
        now=now,
        not_applied=tuple(f"{rule.as_text} (needs {what}) [{rule.value}]" for rule, what in missing.items()),
        not_sunk=_explain_not_sunk(last),
    )


def recorded(connection: Connection, note: int, replayed: Replay | None) -> tuple[Recorded, ...]:
    """Return the statuses that X recorded, by time, each with the one recomputed from the ratings until then."""
    row = connection.execute(
        """
        SELECT first_at, first_status, latest_at, latest_status, status_at, status, locked_at, locked_status, decided_by
        FROM history WHERE note = ?
        """,
        [note],
    ).fetchone()
    if row is None:
        return ()
    statuses: dict[tuple[int, str], tuple[str, str]] = {}
    for event, at, status, by in (
        ("verdict", row[0], row[1], ""),
        ("verdict", row[2], row[3], ""),
        ("now", row[4], row[5], row[8] or ""),
        ("lock", row[6], row[7], ""),
    ):
        if at is not None and status:
            # A verdict may also be the current status: it then gets the name of who decided.
            first, decided = statuses.get((at, status), (event, ""))
            statuses[at, status] = first, by or decided
    found = []
    for (at, status), (event, by) in sorted(statuses.items()):
        ratings = replayed.until(at) if replayed else 0
        then = replayed.moment(ratings) if replayed and ratings else None
        found.append(Recorded(event=event, at=_convert_known_ms(at), status=status, decided_by=by, recomputed=then))
    return tuple(found)


def why(said: StatusResult, *, besides_score: bool = False) -> str:
    """Return the reason of the deciding rule, or what keeps the note from being shown.

    besides_score: without the reason that its score is too low.
    """
    if said.status is NoteStatus.NEEDS_MORE_RATINGS and said.blocked_by:
        return " ".join(it.reason for it in said.blocked_by if not (besides_score and _is_score_alone(it)))
    return said.reason


def _is_score_alone(blocked: RuleOutcome) -> bool:
    unmet = [distance.measure for distance in blocked.distances if not distance.met]
    return blocked.rule is RuleName.GENERAL_HELPFUL and unmet == [NOTE_INTERCEPT]


def deciding_rule(said: StatusResult) -> RuleName:
    """Return the rule that decided; where none did, the one that keeps the note from being shown."""
    if said.decided_by is RuleName.INITIAL and said.blocked_by:
        return said.blocked_by[0].rule
    return said.decided_by


_NOT_HELPFUL_RULES = (RuleName.GENERAL_NOT_HELPFUL, RuleName.UPPER_BOUND, RuleName.RATIO)


def _explain_not_sunk(said: StatusResult) -> str:
    score, ways = said.note_intercept, [way for way in said.outcomes if way.rule in _NOT_HELPFUL_RULES]
    if said.status is not NoteStatus.NEEDS_MORE_RATINGS or score is None or not score < 0:
        return ""
    if any(way.fired for way in ways):  # the rule that took it back is already given as the reason
        return ""
    # An unknown measure depends on a known one, which is listed next to it.
    short = {way: [of.for_readers for of in way.distances if not of.met and of.value is not None] for way in ways}
    unmet = "; ".join(f"{way.rule.as_text} ({', '.join(lines)})" for way, lines in short.items())
    return f"It is not rated not helpful either, as no rule for that is met: {unmet}."


def _find_first_rating_with(replayed: Replay, before: int, after: int, was_helpful: bool, status: NoteStatus) -> int:
    """By halves: after how many ratings, more than `before` and up to `after`, the note first has the status."""
    while after - before > 1:
        middle = (before + after) // 2
        if replayed.decided(middle, was_helpful=was_helpful).status is status:
            after = middle
        else:
            before = middle
    return after


def _build_change(replayed: Replay, ratings: int, before: NoteStatus, said: StatusResult) -> Change:
    deciding = [outcome for outcome in said.outcomes if outcome.rule is said.decided_by]
    crossed = said.blocked_by if said.status is NoteStatus.NEEDS_MORE_RATINGS and said.blocked_by else deciding
    reason_text = why(said)
    if said.status is NoteStatus.HELPFUL and ratings > 1:
        earlier = replayed.decided(ratings - 1, was_helpful=False)
        liked = earlier.note_intercept is not None and earlier.note_intercept >= replayed.line
        if liked and earlier.status is NoteStatus.NEEDS_MORE_RATINGS:
            held_back = why(earlier)
            because = f"{held_back[0].lower()}{held_back[1:]}"
            reason_text += f" Its score was high enough earlier, but this still held it back: {because}"
    return Change(
        at=_convert_known_ms(int(replayed.times[ratings - 1])),
        ratings=ratings,
        before=before,
        after=said.status,
        decided_by=deciding_rule(said),
        why=reason_text,
        numbers=tuple(distance.as_text() for outcome in crossed for distance in outcome.distances),
    )


def _convert_known_ms(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


REMOVED_COUNTS = (1, 5, 10)
_DRAW_COUNT, _DRAW_COUNT_IF_MANY, _MANY_RATINGS = (
    100,
    20,
    10_000,
)  # of a note with many ratings fewer: each costs a pass over them


class Which(StrEnum):
    """Which ratings go. The first two go by what a rating adds to the score: its level beyond its rater's usual."""

    HELPFUL = "the highest"
    UNHELPFUL = "the lowest"
    RANDOM = "at random"


class Fewer(FrozenModel):
    """The note with `taken` ratings less, once for each way to take them: one, or of random ones many.

    before: its status with all of them. scores: null where too few known raters are left. rules: what decided each
    status; why: the reasons of the first.
    """

    taken: int
    which: Which
    score: float | None
    before: NoteStatus
    scores: tuple[float | None, ...]
    statuses: tuple[NoteStatus, ...]
    rules: tuple[RuleName, ...]
    why: str

    @property
    def changed(self) -> int:
        """How many of the ways change the status."""
        return sum(status is not self.before for status in self.statuses)

    @property
    def sentence(self) -> str:
        """What changed without these ratings."""
        ratings = plural(self.taken, "1 rating", "{n} ratings")
        if self.which is Which.RANDOM:
            said = (
                f"Without {ratings} at random, tried {len(self.statuses)} times, its status changes "
                f"{self.changed} times."
            )
            by = Counter(rule for rule, status in zip(self.rules, self.statuses, strict=True) if status != self.before)
            if not by:
                return said
            rule = by.most_common(1)[0][0]
            return f"{said} The rule “{rule.as_text}” decides most of these."
        stays = (
            "Without {which} {ratings} its status stays: {status}."
            if not self.changed
            else "Without {which} {ratings} its status changes: {status}."
        )
        said = fill(stays, which=self.which, ratings=ratings, status=self.statuses[0].as_text)
        (score,) = self.scores
        if score is None:
            return f"{said} It then has no score: we know the side of too few raters."
        return f"{said} Its score is then {score:.2f}." + (f" {self.why}" if self.changed else "")


def fewer(replayed: Replay, taken: int, which: Which) -> Fewer | None:
    """Take so many ratings away; None where the note has no more than that. The same note gives the same draws."""
    ratings = len(replayed)
    if ratings <= taken:
        return None
    now = replayed.moment(ratings)
    shown = now.status is NoteStatus.HELPFUL  # as in X's next run
    if which is Which.RANDOM:
        chance = np.random.default_rng(ratings)
        draws = _DRAW_COUNT if ratings <= _MANY_RATINGS else _DRAW_COUNT_IF_MANY
        gone = [chance.choice(ratings, taken, replace=False) for _ in range(draws)]
    else:
        order = np.argsort(replayed.worth, kind="stable")  # ratings that do not count come last, as NaN
        known = order[: int(np.isfinite(replayed.worth).sum())]
        gone = [known[-taken:] if which is Which.HELPFUL else known[:taken]]
    left = [replayed.without(places) for places in gone]
    found = [one.decided(len(one), was_helpful=shown) for one in left]
    return Fewer(
        taken=taken, which=which, score=now.intercept, before=now.status,
        scores=tuple(one.note_intercept for one in found), statuses=tuple(one.status for one in found),
        rules=tuple(deciding_rule(one) for one in found), why=why(found[0]),
    )  # fmt: skip
