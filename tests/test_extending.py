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

# Run in the copy with all parts added.
_CHECKS = r"""
from datetime import UTC, datetime
from pathlib import Path

from streamlit.testing.v1 import AppTest

from crowdnotes.cases.approval import obstacles
from crowdnotes.domain import Draft, GateStatus, Post
from crowdnotes.engines.choice import EngineChoice, make_engine
from crowdnotes.engines.embedding import make_embedder
from crowdnotes.engines.local.entailment import NliReader
from crowdnotes.engines.local.health_terms import known_words, search_words
from crowdnotes.evidence.library import Libraries
from crowdnotes.evidence.search import make_providers
from crowdnotes.notes.gates import run_gates
from crowdnotes.settings import Settings
from tests.fakes import HashingEmbedder, ScriptedEngine, actor, brief_of, make_case
from tests.fakes import make_reader_model, make_sentence_model

settings = Settings()
there = {item.name: item for item in make_providers(settings, Libraries(settings.libraries_dir, HashingEmbedder()))}
assert there["town-archive"].label == "Town archive"
assert there["town-archive"].needs is None

results = run_gates(ScriptedEngine(), brief_of(Post(text="The moon is cheese.")), "The author lies.", (), ())
assert [result.gate.value for result in results][-1] == "civility"
assert results[-1].status is GateStatus.FAIL

settings = Settings(gates={"helpfulness_judge": "length"})
engine = make_engine(EngineChoice(), settings.llm, settings.gates, HashingEmbedder(), settings.data_dir)
assert engine.helpfulness(Post(text="The moon is cheese."), "It is rock.").judge == "length"

make_sentence_model(Path("letters"))
Path("letters/crowdnotes.toml").write_text("relevant = 0.9\naddresses = 0.7\nrelated = 0.6\n")
embedder = make_embedder(Settings(embedder=Path("letters")))
assert embedder.thresholds.relevant == 0.9

make_reader_model(Path("letters-nli"))
reader = NliReader(Path("letters-nli"))
assert reader.calibration is None
assert reader.chances([("The moon is rock.", "The moon is cheese.")]).shape == (1, 2)

now = datetime.now(UTC)
asking = make_case(draft=Draft(text="Is the moon made of cheese?", engine="person", written_at=now))
assert "The note ends in a question." in [obstacle.sentence for obstacle in obstacles(asking, now, actor())]

assert [word.english for word in known_words("Det nya vaccinet kom i fjol", "sv")] == ["vaccine"]
assert search_words("denial", "sv") == "inga bevis"

at = AppTest.from_file("app.py", default_timeout=60).run()
at.switch_page("pages/numbers.py").run()
assert [metric.label for metric in at.metric] == ["Cases"], at.exception
"""

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
    for kind, where, text in _BLOCKS:
        if kind == "diff":
            _put_in(tmp_path / where, text)
        else:
            assert not (tmp_path / where).exists(), f"{where} is there already"
            (tmp_path / where).write_text(text, encoding="utf-8")
    assert len(_BLOCKS) >= 12
    (tmp_path / "check.py").write_text(_CHECKS + _WARMED_UP, encoding="utf-8")
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
