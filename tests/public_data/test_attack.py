"""Raters who act together: whose votes count, which rules hold, and how many it takes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crowdnotes.bridging.model import NoteStatus, RuleName
from crowdnotes.bridging.public_scoring import NoteFacts, score
from crowdnotes.bridging.ratings import Ratings
from crowdnotes.bridging.thresholds import THRESHOLDS
from crowdnotes.public_data.attack import (
    MAX_ACCOUNTS,
    Aim,
    AttackOptions,
    History,
    attack,
    cheapest,
    every_history,
    later_sentence,
    notice_sentence,
    target,
    verdict,
)
from crowdnotes.public_data.small_world import NOTES, NOW_MS, RATERS, NoteKind, World, WorldOptions, make_world


@pytest.fixture(scope="module")
def world() -> World:
    return make_world(WorldOptions(), THRESHOLDS)


def test_before_the_attack_the_note_is_as_the_world_has_it(world: World) -> None:
    for aim in Aim:
        found = attack(world, AttackOptions(aim=aim))
        before = world.statuses[found.note]
        assert found.scores[0] == pytest.approx(before.note_intercept)
        assert found.statuses[0].status is before.status
        assert found.averages[0] == pytest.approx(world.averages[found.note])
        assert found.ratings == before.ratings


def test_fresh_accounts_change_nothing_but_the_average(world: World) -> None:
    found = attack(world, AttackOptions(history=History.FRESH))
    assert np.ptp(found.scores) == 0
    assert found.needed is None
    assert found.statuses[-1].ratings == found.ratings + MAX_ACCOUNTS
    assert found.needed_by_average is not None
    assert f"{MAX_ACCOUNTS} accounts cannot hide note" in found.sentence
    assert f"{MAX_ACCOUNTS} of {MAX_ACCOUNTS} votes do not count" in found.accounts_sentence


def test_a_presenter_answers_with_the_figures_of_the_attack_lab(world: World) -> None:
    found = attack(world, AttackOptions())
    answers = " ".join((Path(__file__).parents[2] / "docs" / "presenting.md").read_text(encoding="utf-8").split())
    assert f"{found.needed} accounts hide a note, with a plain average {found.needed_by_average}:" in answers
    assert f"of {RATERS} made-up raters, {found.ratings} had rated that note," in answers
    assert f"each account first rated {WorldOptions().ratings_each} other notes" in answers
    assert f"not even {MAX_ACCOUNTS}." in answers


def test_accounts_that_rated_at_random_are_mostly_left_out(world: World) -> None:
    at_random = attack(world, AttackOptions(history=History.RANDOM))
    like_a_side = attack(world, AttackOptions(history=History.MINUS))
    assert at_random.counted.sum() < MAX_ACCOUNTS / 2
    assert like_a_side.counted.all()
    assert like_a_side.accounts_sentence == ""


def test_one_side_alone_cannot_lift_its_own_note(world: World) -> None:
    found = every_history(world, AttackOptions(aim=Aim.LIFT_ONE_SIDED))
    assert found[History.MINUS].needed is None
    across = found[History.PLUS]
    assert across.needed is not None
    assert across.statuses[across.needed].status is NoteStatus.HELPFUL
    assert cheapest(found).startswith(
        f"{across.needed} accounts are enough if they rated like side B before. Never enough: "
    )
    assert "that rated nothing, " in cheapest(found), "fresh accounts have no viewpoint and never count"
    assert len(found) == len(History)


@pytest.mark.parametrize("aim", Aim)
def test_where_the_score_is_enough_and_the_note_is_not_shown_a_rule_is_named(world: World, aim: Aim) -> None:
    for found in every_history(world, AttackOptions(aim=aim)).values():
        held = np.flatnonzero((found.scores >= found.line) & ~found.shown)
        named = {at for _, first, last, _ in found.defences() for at in range(first, last + 1)}
        assert set(held.tolist()) <= named
        assert bool(len(held)) == bool(named)


def test_who_is_noticed_cannot_lift_a_note_but_can_still_sink_one(world: World) -> None:
    lift = attack(world, AttackOptions(aim=Aim.LIFT_ONE_SIDED, history=History.PLUS, noticed=True))
    assert lift.needed is None
    assert RuleName.CORRELATED in {rule for rule, *_ in lift.defences()}
    sink, unnoticed = (attack(world, AttackOptions(noticed=noticed)) for noticed in (True, False))
    assert sink.needed == unnoticed.needed is not None


def test_a_note_that_is_shown_under_the_line_is_explained_and_its_table_has_no_codes(world: World) -> None:
    found = attack(world, AttackOptions(history=History.MINUS))
    under = [of for of in found.statuses if of.status is NoteStatus.HELPFUL and (of.note_intercept or 0) < found.line]
    assert under
    assert "stays until its score falls below 0.39" in found.stays_sentence
    assert attack(world, AttackOptions(aim=Aim.LIFT_POOR, history=History.FRESH)).stays_sentence == ""
    assert "a shown note stays a little longer" in found.rows["decided by"]
    assert set(found.rows["status"]) <= {of.status.as_text for of in found.statuses}


def test_notes_given_at_random_cost_more_accounts(world: World) -> None:
    for history in (History.MINUS, History.PLUS, History.BOTH):
        chosen, given = (
            attack(world, AttackOptions(aim=Aim.LIFT_ONE_SIDED, history=history, assigned=assigned))
            for assigned in (False, True)
        )
        assert given.votes[-1] < chosen.votes[-1] == MAX_ACCOUNTS
        assert (given.needed or MAX_ACCOUNTS) >= (chosen.needed or MAX_ACCOUNTS)
    assert "were given this note." in given.accounts_sentence


def test_early_a_note_has_no_status_to_lose(world: World) -> None:
    found = attack(world, AttackOptions(after=5))
    assert found.ratings == 5
    assert found.needed == 0
    assert "is not shown before the attack: there is nothing to hide." in found.sentence
    assert cheapest({History.BOTH: found}) == found.sentence, "nobody may take it for a note that cannot be sunk"
    end = attack(world, AttackOptions())
    assert later_sentence(world, found) == f"With all {end.ratings} honest ratings in: {end.sentence}"


def test_the_scorer_with_the_attackers_in_its_fit_comes_to_the_same_end(world: World) -> None:
    """The lab holds everybody's parameters; the whole algorithm, with the accounts and their histories, agrees."""
    note = target(world, Aim.LIFT_ONE_SIDED)
    chance = np.random.default_rng(1)
    accounts, side = 25, [n for n, kind in enumerate(world.kinds) if n != note]
    rows = [(n, 500 + a, float(kind_of(world, n, 1))) for a in range(accounts) for n in chance.choice(side, 20, False)]
    rows += [(note, 500 + a, 1.0) for a in range(accounts)]
    table = world.table
    both = type(table)(
        np.arange(NOTES),
        np.concatenate((table.rater_ids, np.arange(500, 500 + accounts))),
        np.concatenate((table.note, [n for n, _, _ in rows])).astype(np.int32),
        np.concatenate((table.rater, [len(table.rater_ids) + a - 500 for _, a, _ in rows])).astype(np.int32),
        np.concatenate((table.helpful, [value for *_, value in rows])).astype(np.float32),
    )
    facts = NoteFacts(np.ones(NOTES, dtype=bool), np.full(NOTES, NOW_MS), None, np.zeros(NOTES, dtype=bool), None)
    whole = score(Ratings(both, True, {}, np.full(len(both), NOW_MS)), facts, world.thresholds).statuses[note]
    lab = attack(world, AttackOptions(aim=Aim.LIFT_ONE_SIDED, history=History.PLUS))
    assert lab.note == note
    assert whole.status is lab.statuses[accounts].status is NoteStatus.HELPFUL
    assert whole.note_intercept == pytest.approx(lab.scores[accounts], abs=0.08)


