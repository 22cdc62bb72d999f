from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime

import pytest
from pytest_httpserver import HTTPServer

from crowdnotes.domain import DateOrigin, FetchOutcome, SourceCategory, text_sha256
from crowdnotes.errors import JobCancelled
from crowdnotes.evidence.content_type import HTML
from crowdnotes.evidence.fetching import Fetcher, Page, no_check
from crowdnotes.evidence.sources import SourceReader
from crowdnotes.settings import FetchSettings

ARTICLE = (
    "<html><head><title>Measles</title><meta property='article:published_time' content='2024-03-02'></head>"
    "<body><article><h1>Measles</h1>"
    "<p>Measles is one of the most contagious of all human diseases, and vaccines prevent it.</p>"
    "<p>Two doses of the vaccine protect 97 of 100 people for their whole lives.</p></article></body></html>"
)


class _Fixed:
    def __init__(self, url: str, outcome: FetchOutcome = FetchOutcome.READ, body: str = ARTICLE) -> None:
        self._url, self._outcome, self._body = url, outcome, body

    def fetch(self, url: str, check: Callable[[], None] = no_check) -> Page:
        check()
        read = self._outcome is FetchOutcome.READ
        return Page(
            url,
            self._url,
            self._outcome,
            datetime.now(UTC),
            HTML,
            None,
            self._body.encode() if read else b"",
            "" if read else "Why.",
        )


def test_a_read_source_carries_what_the_page_says_and_the_identity_of_its_text() -> None:
    url = "https://www.who.int/measles"
    source, text = SourceReader(_Fixed(url)).read(url, "S1")
    assert text is not None
    assert "97 of 100" in text
    assert (source.id, source.url, source.title, source.language) == ("S1", url, "Measles", "en")
    assert (source.outcome, source.outcome_detail) == (FetchOutcome.READ, "")
    assert (source.text_sha256, source.characters) == (text_sha256(text), len(text))
    assert (source.published, source.date_origin) == (date(2024, 3, 2), DateOrigin.PAGE)
    assert (source.publisher, source.category) == ("World Health Organization", SourceCategory.HEALTH_AUTHORITY)


def test_a_source_without_a_date_states_no_origin_of_one() -> None:
    source, _ = SourceReader(_Fixed("https://a.example/x", body=ARTICLE.replace("2024-03-02", ""))).read(
        "https://a.example/x", "S1"
    )
    assert (source.published, source.date_origin) == (None, None)


def test_a_link_that_leads_elsewhere_says_so_and_is_judged_by_where_it_ends() -> None:
    source, _ = SourceReader(_Fixed("https://www.cdc.gov/measles")).read("https://short.example/abc", "S1")
    assert source.url == "https://short.example/abc"
    assert source.category is SourceCategory.HEALTH_AUTHORITY
    assert "https://www.cdc.gov/measles" in source.outcome_detail


@pytest.mark.parametrize("outcome", [outcome for outcome in FetchOutcome if outcome is not FetchOutcome.READ])
def test_each_failure_is_a_label_and_a_sentence_on_the_source(outcome: FetchOutcome) -> None:
    url = "https://www.reuters.com/x"
    source, text = SourceReader(_Fixed(url, outcome)).read(url, "S1")
    assert text is None
    assert (source.outcome, source.outcome_detail, source.text_sha256) == (outcome, "Why.", None)
    assert (source.title, source.publisher) == (url, "Reuters")


def test_an_empty_page_is_unreadable() -> None:
    source, text = SourceReader(_Fixed("https://a.example/", body="<div id=root></div><script></script>")).read(
        "https://a.example/", "S1"
    )
    assert text is None
    assert source.outcome is FetchOutcome.UNREADABLE
    assert "JavaScript" in source.outcome_detail


@pytest.mark.parametrize(
    "url", ["", "not a link", "http://[", "https://" + "a" * 9_000, "javascript:alert(1)", "http://127.0.0.1/"]
)
def test_a_bad_link_is_a_source_with_its_reason(url: str) -> None:
    source, text = SourceReader(Fetcher(FetchSettings())).read(url, "S1")
    assert text is None
    assert source.outcome in (FetchOutcome.UNREACHABLE, FetchOutcome.REFUSED)
    assert source.outcome_detail
    assert len(source.title) <= 300


def test_a_cancelled_job_passes_through() -> None:
    def cancel() -> None:
        raise JobCancelled("Stopped.")

    with pytest.raises(JobCancelled):
        SourceReader(_Fixed("https://a.example/")).read("https://a.example/", "S1", cancel)


def test_a_real_page_over_a_real_connection_becomes_a_source(httpserver: HTTPServer, fetcher: Fetcher) -> None:
    httpserver.expect_request("/measles").respond_with_data(ARTICLE, content_type="text/html")
    source, text = SourceReader(fetcher).read(httpserver.url_for("/measles"), "S1")
    assert source.outcome is FetchOutcome.READ
    assert text is not None
