"""While slow services are waited for, the engine looks over what quick ones gave, and likely pages are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Event, Lock, Thread

from crowdnotes.cases.pages_ahead import PagesAhead
from crowdnotes.cases.tools import Tools
from crowdnotes.cases.wanted import wanted_hit
from crowdnotes.domain import Case, Hit
from crowdnotes.evidence.not_evidence import worth_choosing
from crowdnotes.evidence.search import merged_hits

_BETWEEN = 0.1  # seconds: answers that come close together are looked over together


class LookingAhead:
    """One search's. All that it finds out is forgotten but for the engine's vectors and the pages begun."""

    def __init__(self, case: Case, tools: Tools, pages: PagesAhead | None, check: Callable[[], None]) -> None:
        self._case = case
        self._tools = tools
        self._pages = pages
        self._check = check
        self._rankings: dict[str, list[Sequence[Hit]]] = {}
        self._lock = Lock()
        self._news, self._most_ended, self._over = Event(), Event(), Event()
        # A daemon and no pool: it must keep nothing waiting when the program ends.
        Thread(target=self._work, name="crowdnotes-looking-ahead", daemon=True).start()

    def found(self, provider: str, hits: Sequence[Hit]) -> None:
        """One more ranking of a provider; does not wait."""
        with self._lock:
            self._rankings.setdefault(provider, []).append(hits)
        self._news.set()

    def ended(self, done: int, asked: int) -> None:
        """So many providers have ended. Pages are begun when that is half of them: before, too much may change."""
        if done * 2 >= asked:
            self._most_ended.set()
            self._news.set()

    def end(self) -> None:
        """Look over nothing more; does not wait."""
        self._over.set()
        self._news.set()

    def _work(self) -> None:
        while self._news.wait() and not self._over.wait(_BETWEEN):
            self._news.clear()
            with self._lock:
                rankings = [list(of_one) for of_one in self._rankings.values()]
            settings = self._tools.settings.evidence
            hits = worth_choosing(merged_hits(rankings, settings.categories))
            likely = self._tools.engine.look_over(self._case.post.as_read, hits, settings.quota)
            if likely is None:
                return
            if self._pages is not None and self._most_ended.is_set() and not self._over.is_set():
                picks = (wanted_hit(hit, "") for hit in likely)
                self._pages.begin([pick for pick in picks if pick is not None], self._case, self._check)
