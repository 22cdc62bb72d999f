"""docs/extending.md works: its files and lines, put into a copy of the program, do what it says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parent.parent
_GUIDE = _ROOT / "docs" / "extending.md"
_BLOCKS = re.findall(r"^```(\w+) (\S+)\n(.*?)^```$", _GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)

# The app reads its model in a thread; torch does not bear that the interpreter ends meanwhile.
_WARMED_UP = """
import threading

for thread in threading.enumerate():
    if thread.name == "warm-up":
        thread.join()
"""


@pytest.mark.deep
def test_each_kind_of_part_is_added_as_the_guide_says(tmp_path: Path) -> None:
    for name in ("crowdnotes", "pages", "assets", ".streamlit"):
        shutil.copytree(_ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(_ROOT / "app.py", tmp_path)
    (tmp_path / "tests").mkdir()
    shutil.copy(_ROOT / "tests" / "fakes.py", tmp_path / "tests")
    then = []
    for kind, where, text in _BLOCKS:
        if where == "then":
            then.append(text)
        elif kind == "diff":
            _put_in(tmp_path / where, text)
        else:
            assert not (tmp_path / where).exists(), f"{where} is there already"
            (tmp_path / where).write_text(text, encoding="utf-8")
    assert len(then) >= 9
    (tmp_path / "check.py").write_text("\n".join([*then, _WARMED_UP]), encoding="utf-8")
    environment = {
        **os.environ,
        "PYTHONPATH": str(tmp_path),
        "CROWDNOTES_DATA_DIR": str(tmp_path / "data"),
        "CROWDNOTES_SEARCH_SERVICES": "[]",
    }
    ended = subprocess.run(
        [sys.executable, "check.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr


def test_every_file_that_the_documents_name_is_there() -> None:
    added = {where for _, where, _ in _BLOCKS}
    for document in (_ROOT / "docs").glob("*.md"):
        named = set(re.findall(r"`((?:crowdnotes|pages|tests|assets)/[\w./-]*)`", document.read_text(encoding="utf-8")))
        assert [path for path in sorted(named - added) if not (_ROOT / path).exists()] == [], document.name


def _put_in(path: Path, lines: str) -> None:
    """Lines marked "+" behind the line above them, in the place of one marked "-"; it must be there once."""
    text = path.read_text(encoding="utf-8")
    for before, added in re.findall(r"((?:^[ -].*\n)+)((?:^\+.*\n)+)", lines, re.MULTILINE):
        above = before.splitlines()[-1]
        kept = [] if above.startswith("-") else [above[1:]]
        new = "\n".join([*kept, *(line[1:] for line in added.splitlines())])
        assert text.count(f"\n{above[1:]}\n") == 1, f"{path}: not once: {above[1:]}"
        text = text.replace(f"\n{above[1:]}\n", f"\n{new}\n")
    path.write_text(text, encoding="utf-8")
