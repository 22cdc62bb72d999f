"""`crowdnotes length`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.command_line import crowdnotes
from tests.shared import PATIENCE


def _run(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "crowdnotes", "length", *words]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, timeout=PATIENCE)


def test_one_text_gives_one_json() -> None:
    shown = json.loads(_run("False.The rest. https://a.org/x").stdout)
    assert (shown["characters"], shown["limit"], shown["urls"], shown["over"]) == (17, 280, ["https://a.org/x"], 0)
    assert [warning["code"] for warning in shown["warnings"]] == ["phantom-url"]


def test_a_text_may_come_from_standard_input() -> None:
    assert json.loads(_run(stdin="abc\n").stdout)["characters"] == 3


def test_a_file_in_xs_storage_form_gives_a_line_a_note(tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text('{"note": "a &amp;amp; b  c"}\n\n{"note": "https://a.org"}\n', encoding="utf-8")
    lines = _run("--jsonl", str(file), "--field", "note", "--x-data").stdout.splitlines()
    assert [json.loads(line)["characters"] for line in lines] == [7, 1]


def test_a_bad_line_is_named_without_a_traceback(tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text('{"other": "x"}\n', encoding="utf-8")
    ended = _run("--jsonl", str(file))
    assert ended.returncode == 1
    assert "no text in the field" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_missing_file_and_two_inputs_at_once_are_refused_in_a_sentence(tmp_path: Path) -> None:
    assert "cannot read" in crowdnotes(tmp_path, "length", "--jsonl", "none.jsonl").stderr
    assert "not both" in crowdnotes(tmp_path, "length", "text", "--jsonl", "none.jsonl").stderr
