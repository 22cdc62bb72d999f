"""`crowdnotes bridging`: read, fit and score, as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from crowdnotes.cli.main import app
from crowdnotes.errors import InputError
from tests.bridging.made import made_ratings, rating_row, write_ratings


def _run(*words: str | Path) -> dict[str, Any]:
    result = CliRunner().invoke(app, ["bridging", *(str(word) for word in words)], catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    """A prepared table of ratings."""
    table = made_ratings()
    path = tmp_path / "ratings.parquet"
    pd.DataFrame(
        {
            "note_id": table.note_ids[table.note],
            "rater_id": table.rater_ids[table.rater],
            "helpful_num": table.helpful.astype(float),
        }
    ).to_parquet(path)
    return path


def test_fit_writes_both_sides_and_prints_its_figures(prepared: Path, tmp_path: Path) -> None:
    printed = _run("fit", "--ratings", prepared, "--out", tmp_path / "out", "--json")
    wanted = {"objective", "mean_squared_error", "global_intercept", "iterations", "seconds", "ratings", "notes"}
    assert wanted | {"raters", "dropped", "warnings"} <= set(printed)
    notes, raters = (pd.read_parquet(tmp_path / "out" / f"{side}.parquet") for side in ("notes", "raters"))
    assert list(notes.columns) == ["note_id", "note_intercept", "note_factor"]
    assert list(raters.columns) == ["rater_id", "rater_intercept", "rater_factor"]
    assert (len(notes), len(raters)) == (printed["notes"], printed["raters"])
    assert notes["note_id"].dtype == "int64"


def test_a_fit_replaces_no_other_table(prepared: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for _ in range(2):  # a fit may follow a fit
        _run("fit", "--ratings", prepared, "--out", out, "--json")
    public = pd.DataFrame({"noteId": [1]})
    public.to_parquet(out / "raters.parquet")
    before = (out / "notes.parquet").read_bytes()
    for rest in (public.to_parquet(), b"no table"):
        (out / "raters.parquet").write_bytes(rest)
        ended = CliRunner().invoke(app, ["bridging", "fit", "--ratings", str(prepared), "--out", str(out)])
        assert "holds something else than a fit" in str(ended.exception)
        assert (out / "raters.parquet").read_bytes() == rest
    assert (out / "notes.parquet").read_bytes() == before


def test_a_prepared_table_is_fitted_whole_unless_the_filter_is_asked_for(prepared: Path, tmp_path: Path) -> None:
    whole = _run("fit", "--ratings", prepared, "--out", tmp_path / "a", "--json")
    again = _run("fit", "--ratings", prepared, "--out", tmp_path / "b", "--filter", "--json")
    assert whole["ratings"] == len(made_ratings())
    assert again["ratings"] <= whole["ratings"]


def test_public_ratings_are_filtered_and_the_drops_named(tmp_path: Path) -> None:
    rows = [rating_row(n, f"R{u}", "HELPFUL" if (n + u) % 3 else "NOT_HELPFUL") for n in range(12) for u in range(8)]
    path = write_ratings(tmp_path / "ratings-00000.tsv", [*rows, rating_row(99, "R0"), rows[0]])
    printed = _run("fit", "--ratings", path, "--out", tmp_path / "out", "--json")
    assert printed["ratings"] == 96
    assert printed["dropped"] == {
        "repeated noteId and raterParticipantId": 1,
        "ratings of notes with under 5 raters": 1,
    }


def test_more_factors_get_columns_of_their_own(prepared: Path, tmp_path: Path) -> None:
    _run("fit", "--ratings", prepared, "--out", tmp_path / "out", "--factors", "2", "--json")
    assert list(pd.read_parquet(tmp_path / "out" / "notes.parquet").columns)[2:] == ["note_factor", "note_factor_2"]


def test_read_reports_and_score_tells_every_note(tmp_path: Path) -> None:
    rows = [rating_row(n, f"R{u}", "HELPFUL" if (n + u) % 3 else "NOT_HELPFUL") for n in range(12) for u in range(12)]
    write_ratings(tmp_path / "ratings-00000.tsv", rows)
    result = CliRunner().invoke(
        app, ["bridging", "read", "--data", str(tmp_path), "--out", str(tmp_path / "out"), "--json"]
    )
    assert json.loads(result.stdout)[0]["rows"] == 144
    printed = _run("score", "--data", tmp_path / "out", "--json")
    assert len(printed["notes"]) == 12
    assert {"status", "decided_by", "reason", "blocked_by", "not_applied"} <= set(printed["notes"][0])
    assert sum(printed["statuses"].values()) == 12
    assert (printed["raters"]["by"], printed["raters"]["taken"]) == ("all", 12)
    assert any("Not computed: X's models for topics" in notice for notice in printed["notices"])


def test_a_file_that_is_no_ratings_gives_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "ratings.parquet").write_bytes(b"nothing")
    with pytest.raises(InputError, match="no Parquet file"):
        _run("fit", "--ratings", tmp_path / "ratings.parquet", "--out", tmp_path / "out")


@pytest.mark.parametrize("command", ["fit", "score"])
def test_when_nothing_is_left_the_drops_are_told(tmp_path: Path, command: str) -> None:
    write_ratings(tmp_path / "ratings-00000.tsv", [rating_row(n, "R0") for n in range(3)])
    words: list[str | Path] = (
        ["--ratings", tmp_path, "--out", tmp_path / "out"] if command == "fit" else ["--data", tmp_path]
    )
    with pytest.raises(InputError, match="ratings of notes with under 5 raters: 3"):
        _run(command, *words)


def test_in_plain_words_drops_unknown_columns_and_rules_not_applied_are_told(tmp_path: Path) -> None:
    rows = [rating_row(n, f"R{u}", "HELPFUL" if (n + u) % 3 else "NOT_HELPFUL") for n in range(12) for u in range(12)]
    path = write_ratings(tmp_path / "ratings-00000.tsv", [*rows, rows[0]])
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([lines[0] + "\tmood", *(line + "\tfine" for line in lines[1:])]) + "\n", "utf-8")
    told = {
        command: CliRunner().invoke(app, ["bridging", command, *map(str, words)], catch_exceptions=False).stdout
        for command, words in {
            "read": ["--data", tmp_path, "--out", tmp_path / "parquet"],
            "fit": ["--ratings", tmp_path, "--out", tmp_path / "out"],
            "score": ["--data", tmp_path],
        }.items()
    }
    for words in told.values():
        assert "dropped 1: repeated noteId and raterParticipantId" in words
    assert "unknown columns left out: mood" in told["read"]
    assert "144 ratings of 12 notes by 12 raters" in told["fit"]
    assert "We count all 12 raters." in told["score"]
    assert "GeneralCRH (needs whether the note calls the post misleading)" in told["score"]
