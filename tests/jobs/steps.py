"""Steps for tests of jobs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from crowdnotes.jobs.records import JobRecord, Progress, Step, StepState

SECONDS = 30.0  # to wait for something that is sure to come


def step(name: str, run: Callable[[Progress], str] | None = None, finished: str | None = None) -> Step:
    return Step(name, name.title(), run or (lambda progress: f"{name} summary"), lambda: finished)


class Blocker:
    """A step's work that goes on until it is released or told to stop."""

    def __init__(self) -> None:
        self.started = threading.Event()
        self.released = threading.Event()

    def __call__(self, progress: Progress) -> str:
        self.started.set()
        deadline = time.monotonic() + SECONDS
        while not self.released.wait(0.01) and time.monotonic() < deadline:
            progress.check()
        return "released"


def states(record: JobRecord) -> list[StepState]:
    return [item.state for item in record.steps]
