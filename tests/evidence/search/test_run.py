"""Providers are asked side by side, what they answer becomes plain text, and their rankings are merged."""

from __future__ import annotations

import logging
import re
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Self

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from crowdnotes.domain import Hit, Post, ProviderOutcome, ProviderState, Query, seems_offline, why_none_answered
from crowdnotes.engines.local import LocalEngine
from crowdnotes.errors import JobCancelled, SearchError
from crowdnotes.evidence.duplicates import merge
from crowdnotes.evidence.reading.plain_text import plain_line, plain_text
from crowdnotes.evidence.search import check_providers, search_all
from crowdnotes.evidence.search.provider import OnlineProvider, not_asked, notice_of
from crowdnotes.evidence.search.run import SearchCache, plan_for
from crowdnotes.evidence.search.service import COURTEOUS, Check, open_service
from crowdnotes.settings_sections import SearchSettings
from crowdnotes.text.languages import languages_of
from crowdnotes.text.urls import identities
from tests.fakes import HashingEmbedder
from tests.shared import PATIENCE, cancelled

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


def test_a_provider_for_which_no_query_has_words_did_not_answer_and_is_no_sign_of_a_connection(tmp_path: Path) -> None:
    def only_names(query: str, check: Check) -> list[Hit]:
        if query != "Ada Lovelace":
            raise not_asked("No names.")
        return _hits("of-names", query)

    failing = _failing(ProviderState.FAILED)
    of_names, cache = Scripted("of-names", only_names), SearchCache(tmp_path / "searches.sqlite")
    for _ in range(2):
        found = search_all([of_names, Scripted("a", failing), Scripted("b", failing)], ["x", "y"], cache=cache)
        assert (found.outcomes[0].state, found.outcomes[0].sentence) == (ProviderState.NOT_ASKED, "No names.")
        assert seems_offline(found.outcomes)
        assert why_none_answered(found.outcomes).startswith("All 2 searches failed; you seem to be offline. A, B: It")
    (outcome,) = search_all([of_names], ["x", "Ada Lovelace"]).outcomes
    assert (outcome.state, outcome.found, outcome.sentence) == (ProviderState.ANSWERED, 1, "")


def test_providers_are_asked_at_the_same_time() -> None:
    meeting = threading.Barrier(3, timeout=PATIENCE)

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
    assert "Only 1 of 4 searches ran" in found.outcomes[0].sentence
    assert len(found.hits) == 1


def test_a_query_that_fails_by_itself_does_not_keep_the_others_from_being_asked() -> None:
    def second_is_refused(query: str, check: Check) -> list[Hit]:
        if query == "b":
            raise SearchError("The phrase is too short.", ProviderState.FAILED, of_query=True)
        return _hits("p", query)

    provider = Scripted("p", second_is_refused, at_once=1)
    found = search_all([provider], ["a", "b", "c", "d"])
    assert provider.asked == ["a", "b", "c", "d"]
    assert found.outcomes[0].state is ProviderState.ANSWERED
    assert "Only 3 of 4 searches ran" in found.outcomes[0].sentence
    alone = search_all([Scripted("p", second_is_refused)], ["b"])
    assert alone.outcomes[0].state is ProviderState.FAILED


def test_what_is_later_than_the_cutoff_is_left_out_and_the_undated_stay() -> None:
    days = {"early": date(2020, 1, 1), "on": date(2020, 6, 30), "late": date(2020, 7, 1), "undated": None}
    provider = Scripted("p", lambda query, check: _hits("p", query, published=days[query]))
    found = search_all([provider], list(days), until=date(2020, 6, 30))
    assert {hit.query for hit in found.hits} == {"early", "on", "undated"}
    assert found.outcomes[0].found == 3
    assert "1 after 2020-06-30 left out" in found.outcomes[0].sentence


def test_a_provider_that_is_too_slow_is_left_behind_with_what_it_found(monkeypatch: pytest.MonkeyPatch) -> None:
    now, heard = [0.0], list[ProviderOutcome]()
    monkeypatch.setattr("crowdnotes.evidence.search.run.time", SimpleNamespace(monotonic=lambda: now[0]))

    def slow(query: str, check: Check) -> list[Hit]:
        while query == "slow":
            now[0] += 1.0 if heard else 0.0  # once the other provider has answered
            check()
            threading.Event().wait(0.01)
        return _hits("p", query)

    both = [Scripted("p", slow, at_once=1), Scripted("q")]
    found = search_all(both, ["fast", "slow"], provider_seconds=0.2, report=heard.append)
    assert "took over 0.2 seconds" in found.outcomes[0].sentence
    assert len(found.hits) == 3
    heard.clear()
    found = search_all(both, ["fast", "slow"], patience_seconds=0.2, report=heard.append)
    assert found.outcomes[0].state is ProviderState.ANSWERED
    assert "1 of 2 searches" in found.outcomes[0].sentence
    assert len(found.hits) == 3
    only_slow = search_all([Scripted("p", slow)], ["slow"], provider_seconds=0.2)
    assert only_slow.outcomes[0].state is ProviderState.TIMED_OUT


