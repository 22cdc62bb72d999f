"""A line that no JSON reader takes ends `crowdnotes length --jsonl` with one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdnotes.cli.length_command import length
from crowdnotes.errors import InputError


@pytest.mark.parametrize("line", ["[" * 100_000, '{"note": ' + "9" * 5_000 + "}", "no"])
def test_a_line_that_is_no_json_is_named(line: str, tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text(f'{{"note": "fine"}}\n{line}\n', encoding="utf-8")
    with pytest.raises(InputError, match="Line 2"):
        length(jsonl=file, field="note")
