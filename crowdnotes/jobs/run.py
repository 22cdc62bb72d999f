"""One job at work: its steps in order, each change of theirs on record at once, stopped when asked."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from datetime import datetime

from crowdnotes.errors import CrowdNotesError, JobCancelled, StoreError
from crowdnotes.jobs.records import JobRecord, JobState, Step, StepRecord, StepState
from crowdnotes.jobs.table import JobTable
from crowdnotes.storage.tables import storable_text

_logger = logging.getLogger(__name__)

_SECONDS_BETWEEN_COUNTS = 0.2  # what a person can follow; more would only make others wait for the database


class JobRun:
    """The run of one job; also the `Progress` that its steps are given."""

    def __init__(
        self, table: JobTable, record: JobRecord, steps: Sequence[Step], clock: Callable[[], datetime]
    ) -> None:
        self.ended = threading.Event()
        self._table = table
        self._record = record
        self._steps = steps
        self._clock = clock
        self._index = 0
        self._began = 0.0
        self._saved = 0.0
        self._stopped_as: JobState | None = None

    def stop(self, state: JobState) -> None:
        """Ask the run to stop at its next look, and to end as `state`: CANCELLED or INTERRUPTED."""
        self._stopped_as = self._stopped_as or state

    def count(self, done: int, total: int, note: str = "") -> None:
        """See `Progress.count`. Kept some five times a second; a database that is busy then loses only the count."""
        self._set(done=done, total=total, note=storable_text(note), seconds=self._seconds())
        if time.monotonic() - self._saved >= _SECONDS_BETWEEN_COUNTS:
            try:
                self._save()
            except StoreError:
                _logger.warning("The progress of a job could not be saved; it goes on.", exc_info=True)
        self.check()

    def check(self) -> None:
        """See `Progress.check`."""
        if self._stopped_as is not None:
            raise JobCancelled("The work was stopped.")

    def run(self) -> None:
        """Do the steps; never raises. Whatever happens is on record, unless the database itself fails."""
        try:
            self._end(self._do_steps())
        except Exception:
            # Without an end on record the job reads INTERRUPTED, which is what happened.
            _logger.exception("The end of a job could not be saved.")
        finally:
            self.ended.set()

    def _do_steps(self) -> JobState:
        try:
            for index, step in enumerate(self._steps):
                self._index = index
                self._began = time.monotonic()
                self._do(step)
        except JobCancelled as stop:
            self._set(state=StepState.CANCELLED, next_step=stop.next_step, seconds=self._seconds())
            return self._stopped_as or JobState.CANCELLED
        except CrowdNotesError as error:
            _logger.warning("A step failed: %s", self._steps[self._index].name, exc_info=True)
            self._fail(error.message, error.next_step)
            return JobState.FAILED
        except Exception as error:
            if _is_of_the_end(error):
                self._set(state=StepState.CANCELLED, seconds=self._seconds())
                return JobState.INTERRUPTED
            title = self._steps[self._index].title
            _logger.exception("A step failed unexpectedly: %s", self._steps[self._index].name)
            self._fail(
                f"Something unexpected went wrong in “{title}”; the details are in the log.",
                "Try the step again: what was finished before it is kept.",
            )
            return JobState.FAILED
        return JobState.DONE

    def _do(self, step: Step) -> None:
        self.check()
        kept = step.finished()
        if kept is not None:
            self._set(state=StepState.KEPT, summary=storable_text(kept))
            self._save()
            return
        self._record = self._record.model_copy(update={"state": JobState.RUNNING})
        self._set(state=StepState.RUNNING)
        self._save()
        summary = step.run(self)
        self._set(state=StepState.DONE, summary=storable_text(summary), note="", seconds=self._seconds())
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
        steps[self._index] = steps[self._index].model_copy(update=changes)
        self._record = self._record.model_copy(update={"steps": tuple(steps)})

    def _save(self) -> None:
        self._record = self._record.model_copy(update={"updated_at": self._clock()})
        self._saved = time.monotonic()
        if not self._table.save(self._record):
            self.stop(JobState.INTERRUPTED)  # the case was deleted, or another process took over

    def _end(self, state: JobState) -> None:
        self._record = self._record.model_copy(update={"state": state})
        self._save()

    def _seconds(self) -> float:
        return round(time.monotonic() - self._began, 3)


def _is_of_the_end(error: Exception) -> bool:
    """Whether a step failed because the program is ending: then no pool takes work, and the step is not to blame."""
    refused = isinstance(error, RuntimeError) and "interpreter shutdown" in str(error)
    return refused or not threading.main_thread().is_alive()