def test_a_cancelled_search_ends_passes_the_reason_on_and_labels_who_was_still_at_work() -> None:
    ended: list[str] = []

    def waits(query: str, check: Check) -> list[Hit]:
        try:
            while True:
                check()
                threading.Event().wait(0.01)
        finally:
            ended.append(query)

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
    assert ended == ["a"]


def test_a_provider_that_hangs_holds_up_neither_a_cancelled_search_nor_the_end_of_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("crowdnotes.evidence.search.run._CANCEL_SECONDS", 0.1)
    released = threading.Event()
    lanes: list[threading.Thread] = []

    def hangs(query: str, check: Check) -> list[Hit]:
        lanes.append(threading.current_thread())
        released.wait(PATIENCE)
        return []

    with pytest.raises(JobCancelled):
        search_all([Scripted("hangs", hangs)], ["a"], check=lambda: cancelled() if lanes else None)
    assert [(lane.is_alive(), lane.daemon) for lane in lanes] == [(True, True)]
    released.set()


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


def _hit(url: str, provider: str = "a", **more: object) -> Hit:
    return Hit.model_validate({"provider": provider, "title": url, "snippet": "", "query": "q", "url": url, **more})


def test_records_of_one_library_stay_apart_though_they_share_an_address() -> None:
    url = "https://health.example.gov/measles"
    rows = [_hit(url, library="l", record=n, title=f"Question {n}?") for n in (1, 2)]
    merged = merge([[rows], [[_hit(url, "web")]]])
    assert sorted(hit.record or 0 for hit in merged) == [1, 2]
    assert sum("web" in hit.also_found_by for hit in merged) == 1


def test_a_page_that_several_providers_found_comes_first() -> None:
    merged = merge([
        [[_hit("https://one.org/1"), _hit("https://both.org/")]],
        [[_hit("https://two.org/2", "b"), _hit("http://www.both.org/?utm_source=x", "b")]],
    ])  # fmt: skip
    assert merged[0].url == "https://both.org/"
    assert merged[0].also_found_by == ("b",)
    assert merged[0].score == 1.0
    assert len(merged) == 3


def test_a_provider_with_many_queries_has_no_more_votes() -> None:
    many = [[_hit("https://many.org/")]] * 3
    scores = {hit.url: hit.score for hit in merge([many, [[_hit("https://one.org/", "b")]]])}
    assert scores["https://many.org/"] == scores["https://one.org/"]


def test_the_first_of_one_of_many_queries_stands_above_the_second_of_another_provider() -> None:
    many = [[_hit(f"https://many.org/{n}")] for n in range(8)]
    one = [[_hit("https://one.org/1", "b"), *(_hit(f"https://one.org/{n}", "b") for n in range(2, 9))]]
    order = [hit.url for hit in merge([many, one])]
    assert order.index("https://many.org/0") < order.index("https://one.org/2")
    assert set(order[:8]) == {f"https://many.org/{n}" for n in range(4)} | {f"https://one.org/{n}" for n in range(1, 5)}


def test_a_part_of_a_text_from_another_provider_is_a_copy_of_it() -> None:
    words = " ".join(f"word{n}" for n in range(120))
    whole, part = _hit("https://a.org/1", title="T", snippet=words), _hit("https://b.org/2", "b", title="T")
    part = part.replace(snippet=words[200:500])
    assert len(merge([[[whole]], [[part]]])) == 1
    assert len(merge([[[whole, part.replace(provider="a")]]])) == 2


def test_a_doi_joins_what_two_addresses_hold_apart() -> None:
    merged = merge([
        [[_hit("https://pubmed.ncbi.nlm.nih.gov/1/", snippet="The abstract.", notices=("retracted",))]],
        [[_hit("https://doi.org/10.1000/x", "b", doi="10.1000/x", published=date(2020, 5, 1))]],
        [[_hit("https://pubmed.ncbi.nlm.nih.gov/1/", "c", doi="10.1000/X")]],
    ])  # fmt: skip
    assert len(merged) == 1
    assert merged[0].snippet == "The abstract."
    assert (merged[0].published, merged[0].doi) == (date(2020, 5, 1), "10.1000/x")
    assert merged[0].notices == ("retracted",)
    assert set(merged[0].also_found_by) == {"b", "c"}


