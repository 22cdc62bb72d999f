"""Jobs on worker threads of this process: steps in order, each change on record at once, stopped when asked."""

from __future__ import annotations

import atexit
import logging
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Engine

from crowdnotes.domain import PROGRAM, Person
from crowdnotes.errors import ConfigurationError, CrowdNotesError, JobCancelled, JobError, StoreError
from crowdnotes.jobs.records import (
    HEARTBEAT_SECONDS,
    JobRecord,
    JobState,
    JobTable,
    Step,
    StepRecord,
    StepState,
    running_here,
    this_process,
)
from crowdnotes.logs import log_context, span
from crowdnotes.storage.tables import storable_text

_logger = logging.getLogger(__name__)

StepMaker = Callable[[JobRecord], Sequence[Step]]
"""Makes a job's steps from its record. What it raises fails the job."""

_MIN_SECONDS_BETWEEN_COUNTS = 0.2  # what a person can follow; more would only make others wait for the database


class JobRun:
    """The run of one job, whose steps `make` makes; the steps get it as their `Progress`.

    `asked_to_stop` returns as what the job shall end, once another process asked it to stop. `lost`: another process
    took the job over.
    """

    def __init__(
        self,
        table: JobTable,
        record: JobRecord,
        make: StepMaker,
        clock: Callable[[], datetime],
        asked_to_stop: Callable[[], JobState | None] = lambda: None,
    ) -> None:
        self.ended = threading.Event()
        self.lost = False
        self._table = table
        self._record = record
        self._make = make
        self._steps: Sequence[Step] = ()
        self._clock = clock
        self._asked_to_stop = asked_to_stop
        self._index = 0
        self._began: float | None = None  # of the present step, once it is at work
        self._saved = 0.0
        self._stopped_as: JobState | None = None

    def stop(self, state: JobState) -> None:
        """Ask the run to stop at its next look, and to end as `state`: CANCELLED or INTERRUPTED."""
        self._stopped_as = self._stopped_as or state

    def count(self, done: int, total: int, note: str = "") -> None:
        """See `Progress.count`. Kept some five times a second; a database that is busy then loses only the count."""
        self._set(done=done, total=total, note=storable_text(note), seconds=self._seconds())
        if time.monotonic() - self._saved >= _MIN_SECONDS_BETWEEN_COUNTS:
            try:
                self._save()
            except StoreError:
                _logger.warning("The progress of a job could not be saved; it goes on.", exc_info=True)
        self.check()

    def check(self) -> None:
        """See `Progress.check`."""
        stop_as = self._asked_to_stop()
        if stop_as is not None:  # to write None back would undo a stop that was asked for in this moment
            self.stop(stop_as)
        if self._stopped_as is not None:
            raise JobCancelled("The work was stopped.")

    @property
    def state(self) -> JobState:
        """Its state, or how it ended."""
        return self._record.state

    def run(self) -> None:
        """Do the steps; never raises. Whatever happens is on record, unless the database itself fails."""
        with log_context(self._record.case_id, self._record.id):
            _logger.info("A job began: %s", self._record.kind)
            try:
                self._end(self._do_steps())
            except Exception:
                # Without an end on record the job reads INTERRUPTED, which is what happened.
                _logger.exception("The end of a job could not be saved.")
            finally:
                _logger.info("A job ended: %s, %s", self._record.kind, self.state)
                self.ended.set()

    def _do_steps(self) -> JobState:
        try:
            self._steps = self._make(self._record)
            records = tuple(StepRecord(name=step.name, title=step.title) for step in self._steps)
            self._record = self._record.replace(steps=records)
            for index, step in enumerate(self._steps):
                self._index, self._began = index, None
                self._do(step)
        except JobCancelled as stop:
            self._set(state=StepState.CANCELLED, next_step=stop.next_step, seconds=self._seconds())
            return self._stopped_as or JobState.CANCELLED
        except CrowdNotesError as error:
            _logger.warning("A step failed: %s", self._record.steps[self._index].name, exc_info=True)
            self._fail(error.message, error.next_step)
            return JobState.FAILED
        except Exception as error:
            if _is_shutdown_error(error):
                self._set(state=StepState.CANCELLED, seconds=self._seconds())
                return JobState.INTERRUPTED
            title = self._record.steps[self._index].title
            _logger.exception("A step failed unexpectedly: %s", self._record.steps[self._index].name)
            self._fail(
                f"Something went wrong in “{title}”. The log has the details.",
                "Try again. Finished steps are kept.",
            )
            return JobState.FAILED
        return JobState.DONE

    def _do(self, step: Step) -> None:
        self.check()
        kept = step.finished()
        if kept is not None:
            self._set(state=StepState.KEPT, outcome=kept.outcome, summary=storable_text(kept.summary))
            self._save()
            return
        self._began = time.monotonic()
        self._record = self._record.replace(state=JobState.RUNNING)
        self._set(state=StepState.RUNNING)
        self._save()
        job = self._record
        with span(f"stage {step.name}", case=job.case_id, job=job.id, kind=job.kind):
            ended = step.run(self)
        _logger.info("A step ended: %s, %.2f s", step.name, self._seconds())
        summary, seconds = storable_text(ended.summary), self._seconds()
        self._set(state=StepState.DONE, outcome=ended.outcome, summary=summary, note="", seconds=seconds)
        self._save()

    def _fail(self, error: str, next_step: str) -> None:
        self._set(
            state=StepState.FAILED,
            error=storable_text(error),
            next_step=storable_text(next_step),
            seconds=self._seconds(),
        )

    def _set(self, **changes: object) -> None:
        steps: list[StepRecord] = list(self._record.steps)
        steps[self._index] = steps[self._index].replace(**changes)
        self._record = self._record.replace(steps=tuple(steps))

    def _save(self) -> None:
        self._record = self._record.replace(updated_at=self._clock())
        self._saved = time.monotonic()
        if not self._table.save(self._record):
            self.lost = True
            self.stop(JobState.INTERRUPTED)  # the case was deleted, or another process took over

    def _end(self, state: JobState) -> None:
        if state is JobState.INTERRUPTED and self._record.queue_id is not None:
            state = JobState.QUEUED  # another worker gets it
        self._record = self._record.replace(state=state)
        self._save()

    def _seconds(self) -> float:
        return 0.0 if self._began is None else round(time.monotonic() - self._began, 3)


