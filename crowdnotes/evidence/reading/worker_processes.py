"""Pages are read in processes of their own: side by side, and none can hang the program or break it.

A reader that takes too long, breaks, or says what it was not asked for is ended and another takes its
place; the page gets a label. Readers are no sandbox: they run as the same user, but their memory is
bounded (on Linux), their environment holds no keys, and what they answer is checked.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import secrets
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import BinaryIO, cast

from pydantic import TypeAdapter

from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import FetchError
from crowdnotes.evidence.reading.document import Document

_log = logging.getLogger(__name__)
_MAX_PAGE_SECONDS = 30.0  # for one page; a PDF gives what it has after 20
_POLL_SECONDS = 0.05  # seconds between two looks at whether the job was cancelled
_MAX_PAGES_PER_READER = 500  # a reader is replaced after so many: what memory it lost is given back
_MAX_READERS = 4  # readers, each about 90 MB
# All that a Python process needs of its environment; other variables may hold a key.
_KEPT_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SYSTEMROOT", "TEMP", "TMP")


class PageReaders:
    """As many readers as there are processors, each started when first needed. Safe to share between threads."""

    def __init__(self, most: int | None = None, seconds: float = _MAX_PAGE_SECONDS) -> None:
        self._most = most or min(_MAX_READERS, os.cpu_count() or 1)
        self._seconds = seconds
        self._lock = threading.Lock()
        self._all: set[_ReaderProcess] = set()
        self._idle: SimpleQueue[_ReaderProcess] = SimpleQueue()
        self._closed = False

    def start(self) -> None:
        """Start what there may be, without waiting until they are ready (about half a second). Never fails.

        What keeps a reader from starting is reported with the first page.
        """
        with suppress(FetchError):
            while (reader := self._another()) is not None:
                self._idle.put(reader)

    def close(self) -> None:
        """End them for good; what they are at is broken off."""
        with self._lock:
            self._closed = True
            readers = tuple(self._all)
        for reader in readers:
            reader.end()

    def extract(self, body: bytes, kind: str, charset: str | None, url: str, check: Callable[[], None], /) -> Document:
        """See `extract.extract`; `check` is called about twenty times a second."""
        reader = self._borrowed(check)
        done = False
        try:
            answer = reader.ask({"kind": kind, "charset": charset, "url": url}, body, check, self._seconds)
            done = reader.pages < _MAX_PAGES_PER_READER
            return _document_from_answer(answer)
        finally:
            if done:
                self._idle.put(reader)
            else:
                self._drop(reader)
                self.start()

    def _borrowed(self, check: Callable[[], None]) -> _ReaderProcess:
        while True:
            check()
            if self._closed:
                raise FetchError("CrowdNotes is closing, so we did not read the page.", FetchOutcome.UNREADABLE)
            try:
                reader = self._idle.get_nowait()
            except Empty:
                if (fresh := self._another()) is not None:
                    return fresh
                time.sleep(_POLL_SECONDS)
                continue
            if reader.is_alive:
                return reader
            self._drop(reader)  # it ended while idle: that is not the next page's doing

    def _another(self) -> _ReaderProcess | None:
        """One more, or None when there are enough."""
        with self._lock:
            if self._closed or len(self._all) >= self._most:
                return None
            reader = _ReaderProcess()
            self._all.add(reader)
            return reader

    def _drop(self, reader: _ReaderProcess) -> None:
        reader.end()
        with self._lock:
            self._all.discard(reader)


class _ReaderProcess:
    """One process. Raises FetchError when it cannot be started."""

    def __init__(self) -> None:
        self.pages = 0
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "crowdnotes.evidence.reading.worker_processes"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=_build_environment(),
                start_new_session=True,  # so that what it starts itself can be ended with it
            )
        except OSError as error:
            raise FetchError(f"We cannot start the page reader ({error.strerror}).", FetchOutcome.UNREADABLE) from error
        self._pipes = cast("tuple[BinaryIO, BinaryIO]", (self._process.stdin, self._process.stdout))
        self._ending = threading.Lock()
        self._is_ready = False
        self._exchange: threading.Thread | None = None

    @property
    def is_alive(self) -> bool:
        """Whether the process is still there."""
        return self._process.poll() is None

    def ask(self, message: Message, body: bytes, check: Callable[[], None], seconds: float) -> Message:
        """Return what it answers. Raises FetchError when it breaks or is not done in time, and what `check` raises."""
        self.pages += 1
        ends = time.monotonic() + seconds
        said: list[Message | None] = []
        # In a thread of its own: a reader that does not read or answer would keep this one waiting for ever.
        self._exchange = threading.Thread(target=lambda: said.append(self._answer_to(message, body)), daemon=True)
        self._exchange.start()
        while self._exchange.is_alive():
            check()
            if time.monotonic() >= ends:
                raise FetchError(f"Reading the page took over {seconds:g} seconds.", FetchOutcome.UNREADABLE)
            self._exchange.join(_POLL_SECONDS)
        if said and said[0] is not None:
            return said[0]
        self.end()
        _log.warning("a page reader ended with code %s", self._process.returncode)
        words = "The page broke the page reader." if self._is_ready else "We cannot start the page reader."
        raise FetchError(words, FetchOutcome.UNREADABLE)

    def end(self) -> None:
        """Stop it at once, and what it started."""
        with self._ending:
            if self._process.returncode is None:  # else its number may be another process's by now
                if hasattr(os, "killpg"):
                    with suppress(ProcessLookupError, PermissionError):
                        os.killpg(self._process.pid, signal.SIGKILL)
                self._process.kill()
                self._process.wait()
        if self._exchange is not None:
            self._exchange.join(1.0)
        for pipe in self._pipes:
            with suppress(OSError):  # what was not sent is not missed
                pipe.close()

    def _answer_to(self, message: Message, body: bytes) -> Message | None:
        """None when it has ended, or says anything but an answer to this very question."""
        asking, answers = self._pipes
        number = secrets.token_hex(8)  # so that what it says unasked is not taken for the next page
        try:
            if not self._is_ready:
                self._is_ready = receive(answers) == (READY, b"")
            send(asking, {**message, "number": number}, body)
            received = receive(answers)
        except (OSError, ValueError):  # it has ended
            return None
        return received[0] if received is not None and received[0].pop("number", None) == number else None


def _build_environment() -> dict[str, str]:
    """Return the environment of a reader: the same code, one thread, nothing that it does not need."""
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    code = [str(Path(__file__).parents[3]), *(place for place in sys.path if place)]
    return {**kept, "PYTHONPATH": os.pathsep.join(code), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _document_from_answer(answer: Message) -> Document:
    """Return what a reader answered; it is not trusted to keep to the form."""
    try:
        document = answer.get("document")
        if isinstance(document, dict):
            return DOCUMENT.validate_python(document)
        raise FetchError(str(answer["sentence"]), FetchOutcome(str(answer["outcome"])))
    except (TypeError, ValueError, KeyError) as error:
        raise FetchError("The page broke the page reader.", FetchOutcome.UNREADABLE) from error


@cache
def page_readers() -> PageReaders:
    """Return those of this program; they end with it."""
    readers = PageReaders()
    atexit.register(readers.close)
    return readers


Message = dict[str, object]

DOCUMENT = TypeAdapter(Document)  # to JSON and back; ValidationError, a ValueError, for what is none
READY: Message = {"ready": True}
_MESSAGE_HEADER = struct.Struct(">II")  # bytes of the JSON, bytes of the body
_MAX_MESSAGE_BYTES = 64_000_000  # of either part of a message; the longest text that is read takes 18 MB as JSON
_ALARM_SECONDS = 120  # for a page, counted by the reader itself: for when nobody is left to end it
_MAX_MEMORY_BYTES = 2_000_000_000  # bytes of address space; Python and its libraries take 200 MB of it


def send(stream: BinaryIO, message: Message, body: bytes = b"") -> None:
    """One message. Raises OSError when nobody reads any more."""
    head = json.dumps(message).encode()
    stream.write(_MESSAGE_HEADER.pack(len(head), len(body)) + head + body)
    stream.flush()


def receive(stream: BinaryIO) -> tuple[Message, bytes] | None:
    """Return the next message; None when the stream has ended, even amid one, or holds what is no message."""
    start = stream.read(_MESSAGE_HEADER.size)
    if len(start) < _MESSAGE_HEADER.size:
        return None
    lengths = _MESSAGE_HEADER.unpack(start)
    if max(lengths) > _MAX_MESSAGE_BYTES:
        return None
    head, body = (stream.read(length) for length in lengths)
    try:
        message = json.loads(head)
    except (ValueError, RecursionError):
        return None
    return (message, body) if isinstance(message, dict) else None


def _limit_memory() -> None:
    """So that a page that unpacks to gigabytes fails here instead of filling the machine; on Linux."""
    try:
        import resource
    except ImportError:
        return
    with suppress(OSError, ValueError):  # a system that knows no such bound
        resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _set_alarm(seconds: int) -> None:
    """End this program then, or not at all (0); where the system has no alarm, a reader can outlive its parent."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


def _answer_request(message: Message, body: bytes) -> Message:
    from crowdnotes.evidence.reading.extract import extract

    charset = message["charset"] if isinstance(message["charset"], str) else None
    try:
        document = extract(body, str(message["kind"]), charset, str(message["url"]), lambda: None)
    except FetchError as error:
        return {"outcome": error.outcome.value, "sentence": error.message}
    except MemoryError:
        return {"outcome": FetchOutcome.TOO_LARGE.value, "sentence": "The page needs too much memory."}
    return {"document": DOCUMENT.dump_python(document, mode="json")}


def main() -> None:
    """Read pages until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the program that started this one, which ends it
    # What a library prints must not come between the messages.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    import trafilatura  # noqa: F401 - before the first page is waited for

    import crowdnotes.evidence.reading.html
    import crowdnotes.evidence.reading.pdf  # noqa: F401

    _limit_memory()
    send(answers, READY)
    while (asked := receive(sys.stdin.buffer)) is not None:
        _set_alarm(_ALARM_SECONDS)
        send(answers, {**_answer_request(*asked), "number": asked[0]["number"]})
        _set_alarm(0)


if __name__ == "__main__":
    main()
