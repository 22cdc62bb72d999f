"""The rows of the table: hierarchical, of all posts, with intervals."""

from __future__ import annotations

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import GateName
from crowdnotes.studies.bench.healthnotes import (
    HalfRow,
    Outcome,
    PostResult,
    make_report,
    switches,
    table_csv,
    table_rows,
)
from tests.studies.made_health import options, result


def _percents(row: HalfRow) -> list[float | None]:
    return [row.rates[gate].percent for gate in GateName]


def test_each_gate_counts_only_after_those_before_it() -> None:
    helpful, other, both = table_rows(
        [result(1, 3), result(2, 2), result(3, 1), result(4, 0), result(5, 3, helpful=False)]
    )
    assert _percents(helpful) == [75.0, 50.0, 25.0]
    assert _percents(other) == [100.0, 100.0, 100.0]
    assert _percents(both) == [80.0, 60.0, 40.0]


def test_a_post_without_a_note_fails_and_stands_in_its_own_column() -> None:
    without = [
        PostResult(note_id=str(number), is_helpful=True, outcome=outcome)
        for number, outcome in enumerate((Outcome.ABSTAINED, Outcome.NO_EVIDENCE, Outcome.FAILED), 2)
    ]
    helpful, _, _ = table_rows([result(1, 3), *without])
    assert helpful.outcomes == dict.fromkeys(Outcome, 1)
    assert _percents(helpful) == [25.0, 25.0, 25.0]


def test_a_half_without_posts_has_no_rate() -> None:
    _, other, _ = table_rows([result(1, 3)])
    assert _percents(other) == [None, None, None]
    assert other.rates[GateName.RELEVANCE].interval == (0, 100)


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=60))
def test_rates_fall_from_gate_to_gate_and_lie_in_their_intervals(posts: list[tuple[int, bool]]) -> None:
    rows = table_rows([result(number, passes, helpful=helpful) for number, (passes, helpful) in enumerate(posts)])
    assert rows[0].posts + rows[1].posts == rows[2].posts == len(posts)
    for row in rows:
        rates = [row.rates[gate] for gate in GateName]
        assert rates[0].passed >= rates[1].passed >= rates[2].passed
        for rate in rates:
            low, high = rate.interval
            assert rate.percent is None or low <= rate.percent + 0.01 <= high + 0.02


def test_the_csv_has_a_row_a_half_with_counts_rates_and_intervals() -> None:
    rows = list(csv.DictReader(io.StringIO(table_csv(table_rows([result(1, 3), result(2, 0)])))))
    assert [row["half"] for row in rows] == ["helpful", "not helpful", "overall"]
    assert (rows[0]["judged"], rows[0]["helpfulness_passed"], rows[0]["helpfulness_percent"]) == ("2", "1", "50.0")
    assert float(rows[0]["helpfulness_low"]) < 50 < float(rows[0]["helpfulness_high"])
    assert rows[1]["relevance_percent"] == ""


def test_a_report_says_what_a_reader_must_know() -> None:
    lost = result(2, 0, outcome=Outcome.FAILED, unread={"undated": 2}, unanswered=("PubMed",))
    report = make_report(options(utility=False), 3, [result(1, 3, unread={"undated": 1}), lost], 1)
    said = "\n".join(report.cautions)
    assert "Not finished: 2 of 3 posts." in said
    assert "trained on 1 of these posts" in said
    assert "Sources that were not read: 3 undated." in said
    assert "A search was not answered for 1 of the posts: PubMed." in said
    assert "Could not be run: 1 of the posts." in said
    assert switches(report.options) == "automation, without utility judgement"
