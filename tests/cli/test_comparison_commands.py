"""`crowdnotes comparison`: begin one, see what it comes to, export it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.command_line import crowdnotes
from tests.reports.made_comparisons import pairs_file


def test_a_comparison_is_begun_listed_and_exported(tmp_path: Path) -> None:
    (tmp_path / "moon.jsonl").write_bytes(pairs_file(5))
    begun = json.loads(crowdnotes(tmp_path, "comparison", "add", "moon.jsonl", "--each", "3", "--json").stdout)
    assert (begun["pairs"], begun["each"], begun["names"]) == (5, 3, ["Supernote", "Existing note"])
    assert begun["link"] == f"/compare?comparison={begun['id']}"
    assert "5 pairs, 0 answers by 0  moon.jsonl" in crowdnotes(tmp_path, "comparison", "list").stdout
    found = crowdnotes(tmp_path, "comparison", "results", begun["id"]).stdout
    assert "NOT RUN: Nobody has answered yet." in found
    as_json = json.loads(crowdnotes(tmp_path, "comparison", "results", begun["id"], "--json").stdout)
    assert as_json["answers"] == 0
    assert crowdnotes(tmp_path, "comparison", "export", begun["id"], "--out", "a.csv").returncode == 0
    assert (tmp_path / "a.csv").read_text("utf-8").startswith("participant,pair,")


def test_a_file_or_an_id_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    assert "We cannot read no.csv" in crowdnotes(tmp_path, "comparison", "add", "no.csv").stderr
    for words in (["results", "nope"], ["export", "nope"]):
        ended = crowdnotes(tmp_path, "comparison", *words)
        assert (ended.returncode, "There is no such comparison" in ended.stderr) == (1, True)
