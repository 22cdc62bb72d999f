"""`crowdnotes bench retrieval` from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from crowdnotes.cli.main import app
from crowdnotes.errors import InputError, LibraryError


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDNOTES_DATA_DIR", str(tmp_path / "data"))


def _file(tmp_path: Path, text: str) -> str:
    path = tmp_path / "judged.jsonl"
    path.write_text(text)
    return str(path)


def test_a_bad_file_and_a_missing_library_end_in_a_sentence(tmp_path: Path) -> None:
    good = '{"note_id": "1", "post": "Lemons cure flu", "judged": [{"record": 0, "grade": 2}]}'
    bad = CliRunner().invoke(app, ["bench", "retrieval", "--data", _file(tmp_path, "{}"), "--library", "x"])
    assert isinstance(bad.exception, InputError)
    missing = CliRunner().invoke(app, ["bench", "retrieval", "--data", _file(tmp_path, good), "--library", "x"])
    assert isinstance(missing.exception, LibraryError)
