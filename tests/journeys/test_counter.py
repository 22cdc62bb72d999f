"""The counter in the browser and the rule in Python give the same count for every text."""

from __future__ import annotations

import random

import pytest
from playwright.sync_api import Browser

from crowdnotes.text.note_rules import note_length
from pages.common.components import counter_script

pytestmark = pytest.mark.journey

_TEXTS = [
    "",
    "plain words",
    "line\nbreaks\r\ncount\none",
    "https://www.cdc.gov/flu/about.html",
    "See https://a.org/x, https://b.org/y. And (https://c.org/z).",
    "https://en.wikipedia.org/wiki/Cold_(disease) and https://x.org/a_(b",
    "cdc.gov and www.who.int/news, nature.com/articles?x=1#y!",
    "That is false.The truth is better.In short: no. CDC.Gov is one, NASA.Gov too",
    "false.the end of it.no space",
    "mail me@cdc.gov or a.b@c.org now",
    "glued:https://a.org/b and xhttps://a.org",
    "HTTPS://A.ORG/B http:// https://x",
    "emoji 😀👩‍👩‍👧 and é é 한국어 中文https://a.org/中文。后面",
    "مرحبا https://a.org/مرحبا العالم",
    "z\u0317a\u0335l\u0321g\u0334o cdc.gov\u0301",
    "a.b.c.co.uk/x 1.5 3.com e.g. i.e. U.S. v2.0 file.txt file.zip",
    "“https://a.org/b” ‘https://c.org’ https://d.org…",
    "tab\there\u00a0nbsp https://a.org/\u2028next \u0085 \x1c cdc.gov\x1cx.org",
    "-cdc.gov cdc.gov- _cdc.gov @cdc.gov cdc.gov@x /cdc.gov :cdc.gov 中cdc.gov ٣cdc.gov ²cdc.gov",
    'https://a.org/[x] https://a.org/]x] <https://a.org> "https://a.org" https://a.org/x|y',
    "x.museum x.invalid x.example x.рф xn--p1ai.com a-.com -a.com a--b.com",
    "https://" + "a" * 300 + ".org/" + "b" * 300,
    "ſite.com K.com sıte.com İ.com",
    "https://example.jpを見て https://a.org/xを cdc.govを見て http://example.comだよね.comtest/a twitter.みんなです",
    "$ABBV.com #tag.com ＃tag.com $http://a.com https://a.org/Москва https://a.org/αβ?é=1 https://news24.co.za/x",
    "\ufeffcdc.gov \ufeff https://a.org\ufeffx",
]
_PARTS = [
    "https://", "http://", "cdc.gov", "who.int/x", "a.b", ".", ",", " ", "\n", "(", ")", "/", "?", "#", "@", "The",
    "word", "WORD", "é", "中", "。", "😀", "_", "-", ":", "[", "]", "\u2019", "\u200d", "1", "\u0661",
    "com", ".org", "'", "$", "を", ".jp", "ж", "é", "|", "+", "xn--", "\u0345", "ſ",
]  # fmt: skip


def _made_up(count: int) -> list[str]:
    dice = random.Random(20260101)
    return ["".join(dice.choices(_PARTS, k=dice.randint(1, 14))) for _ in range(count)]


def test_javascript_and_python_count_alike(browser: Browser) -> None:
    texts = _TEXTS + _made_up(3000)
    page = browser.new_page()
    counted = page.evaluate(
        """async ([script, texts]) => {
            const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }))
            const { noteLength } = await import(url)
            return texts.map(noteLength)
        }""",
        [counter_script(), texts],
    )
    page.close()
    differing = [(t, js, note_length(t)) for t, js in zip(texts, counted, strict=True) if js != note_length(t)]
    assert differing == []
