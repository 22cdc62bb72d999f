"""Which models are at hand, and the keys of their servers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from keyring.backends.fail import Keyring as NoKeyring

from crowdnotes.engines.llm.api_keys import account, forget_key, keep_key, key_for
from crowdnotes.engines.llm.discovery import find_servers
from crowdnotes.engines.llm.server import scrubbed
from crowdnotes.errors import ConfigurationError
from crowdnotes.settings_sections import LlmSettings
from tests.engines.llm.made import POST, engine_for
from tests.fakes import TODAY
from tests.keyrings import MemoryKeyring, using
from tests.llm_server import LLMServer, honest


def _closed_port() -> str:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{found.getsockname()[1]}/v1"


def test_a_server_on_this_machine_is_found_with_its_models() -> None:
    with LLMServer(honest).running() as server:
        found = find_servers(LlmSettings(), [("Ollama", server.base_url), ("vLLM", _closed_port())])
    assert [(item.name, item.models, item.is_set) for item in found] == [("Ollama", ("large", "small"), False)]


def test_the_server_that_is_set_comes_first_and_once_also_when_it_is_down() -> None:
    with LLMServer(honest).running() as server:
        found = find_servers(LlmSettings(base_url=server.base_url), [("Ollama", server.base_url)])
        assert [(item.is_set, item.models, item.problem) for item in found] == [(True, ("large", "small"), "")]
    gone = find_servers(LlmSettings(base_url=_closed_port()), [])
    assert gone[0].is_set
    assert "cannot reach the AI server" in gone[0].problem


def test_another_program_on_the_port_is_not_a_language_model() -> None:
    with LLMServer(honest).running() as server:
        server.models = []
        assert find_servers(LlmSettings(), [("llama.cpp", server.base_url)])[0].models == ()
    for body in (b"<html>", b"[]", b'{"data": 3}', b'{"data": [{}]}'):
        assert not find_servers(LlmSettings(), [("llama.cpp", _serving(body))])


def _serving(body: bytes) -> str:
    """The address of a server that answers once, with this body, and is gone."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with listening:
            connection, _ = listening.accept()
            with connection:
                connection.recv(4096)
                head = f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
                connection.sendall(head.encode() + body)

    threading.Thread(target=serve, daemon=True).start()
    return f"http://127.0.0.1:{listening.getsockname()[1]}/v1"


URL = "https://api.example.org/v1"


@pytest.fixture
def memory() -> Iterator[MemoryKeyring]:
    backend = MemoryKeyring()
    with using(backend):
        yield backend


@pytest.fixture
def no_keyring() -> Iterator[None]:
    with using(NoKeyring()):  # type: ignore[no-untyped-call]
        yield


def test_a_kept_key_is_found_by_its_server_and_by_no_other(memory: MemoryKeyring) -> None:
    keep_key(f"{URL}/", "sk-1")
    assert key_for(LlmSettings(base_url=URL), URL) == "sk-1"
    assert key_for(LlmSettings(base_url=URL), "https://other.example.org/v1") is None
    assert forget_key(URL) is True
    assert forget_key(URL) is False
    assert key_for(LlmSettings(base_url=URL), URL) is None


def test_the_environments_key_comes_first_and_goes_to_its_own_server_alone(memory: MemoryKeyring) -> None:
    keep_key(URL, "sk-ring")
    settings = LlmSettings.model_validate(
        {"base_url": URL, "api_key": "sk-env", "judge_base_url": "http://127.0.0.1:9/v1"}
    )
    assert key_for(settings, URL) == "sk-env"
    assert key_for(settings, "http://127.0.0.1:9/v1") is None
    assert "sk-env" not in f"{settings!r} {settings.model_dump_json()}"


def test_a_key_of_the_keyring_reaches_the_server(memory: MemoryKeyring, tmp_path: Path) -> None:
    with LLMServer(honest).running() as server:
        keep_key(server.base_url, "sk-from-ring")
        engine_for(server.base_url, tmp_path).plan(POST, 5, TODAY)
        assert server.headers[-1]["authorization"] == "Bearer sk-from-ring"


@pytest.mark.usefixtures("no_keyring")
def test_without_a_keyring_reading_finds_none_and_writing_says_what_to_do() -> None:
    assert key_for(LlmSettings(base_url=URL), URL) is None
    with pytest.raises(ConfigurationError, match="CROWDNOTES_LLM_API_KEY"):
        keep_key(URL, "sk-1")
    with pytest.raises(ConfigurationError):
        forget_key(URL)


def test_an_address_that_is_none_is_refused() -> None:
    assert account("http://127.0.0.1:8080/v1") == "http://127.0.0.1:8080"
    for bad in ("api.example.org", "ftp://x", ""):
        with pytest.raises(ConfigurationError, match="not a server's address"):
            account(bad)


@pytest.mark.parametrize(
    "text", ["Bearer abcdefgh12345", "key sk-proj-abc123456", "gsk_abcdefghijk", "x" * 40, "your-KEY-here secret!"]
)
def test_what_looks_like_a_key_is_taken_out_of_messages(text: str) -> None:
    assert "(key)" in scrubbed(f"Bad: {text}.", ["your-KEY-here"])
    assert scrubbed("a\x1b[31m\nb" + "c d " * 200).isprintable()
