"""The demonstration pack is complete, marked as one, answered from itself, and reads like any other page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import Evidence, FetchOutcome, GateStatus, Source
from crowdnotes.engines.local.engine import LocalEngine
from crowdnotes.errors import ConfigurationError, JobCancelled
from crowdnotes.evidence import demo_pages
from crowdnotes.evidence.demo_pages import (
    DemonstrationFetcher,
    DemonstrationLinks,
    Example,
    ExamplePage,
    examples,
    is_demonstration_url,
)
from crowdnotes.evidence.fetching import Fetcher, Page, no_check
from crowdnotes.evidence.passages import best_passage
from crowdnotes.evidence.reading.extract import read_page
from crowdnotes.settings_sections import FetchSettings
from crowdnotes.text.note_rules import NOTE_LIMIT, find_urls, note_length
from crowdnotes.text.sentences import split_sentences
from tests.fakes import LiveLinks, brief_of
from tests.shared import minilm

EXAMPLES = examples()
PAGES = {page.url: page for example in EXAMPLES for page in example.pages}
[(OVERSTATED, TEMPTING)] = [(example, example.tempting_note) for example in EXAMPLES if example.tempting_note]
DECIDED = [example for example in EXAMPLES if example.id != "filter-headaches"]  # no sentence of its pages decides
QUICK = {OVERSTATED.id, "beach-flags"}  # one that ends in a note and one in none; the others take long to show it again
each_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.id)
each_page = pytest.mark.parametrize("page", PAGES.values(), ids=lambda page: page.file)


def html_of(page: ExamplePage) -> str:
    return (demo_pages.ASSETS / "pages" / page.file).read_text(encoding="utf-8")


def _words(html: str) -> int:
    article = re.sub(r"<head>.*?</head>", " ", html, flags=re.DOTALL)
    return len(re.sub(r"<[^>]+>", " ", article).split())


def test_there_are_six_examples() -> None:
    assert len(EXAMPLES) == len({example.id for example in EXAMPLES}) == 6


@each_example
def test_an_example_says_in_one_sentence_what_it_teaches_and_brings_two_pages_or_more(example: Example) -> None:
    assert re.fullmatch(r"[A-Z][^.]+\.", example.teaches)
    assert len(example.urls) >= 2
    assert len(example.post.text) <= NOTE_LIMIT
    assert example.post.url is None
    assert (example.post.author or "").startswith("demo_")


def test_one_example_tempts_with_a_note_that_has_the_form_of_a_note() -> None:
    assert note_length(TEMPTING) <= NOTE_LIMIT
    assert [found.url in PAGES for found in find_urls(TEMPTING)] == [True]


@each_page
def test_a_page_is_marked_as_a_demonstration_at_its_top_and_bottom(page: ExamplePage) -> None:
    html = html_of(page)
    body = html[html.index("<body>") :]
    first, last = body.index("Demonstration page"), body.rindex("Demonstration page")
    assert first < body.index("<h1") < last
    assert '<meta name="robots" content="noindex">' in html


@each_page
def test_a_page_names_its_own_invented_address_and_loads_nothing_from_elsewhere(page: ExamplePage) -> None:
    html = html_of(page)
    assert f'<link rel="canonical" href="{page.url}">' in html
    assert is_demonstration_url(page.url)
    elsewhere = [url.url for url in find_urls(html) if url.has_scheme and not is_demonstration_url(url.url)]
    assert set(elsewhere) <= {"https://schema.org/NewsArticle"}
    assert "<script" not in html


@each_page
def test_a_page_is_long_enough_to_be_read_and_short_enough_for_a_demonstration(page: ExamplePage) -> None:
    assert 250 <= _words(html_of(page)) <= 600


@each_page
def test_a_deciding_sentence_leaves_room_for_its_attribution_in_a_note(page: ExamplePage) -> None:
    assert len(page.deciding) <= 180


def test_no_page_lies_in_the_pack_unused() -> None:
    files = {path.name for path in (demo_pages.ASSETS / "pages").iterdir()}
    assert files == {page.file for page in PAGES.values()}


@pytest.fixture
def own_assets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(demo_pages, "ASSETS", tmp_path)
    examples.cache_clear()
    yield tmp_path
    examples.cache_clear()


def test_a_missing_pack_is_said_in_a_sentence_with_a_way_out(own_assets: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot read") as caught:
        examples()
    assert "assets/demonstration" in caught.value.next_step


def test_a_damaged_pack_is_told_from_a_missing_one(own_assets: Path) -> None:
    (own_assets / "examples.json").write_text('{"examples": 3}', encoding="utf-8")
    with pytest.raises(ConfigurationError, match="damaged"):
        examples()


def test_a_missing_page_is_named(own_assets: Path) -> None:
    whole = Path(demo_pages.__file__).parents[2] / "assets" / "demonstration" / "examples.json"
    (own_assets / "examples.json").write_bytes(whole.read_bytes())
    with pytest.raises(ConfigurationError, match=r"kettle-news\.html"):
        DemonstrationFetcher(_Inner()).fetch("https://harbour-daily.example/check/2025/03/reboiled-kettle-water")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://harbour-daily.example/a", True),
        ("HTTP://Harbour-Daily.EXAMPLE:8080/a?b#c", True),
        ("harbour-daily.example/a", True),
        ("https://harbour-daily.example./a", True),
        ("https://example.com/harbour-daily.example", False),
        ("https://notexample/", False),
        ("https://who.int/?from=harbour-daily.example", False),
        ("https://harbour-daily.example@who.int/", False),
        ("https://[harbour-daily.example", False),
        ("", False),
    ],
)
def test_a_demonstration_address_is_told_by_its_host_alone(url: str, expected: bool) -> None:
    assert is_demonstration_url(url) is expected


@given(st.text())
def test_any_text_can_be_asked_about(text: str) -> None:
    assert is_demonstration_url(text) in {True, False}


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
    assert (got.outcome, got.url, got.content_type) == (FetchOutcome.READ, page.url, "text/html")
    assert got.body == (demo_pages.ASSETS / "pages" / page.file).read_bytes()
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
    assert (got.outcome, got.body) == (FetchOutcome.NOT_FOUND, b"")
    assert "does not exist" in got.detail
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
    [posted] = [example.post.posted_at for example in EXAMPLES if page in example.pages]
    assert document.publisher
    assert document.published is not None
    assert posted is not None
    assert document.published <= posted.date()
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


@cache
def _evidence_of(number: int) -> list[Evidence]:
    """What the pages of that example bring, read once."""
    example, found = EXAMPLES[number], []
    for place, url in enumerate(example.urls, start=1):
        document = read_page(DemonstrationFetcher(Fetcher(FetchSettings())).fetch(url))
        source = Source(id=f"S{place}", title=document.title, url=url, publisher=document.publisher)
        passage = best_passage(document.text, example.post.text, minilm())
        found.append(Evidence(id=f"E{place}", source=source, passage=passage, rank=place, why=""))
    return found


@pytest.mark.model
@pytest.mark.filterwarnings("ignore")
def test_hints_point_at_what_the_tempting_note_says_beyond_its_source() -> None:
    (sentence,) = LocalEngine(minilm()).support(TEMPTING, _evidence_of(EXAMPLES.index(OVERSTATED))[:1])
    hints = " ".join(sentence.doubts)
    assert all(word in hints for word in ("“prove”", "“every”"))


@pytest.mark.model
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "example",
    [
        pytest.param(example, id=example.id, marks=() if example.id in QUICK else pytest.mark.deep)
        for example in DECIDED
    ],
)
def test_the_deciding_sentence_is_among_those_that_are_offered_to_quote(example: Example) -> None:
    evidence = _evidence_of(EXAMPLES.index(example))
    engine = LocalEngine(minilm())
    passages = {item.id: item.passage.text for item in evidence}
    found = engine.write(brief_of(example.post), evidence, NOTE_LIMIT, 3).quotations
    offered = {passages[each.evidence_id][each.span.start : each.span.end] for each in found}
    assert offered & {page.deciding for page in example.pages}
    assert engine.relevance(brief_of(example.post), evidence).status is GateStatus.PASS
