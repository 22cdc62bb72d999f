"""A made world: what was planted is found again, and the sentences say what the numbers do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from crowdnotes.bridging.model import NoteStatus, RuleName
from crowdnotes.bridging.thresholds import THRESHOLDS
from crowdnotes.public_data.small_world import NOTES, RATERS, NoteKind, World, WorldOptions, make_world, other_starts


def made(**options: Any) -> World:
    return make_world(replace(WorldOptions(), **options), THRESHOLDS)


def of_kind(world: World, kind: NoteKind) -> list[int]:
    return [note for note, one in enumerate(world.kinds) if one is kind]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("options", [{}, {"share": 0.5}, {"ratings_each": 40}])
def test_planted_camps_worth_and_lean_are_recovered(options: dict[str, float], seed: int) -> None:
    world = made(**options, seed=seed)
    camp, factor = world.camps[world.fit.raters.ids], world.fit.raters.factors[:, 0]
    assert np.mean(factor * camp > 0) > 0.98
    assert np.corrcoef(world.scores, world.made[:, 0])[0, 1] > 0.9
    assert np.corrcoef(world.factors, world.made[:, 1])[0, 1] > 0.95
    assert world.factors[of_kind(world, NoteKind.PLUS)].min() > 0
    assert not any(kind.one_sided for kind, shown in zip(world.kinds, world.shown, strict=True) if shown)


def test_without_noise_exactly_the_notes_that_help_both_sides_are_shown() -> None:
    world = made(noise=0, generosity=0)
    assert np.flatnonzero(world.shown).tolist() == of_kind(world, NoteKind.BOTH)
    assert world.sentence == "15 notes of 60 are shown: 15 of 15 that help both sides, 0 of 30 that please one side."
    assert f"finds the side of {RATERS} of {RATERS} raters" in world.sides_sentence


def test_plain_averages_put_notes_of_the_larger_side_among_those_that_help_both() -> None:
    world = made(share=0.75)
    both = world.averages[of_kind(world, NoteKind.BOTH)]
    below = int((both < world.averages[of_kind(world, NoteKind.MINUS)].max()).sum())
    assert below > 0
    assert f"beats {below} of 15 notes that help both sides. By score, it beats none." in world.average_sentence
    assert (world.averages >= (world.average_line or 0)).sum() == world.shown.sum()


def test_without_two_sides_no_note_is_shown_and_the_sentence_says_by_which_rule() -> None:
    world = made(camps=1)
    assert not any("side" in world.name(kind) for kind in NoteKind)
    assert "lean one way" in made(camps=1, seed=3).sentence
    assert not any("side" in made(polarity=0.0).name(kind) for kind in NoteKind), (
        "sides that stand in one place are none"
    )
    assert made(camps=1, noise=0).notices[0].startswith("No rater reaches")
    assert not world.shown.any()
    assert world.average_line is None
    place = int(np.argmax(world.scores))
    best, score = world.statuses[place], world.scores[place]
    assert world.sentence == (
        f"No note is shown. Note {place + 1} has the highest score, {score:.2f}. {best.blocked_by[0].reason}"
    )
    assert "is mostly chance" in world.sides_sentence


def test_a_note_is_told_of_by_the_rule_that_decided() -> None:
    world = made()
    assert {found.status for found in world.statuses} >= {NoteStatus.HELPFUL, NoteStatus.NOT_HELPFUL}
    for note, found in enumerate(world.statuses):
        told = world.story(note)
        assert told.startswith(f"Note {note + 1} ")
        assert (" is shown. " in told) == (found.status is NoteStatus.HELPFUL) == bool(world.shown[note])
        if found.status is NoteStatus.HELPFUL:
            assert found.decided_by is RuleName.GENERAL_HELPFUL
            assert found.reason in told


def test_a_side_s_ratings_are_the_sum_of_what_the_model_says_but_for_what_penalties_keep_back() -> None:
    world = made(noise=0)
    note = of_kind(world, NoteKind.PLUS)[0]
    low, high = world.side_sums(note)
    for side in (low, high):
        base = world.fit.global_intercept + world.scores[note]
        assert side.predicted == pytest.approx(base + side.intercept + side.factor * world.factors[note])
        assert side.rated == pytest.approx(side.predicted, abs=0.2)
    assert low.rated < 0.5 < high.rated
    assert low.raters + high.raters == (world.table.note == note).sum()


def test_raters_whom_the_crowd_disagrees_with_do_not_count_and_notes_may_lose_their_score() -> None:
    world = made(share=0.95, polarity=1.0, generosity=0.4, noise=0, ratings_each=10)
    without = int(np.isnan(world.scores).sum())
    assert 0 < without < NOTES
    assert f"{RATERS - len(world.fit.raters)} raters of {RATERS} do not count" in world.left_out_sentence
    assert f"{without} notes have no score: under 5 of the ratings count." in world.left_out_sentence
    assert made().left_out_sentence == ""
    assert "beats" in world.average_sentence
    assert world.sentence


def test_the_same_ratings_fitted_from_other_random_starts_give_the_same_unless_there_are_few_and_noisy_ones() -> None:
    found = other_starts(made(), starts=4)
    assert (found.starts, found.changed) == (4, 0)
    assert found.most < 0.001
    assert "4 other random starts give the same answer" in found.sentence
    unsure = other_starts(made(ratings_each=10, noise=0.5))
    assert unsure.changed > 0
    assert f"{unsure.changed} of {NOTES} notes change their status" in unsure.sentence


def test_a_seed_gives_one_world_and_a_slider_that_moves_leaves_the_rest_of_it() -> None:
    one, again, noisier = made(seed=4), made(seed=4), made(seed=4, noise=0.3)
    assert np.array_equal(one.scores, again.scores)
    assert np.array_equal(one.table.note, noisier.table.note)
    assert np.array_equal(one.made, noisier.made)
    assert len(one.kinds) == NOTES == len(one.statuses)
