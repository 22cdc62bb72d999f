"""Words, metadata and paywalls of web pages."""

from __future__ import annotations

from contextlib import suppress
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import FetchError
from crowdnotes.evidence.reading.document import HTML, PLAIN
from crowdnotes.evidence.reading.extract import read_body

URL = "https://news.example.org/2024/vaccine-trial-results.html"
PARAGRAPHS = [
    "Vaccines are tested in three phases before a regulator allows their use in the public.",
    "In the third phase, thousands of people get either the vaccine or a placebo by lot.",
    "The trial in 2021 had 43,548 participants and lasted six months after the second dose.",
]


def _html(body: str, head: str = "") -> bytes:
    return f"<!DOCTYPE html><html><head><meta charset=utf-8>{head}</head><body>{body}</body></html>".encode()


ARTICLE = "<article><h1>Trial results</h1>" + "".join(f"<p>{text}</p>" for text in PARAGRAPHS) + "</article>"
MENU = "<nav><ul><li><a href=/>Home page of the paper</a><li><a href=/s>Subscribe now</a></ul></nav>"
METADATA = (
    "<title>Trial results | Example News</title><meta property='og:site_name' content='Example &amp; News'>"
    "<meta property='article:published_time' content='2024-03-02T10:00:00Z'>"
)


def test_an_article_keeps_its_words_paragraphs_and_metadata() -> None:
    document = read_body(_html(MENU + ARTICLE + "<footer>All rights reserved</footer>", METADATA), HTML, None, URL)
    assert document.text.split("\n")[-3:] == PARAGRAPHS
    assert "Subscribe" not in document.text
    assert (document.title, document.publisher) == ("Trial results", "Example & News")
    assert (document.published, document.language) == (date(2024, 3, 2), "en")


def test_scripts_styles_and_handlers_leave_no_trace() -> None:
    evil = (
        "<script>steal()</script><style>p{color:red}</style><img src=x onerror=alert(1)>"
        "<p onclick='alert(2)'>A harmless sentence that stands in the article.</p><iframe src='javascript:3'></iframe>"
    )
    document = read_body(_html(ARTICLE.replace("</article>", f"{evil}</article>")), HTML, None, URL)
    assert "A harmless sentence that stands in the article." in document.text
    for trace in ("steal", "color", "alert", "onerror", "javascript", "<", ">"):
        assert trace not in document.text


def test_the_references_of_an_article_are_dropped() -> None:
    listed = "<h2>References</h2><ol>" + "<li>Smith J. Lancet. 2019;3:1. doi:10.1/1</li>" * 5 + "</ol>"
    document = read_body(_html(ARTICLE.replace("</article>", f"{listed}</article>")), HTML, None, URL)
    assert document.text.endswith(PARAGRAPHS[-1])


def test_a_short_page_without_structure_is_still_read_and_the_charset_of_the_header_is_used() -> None:
    assert read_body(_html(f"<div>{PARAGRAPHS[0]}</div>"), HTML, None, URL).text == PARAGRAPHS[0]
    page = _html(ARTICLE.replace("Vaccines", "Prüfungen von Vakzinen")).replace(b"<meta charset=utf-8>", b"")
    assert "Prüfungen" in read_body(page.decode().encode("cp1252"), HTML, "iso-8859-1", URL).text


@pytest.mark.parametrize(
    ("body", "outcome", "words"),
    [
        ("<div id=root></div><script src=app.js></script>", FetchOutcome.UNREADABLE, "JavaScript"),
        ("<noscript>You need to enable JavaScript to run this app.</noscript>", FetchOutcome.UNREADABLE, "be read"),
        ("<p>Please enable JavaScript to see this." + " We care for you." * 9, FetchOutcome.UNREADABLE, "be read"),
        ("", FetchOutcome.UNREADABLE, "hardly any text"),
        ("<p>Verify you are human to go on." + " Ray ID 12345." * 9, FetchOutcome.BLOCKED, "human"),
    ],
)
def test_a_shell_or_notice_in_place_of_the_page_is_labelled(body: str, outcome: FetchOutcome, words: str) -> None:
    with pytest.raises(FetchError, match=words) as failed:
        read_body(_html(body), HTML, None, URL)
    assert failed.value.outcome is outcome


