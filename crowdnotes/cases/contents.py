"""What cases claim by its sha256: texts of sources and bytes of images, each kept once, whoever uses it.

A content is put before a case claims it, because the work in between may take a while. It goes with
the last case that claims it, or, never claimed, with the first deletion a day after it was put.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Connection, Table, delete, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from crowdnotes.storage.tables import case_images, case_texts, images, source_texts

_UNCLAIMED_KEPT = timedelta(days=1)  # a run that was killed resumes sooner

Claimed = tuple[str, datetime | None]  # a sha256, and since when the case claims it (None: long ago)


@dataclass(frozen=True, slots=True)
class Kind:
    """The table of the bytes, the column they lie in, and the table of the claims."""

    contents: Table
    column: str
    claims: Table

    def put(self, connection: Connection, sha256: str, content: bytes, now: datetime) -> None:
        """Keep it; if it is there already, note that somebody put it again just now."""
        dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
        row = dialect.insert(self.contents).values({"sha256": sha256, self.column: content, "stored_at": now})
        connection.execute(row.on_conflict_do_update(index_elements=["sha256"], set_={"stored_at": now}))

    def get(self, connection: Connection, sha256: str) -> bytes | None:
        """The bytes; None when they are not kept."""
        found = connection.scalar(select(self.contents.c[self.column]).where(self.contents.c.sha256 == sha256))
        return None if found is None else bytes(found)

    def claim(self, connection: Connection, case_id: str, hashes: set[str], before: set[str], now: datetime) -> None:
        """Make these, and no others, the contents that the case claims; `before` are those it claimed so far."""
        if dropped := before - hashes:
            released = [(sha256, since) for sha256, since in self.claimed(connection, case_id) if sha256 in dropped]
            mine = self.claims.c.case_id == case_id
            connection.execute(delete(self.claims).where(mine, self.claims.c.sha256.in_(dropped)))
            self.remove(connection, released)
        rows = [{"case_id": case_id, "sha256": sha256, "claimed_at": now} for sha256 in sorted(hashes - before)]
        if rows:
            connection.execute(insert(self.claims), rows)

    def claimed(self, connection: Connection, case_id: str) -> list[Claimed]:
        """What the case claims, each with the moment since when."""
        query = select(self.claims.c.sha256, self.claims.c.claimed_at).where(self.claims.c.case_id == case_id)
        return [(row.sha256, row.claimed_at) for row in connection.execute(query)]

    def remove(self, connection: Connection, released: Sequence[Claimed]) -> None:
        """Remove what a case no longer claims, unless another does.

        What was put again after that case had claimed it is spared: another case is about to claim it.
        """
        for sha256, since in released:
            untouched = [] if since is None else [self.contents.c.stored_at <= since]
            gone = delete(self.contents).where(self.contents.c.sha256 == sha256, self._unclaimed(), *untouched)
            connection.execute(gone)

    def remove_left_over(self, connection: Connection, now: datetime) -> None:
        """Remove what was put a day ago and never claimed."""
        old = self.contents.c.stored_at < now - _UNCLAIMED_KEPT
        connection.execute(delete(self.contents).where(old, self._unclaimed()))

    def _unclaimed(self) -> ColumnElement[bool]:
        return self.contents.c.sha256.not_in(select(self.claims.c.sha256))


TEXTS = Kind(source_texts, "text", case_texts)
IMAGES = Kind(images, "content", case_images)
KINDS = (TEXTS, IMAGES)
