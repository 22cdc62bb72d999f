"""One page is one source, however many links lead to it."""

from __future__ import annotations

from crowdnotes.cases.gathering import distinct
from crowdnotes.domain import FetchOutcome, Source


def test_pages_of_one_site_that_share_a_canonical_link_stay_apart() -> None:
    def page(number: int, **changes: object) -> Source:
        url = f"https://news.example.org/{number}"
        source = Source(id=f"url:{number}", title=f"Title {number}", url=url, text_sha256=f"{number}")
        return source.model_copy(update={"page_url": "https://news.example.org/all", **changes})

    pages = [page(1), page(2), page(3)]
    assert distinct(pages) == pages
    same_words, same_title = page(4, text_sha256="1"), page(5, title="Title 2")
    assert distinct([*pages, same_words, same_title]) == pages
    failed = page(6, text_sha256=None, outcome=FetchOutcome.BLOCKED)
    assert distinct([failed, *pages]) == pages