@pytest.mark.parametrize(
    "body", [b"<" * 20_000, b"<div>" * 20_000 + b"x", b"<a " + b"x=1 " * 20_000, b"<!--" * 5_000, b"&" * 20_000]
)
def test_broken_html_ends_in_words_or_a_labelled_error(body: bytes) -> None:
    try:
        assert "x=1" not in read_body(body, HTML, None, URL).text
    except FetchError as error:
        assert error.outcome is FetchOutcome.UNREADABLE


def test_a_huge_page_is_cut_rather_than_worked_through() -> None:
    body = ("<p>" + PARAGRAPHS[0] + "</p><script>" + "x" * 2_000 + "</script>") * 3_000
    assert PARAGRAPHS[0] in read_body(_html(f"<article>{body}</article>"), HTML, None, URL).text
    script = "<SCRIPT>" + "x" * 3_100_000 + "</SCRIPT>"
    assert PARAGRAPHS[0] in read_body(_html(ARTICLE, script), HTML, None, URL).text


def test_a_date_in_the_future_or_in_the_prose_is_no_date_of_the_page() -> None:
    later = "<meta property='article:published_time' content='2999-03-02T10:00:00Z'>"
    assert read_body(_html(ARTICLE, later), HTML, None, URL).published is None
    assert read_body(_html(ARTICLE), HTML, None, "https://news.example.org/a").published is None


@pytest.mark.parametrize(
    ("stated", "day", "year"),
    [
        ("content='2024-05'", None, 2024),
        ("content='2024-05-01'", date(2024, 5, 1), None),
        ("content='1 May 2024'", date(2024, 5, 1), None),
        ("content='May 1, 2024'", date(2024, 5, 1), None),
        ("content='20240531T10:00'", date(2024, 5, 31), None),
    ],
)
def test_of_a_page_that_states_a_month_alone_the_year_is_known_and_no_day_is_made_up(
    stated: str, day: date | None, year: int | None
) -> None:
    document = read_body(_html(ARTICLE, f"<meta name='date' {stated}>"), HTML, None, "https://news.example.org/a")
    assert document.published == day
    assert (document.not_before and document.not_before.year) == year


def test_plain_text_and_markdown_take_their_title_from_the_first_line_or_before_prose_from_the_link() -> None:
    document = read_body(("# Trial results #\n\n" + "\n".join(PARAGRAPHS)).encode(), PLAIN, None, URL)
    assert document.title == "Trial results"
    assert document.text.endswith(PARAGRAPHS[-1])
    prose = " ".join(PARAGRAPHS).encode()
    assert read_body(prose, PLAIN, None, URL).title == "vaccine trial results"
    assert read_body(prose, PLAIN, None, "https://a.org/1").title == "a.org"


@pytest.mark.parametrize("body", [b"", b" \n ", b"MZ\x00\x01\x02\x00" * 50, b"\xef\xbb\xbf"])
def test_a_text_file_without_text_is_unreadable(body: bytes) -> None:
    with pytest.raises(FetchError) as failed:
        read_body(body, PLAIN, None, URL)
    assert failed.value.outcome is FetchOutcome.UNREADABLE


@given(st.text(max_size=300), st.sampled_from([HTML, PLAIN]))
def test_any_text_becomes_a_document_or_a_labelled_error(text: str, kind: str) -> None:
    try:
        document = read_body(text.encode("utf-8", "surrogatepass"), kind, None, URL)
    except FetchError as error:
        assert error.outcome in (FetchOutcome.UNREADABLE, FetchOutcome.BLOCKED)
    else:
        assert document.text
        assert document.title


def test_a_page_with_a_marked_section_that_no_parser_knows_is_read_or_refused_in_words() -> None:
    for body in (b"<![broken", b"<p>" + b"Plain words of a page. " * 9 + b"</p><![broken"):
        with suppress(FetchError):
            assert "Plain words" in read_body(body, HTML, None, "https://a.example.org/").text


