"""Where cases are stored: whole, with atomic changes and an audit trail that only grows.

What a text may hold. The document and the texts of sources keep every character. Two kinds cannot be kept everywhere:
NUL in PostgreSQL's text columns and a lone surrogate in any UTF-8. So in the columns made for listing and searching
both become U+FFFD, and a lone surrogate becomes U+FFFD in the document too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic_core import PydanticSerializationError
from sqlalchemy import ColumnElement, Connection, Engine, Select, delete, false, func, insert, or_, select, true, update
from sqlalchemy.exc import IntegrityError

from crowdnotes.cases.review_queue import Queue, save_queue_row
from crowdnotes.domain import (
    ALLOWED,
    DOCUMENT_VERSION,
    PROGRAM,
    QUEUE_STATES,
    Act,
    Actor,
    Case,
    CaseState,
    CaseStatus,
    CaseSummary,
    DecisionKind,
    DeskState,
    Mode,
    Person,
    Relationship,
    Tombstone,
    upgraded,
    version_of,
)
from crowdnotes.errors import CaseNotFoundError, NewerCaseError, StoreError
from crowdnotes.jobs.records import Fence
from crowdnotes.storage.database import insert_into, now_of, reading, writing
from crowdnotes.storage.tables import cases, contents, jobs, queue, storable_text, tombstones
from crowdnotes.text.tokens import folded, search_parts

_MAX_EXCERPT_CHARACTERS = 160
_MAX_SEARCH_CHARACTERS = 1_000  # SQLite refuses patterns over 50,000 bytes


@dataclass(frozen=True, slots=True)
class CaseOwnership:
    """What is known of a case without reading it (see `domain.Owned`); `held_by` is the moderator who claimed it."""

    owner_key: str | None
    shared: bool
    recorded_answers: bool = False
    held_by: str = ""


class Store:
    """Cases, their sources' texts and their posts' images, in a database opened by `storage.database.open_database`.

    Safe for threads and processes. Raises StoreError and its kinds, nothing else.
    """

    def __init__(self, engine: Engine, fence: Fence | None = None) -> None:
        self._engine = engine
        self.queue = Queue(engine)
        self._fence = fence

    def with_fence(self, fence: Fence | None) -> Store:
        """Return the same store for a job: saving is refused, by JobCancelled, once another took the job over."""
        return Store(self._engine, fence)

    @property
    def job_id(self) -> str:
        """The job that saves; "" when a person does."""
        return self._fence.job_id if self._fence is not None else ""

    def add(self, case: Case, images: Sequence[bytes] = ()) -> Case:
        """Store a new case and the images of its post, and return it as stored."""
        case, row = case_row(case)
        with writing(self._engine) as connection:
            try:
                connection.execute(insert(cases).values(row))
            except IntegrityError as error:
                raise StoreError("A case with this id already exists.") from error
            for content in images:
                _insert_content(connection, case.id, content)
            save_queue_row(connection, case)
        return case

    def get(self, case_id: str) -> Case:
        """Return the newest version; CaseNotFoundError without one."""
        with reading(self._engine) as connection:
            return _load_case(connection, _select_document(case_id))

    def update(self, case_id: str, change: Callable[[Case], Case], images: Sequence[bytes] = ()) -> Case:
        """Apply `change` to the newest version, store the result as the next one, and return it.

        No other change comes between: `change` must be quick, and what it raises undoes all. If it returns the very
        case it got, nothing is written. It also sets `updated_at`. `images` are stored with a post that has them now;
        images that it has no longer are removed.
        """
        with writing(self._engine) as connection:
            old = read_case(connection, case_id)
            if self._fence is not None:
                self._fence.hold(connection)
            new = change(old)
            if new is old:
                return old
            if new.id != old.id or new.events[: len(old.events)] != old.events:
                raise ValueError("a change may neither rename a case nor rewrite its audit trail")
            new, row = case_row(new.replace(version=old.version + 1))
            connection.execute(update(cases).where(cases.c.id == old.id).values(row))
            for content in images:
                _insert_content(connection, case_id, content)
            gone = {image.sha256 for image in old.post.images} - {image.sha256 for image in new.post.images}
            save_queue_row(connection, new)
            if gone:
                left = delete(contents).where(contents.c.case_id == case_id, contents.c.sha256.in_(gone))
                connection.execute(left)
        return new

    def list(
        self,
        search: str = "",
        state: CaseState | None = None,
        limit: int | None = 200,
        offset: int = 0,
        *,
        reader: Actor | None = None,
        whose: Relationship | str | None = None,
    ) -> list[CaseSummary]:
        """Return the cases, the newest change first; all words of `search` are in the post or the draft, see
        `text.tokens`.

        Only those that `reader` may read; with None all. `whose`: the reader's own, shared ones, or those of the person
        with that `Person.key`.
        """
        columns = [cases.c[name].label(name) for name in CaseSummary.model_fields]
        query = _filter_cases(select(*columns), search, state, reader, whose)
        query = query.order_by(cases.c.updated_at.desc(), cases.c.id.desc()).limit(limit).offset(offset)
        with reading(self._engine) as connection:
            return [CaseSummary.model_validate(dict(row)) for row in connection.execute(query).mappings()]

    def count(
        self,
        search: str = "",
        state: CaseState | None = None,
        *,
        reader: Actor | None = None,
        whose: Relationship | str | None = None,
    ) -> int:
        """Return how many `list` would return without a limit."""
        query = _filter_cases(select(func.count()).select_from(cases), search, state, reader, whose)
        with reading(self._engine) as connection:
            return connection.scalar(query) or 0

    def owners(self, reader: Actor) -> frozenset[str]:
        """Return the `Person.key` of everybody who began a case that the reader may read."""
        query = select(cases.c.owner).distinct().where(cases.c.owner.is_not(None), _filter_readable(reader))
        with reading(self._engine) as connection:
            return frozenset(connection.scalars(query))

    def delete(
        self, case_id: str, check: Callable[[CaseOwnership], None] = lambda _: None, *, by: Person = PROGRAM
    ) -> None:
        """Remove a case with its texts, images and jobs; CaseNotFoundError without one. What `check` raises stops it.

        An unreadable case can be removed too. A record stays: its id, who removed it, when.
        """
        case_id = storable_text(case_id)
        with writing(self._engine) as connection:
            kept = connection.execute(
                select(cases.c.owner, cases.c.shared).where(cases.c.id == case_id).with_for_update()
            ).first()
            if kept is None:
                raise CaseNotFoundError("There is no such case.")
            held = select(queue.c.holder_name).where(
                queue.c.case_id == case_id, queue.c.held_until > now_of(connection)
            )
            check(CaseOwnership(kept.owner, kept.shared, held_by=connection.scalar(held) or ""))
            remove_case(connection, case_id, by)

    def delete_decided_before(self, before: datetime) -> int:
        """Remove the cases that were decided before then, as `delete` does; return how many."""
        old = select(cases.c.id).where(cases.c.decision.is_not(None), cases.c.created_at < before)
        with reading(self._engine) as connection:
            ids = list(connection.scalars(old))
        gone = 0
        for case_id in ids:
            with writing(self._engine) as connection:
                document = connection.scalar(_select_document(case_id).with_for_update())
                decision = json.loads(document)["decision"] if document else None
                if decision is not None and datetime.fromisoformat(decision["at"]) < before:
                    remove_case(connection, case_id, PROGRAM)
                    gone += 1
        return gone

    def forget(self, issuer: str, before: datetime) -> int:
        """Remove what people of that issuer left unchanged since then, without a trace; return how many cases."""
        old = select(cases.c.id).where(cases.c.owner.startswith(f"{issuer} ", autoescape=True))
        old = old.where(cases.c.updated_at < before)
        with writing(self._engine) as connection:
            gone = list(connection.scalars(old))
            connection.execute(delete(jobs).where(jobs.c.case_id.in_(gone)))
            connection.execute(delete(cases).where(cases.c.id.in_(gone)))
        return len(gone)

    def tombstones(self, limit: int = 200) -> Sequence[Tombstone]:
        """Return what was deleted, the newest first."""
        newest = select(tombstones).order_by(tombstones.c.deleted_at.desc()).limit(limit)
        with reading(self._engine) as connection:
            return [Tombstone.model_validate(dict(row)) for row in connection.execute(newest).mappings()]

    def put_text(self, case_id: str, text: str) -> str:
        """Store a source's text for a case; its sha256 (`domain.text_sha256`) finds it again.

        Raises CaseNotFoundError without the case.
        """
        with writing(self._engine) as connection:
            try:
                sha256 = _insert_content(connection, case_id, text.encode("utf-8", "surrogatepass"))
            except IntegrityError as error:
                raise CaseNotFoundError("There is no such case.") from error
            if self._fence is not None:
                self._fence.hold(connection)
        return sha256

    def has_text(self, sha256: str) -> bool:
        """Return whether a text is stored, without reading it."""
        with reading(self._engine) as connection:
            there = select(contents.c.sha256).where(contents.c.sha256 == sha256).limit(1)
            return connection.scalar(there) is not None

    def text(self, sha256: str) -> str:
        """Return the exact text; StoreError if it is not stored."""
        stored = self._content(sha256)
        if stored is None:
            raise StoreError("We no longer have the text of this source.", "Search again.")
        return stored.decode("utf-8", "surrogatepass")

    def image(self, sha256: str) -> bytes:
        """Return the exact bytes; StoreError if they are not stored."""
        stored = self._content(sha256)
        if stored is None:
            raise StoreError("We no longer have this image.", "Attach it again.")
        return stored

    def _content(self, sha256: str) -> bytes | None:
        with reading(self._engine) as connection:
            return connection.scalar(select(contents.c.content).where(contents.c.sha256 == sha256).limit(1))


def remove_case(connection: Connection, case_id: str, by: Person) -> None:
    """Remove a case with its texts, images and jobs; its id, who removed it and when stay on record."""
    connection.execute(delete(cases).where(cases.c.id == case_id))
    connection.execute(delete(jobs).where(jobs.c.case_id == case_id))
    stone = {"case_id": case_id, "deleted_at": now_of(connection), "by": by.name, "by_key": by.key}
    connection.execute(delete(tombstones).where(tombstones.c.case_id == case_id))
    connection.execute(insert(tombstones).values(stone))


def _insert_content(connection: Connection, case_id: str, content: bytes) -> str:
    sha256 = hashlib.sha256(content).hexdigest()
    row = insert_into(connection, contents).values(case_id=case_id, sha256=sha256, content=content)
    connection.execute(row.on_conflict_do_nothing())
    return sha256


def case_row(case: Case) -> tuple[Case, dict[str, object]]:
    """Return the case as it can be stored, and its row in the table of cases."""
    try:
        document = case.model_dump_json()
    except PydanticSerializationError:  # a lone surrogate: rare, so the case is searched only then
        case = Case.model_validate(_replace_surrogates(case.model_dump()))
        document = case.model_dump_json()
    return case, {
        "id": case.id,
        "version": case.version,
        "created_at": case.created_at,
        "updated_at": case.updated_at,
        "status": case.status.value,
        "decision": case.decision.kind.value if case.decision else None,
        "overrides": len(case.decision.overrides) if case.decision else 0,
        "mode": case.mode.value,
        "post_excerpt": _cut_excerpt(case.post.text or case.post.url or ""),
        "note_excerpt": _cut_excerpt(case.draft.text if case.draft else ""),
        "supernote": case.supernote is not None,
        "owner": case.owner_key,
        "shared": case.shared,
        "desk": case.desk_state.value,
        "outcome_line": _cut_excerpt(case.outcome_line),
        "search": storable_text(
            folded(f"{case.post.whole_text or case.post.url}\n{case.draft.text if case.draft else ''}")
        ),
        "document": document,
    }


def _cut_excerpt(text: str) -> str:
    beginning = " ".join(text[: 4 * _MAX_EXCERPT_CHARACTERS].split())
    if len(beginning) > _MAX_EXCERPT_CHARACTERS:
        cut = beginning[: _MAX_EXCERPT_CHARACTERS - 1]
        words = cut.rsplit(" ", 1)[0]
        beginning = (words if len(words) > _MAX_EXCERPT_CHARACTERS // 2 else cut).rstrip(" ,;:.") + "…"
    return storable_text(beginning)


def _replace_surrogates(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {key: _replace_surrogates(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_replace_surrogates(item) for item in value]
    return value


def _select_document(case_id: str) -> Select[str]:
    # Ids come from the address bar too, with any characters.
    return select(cases.c.document).where(cases.c.id == storable_text(case_id))


def read_case(connection: Connection, case_id: str) -> Case:
    """Return the newest version and lock it until the transaction ends; raises as `Store.get`."""
    return _load_case(connection, _select_document(case_id).with_for_update())


def _load_case(connection: Connection, query: Select[str]) -> Case:
    document = connection.scalar(query)
    if document is None:
        raise CaseNotFoundError("There is no such case.")
    try:
        stored = json.loads(document)
        if version_of(stored) > DOCUMENT_VERSION:
            raise NewerCaseError("A newer version of CrowdNotes saved this case.")
        return Case.model_validate(upgraded(stored))
    except (ValueError, TypeError, AttributeError, LookupError) as error:  # pydantic's error is a ValueError
        raise StoreError("This version of CrowdNotes cannot read this case.", "Update CrowdNotes.") from error


def _filter_cases(
    query: Select[Any],
    search: str,
    state: CaseState | None,
    reader: Actor | None,
    whose: Relationship | str | None,
) -> Select[Any]:
    # A status that only a newer program knows is not listed: the case could not be opened either.
    query = query.where(cases.c.status.in_(list(CaseStatus)), cases.c.mode.in_(list(Mode)))
    query = query.where(cases.c.desk.in_(list(DeskState)))
    query = query.where(cases.c.decision.is_(None) | cases.c.decision.in_(list(DecisionKind)))
    for part in search_parts(search.strip()[:_MAX_SEARCH_CHARACTERS]):
        query = query.where(cases.c.search.contains(storable_text(part), autoescape=True))
    if isinstance(state, DecisionKind):
        query = query.where(cases.c.decision == state.value)
    elif isinstance(state, DeskState):
        query = query.where(cases.c.desk == state.value)
    elif state is not None:
        query = query.where(cases.c.status == state.value, cases.c.desk.not_in(list(QUEUE_STATES)))
    if reader is None:
        return query
    if whose is not None:
        owner = reader.key if whose is Relationship.OWN else whose
        query = query.where(cases.c.shared if whose is Relationship.SHARED else cases.c.owner == owner)
    return query.where(_filter_readable(reader))


def _filter_readable(reader: Actor) -> ColumnElement[bool]:
    """Return the condition of `domain.may` for reading, from the same table."""
    standings = ALLOWED[Act.READ][reader.role]
    if Relationship.OTHER in standings:
        return true()
    is_own = cases.c.owner == reader.key
    ways = {Relationship.PRACTICE: is_own, Relationship.OWN: is_own, Relationship.SHARED: cases.c.shared}
    return or_(false(), *(ways[how] for how in standings))
