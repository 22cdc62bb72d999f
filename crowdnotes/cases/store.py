"""Where cases are kept: whole, with every change atomic and the audit trail growing only.

What a text may hold. The document and the texts of sources keep every character. Two kinds cannot be
kept everywhere: NUL in PostgreSQL's text columns and a lone surrogate in any UTF-8. So in the columns
made for listing and searching both read U+FFFD, and a lone surrogate reads U+FFFD in the document too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Protocol

from pydantic import ValidationError
from sqlalchemy import Connection, Engine, Select, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from crowdnotes.cases.contents import IMAGES, KINDS, TEXTS
from crowdnotes.cases.rows import case_row, event_rows, folded, image_hashes, text_hashes
from crowdnotes.domain import Case, CaseStatus, DecisionKind, Mode, Noun, text_sha256
from crowdnotes.errors import CaseNotFoundError, StoreError
from crowdnotes.storage.database import reading, writing
from crowdnotes.storage.tables import cases, events, jobs, storable_text

_NEEDLE_CHARACTERS = 1_000  # SQLite refuses patterns over 50,000 bytes; nobody types as much as this


class CaseSummary(Noun):
    """A line of the list of cases."""

    id: str
    post_excerpt: str
    status: CaseStatus
    decision: DecisionKind | None
    mode: Mode
    created_at: datetime
    updated_at: datetime


class Store(Protocol):
    """Keeps cases, their sources' texts and their posts' images. Raises StoreError and its kinds, nothing else."""

    def add(self, case: Case) -> Case:
        """Keep a new case, and give it back as kept."""
        ...

    def get(self, case_id: str) -> Case:
        """The newest version; CaseNotFoundError without one."""
        ...

    def update(self, case_id: str, change: Callable[[Case], Case]) -> Case:
        """Apply `change` to the newest version and keep the result as the next one; gives it back.

        Nobody else's change comes between: `change` must be quick, and what it raises undoes all.
        If it gives back the very case it got, nothing is written. `updated_at` is the change's to set.
        """
        ...

    def list(
        self, search: str = "", status: CaseStatus | None = None, limit: int = 200, offset: int = 0
    ) -> list[CaseSummary]:
        """The newest change first; `search` is a part of the post's or the draft's text, in any case of letters."""
        ...

    def count(self, search: str = "", status: CaseStatus | None = None) -> int:
        """How many `list` would give without a limit."""
        ...

    def delete(self, case_id: str) -> None:
        """Remove a case and all that is kept for it alone; CaseNotFoundError without one."""
        ...

    def put_text(self, text: str) -> str:
        """Keep a source's text once, whoever uses it; its sha256 (`domain.text_sha256`) finds it again."""
        ...

    def text(self, sha256: str) -> str:
        """The exact text; StoreError if it is not kept."""
        ...

    def put_image(self, content: bytes) -> str:
        """Keep an image's bytes once, whoever uses it; their sha256 finds them again."""
        ...

    def image(self, sha256: str) -> bytes:
        """The exact bytes; StoreError if they are not kept."""
        ...


