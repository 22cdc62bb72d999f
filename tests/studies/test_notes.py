"""The program's notes beside human ones: blind pairs, votes, what a run took."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import GateName, GateStatus
from crowdnotes.studies.bench.healthnotes import Outcome, PostRow
from crowdnotes.studies.bench.notes import Side, Vote, costs, is_left, pair_id, pairs, win_rates

HUMAN = "It does not.  https://a.example.org/x https://b.example.org/y"
PASSED = dict.fromkeys(GateName, GateStatus.PASS)
NOTE = "No study found it. https://c.example.org/z"
ROWS = [
    PostRow(
        note_id=str(number),
        is_helpful=True,
        post="A post.",
        human=HUMAN,
        outcome=Outcome.JUDGED,
        note=NOTE,
        calls=7,
        gates=PASSED,
    )
    for number in range(40)
]


def _side(row: PostRow, *, own: bool) -> Side:
    return "left" if is_left(row.note_id) == own else "right"


def test_a_pair_shows_the_words_and_how_many_links_and_no_address() -> None:
    shown = pairs(ROWS[:1])[0]
    sides = {shown.left, shown.right}
    assert sides == {"It does not. [link] [link]", "No study found it. [link]"}
    assert "example.org" not in shown.model_dump_json()
    assert shown.pair not in ROWS[0].note_id


def test_both_sides_get_the_programs_note_and_the_same_one_each_time() -> None:
    left = [is_left(row.note_id) for row in ROWS]
    assert 10 < sum(left) < 30
    assert left == [is_left(row.note_id) for row in ROWS]


def test_a_post_without_a_note_or_with_one_that_failed_a_gate_makes_no_pair() -> None:
    silent = ROWS[0].replace(note="", outcome=Outcome.ABSTAINED)
    failed = ROWS[2].replace(gates=PASSED | {GateName.HELPFULNESS: GateStatus.FAIL})
    assert pairs([silent, ROWS[1], failed]) == pairs([ROWS[1]])


def test_votes_are_counted_for_the_program_whichever_side_it_stood_on() -> None:
    votes = [Vote(pair=pair_id(row.note_id), votes={"overall": _side(row, own=True)}) for row in ROWS[:30]]
    votes += [Vote(pair=pair_id(row.note_id), votes={"overall": _side(row, own=False)}) for row in ROWS[30:]]
    rate = win_rates(ROWS, votes)["overall"]
    assert rate.rate == 0.75
    assert 0.55 < rate.low < 0.75 < rate.high < 0.92
    assert rate.votes == 40


def test_a_pair_that_was_read_in_both_orders_counts_once_and_a_tie_half() -> None:
    row = ROWS[0]
    votes = [Vote(pair=pair_id(row.note_id), votes={"overall": _side(row, own=own)}) for own in (True, False)]
    votes.append(Vote(pair=pair_id(ROWS[1].note_id), votes={"overall": "tie", "accuracy": _side(ROWS[1], own=True)}))
    found = win_rates(ROWS, votes)
    assert found["overall"].rate == 0.5
    assert found["accuracy"].rate == 1.0
    assert "brevity" not in found


@given(st.lists(st.sampled_from(["left", "right", "tie"]), min_size=1, max_size=40))
def test_win_rate_and_interval_stay_in_bounds(sides: list[Side]) -> None:
    votes = [Vote(pair=pair_id(row.note_id), votes={"overall": side}) for row, side in zip(ROWS, sides, strict=False)]
    rate = win_rates(ROWS, votes)["overall"]
    assert 0 <= rate.low <= rate.rate <= rate.high <= 1


def test_a_vote_on_an_unknown_pair_counts_nothing() -> None:
    assert win_rates(ROWS, [Vote(pair="nobody", votes={"overall": "left"})]) == {}


def test_costs_are_told_by_post_with_those_that_passed_every_gate() -> None:
    rows = [
        ROWS[0].replace(chain=6, tokens=9000),
        ROWS[1].replace(gates=PASSED | {GateName.CORRECTNESS: GateStatus.FAIL}, calls=9),
        ROWS[2].replace(note="", outcome=Outcome.ABSTAINED, calls=1),
    ]
    found = costs(rows)
    assert (found["posts"], found["notes"], found["abstained"], found["pass_all_gates"]) == (3, 2, 1, 1)
    assert found["calls"] == {"mean": 5.7, "most": 9}
