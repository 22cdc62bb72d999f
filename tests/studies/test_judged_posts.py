"""Reading posts with judged records."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdnotes.errors import InputError
from crowdnotes.studies.data_files import read_judged_posts

GOOD = '{"note_id": "1", "post": "Lemons cure flu", "judged": [{"record": 0, "grade": 2}, {"record": 3, "grade": 0}]}'


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "judged.jsonl"
    path.write_text(text, encoding="utf-8")
    return path


def test_each_line_is_a_post_with_its_grades(tmp_path: Path) -> None:
    (post,) = read_judged_posts(_file(tmp_path, f"{GOOD}\n\n"))
    assert (post.note_id, post.post, post.grades) == ("1", "Lemons cure flu", {0: 2, 3: 0})


def test_a_limit_takes_the_first_posts(tmp_path: Path) -> None:
    assert len(read_judged_posts(_file(tmp_path, f"{GOOD}\n{GOOD}\n{GOOD}"), limit=2)) == 2


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("not json", "line 2: Invalid JSON"),
        ('{"note_id": "1", "post": "x"}', "line 2: judged: Field required"),
        (GOOD.replace('"grade": 2', '"grade": 3'), "line 2: judged.0.grade: Input should be less than or equal to 2"),
        (GOOD.replace('"record": 3', '"record": 0'), "line 2: a record is judged twice"),
        (GOOD.replace('"record": 3', '"record": -1'), "line 2: judged.1.record"),
    ],
)
def test_a_bad_line_is_named_with_what_is_wrong_even_past_the_limit(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_judged_posts(_file(tmp_path, f"{GOOD}\n{line}\n"), limit=1)


def test_a_file_that_is_missing_empty_or_not_text_is_said_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_judged_posts(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="holds no lines"):
        read_judged_posts(_file(tmp_path, "\n"))
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00\xd8")
    with pytest.raises(InputError, match="not UTF-8"):
        read_judged_posts(tmp_path / "bytes")
