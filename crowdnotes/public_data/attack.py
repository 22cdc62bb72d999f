"""Raters who act together: what their votes do to a note, and which rules resist them.

Everybody's parameters are held as they were fitted, as in the scorer's last pass, and an account's own come from its
other ratings alone (the same ridge regression as for notes, with the sides exchanged). So what an account has rated
before decides what its vote can do: a fresh one has too few ratings to count at all; one that rated at random is left
out where the crowd came to disagree with it; one that rated as an honest rater of some viewpoint counts as such.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from crowdnotes.bridging.model import Floats, NoteStatus, RatingTable, RuleName, StatusResult
from crowdnotes.bridging.note_signals import gather_signals
from crowdnotes.bridging.public_scoring import NoteFacts, final_scores, helpful_raters
from crowdnotes.bridging.ratings import Ratings
from crowdnotes.bridging.rules import decide
from crowdnotes.bridging.scoring import FrozenRaters, score_notes
from crowdnotes.public_data.small_world import NOTES, NOW_MS, NoteKind, World, opinion
from crowdnotes.wording import plural

MAX_ACCOUNTS = 60
MIN_RATINGS_BEFORE_ATTACK = 5  # honest ratings of the note that are in when the attack begins


class Aim(StrEnum):
    """What the attackers want."""

    SINK = "hide a note that helps both sides"
    LIFT_ONE_SIDED = "push up a note that pleases side A"
    LIFT_POOR = "push up a note that helps nobody"

    @property
    def vote(self) -> float:
        """What they all say of the note."""
        return 0.0 if self is Aim.SINK else 1.0


_TARGET_KIND_BY_AIM = {Aim.SINK: NoteKind.BOTH, Aim.LIFT_ONE_SIDED: NoteKind.MINUS, Aim.LIFT_POOR: NoteKind.POOR}


class History(StrEnum):
    """What the accounts rated before."""

    FRESH = "nothing"
    RANDOM = "at random"
    MINUS = "like side A"
    MIDDLE = "like the middle"
    PLUS = "like side B"
    BOTH = "half like each side"


_POSITIONS_BY_HISTORY = {History.MINUS: (-1, -1), History.MIDDLE: (0, 0), History.PLUS: (1, 1), History.BOTH: (-1, 1)}
"""The viewpoints of accounts with an even and with an odd number, in units of the world's polarity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackOptions:
    """An attack.

    after: how many honest ratings the note has when it begins, None for all. assigned: accounts rate what they are
    given at random, and the note is among it as often as for honest raters. noticed: the platform knows that they
    act together, and asks what the note would be without them.
    """

    aim: Aim = Aim.SINK
    history: History = History.BOTH
    after: int | None = None
    assigned: bool = False
    noticed: bool = False


