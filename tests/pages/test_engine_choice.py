"""Who thinks is shown on every page and can be changed there, without a restart and without a key on the screen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import SecretStr
from streamlit.testing.v1 import AppTest

from crowdnotes.engines.llm import discovery
from crowdnotes.engines.llm.discovery import find_servers
from crowdnotes.settings_sections import LlmSettings
from crowdnotes.workspace import SELF_TEST
from pages.common import session, shared_workspace
from tests.engines.llm.test_self_test import weak
from tests.llm_server import LLMServer, Say, honest
from tests.pages.conftest import Desk, texts


def _found(server: LLMServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the page look for servers where the test has one."""
    monkeypatch.setattr(
        discovery, "find_servers", lambda settings: find_servers(settings, (("Ollama", server.base_url),))
    )


def _choose(at: AppTest, words: str) -> None:
    box = at.selectbox(key="engine-choice")
    index = next(number for number, option in enumerate(box.options) if option.startswith(words))
    box.select_index(index).run()
    at.button(key="use-engine").click().run()


def test_a_model_that_was_found_is_put_to_work_and_the_local_engine_is_taken_back(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LLMServer(honest).running() as server:
        _found(server, monkeypatch)
        at = desk.app()
        assert at.selectbox(key="engine-choice").options == ["Without AI · in use"]
        at.button(key="find-servers").click().run()
        assert "Ollama: 2 models" in texts(at).replace("**", "")
        _choose(at, "small on Ollama")
        assert session.workspace().engine.name == "llm:small"
        assert "The AI helps to search, write and score" in texts(at)
        assert "small on Ollama · in use" in at.selectbox(key="engine-choice").options
        another = desk.app()
        assert "The AI helps to search, write and score" in texts(another)
        _choose(at, "Without AI")
        assert session.workspace().engine.name == "local"
        assert not at.exception


def test_a_server_by_the_address_that_a_person_types_is_asked_for_its_models(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "find_servers", lambda settings: [])
    with LLMServer(honest).running() as server:
        at = desk.app()
        at.text_input(key="engine-address").set_value(f"{server.base_url}/")
        at.button(key="find-servers").click().run()
        _choose(at, "small on")
        assert session.workspace().choice.base_url == server.base_url
        for wrong in ("https://ann:secret@api.example.org/v1", "api.example.org", "http://[", "http://a.example:x/v1"):
            at.text_input(key="engine-address").set_value(wrong)
            at.button(key="find-servers").click().run()
            assert not at.exception
            assert "Take the key out of the address." in texts(at) or "is not a server's address" in texts(at)


def test_a_key_of_the_environment_never_goes_to_a_server_that_was_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    keys: list[tuple[SecretStr | None, str]] = []

    def models(settings: LlmSettings, url: str) -> list[str]:
        keys.append((settings.api_key, url))
        return []

    monkeypatch.setattr(discovery, "_list_models", models)
    settings = LlmSettings(base_url="https://one.example/v1", api_key=SecretStr("sk-secret"))
    assert not discovery.server_at("https://two.example/v1", settings).is_set
    assert keys == [(None, "https://two.example/v1")]


def test_a_server_that_went_away_says_so_with_the_next_step_and_changes_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LLMServer(honest).running() as server:
        _found(server, monkeypatch)
        at = desk.app()
        at.button(key="find-servers").click().run()
    _choose(at, "large on Ollama")
    assert "cannot reach the AI server" in texts(at)
    assert "Nothing changed." in texts(at)
    assert session.workspace().engine is desk.engine


def test_the_server_that_is_set_can_be_chosen_and_its_key_is_nowhere_on_the_page(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LLMServer(honest).running() as server:
        llm = LlmSettings.model_validate({"base_url": server.base_url, "model": "large", "api_key": "sk-secret-1234"})
        settings = desk.workspace.settings.replace(llm=llm)
        opened = replace(desk.workspace, stage_context=replace(desk.workspace.stage_context, settings=settings))
        monkeypatch.setattr(shared_workspace, "open_workspace", lambda: opened)
        at = desk.app()
        _choose(at, "models from the settings on")
        assert session.workspace().engine.name == "llm:large"
        assert server.base_url in " ".join(at.selectbox(key="engine-choice").options)
        assert "sk-secret" not in str(at.main) + texts(at)
    stored = b"".join(path.read_bytes() for path in settings.data_dir.rglob("*.sqlite*"))
    assert b"sk-secret" not in stored


def test_a_judge_on_a_server_is_told_of_though_no_language_model_does_the_rest(desk: Desk) -> None:
    desk.engine.judge.name, desk.engine.judge.server = "llm:healthjudge", "judge.example.org"  # type: ignore[misc]
    shown = texts(desk.app())
    assert "llm:healthjudge on judge.example.org judges helpfulness" in shown


def test_the_first_screen_leads_to_a_model_and_the_model_to_its_test(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LLMServer(weak).running() as server:
        _found(server, monkeypatch)
        at = desk.app()
        assert "Ollama](https://ollama.com/download)" in texts(at)
        at.button(key="first-find-servers").click().run()
        box = at.selectbox(key="first-engine-choice")
        box.select_index(next(n for n, words in enumerate(box.options) if words.startswith("small on"))).run()
        at.button(key="first-use-engine").click().run()
        assert "Not tested yet" in texts(at)
        assert "Ollama](https://ollama.com/download)" not in texts(at)
        at.button(key="test-model").click().run()
        job = session.workspace().runner.latest(SELF_TEST)
        assert job is not None
        desk.finish(job.id)
        at.run()
    tested = session.workspace().self_test()
    assert tested is not None
    assert f"Weak model: {tested.as_text}" in {warning.proto.title for warning in at.warning}
    assert "does not copy words letter for letter" in texts(at)
    assert not at.exception


def test_a_test_that_broke_off_says_so_and_leaves_no_result(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    with LLMServer(lambda _: Say("no", status=403)).running() as server:
        _found(server, monkeypatch)
        at = desk.app()
        at.button(key="find-servers").click().run()
        _choose(at, "small on Ollama")
        at.button(key="test-model").click().run()
        job = session.workspace().runner.latest(SELF_TEST)
        assert job is not None
        desk.finish(job.id)
        at.run()
        assert "NOT RUN" in texts(at)
        assert "Not tested yet" in texts(at)
