"""Pages are read in processes of their own: side by side, and none can hang the program or break it.

A reader that takes too long, breaks, or says what it was not asked for is ended and another takes its
place; the page gets a label. Readers are no sandbox: they run as the same user, but their memory is
bounded (on Linux), their environment holds no keys, and what they answer is checked.
"""

from __future__ import annotations

import atexit
import logging
import os
import signal
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

from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import FetchError
from crowdnotes.evidence.document import Document
from crowdnotes.evidence.page_reader import READY, Message, as_document, receive, send

_log = logging.getLogger(__name__)
_SECONDS = 30.0  # for one page; a PDF gives what it has after 20
_SLICE = 0.05  # seconds between two looks at whether the job was cancelled
_PAGES = 500  # a reader is replaced after so many: what memory it lost is given back
_MOST = 4  # readers, each about 90 MB
_BROKE = "The page broke the program that reads it."
_NO_START = "The program that reads pages cannot be started"
# All that a Python process needs of its surroundings; what else stands there may be a key.
_SURROUNDINGS = ("PATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SYSTEMROOT", "TEMP", "TMP")


class PageReaders:
    """As many readers as there are processors, each started when first needed. Safe to share between threads."""

    def __init__(self, most: int | None = None, seconds: float = _SECONDS) -> None:
        self._most = most or min(_MOST, os.cpu_count() or 1)
        self._seconds = seconds
        self._lock = threading.Lock()
        self._all: set[_Reader] = set()
        self._idle: SimpleQueue[_Reader] = SimpleQueue()
        self._closed = False

    def start(self) -> None:
        """Start all of them, without waiting until they are ready (about half a second). Never fails.

        What keeps a reader from starting is told at the first page.
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
        """See `extracting.extract`; `check` is called about twenty times a second."""
        reader = self._borrowed(check)
        done = False
        try:
            answer = reader.ask({"kind": kind, "charset": charset, "url": url}, body, check, self._seconds)
            done = reader.pages < _PAGES
            return _document(answer)
        finally:
            if done:
                self._idle.put(reader)
            else:
                self._replace(reader)

    def _borrowed(self, check: Callable[[], None]) -> _Reader:
        while True:
            check()
            if self._closed:
                raise FetchError("The program is ending, so the page was not read.", FetchOutcome.UNREADABLE)
            try:
                reader = self._idle.get_nowait()
            except Empty:
                fresh = self._another()
                if fresh is not None:
                    return fresh
                try:
                    reader = self._idle.get(timeout=_SLICE)
                except Empty:
                    continue
            if reader.is_alive:
                return reader
            self._replace(reader)  # it ended while idle: that is not the next page's doing

    def _another(self) -> _Reader | None:
        """One more, or None when there are enough."""
        with self._lock:
            if self._closed or len(self._all) >= self._most:
                return None
            reader = _Reader()
            self._all.add(reader)
            return reader

    def _replace(self, reader: _Reader) -> None:
        reader.end()
        with self._lock:
            self._all.discard(reader)
        with suppress(FetchError):  # whoever needs a reader next will hear of it
            if (fresh := self._another()) is not None:
                self._idle.put(fresh)


class _Reader:
    """One process, and a thread that hears what it says. Raises FetchError when it cannot be started."""

    def __init__(self) -> None:
        self.pages = 0
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "crowdnotes.evidence.page_reader"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=_surroundings(),
                start_new_session=True,  # so that what it starts itself can be ended with it
            )
        except OSError as error:
            raise FetchError(f"{_NO_START} ({error.strerror}).", FetchOutcome.UNREADABLE) from error
        self._asking = cast("BinaryIO", self._process.stdin)
        self._ending = threading.Lock()
        self._due = 0  # answers that are waited for
        self._is_ready = False
        self._said: SimpleQueue[Message | None] = SimpleQueue()
        threading.Thread(target=self._listen, name="crowdnotes-page-reader", daemon=True).start()

    @property
    def is_alive(self) -> bool:
        """Whether the process is still there."""
        return self._process.poll() is None

    def ask(self, message: Message, body: bytes, check: Callable[[], None], seconds: float) -> Message:
        """What it answers. Raises FetchError when it breaks or is not done in time, and what `check` raises."""
        self.pages += 1
        self._due += 1
        ends = time.monotonic() + seconds
        # From a thread of its own: one that does not read would keep this one waiting for ever.
        threading.Thread(target=self._send, args=(message, body), name="crowdnotes-page-sender", daemon=True).start()
        while True:
            check()
            try:
                answer = self._said.get(timeout=_SLICE)
            except Empty:
                if time.monotonic() < ends:
                    continue
                raise FetchError(
                    f"The page could not be read within {seconds:g} seconds.", FetchOutcome.UNREADABLE
                ) from None
            if answer is not None:
                return answer
            self.end()
            _log.warning("a page reader ended with code %s", self._process.returncode)
            raise FetchError(_BROKE if self._is_ready else f"{_NO_START}.", FetchOutcome.UNREADABLE)

    def end(self) -> None:
        """Stop it at once, and what it started."""
        with self._ending:
            if self._process.returncode is not None:
                return  # its number may be another process's by now
            if hasattr(os, "killpg"):
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
            self._process.wait()

    def _send(self, message: Message, body: bytes) -> None:
        with suppress(OSError, ValueError):  # it has ended: the answer will be None
            send(self._asking, message, body)

    def _listen(self) -> None:
        """Hand on what was asked for; a reader that says anything else is ended."""
        try:
            with cast("BinaryIO", self._process.stdout) as answers:
                while (received := receive(answers)) is not None:
                    if not self._is_ready and received[0] == READY:
                        self._is_ready = True
                        continue
                    if self._due == 0:
                        break
                    self._due -= 1
                    self._said.put(received[0])
        finally:
            self.end()
            with suppress(OSError):  # what was not sent is not missed
                self._asking.close()
            self._said.put(None)


def _surroundings() -> dict[str, str]:
    """The environment of a reader: the same code, one thread, nothing that it does not need."""
    kept = {name: os.environ[name] for name in _SURROUNDINGS if name in os.environ}
    code = [str(Path(__file__).parents[2]), *(place for place in sys.path if place)]
    return {**kept, "PYTHONPATH": os.pathsep.join(code), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _document(answer: Message) -> Document:
    """What a reader answered; it is not trusted to keep to the form."""
    try:
        document = answer.get("document")
        if isinstance(document, dict):
            return as_document(document)
        raise FetchError(str(answer["sentence"]), FetchOutcome(str(answer["outcome"])))
    except (TypeError, ValueError, KeyError) as error:
        raise FetchError(_BROKE, FetchOutcome.UNREADABLE) from error


@cache
def page_readers() -> PageReaders:
    """Those of this program; they end with it."""
    readers = PageReaders()
    atexit.register(readers.close)
    return readers
