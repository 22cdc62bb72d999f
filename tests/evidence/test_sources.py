from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest
from pytest_httpserver import HTTPServer

from crowdnotes.domain import DateOrigin, FetchOutcome, SourceCategory, text_sha256
from crowdnotes.errors import JobCancelled
from crowdnotes.evidence.fetching import Fetcher, Page, no_check
from crowdnotes.evidence.sources import SourceReader
from crowdnotes.settings import FetchSettings
from tests.evidence.fixed_pages import ARTICLE, FixedPage, hit_of


def test_a_read_source_carries_what_the_page_says_and_the_identity_of_its_text() -> None:
    url = "https://www.who.int/measles"
    source, text = SourceReader(FixedPage(url)).read(url, "S1")
    assert text is not None
    assert "97 of 100" in text
    assert (source.id, source.url, source.title, source.language) == ("S1", url, "Measles", "en")
    assert (source.outcome, source.outcome_detail) == (FetchOutcome.READ, "")
    assert (source.text_sha256, source.characters) == (text_sha256(text), len(text))
    assert (source.published, source.date_origin) == (date(2024, 3, 2), DateOrigin.PAGE)
    assert (source.publisher, source.category) == ("World Health Organization", SourceCategory.HEALTH_AUTHORITY)


def test_a_source_without_a_date_states_no_origin_of_one() -> None:
    source, _ = SourceReader(FixedPage("https://a.example/x", body=ARTICLE.replace("2024-03-02", ""))).read(
        "https://a.example/x", "S1"
    )
    assert (source.published, source.date_origin) == (None, None)


def test_a_link_that_leads_elsewhere_says_so_and_is_judged_by_where_it_ends() -> None:
    source, _ = SourceReader(FixedPage("https://www.cdc.gov/measles")).read("https://short.example/abc", "S1")
    assert (source.url, source.page_url) == ("https://short.example/abc", "https://www.cdc.gov/measles")
    assert source.category is SourceCategory.HEALTH_AUTHORITY
    assert "https://www.cdc.gov/measles" in source.outcome_detail


@pytest.mark.parametrize("own", ["https://a.example/" + "." * 5_000, "?" + "a" * 4_090])
def test_an_endless_address_that_a_page_gives_itself_is_not_taken(own: str) -> None:
    url = "https://a.example/x"
    body = ARTICLE.replace("<head>", f'<head><link rel="canonical" href="{own}">')
    source, text = SourceReader(FixedPage(url, body=body)).read(url, "S1")
    assert text is not None
    assert source.page_url is None


@pytest.mark.parametrize("outcome", [outcome for outcome in FetchOutcome if outcome is not FetchOutcome.READ])
def test_each_failure_is_a_label_and_a_sentence_on_the_source(outcome: FetchOutcome) -> None:
    url = "https://www.reuters.com/x"
    source, text = SourceReader(FixedPage(url, outcome)).read(url, "S1")
    assert text is None
    assert (source.outcome, source.outcome_detail, source.text_sha256) == (outcome, "Why.", None)
    assert (source.title, source.publisher) == (url, "Reuters")


