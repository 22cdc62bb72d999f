"""Comparisons and their answers, kept: none lost, none counted twice, whoever writes at the same time."""

from __future__ import annotations

import csv
import io
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine

from crowdnotes.domain import Level, Side, Statement
from crowdnotes.errors import ComparisonNotFoundError, InputError
from crowdnotes.reports.comparisons import Comparisons
from crowdnotes.studies.bench.notes import Vote, pairs, win_rates
from crowdnotes.studies.data_files import read_rows
from tests.fakes import actor
from tests.reports.made_comparisons import NOW, answered, is_answered, pairs_file, rating
from tests.studies.test_notes import ROWS

ADA, BOB = "ada-ada-ada", "bob-bob-bob"


class Clock:
    """A minute later each time it is asked."""

    def __init__(self) -> None:
        self._at = NOW

    def __call__(self) -> datetime:
        self._at += timedelta(minutes=1)
        return self._at


@pytest.fixture
def kept(engine: Engine) -> Comparisons:
    return Comparisons(engine, Clock(), actor)


def test_a_participant_sees_the_same_pairs_in_the_same_order_each_time_and_another_in_another(
    kept: Comparisons,
) -> None:
    made = kept.add("moon.jsonl", pairs_file(30), each=12)
    assert kept.get(made.id) == made
    ada, bob = kept.sheets(made.id, ADA), kept.sheets(made.id, BOB)
    assert len(ada) == 12
    assert ada == kept.sheets(made.id, ADA)
    assert [sheet.pair for sheet in ada] != [sheet.pair for sheet in bob]
    stood_left = [sheet.left.startswith("Super") for sheet in ada + bob]
    assert 4 < sum(stood_left) < 20


def test_an_answer_given_again_takes_the_place_of_the_first_whose_time_stays(kept: Comparisons) -> None:
    made = kept.add("moon.jsonl", pairs_file(3))
    answered(kept, made, ADA, wins=[True])
    (before,) = kept.answers(made.id)
    answered(kept, made, ADA, wins=[False])
    (after,) = kept.answers(made.id)
    assert (before.winner, after.winner) == ("first", "second")
    assert after.first_at == before.first_at < after.at
    assert list(map(is_answered, kept.sheets(made.id, ADA))) == [True, False, False]
    assert kept.sheets(made.id, ADA)[0].answer == after


def test_forty_participants_at_once_lose_no_answer_and_sending_twice_counts_once(kept: Comparisons) -> None:
    made = kept.add("moon.jsonl", pairs_file(3))
    people = [kept.new_participant() for _ in range(40)]
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda one: answered(kept, made, one, wins=[True] * 3), people * 2))
    assert len(kept.answers(made.id)) == 120
    (summary,) = kept.summaries()
    assert (summary.participants, summary.answers, summary.pairs) == (40, 120, 3)
    assert {answer.winner for answer in kept.answers(made.id)} == {"first"}


def test_an_id_is_no_option_on_the_command_line(kept: Comparisons) -> None:
    assert all(kept.add("moon.jsonl", pairs_file(1)).id.isalnum() for _ in range(200))


def test_an_unknown_or_deleted_comparison_is_said_to_be_missing(kept: Comparisons) -> None:
    made = kept.add("moon.jsonl", pairs_file(3))
    answered(kept, made, ADA)
    kept.delete(made.id)
    assert kept.summaries() == []
    for comparison_id in (made.id, "nope", "", "\x00", "\ud800", "x" * 1_000):
        for act in (kept.get, kept.delete, kept.results, kept.exported, lambda one: kept.sheets(one, ADA)):
            with pytest.raises(ComparisonNotFoundError):
                act(comparison_id)
    again = kept.add("moon.jsonl", pairs_file(3))
    assert again.id != made.id
    assert kept.answers(again.id) == []


def test_only_pairs_that_a_participant_sees_can_be_answered(kept: Comparisons) -> None:
    made = kept.add("moon.jsonl", pairs_file(3), each=1)
    (sheet,) = kept.sheets(made.id, ADA)
    other = next(pair.id for pair in made.pairs if pair.id != sheet.pair)
    for participant, pair in ((ADA, other), ("x", sheet.pair), ("\x00" * 20, sheet.pair)):
        with pytest.raises(InputError):
            kept.answer(made.id, participant, pair, left=rating(), right=rating(), chosen="left")
    assert kept.is_participant(kept.new_participant())


def test_names_are_those_of_the_file_or_of_the_facilitator_and_differ(kept: Comparisons) -> None:
    assert kept.add("moon.jsonl", pairs_file(1)).names == ("Supernote", "Existing note")
    assert kept.add("moon.jsonl", pairs_file(1), names=(" Mine\x00 ", "")).names == ("Mine\ufffd", "Existing note")
    with pytest.raises(InputError, match="same name"):
        kept.add("moon.jsonl", pairs_file(1), names=("Same", "Same"))


def test_the_csv_has_a_row_an_answer_by_note_and_no_formula(kept: Comparisons) -> None:
    row = {"post": "=1+1", "first": "+A", "second": "B"}
    made = kept.add("x.json", json.dumps([row]).encode(), names=("New", "Old"))
    (sheet,) = kept.sheets(made.id, ADA)
    new, old = rating(Level.HELPFUL, 5), rating(Level.NOT, 1)
    is_left = sheet.left == "+A"
    left, right = (new, old) if is_left else (old, new)
    kept.answer(made.id, ADA, sheet.pair, left=left, right=right, chosen="left" if is_left else "right")
    (found,) = csv.DictReader(io.StringIO(kept.exported(made.id)))
    assert found["chosen"] == "first"
    assert found["stood_left"] == ("first" if is_left else "second")
    assert (found["first_helpfulness"], found["second_helpfulness"]) == ("helpful", "not helpful")
    assert {found[f"first_{one.value}"] for one in Statement} == {"5"}
    assert (found["post"], found["first_note"], found["second_note"]) == ("'=1+1", "'+A", "B")


def test_votes_on_shuffled_pairs_go_back_to_bench_compare(kept: Comparisons, tmp_path: Path) -> None:
    shown = pairs(ROWS)
    made = kept.add("pairs.jsonl", "\n".join(pair.model_dump_json() for pair in shown).encode())
    for sheet in kept.sheets(made.id, ADA):
        chosen: Side = "left" if sheet.left.startswith("No study") else "right"
        kept.answer(made.id, ADA, sheet.pair, left=rating(), right=rating(), chosen=chosen)
    file = tmp_path / "votes.jsonl"
    file.write_text(kept.exported(made.id, votes=True), encoding="utf-8")
    rate = win_rates(ROWS, read_rows(file, Vote, ""))["overall"]
    assert (rate.rate, rate.votes) == (1.0, 40)
    assert "does not say whose" in kept.results(made.id).sentences["wins"]
    told_apart = kept.add("notes.jsonl", "\n".join(row.model_dump_json() for row in ROWS).encode())
    with pytest.raises(InputError, match="shuffled"):
        kept.exported(told_apart.id, votes=True)
