"""What tests of several packages share: a fresh database of each kind."""

from __future__ import annotations

import os

# The workers of the suite share the cores: one thread each, in what they start too. NumPy reads it as it is imported.
for _name in ("CROWDNOTES_TORCH_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_name] = "1"

import gc
import importlib
import pkgutil
import re
import shutil
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import hypothesis
import pytest
from sqlalchemy import Engine, create_engine, make_url, text

import crowdnotes.cli
from crowdnotes.storage.database import open_database
from tests.shared import put_tables

# Before any test: a command's file that is first read while a test has put a fake in its way would keep the fake.
for _module in pkgutil.iter_modules(crowdnotes.cli.__path__):
    importlib.import_module(f"crowdnotes.cli.{_module.name}")

# How long an example takes says more of what else the machine does than of the code.
hypothesis.settings.register_profile("crowdnotes", deadline=None, max_examples=25)
hypothesis.settings.register_profile("deep", deadline=None, max_examples=100)
hypothesis.settings.load_profile("crowdnotes")

os.environ["CROWDNOTES_ARCHIVE_ASK"] = "false"  # a page that fails in a test is no business of archive.org

_TESTS = Path(__file__).parent
# Long ones, so that no worker is left alone with one at the end.
_FIRST = ("test_readme.py", "test_extending.py", "journeys/")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests first. Each worker begins with a run of neighbours, so that one of them has nearly all journeys.

    With CROWDNOTES_TEST_RERUNS a journey that fails is run once more; the summary names it.
    """
    items.sort(key=lambda item: not any(name in item.nodeid for name in _FIRST))
    if os.environ.get("CROWDNOTES_TEST_RERUNS"):
        for item in items:
            if item.get_closest_marker("journey"):
                item.add_marker(pytest.mark.flaky(reruns=1))


def pytest_collection_finish() -> None:
    """Exempt what was imported from garbage collection, which otherwise takes a seventh of the processor time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `-k word`, read only files in which that word stands: to read all of them takes ten seconds.

    A word that is in no test's name, as one of a parameter may be, is looked for in all.
    """
    word = str(config.option.keyword).casefold()
    if not word.isidentifier() or collection_path.suffix != ".py" or not _names_a_test(word):
        return None
    return word not in f"{collection_path}\n{collection_path.read_text('utf-8')}".casefold() or None


@cache
def _names_a_test(word: str) -> bool:
    named = re.compile(rf"def test\w*{re.escape(word)}|def {re.escape(word)}")
    return any(named.search(path.read_text("utf-8").casefold()) for path in _TESTS.rglob("test_*.py"))


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The URL of a real PostgreSQL server, started for this session; its database is for making others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about its own folders
        import pgserver
    # Not pytest's own folder: run as root, the server becomes another user, who may not enter there.
    folder = Path(tempfile.mkdtemp(prefix="crowdnotes-pg-"))
    server = pgserver.get_server(folder / "data", cleanup_mode="delete")
    for name in ("fsync", "full_page_writes", "synchronous_commit"):  # nobody misses it when the machine fails
        server.psql(f"ALTER SYSTEM SET {name} = off")
    server.psql("SELECT pg_reload_conf()")
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _own_database(server: str, template: str = "template1") -> Iterator[str]:
    """A copy of that database, for as long as the block; its URL as a user would write it."""
    name = f"t{uuid.uuid4().hex}"
    admin = create_engine(make_url(server).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template}"))
    yield make_url(server).set(database=name).render_as_string(hide_password=False)
    with admin.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    admin.dispose()


@pytest.fixture
def postgres_database_url(postgres_url: str) -> Iterator[str]:
    """The URL of an empty database of one's own on that server."""
    with _own_database(postgres_url) as url:
        yield url


@pytest.fixture(scope="session")
def _postgres_template(postgres_url: str) -> Iterator[str]:
    """The name of a database with its tables, to be copied: a third of the time of making them."""
    with _own_database(postgres_url) as url:
        open_database(url).dispose()
        yield str(make_url(url).database)


@pytest.fixture
def postgres_tables_url(postgres_url: str, _postgres_template: str) -> Iterator[str]:
    """The URL of a database of one's own with its tables."""
    with _own_database(postgres_url, _postgres_template) as url:
        yield url


_BOTH_KINDS = ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)]


@pytest.fixture(params=_BOTH_KINDS)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database, once of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'data' / 'crowdnotes.sqlite'}"
    url: str = request.getfixturevalue("postgres_database_url")
    return url


@pytest.fixture(params=_BOTH_KINDS)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """A database of each kind with its tables."""
    if request.param == "sqlite":
        put_tables(tmp_path / "data" / "crowdnotes.sqlite")
        url = f"sqlite:///{tmp_path / 'data' / 'crowdnotes.sqlite'}"
    else:
        url = request.getfixturevalue("postgres_tables_url")
    engine = open_database(url)
    yield engine
    engine.dispose()


@pytest.fixture(scope="session")
def httpserver_listen_address() -> tuple[str, int]:
    """An address rather than "localhost", so that a test can tell the two apart."""
    return ("127.0.0.1", 0)
