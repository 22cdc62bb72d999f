"""The benchmarks of the judges: what they read, what they count, and that training is not mistaken for skill."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from crowdnotes.domain import GateName
from crowdnotes.errors import InputError
from crowdnotes.studies.bench.judges import bench_correctness, bench_helpfulness
from crowdnotes.studies.data_files import DistortionRow, HealthNote, labelled_bridging, note_mark, read_camp_notes
from crowdnotes.studies.train.judges import group_texts, joined_groups
from tests.fakes import HashingEmbedder, ScriptedEngine, ScriptedJudge, uncertain_result


def _quiet(_: str) -> None:
    pass


def _note(number: int, *, helpful: bool) -> HealthNote:
    status = "CURRENTLY_RATED_HELPFUL" if helpful else "CURRENTLY_RATED_NOT_HELPFUL"
    return HealthNote.model_validate({"note_id": str(number), "post": "A post.", "note": "A note.", "status": status})


def test_a_judge_that_passes_all_is_right_on_the_helpful_half() -> None:
    notes = [_note(1, helpful=True), _note(2, helpful=False)]
    found = bench_helpfulness(ScriptedEngine(), notes, {}, 0.5, _quiet)
    assert (found["n"], found["accuracy"], found["auc"], found["seen_in_training"]) == (2, 0.5, 0.5, 0)
    assert found["macro_f1"] == pytest.approx(1 / 3)


def test_a_note_that_the_judge_is_uncertain_of_is_not_taken_for_helpful() -> None:
    engine = ScriptedEngine()
    engine.judge = ScriptedJudge(uncertain_result)
    found = bench_helpfulness(engine, [_note(1, helpful=False)], {}, 0.5, _quiet)
    assert found["accuracy"] == 1.0


def test_a_note_trained_on_counts_with_its_held_out_verdict_and_the_judge_is_not_asked() -> None:
    engine = ScriptedEngine()
    notes = [_note(1, helpful=True), _note(2, helpful=False)]
    found = bench_helpfulness(engine, notes, {note_mark("1"): 0.2, note_mark("2"): 0.9}, 0.5, _quiet)
    assert found["seen_in_training"] == 2
    assert found["accuracy"] == 0.0
    assert "cross-validation" in found["seen_judged_by"]
    assert engine.judged == []


def test_correctness_is_told_by_kind_and_false_alarms_are_counted() -> None:
    rows = [
        DistortionRow(id="a", passage="P.", note="N.", label="faithful"),
        DistortionRow(id="b", passage="P.", note="N.", label="distorted", kind="number"),
    ]
    engine = ScriptedEngine()
    engine.fails_at = GateName.CORRECTNESS
    found = bench_correctness(engine, rows, _quiet)
    assert (found["false_alarms"], found["faithful"]) == (1, 1)
    assert (found["by_kind"]["number"]["n"], found["by_kind"]["number"]["caught"]) == (1, 1)


def test_camp_notes_come_oldest_first_and_only_labelled_bridging_ones_are_judged(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {"note_id": [9, 3, 5], "text": ["a", "b", "c"], "kind": ["bridging", "bridging", "polarising"],
         "content_label": ["other", None, None]}
    )  # fmt: skip
    table.to_parquet(tmp_path / "camp.parquet")
    notes = read_camp_notes(tmp_path / "camp.parquet")
    assert notes["note_id"].tolist() == [3, 5, 9]
    assert labelled_bridging(notes)["note_id"].tolist() == [9]


def test_what_is_no_table_of_camp_notes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"no table")
    pd.DataFrame({"text": ["a"]}).to_parquet(tmp_path / "b.parquet")
    for name in ("a.parquet", "b.parquet", "c.parquet"):
        with pytest.raises(InputError):
            read_camp_notes(tmp_path / name)


def test_near_duplicates_share_a_group() -> None:
    texts = ["Foil causes cancer! https://t.co/a", "foil causes cancer", "Milk is white and cheap today."]
    groups = group_texts(texts, HashingEmbedder().encode(texts))
    assert groups[0] == groups[1] != groups[2]


def test_rows_that_any_chain_of_groups_links_share_one() -> None:
    posts, notes = np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2])
    groups = joined_groups(posts, notes)
    assert groups[0] == groups[1] == groups[2] != groups[3]
