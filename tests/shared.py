"""What tests of several rooms share: the real model, read once a worker, stopped jobs, and threads at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache

from crowdnotes.embedding import MiniLMEmbedder
from crowdnotes.errors import JobCancelled


@cache
def minilm() -> MiniLMEmbedder:
    """The real embedding model, read once."""
    return MiniLMEmbedder()


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