_ABSTRACT = "Measles vaccination was not followed by autism in a cohort of half a million children born in Denmark."


def test_a_copy_of_the_text_elsewhere_is_left_out_but_short_texts_that_agree_are_different_pages() -> None:
    merged = merge([
        [[_hit("https://agency.org/a", title="Vaccines and autism", snippet=_ABSTRACT)]],
        [[_hit("https://mirror.org/a", "b", title="Vaccines and autism", snippet=_ABSTRACT + " Mirror.")]],
    ])  # fmt: skip
    assert [(hit.url, hit.also_found_by) for hit in merged] == [("https://agency.org/a", ("b",))]
    hits = [_hit(f"https://{name}.org/measles", title="Measles", snippet="") for name in ("a", "b")]
    assert len(merge([[hits]])) == 2


def test_a_published_paper_stays_rather_than_its_preprint_and_takes_no_mark_from_it() -> None:
    merged = merge([
        [[_hit("https://doi.org/10.1101/1", doi="10.1101/1", title="T", snippet=_ABSTRACT, notices=("preprint",))]],
        [[_hit("https://doi.org/10.1000/2", "b", doi="10.1000/2", title="T", snippet=_ABSTRACT)]],
    ])  # fmt: skip
    paper = next(hit for hit in merged if hit.snippet)
    assert (paper.doi, paper.notices) == ("10.1000/2", ())


_URLS = st.sampled_from([f"https://site{n}.org/{page}" for n in range(4) for page in "xyz"])
_HITS = st.builds(
    lambda url, doi: _hit(url, doi=doi), _URLS, st.sampled_from([None, "10.1000/1", "10.1000/2", "10.1000/3"])
)
_RANKINGS = st.lists(st.lists(st.lists(_HITS, max_size=6), max_size=3), max_size=3)


@given(_RANKINGS)
def test_nothing_is_lost_or_comes_twice_the_order_is_the_scores_and_a_second_merge_changes_no_page(
    providers: list[list[list[Hit]]],
) -> None:
    merged = merge(providers)
    given_urls = {hit.url for rankings in providers for ranking in rankings for hit in ranking}
    assert {hit.url for hit in merged} <= given_urls
    keys = [identities(hit) for hit in merged]
    assert all(not a & b for i, a in enumerate(keys) for b in keys[i + 1 :])
    scores = [hit.score for hit in merged]
    assert scores == sorted(scores, reverse=True)
    assert not merged or scores[0] == 1.0
    assert bool(merged) == bool(given_urls)
    assert [hit.url for hit in merge([[merged]])] == [hit.url for hit in merged]


@pytest.mark.parametrize(
    ("markup", "plain"),
    [
        ("<b>Measles</b> and MMR", "Measles and MMR"),
        ("H<sub>2</sub>O", "H2O"),
        ("Tom &amp; Jerry&#x27;s", "Tom & Jerry's"),
        ("&lt;i&gt;In vitro&lt;/i&gt; study", "In vitro study"),
        ("&amp;lt;i&amp;gt;In vitro&amp;lt;/i&amp;gt;", "In vitro"),
        ("<h4>Background</h4>Text<p>More", "Background Text More"),
        ("<jats:p>An <jats:italic>E. coli</jats:italic> trial</jats:p>", "An E. coli trial"),
        ("p < 0.05 and n > 30", "p < 0.05 and n > 30"),
        ("<script>steal()</script>Vitamin C", "Vitamin C"),
        ("<style>x{}</style><!-- ignore all rules -->Zinc", "Zinc"),
        ('Zinc <img src=x onerror="alert(1)"', "Zinc"),
        ("safe\u202eelbisivni\u200b", "safeelbisivni"),
        ("a\n\n b\t c", "a b c"),
        ("", ""),
    ],
)
def test_markup_becomes_the_words_a_reader_would_see(markup: str, plain: str) -> None:
    assert plain_line(markup) == plain


_PIECES = ["<b>", "</b>", "<script>", "<", ">", "&lt;", "&gt;", "&amp;", "word", " ", "<a x=", '"', "<!--", "-->"]


@given(st.lists(st.sampled_from(_PIECES)))
def test_no_tag_survives(pieces: list[str]) -> None:
    assert not re.search(r"<(?:/?b|script|!--)[^<>]*>", plain_text("".join(pieces), 500))


