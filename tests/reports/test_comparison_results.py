"""What answers come to: each figure where it can be had, NOT RUN with a reason where not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import Answer, Comparison, Figure, Level, Rating, Statement
from crowdnotes.reports import comparison_results
from crowdnotes.reports.comparison_results import results
from tests.reports.made_comparisons import answer, comparison, rating

LEVELS = [Level.NOT, Level.SOMEWHAT, Level.HELPFUL]


def study(people: int, pairs: int, gain: float, seed: int = 0) -> list[Answer]:
    """Everybody on every pair; the first note is better by `gain`, people and posts differ, all with noise."""
    drawn = np.random.default_rng(seed)
    of_person, of_post = drawn.normal(0, 0.4, people), drawn.normal(0, 0.4, pairs)

    def rated(worth: float) -> Rating:
        level = LEVELS[int(np.clip(np.rint(worth + 1), 0, 2))]
        return Rating(
            level=level,
            statements={one: int(np.clip(np.rint(3 + worth + drawn.normal(0, 0.5)), 1, 5)) for one in Statement},
        )

    found = []
    for person in range(people):
        for pair in range(pairs):
            base = of_person[person] + of_post[pair]
            first, second = base + gain + drawn.normal(0, 0.7), base + drawn.normal(0, 0.7)
            sides = {"won": bool(first > second), "first_is_left": bool(drawn.integers(2))}
            found.append(answer(person, pair, rated(first), rated(second), **sides))
    return found


def run(figure: Figure) -> tuple[float, float, float]:
    assert figure.value is not None, figure.not_run
    assert figure.low is not None
    assert figure.high is not None
    return figure.low, figure.value, figure.high


def test_a_note_that_is_better_is_found_so_by_every_figure() -> None:
    found = results(comparison(8), study(20, 8, gain=0.7))
    low, rate, high = run(found.wins["all answers"])
    assert 0.5 < low < rate < high < 1
    low, better, high = run(found.rated_model)
    first, second = found.helpfulness.first.value, found.helpfulness.second.value
    assert first is not None
    assert second is not None
    assert better == pytest.approx(first - second, abs=0.02)
    assert low > 0
    assert run(found.chosen_model)[1] == pytest.approx(rate - 0.5, abs=0.02)
    assert all((one.differ.p or 0) < 0.01 for one in (found.helpfulness, *found.statements.values()))
    assert (found.wins["all answers"].n, found.rated_model.n) == (160, 320)
    assert [sum(counts) for counts in zip(*found.levels.values(), strict=True)] == [160, 160]
    assert found.sentences["verdict"] == "“Supernote” is better."
    assert "“Supernote” was chosen in" in found.sentences["wins"]
    assert "95 % range" in found.sentences["wins"]
    assert "more than chance explains" in found.sentences["helpfulness"]
    assert found.sentences["statements"].startswith("“Supernote” is rated higher on sources")


def test_notes_that_are_alike_are_not_told_apart() -> None:
    found = results(comparison(8), study(12, 8, gain=0.0, seed=3))
    low, _, high = run(found.wins["all answers"])
    assert low < 0.5 < high
    assert "chance alone" in found.sentences["verdict"]
    assert "Chance alone" in found.sentences["helpfulness"]


def test_the_other_note_can_be_the_better_one_and_few_answers_give_neither_verdict_nor_range() -> None:
    assert results(comparison(8), study(20, 8, gain=-0.7)).sentences["verdict"] == "“Existing note” is better."
    few = results(comparison(8), study(4, 8, gain=0.7))
    assert few.too_few
    assert few.sentences["verdict"].endswith("better: it takes 5 participants and 5 posts.")
    assert "range" not in few.sentences["wins"]


def test_an_audience_that_only_chooses_gives_a_verdict_on_its_one_post() -> None:
    made = comparison(1, short=True)
    answers = [
        answer(who, 0, None, None, won=who != 3).replace(**({"chosen": "equal"} if who == 4 else {}))
        for who in range(20)
    ]
    found = results(made, answers)
    assert found.wins["all answers"].value == pytest.approx(18.5 / 20)
    assert found.sentences["verdict"] == "“Supernote” is better."
    assert found.helpfulness.first.not_run == "This comparison asks only which note helps more."
    assert results(made, answers[:3]).sentences["verdict"].endswith("it takes 5 participants.")


def test_the_interval_is_wider_where_people_agree_with_themselves_than_where_answers_are_apart() -> None:
    by_person = [answer(who, pair, rating(), rating(), won=who < 6) for who in range(12) for pair in range(8)]
    mixed = [answer(who, pair, rating(), rating(), won=(who + pair) % 2 == 0) for who in range(12) for pair in range(8)]
    widths = []
    for answers in (by_person, mixed):
        low, rate, high = run(results(comparison(8), answers).wins["all answers"])
        assert rate == 0.5
        widths.append(high - low)
    assert widths[0] > 2 * widths[1]


def test_wins_where_both_were_rated_alike_are_counted_apart() -> None:
    good, bad = rating(Level.HELPFUL), rating(Level.NOT)
    answers = [answer(0, 0, good, bad, won=True), answer(0, 1, good, good, won=False), answer(1, 0, bad, bad, won=True)]
    wins = results(comparison(), answers).wins
    assert [(figure.n, figure.value) for figure in wins.values()] == [(3, pytest.approx(2 / 3)), (2, 0.5), (1, 0.0)]


GOOD, BAD = rating(Level.HELPFUL, 5), rating(Level.NOT, 1)


@pytest.mark.parametrize(
    ("answers", "of_wins", "of_test", "of_model"),
    [
        ([], "Nobody has answered", "Nobody has answered", "Nobody has answered"),
        ([answer(0, 0, GOOD, BAD, won=True)], "", "", "two participants and two posts"),
        ([answer(who, pair, GOOD, GOOD, won=True) for who in (0, 1) for pair in (0, 1)], "", "alike", "same"),
        ([answer(who, pair, GOOD, BAD, won=True) for who in (0, 1) for pair in (0, 1)], "", "", "same"),
        ([answer(0, pair, GOOD, BAD, won=pair > 1) for pair in range(4)], "", "", "two participants and two posts"),
    ],
)
def test_what_cannot_be_had_of_few_or_equal_answers_is_not_run_and_says_why(
    answers: list[Answer], of_wins: str, of_test: str, of_model: str
) -> None:
    found = results(comparison(), answers)
    figures = (found.wins["all answers"], found.helpfulness.differ, found.rated_model)
    for figure, reason in zip(figures, (of_wins, of_test, of_model), strict=True):
        assert reason in figure.not_run
        assert (figure.value is None) == bool(reason)
    assert all(found.sentences.values())
    assert "chance" not in " ".join(found.sentences.values())


def test_a_model_that_would_take_minutes_is_not_run_and_means_of_nought_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = [answer(who, pair, *(GOOD, BAD)[:: 1 - 2 * who], won=not who) for who in (0, 1) for pair in (0, 1)]
    assert all(results(comparison(), answers).sentences.values())
    monkeypatch.setattr(comparison_results, "_MAX_MIXED_MODEL_WORK", 8 * 4**2 - 1)
    assert "half a minute" in results(comparison(), answers).rated_model.not_run


def test_when_all_choose_the_same_the_interval_is_the_exact_one() -> None:
    won = results(comparison(), [answer(who, 0, GOOD, BAD, won=True) for who in range(10)]).wins["all answers"]
    assert run(won)[0] == pytest.approx(0.6915, abs=0.001)
    assert won.how.startswith("exact")


def test_two_pairs_on_one_post_by_one_person_have_no_interval_but_the_exact_one() -> None:
    made = comparison(2)
    made = made.replace(pairs=tuple(pair.replace(post="P") for pair in made.pairs))
    found = results(made, [answer(0, 0, GOOD, BAD, won=True), answer(0, 1, BAD, GOOD, won=False)])
    assert run(found.wins["all answers"])[1] == 0.5
    assert found.helpfulness.first.low is None


def test_shuffled_pairs_count_answers_and_conclude_nothing() -> None:
    made: Comparison = comparison(8, sides_unknown=True)
    found = results(made, study(5, 8, gain=0.7))
    assert (found.answers, found.participants, found.pairs) == (40, 5, 8)
    assert all(figure.value is None and "shuffled" in figure.not_run for _, figure in found.rows)


ratings = st.builds(rating, st.sampled_from(Level), st.integers(1, 5))
asked = st.tuples(st.integers(0, 3), st.integers(0, 3), ratings, ratings, st.booleans())


@given(st.lists(asked, max_size=6, unique_by=lambda one: one[:2]))
def test_whatever_few_people_answer_every_figure_is_there_or_says_why(
    given_: list[tuple[int, int, Rating, Rating, bool]],
) -> None:
    answers = [answer(who, pair, one, two, won=won) for who, pair, one, two, won in given_]
    for _, figure in results(comparison(), answers).rows:
        assert (figure.value is None) == bool(figure.not_run)
        if figure.value is not None and figure.low is not None and figure.high is not None:
            assert figure.low - 1e-9 <= figure.value <= figure.high + 1e-9
        assert figure.as_text
