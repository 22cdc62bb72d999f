"""Pages are read in processes of their own: side by side, and none can hang, fill or take over the program.

What a page says is foreign, and so are the bytes of a PDF. A reader that takes too long, or breaks, is
ended and another takes its place; the page gets a label. Readers have no key in their environment.
"""

from __future__ import annotations

import atexit
import logging
import os
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
from crowdnotes.evidence.page_reader import Message, as_document, receive, send

_log = logging.getLogger(__name__)
_SECONDS = 30.0  # for one page; a PDF gives what it has after 20
_SLICE = 0.05  # seconds between two looks at whether the job was cancelled
_PAGES = 500  # a reader is replaced after so many: what memory it lost is given back
_MOST = 4  # readers, each about 90 MB
_BROKE = "The page broke the program that reads it."
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

    def start(self) -> None:
        """Start all of them, without waiting until they are ready (about half a second)."""
        while (reader := self._another()) is not None:
            self._idle.put(reader)

    def close(self) -> None:
        """End them; what they are at is broken off."""
        with self._lock:
            for reader in self._all:
                reader.end()
            self._all.clear()

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
            try:
                return self._idle.get_nowait()
            except Empty:
                reader = self._another()
            if reader is not None:
                return reader
            try:
                return self._idle.get(timeout=_SLICE)
            except Empty:
                continue

    def _another(self) -> _Reader | None:
        """One more, or None when there are enough."""
        with self._lock:
            if len(self._all) >= self._most:
                return None
            reader = _Reader()
            self._all.add(reader)
            return reader

    def _replace(self, reader: _Reader) -> None:
        reader.end()
        with self._lock:
            self._all.discard(reader)
        if (fresh := self._another()) is not None:
            self._idle.put(fresh)


class _Reader:
    """One process, and a thread that waits for what it says. Raises FetchError when it cannot be started."""

    def __init__(self) -> None:
        self.pages = 0
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "crowdnotes.evidence.page_reader"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=_surroundings(),
            )
        except OSError as error:
            raise FetchError(
                f"The program that reads pages cannot be started ({error.strerror}).", FetchOutcome.UNREADABLE
            ) from error
        self._asking = cast("BinaryIO", self._process.stdin)
        self._answering = cast("BinaryIO", self._process.stdout)
        self._said: SimpleQueue[Message | None] = SimpleQueue()
        threading.Thread(target=self._listen, name="crowdnotes-page-reader", daemon=True).start()

    def ask(self, message: Message, body: bytes, check: Callable[[], None], seconds: float) -> Message:
        """What it answers. Raises FetchError when it breaks or is not done in time, and what `check` raises."""
        self.pages += 1
        with suppress(OSError):  # it has ended: the answer will be None
            send(self._asking, message, body)
        ends = time.monotonic() + seconds
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
            if answer is None:
                self.end()
                _log.warning("a page reader ended with code %s", self._process.returncode)
                raise FetchError(_BROKE, FetchOutcome.UNREADABLE)
            return answer

    def end(self) -> None:
        """Stop it at once."""
        self._process.kill()
        self._process.wait()
        for stream in (self._asking, self._answering):
            with suppress(OSError):  # what was not sent is not missed
                stream.close()

    def _listen(self) -> None:
        with suppress(OSError, ValueError):  # closed meanwhile
            while (answer := receive(self._answering)) is not None:
                self._said.put(answer[0])
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
