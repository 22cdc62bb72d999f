"""A run on disk: it goes on where it stopped, and never mixes with another."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from crowdnotes.domain import Mode
from crowdnotes.errors import InputError
from crowdnotes.studies.bench.healthnotes import Outcome, StudyFolder, file_sha256
from tests.studies.made_health import options, result


def test_a_run_goes_on_with_what_is_finished(tmp_path: Path) -> None:
    StudyFolder(tmp_path / "run", options()).add(result(1, 3))
    again = StudyFolder(tmp_path / "run", options())
    assert again.result("1") == result(1, 3)
    assert again.is_finished("1")
    assert not again.is_finished("2")


def test_a_post_that_could_not_be_run_is_tried_again_and_its_newest_line_counts(tmp_path: Path) -> None:
    folder = StudyFolder(tmp_path, options())
    folder.add(result(1, 0, outcome=Outcome.FAILED))
    assert not folder.is_finished("1")
    folder.add(result(1, 2))
    assert StudyFolder(tmp_path, options()).result("1") == result(1, 2)


def test_a_line_cut_by_a_crash_is_dropped_and_the_next_one_stands_alone(tmp_path: Path) -> None:
    StudyFolder(tmp_path, options()).add(result(1, 3))
    with (tmp_path / "posts.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"note_id": "2", "is_hel')
    folder = StudyFolder(tmp_path, options())
    assert not folder.is_finished("2")
    folder.add(result(2, 1))
    again = StudyFolder(tmp_path, options())
    assert (again.result("1"), again.result("2")) == (result(1, 3), result(2, 1))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"utility": False}, "utility"),
        ({"mode": Mode.AUGMENTATION, "libraries": ()}, "mode, libraries"),
        ({"engine": {"writing": "llm:x 1"}}, "engine"),
        ({"data_sha256": "1" * 64}, "data sha256"),
        ({"library_dates": {"topics": date(2020, 1, 1)}}, "library dates"),
    ],
)
def test_other_options_are_refused_by_name(tmp_path: Path, changes: dict[str, object], named: str) -> None:
    StudyFolder(tmp_path, options())
    with pytest.raises(InputError, match=f"other options \\({named}\\)"):
        StudyFolder(tmp_path, options(**changes))


@pytest.mark.parametrize("file", ["options.json", "posts.jsonl"])
def test_a_folder_with_something_else_in_it_is_refused(tmp_path: Path, file: str) -> None:
    (tmp_path / file).write_text("[]\n", encoding="utf-8")
    with pytest.raises(InputError, match="not of such a run"):
        StudyFolder(tmp_path, options())


def test_a_file_in_the_folders_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be used"):
        StudyFolder(tmp_path / "run", options())
    with pytest.raises(InputError, match="cannot be read"):
        file_sha256(tmp_path / "none")
