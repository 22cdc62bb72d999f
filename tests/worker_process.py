"""Workers to be killed: a process that has everything loaded forks one for each line that it reads.

It says its number. `python -m tests.worker_process FOLDER SLOTS`, with the database in CROWDNOTES_DATABASE_URL.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from crowdnotes.embedding import FloatArray
from crowdnotes.evidence.reading.processes import page_readers
from crowdnotes.jobs import queue
from crowdnotes.settings import load_settings
from crowdnotes.testing import HashingEmbedder, LiveLinks
from crowdnotes.workspace import Workspace, open_workspace
from tests.cases.walk import TopicEngine

SILENCE = 3.0  # seconds: a worker that was killed is missed sooner than in earnest


class _SlowEmbedder(HashingEmbedder):
    def encode(self, texts: Sequence[str]) -> FloatArray:
        """So that a stage is often under way when its worker is killed."""
        time.sleep(0.1)
        return super().encode(texts)


def opened(folder: Path, url: str) -> Workspace:
    """A workspace on that database, with a fake of every boundary."""
    settings = load_settings().model_copy(update={"data_dir": folder})
    del url  # it stands in the environment, as for any worker
    return open_workspace(settings, embedder=_SlowEmbedder(), engine=TopicEngine(), links=LiveLinks())


class Workers:
    """Those that run now; `start` and `kill` are by process number."""

    def __init__(self, folder: Path, url: str, slots: int) -> None:
        surroundings = os.environ | {"CROWDNOTES_DATABASE_URL": url, "TMPDIR": str(folder), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "tests.worker_process", str(folder), str(slots)]
        self._parent = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=surroundings
        )
        self._folder = folder
        self.running: list[int] = []

    def start(self) -> int:
        """One more; its number."""
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        self._parent.stdin.write("another\n")
        self._parent.stdin.flush()
        self.running.append(int(self._parent.stdout.readline()))
        return self.running[-1]

    def kill(self, number: int) -> None:
        """As the system does when it runs out of memory."""
        os.kill(number, signal.SIGKILL)
        self.running.remove(number)

    def orphans(self) -> list[int]:
        """Processes that a worker started and that live on without one."""
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                mine = f"TMPDIR={self._folder}".encode() in (place / "environ").read_bytes().split(b"\0")
                parent = int((place / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            if mine and int(place.name) != self._parent.pid and parent not in {self._parent.pid, *self.running}:
                found.append(int(place.name))
        return found

    def close(self) -> None:
        """End them all."""
        for number in [*self.running]:
            self.kill(number)
        self._parent.kill()
        self._parent.communicate()


@contextmanager
def workers(folder: Path, url: str, *, slots: int = 2) -> Iterator[Workers]:
    """None at first."""
    there = Workers(folder, url, slots)
    try:
        yield there
    finally:
        there.close()


def _work(folder: Path, slots: int) -> None:
    queue.SILENCE_SECONDS = SILENCE
    with opened(folder, "") as workspace:
        page_readers().start()
        workspace.worker(slots=slots).run(heed_signals=True)


def _main(folder: Path, slots: int) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that were killed
    for _ in sys.stdin:
        number = os.fork()
        if number == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            try:
                _work(folder, slots)
            finally:
                os._exit(0)
        print(number, flush=True)


if __name__ == "__main__":
    _main(Path(sys.argv[1]), int(sys.argv[2]))
