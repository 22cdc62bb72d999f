"""Turns at a service that limits how often it is asked: in this process, or for all processes on one database."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, field

from sqlalchemy import Engine, select, update

from crowdnotes.storage.database import insert_into, now_of, writing
from crowdnotes.storage.tables import paces


@dataclass(slots=True)
class RateLimiter:
    """When the last requests began; of those under way, by a token, when they are given up; when the next may begin."""

    begun: list[float] = field(default_factory=list)
    under_way: dict[str, float] = field(default_factory=dict)
    held_until: float = 0.0


SharedRates = Callable[[], AbstractContextManager[tuple[RateLimiter, float]]]
"""Gives the turns, to be read and changed by nobody else meanwhile, and now in seconds."""


def local_rate_limiter(clock: Callable[[], float]) -> SharedRates:
    """Return the turns of this process."""
    turns, lock = RateLimiter(), threading.Lock()

    @contextmanager
    def book() -> Iterator[tuple[RateLimiter, float]]:
        with lock:
            yield turns, clock()

    return book


def shared_rate_limiter(engine: Engine, service: str) -> SharedRates:
    """Return the turns of all processes on that database, by its clock.

    `service` may be any text, and is not stored itself.
    """
    key = hashlib.sha256(service.encode(errors="replace")).hexdigest()
    mine = paces.c.service == key

    @contextmanager
    def book() -> Iterator[tuple[RateLimiter, float]]:
        with writing(engine) as connection:
            empty = {"service": key, "document": json.dumps(asdict(RateLimiter()))}
            connection.execute(insert_into(connection, paces).values(empty).on_conflict_do_nothing())
            kept = connection.execute(select(paces.c.document).where(mine).with_for_update()).scalar_one()
            turns = RateLimiter(**json.loads(kept))
            yield turns, now_of(connection).timestamp()
            connection.execute(update(paces).where(mine).values(document=json.dumps(asdict(turns))))

    return book
