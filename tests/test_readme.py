"""What the README and the page on commands say works: their commands run, their links lead somewhere."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.command_line import crowdnotes
from tests.links import broken_links

_ROOT = Path(__file__).parent.parent
_DOCUMENTS = [
    (_ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md", "docs/commands.md")
]
_COMMANDS = [
    line
    for document in _DOCUMENTS
    for block in re.findall(r"```sh\n(.*?)```", document, re.DOTALL)
    for line in block.splitlines()
    if line
]
_TABLE = """topic,text,url
Fluoride,"Fluoride in drinking water at 0.7 milligrams per litre is safe and helps prevent tooth decay.",https://w.example.net/1
Chalk,"The town's water holds no added chalk. Hard water carries dissolved calcium, which is harmless.",https://w.example.net/2
"""
_NOTE = "The town's water holds no chalk. https://w.example.net/2"
_NOTES = """text,helpful,notHelpful
"The town's water holds no added chalk. https://w.example.net/2",3,1
"Hard water carries dissolved calcium, which is harmless to people. https://w.example.net/1",5,0
"""


@pytest.mark.model
def test_every_command_runs_in_order(tmp_path: Path) -> None:
    (tmp_path / "guidance.csv").write_text(_TABLE, encoding="utf-8")
    (tmp_path / "notes.csv").write_text(_NOTES, encoding="utf-8")
    (tmp_path / "feed.json").write_text('{"@type": "ClaimReview", "claimReviewed": "There is chalk in the water"}')
    (tmp_path / "notes-00000.tsv").write_text(f"noteId\tclassification\tsummary\n1759571290698977702\tM\t{_NOTE}\n")
    row = {"note_id": "1", "post": "They put chalk in the water!", "note": _NOTE, "created_at_ms": 1_764_000_000_000}
    (tmp_path / "posts.jsonl").write_text(json.dumps(row | {"status": "CURRENTLY_RATED_HELPFUL"}))
    assert len(_COMMANDS) >= 20
    for command in _COMMANDS:
        _run(command, tmp_path)
    assert (tmp_path / "cases.csv").read_text(encoding="utf-8").count("chalk") >= 1


def _run(command: str, folder: Path) -> None:
    words = shlex.split(command, comments=True)
    if words[0] == "make":  # the targets themselves run elsewhere; here: they exist and are spelt so
        dry = ["make", "--dry-run", "--directory", str(_ROOT), *words[1:]]
        assert subprocess.run(dry, capture_output=True, check=False).returncode == 0, command
        return
    assert words[0] == "crowdnotes", f"no test knows how to run: {command}"
    ended = crowdnotes(folder, *words[1:])
    assert ended.returncode == 0, f"{command}\n{ended.stderr}"


def test_links_of_the_documents_lead_to_files() -> None:
    for document in (*_ROOT.glob("*.md"), *_ROOT.glob("docs/*.md")):
        assert broken_links(document) == [], document.name


def test_every_requirement_says_what_it_is_for() -> None:
    lines = (_ROOT / "requirements.txt").read_text("utf-8").splitlines()
    assert [line for line in lines if "==" in line and "  # " not in line] == []


def test_a_broken_link_is_noticed(tmp_path: Path) -> None:
    document = tmp_path / "a.md"
    document.write_text("[x](there.md) [y](https://a.org) ![z](<not here.png>) [w](#part)", encoding="utf-8")
    assert broken_links(document) == ["there.md", "not"]