@given(st.text(max_size=300), st.integers(1, 50))
def test_any_text_gives_one_short_line(text: str, limit: int) -> None:
    plain = plain_text(text, limit)
    assert len(plain) <= limit
    assert "\n" not in plain


@pytest.mark.parametrize(
    ("kind", "notice"),
    [
        ("Retracted Publication", "retracted"),
        ("RetractionIn", "retracted"),
        ("Retraction in", "retracted"),
        ("retraction", "retracted"),
        ("partial_retraction", "retracted"),
        ("RetractionOf", "a retraction notice"),
        ("Retraction of Publication", "a retraction notice"),
        ("withdrawal", "withdrawn"),
        ("expression_of_concern", "expression of concern"),
        ("ExpressionOfConcernIn", "expression of concern"),
        ("Erratum in", "corrected since"),
        ("correction", "corrected since"),
        ("Preprint", "preprint"),
        ("ErratumFor", None),
        ("Comment in", None),
        ("Journal Article", None),
        ("", None),
    ],
)
def test_a_kind_is_one_notice(kind: str, notice: str | None) -> None:
    assert notice_of(kind) == notice


def test_what_was_answered_within_a_day_is_not_asked_again_and_a_failure_is(tmp_path: Path) -> None:
    now = [0.0]
    cache = SearchCache(tmp_path / "searches.sqlite", lambda: now[0])
    failing = Scripted("p", _failing(ProviderState.FAILED))
    search_all([failing], ["q"], cache=cache)
    provider = Scripted("p")
    for later in (0.0, 10.0, 90_000.0):
        now[0] = later
        found = search_all([provider], ["q"], cache=cache)
    assert (provider.asked, len(found.hits)) == (["q", "q"], 1)
    (outcome,) = search_all([provider], ["q"], cache=cache).outcomes
    assert "from earlier today" in outcome.sentence
    search_all([provider], ["q"], limit=3, cache=cache)
    assert provider.asked == ["q", "q", "q"]


def test_nor_after_a_restart_and_the_file_holds_no_search_and_nothing_of_a_library(tmp_path: Path) -> None:
    file = tmp_path / "searches.sqlite"
    provider, library = Scripted("p", lambda query, _: _hits("p", "found")), Together("library:own")
    for _ in range(2):  # as two starts of the program do
        found = search_all([provider, library], ["secret words"], cache=SearchCache(file))
    assert (provider.asked, library.asked) == (["secret words"], ["secret words"] * 2)
    assert {hit.query for hit in found.hits if hit.provider == "p"} == {"secret words"}
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("searches.sqlite*"))
    assert b"https://p.org/found" in kept
    assert b"secret" not in kept
    assert b"library:own" not in kept


def test_a_damaged_file_of_answers_or_one_of_another_version_is_asked_past(tmp_path: Path) -> None:
    file = tmp_path / "searches.sqlite"
    file.write_bytes(b"this is no database" * 100)
    provider = Scripted("p")
    cache = SearchCache(file)
    assert len(search_all([provider], ["q"], cache=cache).hits) == 1
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE vectors SET vector = CAST('[0, [{}]]' AS BLOB)")
    assert len(search_all([provider], ["q"], cache=cache).hits) == 1
    assert provider.asked == ["q", "q"]


class _Web(OnlineProvider):
    """A service that is searched over the web, and answers as told."""

    name, label, options = "web", "Web", BaseModel

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """On no address: nothing is sent."""
        return cls(open_service(search, "http://127.0.0.1:9", COURTEOUS), leave_out=search.leave_out)

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:
        """Pages of four hosts."""
        urls = ("https://bad.org/a", "https://www.bad.org/b", "https://news.bad.org/c", "https://notbad.org/d")
        return [hit.replace(url=url) for url in urls for hit in _hits("web", query)]


def test_of_hosts_that_the_settings_leave_out_no_online_search_brings_anything_and_it_says_so() -> None:
    provider = _Web.make(SearchSettings.model_validate({"leave_out": ["bad.org", "www.Other.org"]}))
    assert provider.leave_out == ("bad.org", "other.org")
    library = Together("library:own", lambda *_: [])
    found = search_all([provider, library], ["q"])
    assert [hit.url for hit in found.hits if hit.provider == "web"] == ["https://notbad.org/d"]
    assert found.outcomes[0].sentence == "3 of excluded sites left out."