def kind_of(world: World, note: int, side: int) -> bool:
    """Whether a rater of a side finds a note helpful, without noise."""
    return bool(world.made[note, 0] + world.made[note, 1] * side * world.options.polarity > 0.1)


def test_the_target_is_of_the_kind_that_the_aim_names(world: World) -> None:
    kinds = [world.kinds[target(world, aim)] for aim in Aim]
    assert kinds == [NoteKind.BOTH, NoteKind.MINUS, NoteKind.POOR]
    by_average = world.averages >= (world.average_line or 0)
    for aim in Aim:
        assert world.shown[target(world, aim)] == by_average[target(world, aim)] == (aim is Aim.SINK)


def test_the_verdict_sets_the_rules_beside_the_average_and_choosing_beside_being_given(world: World) -> None:
    options = AttackOptions(history=History.PLUS)
    free, given = attack(world, options), attack(world, AttackOptions(history=History.PLUS, assigned=True))
    assert free.needed is not None
    assert given.needed != free.needed
    told = verdict(world, free)
    assert free.needed_by_average
    assert f"{free.needed} accounts are enough to hide" in told
    assert f"With a plain average it takes {free.needed_by_average}." in told
    takes = f"it would take {given.needed}" if given.needed else f"{MAX_ACCOUNTS} would not be enough"
    assert told.endswith(f"If notes were given out at random, {takes}.")
    assert verdict(world, given).endswith(f"If accounts chose the note, it would take {free.needed}.")
    fresh = verdict(world, attack(world, AttackOptions(history=History.FRESH)))
    assert f"{MAX_ACCOUNTS} accounts cannot hide" in fresh
    assert "at random makes no difference" in fresh


def test_the_verdict_claims_no_number_that_was_not_found(world: World) -> None:
    poor = attack(world, AttackOptions(aim=Aim.LIFT_POOR, history=History.FRESH))
    assert poor.needed is poor.needed_by_average is None
    assert verdict(world, poor).startswith(
        f"{MAX_ACCOUNTS} accounts cannot get note {poor.note + 1} shown. With a plain average they cannot either."
    )
    attacks = every_history(world, AttackOptions(aim=Aim.LIFT_POOR))
    assert cheapest(attacks) == f"Not even {MAX_ACCOUNTS} accounts are enough, whatever they rated before."
    early = attack(world, AttackOptions(aim=Aim.LIFT_ONE_SIDED, history=History.FRESH, after=5))
    assert (early.needed, early.needed_by_average) == (None, 0)
    told = verdict(world, early)
    assert told.startswith(f"{early.sentence} A plain average shows it before the attack.")
    assert "takes" not in told


@pytest.mark.parametrize("aim", Aim)
def test_it_is_said_whether_it_changes_anything_that_x_notices(world: World, aim: Aim) -> None:
    noticed, not_noticed = (attack(world, AttackOptions(aim=aim, noticed=notices)) for notices in (True, False))
    assert notice_sentence(world, not_noticed) == ""
    told = notice_sentence(world, noticed)
    if aim is Aim.LIFT_ONE_SIDED:
        assert told == f"If X did not notice: {not_noticed.sentence}"
    else:
        assert told == "That X notices changes nothing here."


def test_the_same_attack_is_reckoned_once(world: World) -> None:
    found = every_history(world, AttackOptions(assigned=True))
    assert attack(world, AttackOptions(assigned=True)) is found[History.BOTH]
