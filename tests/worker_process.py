"""Workers and apps to be killed: a process that has everything loaded forks one for each line that it reads.

The line is "worker"; "dying": one that kills itself between its first write to a case and the commit; or "app": one
that runs the batch FOLDER/posts.jsonl and does jobs itself. It says its number.
`python -m tests.worker_process FOLDER SLOTS`, with the database in CROWDNOTES_DATABASE_URL.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Engine, event

from crowdnotes.batches import Batch
from crowdnotes.engines.embedding import FloatArray
from crowdnotes.evidence.reading.worker_processes import page_readers
from crowdnotes.jobs import queue
from crowdnotes.settings import load_settings
from crowdnotes.workspace import Workspace, open_workspace
from tests.cases.walk import TopicEngine
from tests.fakes import HashingEmbedder, LiveLinks

SILENCE = 3.0  # seconds: a worker that was killed is missed sooner than in earnest


class _SlowEmbedder(HashingEmbedder):
    def encode(self, texts: Sequence[str]) -> FloatArray:
        """So that a stage is often under way when its worker is killed."""
        time.sleep(0.1)
        return super().encode(texts)


def opened(folder: Path, url: str) -> Workspace:
    """A workspace on that database, with a fake of every boundary."""
    settings = load_settings().replace(data_dir=folder)
    del url  # it stands in the environment, as for any worker
    engine = TopicEngine() if settings.llm.base_url is None else None
    return open_workspace(settings, embedder=_SlowEmbedder(), engine=engine, links=LiveLinks())


class Workers:
    """Those that run now; `start` and `kill` are by process number."""

    def __init__(self, folder: Path, url: str, slots: int) -> None:
        surroundings = os.environ | {"CROWDNOTES_DATABASE_URL": url, "TMPDIR": str(folder), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "tests.worker_process", str(folder), str(slots)]
        self._parent = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=surroundings
        )
        self._folder = folder
        self.running: dict[int, str] = {}

    def start(self, kind: str = "worker") -> int:
        """One more; its number."""
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        self._parent.stdin.write(f"{kind}\n")
        self._parent.stdin.flush()
        number = int(self._parent.stdout.readline())
        self.running[number] = kind
        return number

    def kill(self, number: int) -> str:
        """As the system does when it runs out of memory; what it was."""
        os.kill(number, signal.SIGKILL)
        return self.running.pop(number)

    def alive(self) -> list[int]:
        """Those of them that have not ended."""
        return [number for number in self.running if Path(f"/proc/{number}").exists()]

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


def _die_in_a_write(folder: Path, slots: int) -> None:
    def die(connection: object, cursor: object, statement: str, *_: object) -> None:
        if statement.startswith("UPDATE cases"):
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(Engine, "after_cursor_execute", die)
    _work(folder, slots)


def _run_batch(folder: Path, slots: int) -> None:
    queue.SILENCE_SECONDS = SILENCE
    with opened(folder, "") as workspace:
        page_readers().start()
        threading.Thread(target=workspace.worker(slots=slots).run, daemon=True).start()
        Batch(workspace, folder / "posts.jsonl").run(8)
        signal.pause()


def _main(folder: Path, slots: int) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that were killed
    for line in sys.stdin:
        number = os.fork()
        if number == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            try:
                {"worker": _work, "dying": _die_in_a_write, "app": _run_batch}[line.strip()](folder, slots)
            finally:
                os._exit(0)
        print(number, flush=True)


if __name__ == "__main__":
    _main(Path(sys.argv[1]), int(sys.argv[2]))
