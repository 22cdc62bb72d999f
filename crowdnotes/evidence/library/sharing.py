"""Libraries that all machines on one database share: their files by content hash, in parts, and which name is which."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from pathlib import Path

from pydantic import ValidationError
from sqlalchemy import Engine, delete, insert, select

from crowdnotes.errors import LibraryError
from crowdnotes.evidence.library.index import LibraryInfo
from crowdnotes.storage.database import now_of, reading, writing
from crowdnotes.storage.tables import library_parts, shared_libraries
from crowdnotes.text.table_files import replacement_of

_PART_BYTES = 4_000_000
_ABANDONED_AFTER = timedelta(days=1)  # unnamed files that are this old are left by a process that was killed


class SharedLibraries:
    """Safe to share between threads and processes. Raises StoreError and its kinds."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def put(self, info: LibraryInfo, file: Path, *, replace: bool) -> str:
        """Keep a library's file for all under its name, whole or not at all; the sha256 of its content.

        Raises LibraryError where the name was taken meanwhile.
        """
        with file.open("rb") as content:
            sha256 = hashlib.file_digest(content, "sha256").hexdigest()
            content.seek(0)
            part = 0
            while piece := content.read(_PART_BYTES):
                with writing(self._engine) as connection:
                    there = (library_parts.c.sha256 == sha256, library_parts.c.part == part)
                    connection.execute(delete(library_parts).where(*there))
                    row = {"sha256": sha256, "part": part, "at": now_of(connection), "content": piece}
                    connection.execute(insert(library_parts).values(row))
                part += 1
        named = shared_libraries.c.name == info.name
        with writing(self._engine) as connection:
            old = connection.scalar(select(shared_libraries.c.sha256).where(named).with_for_update())
            if old is not None and not replace:
                raise LibraryError(
                    f"A library “{info.name}” was added meanwhile.", "Choose another name, or replace it."
                )
            connection.execute(delete(shared_libraries).where(named))
            new = {"name": info.name, "sha256": sha256, "info": info.model_dump_json()}
            connection.execute(insert(shared_libraries).values(new))
            before = now_of(connection) - _ABANDONED_AFTER
            nameless = library_parts.c.sha256.not_in(select(shared_libraries.c.sha256))
            gone = (library_parts.c.at < before) | (library_parts.c.sha256 == (old or ""))
            connection.execute(delete(library_parts).where(nameless, gone))
        return sha256

    def find(self, name: str) -> str | None:
        """Return the sha256 of the library of that name; None without one."""
        with reading(self._engine) as connection:
            return connection.scalar(select(shared_libraries.c.sha256).where(shared_libraries.c.name == name))

    def infos(self) -> dict[str, LibraryInfo | None]:
        """Return all of them, by name; None for one of another version."""
        with reading(self._engine) as connection:
            rows = connection.execute(select(shared_libraries.c.name, shared_libraries.c.info)).all()
        return {name: _parse_info(document) for name, document in rows}

    def hashes(self) -> set[str]:
        """Of all that have a name."""
        with reading(self._engine) as connection:
            return set(connection.scalars(select(shared_libraries.c.sha256)))

    def fetch(self, name: str, sha256: str, target: Path) -> None:
        """Write its file, which appears whole or not at all. Raises LibraryError where a part is lost, and OSError."""
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacement_of(target) as arriving:
            with arriving.open("wb") as file:
                digest, part = hashlib.sha256(), 0
                while (piece := self._part(sha256, part)) is not None:
                    digest.update(piece)
                    file.write(piece)
                    part += 1
            if digest.hexdigest() != sha256:
                raise LibraryError(f"The library “{name}” arrived incomplete.", "The library may have been replaced.")
            arriving.chmod(0o444)

    def remove(self, name: str) -> bool:
        """Return whether there was one of that name."""
        with writing(self._engine) as connection:
            gone = delete(shared_libraries).where(shared_libraries.c.name == name).returning(shared_libraries.c.sha256)
            sha256 = connection.scalar(gone)
            still = select(shared_libraries.c.name).where(shared_libraries.c.sha256 == sha256)
            if sha256 is not None and connection.scalar(still) is None:
                connection.execute(delete(library_parts).where(library_parts.c.sha256 == sha256))
        return sha256 is not None

    def _part(self, sha256: str, part: int) -> bytes | None:
        mine = (library_parts.c.sha256 == sha256, library_parts.c.part == part)
        with reading(self._engine) as connection:
            return connection.scalar(select(library_parts.c.content).where(*mine))


def _parse_info(document: str) -> LibraryInfo | None:
    try:
        return LibraryInfo.model_validate_json(document)
    except ValidationError:
        return None