class SqlStore:
    """The store in a database opened by `storage.opening.open_database`; safe for threads and processes."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add(self, case: Case) -> Case:
        """See `Store.add`."""
        case, row = case_row(case)
        with writing(self._engine) as connection:
            try:
                connection.execute(insert(cases).values(row))
            except IntegrityError as error:
                raise StoreError("There is a case with this id already.") from error
            _append_events(connection, case, known=0)
            _claim(connection, case)
        return case

    def get(self, case_id: str) -> Case:
        """See `Store.get`."""
        with reading(self._engine) as connection:
            return _read(connection, _document_of(case_id))

    def update(self, case_id: str, change: Callable[[Case], Case]) -> Case:
        """See `Store.update`."""
        with writing(self._engine) as connection:
            old = _read(connection, _document_of(case_id).with_for_update())
            new = change(old)
            if new is old:
                return old
            if new.id != old.id or new.events[: len(old.events)] != old.events:
                raise ValueError("a change may neither rename a case nor rewrite its audit trail")
            new, row = case_row(new.model_copy(update={"version": old.version + 1}))
            connection.execute(update(cases).where(cases.c.id == old.id).values(row))
            _append_events(connection, new, known=len(old.events))
            _claim(connection, new, old)
        return new

    def list(
        self, search: str = "", status: CaseStatus | None = None, limit: int = 200, offset: int = 0
    ) -> list[CaseSummary]:
        """See `Store.list`."""
        columns = [cases.c[name] for name in CaseSummary.model_fields]
        query = _matching(select(*columns), search, status)
        query = query.order_by(cases.c.updated_at.desc(), cases.c.id.desc()).limit(limit).offset(offset)
        with reading(self._engine) as connection:
            return [CaseSummary.model_validate(dict(row)) for row in connection.execute(query).mappings()]

    def count(self, search: str = "", status: CaseStatus | None = None) -> int:
        """See `Store.count`."""
        with reading(self._engine) as connection:
            return connection.scalar(_matching(select(func.count()).select_from(cases), search, status)) or 0

    def delete(self, case_id: str) -> None:
        """See `Store.delete`. Its jobs go too, and texts and images that no other case claims."""
        case_id = storable_text(case_id)
        with writing(self._engine) as connection:
            released = [(kind, kind.claimed(connection, case_id)) for kind in KINDS]
            if not connection.execute(delete(cases).where(cases.c.id == case_id)).rowcount:
                raise CaseNotFoundError("There is no such case.")
            connection.execute(delete(jobs).where(jobs.c.case_id == case_id))
            for kind, claimed in released:
                kind.remove(connection, claimed)
                kind.remove_left_over(connection, datetime.now(UTC))

    def put_text(self, text: str) -> str:
        """See `Store.put_text`."""
        sha256 = text_sha256(text)
        with writing(self._engine) as connection:
            TEXTS.put(connection, sha256, text.encode("utf-8", "surrogatepass"), datetime.now(UTC))
        return sha256

    def text(self, sha256: str) -> str:
        """See `Store.text`."""
        with reading(self._engine) as connection:
            stored = TEXTS.get(connection, sha256)
        if stored is None:
            raise StoreError("The text of this source is no longer kept.", "Gather the sources again.")
        return stored.decode("utf-8", "surrogatepass")

    def put_image(self, content: bytes) -> str:
        """See `Store.put_image`."""
        sha256 = hashlib.sha256(content).hexdigest()
        with writing(self._engine) as connection:
            IMAGES.put(connection, sha256, content, datetime.now(UTC))
        return sha256

    def image(self, sha256: str) -> bytes:
        """See `Store.image`."""
        with reading(self._engine) as connection:
            stored = IMAGES.get(connection, sha256)
        if stored is None:
            raise StoreError("This image is no longer kept.", "Attach it again.")
        return stored


def _document_of(case_id: str) -> Select[str]:
    # Ids come from the address bar too, with whatever characters.
    return select(cases.c.document).where(cases.c.id == storable_text(case_id))


def _read(connection: Connection, query: Select[str]) -> Case:
    document = connection.scalar(query)
    if document is None:
        raise CaseNotFoundError("There is no such case.")
    try:
        return Case.model_validate_json(document)
    except ValidationError as error:
        raise StoreError(
            "This case was saved in a form that this version of CrowdNotes cannot read.", "Update CrowdNotes."
        ) from error


def _append_events(connection: Connection, case: Case, known: int) -> None:
    if rows := event_rows(case, known):
        connection.execute(insert(events), rows)


def _claim(connection: Connection, case: Case, before: Case | None = None) -> None:
    """Claim the texts and images that the case needs, and let go of those that it needed before."""
    for kind, needs in ((TEXTS, text_hashes), (IMAGES, image_hashes)):
        kind.claim(connection, case.id, needs(case), needs(before) if before else set(), datetime.now(UTC))


def _matching(query: Select[Any], search: str, status: CaseStatus | None) -> Select[Any]:
    needle = folded(search.strip()[:_NEEDLE_CHARACTERS])
    if needle:
        query = query.where(cases.c.search.contains(needle, autoescape=True))
    if status is not None:
        query = query.where(cases.c.status == status.value)
    return query
