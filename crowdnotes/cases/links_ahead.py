"""The note's links asked while the note is scored: neither waits for the other, and the scores are shown first."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from threading import Event

from crowdnotes.cases import links
from crowdnotes.domain import Case, LinkCheck
from crowdnotes.errors import JobCancelled
from crowdnotes.evidence.link_check import LinkChecker
from crowdnotes.jobs import Progress


class LinksAhead:
    """For one job: begun in one step, used in a later one, which asks whatever the note cites by then besides."""

    def __init__(self, checker: LinkChecker, clock: Callable[[], datetime]) -> None:
        self._checker = checker
        self._clock = clock
        self._asking: Future[tuple[LinkCheck, ...]] | None = None
        self._stopped = Event()

    def begin(self, case: Case, progress: Progress) -> None:
        """Ask the links of this note that were not asked within the last hour; does not wait."""
        missing = [] if case.draft is None else links.not_asked_lately(case, case.draft, self._clock())

        def check() -> None:
            if self._stopped.is_set():
                raise JobCancelled("The note was not scored.")
            progress.check()

        pool = ThreadPoolExecutor(1, thread_name_prefix="crowdnotes-links-ahead")
        self._asking = pool.submit(self._checker.check, missing, check, case.until)
        pool.shutdown(wait=False)

    def stop(self) -> None:
        """Ask no more; does not wait."""
        self._stopped.set()

    def known(self, case: Case) -> Case:
        """The case with what was found; waits for it. Raises JobCancelled as `begin`'s progress does."""
        found = () if self._asking is None else self._asking.result()
        asked = {check.url for check in found}
        earlier = tuple(check for check in case.link_checks if check.url not in asked)
        return case.model_copy(update={"link_checks": (*found, *earlier)})
