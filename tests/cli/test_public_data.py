"""`crowdnotes crowd …`: the commands of docs/crowd.md run, in their order."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

from tests.command_line import crowdnotes

_GUIDE = Path(__file__).parents[2] / "docs" / "crowd.md"
_COMMANDS = [
    shlex.split(line)
    for block in re.findall(r"```sh\n(.*?)```", _GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    for line in block.splitlines()
]


def test_every_command_of_the_guide_runs_in_order(tmp_path: Path) -> None:
    assert len(_COMMANDS) >= 2
    for program, *words in _COMMANDS:
        ended = crowdnotes(tmp_path, *words)
        assert (program, ended.returncode) == ("crowdnotes", 0), f"{words}\n{ended.stderr}"
        if "--json" in words:
            json.loads(ended.stdout)


def test_indexing_tells_what_came_of_each_file_and_of_the_fit(tmp_path: Path) -> None:
    crowdnotes(tmp_path, "crowd", "make-data", "public", "--notes", "300", "--ratings", "6000")
    (tmp_path / "public" / "notes-00001.zip").write_bytes(b"PK cut short")
    ended = crowdnotes(tmp_path, "crowd", "index", "public", "--json")
    told = json.loads(ended.stdout)
    assert (told["totals"]["notes"], told["fit"]["not_run"]) == (300, "")
    assert [problem for problem in told["loaded"]["problems"] if "notes-00001.zip" in problem]
    again = crowdnotes(tmp_path, "crowd", "index", "public")
    assert "Unchanged: notes-00000.tsv" in again.stdout
    assert "Raters fitted on" in again.stdout


def test_a_note_s_story_is_told_by_its_post_s_address_and_an_unknown_one_refused(tmp_path: Path) -> None:
    crowdnotes(tmp_path, "crowd", "make-data", "public", "--notes", "300", "--ratings", "9000")
    crowdnotes(tmp_path, "crowd", "index", "public")
    day = json.loads(crowdnotes(tmp_path, "crowd", "surges", "--day", "2025-06-11", "--json").stdout)
    address = f"https://x.com/i/status/{day['posts'][0]['post']}"
    told = json.loads(crowdnotes(tmp_path, "crowd", "note", address, "--json").stdout)
    assert told["post"] == day["posts"][0]["post"]
    plain = crowdnotes(tmp_path, "crowd", "note", str(told["note"])).stdout
    assert plain.startswith(told["paragraph"])
    assert f"* {told['note']}" in plain
    refused = crowdnotes(tmp_path, "crowd", "note", "12")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "Note or post 12 is not in the index" in refused.stderr
