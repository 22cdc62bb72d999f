"""A cold start: something of ours is seen at once, and nothing heavy is loaded before the first page stands."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from unittest.mock import MagicMock

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from crowdnotes import workspace
from crowdnotes.engines.choice import RECORDED
from crowdnotes.errors import StoreBusyError
from pages.common import first_sight, navigation, shared_workspace, web_server
from tests.pages.conftest import ROOT, Desk, texts, titles
from tests.shared import PATIENCE

_MODELS = "torch sentence_transformers transformers sklearn trafilatura numba scipy openai"
_OURS = "crowdnotes.domain pydantic"
_AT_FIRST = "import pages.common.first_sight"
_FIRST_PAGE = """
from streamlit.testing.v1 import AppTest
from pages.common import shared_workspace
shared_workspace.load_models = lambda: None
at = AppTest.from_file("app.py", default_timeout=120).run()
assert at.button(key="start") and not at.exception
"""


@pytest.mark.parametrize(("code", "unwanted"), [(_AT_FIRST, f"{_OURS} {_MODELS}"), (_FIRST_PAGE, _MODELS)])
def test_nothing_heavy_is_loaded_on_the_way(
    code: str, unwanted: str, monkeypatch: pytest.MonkeyPatch, desk: Desk
) -> None:
    monkeypatch.setenv("CROWDNOTES_DATA_DIR", str(desk.workspace.settings.data_dir / "cold"))
    ask = f"{code}\nimport sys\nprint(*(name for name in {unwanted.split()} if name in sys.modules))"
    ran = subprocess.run([sys.executable, "-c", ask], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


@pytest.mark.parametrize("failing", [None, StoreBusyError("The database is in use by another program.")])
def test_the_models_load_once_the_server_is_there_before_a_page_asks(
    failing: StoreBusyError | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = MagicMock()
    monkeypatch.setattr(web_server, "threading", threads)
    begun = MagicMock(side_effect=failing)
    monkeypatch.setattr(shared_workspace, "load_models", begun)

    async def start() -> None:
        async with web_server.load_at_start(MagicMock()):
            threads.Thread.call_args.kwargs["target"]()  # what a page says later ends no thread with a traceback

    asyncio.run(start())
    assert begun.called


def test_what_the_first_score_needs_is_read_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    judged, opened = MagicMock(), MagicMock()
    monkeypatch.setattr(workspace, "judge_helpfulness", judged)
    for name in ("page_readers", "gc", "has_kept_code"):
        monkeypatch.setattr(workspace, name, MagicMock())
    workspace.warm_up(opened)
    assert judged.called
    assert opened.stage_context.jury.return_value.verdict.called
    opened.with_engine.assert_called_once_with(RECORDED)


def test_the_outline_is_gone_once_the_page_stands(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_sight, "_is_process_warm", False)
    at = desk.app()
    assert [title.value for title in at.title] == ["Draft a note"]


def test_the_outline_is_gone_where_the_workspace_cannot_be_opened(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy() -> None:
        raise StoreBusyError("The database is in use by another program.")

    monkeypatch.setattr(first_sight, "_is_process_warm", False)
    monkeypatch.setattr(shared_workspace, "open_workspace", busy)
    at = desk.app()
    assert titles(at) == ["The database is in use by another program."]
    assert "is starting" not in texts(at)


@pytest.mark.parametrize("page", sorted(file.name for file in (ROOT / "pages").glob("[!_]*.py")))
def test_a_page_that_runs_without_the_entry_asks_for_it_before_it_asks_who_is_there(
    page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_early() -> None:
        raise AssertionError("nobody was asked to sign in yet")

    shared_workspace.shared_workspace.clear()
    monkeypatch.setattr(navigation, "redirect_through_app", st.stop)
    monkeypatch.setattr(shared_workspace, "open_workspace", too_early)
    assert not AppTest.from_file(str(ROOT / "pages" / page), default_timeout=PATIENCE).run().exception
