"""A service is never asked faster than its pace, by however many."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdnotes.domain import ProviderState
from crowdnotes.errors import JobCancelled, SearchError
from crowdnotes.evidence.fetching import no_check
from crowdnotes.evidence.search.service import Pace, Pacer, shared_pacer


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@settings(deadline=None)
@given(st.integers(1, 5), st.sampled_from([1.0, 1.1, 60.0]), st.lists(st.floats(0, 2), max_size=30))
def test_no_stretch_of_time_holds_more_requests_than_allowed(
    requests: int, seconds: float, pauses: list[float]
) -> None:
    clock = Clock()
    pacer = Pacer(Pace(requests, seconds, 1), clock, clock.sleep)
    begun = []
    for pause in pauses:
        clock.now += pause
        with pacer.slot(no_check, 5.0):
            begun.append(clock.now)
    for first, last in zip(begun, begun[requests:], strict=False):
        assert last - first >= seconds - 1e-9


def test_requests_within_the_pace_do_not_wait() -> None:
    clock = Clock()
    pacer = Pacer(Pace(3, 1.0, 3), clock, clock.sleep)
    for _ in range(3):
        with pacer.slot(no_check, 5.0):
            pass
    assert clock.now == 100.0


def test_no_more_are_under_way_than_allowed() -> None:
    pacer = Pacer(Pace(1000, 1.0, 2))
    under_way, most = 0, 0
    lock = threading.Lock()

    def ask() -> None:
        nonlocal under_way, most
        for _ in range(20):
            with pacer.slot(no_check, 5.0):
                with lock:
                    under_way += 1
                    most = max(most, under_way)
                with lock:
                    under_way -= 1

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert most <= 2
    assert under_way == 0


def test_a_pause_that_the_service_asks_for_holds_everyone() -> None:
    clock = Clock()
    pacer = Pacer(Pace(10, 1.0, 10), clock, clock.sleep)
    pacer.hold(2.0)
    with pacer.slot(no_check, 5.0):
        assert clock.now >= 102.0


def test_a_pause_longer_than_a_persons_patience_is_an_error_at_once() -> None:
    clock = Clock()
    pacer = Pacer(Pace(10, 1.0, 10), clock, clock.sleep)
    pacer.hold(60.0)
    with pytest.raises(SearchError) as raised, pacer.slot(no_check, 5.0):
        pass
    assert raised.value.state is ProviderState.RATE_LIMITED
    assert clock.now == 100.0


def test_waiting_can_be_cancelled_and_leaves_the_turn_free() -> None:
    clock = Clock()
    pacer = Pacer(Pace(1, 1000.0, 1), clock, clock.sleep)

    def cancelled() -> None:
        raise JobCancelled("stop")

    with pacer.slot(no_check, 5.0):
        pass
    with pytest.raises(JobCancelled), pacer.slot(cancelled, 5.0):
        pass
    assert clock.now < 101.0


def test_those_who_wait_are_let_through_in_the_order_in_which_they_came() -> None:
    pacer = Pacer(Pace(requests=1, seconds=0.03, at_once=1))
    order: list[str] = []
    threads = []

    def ask(name: str) -> None:
        for number in (1, 2):
            with pacer.slot(lambda: None, patience=5):
                order.append(f"{name}{number}")

    with pacer.slot(lambda: None, patience=5):
        for name in "abc":
            threads.append(threading.Thread(target=ask, args=(name,)))
            threads[-1].start()
            while len(pacer._queue) < len(threads):
                time.sleep(0.001)
    for thread in threads:
        thread.join()
    assert order == ["a1", "b1", "c1", "a2", "b2", "c2"]


def test_one_who_gives_up_waiting_does_not_keep_the_others() -> None:
    pacer = Pacer(Pace(requests=1, seconds=0.01, at_once=1))

    def give_up() -> None:
        raise RuntimeError

    with pacer.slot(lambda: None, patience=5), pytest.raises(RuntimeError), pacer.slot(give_up, patience=5):
        pass
    with pacer.slot(lambda: None, patience=5):
        pass


def test_all_who_ask_a_service_share_its_pacer() -> None:
    pace = Pace(1, 1.0, 1)
    assert shared_pacer("https://a.example", pace) is shared_pacer("https://a.example", pace)
    assert shared_pacer("https://a.example", pace) is not shared_pacer("https://b.example", pace)
