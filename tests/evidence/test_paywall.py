"""Pages that answer 200 and keep their text from those who do not pay."""

from __future__ import annotations

import pytest

from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import FetchError
from crowdnotes.evidence.reading.document import HTML, read_body

URL = "https://news.example.org/2024/trial.html"
TEASER = "<p>Vaccines are tested in three phases before a regulator allows their use in the public.</p>" * 2
WHOLE = "".join(f"<p>Sentence {n} of the article, which has something new to say on trial {n}.</p>" for n in range(60))


def _page(text: str, head: str = "", box: str = "") -> bytes:
    return f"<html><head><title>t</title>{head}</head><body><article>{text}</article>{box}</body></html>".encode()


HEADS = [
    '<script type="application/ld+json">{"isAccessibleForFree": false}</script>',
    '<script type="application/ld+json">{"isAccessibleForFree":"https://schema.org/False"}</script>',
    '<script type="application/ld+json">{"@type": "NewsArticle", "isAccessibleForFree": false,'
    ' "hasPart": {"isAccessibleForFree": true}}</script>',
    '<script type="application/ld+json">[{"@type": "WebSite", "isAccessibleForFree": true},'
    ' {"@type": "NewsArticle", "isAccessibleForFree": "False"}]</script>',
    '<script type="application/ld+json">{"isAccessibleForFree": false,}</script>',
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
def test_a_teaser_is_labelled(head: str, box: str) -> None:
    with pytest.raises(FetchError, match="paywall") as failed:
        read_body(_page(TEASER, head, box), HTML, "utf-8", URL)
    assert failed.value.outcome is FetchOutcome.PAYWALLED


@pytest.mark.parametrize(("head", "box"), [(head, "") for head in HEADS] + [("", box) for box in BOXES])
def test_a_page_that_shows_all_of_itself_is_read(head: str, box: str) -> None:
    assert "Sentence 59" in read_body(_page(WHOLE, head, box), HTML, "utf-8", URL).text


@pytest.mark.parametrize(
    ("head", "box"),
    [
        ('<meta property="article:content_tier" content="free">', ""),
        ('<script type="application/ld+json">{"isAccessibleForFree": true}</script>', ""),
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


@pytest.mark.parametrize("ending", ["…", "..."])
def test_a_text_that_breaks_off_beside_an_offer_is_a_teaser(ending: str) -> None:
    offer = '<aside class="sidebar">Unlock this and 3,000 others</aside>'
    page = _page(
        f"{TEASER}<p>The second of these phases began in the spring, when the first{{}}</p>", "", offer
    ).decode()
    with pytest.raises(FetchError, match="paywall"):
        read_body(page.format(ending).encode(), HTML, "utf-8", URL)
    assert "second of these" in read_body(page.format(" group came.").encode(), HTML, "utf-8", URL).text


def test_json_that_nests_without_end_is_passed_over() -> None:
    bomb = f'<script type="application/ld+json">{"[" * 100_000}</script>'
    assert "three phases" in read_body(_page(TEASER, bomb), HTML, "utf-8", URL).text
