"""`crowdnotes overview` prints the figures of the Overview page, and its sentences."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cases.walk import draft_and_approve, small_workspace
from tests.command_line import crowdnotes


def test_the_figures_are_printed_as_sentences_and_as_json(tmp_path: Path) -> None:
    with small_workspace(tmp_path) as workspace:
        draft_and_approve(workspace, "kettle", "ann")
    told = crowdnotes(tmp_path, "overview").stdout
    assert "1 case: too few" in told
    assert "1 of 1 scored note passes all three checks." in told
    found = json.loads(crowdnotes(tmp_path, "overview", "--json").stdout)
    assert (found["cases"], found["times"]["n"], found["unreadable"]) == (1, 1, {})
    none = json.loads(crowdnotes(tmp_path, "overview", "--json", "--since", "2999-01-01").stdout)
    assert none["cases"] == 0


def test_an_ending_that_there_is_not_is_refused(tmp_path: Path) -> None:
    ended = crowdnotes(tmp_path, "overview", "--ended", "won")
    assert ended.returncode == 1
    assert "“won” is not a result" in ended.stderr
