"""Where cases are kept: whole, with every change atomic and the audit trail growing only.

What a text may hold. The document and the texts of sources keep every character. Two kinds cannot be
kept everywhere: NUL in PostgreSQL's text columns and a lone surrogate in any UTF-8. So in the columns
made for listing and searching both read U+FFFD, and a lone surrogate reads U+FFFD in the document too.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from pydantic_core import PydanticSerializationError
from sqlalchemy import ColumnElement, Connection, Engine, Select, Table, delete, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from crowdnotes.domain import (
    DOCUMENT_VERSION,
    Case,
    CaseStatus,
    CaseSummary,
    DecisionKind,
    Mode,
    text_sha256,
    upgraded,
    version_of,
)
from crowdnotes.errors import CaseNotFoundError, NewerCaseError, StoreError
from crowdnotes.storage.database import reading, writing
from crowdnotes.storage.tables import case_images, case_texts, cases, events, images, jobs, source_texts, storable_text

_UNCLAIMED_KEPT = timedelta(days=1)  # a run that was killed resumes sooner

Claimed = tuple[str, datetime | None]  # a sha256, and since when the case claims it (None: long ago)


@dataclass(frozen=True, slots=True)
class ContentTable:
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


TEXTS = ContentTable(source_texts, "text", case_texts)
IMAGES = ContentTable(images, "content", case_images)
CONTENT_TABLES = (TEXTS, IMAGES)


_EXCERPT_CHARACTERS = 160


def case_row(case: Case) -> tuple[Case, dict[str, object]]:
    """The case as it can be kept (see `store`), and its row in the table of cases."""
    try:
        document = case.model_dump_json()
    except PydanticSerializationError:  # a lone surrogate; rare, so only then is the case walked through
        case = Case.model_validate(_without_surrogates(case.model_dump()))
        document = case.model_dump_json()
    return case, {
        "id": case.id,
        "version": case.version,
        "created_at": case.created_at,
        "updated_at": case.updated_at,
        "status": case.status.value,
        "decision": case.decision.kind.value if case.decision else None,
        "mode": case.mode.value,
        "post_excerpt": _excerpt(case.post.text),
        "search": folded(f"{case.post.whole_text}\n{case.draft.text if case.draft else ''}"),
        "document": document,
    }


def event_rows(case: Case, known: int) -> list[dict[str, object]]:
    """Rows of the audit trail for the events after the first `known`."""
    return [
        {
            "case_id": case.id,
            "seq": seq,
            "at": event.at,
            "by": storable_text(event.by),
            "kind": storable_text(event.kind),
            "detail": storable_text(event.detail),
        }
        for seq, event in enumerate(case.events[known:], start=known + 1)
    ]


def text_hashes(case: Case) -> set[str]:
    """The source texts that the case needs, those of replaced evidence included."""
    sets = (case.evidence, *(earlier.evidence for earlier in case.earlier_evidence))
    gathered = [item.source for evidence in sets for item in evidence]
    looked_at = [source for asked in case.follow_ups for source in asked.sources]
    return {source.text_sha256 for source in (*case.sources, *gathered, *looked_at) if source.text_sha256}


def image_hashes(case: Case) -> set[str]:
    """The images that the case needs."""
    return {image.sha256 for image in case.post.images}


def folded(text: str) -> str:
    """`text` for searching: in one case of letters and one form of each character."""
    return storable_text(unicodedata.normalize("NFKC", text).casefold())


def _excerpt(text: str) -> str:
    beginning = " ".join(text[: 4 * _EXCERPT_CHARACTERS].split())
    if len(beginning) > _EXCERPT_CHARACTERS:
        cut = beginning[: _EXCERPT_CHARACTERS - 1]
        words = cut.rsplit(" ", 1)[0]
        beginning = (words if len(words) > _EXCERPT_CHARACTERS // 2 else cut).rstrip(" ,;:.") + "…"
    return storable_text(beginning)


def _without_surrogates(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {key: _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_without_surrogates(item) for item in value]
    return value


_NEEDLE_CHARACTERS = 1_000  # SQLite refuses patterns over 50,000 bytes; nobody types as much as this


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
    """The store in a database opened by `storage.database.open_database`; safe for threads and processes."""

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
            released = [(kind, kind.claimed(connection, case_id)) for kind in CONTENT_TABLES]
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
        stored = json.loads(document)
        if version_of(stored) > DOCUMENT_VERSION:
            raise NewerCaseError("This case was saved by a newer version of CrowdNotes than this one.")
        return Case.model_validate(upgraded(stored))
    except (ValueError, TypeError, AttributeError, LookupError) as error:  # pydantic's error is a ValueError
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
    # What only a newer program has a word for is not listed: it could not be opened either.
    query = query.where(cases.c.status.in_(list(CaseStatus)), cases.c.mode.in_(list(Mode)))
    query = query.where(cases.c.decision.is_(None) | cases.c.decision.in_(list(DecisionKind)))
    needle = folded(search.strip()[:_NEEDLE_CHARACTERS])
    if needle:
        query = query.where(cases.c.search.contains(needle, autoescape=True))
    if status is not None:
        query = query.where(cases.c.status == status.value)
    return query
