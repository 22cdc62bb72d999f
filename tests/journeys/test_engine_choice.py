"""In a browser: the engine is seen at the head of the page and changed there, and the next draft is theirs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.journeys.conftest import NewPage, running_app
from tests.journeys.walk import Walk
from tests.llm_server import LLMServer, honest
from tests.shared import until

pytestmark = [pytest.mark.journey, pytest.mark.deep]


def test_a_person_changes_the_engine_while_the_app_runs(
    articles: str, new_page: NewPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LLMServer(honest).running() as server:
        monkeypatch.setenv("CROWDNOTES_LLM_BASE_URL", server.base_url)
        monkeypatch.setenv("CROWDNOTES_LLM_MODEL", "small")
        monkeypatch.setenv("CROWDNOTES_LLM_API_KEY", "sk-secret-1234")
        with running_app(tmp_path) as url:
            walk = Walk(new_page("light", 1280), url)
            walk.found_its_way("libraries")  # the first page that this server is asked for
            walk.open()
            _change(walk, "AI: small", "Without AI")
            expect(walk.page.get_by_text("Working without AI").first).to_be_visible()
            walk.open()  # a refresh keeps the choice
            assert not server.requests
            _change(walk, "Working without AI", "models from the settings")
            assert "sk-secret" not in walk.page.content()
            walk.page.keyboard.press("Escape")
            walk.page.get_by_label("Paste the post").fill(f"Vitamin C CURES the common cold!!!\n{articles}/vitamin-c")
            walk.button("Find evidence").click()
            until(lambda: server.requests)  # it is asked what the post claims


def _change(walk: Walk, now: str, to: str) -> None:
    walk.page.get_by_text(now).first.click()
    walk.page.get_by_role("combobox", name=re.compile("AI to use")).click()
    walk.page.get_by_role("option", name=re.compile(to)).click()
    walk.settled()
    walk.button("Use this").click()
    walk.settled()
