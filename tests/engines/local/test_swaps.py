"""Comparisons and changes told the other way round, and the pairs of our own that measure the whole check."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdnotes.engines.local import LocalEngine
from crowdnotes.engines.local.differences import swap_differences
from crowdnotes.engines.local.heads.head import JUDGES
from crowdnotes.settings import GateSettings
from crowdnotes.studies.bench.correctness import bench_correctness, fallen_figures
from crowdnotes.studies.data_files import read_distortions
from tests.shared import minilm

PAIRS = Path(__file__).with_name("distortions.jsonl")


@pytest.mark.parametrize(
    ("note", "passage", "swapped"),
    [
        ("Women get stones more often than men.", "Stones are more common in men than in women.", True),
        ("Men get stones more often than women.", "Stones are more common in men than in women.", False),
        ("Women get stones less often than men.", "Stones are more common in men than in women.", False),
        ("Complaints went from 310 to 120.", "Complaints rose from 120 to 310 a year.", True),
        ("Complaints went from 120 to 310.", "Complaints rose from 120 to 310 a year.", False),
        ("Up to 70 percent with 4 mg.", "At least 4 mg cut the risk by 70 percent.", False),
    ],
)
def test_what_changed_places_is_a_difference(note: str, passage: str, swapped: bool) -> None:
    assert bool(swap_differences(note, passage)) is swapped


def test_the_pairs_of_our_own_hold_each_kind_several_times() -> None:
    rows = read_distortions(PAIRS)
    kinds = [row.kind for row in rows if row.label == "distorted"]
    assert len(kinds) >= 120
    assert all(kinds.count(kind) >= 10 for kind in set(kinds))


@pytest.mark.deep
@pytest.mark.model
def test_the_correctness_check_tells_our_own_distortions_as_well_as_it_did() -> None:
    engine = LocalEngine(minilm(), GateSettings())
    found = bench_correctness(engine, read_distortions(PAIRS), lambda _: None)
    assert fallen_figures(JUDGES, "own", found) == []


def test_score_and_verdict_agree_on_every_pair(engine: LocalEngine) -> None:
    for row in read_distortions(PAIRS):
        support = engine.support(row.note, row.evidence)
        result = engine.correctness(row.note, row.evidence, support)
        assert result.score is not None
        assert result.threshold is not None
        assert (result.score >= result.threshold) is (result.status.value == "PASS")
        for sentence in support:
            assert len(set(sentence.doubts)) == len(sentence.doubts) == len(sentence.doubted)