def test_what_is_no_host_cannot_be_left_out() -> None:
    for wrong in ("bad", "bad.org/path", "https://bad.org"):
        with pytest.raises(ValidationError, match="leave_out"):
            SearchSettings.model_validate({"leave_out": [wrong]})


def test_names_and_figures_are_searched_for_after_what_is_asked_and_beyond_its_number() -> None:
    post, today = (
        Post(text="Everybody knows by now that measles vaccines harmed 11,306 people says Jo Doe."),
        date(2025, 1, 1),
    )
    engine = LocalEngine(HashingEmbedder())
    plain = engine.plan(post, 1, today).queries
    planned = plan_for(engine, post, 1, today).queries
    assert planned[:1] == plain
    assert [query.text.split('" ')[0] for query in planned[1:]] == ['"Jo Doe', '"11,306 people']
    assert [query.by_name for query in planned] == [False, True, True]
    assert plan_for(engine, post, 0, today).queries == ()


def test_a_name_that_a_search_holds_has_none_of_its_own_and_a_trial_is_second() -> None:
    text = "Measles vaccines harm Jo Doe. See NCT04368728 on 11,306 people https://t.co/PObxLZHSM"
    engine = LocalEngine(HashingEmbedder())
    searches = [query.text for query in plan_for(engine, Post(text=text), 8, date(2025, 1, 1)).queries]
    assert searches[1] == "NCT04368728"
    assert "Measles vaccines harm Jo Doe" in searches
    assert [search.split('" ')[0] for search in searches if '"' in search] == ['"11,306 people']
    assert not any("PObx" in search for search in searches)


def test_what_goes_by_meaning_is_not_asked_for_names_as_they_are_written() -> None:
    library, service = Together("library"), Scripted("service", at_once=1)
    search_all([library, service], ["measles", '"Jo Doe"'], by_name=['"Jo Doe"'])
    assert library.asked == ["measles"]
    assert service.asked == ["measles", '"Jo Doe"']


def test_services_are_asked_in_plain_letters() -> None:
    provider = Scripted("plain")
    search_all([provider], ["𝗰𝘂𝗿𝗲𝘀 𝗰𝗮𝗻𝗰𝗲𝗿"], post="ⓒⓤⓡⓔⓢ", languages={"𝗰𝘂𝗿𝗲𝘀 𝗰𝗮𝗻𝗰𝗲𝗿": "en"})
    assert provider.asked == ["cures cancer"]


_TEX = r"$$\documentclass[12pt]{minimal}\usepackage{amsmath}\begin{document}$$\alpha = 0.05$$\end{document}$$"
_MATHML = "<mml:math><mml:mi>α</mml:mi><mml:mo>=</mml:mo><mml:mn>0.05</mml:mn></mml:math>"


@pytest.mark.parametrize(
    ("markup", "plain"),
    [
        ("10<jats:sup>3</jats:sup> per 10<sup>6</sup>, H<sub>2</sub>O", "10^3 per 10^6, H2O"),
        ("8<sup>3</sup> ill, as the trial<sup>12</sup> found", "8 [3] ill, as the trial found"),
        ("10&lt;sup&gt;6&lt;/sup&gt; of them", "10^6 of them"),
        ("(P &lt; 0.05; n&lt;k and m&gt;3)", "(P < 0.05; n<k and m>3)"),
        (
            f"dose <jats:alternatives><jats:tex-math>{_TEX}</jats:tex-math>{_MATHML}</jats:alternatives>",
            "dose α = 0.05",
        ),
        (f"dose <jats:tex-math>{_TEX}</jats:tex-math> of it", "dose α = 0.05 of it"),
        (f"dose {_TEX}α=0.05 of it", "dose α=0.05 of it"),
        (f"dose {_MATHML} of it", "dose α = 0.05 of it"),
        (r"of $10^{-6}$ and \(\frac{1}{2} \times x_{i}\), 37$^{\circ}$C", "of 10^-6 and 1/2 × x_i, 37°C"),
        (r"of 10\textsuperscript{6}, p \textless{} 0.05, at $5 or $6", "of 10^6, p < 0.05, at $5 or $6"),
        (r"of {\textless}5\% of \textbf{adults} with \emph{E. coli}", "of <5% of adults with E. coli"),
        (r"where \begin{document}$R_0 = 12$\end{document} in all", "where R_0 = 12 in all"),
        ("the <s>412</s> 4 wells", "the 4 wells"),
        ("a ﬁrst eﬀect", "a first effect"),
    ],
)
def test_numbers_and_formulas_of_markup_are_read_as_printed_and_once(markup: str, plain: str) -> None:
    assert plain_text(markup, 500) == plain
