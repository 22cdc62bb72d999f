"""A command loads what it needs and no more."""

from __future__ import annotations

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from crowdnotes.cli.main import app
from tests.shared import PATIENCE

_HEAVY = ("torch", "sqlalchemy", "trafilatura", "numpy", "pandas", "httpx", "crowdnotes.workspace")


@pytest.mark.parametrize("words", [["length", "x"], ["--version"], ["cases", "--help"], ["bridging", "--help"]])
def test_a_light_command_loads_no_heavy_module(words: list[str]) -> None:
    script = (
        "import sys; from crowdnotes.cli.main import app; app(sys.argv[1:], standalone_mode=False);"
        f"print([name for name in {_HEAVY!r} if name in sys.modules])"
    )
    command = [sys.executable, "-c", script, *words]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert ended.stdout.splitlines()[-1] == "[]"


def test_every_command_is_listed_and_tells_its_options() -> None:
    listed = CliRunner().invoke(app, ["--help"]).stdout
    for name in ("length", "draft", "search", "providers", "library", "cases", "bridging"):
        assert f" {name} " in listed
        assert CliRunner().invoke(app, [name, "--help"]).exit_code == 0
