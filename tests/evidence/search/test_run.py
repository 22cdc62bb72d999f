"""Providers are asked side by side; each ends with a label, and one that fails costs the others nothing."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date

import pytest

from crowdnotes.domain import Hit, ProviderOutcome, ProviderState, Query
from crowdnotes.errors import JobCancelled, SearchError
from crowdnotes.evidence.search import check_providers, search_all
from crowdnotes.evidence.search.run import languages_of
from crowdnotes.evidence.search.service import Check

_KEY = "s3" + "cret"
_Answer = Callable[[str, Check], list[Hit]]


def _hits(name: str, query: str, **more: object) -> list[Hit]:
    url = f"https://{name}.org/{query}"
    return [Hit.model_validate({"provider": name, "title": url, "snippet": "", "query": query, "url": url, **more})]


@dataclass
class Scripted:
    """A provider that answers as told."""

    name: str
    answer: _Answer | None = None
    needs: str | None = None
    at_once: int = 2
    most_queries: int = 10
    asked: list[str] = field(default_factory=list)

    @property
    def label(self) -> str:
        return self.name.title()

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:
        self.asked.append(query)
        return self.answer(query, check) if self.answer else _hits(self.name, query)


class Together(Scripted):
    """One that wants all queries at once."""

    def search_together(
        self, queries: Sequence[str], *, post: str, limit: int, until: date | None, check: Check
    ) -> list[Hit]:
        self.asked.append("+".join(queries))
        return _hits(self.name, "all")


def _failing(state: ProviderState) -> _Answer:
    def answer(query: str, check: Check) -> list[Hit]:
        raise SearchError("It has trouble.", state)

    return answer


def _broken(query: str, check: Check) -> list[Hit]:
    raise ZeroDivisionError(f"https://service.org/?key={_KEY}")


def test_two_failing_providers_leave_the_hits_of_the_rest(caplog: pytest.LogCaptureFixture) -> None:
    providers = [
        Scripted("good"), Scripted("limited", _failing(ProviderState.RATE_LIMITED)), Scripted("broken", _broken),
        Scripted("fine"),
    ]  # fmt: skip
    found = search_all(providers, ["a", "b"])
    assert {hit.url for hit in found.hits} == {f"https://{name}.org/{q}" for name in ("good", "fine") for q in "ab"}
    assert [outcome.state.value for outcome in found.outcomes] == ["answered", "rate limited", "failed", "answered"]
    assert found.outcomes[0].found == 2
    assert "s3cret" not in caplog.text + found.outcomes[2].sentence
    assert "ZeroDivisionError" in caplog.text


def test_a_provider_that_is_not_set_up_is_not_asked_and_says_what_it_needs() -> None:
    provider = Scripted("keyed", needs="Set its key.")
    (outcome,) = search_all([provider], ["a"]).outcomes
    assert (outcome.state, outcome.sentence, provider.asked) == (ProviderState.NOT_CONFIGURED, "Set its key.", [])


def test_providers_are_asked_at_the_same_time() -> None:
    meeting = threading.Barrier(3, timeout=20)

    def meet(query: str, check: Check) -> list[Hit]:
        meeting.wait()
        return []

    providers = [Scripted(name, meet) for name in ("a", "b", "c")]
    assert all(item.state is ProviderState.ANSWERED for item in search_all(providers, ["q"]).outcomes)


def test_a_provider_is_asked_no_more_at_once_and_no_more_at_all_than_it_bears() -> None:
    under_way, most = 0, 0
    lock = threading.Lock()

    def count(query: str, check: Check) -> list[Hit]:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        with lock:
            under_way -= 1
        return []

    provider = Scripted("p", count, at_once=2, most_queries=5)
    search_all([provider], [str(number) for number in range(9)])
    assert most <= 2
    assert sorted(provider.asked) == ["0", "1", "2", "3", "4"]


def test_a_provider_that_wants_all_queries_at_once_gets_them() -> None:
    provider = Together("t")
    found = search_all([provider], ["a", "b", "a"])
    assert provider.asked == ["a+b"]
    assert len(found.hits) == 1


def test_after_a_failure_the_provider_is_asked_no_further_and_keeps_what_it_found() -> None:
    def second_fails(query: str, check: Check) -> list[Hit]:
        if query == "b":
            raise SearchError("It has trouble.", ProviderState.FAILED)
        return _hits("p", query)

    provider = Scripted("p", second_fails, at_once=1)
    found = search_all([provider], ["a", "b", "c", "d"])
    assert provider.asked == ["a", "b"]
    assert found.outcomes[0].state is ProviderState.ANSWERED
    assert "Only 1 of 4 searches were answered" in found.outcomes[0].sentence
    assert len(found.hits) == 1


def test_what_is_later_than_the_cutoff_is_left_out_and_the_undated_stay() -> None:
    days = {"early": date(2020, 1, 1), "on": date(2020, 6, 30), "late": date(2020, 7, 1), "undated": None}
    provider = Scripted("p", lambda query, check: _hits("p", query, published=days[query]))
    found = search_all([provider], list(days), until=date(2020, 6, 30))
    assert {hit.query for hit in found.hits} == {"early", "on", "undated"}
    assert found.outcomes[0].found == 3
    assert "1 later than 2020-06-30 left out" in found.outcomes[0].sentence


def test_a_provider_that_is_too_slow_is_left_behind_with_what_it_found() -> None:
    def slow(query: str, check: Check) -> list[Hit]:
        while query == "slow":
            check()
            threading.Event().wait(0.01)
        return _hits("p", query)

    both = [Scripted("p", slow), Scripted("q")]
    found = search_all(both, ["fast", "slow"], provider_seconds=0.2)
    assert "not done within 0.2 seconds" in found.outcomes[0].sentence
    assert len(found.hits) == 3
    found = search_all(both, ["fast", "slow"], patience_seconds=0.2)
    assert found.outcomes[0].state is ProviderState.ANSWERED
    assert "1 of 2 searches" in found.outcomes[0].sentence
    assert len(found.hits) == 3
    only_slow = search_all([Scripted("p", slow)], ["slow"], provider_seconds=0.2)
    assert only_slow.outcomes[0].state is ProviderState.TIMED_OUT


def test_a_cancelled_search_ends_passes_the_reason_on_and_labels_who_was_still_at_work() -> None:
    def waits(query: str, check: Check) -> list[Hit]:
        while True:
            check()
            threading.Event().wait(0.01)

    heard: list[ProviderOutcome] = []

    def cancel_when_one_is_done() -> None:
        if heard:
            raise JobCancelled("stop")

    with pytest.raises(JobCancelled):
        search_all(
            [Scripted("done"), Scripted("waits", waits)], ["a"], check=cancel_when_one_is_done, report=heard.append
        )
    assert [(item.provider, item.state) for item in heard] == [
        ("done", ProviderState.ANSWERED), ("waits", ProviderState.CANCELLED)
    ]  # fmt: skip
    assert not [thread for thread in threading.enumerate() if thread.name == "crowdnotes-search-waits"]


def test_no_providers_or_no_queries_is_an_empty_report() -> None:
    assert search_all([], ["a"]).outcomes == ()
    empty = search_all([Scripted("p")], [])
    assert empty.hits == ()
    assert empty.outcomes[0].sentence == "There was nothing to search for."


def test_a_check_tells_who_answers_and_who_does_not(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    providers = [Scripted("up"), Scripted("down", _failing(ProviderState.FAILED)), Scripted("bare", needs="A key.")]
    states = {outcome.provider: outcome.state.value for outcome in check_providers(providers)}
    assert states == {"up": "answered", "down": "failed", "bare": "not configured"}


def test_a_query_goes_to_the_edition_of_its_language() -> None:
    queries = [
        Query(text="les vaccins causent l'autisme", purpose="the claim", language="fr"),
        Query(text="vaccines cause autism", purpose="the claim"),
        Query(text="вакцины вызывают аутизм у детей и взрослых людей", purpose="the claim"),
    ]
    assert list(languages_of(queries).values()) == ["fr", None, "ru"]