def _is_shutdown_error(error: Exception) -> bool:
    """Return whether a step failed because the program is ending: no pool takes work then."""
    refused = isinstance(error, RuntimeError) and "interpreter shutdown" in str(error)
    return refused or not threading.main_thread().is_alive()


_POLL_SECONDS = 0.1  # between two looks at a job of another process
_CLOSE_TIMEOUT_SECONDS = 5.0  # a step that does not look at its Progress for longer is left behind


class JobRunner:
    """Does long work on threads of this process: `workers` jobs at once, the others in line.

    Threads live only while there is work. See `QueuedRunner` for work on cases beyond one process.
    Raises JobError, and StoreError and its kinds.
    """

    is_shared = False  # with other processes, which do what is asked for here

    def __init__(
        self, engine: Engine, workers: int = 2, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self.engine = engine
        self._table = JobTable(engine)
        self._workers = workers
        self._clock = clock
        self._lock = threading.Lock()
        self._runs: dict[str, JobRun] = {}
        self._line: deque[str] = deque()
        self._busy = 0
        self._heart: threading.Thread | None = None
        self._closed = threading.Event()
        # Threads are daemons, so that a step that hangs cannot keep the program from ending.
        atexit.register(self.close)

    def start(self, case_id: str, kind: str, steps: Sequence[Step], *, by: Person = PROGRAM) -> JobRecord:
        """Queue steps for this process, and return the job. Raises JobError if the case has a job under way anywhere.

        To resume or retry, start the same steps again: those whose `finished` says so are kept.
        """
        return JobRunner._accept(self, self._build_record(case_id, kind, steps, by), lambda _: steps)

    def start_anywhere(
        self, case_id: str, kind: str, steps: Sequence[Step], make: StepMaker, *, by: Person, **what: Any
    ) -> JobRecord:
        """Do the same as `start` for work that another process may do: `make` makes its steps from the record alone.

        `what` are the other fields of the `JobRecord`, as its engine and model.
        """
        return self._accept(self._build_record(case_id, kind, steps, by, **what), make)

    def has_workers(self) -> bool:
        """Return whether a worker is running that takes queued jobs."""
        return True

    def _build_record(self, case_id: str, kind: str, steps: Sequence[Step], by: Person, **what: Any) -> JobRecord:
        now = self._clock()
        return JobRecord(
            id=uuid.uuid4().hex,
            case_id=case_id,
            kind=kind,
            state=JobState.QUEUED,
            steps=tuple(StepRecord(name=step.name, title=step.title) for step in steps),
            started_at=now,
            updated_at=now,
            owner=this_process(),
            by=by.name,
            by_key=by.key,
            **what,
        )

    def _accept(self, record: JobRecord, make: StepMaker) -> JobRecord:
        if self._closed.is_set():
            raise JobError("CrowdNotes is closing.", "Start it again, then resume.")
        running_here.add(record.id)
        try:
            self._table.add(record)
        except BaseException:
            running_here.discard(record.id)
            raise
        self._enqueue(record.id, JobRun(self._table, record, make, self._clock))
        return record

    def get(self, job_id: str) -> JobRecord:
        """Return the job's newest record; JobError without one."""
        return self._table.get(job_id)

    def latest(self, case_id: str) -> JobRecord | None:
        """Return the job of the case that was started last."""
        return self._table.latest(case_id)

    def at_work(self, case_ids: Collection[str]) -> set[str]:
        """See `JobTable.at_work`."""
        return self._table.at_work(case_ids)

    def cancel(self, job_id: str) -> None:
        """Ask the job to stop; a running step does so at its next look at its Progress.

        In another process it takes until that one's next heartbeat.
        """
        self._table.request_cancel(job_id)
        self._stop(job_id, JobState.CANCELLED)

    def wait(self, job_id: str, timeout: float | None = None) -> JobRecord:
        """Return the job's record when it has ended, or after `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._lock:
            run = self._runs.get(job_id)
        if run is not None:
            run.ended.wait(timeout)
        while True:
            record = self.get(job_id)
            if not record.state.under_way or (deadline is not None and time.monotonic() >= deadline):
                return record
            time.sleep(_POLL_SECONDS)

    def close(self) -> None:
        """Stop all work and take no more; jobs under way end as INTERRUPTED. Waits a few seconds at most."""
        atexit.unregister(self.close)
        with self._lock:
            self._closed.set()
            runs, heart = dict(self._runs), self._heart
        deadline = time.monotonic() + _CLOSE_TIMEOUT_SECONDS
        for job_id in runs:
            self._stop(job_id, JobState.INTERRUPTED)
        for run in runs.values():
            run.ended.wait(max(0.0, deadline - time.monotonic()))
        if heart is not None:
            heart.join(max(0.0, deadline - time.monotonic()))

    def _enqueue(self, job_id: str, run: JobRun) -> None:
        with self._lock:
            if self._closed.is_set():
                run.stop(JobState.INTERRUPTED)
            self._runs[job_id] = run
            self._line.append(job_id)
            if self._busy < self._workers:
                self._busy += 1
                threading.Thread(target=self._work, name="job worker", daemon=True).start()
            if self._heart is None:
                self._heart = threading.Thread(target=self._beat, name="job heartbeat", daemon=True)
                self._heart.start()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._line:
                    self._busy -= 1
                    return
                job_id = self._line.popleft()
                run = self._runs[job_id]
            self._finish(job_id, run)

    def _finish(self, job_id: str, run: JobRun) -> None:
        try:
            run.run()
        finally:
            running_here.discard(job_id)
            with self._lock:
                del self._runs[job_id]

    def _stop(self, job_id: str, state: JobState) -> None:
        with self._lock:
            run = self._runs.get(job_id)
            waits = job_id in self._line
            if waits:
                self._line.remove(job_id)
        if run is not None:
            run.stop(state)
            if waits:  # no worker has it: it ends here and now
                self._finish(job_id, run)

    def _beat(self) -> None:
        while True:
            with self._lock:
                job_ids = list(self._runs)
                if not job_ids or self._closed.is_set():
                    self._heart = None
                    return
            try:
                cancelled, lost = self._table.beat(job_ids)
            except StoreError:
                _logger.warning("A heartbeat could not be saved; the next one may.", exc_info=True)
            else:
                for job_id in cancelled:
                    self._stop(job_id, JobState.CANCELLED)
                for job_id in lost:
                    self._stop(job_id, JobState.INTERRUPTED)
            self._closed.wait(HEARTBEAT_SECONDS)


def require_workers(workers: int) -> None:
    """Raise ConfigurationError where no process would do the work of an app on SQLite."""
    if not workers:
        raise ConfigurationError(
            "CROWDNOTES_WORKERS cannot be 0 with SQLite: the app does the work itself.",
            "Set it to 1 or more, or use PostgreSQL and `crowdnotes worker`.",
        )
