"""The essay's experiment on extremes."""

from __future__ import annotations

import pytest

from crowdnotes.public_data.extremes import run_experiment


@pytest.mark.parametrize("ratings", [4, 8])
def test_the_score_ranks_good_notes_above_extreme_ones_whose_average_is_the_same(ratings: int) -> None:
    found = run_experiment(ratings, ratings // 2)
    good, extreme, neutral, poor = found.kinds
    assert (good.average, extreme.average, neutral.average, poor.average) == pytest.approx((1, 1, 0, -1))
    assert good.score > extreme.score > neutral.score > poor.score
    assert found.good_above > 75
    assert extreme.polarity > 2 * good.polarity
    assert f"good notes above extreme ones in {found.good_above} of 100 rounds" in found.sentence
    assert found.polarity_sentence(0.5).endswith("stops good but extreme ones.")


def test_the_gap_shrinks_with_more_ratings_of_each_note_as_the_page_says() -> None:
    gaps = []
    for ratings in (4, 8, 20):
        good, extreme, *_ = run_experiment(ratings, ratings // 2, rounds=20).kinds
        gaps.append(good.score - extreme.score)
    assert gaps[0] > gaps[1] > gaps[2] > 0


def test_with_more_raters_of_the_own_side_the_averages_favour_extremes_far_more_than_the_score() -> None:
    found = run_experiment(8, 6, rounds=20)
    good, extreme, *_ = found.kinds
    assert (good.average, extreme.average) == pytest.approx((1.5, 2.5))
    assert 0 < extreme.score - good.score < (extreme.average - good.average) / 6 / 3
    assert "extreme notes above good ones" in found.sentence


@pytest.mark.parametrize(
    ("ratings", "own", "verdict"),
    [(4, 2, "Yes."), (20, 10, "No clear difference: the scores are 0.004 apart."), (20, 15, "No. Most ratings")],
)
def test_only_a_clear_gap_says_yes_or_no(ratings: int, own: int, verdict: str) -> None:
    assert run_experiment(ratings, own).verdict.startswith(verdict)


def test_the_table_has_a_row_for_each_kind() -> None:
    rows = run_experiment(rounds=2).rows
    assert list(rows)[:4] == ["kind", "from own side", "from other side", "average rating"]
    found = list(zip(*rows.values(), strict=True))
    assert [row[:4] for row in found[:2]] == [("good", "+2", "0", "+1.00"), ("good but extreme", "+4", "−2", "+1.00")]
