"""The moderators' queue in the database: found, sorted and counted by narrow rows, one for each case."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Engine, Select, and_, delete, func, insert, or_, select, union_all

from crowdnotes.cases.blinding import (
    counted_readings,
    informed_keys,
    readers_disagree,
    waits_for_readers,
)
from crowdnotes.domain import (
    MAX_COUNTED_LINES,
    Case,
    Classification,
    DeskState,
    Order,
    Person,
    QueueItem,
    QueueQuery,
    QueueScope,
    turn_of,
)
from crowdnotes.storage.database import now_of, reading, writing
from crowdnotes.storage.tables import cases, presence, queue, storable_text

_Query = TypeVar("_Query", bound=Select[Any])
_PRESENCE_TIMEOUT = timedelta(seconds=40)  # an open page reports every 15 seconds


def save_queue_row(connection: Connection, case: Case) -> None:
    """Write what the queue knows of a case, inside the step that stores the case."""
    work = case.desk
    connection.execute(delete(queue).where(queue.c.case_id == case.id))
    if work.submitted_at is None:
        return
    # How often the notes on the post were rated is the only figure for how far a post spreads.
    ratings = sum(note.ratings.count for note in case.supernote.notes) if case.supernote else 0
    close, disagree = _is_close(case), readers_disagree(case)
    turn = turn_of(work.submitted_at, raised=work.raised, ratings=ratings, disagree=disagree, close=close)
    row = {
        "case_id": case.id,
        "state": case.desk_state.value,
        "submitted_at": work.submitted_at,
        "turn": turn,
        "owner": case.owner_key,
        "ratings": ratings,
        "close": close,
        "disagree": disagree,
        "several": len(work.all_readings) > 1,
        "raised": work.raised,
        "readers": waits_for_readers(case),
        "read_by": "".join(f"\n{reading.reader.key}\n" for reading in counted_readings(case))
        + "".join(f"\n!{key}\n" for key in informed_keys(case)),
        "holder": work.lease.holder.key if work.lease else None,
        "holder_name": work.lease.holder.name if work.lease else "",
        "held_until": work.lease.until if work.lease else None,
        "assigned": work.assigned.key if work.assigned else None,
        "assigned_name": work.assigned.name if work.assigned else "",
    }
    connection.execute(insert(queue).values(row))


class Queue:
    """What moderators may take, in a database opened by `storage.database.open_database`. Raises StoreError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def now(self) -> datetime:
        """Return the time of the database's clock, which leases go by."""
        with reading(self._engine) as connection:
            return now_of(connection)

    def items(self, who: Person, asked: QueueQuery, limit: int, offset: int = 0) -> list[QueueItem]:
        """Return the lines of a page, in order."""
        with reading(self._engine) as connection:
            # First select the ids of the page, so that only its wide rows are read.
            page = _select_page_of_ids(who, asked, now_of(connection), limit, offset).subquery()
            shown = [column for column in queue.c if column is not queue.c.several]
            rows = (
                select(*shown, cases.c.post_excerpt, cases.c.note_excerpt)
                .join(page, page.c.case_id == queue.c.case_id)
                .join(cases, cases.c.id == queue.c.case_id)
                .order_by(*_get_order_columns(asked.order, queue.c))
            )
            items = [QueueItem.model_validate(dict(row)) for row in connection.execute(rows).mappings()]
            # What readers and the jury found is hidden from a person who has not read the case.
            return [
                item if f"\n{who.key}\n" in item.read_by else item.replace(disagree=False, close=False)
                for item in items
            ]

    def count(self, who: Person, asked: QueueQuery) -> int:
        """Return how many lines there are; `MAX_COUNTED_LINES` where there are more, which nobody reads one by one."""
        with reading(self._engine) as connection:
            at = now_of(connection)
            some = [
                _filter_queue(select(queue.c.case_id), who, asked, at, state).limit(MAX_COUNTED_LINES)
                for state in asked.states
            ]
            found = sum(connection.scalar(select(func.count()).select_from(one.subquery())) or 0 for one in some)
            return min(found, MAX_COUNTED_LINES)

    def next_for(self, who: Person, *, without_own: bool, limit: int = 10) -> list[str]:
        """Return the ids of cases that the person may claim now: those assigned to them first, then by their turn."""
        mine = QueueQuery(QueueScope.MINE, without_own=without_own)
        free = QueueQuery(QueueScope.FREE, without_own=without_own)
        with reading(self._engine) as connection:
            at = now_of(connection)
            found: list[str] = []
            for asked in (mine, free):
                found += connection.scalars(
                    _select_page_of_ids(who, asked, at, limit, 0, _exclude_cases_read_by(who))
                ).all()
            return list(dict.fromkeys(found))

    def read_ids(self, limit: int) -> list[str]:
        """Return the ids of cases that a reader has finished, where two or more are asked to, the newest first."""
        read = select(queue.c.case_id).where(queue.c.several).order_by(queue.c.submitted_at.desc())
        with reading(self._engine) as connection:
            return list(connection.scalars(read.limit(limit)).all())

    # --- who has it open ---

    def seen(self, case_id: str, who: Person) -> list[str]:
        """Record that a person has a case open; return the names of others who have."""
        with writing(self._engine) as connection:
            at, mine = now_of(connection), presence.c.person == who.key
            of_case = presence.c.case_id == storable_text(case_id)
            connection.execute(
                delete(presence).where(or_(and_(of_case, mine), presence.c.seen_at < at - _PRESENCE_TIMEOUT))
            )
            if connection.scalar(select(cases.c.id).where(cases.c.id == storable_text(case_id))) is None:
                return []
            row = {"case_id": case_id, "person": who.key, "name": who.name, "seen_at": at}
            connection.execute(insert(presence).values(row))
            others = select(presence.c.name).where(of_case, presence.c.person != who.key).order_by(presence.c.name)
            return list(connection.scalars(others).all())

    def left(self, case_id: str, who: Person) -> None:
        """Record that a person does not have a case open any more."""
        of_them = and_(presence.c.case_id == storable_text(case_id), presence.c.person == who.key)
        with writing(self._engine) as connection:
            connection.execute(delete(presence).where(of_them))

    def looking(self, case_ids: list[str], who: Person) -> dict[str, list[str]]:
        """Return by case id the names of others who have it open now."""
        with reading(self._engine) as connection:
            found = select(presence.c.case_id, presence.c.name).where(
                presence.c.case_id.in_(case_ids),
                presence.c.person != who.key,
                presence.c.seen_at >= now_of(connection) - _PRESENCE_TIMEOUT,
            )
            names: dict[str, list[str]] = {}
            for case_id, name in connection.execute(found.order_by(presence.c.name)):
                names.setdefault(case_id, []).append(name)
            return names