TEASER = "<p>Vaccines are tested in three phases before a regulator allows their use in the public.</p>" * 2
WHOLE = "".join(f"<p>Sentence {n} of the article, which has something new to say on trial {n}.</p>" for n in range(60))


def _page(text: str, head: str = "", box: str = "") -> bytes:
    return f"<html><head><title>t</title>{head}</head><body><article>{text}</article>{box}</body></html>".encode()


HEADS = [
    '<script type="application/ld+json">{"isAccessibleForFree": false}</script>',
    '<script type="application/ld+json">{"isAccessibleForFree":"https://schema.org/False"}</script>',
    '<script type="application/ld+json">{"isAccessibleForFree": false,}</script>',
    '<script type="application/ld+json">[{"@type": "NewsArticle", "isAccessibleForFree": false}, {"@type": "WebSite",'
    ' "publisher": {"@type": "Organization"}, "isAccessibleForFree": true}]</script>',
    '<script type="application/ld+json">{"isAccessibleForFree": "https:\\/\\/schema.org\\/False"}</script>',
    '<meta itemprop="isAccessibleForFree" content="False">',
    '<meta property="article:content_tier" content="locked">',
    '<meta property="article:content_tier" content="metered">',
]
BOXES = [
    "<div>Subscribe to continue reading</div>",
    "<div><p>Already a subscriber? <a>Log in</a></p></div>",
    "<aside>This article is for subscribers only. From 1 a week.</aside>",
    "<div>You’ve reached your limit of free articles this month</div>",
    "<div>Access through your institution</div><div>Purchase PDF</div>",
    "<div>Register to read the full story</div>",
    "<div>Already a member? Log in</div><div>Unlock this article</div>",
    "<div>Jetzt weiterlesen mit dem Probeabo</div>",
    "<div>Article réservé aux abonnés</div>",
    "<div>Contenido exclusivo para suscriptores</div>",
]


@pytest.mark.parametrize(("head", "box"), [(head, "") for head in HEADS] + [("", box) for box in BOXES])
def test_a_teaser_is_labelled_and_a_page_that_shows_all_of_itself_is_read(head: str, box: str) -> None:
    with pytest.raises(FetchError, match="paywall") as failed:
        read_body(_page(TEASER, head, box), HTML, "utf-8", URL)
    assert failed.value.outcome is FetchOutcome.PAYWALLED
    assert "Sentence 59" in read_body(_page(WHOLE, head, box), HTML, "utf-8", URL).text


@pytest.mark.parametrize(
    ("head", "box"),
    [
        ('<meta property="article:content_tier" content="free">', ""),
        ('<script type="application/ld+json">{"isAccessibleForFree": true}</script>', ""),
        ('<script type="application/ld+json">{"@type": "WebSite", "isAccessibleForFree": false}</script>', ""),
        ("", "<footer><a>Subscribe</a> to our newsletter</footer>"),
        ("", "<div><a>Log in</a> <a>Register</a></div>"),
        ("", "<nav>Subscribe to continue reading</nav><footer>Already a subscriber?</footer>"),
        ("", "<div>Register to view upcoming events</div>"),
        ("", "<div>Log in to view your GP record</div>"),
        ("", "<div>Already a member? <a>Log in</a></div>"),
        ("", "<div>Sign up to access our email updates. Already a member?</div>"),
        (
            '<script type="application/ld+json">{"@type": "Article", "isAccessibleForFree": true,'
            ' "mentions": {"@type": "Article", "isAccessibleForFree": false}}</script>',
            "",
        ),
        (
            '<script type="application/ld+json">{"@graph": [{"@type": "Article", "isAccessibleForFree": true},'
            ' {"@type": "Book", "isAccessibleForFree": false}]}</script>',
            "",
        ),
        (
            '<meta itemprop="isAccessibleForFree" content="true"><meta itemprop="isAccessibleForFree" content="false">',
            "",
        ),
    ],
)
def test_a_short_free_page_is_read(head: str, box: str) -> None:
    assert "three phases" in read_body(_page(TEASER, head, box), HTML, "utf-8", URL).text
