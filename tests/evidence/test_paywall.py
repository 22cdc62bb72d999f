"""Pages that answer 200 and keep their text from those who do not pay."""

from __future__ import annotations

import pytest

from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import FetchError
from crowdnotes.evidence.content_type import HTML
from crowdnotes.evidence.reading import read_body

URL = "https://news.example.org/2024/trial.html"
TEASER = "<p>Vaccines are tested in three phases before a regulator allows their use in the public.</p>" * 2
WHOLE = "".join(f"<p>Sentence {n} of the article, which has something new to say on trial {n}.</p>" for n in range(60))


def _page(text: str, head: str = "", box: str = "") -> bytes:
    return f"<html><head><title>t</title>{head}</head><body><article>{text}</article>{box}</body></html>".encode()


HEADS = [
    '<script type="application/ld+json">{"isAccessibleForFree": false}</script>',
    '<script type="application/ld+json">{"isAccessibleForFree":"https://schema.org/False"}</script>',
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
    ],
)
def test_a_short_free_page_is_read(head: str, box: str) -> None:
    assert "three phases" in read_body(_page(TEASER, head, box), HTML, "utf-8", URL).text