@dataclass(frozen=True)
class Attack:
    """An attack's results, from no account to MAX_ACCOUNTS of them.

    note: the target. ratings: honest ones before it. votes (k,): how many of the accounts got to vote on it. scores,
    averages (k,). statuses: by the rules. counted: whether the accounts' votes enter the score, (MAX_ACCOUNTS,).
    line, average_line: from which score the rules, and from which average plain averaging shows a note; the latter None
    where none would be shown.
    """

    options: AttackOptions
    note: int
    ratings: int
    votes: npt.NDArray[np.int64]
    averages: Floats
    statuses: tuple[StatusResult, ...]
    counted: npt.NDArray[np.bool_]
    line: float
    average_line: float | None

    @cached_property
    def scores(self) -> Floats:
        """The note's intercept with each number of accounts."""
        return np.array([found.note_intercept for found in self.statuses], dtype=np.float64)

    @cached_property
    def shown(self) -> npt.NDArray[np.bool_]:
        """Whether readers see the note, with each number of accounts."""
        return np.array([found.status is NoteStatus.HELPFUL for found in self.statuses])

    @property
    def shown_by_average(self) -> npt.NDArray[np.bool_]:
        """As `shown`, by plain averaging."""
        return self.averages >= (np.inf if self.average_line is None else self.average_line)

    @cached_property
    def needed(self) -> int | None:
        """The fewest accounts that get what they want; None where MAX_ACCOUNTS do not. 0: it is so without them."""
        return self._first(self.shown)

    @property
    def needed_by_average(self) -> int | None:
        """As `needed`, against plain averaging."""
        return self._first(self.shown_by_average)

    def _first(self, shown: npt.NDArray[np.bool_]) -> int | None:
        reached = np.flatnonzero(shown == (self.options.aim is not Aim.SINK))
        return int(reached[0]) if len(reached) else None

    @property
    def sentence(self) -> str:
        """How many accounts it takes, by the rules."""
        sinks, note = self.options.aim is Aim.SINK, self.note + 1
        if self.needed == 0:
            return (
                f"Note {note} is not shown before the attack: there is nothing to hide."
                if sinks
                else f"Note {note} is shown before the attack: there is nothing to push up."
            )
        wanted = f"hide note {note}" if sinks else f"get note {note} shown"
        if self.needed is None:
            return f"{MAX_ACCOUNTS} accounts cannot {wanted}."
        return plural(
            self.needed, "{n} account is enough to {wanted}.", "{n} accounts are enough to {wanted}.", wanted=wanted
        )

    @property
    def average_sentence(self) -> str:
        """How many accounts it takes against plain averaging."""
        sinks = self.options.aim is Aim.SINK
        if self.average_line is None:
            return "No note is shown in this crowd: a plain average has no line to compare with."
        if self.needed_by_average == 0:
            return (
                "A plain average does not show it before the attack."
                if sinks
                else "A plain average shows it before the attack."
            )
        if self.needed_by_average is None:
            return f"With a plain average, {MAX_ACCOUNTS} accounts cannot {'hide it' if sinks else 'get it shown'}."
        return plural(
            self.needed_by_average, "With a plain average it takes {n} account.", "With a plain average it takes {n}."
        )

    @property
    def accounts_sentence(self) -> str:
        """How many of these accounts were given the note, and whose votes do not count; "" where all do."""
        many = MAX_ACCOUNTS if self.needed is None else self.needed
        left_out = many - int(self.counted[:many].sum())
        sentences = []
        if self.options.assigned and many:
            sentences.append(
                "Of {accounts}, {n} were given this note.".format(
                    accounts=plural(many, "{n} account", "{n} accounts"), n=self.votes[many]
                )
            )
        if left_out:
            why = (
                "the accounts rated too little before"
                if self.options.history is History.FRESH
                else "the crowd disagreed with their earlier ratings"
            )
            sentences.append(f"{left_out} of {many} votes do not count: {why}.")
        return " ".join(sentences)

    @property
    def rows(self) -> dict[str, list[object]]:
        """The note with each number of accounts, by column."""
        return {
            "accounts": list(range(MAX_ACCOUNTS + 1)),
            "of them voted": self.votes.tolist(),
            "score": [round(float(number), 3) for number in self.scores],
            "average rating": [round(float(number), 3) for number in self.averages],
            "status": [found.status.as_text for found in self.statuses],
            "decided by": [found.decided_by.as_text for found in self.statuses],
        }

    @property
    def stays_sentence(self) -> str:
        """Why it is shown at a score under the line; "" where it never is."""
        kept = [
            rule.distances[-1].line
            for found in self.statuses
            if found.status is NoteStatus.HELPFUL and (found.note_intercept or 0) < self.line
            for rule in found.outcomes
            if rule.rule is RuleName.INERTIA
        ]
        if not kept:
            return ""
        return f"Filled points under the line: once shown, a note stays until its score falls below {kept[0]:.2f}."

    def defences(self) -> list[tuple[RuleName, int, int, str]]:
        """Return the rules that kept a note down which its score would show: each with its first and last number of
        accounts, and what it said at the last.
        """
        held: dict[RuleName, tuple[int, int, str]] = {}
        for accounts, found in enumerate(self.statuses):
            if any(said.fired for said in found.outcomes if said.rule is RuleName.GENERAL_HELPFUL):
                for rule in found.blocked_by:
                    first = held[rule.rule][0] if rule.rule in held else accounts
                    held[rule.rule] = (first, accounts, rule.reason)
        return [(rule, *range_and_reason) for rule, range_and_reason in held.items()]


