"""Jobs on PostgreSQL: carried by Procrastinate to whichever worker is free, on as many machines as there are.

Procrastinate keeps who waits and who works, its heartbeats and the order to stop; our table of jobs keeps what is to be
done and how it goes. Three things are added to it here. A worker wrongly taken for dead still ends "its" job in
Procrastinate, though another worker took it over: so a job that is under way and no longer in the queue is put
in again (`_put_back`). All times are the database's: a retry is due at once, never at a time of some machine's clock.
And a worker stops when another version of the program has changed the tables.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import psycopg
from procrastinate import App, JobContext, PsycopgConnector, RetryDecision, SyncPsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.job_context import AbortReason
from procrastinate.jobs import Job
from procrastinate.retry import BaseRetryStrategy
from psycopg_pool import PoolTimeout
from sqlalchemy import Connection, Engine, make_url, select, text, update

from crowdnotes.errors import ConfigurationError, CrowdNotesError, DatabaseNotReadyError
from crowdnotes.jobs.records import JobRecord, JobState, JobTable, this_process
from crowdnotes.jobs.runner import JobRun, JobRunner, StepMaker
from crowdnotes.storage.database import connect, reading, require_newest, writing
from crowdnotes.storage.tables import jobs

_logger = logging.getLogger(__name__)

SILENCE_SECONDS = 30.0  # without a heartbeat a worker is dead, and another takes over its jobs
_TASK_NAME = "crowdnotes"
_DUE_AT_ONCE = datetime(2000, 1, 1, tzinfo=UTC)  # by any machine's clock
_WAIT_SECONDS = 2.0  # between two looks at whether the database is there
_POLL_SECONDS = 2.0  # before a worker that lost the database tries again
_SHUTDOWN_SECONDS = 0.1  # steps stop at their next look, and other workers take up their jobs
_SWEEPER_LOCK_KEY = 0x63726F7764  # of the advisory lock: one worker looks after the dead at a time
_LIVE_WORKERS_SQL = (
    "SELECT count(*) FROM procrastinate_workers WHERE last_heartbeat > now() - make_interval(secs => :silence)"
)
_HAS_LIVE_WORKER_SQL = (
    "SELECT 1 FROM procrastinate_jobs j JOIN procrastinate_workers w ON w.id = j.worker_id"
    " WHERE j.id = :queue_id AND j.status = 'doing' AND w.last_heartbeat > now() - make_interval(secs => :silence)"
)
_NOT_IN_QUEUE_SQL = (
    "NOT EXISTS (SELECT 1 FROM procrastinate_jobs q WHERE q.id = jobs.queue_id AND q.status IN ('todo', 'doing'))"
)


class _GivenBackError(Exception):
    """The worker stops: another one takes the job up."""


class _RetryIfGivenBack(BaseRetryStrategy):
    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:  # noqa: ARG002
        return RetryDecision(retry_at=_DUE_AT_ONCE) if isinstance(exception, _GivenBackError) else None


class QueuedRunner(JobRunner):
    """Work on a case goes into the queue; other work, which is of this machine, is done as by `JobRunner`."""

    is_shared = True

    def __init__(self, engine: Engine, workers: int, clock: Callable[[], datetime]) -> None:
        super().__init__(engine, workers, clock)
        self._app = App(connector=SyncPsycopgConnector())  # never opened: it is given the transaction to work in

    def _accept(self, record: JobRecord, make: StepMaker) -> JobRecord:  # noqa: ARG002 - the worker that takes it makes them
        record = record.replace(owner="")
        return self._table.add(record, lambda connection: _defer_job(self._app, connection, record))

    def cancel(self, job_id: str) -> None:
        """See `JobRunner.cancel`; a job that nobody works on ends at once."""
        super().cancel(job_id)
        record = self.get(job_id)
        if record.queue_id is None or not record.state.under_way:
            return
        with writing(self.engine) as connection:
            manager, raw = self._app.job_manager, _driver_connection(connection)
            manager.cancel_job_by_id(record.queue_id, abort=True, delete_job=True, connection=raw)
            wanted = {"queue_id": record.queue_id, "silence": SILENCE_SECONDS}
            if connection.scalar(text(_HAS_LIVE_WORKER_SQL), wanted) is None:
                _end_as_cancelled(connection, self._table, record)

    def has_workers(self) -> bool:
        """Return whether any worker gave a sign of life lately; what kinds it takes is not known."""
        with reading(self.engine) as connection:
            return bool(connection.scalar(text(_LIVE_WORKERS_SQL), {"silence": SILENCE_SECONDS}))


def _defer_job(app: App, connection: Connection, record: JobRecord) -> int:
    """Put a job into the queue, in the transaction that records it; return its number there."""
    task = app.configure_task(
        _TASK_NAME, queue=record.kind, lock=record.case_id, connection=_driver_connection(connection)
    )
    return task.defer(job_id=record.id)


def _driver_connection(connection: Connection) -> Any:
    return connection.connection.driver_connection


def _end_as_cancelled(connection: Connection, table: JobTable, record: JobRecord) -> None:
    ended = record.replace(state=JobState.CANCELLED, fence=record.fence + 1)
    mine = (jobs.c.id == record.id, jobs.c.fence == record.fence, jobs.c.under_way)
    connection.execute(update(jobs).where(*mine).values(fence=ended.fence, **table.changing(ended)))


def wait_for_tables(url: str, report: Callable[[str], None]) -> None:
    """Wait until a PostgreSQL database is there with tables; report once why it waits. Changes nothing.

    Raises ConfigurationError where the tables are not of this very program.
    """
    engine, reported = connect(url), ""
    try:
        while engine.dialect.name == "postgresql":
            try:
                return require_newest(engine)
            except DatabaseNotReadyError as error:
                if str(error) != reported:
                    report(f"waiting for the database: {error}")
                reported = str(error)
            time.sleep(_WAIT_SECONDS)
    finally:
        engine.dispose()


class QueueWorker:
    """Takes jobs of these kinds (None: of all) out of the queue and does `slots` of them at once, until it is stopped.

    `make` makes their steps. `silence` seconds without a heartbeat are a worker's death, for all alike.
    """

    def __init__(
        self,
        engine: Engine,
        make: StepMaker,
        clock: Callable[[], datetime],
        *,
        slots: int,
        kinds: Sequence[str] | None = None,
        silence: float | None = None,
    ) -> None:
        self._engine = engine
        self._table = JobTable(engine)
        self._make = make
        self._clock = clock
        self._slots = slots
        self._kinds = kinds
        self._silence = silence or SILENCE_SECONDS
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = asyncio.Event()
        self._refused: CrowdNotesError | None = None
        self._sync = App(connector=SyncPsycopgConnector())
        self._app = App(connector=self._connector())
        self._app.task(name=_TASK_NAME, pass_context=True, retry=_RetryIfGivenBack())(self._perform)

    def run(self, *, heed_signals: bool = False) -> None:
        """Work in this thread until `stop`, or with `heed_signals` until SIGTERM or SIGINT.

        Raises ConfigurationError when the tables are of another version of the program, at once or later.
        """
        require_newest(self._engine)
        asyncio.run(self._run(heed_signals=heed_signals))
        if self._refused is not None:
            raise self._refused

    def stop(self) -> None:
        """Give back what is under way, and end; from any thread."""
        if self._loop is None:
            self._stopping.set()
        else:
            with suppress(RuntimeError):  # it has ended
                self._loop.call_soon_threadsafe(self._stopping.set)

    async def _run(self, *, heed_signals: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop.set_default_executor(ThreadPoolExecutor(self._slots + 2, thread_name_prefix="job worker"))
        for number in (signal.SIGTERM, signal.SIGINT) if heed_signals else ():
            self._loop.add_signal_handler(number, self._stopping.set)
        while not self._stopping.is_set():
            try:
                await self._work()
            except (ConnectorException, PoolTimeout, psycopg.Error, CrowdNotesError):
                _logger.warning("A worker lost the database; it tries again.", exc_info=True)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), _POLL_SECONDS)

    async def _work(self) -> None:
        async with self._app.open_async():
            tasks = [
                asyncio.create_task(self._stopping.wait()),
                asyncio.create_task(self._look_after_the_dead()),
                asyncio.create_task(
                    self._app.run_worker_async(
                        queues=self._kinds,  # type: ignore[arg-type] # None is the default: of all kinds
                        name=this_process(),
                        concurrency=self._slots,
                        fetch_job_polling_interval=_POLL_SECONDS,
                        abort_job_polling_interval=_POLL_SECONDS,
                        shutdown_graceful_timeout=_SHUTDOWN_SECONDS,
                        update_heartbeat_interval=self._silence / 6,
                        stalled_worker_timeout=self._silence,
                        delete_jobs="successful",
                        install_signal_handlers=False,
                    )
                ),
            ]
            try:
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            for task in done:
                task.result()

    def _connector(self) -> PsycopgConnector:
        address = make_url(self._engine.url).set(drivername="postgresql")
        return PsycopgConnector(
            conninfo=address.render_as_string(hide_password=False), min_size=2, max_size=6, timeout=10
        )

    def _perform(self, context: JobContext, job_id: str) -> None:
        try:
            require_newest(self._engine)
        except DatabaseNotReadyError as error:  # the worker itself finds out when it is back
            raise _GivenBackError from error
        except ConfigurationError as error:
            self._refused = error
            self.stop()
            raise _GivenBackError from error
        record = self._table.take(job_id, context.job.id or 0)
        if record is None:  # it ended, its case was deleted, or the queue carries it anew
            return
        run = JobRun(self._table, record, self._make, self._clock, lambda: _find_stop_request(context))
        run.run()
        if run.state is JobState.QUEUED and not run.lost:
            raise _GivenBackError

    async def _look_after_the_dead(self) -> None:
        while True:
            async with self._app.connector.pool.connection() as connection:  # type: ignore[attr-defined]
                found = await connection.execute("SELECT pg_try_advisory_xact_lock(%s)", [_SWEEPER_LOCK_KEY])
                if (await found.fetchone())[0]:
                    manager = self._app.job_manager
                    for job in await manager.get_stalled_jobs(seconds_since_heartbeat=self._silence):
                        with suppress(ConnectorException):  # it ended meanwhile
                            await manager.retry_job(job, retry_at=_DUE_AT_ONCE)
                    await asyncio.to_thread(self._put_back)
            await asyncio.sleep(self._silence / 3)

    def _put_back(self) -> None:
        """Put back jobs that are under way and that the queue has lost; see the head of this file."""
        lost = select(jobs).where(jobs.c.under_way, jobs.c.queue_id.is_not(None), text(_NOT_IN_QUEUE_SQL))
        with writing(self._engine) as connection:
            for row in connection.execute(lost.limit(100).with_for_update(skip_locked=True)).mappings().all():
                record = JobRecord.model_validate_json(row["document"])
                record = record.replace(fence=row["fence"])
                if row["cancel_asked"]:
                    _end_as_cancelled(connection, self._table, record)
                else:
                    queue_id = _defer_job(self._sync, connection, record)
                    connection.execute(update(jobs).where(jobs.c.id == record.id).values(queue_id=queue_id))


def _find_stop_request(context: JobContext) -> JobState | None:
    reason = context.abort_reason()
    if reason is None:  # an app that ends does not wait for its own worker's steps
        return None if threading.main_thread().is_alive() else JobState.INTERRUPTED
    return JobState.CANCELLED if reason is AbortReason.USER_REQUEST else JobState.INTERRUPTED
