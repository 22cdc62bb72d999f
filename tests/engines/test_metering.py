"""What is asked counts where it is asked for, also from threads, and what is set aside is given back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from concurrent.futures._base import DoneAndNotDoneFutures
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import Usage
from crowdnotes.engines import metering
from crowdnotes.engines.metering import (
    Budget,
    Meter,
    completed_calls,
    current_meter,
    metered,
    price,
    run_both,
    run_parallel,
)
from crowdnotes.errors import BudgetError, JobCancelled
from crowdnotes.settings_sections import LlmSettings
from tests.shared import PATIENCE, cancelled

usages = st.builds(
    Usage,
    calls=st.integers(0, 9),
    input_tokens=st.integers(0, 999),
    output_tokens=st.integers(0, 999),
    dollars=st.integers(0, 9).map(float),
)


@given(st.lists(usages, max_size=6))
def test_the_total_is_the_sum_of_the_steps(parts: list[Usage]) -> None:
    meter = Meter()
    for number, part in enumerate(parts):
        meter.settle(meter.reserve(5, None), f"step {number % 2}", part)
    assert meter.total == sum(parts, Usage())
    assert meter.total.tokens == sum(part.tokens for part in parts)


@given(st.integers(0, 100), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=12))
def test_the_budget_is_never_passed_while_calls_use_no_more_than_was_set_aside(
    limit: int, calls: list[tuple[int, int]]
) -> None:
    meter = Meter(Budget(tokens=limit))
    for wanted, used in calls:
        try:
            reserved = meter.reserve(wanted, 0.0)
        except BudgetError:
            continue
        meter.settle(reserved, "step", Usage(calls=1, input_tokens=min(used, wanted)))
    assert meter.total.tokens <= limit


def test_what_calls_under_way_may_use_counts_against_the_budget() -> None:
    meter = Meter(Budget(dollars=1.0))
    first = meter.reserve(10, 0.6)
    with pytest.raises(BudgetError):
        meter.reserve(10, 0.6)
    meter.settle(first, "step", Usage(dollars=0.1))
    assert meter.reserve(10, 0.6).dollars == 0.6


def test_a_call_of_unknown_price_is_bounded_by_tokens_alone() -> None:
    assert Meter(Budget(dollars=0.0)).reserve(10, None).dollars is None
    with pytest.raises(BudgetError, match="5 tokens"):
        Meter(Budget(dollars=0.0, tokens=5)).reserve(10, None)


def test_threads_started_inside_count_on_the_same_meter_and_nothing_stays_after() -> None:
    meter = Meter()
    with metered(meter):
        found = run_parallel([current_meter] * 5, 3)
        pair = run_both(current_meter, current_meter)
    assert found == [meter] * 5
    assert pair == (meter, meter)
    assert current_meter() is None


def test_results_and_errors_come_in_the_order_asked() -> None:
    error = BudgetError("no")

    def fail() -> int:
        raise error

    assert run_parallel([lambda: 1, fail, lambda: 3], 2) == [1, error, 3]
    with pytest.raises(BudgetError, match="no"):
        run_both(lambda: 1, fail)


def test_what_is_no_engines_error_is_raised() -> None:
    for others in ([], [lambda: None]):
        with pytest.raises(JobCancelled):
            run_parallel([*others, cancelled], 2)


def test_results_come_as_soon_as_they_are_there_on_the_same_meter_and_an_error_is_a_result() -> None:
    gate, error, meter = threading.Event(), BudgetError("no"), Meter()

    def fail() -> object:
        raise error

    tasks: list[Callable[[], object]] = [gate.wait, fail, current_meter]
    found: dict[int, object] = {}
    with metered(meter):
        for place, result in completed_calls(tasks, 2):
            found[place] = result
            if len(found) == 2:
                gate.set()
    assert list(found) == [1, 2, 0]
    assert list(found.values()) == [error, meter, True]


def _read(results: Iterator[tuple[int, object]], into: list[int]) -> None:
    for place, _ in results:
        into.append(place)


def test_once_the_work_is_cancelled_nothing_else_begins_and_what_was_done_is_given_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both, heard = threading.Barrier(2, timeout=PATIENCE), threading.Event()
    done: list[int] = []
    failed: list[Future[object]] = []

    def watched(left: Iterable[Future[object]], return_when: str) -> DoneAndNotDoneFutures[object]:
        if failed:  # and all that had not begun was called off
            heard.set()
        found = wait(left, return_when=return_when)
        failed.extend(future for future in found.done if future.exception() is not None)
        return found

    monkeypatch.setattr(metering, "wait", watched)

    def stop() -> None:
        both.wait()
        cancelled()

    def finish() -> None:
        both.wait()

    slow: list[Callable[[], object]] = [heard.wait] * 200
    with pytest.raises(JobCancelled):
        _read(completed_calls([int, stop, finish, *slow], 2), done)
    assert {0, 2} <= set(done)
    assert len(done) <= 4  # the two that had begun meanwhile


def test_whoever_stops_reading_begins_no_other_task(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    stopped = threading.Event()

    class Pool(ThreadPoolExecutor):
        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            super().shutdown(wait=False, cancel_futures=cancel_futures)
            stopped.set()
            super().shutdown(wait=wait)

    monkeypatch.setattr(metering, "ThreadPoolExecutor", Pool)
    begin, hold = partial(begun.append, 0), partial(stopped.wait, PATIENCE)
    tasks: list[Callable[[], object]] = [begin, hold, *[begin] * 50]
    for _ in completed_calls(tasks, 1):
        break
    assert begun == [0]


def test_ones_own_price_comes_first_wherever_the_server_is_then_the_table_in_proportion_to_tokens() -> None:
    settings = LlmSettings(dollars_per_million_input=2.0, dollars_per_million_output=10.0)
    for url in ("https://api.openai.com/v1", "http://127.0.0.1:8080/v1", "https://x.example.org/v1"):
        assert price(settings, url, "gpt-4.1-mini", 1_000_000, 100_000) == pytest.approx(3.0)
    one = price(LlmSettings(), "https://api.openai.com/v1", "gpt-4.1-mini", 1000, 1000)
    assert one is not None
    assert one > 0
    assert price(LlmSettings(), "https://api.openai.com/v1", "gpt-4.1-mini", 2000, 2000) == pytest.approx(2 * one)


def test_a_server_on_this_machine_costs_nothing_and_an_unknown_one_has_no_price() -> None:
    assert price(LlmSettings(), "http://localhost:11434/v1", "qwen", 1000, 1000) == 0.0
    assert price(LlmSettings(), "https://x.example.org/v1", "qwen", 1000, 1000) is None
    assert price(LlmSettings(), "https://api.openai.com/v1", "no-such-model", 1000, 1000) is None
