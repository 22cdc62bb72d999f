"""What tests of several packages share: the real model and empty tables, made once a worker, stopped jobs, time."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

from crowdnotes.engines.embedding import MiniLMEmbedder
from crowdnotes.errors import JobCancelled
from crowdnotes.storage.database import open_database

PATIENCE = 120.0
"""Seconds to wait for what is sure to come, however busy the machine is. Nothing is measured by it."""


class HeldTime:
    """Stands for the module `time` in a module under test: it moves by what is slept and as the test says.

    With `step` also by so many seconds whenever somebody looks, which ends a wait for what never comes.
    """

    def __init__(self, now: float = 1_000_000.0, *, step: float = 0.0) -> None:
        self.now = now
        self._step = step

    def monotonic(self) -> float:
        """What it shows, after its step."""
        self.now += self._step
        return self.now

    time = perf_counter = monotonic

    def sleep(self, seconds: float) -> None:
        """Pass over so many seconds."""
        self.now += seconds


def until(comes: Callable[[], object]) -> None:
    """Wait for something that is sure to come."""
    ends = time.monotonic() + PATIENCE
    while not comes():
        assert time.monotonic() < ends, "it never came"
        time.sleep(0.02)


@cache
def minilm() -> MiniLMEmbedder:
    """The real embedding model, read once; on one thread, for two of each worker compete and take thrice the time."""
    return MiniLMEmbedder(threads=1)


def put_tables(path: Path) -> None:
    """A database file with its tables, unless one is there: a copy takes a tenth of the time of making them."""
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(_tables())


@cache
def _tables() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.sqlite"
        open_database(f"sqlite:///{path}").dispose()
        return path.read_bytes()


def cancelled() -> None:
    """The check of a job that was stopped."""
    raise JobCancelled("The work was stopped.")


def cancelled_after(looks: int) -> Callable[[], None]:
    """The check of a job that is stopped once it was looked at so many times."""
    left = iter(range(looks))

    def check() -> None:
        if next(left, None) is None:
            cancelled()

    return check


def at_once(work: Callable[[int], object], times: int) -> None:
    """Run `work(0)`, `work(1)` … in threads at the same time, and wait for all."""
    threads = [threading.Thread(target=work, args=(number,)) for number in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
