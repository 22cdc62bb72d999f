"""What becomes of a link: read, labelled, read by its abstract, or named with its archived copy."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime

import pytest
from pytest_httpserver import HTTPServer

from crowdnotes.domain import (
    PARTS_LEFT_OUT,
    TO_CONTENTS,
    DateOrigin,
    FactCheck,
    FetchOutcome,
    Hit,
    LinkState,
    ProviderState,
    ReadAs,
    Source,
    SourceCategory,
    text_sha256,
)
from crowdnotes.errors import JobCancelled, SearchError
from crowdnotes.evidence.fetching import Fetcher, Page, no_check
from crowdnotes.evidence.library import LibraryDocument
from crowdnotes.evidence.link_check import LinkChecker, LinkLimits
from crowdnotes.evidence.reading.document import HTML, Document
from crowdnotes.evidence.search.papers import Abstract, AbstractFinder, Paper
from crowdnotes.evidence.sources import SourceReader, build_record_source
from crowdnotes.evidence.wayback import Wayback
from crowdnotes.settings_sections import FetchSettings
from tests.fakes import LiveLinks
from tests.shared import cancelled

ARTICLE = (
    "<html><head><title>Measles</title><meta property='article:published_time' content='2024-03-02'></head>"
    "<body><article><h1>Measles</h1>"
    "<p>Measles is one of the most contagious of all human diseases, and vaccines prevent it.</p>"
    "<p>Two doses of the vaccine protect 97 of 100 people for their whole lives.</p></article></body></html>"
)


class FixedPage:
    """Every link leads to `ends`, or stays where it is; what is not read says "Why."."""

    def __init__(self, outcome: FetchOutcome = FetchOutcome.READ, body: str = ARTICLE, ends: str = "") -> None:
        self._outcome, self._body, self._ends = outcome, body, ends

    def fetch(self, url: str, check: Callable[[], None] = no_check) -> Page:
        check()
        ends, now = self._ends or url, datetime.now(UTC)
        if self._outcome is FetchOutcome.READ:
            return Page(url, ends, self._outcome, now, HTML, None, self._body.encode())
        return Page(url, ends, self._outcome, now, detail="Why.")


def _read(url: str, body: str = ARTICLE, ends: str = "", hit: Hit | None = None) -> tuple[Source, str | None]:
    return SourceReader(FixedPage(body=body, ends=ends)).read(url, "S1", hit=hit)


def hit_of(**changes: object) -> Hit:
    return Hit(provider="pubmed", title="A trial", snippet="s", query="q").replace(**changes)


def _linked(canonical: str) -> str:
    return ARTICLE.replace("</head>", f"<link rel=canonical href='{canonical}'></head>")


UNDATED = ARTICLE.replace("2024-03-02", "")


def test_a_read_source_carries_what_the_page_says_and_the_identity_of_its_text() -> None:
    url = "https://www.who.int/measles"
    source, text = _read(url)
    assert text is not None
    assert "97 of 100" in text
    assert (source.id, source.url, source.title, source.language) == ("S1", url, "Measles", "en")
    assert (source.outcome, source.outcome_detail) == (FetchOutcome.READ, "")
    assert (source.text_sha256, source.characters) == (text_sha256(text), len(text))
    assert (source.published, source.date_origin) == (date(2024, 3, 2), DateOrigin.PAGE)
    assert (source.publisher, source.category) == ("World Health Organization", SourceCategory.HEALTH_AUTHORITY)


def test_a_link_that_leads_elsewhere_says_so_and_is_judged_by_where_it_ends() -> None:
    source, _ = _read("https://short.example/abc", ends="https://www.cdc.gov/measles")
    assert (source.url, source.page_url) == ("https://short.example/abc", "https://www.cdc.gov/measles")
    assert source.category is SourceCategory.HEALTH_AUTHORITY
    assert "https://www.cdc.gov/measles" in source.outcome_detail


@pytest.mark.parametrize(
    ("own", "taken"),
    [
        ("/story", "https://www.news.example/story"),
        ("https://news.example/story", "https://news.example/story"),
        ("https://www.who.int/measles", None),  # another host
        ("https://www.news.example/" + "." * 5_000, None),
        ("?" + "a" * 4_090, None),
        ("/", None),
        ("/en/", None),
        ("/search?q=x", None),
        ("/login", None),
    ],
)
def test_the_address_that_a_page_gives_itself_counts_on_its_own_host_unless_it_is_endless_or_no_evidence(
    own: str, taken: str | None
) -> None:
    source, text = _read("https://www.news.example/story?session=1", _linked(own))
    assert (source.outcome, source.page_url) == (FetchOutcome.READ, taken)
    assert text is not None


@pytest.mark.parametrize("outcome", [outcome for outcome in FetchOutcome if outcome is not FetchOutcome.READ])
def test_each_failure_is_a_label_and_a_sentence_on_the_source(outcome: FetchOutcome) -> None:
    url = "https://www.reuters.com/x"
    source, text = SourceReader(FixedPage(outcome)).read(url, "S1")
    assert text is None
    assert (source.outcome, source.outcome_detail, source.text_sha256) == (outcome, "Why.", None)
    assert (source.title, source.publisher) == (url, "Reuters")


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
    with pytest.raises(JobCancelled):
        SourceReader(FixedPage()).read("https://a.example/x", "S1", cancelled)


def test_what_a_search_said_is_kept_and_the_pages_own_date_comes_first() -> None:
    url = "https://journal.example/view/12"
    hit = hit_of(doi="10.1000/abc", notices=("retracted",), published=date(2019, 1, 2))
    source, _ = _read(url, hit=hit)
    assert (source.notices, source.doi) == (("retracted",), "10.1000/abc")
    assert (source.published, source.date_origin) == (date(2024, 3, 2), DateOrigin.PAGE)
    undated, _ = _read(url, UNDATED, hit=hit)
    assert (undated.published, undated.date_origin) == (date(2019, 1, 2), DateOrigin.SEARCH)
    unknown, _ = _read(url, UNDATED)
    assert (unknown.published, unknown.date_origin) == (None, None)


def test_a_page_shows_what_its_own_data_says_of_a_claim_in_its_publishers_name_after_what_the_search_said() -> None:
    own = '{"claimReviewed": "C", "author": {"name": "WHO"}, "reviewRating": {"alternateName": "No"}}'
    scripts = "".join(f"<script type='application/ld+json'>{text}</script>" for text in ("{broken", f"[{own}, {own}]"))
    page = ARTICLE.replace("</head>", f"{scripts}</head>")
    alone, _ = _read("https://blog.example/a", page)
    assert {(check.claim, check.verdict, check.publisher) for check in alone.fact_checks} == {
        ("C", "No", "blog.example")
    }
    said = FactCheck(claim="C", verdict="False", publisher="Snopes")
    found, _ = _read("https://blog.example/a", page, hit=hit_of(check=said))
    assert found.fact_checks == (said,)


def test_an_archived_copy_is_judged_by_its_original() -> None:
    copy = "https://web.archive.org/web/20240101000000/https://www.who.int/measles"
    source, _ = _read(copy)
    assert (source.url, source.archived_url) == (copy, copy)
    assert (source.publisher, source.category) == ("World Health Organization", SourceCategory.HEALTH_AUTHORITY)
    led_to, _ = _read("https://www.who.int/measles", ends=copy)
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
    assert (source.outcome, text) == (FetchOutcome.NOT_EVIDENCE, None)
    assert words in source.outcome_detail


@pytest.mark.parametrize(
    ("ends", "body", "words"),
    [
        ("https://news.example/", ARTICLE, "leads to the home page"),
        ("https://news.example/search?q=story", ARTICLE, "leads to search results"),
        ("https://news.example/login?next=x", ARTICLE, "leads to a log-in page"),
        (
            "",
            f"<html lang=en><body><p>{'Welcome back, dear reader. ' * 5}</p><input type=password></body></html>",
            "asks for a password",
        ),
    ],
    ids=["home page", "search results", "log-in page", "password form and little else"],
)
def test_a_link_that_leads_to_what_is_no_evidence_is_none(ends: str, body: str, words: str) -> None:
    source, text = _read("https://news.example/2020/story", body, ends)
    assert (source.outcome, text) == (FetchOutcome.NOT_EVIDENCE, None)
    assert words in source.outcome_detail


def test_the_language_of_a_page_too_short_to_tell_is_what_it_says() -> None:
    source, _ = _read("https://a.example/x", f"<html lang=de-AT><body><p>{'2024: 17, 18, 19. ' * 9}</p></body></html>")
    assert (source.outcome, source.language) == (FetchOutcome.READ, "de")


ABSTRACT = "Two doses of the vaccine protect 97 of 100 people, as a trial of many years in six countries has shown."
DOI = "https://doi.org/10.1000/abc"


class _Abstracts:
    label = "Europe PMC"

    def __init__(self, found: Abstract | None) -> None:
        self.asked: list[Paper] = []
        self._found = found

    def abstract(self, paper: Paper, check: Callable[[], None]) -> Abstract | None:
        self.asked.append(paper)
        return self._found


@pytest.fixture
def services() -> _Abstracts:
    found = Abstract("Europe PMC", "The trial", ABSTRACT, date(2020, 12, 10), "10.1/x", "7", ("retracted",))
    return _Abstracts(found)


def _paper(
    url: str, services: _Abstracts, outcome: FetchOutcome = FetchOutcome.BLOCKED, ends: str = "", hit: Hit | None = None
) -> tuple[Source, str | None]:
    return SourceReader(FixedPage(outcome, ends=ends), AbstractFinder([services])).read(url, "S1", hit=hit)


UNREAD = [
    outcome
    for outcome in FetchOutcome
    if outcome not in (FetchOutcome.READ, FetchOutcome.REFUSED, FetchOutcome.TOO_LATE, FetchOutcome.UNDATED)
]


@pytest.mark.parametrize("outcome", UNREAD)
def test_the_abstract_is_read_when_the_page_of_a_paper_cannot_be(outcome: FetchOutcome, services: _Abstracts) -> None:
    url = "https://www.nejm.org/doi/full/10.1056/NEJMoa1"
    source, text = _paper(url, services, outcome)
    assert text == ABSTRACT
    assert services.asked == [Paper(doi="10.1056/nejmoa1")]
    assert (source.outcome, source.read_as) == (FetchOutcome.READ, ReadAs.ABSTRACT)
    assert source.outcome_detail == "Why. We read its abstract from Europe PMC."
    assert (source.text_sha256, source.characters, source.language) == (text_sha256(ABSTRACT), len(ABSTRACT), "en")
    assert (source.title, source.url) == ("The trial", url)
    assert (source.published, source.date_origin) == (date(2020, 12, 10), DateOrigin.SEARCH)
    assert (source.doi, source.pmid, source.notices) == ("10.1056/nejmoa1", "7", ("retracted",))


def test_a_hit_names_the_paper_that_its_address_does_not_and_so_does_where_a_link_leads(services: _Abstracts) -> None:
    hit = hit_of(doi="10.1000/abc", pmid="9", notices=("preprint",), published=date(2019, 1, 2))
    source, _ = _paper("https://journal.example/view/12", services, FetchOutcome.PAYWALLED, hit=hit)
    assert source.notices == ("preprint", "retracted")
    assert (source.published, source.doi, source.pmid) == (date(2019, 1, 2), "10.1000/abc", "9")
    _paper("https://short.example/abc", services, ends=DOI)
    assert services.asked == [Paper(doi="10.1000/abc", pmid="9"), Paper(doi="10.1000/abc")]


def test_without_an_abstract_the_label_stays_and_says_who_was_asked() -> None:
    source, text = _paper(DOI, _Abstracts(None))
    assert (source.outcome, text) == (FetchOutcome.BLOCKED, None)
    assert source.outcome_detail == "Why. We could not get its abstract either. Europe PMC has none."


@pytest.mark.parametrize(
    ("url", "outcome"),
    [
        (DOI, FetchOutcome.REFUSED),
        (DOI, FetchOutcome.READ),
        ("https://news.example/story", FetchOutcome.BLOCKED),
    ],
)
def test_nobody_is_asked_for_an_unsafe_address_a_page_that_was_read_or_no_paper(
    url: str, outcome: FetchOutcome, services: _Abstracts
) -> None:
    source, _ = _paper(url, services, outcome)
    assert services.asked == []
    assert source.outcome is outcome


def test_the_month_of_an_abstract_without_a_day_is_kept_for_the_cutoff() -> None:
    month = Abstract("Europe PMC", "The trial", ABSTRACT, not_before=date(2025, 6, 1))
    source, _ = _paper(DOI, _Abstracts(month))
    assert (source.published, source.not_before) == (None, date(2025, 6, 1))


URL = "https://news.example.org/2021/story"
COPY = f"https://web.archive.org/web/20230304050607/{URL}"
CLOSEST = {"available": True, "status": "200", "timestamp": "20230304050607", "url": "http://web.archive.org/x"}
ASKED_ABOUT = [
    FetchOutcome.BLOCKED,
    FetchOutcome.PAYWALLED,
    FetchOutcome.NOT_FOUND,
    FetchOutcome.TIMED_OUT,
    FetchOutcome.UNREACHABLE,
    FetchOutcome.SERVER_ERROR,
]


@pytest.fixture
def kept(httpserver: HTTPServer, wayback: Wayback) -> Wayback:
    """An archive that has one copy, of 4 March 2023."""
    httpserver.expect_request("/wayback/available").respond_with_json({"archived_snapshots": {"closest": CLOSEST}})
    return wayback


@pytest.mark.parametrize("outcome", ASKED_ABOUT)
def test_a_page_that_could_not_be_read_names_its_archived_copy(kept: Wayback, outcome: FetchOutcome) -> None:
    source, text = SourceReader(FixedPage(outcome), wayback=kept).read(URL, "S1")
    assert (source.outcome, text, source.archived_url) == (outcome, None, COPY)
    assert source.outcome_detail == "Why."
    assert source.archive_detail == "The Wayback Machine has a copy of 4 March 2023."


class Gone(FixedPage):
    """The page is `outcome`; other addresses hold the article."""

    def fetch(self, url: str, check: Callable[[], None] = no_check) -> Page:
        return super().fetch(url, check) if url == URL else FixedPage().fetch(url, check)


@pytest.mark.parametrize("outcome", ASKED_ABOUT)
def test_the_archived_copy_is_read_where_the_page_cannot_be(kept: Wayback, outcome: FetchOutcome) -> None:
    source, text = SourceReader(Gone(outcome), wayback=kept).read(URL, "S1")
    assert text is not None
    assert (source.outcome, source.read_as, source.url) == (FetchOutcome.READ, ReadAs.ARCHIVED, URL)
    assert (source.title, source.archived_url, source.published) == ("Measles", COPY, date(2024, 3, 2))
    assert source.outcome_detail == "Why. We read its archived copy of 4 March 2023."
    assert source.archive_detail == ""


class Service:
    """A reading service that remembers what it was asked, and gives `answer` or fails with it."""

    label = "Reader"

    def __init__(self, name: str, answer: Document | SearchError) -> None:
        self.name, self.answer, self.asked = name, answer, list[str]()

    def read(self, url: str, check: Callable[[], None]) -> Document:
        check()
        self.asked.append(url)
        if isinstance(self.answer, SearchError):
            raise self.answer
        return self.answer


GIVEN = Document(title="Its title", text="Measles is contagious. " * 20, published=date(2021, 2, 3))
BUSY = SearchError("It was asked too often.", ProviderState.RATE_LIMITED)


def _through(page: FixedPage, *services: Service, url: str = URL, ticked: tuple[str, ...] = ("a", "b")) -> Source:
    reader = SourceReader(page, services=services, private_hosts=["wiki.company.org"])
    return reader.read(url, "S1", through=ticked)[0]


def test_a_ticked_service_reads_what_cannot_be_read_here_and_the_source_says_so() -> None:
    busy, other = Service("a", BUSY), Service("b", GIVEN)
    source = _through(FixedPage(FetchOutcome.BLOCKED), busy, other)
    assert (source.outcome, source.read_as, source.read_through) == (FetchOutcome.READ, ReadAs.THROUGH, "Reader")
    assert (source.title, source.published, source.text_sha256) == (
        "Its title",
        date(2021, 2, 3),
        text_sha256(GIVEN.text),
    )
    assert source.outcome_detail == "Why. We read it through Reader. Nobody compared the text with the page."
    assert busy.asked == other.asked == [URL]


def test_what_a_ticked_service_answered_is_told_where_it_could_not_read_the_page_either() -> None:
    source = _through(FixedPage(FetchOutcome.BLOCKED), Service("a", BUSY))
    assert source.outcome is FetchOutcome.BLOCKED
    assert source.outcome_detail == "Why. Reader tried to read it: It was asked too often."


@pytest.mark.parametrize(
    ("outcome", "url", "ticked"),
    [
        (FetchOutcome.BLOCKED, URL, ()),
        (FetchOutcome.BLOCKED, URL, ("unknown",)),
        (FetchOutcome.REFUSED, URL, ("a",)),
        (FetchOutcome.NOT_FOUND, URL, ("a",)),
        (FetchOutcome.BLOCKED, "https://wiki.company.org/plan", ("a",)),
        (FetchOutcome.BLOCKED, "https://files.example.org/report?signature=abc", ("a",)),
        (FetchOutcome.UNREACHABLE, "http://10.0.0.1/plan", ("a",)),
        (FetchOutcome.UNREACHABLE, "http://intranet/plan", ("a",)),
    ],
)
def test_no_service_is_told_of_a_private_page_or_without_a_tick(
    outcome: FetchOutcome, url: str, ticked: tuple[str, ...]
) -> None:
    service = Service("a", GIVEN)
    assert _through(FixedPage(outcome), service, url=url, ticked=ticked).outcome is outcome
    assert service.asked == []


@pytest.mark.parametrize("outcome", [FetchOutcome.TOO_LARGE, FetchOutcome.WRONG_TYPE, FetchOutcome.REFUSED])
def test_nothing_is_asked_where_a_copy_would_not_help(
    httpserver: HTTPServer, wayback: Wayback, outcome: FetchOutcome
) -> None:
    source, _ = SourceReader(FixedPage(outcome), wayback=wayback).read(URL, "S1")
    assert (source.archived_url, source.outcome_detail) == (None, "Why.")
    assert httpserver.log == []


def _checker(status: int, wayback: Wayback) -> LinkChecker:
    at = datetime(2026, 1, 2, tzinfo=UTC)
    return LinkChecker(LiveLinks({URL: status}), LinkLimits(tries=1), lambda: at, lambda _: 0.0, wayback)


def test_a_dead_link_of_a_note_names_the_archived_copy(kept: Wayback) -> None:
    [found] = _checker(404, kept).check([URL.removeprefix("https://")])
    assert (found.state, found.archived_url) == (LinkState.DEAD, COPY)
    assert found.sentence == "This page does not exist. The Wayback Machine has a copy of 4 March 2023."
    [before] = _checker(404, kept).check([URL], until=date(2023, 3, 3))
    assert (before.archived_url, before.until) == (None, date(2023, 3, 3))


@pytest.mark.parametrize("status", [200, 403])
def test_a_link_that_is_there_is_told_to_no_archive(httpserver: HTTPServer, wayback: Wayback, status: int) -> None:
    [found] = _checker(status, wayback).check([URL])
    assert found.archived_url is None
    assert httpserver.log == []


def test_what_was_left_out_of_a_page_or_lost_is_told_of_the_source() -> None:
    hidden = "<p style='opacity:0'>The ministry found lead in 412 wells of the valley in May.</p>"
    source, _ = _read("https://a.example.org/m", ARTICLE.replace("</article>", f"{hidden}<s>412</s></article>"))
    assert source.notices == (PARTS_LEFT_OUT,)
    assert "left out" in source.outcome_detail
    assert "struck-out" in source.outcome_detail


def test_a_consent_notice_is_labelled_and_what_is_read_instead_says_only_why(services: _Abstracts) -> None:
    notice = (
        "<div id=onetrust-banner-sdk><p>We and our 847 partners use cookies and process personal data for advertising."
        " You may withdraw your consent.</p><button>Accept all</button></div>"
    )
    source, text = _read("https://a.example.org/m", notice)
    assert (source.outcome, text) == (FetchOutcome.CONSENT, None)
    assert "paste" in source.outcome_detail
    read, _ = SourceReader(FixedPage(body=notice), AbstractFinder([services])).read(DOI, "S1")
    assert read.outcome_detail.startswith("The site asks for consent first. We read its abstract")


def _filed(made: str, hit: Hit | None = None) -> Source:
    def by(*_: object) -> Document:
        return Document("Report", "The ministry tested 412 wells.", file_date=date.fromisoformat(made))

    return SourceReader(FixedPage(), by=by).read("https://a.example.org/r.pdf", "S1", hit=hit)[0]


def test_when_a_pdf_was_made_is_called_that_and_decides_over_no_cutoff() -> None:
    source = _filed("2024-03-02")
    assert (source.published, source.date_origin, source.year) == (date(2024, 3, 2), DateOrigin.FILE, None)
    late = source.timely(date(2023, 1, 1))
    assert (late.outcome, late.notices) == (FetchOutcome.READ, ("undated",))
    assert source.timely(date(2025, 1, 1)).notices == ("undated",)
    assert source.timely(date(2025, 1, 1), leave_out_undated=True).outcome is FetchOutcome.UNDATED
    assert source.kept_by_a_person(date(2023, 1, 1)).notices == ("undated",)


def test_the_day_that_a_search_gives_comes_before_that_of_a_file() -> None:
    source = _filed("2024-03-02", hit_of(published=date(2022, 5, 6)))
    assert (source.published, source.date_origin) == (date(2022, 5, 6), DateOrigin.SEARCH)


def test_a_record_whose_link_leads_to_a_table_of_contents_says_so() -> None:
    document = LibraryDocument(
        library="l", record=3, title="Gout", text="Gout is treated.", url="https://h.example/gout/"
    )
    page, contents = (
        build_record_source("library:l:3", document.replace(url=url), {})
        for url in ("https://h.example/gout/treatment", "https://h.example/gout/toc.html")
    )
    assert (page.notices, page.astray) == ((), "")
    assert (contents.notices, contents.astray) == ((TO_CONTENTS,), "its link leads to a table of contents")
    assert (contents.characters, contents.library, contents.record) == (16, "l", 3)