def test_an_empty_page_is_unreadable() -> None:
    source, text = SourceReader(FixedPage("https://a.example/x", body="<div id=root></div><script></script>")).read(
        "https://a.example/x", "S1"
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
        SourceReader(FixedPage("https://a.example/x")).read("https://a.example/x", "S1", cancel)


def test_a_real_page_over_a_real_connection_becomes_a_source(httpserver: HTTPServer, fetcher: Fetcher) -> None:
    httpserver.expect_request("/measles").respond_with_data(ARTICLE, content_type="text/html")
    source, text = SourceReader(fetcher).read(httpserver.url_for("/measles"), "S1")
    assert source.outcome is FetchOutcome.READ
    assert text is not None


def test_what_a_search_said_is_kept_and_the_pages_own_date_comes_first() -> None:
    url = "https://journal.example/view/12"
    hit = hit_of(doi="10.1000/abc", notices=("retracted",), published=date(2019, 1, 2))
    source, _ = SourceReader(FixedPage(url)).read(url, "S1", hit=hit)
    assert (source.notices, source.doi) == (("retracted",), "10.1000/abc")
    assert (source.published, source.date_origin) == (date(2024, 3, 2), DateOrigin.PAGE)
    undated, _ = SourceReader(FixedPage(url, body=ARTICLE.replace("2024-03-02", ""))).read(url, "S1", hit=hit)
    assert (undated.published, undated.date_origin) == (date(2019, 1, 2), DateOrigin.SEARCH)


def test_an_archived_copy_is_judged_by_its_original() -> None:
    copy = "https://web.archive.org/web/20240101000000/https://www.who.int/measles"
    source, _ = SourceReader(FixedPage(copy)).read(copy, "S1")
    assert (source.url, source.archived_url) == (copy, copy)
    assert (source.publisher, source.category) == ("World Health Organization", SourceCategory.HEALTH_AUTHORITY)
    led_to, _ = SourceReader(FixedPage(copy)).read("https://www.who.int/measles", "S1")
    assert (led_to.archived_url, led_to.outcome_detail) == (copy, "")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://www.who.int/", "home page"),
        ("https://www.google.com/search?q=measles", "search results"),
        ("https://x.com/i/flow/login", "log-in page"),
    ],
)
def test_what_cannot_be_evidence_is_not_even_fetched(url: str, words: str) -> None:
    class Untouched:
        def fetch(self, url: str, check: Callable[[], None] = no_check) -> Page:
            raise AssertionError(url)

    source, text = SourceReader(Untouched()).read(url, "S1")
    assert text is None
    assert source.outcome is FetchOutcome.NOT_EVIDENCE
    assert words in source.outcome_detail


@pytest.mark.parametrize("ends", ["https://news.example/", "https://news.example/login?next=x"])
def test_a_link_that_leads_to_the_home_page_or_a_log_in_page_is_no_evidence(ends: str) -> None:
    source, text = SourceReader(FixedPage(ends)).read("https://news.example/2020/story", "S1")
    assert text is None
    assert source.outcome is FetchOutcome.NOT_EVIDENCE
    assert "leads to" in source.outcome_detail


def test_a_page_with_a_password_form_and_little_else_is_no_evidence() -> None:
    form = "<html lang=en><body><p>" + "Welcome back, dear reader. " * 5 + "</p><input type=password></body></html>"
    url = "https://news.example/2020/story"
    source, _ = SourceReader(FixedPage(url, body=form)).read(url, "S1")
    assert source.outcome is FetchOutcome.NOT_EVIDENCE


def test_the_address_that_a_page_gives_itself_counts_on_its_own_host_alone() -> None:
    def read(canonical: str) -> str | None:
        link = f"<link rel=canonical href='{canonical}'></head>"
        url = "https://www.news.example/story?session=1"
        return SourceReader(FixedPage(url, body=ARTICLE.replace("</head>", link))).read(url, "S1")[0].page_url

    assert read("/story") == "https://www.news.example/story"
    assert read("https://news.example/story") == "https://news.example/story"
    assert read("https://www.who.int/measles") is None


def test_the_language_of_a_page_too_short_to_tell_is_what_it_says() -> None:
    body = f"<html lang=de-AT><body><p>{'2024: 17, 18, 19. ' * 9}</p></body></html>"
    url = "https://a.example/x"
    source, _ = SourceReader(FixedPage(url, body=body)).read(url, "S1")
    assert (source.outcome, source.language) == (FetchOutcome.READ, "de")


@pytest.mark.parametrize("own", ["/", "/en/", "/search?q=x", "/login"])
def test_a_page_that_calls_itself_the_home_page_keeps_its_own_address(own: str) -> None:
    url = "https://www.news.example/story"
    body = ARTICLE.replace("</head>", f"<link rel=canonical href='{own}'></head>")
    source, text = SourceReader(FixedPage(url, body=body)).read(url, "S1")
    assert (source.outcome, source.page_url) == (FetchOutcome.READ, None)
    assert text is not None
