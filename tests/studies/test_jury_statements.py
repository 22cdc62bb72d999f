"""The written statements that the jury also learns from."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdnotes.errors import ConfigurationError
from crowdnotes.studies import jury_statements
from crowdnotes.studies.jury_statements import read_statements
from crowdnotes.testing import HashingEmbedder


def test_neither_side_has_many_more_statements() -> None:
    statements = read_statements(HashingEmbedder())
    assert len(statements) == len(statements.read) > 1000
    assert abs(statements.positive.mean() - 0.5) < 0.02


def test_the_right_is_side_plus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some.toml").write_text('left = ["One.", "Two."]\nright = ["Three."]\n', encoding="utf-8")
    monkeypatch.setattr(jury_statements, "_FOLDER", tmp_path)
    assert read_statements(HashingEmbedder()).positive.tolist() == [False, False, True]


@pytest.mark.parametrize(
    "content", ["left = [", 'left = ["One."]', 'left = "One."\nright = "Two."', "left = []\nright = []"]
)
def test_a_damaged_file_is_named_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    (tmp_path / "some.toml").write_text(content, encoding="utf-8")
    monkeypatch.setattr(jury_statements, "_FOLDER", tmp_path)
    with pytest.raises(ConfigurationError, match="statements"):
        read_statements(HashingEmbedder())
