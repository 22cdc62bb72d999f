"""A paper whose page cannot be read is read by its abstract."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest

from crowdnotes.domain import DateOrigin, FetchOutcome, ReadAs, text_sha256
from crowdnotes.evidence.search.papers import Abstract, AbstractFinder, Paper
from crowdnotes.evidence.sources import SourceReader
from tests.evidence.fixed_pages import FixedPage, hit_of

ABSTRACT = "Two doses of the vaccine protect 97 of 100 people, as a trial of many years in six countries has shown."


class _Abstracts:
    label = "Europe PMC"

    def __init__(self, has: bool = True) -> None:
        self.asked: list[Paper] = []
        self._has = has

    def abstract(self, paper: Paper, check: Callable[[], None]) -> Abstract | None:
        self.asked.append(paper)
        found = Abstract(self.label, "The trial", ABSTRACT, date(2020, 12, 10), "10.1/x", "7", ("retracted",))
        return found if self._has else None


UNREAD = [
    outcome
    for outcome in FetchOutcome
    if outcome not in (FetchOutcome.READ, FetchOutcome.REFUSED, FetchOutcome.TOO_LATE, FetchOutcome.UNDATED)
]


@pytest.mark.parametrize("outcome", UNREAD)
def test_the_abstract_is_read_when_the_page_of_a_paper_cannot_be(outcome: FetchOutcome) -> None:
    services = _Abstracts()
    url = "https://www.nejm.org/doi/full/10.1056/NEJMoa1"
    source, text = SourceReader(FixedPage(url, outcome), AbstractFinder([services])).read(url, "S1")
    assert text == ABSTRACT
    assert services.asked == [Paper(doi="10.1056/nejmoa1")]
    assert (source.outcome, source.read_as) == (FetchOutcome.READ, ReadAs.ABSTRACT)
    assert source.outcome_detail == "Why; its abstract from Europe PMC was read instead."
    assert (source.text_sha256, source.characters, source.language) == (text_sha256(ABSTRACT), len(ABSTRACT), "en")
    assert (source.title, source.url) == ("The trial", url)
    assert (source.published, source.date_origin) == (date(2020, 12, 10), DateOrigin.SEARCH)
    assert (source.doi, source.pmid, source.notices) == ("10.1056/nejmoa1", "7", ("retracted",))


def test_a_hit_names_the_paper_that_its_address_does_not() -> None:
    services = _Abstracts()
    url = "https://journal.example/view/12"
    hit = hit_of(doi="10.1000/abc", pmid="9", notices=("preprint",), published=date(2019, 1, 2))
    source, _ = SourceReader(FixedPage(url, FetchOutcome.PAYWALLED), AbstractFinder([services])).read(
        url, "S1", hit=hit
    )
    assert services.asked == [Paper(doi="10.1000/abc", pmid="9")]
    assert source.notices == ("preprint", "retracted")
    assert (source.published, source.doi, source.pmid) == (date(2019, 1, 2), "10.1000/abc", "9")


def test_a_paper_is_known_by_where_its_link_leads() -> None:
    services = _Abstracts()
    at = FixedPage("https://doi.org/10.1000/abc", FetchOutcome.BLOCKED)
    SourceReader(at, AbstractFinder([services])).read("https://short.example/abc", "S1")
    assert services.asked == [Paper(doi="10.1000/abc")]


def test_without_an_abstract_the_label_stays_and_says_who_was_asked() -> None:
    url = "https://doi.org/10.1000/abc"
    reader = SourceReader(FixedPage(url, FetchOutcome.BLOCKED), AbstractFinder([_Abstracts(has=False)]))
    source, text = reader.read(url, "S1")
    assert text is None
    assert source.outcome is FetchOutcome.BLOCKED
    assert source.outcome_detail == "Why. Its abstract could not be had either. Europe PMC has none."


@pytest.mark.parametrize(
    ("url", "outcome"),
    [
        ("https://doi.org/10.1000/abc", FetchOutcome.REFUSED),
        ("https://doi.org/10.1000/abc", FetchOutcome.READ),
        ("https://news.example/story", FetchOutcome.BLOCKED),
    ],
)
def test_nobody_is_asked_for_an_unsafe_address_a_page_that_was_read_or_no_paper(
    url: str, outcome: FetchOutcome
) -> None:
    services = _Abstracts()
    source, _ = SourceReader(FixedPage(url, outcome), AbstractFinder([services])).read(url, "S1")
    assert services.asked == []
    assert source.outcome is outcome


def test_the_month_of_an_abstract_without_a_day_is_kept_for_the_cutoff() -> None:
    class _Partial(_Abstracts):
        def abstract(self, paper: Paper, check: Callable[[], None]) -> Abstract | None:
            return Abstract(self.label, "The trial", ABSTRACT, not_before=date(2025, 6, 1))

    url = "https://doi.org/10.1000/abc"
    reader = SourceReader(FixedPage(url, FetchOutcome.BLOCKED), AbstractFinder([_Partial()]))
    source, _ = reader.read(url, "S1")
    assert (source.published, source.not_before) == (None, date(2025, 6, 1))
