from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Engine

import crowdnotes
from crowdnotes.cases.store import SqlStore
from crowdnotes.storage.database import open_database
from tests.cases.made import make_case, trail, with_event

_ROOT = Path(crowdnotes.__file__).parents[1]


@pytest.fixture
def store(engine: Engine) -> SqlStore:
    return SqlStore(engine)


def test_twenty_threads_lose_no_change_and_mix_nothing_up(store: SqlStore, engine: Engine) -> None:
    store.add(make_case("shared"))
    start = threading.Barrier(20)

    def session(number: int) -> None:
        mine = f"case {number}"
        start.wait()
        store.add(make_case(mine, text=mine))
        for turn in range(5):
            store.update("shared", lambda case: with_event(case, f"{number}/{turn}"))  # noqa: B023 - called at once
            store.update(mine, lambda case: with_event(case, f"{mine}/{turn}"))  # noqa: B023
            assert store.get(mine).post.text == mine

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(session, range(20)))
    shared = store.get("shared")
    assert shared.version == 100
    assert {event.kind for event in shared.events[1:]} == {f"{n}/{turn}" for n in range(20) for turn in range(5)}
    assert trail(engine, "shared") == [(seq, event.kind) for seq, event in enumerate(shared.events, start=1)]
    for number in range(20):
        kinds = [event.kind for event in store.get(f"case {number}").events[1:]]
        assert kinds == [f"case {number}/{turn}" for turn in range(5)]


_SESSION = """
import sys
from datetime import UTC, datetime
from crowdnotes.cases.store import SqlStore
from crowdnotes.domain import Event
from crowdnotes.storage.database import open_database
url, name = sys.argv[1:]
store = SqlStore(open_database(url))
def add(kind):
    event = Event(at=datetime.now(UTC), by=name, kind=kind)
    return lambda case: case.model_copy(update={"events": (*case.events, event)})
for turn in range(20):
    store.update("shared", add(f"{name}/{turn}"))
    store.update(name, add(str(turn)))
"""


def test_processes_lose_no_change_and_mix_nothing_up(store: SqlStore, database_url: str) -> None:
    names = ["first", "second", "third"]
    for name in ("shared", *names):
        store.add(make_case(name))
    processes = [
        subprocess.Popen([sys.executable, "-c", _SESSION, database_url, name], cwd=_ROOT, stderr=subprocess.PIPE)
        for name in names
    ]
    assert [process.communicate(timeout=90)[1] for process in processes] == [b""] * 3
    shared = store.get("shared")
    assert sorted(event.kind for event in shared.events[1:]) == sorted(
        f"{n}/{turn}" for n in names for turn in range(20)
    )
    for name in names:
        assert [event.kind for event in store.get(name).events[1:]] == [str(turn) for turn in range(20)]


_WRITE_FOREVER = _SESSION.replace("for turn in range(20):", "import itertools\nfor turn in itertools.count():").replace(
    'store.update("shared"', 'print(turn, flush=True); store.update("shared"'
)


@pytest.fixture
def writer(store: SqlStore, database_url: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that writes without end."""
    for name in ("shared", "mine"):
        store.add(make_case(name))
    arguments = [sys.executable, "-c", _WRITE_FOREVER, database_url, "mine"]
    with subprocess.Popen(arguments, cwd=_ROOT, stdout=subprocess.PIPE) as process:
        yield process
        process.kill()


def test_a_process_that_is_killed_while_writing_leaves_whole_cases(
    store: SqlStore, engine: Engine, database_url: str, writer: subprocess.Popen[bytes]
) -> None:
    assert writer.stdout is not None
    while writer.stdout.readline() != b"5\n":
        pass
    writer.kill()
    writer.wait()
    reopened = open_database(database_url)
    for name in ("shared", "mine"):
        case = SqlStore(reopened).get(name)
        assert case.version == len(case.events) - 1
        assert trail(engine, name) == [(seq, event.kind) for seq, event in enumerate(case.events, start=1)]
    reopened.dispose()
