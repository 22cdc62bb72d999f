"""Open the database, ready for use."""

from __future__ import annotations

from sqlalchemy import Engine

from crowdnotes.storage.database import connect
from crowdnotes.storage.migrations import upgrade


def open_database(url: str) -> Engine:
    """Connect to `url` and bring its tables up to date; raises what `connect` and `upgrade` raise."""
    engine = connect(url)
    try:
        upgrade(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine
