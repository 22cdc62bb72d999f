"""Counts what a case's calls use, step by step, and enforces the budget before each call.

Engines hold no case. Code that works on a case wraps its calls in `metered`; what any engine asks meanwhile, in this
thread or in those it starts with `run_parallel`, counts there.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar
from urllib.parse import urlsplit

from crowdnotes.domain import Usage
from crowdnotes.errors import BudgetError, EngineError
from crowdnotes.settings_sections import LlmSettings

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that may be used; None means no limit of that kind."""

    dollars: float | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Reservation:
    """What was set aside for a call in progress; `dollars` is None if its price is unknown."""

    tokens: int
    dollars: float | None


def new_boundary() -> str:
    """Return a word that no text can know beforehand: 40 random bits, short as it marks each piece of data."""
    return secrets.token_hex(5)


class Meter:
    """Counts by step, and sets aside what a call may use before it is made. Safe between threads.

    `spent` is what the same case used before: the budget counts it too. `check` raises when the case's work must stop:
    running calls ask it several times a second, from their own threads. `on_words` receives a step's name and what its
    model has said so far, from those threads too. `boundary` marks the data of all calls of the case.
    """

    def __init__(
        self,
        budget: Budget | None = None,
        spent: Usage | None = None,
        check: Callable[[], None] = lambda: None,
        on_words: Callable[[str, str], None] = lambda _, __: None,
    ) -> None:
        self.check = check
        self.boundary = new_boundary()
        self._on_words = on_words
        self._reporting_call: object = None
        self._budget = budget or Budget()
        self._before = spent or Usage()
        self._by_step: dict[str, Usage] = {}
        self._reserved_tokens = 0
        self._reserved_dollars = 0.0
        self._ran: list[tuple[float, float]] = []
        self._lock = threading.Lock()

    @property
    def by_step(self) -> dict[str, Usage]:
        """What each step used since this meter was made."""
        with self._lock:
            return dict(self._by_step)

    @property
    def total(self) -> Usage:
        """What all steps used since this meter was made."""
        return sum(self.by_step.values(), Usage())

    @property
    def chain(self) -> int:
        """How many calls had to wait for each other: the most of which no two ran at the same time."""
        count, ended = 0, 0.0
        with self._lock:
            for begun, end in sorted(self._ran, key=lambda times: times[1]):
                if begun >= ended:
                    count, ended = count + 1, end
        return count

    def ran(self, begun: float, ended: float) -> None:
        """Record when a call ran, in seconds of one clock."""
        with self._lock:
            self._ran.append((begun, ended))

    @contextmanager
    def reporter(self, step: str) -> Iterator[Callable[[str], None]]:
        """Yield the function that reports the words of one call. Of parallel calls only one reports, until it ends."""
        this_call = object()

        def report(words: str) -> None:
            with self._lock:
                self._reporting_call = self._reporting_call or this_call
                may_report = self._reporting_call is this_call
            if may_report:
                self._on_words(step, words)

        try:
            yield report
        finally:
            with self._lock:
                if self._reporting_call is this_call:
                    self._reporting_call = None

    def reserve(self, tokens: int, dollars: float | None) -> Reservation:
        """Set this much aside for a call. Raises BudgetError if the call could exceed the budget."""
        with self._lock:
            used = sum(self._by_step.values(), self._before)
            in_tokens = used.tokens + self._reserved_tokens + tokens
            in_dollars = used.dollars + self._reserved_dollars + (dollars or 0.0)
            limit = self._budget
            if limit.tokens is not None and in_tokens > limit.tokens:
                raise BudgetError(
                    f"We made no further AI call: it could pass the case's budget of {limit.tokens:,} tokens "
                    f"({used.tokens:,} used)."
                )
            if limit.dollars is not None and dollars is not None and in_dollars > limit.dollars:
                raise BudgetError(
                    f"We made no further AI call: it could pass the case's budget of {limit.dollars:.2f} US "
                    f"dollars ({used.dollars:.4f} used)."
                )
            self._reserved_tokens += tokens
            self._reserved_dollars += dollars or 0.0
        return Reservation(tokens, dollars)

    def settle(self, reserved: Reservation, step: str, usage: Usage) -> None:
        """Replace what was set aside for a call by what it used."""
        with self._lock:
            self._reserved_tokens -= reserved.tokens
            self._reserved_dollars -= reserved.dollars or 0.0
            self._by_step[step] = self._by_step.get(step, Usage()) + usage


_active_meter: ContextVar[Meter | None] = ContextVar("crowdnotes_meter", default=None)


@contextmanager
def metered(meter: Meter) -> Iterator[Meter]:
    """Count on `meter` what is asked inside."""
    token = _active_meter.set(meter)
    try:
        yield meter
    finally:
        _active_meter.reset(token)


def current_meter() -> Meter | None:
    """Return the meter of the current case in this thread, if any."""
    return _active_meter.get()


def run_parallel(tasks: Sequence[Callable[[], T]], at_once: int) -> list[T | EngineError]:
    """Run all in threads, on the same meter; return each result, or its EngineError, in the order of `tasks`.

    Any other exception, such as a cancellation, is raised here.
    """
    if len(tasks) <= 1:
        return [_catch_engine_error(task) for task in tasks]
    with ThreadPoolExecutor(min(at_once, len(tasks)), thread_name_prefix="crowdnotes-ask") as pool:
        running = [pool.submit(copy_context().run, _catch_engine_error, task) for task in tasks]
        return [future.result() for future in running]


def completed_calls(tasks: Sequence[Callable[[], T]], at_once: int) -> Iterator[tuple[int, T | EngineError]]:
    """Yield what `run_parallel` returns, each result with its place as soon as it is there, so that it can be kept.

    Any other exception is raised after all results that were in progress. No further task starts then, nor when the
    caller stops reading.
    """
    stopped: BaseException | None = None
    pool = ThreadPoolExecutor(at_once, thread_name_prefix="crowdnotes-ask")
    left = {pool.submit(copy_context().run, _catch_engine_error, task): place for place, task in enumerate(tasks)}
    try:
        while left:
            for future in wait(left, return_when=FIRST_COMPLETED).done:
                place = left.pop(future)
                if (error := future.exception()) is None:
                    yield place, future.result()
                elif stopped is None:
                    stopped = error
                    left = {other: place for other, place in left.items() if not other.cancel()}
    finally:
        pool.shutdown(cancel_futures=True)
    if stopped is not None:
        raise stopped


def run_both(one: Callable[[], T], other: Callable[[], U]) -> tuple[T, U]:
    """Run two things in parallel, on the same meter. Raises what the first or else the second raised."""
    with ThreadPoolExecutor(1, thread_name_prefix="crowdnotes-ask") as pool:
        running = pool.submit(copy_context().run, other)
        return one(), running.result()


def _catch_engine_error(task: Callable[[], T]) -> T | EngineError:
    try:
        return task()
    except EngineError as error:
        return error


_MILLION = 1_000_000


def price(settings: LlmSettings, base_url: str, model: str, input_tokens: int, output_tokens: int) -> float | None:
    """Return US dollars for these tokens; None if the price is unknown, which is not the same as 0.

    Prices come from settings, else from genai-prices (pinned, read from its package, never downloaded). A server on
    this machine costs nothing.
    """
    own_in, own_out = settings.dollars_per_million_input, settings.dollars_per_million_output
    if own_in is not None and own_out is not None:
        return (own_in * input_tokens + own_out * output_tokens) / _MILLION
    if is_this_machine(base_url):
        return 0.0
    rate = _look_up_price(base_url, model)
    return None if rate is None else (rate[0] * input_tokens + rate[1] * output_tokens) / _MILLION


@lru_cache(maxsize=64)
def _look_up_price(base_url: str, model: str) -> tuple[float, float] | None:
    """Return dollars per million tokens read and written, for calls of ordinary length."""
    from genai_prices import Usage, calc_price

    usage = Usage(input_tokens=10_000, output_tokens=10_000)
    try:
        found = calc_price(usage, model_ref=model, provider_api_url=base_url)
    except LookupError:
        return None
    return float(found.input_price) * 100, float(found.output_price) * 100


def is_this_machine(base_url: str) -> bool:
    """Return whether a server is on loopback, by its address."""
    return urlsplit(base_url).hostname in {"localhost", "127.0.0.1", "::1"}
