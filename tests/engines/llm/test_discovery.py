"""Servers on this machine are found and offered; other programs on their ports are not taken for them."""

from __future__ import annotations

import socket

from crowdnotes.engines.llm.discovery import find_servers
from crowdnotes.settings import LlmSettings
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
    assert "could not be reached" in gone[0].problem


def test_another_program_on_the_port_is_not_a_language_model() -> None:
    with LLMServer(honest).running() as server:
        page = server.base_url.removesuffix("/v1") + "/other"
        server.models = []
        assert find_servers(LlmSettings(), [("llama.cpp", server.base_url)])[0].models == ()
    for body in (b"<html>", b"[]", b'{"data": 3}', b'{"data": [{}]}'):
        assert not find_servers(LlmSettings(), [("llama.cpp", _serving(body))])
    assert page


def _serving(body: bytes) -> str:
    """The address of a server that answers once, with this body, and is gone."""
    import threading

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
