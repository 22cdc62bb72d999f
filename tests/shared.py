"""What tests of several packages share: the real model and empty tables, made once a worker, stopped jobs, threads."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

from crowdnotes.engines.embedding import MiniLMEmbedder
from crowdnotes.errors import JobCancelled
from crowdnotes.storage.database import open_database


@cache
def minilm() -> MiniLMEmbedder:
    """The real embedding model, read once."""
    return MiniLMEmbedder()


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
        thread.join(60)
