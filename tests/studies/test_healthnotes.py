"""A run over HealthNotes: on disk, and as the paper's table."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import GateStatus, Mode
from crowdnotes.errors import InputError
from crowdnotes.studies.bench.healthnotes import (
    PAPERS_GATES,
    Outcome,
    PostRow,
    RunFolder,
    RunOptions,
    TableRow,
    cautions,
    rates_in_words,
    switches,
    table_rows,
)

OPTIONS = RunOptions(data_sha256="0" * 64, mode=Mode.AUTOMATION, libraries=("topics",), engine={"writing": "made"})


def _row(number: int, passes: int, **changes: object) -> PostRow:
    """A judged note that passes the first `passes` gates and fails the next."""
    states = [GateStatus.PASS] * passes + [GateStatus.FAIL] * (passes < 3) + [GateStatus.NOT_RUN] * 2
    made = PostRow(
        note_id=str(number),
        is_helpful=True,
        post="A post.",
        human="A note.",
        outcome=Outcome.JUDGED,
        gates=dict(zip(PAPERS_GATES, states, strict=False)),
        note=f"Note {number}.",
    )
    return made.replace(**changes)


def _folder(folder: Path, **changes: object) -> RunFolder[PostRow]:
    return RunFolder(folder, "posts.jsonl", OPTIONS.replace(**changes), PostRow)


def test_only_its_owner_may_read_the_folder_of_a_run(tmp_path: Path) -> None:
    _folder(tmp_path / "run")
    assert (tmp_path / "run").stat().st_mode & 0o777 == 0o700


def test_a_run_goes_on_with_what_is_finished_and_tries_again_what_could_not_be_run(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "run")
    folder.add(_row(1, 0, outcome=Outcome.FAILED))
    assert not folder.is_finished("1")
    folder.add(_row(1, 2))
    again = _folder(tmp_path / "run")
    assert again.row("1") == _row(1, 2)
    assert again.is_finished("1")
    assert not again.is_finished("2")


def test_a_line_cut_by_a_crash_is_dropped_and_the_next_one_stands_alone(tmp_path: Path) -> None:
    _folder(tmp_path).add(_row(1, 3))
    with (tmp_path / "posts.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"note_id": "2", "is_hel')
    folder = _folder(tmp_path)
    assert not folder.is_finished("2")
    folder.add(_row(2, 1))
    again = _folder(tmp_path)
    assert (again.row("1"), again.row("2")) == (_row(1, 3), _row(2, 1))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"mode": Mode.AUGMENTATION, "libraries": ()}, "mode, libraries"),
        ({"engine": {"writing": "llm:x 1"}}, "engine"),
        ({"data_sha256": "1" * 64}, "data sha256"),
        ({"library_dates": {"topics": date(2020, 1, 1)}}, "library dates"),
    ],
)
def test_other_options_are_refused_by_name(tmp_path: Path, changes: dict[str, object], named: str) -> None:
    _folder(tmp_path)
    with pytest.raises(InputError, match=f"other options \\({named}\\)"):
        _folder(tmp_path, **changes)


@pytest.mark.parametrize("file", ["options.json", "posts.jsonl"])
def test_a_folder_with_something_else_in_it_is_refused(tmp_path: Path, file: str) -> None:
    _folder(tmp_path)
    (tmp_path / file).write_text("[]\n", encoding="utf-8")
    with pytest.raises(InputError, match="not of such a run"):
        _folder(tmp_path)


def test_rows_whose_options_are_not_known_and_a_file_in_the_folders_place_are_refused(tmp_path: Path) -> None:
    (tmp_path / "posts.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="without the options"):
        _folder(tmp_path)
    with pytest.raises(InputError, match="cannot be used"):
        _folder(tmp_path / "posts.jsonl")


def _percents(row: TableRow) -> list[object]:
    return [row[f"{gate.value}_percent"] for gate in PAPERS_GATES]


def test_each_gate_counts_only_after_those_before_it_and_of_all_posts() -> None:
    silent = [_row(6, 0, outcome=Outcome.ABSTAINED, gates={}), _row(7, 0, outcome=Outcome.FAILED, gates={})]
    rows = [_row(1, 3), _row(2, 2), *silent, _row(3, 3, is_helpful=False)]
    helpful, other, both = table_rows(rows)
    assert _percents(helpful) == [50.0, 50.0, 25.0]
    assert _percents(other) == [100.0, 100.0, 100.0]
    assert _percents(both) == [60.0, 60.0, 40.0]
    assert (both["judged"], both["abstained"], both["failed"], both["no_evidence"]) == (3, 1, 1, 0)


def test_a_half_without_posts_has_no_rate_and_a_dash_in_words() -> None:
    rows = table_rows([_row(1, 3)])
    assert _percents(rows[1]) == [None, None, None]
    assert (rows[1]["relevance_low"], rows[1]["relevance_high"]) == (0, 100)
    assert rates_in_words(rows[1]) == ["—"] * 3
    assert rates_in_words(rows[0])[0] == "100.00 (21–100)"


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=60))
def test_rates_fall_from_gate_to_gate_and_lie_in_their_intervals(posts: list[tuple[int, bool]]) -> None:
    rows = table_rows([_row(number, passes, is_helpful=helpful) for number, (passes, helpful) in enumerate(posts)])
    assert int(rows[0]["posts"] or 0) + int(rows[1]["posts"] or 0) == rows[2]["posts"] == len(posts)
    for row in rows:
        passed = [int(row[f"{gate.value}_passed"] or 0) for gate in PAPERS_GATES]
        assert passed[0] >= passed[1] >= passed[2]
        for gate in PAPERS_GATES if row["posts"] else ():
            low, rate, high = (float(row[f"{gate.value}_{end}"] or 0) for end in ("low", "percent", "high"))
            assert low <= rate + 0.01 <= high + 0.02


def test_a_report_says_what_a_reader_must_know() -> None:
    lost = _row(2, 0, outcome=Outcome.FAILED, unread={"undated": 2}, unanswered=("PubMed",))
    options = OPTIONS.replace(utility=False)
    said = "\n".join(cautions(options, 3, [_row(1, 3, unread={"undated": 1}), lost], 1))
    assert "Not finished: 2 of 3 posts." in said
    assert "learned from 1 of these posts" in said
    assert "Sources that were not read: 3 undated." in said
    assert "A search was not answered for 1 of the posts: PubMed." in said
    assert "We could not run 1 of the posts." in said
    assert switches(options) == "automation, without utility judgement"
