"""Schema changes, one file each in `versions/`, applied by `upgrade` when the program starts."""

from __future__ import annotations

import threading
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

from crowdnotes.errors import ConfigurationError
from crowdnotes.storage.database import reading, writing

# Alembic keeps the migration under way in module globals, so two threads must take turns.
_ONE_AT_A_TIME = threading.Lock()
_ADVISORY_LOCK = 0x63726F77646E  # any number that no other program on the server uses: "crowdn"


def upgrade(engine: Engine) -> None:
    """Bring the database to the newest schema; does nothing, and locks nothing, if it is there.

    Programs that start at the same time wait for each other. Raises ConfigurationError if a newer
    version of the program made the database, StoreError if it cannot be read or changed.
    """
    config = alembic_config()
    scripts = ScriptDirectory.from_config(config)
    with reading(engine) as connection:
        if _is_newest(connection, scripts):
            return
    with _ONE_AT_A_TIME, writing(engine) as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})
        if not _is_newest(connection, scripts):
            config.attributes["connection"] = connection
            command.upgrade(config, "head")


def alembic_config() -> Config:
    """Alembic's configuration by the package's own path, so that no alembic.ini is needed."""
    config = Config()
    # A "%" in the path would be read as a placeholder.
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    return config


def _is_newest(connection: Connection, scripts: ScriptDirectory) -> bool:
    current = set(MigrationContext.configure(connection).get_current_heads())
    known = {revision.revision for revision in scripts.walk_revisions()}
    if current - known:
        raise ConfigurationError(
            "The database was made by a newer version of CrowdNotes.",
            "Update CrowdNotes, or set another CROWDNOTES_DATA_DIR or CROWDNOTES_DATABASE_URL.",
        )
    return current == set(scripts.get_heads())