def _exclude_cases_read_by(who: Person) -> ColumnElement[bool]:
    """Leave out cases that the person has read, or knows others' findings of, while others have to read them."""
    marks = (queue.c.read_by.contains(f"\n{mark}{who.key}\n", autoescape=True) for mark in ("", "!"))
    return or_(queue.c.readers == 0, ~or_(*marks))


def _get_order_columns(order: Order, columns: Any) -> tuple[Any, ...]:
    if order is Order.TURN:
        return columns.turn, columns.case_id
    if order is Order.OLDEST:
        return columns.submitted_at, columns.case_id
    return columns.submitted_at.desc(), columns.case_id.desc()


def _select_page_of_ids(
    who: Person, asked: QueueQuery, at: datetime, limit: int, offset: int, *further: ColumnElement[bool]
) -> Select[Any]:
    """Select the ids of a page. Each state is read by its index, no further than the page needs."""
    parts = []
    for state in asked.states:
        columns = select(queue.c.case_id, queue.c.turn, queue.c.submitted_at)
        part = _filter_queue(columns, who, asked, at, state).where(*further)
        # SQLite allows order and limit in a part of a union only as a subquery.
        part = part.order_by(*_get_order_columns(asked.order, queue.c)).limit(offset + limit)
        parts.append(select(part.subquery()))
    every = union_all(*parts).subquery()
    return select(every.c.case_id).order_by(*_get_order_columns(asked.order, every.c)).limit(limit).offset(offset)


def _filter_queue(query: _Query, who: Person, asked: QueueQuery, at: datetime, state: DeskState) -> _Query:
    query = query.where(queue.c.state == state.value)
    theirs = queue.alias()
    own = (select(theirs.c.case_id).where(column == who.key) for column in (theirs.c.assigned, theirs.c.holder))
    mine = queue.c.case_id.in_(union_all(*own))  # each part uses its index; an OR would scan all cases
    free = or_(queue.c.holder.is_(None), queue.c.holder == who.key, queue.c.held_until <= at)
    if asked.whose is QueueScope.MINE:
        query = query.where(mine, free)
    if asked.whose is QueueScope.FREE:
        query = query.where(
            free, or_(queue.c.assigned.is_(None), queue.c.assigned == who.key), _exclude_cases_read_by(who)
        )
    if asked.without_own:
        query = query.where(or_(queue.c.owner.is_(None), queue.c.owner != who.key))
    return query


def _is_close(case: Case) -> bool:
    """Return whether the simulated jury gives this very note a fair chance, neither a good nor a low one."""
    verdict = case.verdict_on(case.draft.sha256) if case.draft else None
    if verdict is None or verdict.means_nothing or case.classification is Classification.NOT_MISLEADING:
        return False
    return verdict.is_undecided
