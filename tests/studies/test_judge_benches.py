"""The benchmarks of the judges: what they read, what they count, and that training is not mistaken for skill."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import GateName
from crowdnotes.errors import InputError
from crowdnotes.studies.bench.judges import bench_correctness, bench_helpfulness, bench_principles
from crowdnotes.studies.camp_notes import labelled_bridging, read_camp_notes
from crowdnotes.studies.data_files import DistortionRow, HealthNote, note_mark, read_distortions, read_health_notes
from crowdnotes.studies.measures import accuracy, area_under_curve, macro_f1, wilson
from crowdnotes.studies.train.heads import group_texts, joined_groups
from crowdnotes.testing import HashingEmbedder, ScriptedEngine


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


def test_principles_without_chances_are_measured_by_their_verdicts() -> None:
    notes = pd.DataFrame(
        {"note_id": [1, 2], "text": ["A.", "B."], "content_label": ["opinion_or_speculation", "other"]}
    )
    found = bench_principles(ScriptedEngine(), notes, {}, _quiet)
    assert (found["n"], found["opinion_or_hostile"], found["auc"]) == (2, 1, 0.5)


@pytest.mark.parametrize(
    ("line", "said"),
    [("{", "line 2"), ('{"note_id": "1"}', "line 2: post"), ("[]", "line 2")],
)
def test_a_bad_line_is_named_with_what_is_wrong(tmp_path: Path, line: str, said: str) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text(f"{_note(1, helpful=True).model_dump_json()}\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_health_notes(file)


def test_an_empty_or_missing_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("\n", encoding="utf-8")
    with pytest.raises(InputError, match="holds no lines"):
        read_distortions(tmp_path / "empty.jsonl")
    with pytest.raises(InputError, match="cannot be read"):
        read_distortions(tmp_path / "none.jsonl")


def test_the_limit_takes_the_first_rows(tmp_path: Path) -> None:
    row = {"id": "a", "passage": "P.", "note": "N.", "label": "faithful"}
    (tmp_path / "rows.jsonl").write_text("\n".join([json.dumps(row)] * 3), encoding="utf-8")
    assert len(read_distortions(tmp_path / "rows.jsonl", 2)) == 2


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


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1))
def test_figures_are_shares(pairs: list[tuple[bool, bool]]) -> None:
    truth, said = [a for a, _ in pairs], [b for _, b in pairs]
    assert 0 <= macro_f1(truth, said) <= 1
    assert 0 <= accuracy(truth, said) <= 1
    auc = area_under_curve(truth, [float(b) for b in said])
    assert auc is None or 0 <= auc <= 1


@given(st.integers(0, 500), st.integers(0, 500))
def test_wilsons_interval_holds_the_share(hits: int, misses: int) -> None:
    low, high = wilson(hits, hits + misses)
    assert 0 <= low <= high <= 1
    if hits + misses:
        assert low - 1e-9 <= hits / (hits + misses) <= high + 1e-9
