"""Loopback servers that behave as badly as the web does."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

import pytest
from pytest_httpserver import HTTPServer

from crowdnotes.evidence import ssrf_guard
from crowdnotes.evidence.fetching import Fetcher
from crowdnotes.evidence.search.service import Pace, Pacer, Service
from crowdnotes.evidence.wayback import Wayback
from crowdnotes.settings_sections import FetchSettings
from tests.shared import PATIENCE, HeldTime

Behaviour = Callable[[socket.socket], object]
Serve = Callable[[Behaviour], str]


def _fetcher(total_seconds: float) -> Fetcher:
    return Fetcher(FetchSettings(total_seconds=total_seconds, max_bytes=1_000_000), ("127.0.0.1",))


@pytest.fixture
def fetcher() -> Fetcher:
    """May read 127.0.0.1 and nothing else that is private; takes 1 MB at most."""
    return _fetcher(20.0)


@pytest.fixture
def passing_time(monkeypatch: pytest.MonkeyPatch) -> HeldTime:
    """The clock of deadlines: it goes on by a twentieth of a second whenever somebody looks, and only then."""
    held = HeldTime(step=0.05)
    monkeypatch.setattr(ssrf_guard, "time", held)
    monkeypatch.setattr(ssrf_guard, "_SLICE", 0.01)
    return held


@pytest.fixture
def hasty_fetcher(passing_time: HeldTime) -> Fetcher:
    """As `fetcher`, and gives up after half a second."""
    return _fetcher(0.5)


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start a server that reads the request's head and then does as told; gives its URL."""
    stack = contextlib.ExitStack()
    stopped = threading.Event()
    threads: list[threading.Thread] = []
    listeners: list[socket.socket] = []

    def start(behave: Behaviour) -> str:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        listeners.append(listener)

        def answer(connection: socket.socket) -> None:
            # The client hangs up in the middle: that is what most of these tests are about.
            with connection, contextlib.suppress(OSError):
                connection.settimeout(PATIENCE)
                head = b""
                while b"\r\n\r\n" not in head:
                    piece = connection.recv(4096)
                    if not piece:
                        return
                    head += piece
                behave(connection)

        def accept() -> None:
            while True:
                connection, _ = listener.accept()
                if stopped.is_set():
                    connection.close()
                    return
                worker = threading.Thread(target=answer, args=(connection,), daemon=True)
                worker.start()
                threads.append(worker)

        acceptor = threading.Thread(target=accept, daemon=True)
        acceptor.start()
        threads.append(acceptor)
        return f"http://127.0.0.1:{listener.getsockname()[1]}/"

    yield start
    stopped.set()
    for listener in listeners:
        socket.create_connection(listener.getsockname()).close()  # wakes it, so that it sees the end
    for thread in threads:
        thread.join(PATIENCE)
    stack.close()


@pytest.fixture
def wayback(httpserver: HTTPServer) -> Wayback:
    """Asks the test's own server, which has the handlers that a test gives it."""
    service = Service(httpserver.url_for(""), Pacer(Pace(1000, 1.0, 10)), 5.0, "CrowdNotes/test", pause=lambda _: 0.0)
    return Wayback(service, 5.0, frozenset({"wiki.company.org"}))
