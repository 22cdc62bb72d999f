"""The pack's own addresses are answered from it, all others by the real fetcher."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from crowdnotes import demonstration
from crowdnotes.demonstration import (
    DemonstrationFetcher,
    DemonstrationLinks,
    ExamplePage,
    examples,
)
from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import JobCancelled
from crowdnotes.evidence.fetching import Page, no_check
from crowdnotes.evidence.reading.document import read_page
from crowdnotes.testing import LiveLinks
from crowdnotes.text.sentences import split_sentences
from tests.demonstrated import EXAMPLES, each_page, html_of


class _Inner:
    """Notes what it is asked for, and answers that the web is down."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def fetch(self, url: str, check: Callable[[], None] = no_check) -> Page:
        self.asked.append(url)
        return Page(url, url, FetchOutcome.UNREACHABLE, datetime.now(UTC), detail="The web is down.")


@each_page
def test_a_page_of_the_pack_comes_in_the_form_of_a_fetched_page(page: ExamplePage) -> None:
    inner = _Inner()
    got = DemonstrationFetcher(inner).fetch(page.url)
    assert (got.outcome, got.url, got.content_type, got.status) == (FetchOutcome.READ, page.url, "text/html", 200)
    assert got.body == (demonstration.ASSETS / "pages" / page.file).read_bytes()
    assert got.fetched_at.tzinfo is not None
    assert inner.asked == []


@pytest.mark.parametrize("form", ["{}/", "{}?utm_source=x", "{}#top", " {} "])
def test_other_spellings_of_an_address_lead_to_the_same_page(form: str) -> None:
    url = EXAMPLES[0].urls[0]
    plain = DemonstrationFetcher(_Inner()).fetch(form.format(url))
    insecure = DemonstrationFetcher(_Inner()).fetch(form.format(url).replace("https:", "http:"))
    assert plain.url == insecure.url == url
    assert plain.body == insecure.body != b""


@pytest.mark.parametrize(
    "url",
    [
        "https://harbour-daily.example/no-such-page",
        "https://unheard-of.example/",
        "https://harbour-daily.example/../examples.json",
        "https://harbour-daily.example/%2e%2e/examples.json",
        "https://harbour-daily.example:8080/check/2025/03/reboiled-kettle-water",
    ],
)
def test_an_address_without_a_page_is_not_found_and_asks_nobody_else(url: str) -> None:
    inner = _Inner()
    got = DemonstrationFetcher(inner).fetch(url)
    assert (got.outcome, got.status, got.body) == (FetchOutcome.NOT_FOUND, 404, b"")
    assert "no page at this address" in got.detail
    assert inner.asked == []


@pytest.mark.parametrize(
    "url",
    ["https://www.who.int/news", "not a url", "ftp://harbour-daily.example/a", "https://me@harbour-daily.example/"],
)
def test_everything_else_goes_to_the_real_fetcher(url: str) -> None:
    inner = _Inner()
    assert DemonstrationFetcher(inner).fetch(url).outcome is FetchOutcome.UNREACHABLE
    assert inner.asked == [url]


def test_the_check_of_a_cancelled_job_passes_through() -> None:
    def stop() -> None:
        raise JobCancelled("Stopped.")

    with pytest.raises(JobCancelled):
        DemonstrationFetcher(_Inner()).fetch(EXAMPLES[0].urls[0], stop)


@each_page
def test_a_page_reads_to_its_article_with_the_deciding_sentence_and_nothing_around_it(page: ExamplePage) -> None:
    document = read_page(DemonstrationFetcher(_Inner()).fetch(page.url))
    assert page.deciding in [document.text[s.start : s.end] for s in split_sentences(document.text)]
    for outside in (
        "Demonstration page",
        "References",
        "cookies",
        "Subscribe",
        "Most read",
        "Was this page",
        "Privacy",
    ):
        assert outside not in document.text


@each_page
def test_a_page_tells_its_publisher_and_date(page: ExamplePage) -> None:
    document = read_page(DemonstrationFetcher(_Inner()).fetch(page.url))
    assert (document.publisher, document.published) == (page.publisher, page.published)
    assert document.language == "en"
    assert document.title in html_of(page)


def test_the_packs_own_links_answer_and_others_under_example_are_dead_without_a_request() -> None:
    inner = LiveLinks({"https://www.who.int/news": 503})
    links = DemonstrationLinks(inner)
    for example in examples():
        assert [links.status(url, 1.0, lambda: None) for url in example.urls] == [200] * len(example.urls)
    assert links.status("https://nowhere.example/page", 1.0, lambda: None) == 404
    assert inner.asked == []
    assert links.status("https://www.who.int/news", 1.0, lambda: None) == 503
