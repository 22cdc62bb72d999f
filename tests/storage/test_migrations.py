from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Engine, inspect, select, text

import crowdnotes
from crowdnotes import __version__
from crowdnotes.errors import ConfigurationError
from crowdnotes.storage.database import connect, migrate, reading, writing
from crowdnotes.storage.tables import metadata, programs


def test_the_migrations_make_exactly_the_tables_that_the_code_knows(engine: Engine) -> None:
    with reading(engine) as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []


def test_a_database_that_is_up_to_date_is_left_alone(engine: Engine) -> None:
    with writing(engine) as connection:
        connection.execute(text("DROP TABLE case_texts"))
    migrate(engine)
    assert "case_texts" not in inspect(engine).get_table_names()


def test_the_database_says_which_programs_wrote_to_it_the_newest_last(engine: Engine) -> None:
    for version in ("0.2.0", "0.2.0", "0.3.0", "0.2.0"):
        migrate(engine, version)
    with reading(engine) as connection:
        written = connection.execute(select(programs).order_by(programs.c.seq)).all()
    assert [row.version for row in written] == [__version__, "0.2.0", "0.3.0", "0.2.0"]


def test_a_database_of_a_newer_version_is_refused(engine: Engine) -> None:
    with writing(engine) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(ConfigurationError, match="newer version"):
        migrate(engine)


def test_a_migration_that_fails_leaves_nothing_half_made(database_url: str) -> None:
    engine = connect(database_url)
    with writing(engine) as connection:
        connection.execute(text("CREATE TABLE jobs (mine integer)"))
    with pytest.raises(Exception, match="could not do"):
        migrate(engine)
    assert inspect(engine).get_table_names() == ["jobs"]
    engine.dispose()


_OPEN = "import sys; from crowdnotes.storage.database import open_database; open_database(sys.argv[1]).dispose()"


def test_processes_that_start_at_once_wait_for_each_other(database_url: str) -> None:
    root = Path(crowdnotes.__file__).parents[1]
    processes = [
        subprocess.Popen([sys.executable, "-c", _OPEN, database_url], cwd=root, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert [(process.communicate(timeout=60)[1], process.returncode) for process in processes] == [("", 0)] * 4