def target(world: World, aim: Aim) -> int:
    """Return the note that is attacked: the middle one, by score, of its kind.

    Of those that have yet to be sunk or lifted, by the rules and by plain average, if there are any.
    """
    of_kind = [note for note, kind in enumerate(world.kinds) if kind is _TARGET_KIND_BY_AIM[aim]]
    line = np.inf if world.average_line is None else world.average_line
    both = {note: {bool(world.shown[note]), bool(world.averages[note] >= line)} for note in of_kind}
    wanted = [note for note in of_kind if both[note] == {aim is Aim.SINK}] or of_kind
    ordered = sorted(wanted, key=np.nan_to_num(world.scores).__getitem__)
    return ordered[len(ordered) // 2]


@lru_cache(maxsize=192)
def attack(world: World, options: AttackOptions) -> Attack:
    """Let 0 to MAX_ACCOUNTS accounts vote on the target; kept, as one screen asks for the same attack several times."""
    note = target(world, options.aim)
    chance = np.random.default_rng((world.options.seed, list(History).index(options.history)))
    honest, honest_votes = _order_honest_ratings(world, note, options.after)
    accounts, counted = _make_accounts(world, note, options.history, chance)
    given = (
        chance.random(MAX_ACCOUNTS) < world.options.ratings_each / NOTES
        if options.assigned
        else np.ones(MAX_ACCOUNTS, dtype=bool)
    )
    raters = _join_raters(FrozenRaters.of(world.fit), accounts, counted)
    table = _build_growing_table(honest, honest_votes, accounts.ids[given], np.flatnonzero(given), options.aim.vote)
    votes = np.concatenate(([0], np.cumsum(given)))
    scored = final_scores(table, raters, world.thresholds)
    ratings = Ratings(table, True, {})
    many = gather_signals(
        ratings,
        ratings,
        scored,
        raters,
        world.thresholds,
        misleading=np.ones(len(votes), dtype=bool),
        was_helpful=None,
        usual=None,
        busy=None,
        by_group=False,
    )
    alone = float(scored.notes.intercepts[0])
    was_helpful = False
    statuses: list[StatusResult] = []
    for number in range(len(votes)):
        signals = replace(
            many.note(number, note),
            was_helpful=was_helpful,
            intercept_without_correlated=alone if options.noticed else None,
        )
        statuses.append(decide(signals, world.thresholds))
        if number == 0:
            was_helpful = statuses[0].status is NoteStatus.HELPFUL
    averages = np.bincount(table.note, table.helpful) / np.bincount(table.note)
    lines = world.thresholds.helpful_intercept, world.average_line
    return Attack(options, note, len(honest), votes, averages, tuple(statuses), counted, *lines)


def every_history(world: World, options: AttackOptions) -> dict[History, Attack]:
    """Return the same attack by accounts of each history."""
    return {history: attack(world, replace(options, history=history)) for history in History}


def verdict(world: World, found: Attack) -> str:
    """Return whether the rules resist longer than a plain average, also where notes are given out at random."""
    if found.needed == 0 or found.average_line is None:
        return found.sentence
    flipped = attack(world, replace(found.options, assigned=not found.options.assigned))
    if found.needed == flipped.needed:
        otherwise = "Giving out notes at random makes no difference."
    else:
        when = "accounts chose the note" if found.options.assigned else "notes were given out at random"
        takes = f"{MAX_ACCOUNTS} would not be enough" if flipped.needed is None else f"it would take {flipped.needed}"
        otherwise = f"If {when}, {takes}."
    average = found.average_sentence
    if found.needed is None and found.needed_by_average is None:
        average = "With a plain average they cannot either."
    return f"{found.sentence} {average} {otherwise}"


def notice_sentence(world: World, found: Attack) -> str:
    """Return what it changes that X notices the accounts; "" where it does not."""
    if not found.options.noticed:
        return ""
    unnoticed = attack(world, replace(found.options, noticed=False))
    if np.array_equal(found.shown, unnoticed.shown):
        return "That X notices changes nothing here."
    return f"If X did not notice: {unnoticed.sentence}"


def in_figures(accounts: int | None) -> str:
    """Return a number of accounts, also where MAX_ACCOUNTS are not enough."""
    return f"over {MAX_ACCOUNTS}" if accounts is None else str(accounts)


def later_sentence(world: World, found: Attack) -> str:
    """Return what the same accounts come to once all honest ratings are in."""
    end = attack(world, replace(found.options, after=None))
    return f"With all {end.ratings} honest ratings in: {end.sentence}"


def cheapest(attacks: dict[History, Attack]) -> str:
    """Return which accounts need to be the fewest against the rules, and which are never enough."""
    any_of_them = next(iter(attacks.values()))
    if any_of_them.needed == 0:
        return any_of_them.sentence
    needed = {history: found.needed for history, found in attacks.items() if found.needed}
    if not needed:
        return f"Not even {MAX_ACCOUNTS} accounts are enough, whatever they rated before."
    never = ", ".join(history.value for history in attacks if history not in needed)
    fewest = min(needed.values())
    said = plural(
        fewest,
        "1 account is enough if it rated {histories} before.",
        "{n} accounts are enough if they rated {histories} before.",
        histories=" or ".join(history.value for history, many in needed.items() if many == fewest),
    )
    return f"{said} Never enough: accounts that rated {never}." if never else said


def _order_honest_ratings(
    world: World, note: int, after: int | None
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Who rated the note before the attack, and how: in the order in which they came."""
    of_note = world.table.note == note
    order = np.random.default_rng((world.options.seed, note)).permutation(int(of_note.sum()))[:after]
    return world.table.rater[of_note][order], world.table.helpful[of_note][order]


@dataclass(frozen=True)
class _AttackAccounts:
    """ids, intercepts and factors (MAX_ACCOUNTS,); the last two NaN for fresh accounts."""

    ids: npt.NDArray[np.int64]
    intercepts: Floats
    factors: Floats


def _make_accounts(
    world: World, note: int, history: History, chance: np.random.Generator
) -> tuple[_AttackAccounts, npt.NDArray[np.bool_]]:
    """Return the accounts with the parameters that follow from their other ratings, and which of them are counted."""
    ids = np.arange(MAX_ACCOUNTS, dtype=np.int64) + 1_000_000  # after every honest rater
    if history is History.FRESH:
        unknown = np.full(MAX_ACCOUNTS, np.nan)
        return _AttackAccounts(ids, unknown, unknown), np.zeros(MAX_ACCOUNTS, dtype=bool)
    each = max(world.options.ratings_each, world.thresholds.min_ratings_per_rater)
    others = np.delete(np.arange(NOTES), note)
    rated = others[chance.random((MAX_ACCOUNTS, len(others))).argsort(axis=1)[:, :each]].ravel().astype(np.int32)
    account = np.repeat(np.arange(MAX_ACCOUNTS, dtype=np.int32), each)
    helpful = _draw_earlier_ratings(world, history, account, rated, chance)
    table = RatingTable(np.arange(NOTES), ids, rated, account, helpful)
    return _fit_accounts(world, table), _mask_trusted_accounts(world, table)


def _draw_earlier_ratings(
    world: World,
    history: History,
    account: npt.NDArray[np.int32],
    rated: npt.NDArray[np.int32],
    chance: np.random.Generator,
) -> npt.NDArray[np.float32]:
    """Return what the accounts said of the notes that they rated before."""
    if history is History.RANDOM:
        return chance.choice(np.array([0, 0.5, 1], dtype=np.float32), len(rated))
    position = np.array(_POSITIONS_BY_HISTORY[history])[account % 2] * world.options.polarity
    noise = chance.normal(0, 1, len(rated)) * world.options.noise
    return opinion(world.made[rated], position, noise)


def _fit_accounts(world: World, table: RatingTable) -> _AttackAccounts:
    """Return intercepts and factors of raters given the notes: the same problem as of notes given the raters."""
    notes = world.fit.notes
    as_raters = FrozenRaters(
        notes.ids, notes.intercepts, notes.factors[:, 0], world.fit.global_intercept,
        world.fit.ratings / len(world.fit.raters),
    )  # fmt: skip
    exchanged = RatingTable(table.rater_ids, table.note_ids, table.rater, table.note, table.helpful)
    found = score_notes(exchanged, as_raters).notes
    return _AttackAccounts(table.rater_ids, found.intercepts, found.factors[:, 0])


def _mask_trusted_accounts(world: World, table: RatingTable) -> npt.NDArray[np.bool_]:
    """Whose earlier ratings the crowd came to agree with, as the scorer asks of every rater."""
    everywhen = np.full(NOTES, NOW_MS)
    facts = NoteFacts(np.ones(NOTES, dtype=bool), everywhen, None, None, None)
    statuses = [found.status for found in world.statuses]
    chosen = helpful_raters(table, np.full(len(table), NOW_MS), facts, statuses, world.scores, world.thresholds)
    assert chosen is not None  # noqa: S101 - it is known when the notes were written
    return chosen


def _join_raters(honest: FrozenRaters, accounts: _AttackAccounts, counted: npt.NDArray[np.bool_]) -> FrozenRaters:
    """Honest raters, and those of the accounts whose ratings count."""
    return FrozenRaters(
        np.concatenate((honest.ids, accounts.ids[counted])),
        np.concatenate((honest.intercepts, accounts.intercepts[counted])),
        np.concatenate((honest.factors, accounts.factors[counted])),
        honest.global_intercept,
        honest.ratings_per_note,
    )


def _build_growing_table(
    honest: npt.NDArray[np.int32],
    honest_votes: npt.NDArray[np.float32],
    voters: npt.NDArray[np.int64],
    joined_at: npt.NDArray[np.intp],
    vote: float,
) -> RatingTable:
    """Return the target for each number of accounts, as notes 0 to MAX_ACCOUNTS: honest votes and theirs so far."""
    notes = [np.repeat(np.arange(MAX_ACCOUNTS + 1), len(honest))]
    notes += [np.arange(first + 1, MAX_ACCOUNTS + 1) for first in joined_at]
    raters = [np.tile(honest.astype(np.int64), MAX_ACCOUNTS + 1)]
    raters += [np.full(MAX_ACCOUNTS - first, voter) for first, voter in zip(joined_at, voters, strict=True)]
    helpful = np.full(sum(len(part) for part in notes), vote, dtype=np.float32)
    helpful[: len(notes[0])] = np.tile(honest_votes, MAX_ACCOUNTS + 1)
    rater_ids, rater = np.unique(np.concatenate(raters), return_inverse=True)
    return RatingTable(
        np.arange(MAX_ACCOUNTS + 1), rater_ids, np.concatenate(notes).astype(np.int32), rater.astype(np.int32), helpful
    )
