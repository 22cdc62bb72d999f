"""Words, metadata and paywalls of web pages."""

from __future__ import annotations

from contextlib import suppress
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import BADLY_READABLE, PARTS_LEFT_OUT, FetchOutcome
from crowdnotes.errors import FetchError
from crowdnotes.evidence.reading.document import HTML, PLAIN, Document
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
        (
            "<noscript>You need to enable JavaScript to run this app.</noscript>",
            FetchOutcome.UNREADABLE,
            "hardly any text",
        ),
        ("<p>Please enable JavaScript to see this." + " We care for you." * 9, FetchOutcome.UNREADABLE, "JavaScript"),
        ("", FetchOutcome.UNREADABLE, "hardly any text"),
        ("<p>Verify you are human to go on." + " Ray ID 12345." * 9, FetchOutcome.BLOCKED, "nothing to programs"),
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
        assert error.outcome in (FetchOutcome.UNREADABLE, FetchOutcome.BLOCKED, FetchOutcome.NOT_FOUND)
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
    "<div>Create a free account to read this story</div>",
    "<div>Enter your email address to keep reading</div>",
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


def _read_within(middle: str, head: str = "", *, lang: str = "en", url: str = "https://news.example.org/a") -> Document:
    page = _html(ARTICLE.replace("</article>", f"{middle}</article>"), head).decode()
    return read_body(page.replace("<html>", f"<html lang={lang}>").encode(), HTML, None, url)


@pytest.mark.parametrize(
    ("markup", "words"),
    [
        ("It holds 10<sup>6</sup> particles a dose", "It holds 10^6 particles a dose"),
        ("It holds 3.5 × 10<sup>−9</sup> mg kg<sup>-1</sup> of it", "It holds 3.5 × 10^−9 mg kg^-1 of it"),
        ("It holds 10<span style='vertical-align:super'>6</span> of them", "It holds 10^6 of them"),
        ("It holds 10<span class='superscript'>6</span> of them", "It holds 10^6 of them"),
        ("It holds 10<span style='vertical-align: 0.4em; font-size: 60%'>6</span> of them", "It holds 10^6 of them"),
        ("It holds 10<i style='position:relative; top:-4px; font-size:9px'>6</i> of them", "It holds 10^6 of them"),
        ("It holds 10<b style='position:relative; bottom:.5em; font-size:.7em'>6</b> of them", "It holds 10^6 of them"),
        ("It holds 10<span class='text-sup'>6</span> of them", "It holds 10^6 of them"),
        ("It holds 10<span style='font-variant-position:super'>6</span> of them", "It holds 10^6 of them"),
        ("It holds 10<span style='font-feature-settings:\"sups\"'>6</span> of them", "It holds 10^6 of them"),
        ("It holds 10<i style='transform:translateY(-.4em); font-size:.6em'>6</i> of them", "It holds 10^6 of them"),
        ("It holds 10<sup>6 </sup>of them", "It holds 10^6 of them"),
        ("Of 100<span class=ref>4</span> people, 17<cite>5</cite> fell ill", "Of 100 people, 17 [5] fell ill"),
        ("Of 100<sup>ref. 3</sup> people", "Of 100 [ref. 3] people"),
        ("It holds 41<span style='position:relative; top:-4px'>2</span> of them", "It holds 412 of them"),
        ("It holds 41<span style='vertical-align:-2px'>2</span> of them", "It holds 412 of them"),
        ("On 5 m<sup>2</sup> of land, R<sup>2</sup> was (a+b)<sup>2</sup>", "On 5 m^2 of land, R^2 was (a+b)^2"),
        ("Of them, 8<sup>3</sup> fell ill", "Of them, 8 [3] fell ill"),
        ("Of them, 412<sup>a</sup> fell ill", "Of them, 412 [a] fell ill"),
        ("It takes 2<sup>n</sup> or 2<sup>n−1</sup> steps", "It takes 2^n or 2^(n−1) steps"),
        ("It grows as (1+r)<sup>n</sup> and e<sup>−x</sup>", "It grows as (1+r)^n and e^−x"),
        ("As 2<sup>3</sup> = 8, 5<sup>2</sup>+3<sup>2</sup> is more", "As 2^3 = 8, 5^2+3^2 is more"),
        ("It costs $5<sup>99</sup> or 5<sup>50</sup> €", "It costs $5.99 or 5.50 €"),
        ("It costs $5<sup>12</sup> a dose", "It costs $5 [12] a dose"),  # cents, or the number of a note
        ("Of them, 412<sup>a,b</sup> fell ill", "Of them, 412 [a,b] fell ill"),
        ("Of 65<sup>+</sup> people, 3<sup>1/2</sup> cups", "Of 65+ people, 3 1/2 cups"),
        ("Of CD4<sup>+</sup> cells, 90<sup>+</sup> were", "Of CD4^+ cells, 90+ were"),
        ("Of 5,000<sup>[12]</sup> participants", "Of 5,000 participants"),
        ("Of 30<a href='#fn1'>1</a> people, 17<a href='#fn2'>[2]</a> fell ill", "Of 30 people, 17 fell ill"),
        ("See figure <a href='#fig1'>1</a> of it", "See figure 1 of it"),
        ("Of 50<sup><a href='#ref-CR3'>3</a>,<a href='#ref-CR4'>4</a></sup> people", "Of 50 people"),
        ("In 10<sup class='reference'><a href='/wiki/A#cite_note-6'>6</a></sup> towns", "In 10 towns"),
        ("It ended.<sup>12</sup> Then the trial<sup>3,4</sup> began", "It ended. Then the trial began"),
        ("It ended.<sup>[<i>citation needed</i>]</sup> Then", "It ended. [citation needed] Then"),
        (
            "The 20<sup>th</sup> and 1<sup>st</sup> of May, the XX<sup>e</sup> century",
            "The 20th and 1st of May, the XXe",
        ),
        ("It is 37<sup>o</sup>C, and 3<sup>1</sup>/<sub>2</sub> cups", "It is 37°C, and 3 1/2 cups"),
        ("Some H<sub>2</sub>O, SO<sub>4</sub><sup>2−</sup>, Ca<sup>2+</sup>", "Some H2O, SO4^2−, Ca2+"),
        ("A dose of <sup>131</sup>I in Brand<sup>TM</sup>", "A dose of 131I in BrandTM"),
        ("It was <math><mn>5</mn><mo>×</mo><msup><mn>10</mn><mn>6</mn></msup></math> of", "It was 5 × 10^6 of"),
        ("It was <math><mfrac><mn>1</mn><mn>2</mn></mfrac></math> of them", "It was 1/2 of them"),
        ("It was <img class='mwe-math-fallback-image-inline' src=x> of them", "It was [formula] of them"),
        (r"It was \(p \le 10^{-6}\) at $5 to $6 each", "It was p ≤ 10^-6 at $5 to $6 each"),
        ("It found <del>412</del> <ins>4</ins> wells", "It found 4 wells"),
        ("It found <s>412</s> <strike>41</strike> 4 wells", "It found 4 wells"),
        ("It found <span style='text-decoration:line-through red'>412</span> 4 wells", "It found 4 wells"),
        ("It found <i class=has-strikethrough>412</i> <b class=tw-line-through>41</b> 4 wells", "It found 4 wells"),
        ("It found <i class=no-line-through>412</i> <b class=hover:line-through>4</b> wells", "It found 412 4 wells"),
        ("By the 2<sup>−ΔΔCt</sup> and 2<sup>-dCT</sup> methods", "By the 2^(−ΔΔCt) and 2^(-dCT) methods"),
        ("It had <span aria-hidden=true>4.1k</span><span class=sr-only>4,100</span> wells", "It had 4.1k wells"),
        ("In 東京<ruby>都<rp>(</rp><rt>と</rt><rp>)</rp></ruby>の水", "東京都の水"),
        ("It found 4\u03361\u03362\u0336 4 of 2\u03330 wells", "It found 4 of 2\u03330 wells"),
        (
            "It found <b>4\u03381\u03382\u0338</b> s\u0336o\u0336 \u0336m\u0336e\u0336 4 of them",
            "It found 4 of them",
        ),
        ("It found 1\u0338 of 10\u03380\u0338 wells", "It found 1\u0338 of 10\u03380\u0338 wells"),
        ("On <time datetime=2021-01-31>31 January 2021</time> it fell", "On 31 January 2021 it fell"),
        ("He spoke of <q>safe water</q> in", "He spoke of “safe water” in"),
        ("The ﬁrst vac&shy;cine with eﬀect", "The first vaccine with effect"),
        (
            "It is signi\ue000cant and 1\ue0315 people, <i>\uf105</i>next",
            "It is signi\ufffdcant and 1\ufffd5 people, next",
        ),
    ],
)
def test_what_is_raised_struck_out_or_set_as_a_formula_is_read_as_printed(markup: str, words: str) -> None:
    assert words in " ".join(_read_within(f"<p>{markup} in the trial of the ministry.</p>").text.split())


def test_in_french_a_raised_letter_ends_a_number() -> None:
    assert (
        "le 2e essai de la Dr"
        in _read_within("<p>Voici le 2<sup>e</sup> essai de la D<sup>r</sup> Roux.</p>", lang="fr").text
    )


def test_struck_out_words_and_lost_letters_are_told() -> None:
    assert "struck-out" in _read_within("<p>It was <s>412</s> 4 wells.</p>").remark
    assert "struck-out" in _read_within("<p>It was 4\u03361\u0336 4 wells.</p>").remark
    assert _read_within("<p>It was 4 wells.</p>").remark == ""
    document = _read_within("<p>The signi\ue000cant bene\ue000t was con\ue000rmed.</p>")
    assert document.notices == (BADLY_READABLE,)
    assert "Compare" in document.remark


CONSENT = {
    "en": "<p>We and our 847 partners store and access information on a device, such as cookies, and process personal "
    "data for personalised advertising.</p><p>You can change your preferences before consenting.</p><button>Accept all",
    "de": "<p>Wir und unsere 217 Partner speichern Informationen auf einem Endgerät, z. B. Cookies, und verarbeiten "
    "personenbezogene Daten für personalisierte Werbung.</p><p>Ihre Einwilligung können Sie widerrufen.</p>"
    "<button>Alle akzeptieren",
    "fr": "<p>Nos partenaires et nous utilisons des cookies pour consulter des données personnelles. Vous pouvez "
    "retirer votre consentement à tout moment.</p><button>Tout accepter",
    "es": "<p>Nosotros y nuestros 800 socios accedemos a cookies y procesamos datos personales. Puede retirar su "
    "consentimiento en nuestra política de privacidad.</p><button>Aceptar y continuar",
}


@pytest.mark.parametrize("around", ["<div class=x>{}</button></div>", "<div id=onetrust-banner-sdk>{}</button></div>"])
@pytest.mark.parametrize("language", CONSENT)
def test_a_consent_notice_in_the_place_of_the_page_has_its_label_and_one_beside_it_is_left_out(
    language: str, around: str
) -> None:
    notice = around.format(CONSENT[language])
    with pytest.raises(FetchError, match=r"consent first.*paste") as failed:
        read_body(_html(f"{notice}<div id=root></div><script src=a.js></script>"), HTML, None, URL)
    assert failed.value.outcome is FetchOutcome.CONSENT
    if "onetrust" in around:
        assert read_body(_html(notice + ARTICLE), HTML, None, URL).text.split("\n")[-3:] == PARAGRAPHS


BROWSING = "<p>By continuing to browse you agree to our use of cookies.</p><button>Got it!</button>"
NAVEGAR = "<p>Ao continuar a navegar, está a consentir a sua utilização.</p><button>Concordo</button>"
MORE = "<p>Try the search, or go back to the home page of the site to find what you need today.</p>"


@pytest.mark.parametrize(
    ("title", "body", "outcome"),
    [
        ("Page not found | Valley", f"<h1>Page not found</h1>{MORE}", FetchOutcome.NOT_FOUND),
        ("Page not found | Valley", f"<h1>Page not found</h1>{MORE * 40}", FetchOutcome.NOT_FOUND),
        ("Error 404", f"<h1>Oops!</h1>{MORE}", FetchOutcome.NOT_FOUND),
        ("Valley", f"<p>We can’t find the page you’re looking for.</p>{MORE}", FetchOutcome.NOT_FOUND),
        ("Valley", f"<p>We can’t seem to find the page you’re looking for.</p>{MORE}", FetchOutcome.NOT_FOUND),
        ("Valley", f"<p>We’re having trouble locating that article.</p>{MORE}", FetchOutcome.NOT_FOUND),
        ("Valley", f"<p>This article is no longer available.</p>{MORE}", FetchOutcome.NOT_FOUND),
        ("News", f"<p>The article you requested is no longer available.</p>{MORE}", FetchOutcome.NOT_FOUND),
        ("Seite nicht gefunden - Amt", f"<h1>Hoppla</h1>{MORE}", FetchOutcome.NOT_FOUND),
        ("Page introuvable | Santé", f"<h1>Oups</h1>{MORE}", FetchOutcome.NOT_FOUND),
        ("Página no encontrada", MORE, FetchOutcome.NOT_FOUND),
        ("页面不存在", MORE, FetchOutcome.NOT_FOUND),
        ("a.org", f"<p>This domain is for sale.</p>{MORE}", FetchOutcome.NOT_FOUND),
        ("503 Service Unavailable", MORE, FetchOutcome.SERVER_ERROR),
        ("Just a moment...", "<script>window._cf_chl_opt={}</script>", FetchOutcome.BLOCKED),
        ("Access Denied", f"<h1>Access Denied</h1><p>Reference #18.2d35.</p>{MORE}", FetchOutcome.BLOCKED),
        ("x", f"<p>Bitte bestätigen Sie, dass Sie kein Roboter sind.</p>{MORE}", FetchOutcome.BLOCKED),
        ("x", f"<p>This story is not available in your region.</p>{MORE}", FetchOutcome.BLOCKED),
        ("x", f"<p>Bitte aktivieren Sie JavaScript.</p>{MORE}", FetchOutcome.UNREADABLE),
        ("x", f"{MORE}<p>Dieser Inhalt ist nur für Abonnenten.</p>", FetchOutcome.PAYWALLED),
        ("x", f"{MORE}<p>La suite est réservée aux abonnés.</p>", FetchOutcome.PAYWALLED),
        ("x", f"{MORE}<p>Lesen Sie diesen Artikel mit TalPlus</p>", FetchOutcome.PAYWALLED),
        ("x", f"{MORE}<p>¿Ya estás suscrito? Inicia sesión</p>", FetchOutcome.PAYWALLED),
        ("x", f"{MORE}<p>Para continuar a ler, inicie sessão.</p>", FetchOutcome.PAYWALLED),
        ("x", f"<p>Leider konnten wir die gewünschte Seite nicht finden.</p>{MORE}", FetchOutcome.NOT_FOUND),
        ("x", f"<p>La página solicitada ya no está disponible.</p>{MORE}", FetchOutcome.NOT_FOUND),
        ("x", f"<p>Não conseguimos encontrar a página.</p>{MORE}", FetchOutcome.NOT_FOUND),
        ("x", f"<p>お探しのページは、移動または削除された可能性があります。</p>{MORE}", FetchOutcome.NOT_FOUND),
        ("x", f"<p>We use cookies to give you the best experience on our website.</p>{BROWSING}", FetchOutcome.CONSENT),
        ("x", f"<p>Este site utiliza cookies para melhorar a sua experiência.</p>{NAVEGAR}", FetchOutcome.CONSENT),
        ("x", f"<p>Valley uses necessary cookies to make this site work.</p>{BROWSING}", FetchOutcome.CONSENT),
        ("x", f"<p>The content you requested has been moved or deleted.</p>{MORE}", FetchOutcome.NOT_FOUND),
        ("x", f"{MORE}<p>Para continuar leyendo, regístrate.</p>", FetchOutcome.PAYWALLED),
        ("x", "<p>You must be 18 or older to enter this site, which sells wine.</p><a>Yes</a>", FetchOutcome.BLOCKED),
        ("x", "<p>Bist du schon 18 Jahre alt? Hier gibt es Wein und Bier.</p><a>Ja</a>" * 2, FetchOutcome.BLOCKED),
        ("x", f"<p>The link you followed may be broken.</p>{MORE}", FetchOutcome.NOT_FOUND),
        ("x", f"<p>Sorry, this content isn’t available right now.</p>{MORE}", FetchOutcome.NOT_FOUND),
        ("410 Gone", f"<p>The resource has been removed from this server.</p>{MORE}", FetchOutcome.NOT_FOUND),
        ("x", f"<p>This tweet has been deleted by its author.</p>{MORE}", FetchOutcome.NOT_FOUND),
        ("Video unavailable", f"<p>This video is private.</p>{MORE}", FetchOutcome.NOT_FOUND),
        ("x", f"<p>Dieser Beitrag wurde depubliziert.</p>{MORE}", FetchOutcome.NOT_FOUND),
        ("x", f"<p>Cet article a été supprimé ou déplacé.</p>{MORE}", FetchOutcome.NOT_FOUND),
        ("x", f"<p>El artículo que buscas ya no está disponible.</p>{MORE}", FetchOutcome.NOT_FOUND),
        ("x", f"<p>O artigo que procura foi removido.</p>{MORE}", FetchOutcome.NOT_FOUND),
        ("x", f"<p>La pagina che hai richiesto è stata spostata.</p>{MORE}", FetchOutcome.NOT_FOUND),
        ("x", f"<p>指定されたページは存在しません。</p>{MORE}", FetchOutcome.NOT_FOUND),
        ("x", f"<p>抱歉，您访问的内容已被删除。</p>{MORE}", FetchOutcome.NOT_FOUND),
        ("Log in", "<p>You must log in to continue. E-mail or phone. Sign up here.</p>" * 2, FetchOutcome.BLOCKED),
        ("x", "<p>Log in to see photos and videos from friends. Sign up.</p>" * 2, FetchOutcome.BLOCKED),
        ("x", f"<p>Please wait while we verify your browser.</p>{MORE}", FetchOutcome.BLOCKED),
        (
            "x",
            f"<p>Our systems have detected traffic from your network that looks odd.</p>{MORE}",
            FetchOutcome.BLOCKED,
        ),
        ("429 Too Many Requests", MORE, FetchOutcome.BLOCKED),
        ("x", f"<p>Error 1015. You are being rate limited.</p>{MORE}", FetchOutcome.BLOCKED),
        ("x", f"<p>We noticed you’re using an ad blocker. Please turn it off.</p>{MORE}", FetchOutcome.BLOCKED),
        ("x", f"<p>Your browser is out of date. Please update it.</p>{MORE}", FetchOutcome.BLOCKED),
        ("x", f"<p>Error 503 Backend fetch failed. Guru Meditation.</p>{MORE}", FetchOutcome.SERVER_ERROR),
        ("x", f"<p>Application error: a client-side exception has occurred.</p>{MORE}", FetchOutcome.SERVER_ERROR),
        ("x", f"<p>Under scheduled maintenance. We will be back on Monday.</p>{MORE}", FetchOutcome.SERVER_ERROR),
        ("x", f"<p>If you are not redirected within 5 seconds, click here.</p>{MORE}", FetchOutcome.UNREADABLE),
        ("x", f"<p>Register for free to read the full article.</p>{MORE}", FetchOutcome.PAYWALLED),
        ("x", f"<p>Word nu lid en lees alle artikelen op de site.</p>{MORE}", FetchOutcome.PAYWALLED),
        (
            "x",
            "<p>Diesen Inhalt gibt es nur mit Werbung oder im Pur-Abo.</p><p>Besuchen Sie uns wie gewohnt mit Werbung "
            "und Tracking.</p><button>Akzeptieren</button>",
            FetchOutcome.CONSENT,
        ),
        ("x", f"<p>{' '.join(['Мы используем файлы cookie.'] * 4)}</p><button>Принять</button>", FetchOutcome.CONSENT),
        ("x", f"<p>{' '.join(['Tento web používá soubory cookies.'] * 4)}</p>", FetchOutcome.CONSENT),
        ("x", f"<p>{' '.join(['Denne siden bruker informasjonskapsler.'] * 4)}</p>", FetchOutcome.CONSENT),
        ("x", f"<p>{' '.join(['Tämä sivusto käyttää evästeitä.'] * 4)}</p>", FetchOutcome.CONSENT),
        ("x", f"<p>{' '.join(['Bu site çerezleri kullanır.'] * 4)}</p>", FetchOutcome.CONSENT),
        ("x", f"<p>{' '.join(['نحن نستخدم ملفات تعريف الارتباط.'] * 4)}</p>", FetchOutcome.CONSENT),
        ("x", f"<p>{' '.join(['이 웹사이트는 쿠키를 사용합니다.'] * 6)}</p>", FetchOutcome.CONSENT),
    ],
)
def test_what_a_site_shows_in_the_place_of_a_page_has_its_label(title: str, body: str, outcome: FetchOutcome) -> None:
    with pytest.raises(FetchError) as failed:
        read_body(_html(body, f"<title>{title}</title>"), HTML, None, URL)
    assert failed.value.outcome is outcome
    assert failed.value.message.count(".") >= 2 or outcome is FetchOutcome.UNREADABLE  # and what to do


@pytest.mark.parametrize(
    "body",
    [
        "<h1>Court rules on cookies</h1><p>Judges said that a ticked box is no consent, and that firms must change "
        "their pages.</p><p>The case was brought by a group of consumers against an online lottery in 2013.</p>",
        "<h1>Why you should reject cookies</h1><p>We tested 50 banners. Our reporters found that we and our readers "
        "clicked Accept all on most of them.</p><p>We value your privacy, they say, but partners store and access "
        "information on a device such as cookies and process personal data.</p><button>Accept all</button>",
        "<h1>Court rules on cookie banners</h1><p>Cookie banners must let people reject cookies as easily as accept "
        "them, a court ruled.</p><p>Consent to personalised advertising by a ticked box is none, judges said.</p>",
        "<h1>Privacy policy</h1><p>We do not sell your personal data to our partners. Our site uses cookies to keep "
        "your preferences, and you may decline cookies in your browser or withdraw your consent.</p>",
        "<h1>Consent under the GDPR</h1><p>A cookie banner that hides how to reject cookies gives no valid consent.</p>"
        "<p>We looked at 1,000 sites, and 43 % of them set advertising cookies before anybody had accepted them.</p>",
        "<h1>Valley website cookies policy</h1><p>We use cookies to make our site work. You can accept or reject the "
        "optional ones, and change your choices at any time.</p>",
        "<h1>Cookies of the valley</h1><p>We bake our cookies every morning, and each of our cookies holds oats, honey "
        "and nuts of the valley. You may decline the nuts.</p>",
        "<h1>Age gates</h1><p>Sites that sell alcohol ask: are you over 18? Most people click yes, a study found.</p>"
        + "<p>Researchers said that a button keeps nobody out, and that children saw the same pages as adults.</p>"
        + "".join(f"<p>{text}</p>" for text in PARAGRAPHS),
        "<h1>Treatment</h1><p>You may need to register to view the article, but registration is free. Surgery is the "
        "first choice.</p>",
        "<h1>Video of the wells was deleted</h1><p>The post may have been deleted by its author, a paper wrote, since "
        "the account was suspended on Tuesday. Members can log in to see what people commented.</p>",
        "<h1>Ad blockers</h1><p>A third of readers use an ad blocker, and browsers that are out of date are a risk, "
        "the office for security said. The town's site was down for maintenance when it was asked.</p>",
        "<h1>Lost wells not found</h1><p>The ministry looked for the wells of the valley for a year and found none of "
        "them, it said on Tuesday in the town hall.</p>",
    ],
)
def test_a_page_that_speaks_of_such_things_is_read(body: str) -> None:
    assert read_body(_html(f"<article>{body}</article>"), HTML, None, URL).text


def test_plain_words_in_the_place_of_a_page_have_their_label_too() -> None:
    with pytest.raises(FetchError) as failed:
        read_body(b"Just a moment...\nChecking your browser before accessing the site.", PLAIN, None, URL)
    assert failed.value.outcome is FetchOutcome.BLOCKED


LD = '<script type="application/ld+json">%s</script>'


@pytest.mark.parametrize(
    ("head", "middle", "day"),
    [
        ("", '<script>var s={"expires":"2021-01-31T00:00:00Z","datePublished":"2021-01-31"}</script>', None),
        ("", '<div data-expires="2021-01-31T00:00:00Z">x</div>', None),
        ('<meta http-equiv=expires content=2021-01-31><meta name="cookie_date" content="2021-01-31">', "", None),
        (LD % '{"@type":"Event","startDate":"2021-01-31","datePublished":"2021-01-30"}', "", None),
        ("", "<p>Data were collected until 2021-01-31 in all towns of the valley.</p>", None),
        ("", "<aside><time datetime=2021-01-31>31 Jan</time></aside>", None),
        ("", "<div class=comment><time datetime=2021-01-31>31 Jan</time></div>", None),
        (
            "",
            f"<p>On <time datetime=2021-01-31>31 Jan 2021</time> it was said that {PARAGRAPHS[1]} {PARAGRAPHS[2]}</p>",
            None,
        ),
        (LD % '{"@graph":[{"@type":"WebSite"},{"@type":"NewsArticle","datePublished":"2024-05-06T01:00Z"}]}', "", 6),
        (LD % '<!-- {"@type":"Article", /* x */ "datePublished":"2024-05-06",} //-->', "", 6),
        (
            LD % '[{"@type":"Article","datePublished":"2024-05-06"},{"@type":"Article","datePublished":"2023-05-06"}]',
            "",
            None,
        ),
        ("", "<p class=byline>By A. Person <time datetime=2024-05-06>6 May</time></p>", 6),
        ("", "<span itemprop=datePublished content=2024-05-06>May 6</span>", 6),
        ("", "<div class=post-date>May 6, 2024</div>", 6),
        (LD % '{"@type":"Article","datePublished":"Mon, 06 May 2024 10:00:00 GMT"}', "", 6),
        (LD % '{"@type":"Article","datePublished":["May 6, 2024"]}', "", 6),
        (LD % '{"@type":"Article","datePublished":{"@value":"2024-05-06"}}', "", 6),
        ("", "<div id=current-date>Monday, May 6, 2024</div>", None),
        ("", "<div class=today-date>Monday, May 6, 2024</div>", None),
        ("", "<div class=weather-date>May 6, 2024</div>", None),
        ("", "<div class=masthead-date>May 6, 2024</div>", None),
    ],
)
def test_a_date_is_what_the_page_states_as_its_own(head: str, middle: str, day: int | None) -> None:
    assert _read_within(middle, head).published == (date(2024, 5, day) if day else None)


@pytest.mark.parametrize(
    ("shown", "lang", "day"),
    [
        ("Published: 06/05/2024", "en", None),
        ("Published: 6/5/24", "en-US", None),
        ("Published: 06/05/2024, that is, May 6, 2024", "en-US", 6),
        ("Published: 06.05.2024", "en", 6),
        ("Published: 06/05/2024", "en-GB", 6),
        ("Publié le 06/05/2024", "fr", 6),
        ("Published: 05/16/2024", "en-US", 16),
        ("Published: 05/05/2024", "en-US", 5),
    ],
)
def test_a_date_whose_month_may_stand_first_gives_the_year_alone(shown: str, lang: str, day: int | None) -> None:
    document = _read_within(f"<div class=post-date>{shown}</div>", lang=lang)

    assert document.published == (date(2024, 5, day) if day else None)
    assert document.not_before == (None if day else date(2024, 1, 1))


@pytest.mark.parametrize(
    ("lang", "line"),
    [
        ("en", "<p>Last reviewed: May 6, 2024</p>"),
        ("en", "<p>Page last reviewed: 6 May 2024<br>Next review due: 6 May 2027</p>"),
        ("en", "<p>Medically reviewed by Jane Doe, MD on May 6, 2024</p>"),
        ("en", "<div><strong>Last updated</strong> <span>6 May 2024</span></div>"),
        ("en", "<dl><dt>Last updated</dt><dd>6 May 2024</dd></dl>"),
        ("en", "<footer><p>This page was last edited on 6 May 2024, at 10:22 (UTC).</p></footer>"),
        ("en", "<p>Published: May 6, 2024. Last updated: June 1, 2025.</p>"),
        ("en", "<p>Published (MM/DD/YYYY): 05/06/2024</p>"),
        ("en", "<p>Published: 05/06/2024</p><p>Last reviewed: 05/25/2025</p>"),
        ("en", "<div class=post-date>05/06/2024</div><p>Dates are MM/DD/YYYY.</p>"),
        ("en", "<time datetime=2024-05-06>May 6</time>"),
        ("en-gb", "<p>Review date: 06/05/2024</p>"),
        ("de", "<p>Stand: 6. Mai 2024</p>"),
        ("de", "<p>Zuletzt aktualisiert am 06.05.2024</p>"),
        ("es", "<p>Última actualización: 6 de mayo de 2024</p>"),
        ("fr", "<p>Mis à jour le 6 mai 2024 à 18h30</p>"),
        ("fr", "<p>Par Jean Dupont, publié le 6 mai 2024</p>"),
        ("ko", "<p>최종수정일: 2024-05-06</p>"),
        ("pt", "<p>Publicado em 06/05/2024 às 10h15 | Atualizado em 07/05/2024</p>"),
        ("ja", "<p>最終更新日：2024年5月6日</p>"),
        ("zh", "<p>发布时间：2024-05-06 10:00</p>"),
        ("en", "<p>For immediate release: May 6, 2024</p>"),
        ("pl", "<p>Opublikowano: 6 maja 2024</p>"),
        ("ru", "<p>Опубликовано 6 мая 2024</p>"),
        ("tr", "<p>Yayınlanma: 06.05.2024 10:15</p>"),
        ("sv", "<p>Publicerad 2024-05-06</p>"),
        ("ar", "<p>تاريخ النشر: 6 مايو 2024</p>"),
    ],
)
def test_a_line_that_says_so_gives_the_day_of_the_page(lang: str, line: str) -> None:
    assert _read_within(line, lang=lang).published == date(2024, 5, 6)


@pytest.mark.parametrize(
    "line",
    [
        "<p>The meeting is on May 6, 2024 at the town hall.</p>",
        "<p>When: <time datetime=2024-05-06T19:00>6 May, 7 pm</time></p>",
        "<p>Apply by <time datetime=2024-05-06>6 May 2024</time></p>",
        "<p>Next review due: 6 May 2024</p>",
        "<p>The figures were last updated on May 6, 2024 by the office.</p>",
        "<p>Updated guidance of May 6, 2024 was withdrawn.</p>",
        "<p>The study was published on May 6, 2024.</p>",
        "<ul><li><a href=/a>Lake closed</a> <time datetime=2024-05-06>6 May</time></ul>",
        "<div><a href=/a><h3>Lake closed</h3><p>Published: May 6, 2024</p></a></div>",
        "<div><h3><a href=/a>Lake closed</a></h3><p>Published: May 6, 2024</p></div>",
        "<div class=comments><p>Posted by Joe on May 6, 2024</p></div>",
        "<footer><p>Our privacy policy was last updated May 6, 2024.</p></footer>",
        "<p>Last reviewed: May 6, 2099</p>",
        "<p>Updated: Outlook 2024</p>",
    ],
)
def test_a_day_of_something_else_is_no_date_of_the_page(line: str) -> None:
    document = _read_within(line)
    assert (document.published, document.not_before) == (None, None)


def test_a_line_with_a_month_alone_gives_its_year() -> None:
    assert _read_within("<p>Last reviewed: March 2024</p>").not_before == date(2024, 1, 1)


@pytest.mark.parametrize(
    ("head", "publisher"),
    [
        ("<meta property=og:site_name content='Valley Health'><title>Trial results | Other</title>", "Valley Health"),
        (LD % '{"@type":"Article","publisher":{"@type":"Organization","name":"Valley Times"}}', "Valley Times"),
        ("<title>Trial results | Valley Health</title>", "Valley Health"),
        ("<title>Trial results - Valley Health</title>", "Valley Health"),
        ("<meta property=og:site_name content=undefined><title>Trial results | Valley Health</title>", "Valley Health"),
        ("<meta property=og:site_name content='{{ site.name }}'>", None),
        ("<meta property=og:site_name content='None of Your Business'>", "None of Your Business"),
        (LD % '{"@type":"Article","publisher":{"name":"[object Object]"}}', None),
        ("<title>Trials - a history</title>", None),
        ("<title>Valley Health | Town wells</title><h1>Town wells</h1>", "Valley Health"),
        (
            "<meta property=og:site_name content='%SITE%'><meta name=DC.publisher content='Valley Press'>",
            "Valley Press",
        ),
        ("<meta property=og:site_name content='https://a.org'><meta name=citation_publisher content=Ox>", "Ox"),
        (
            LD % '{"@graph":[{"@type":"Organization","@id":"#o","name":"Valley Times"},'
            '{"@type":"Article","publisher":{"@id":"#o"}}]}',
            "Valley Times",
        ),
        ("<title>Trial results</title>", None),
        ("<title>Town wells – Research – Valley Health</title><h1>Town wells</h1>", "Valley Health"),
        ("<title>Town wells / Valley Health</title><h1>Town wells</h1>", "Valley Health"),
        ("<title>Trial results | 2024</title>", None),
        ("<title>Trial results | Page 2</title>", None),
        ("<meta property=og:site_name content=Home><meta name=publisher content='Valley Press'>", "Valley Press"),
        ("<meta property=og:site_name content=1843>", "1843"),
    ],
)
def test_the_publisher_is_named_by_the_page_or_by_how_its_title_ends(head: str, publisher: str | None) -> None:
    assert _read_within("", head).publisher == publisher


@pytest.mark.parametrize(
    "data",
    [
        '{"@type":"ClaimReview","claimReviewed":"The wells\nare full of lead"}',
        '{"@type":"ClaimReview","claimReviewed":"The wells are full of lead"};',
        '{"@type":"ClaimReview","claimReviewed":"The wells are full of lead",}',
        '[{"@type":"ClaimReview","claimReviewed":"The wells are full of lead",},]',
        '//<![CDATA[\n{"@type":"ClaimReview","claimReviewed":"The wells are full of lead"}\n//]]>',
        '{"broken": }{"@type":"ClaimReview", // the claim\n "claimReviewed":"The wells are full of lead"}',
        '{"@type":"ClaimReview","claimReviewed":"The wells are full of lead","x":"it\\\'s http://a.org/b, [c,]"}',
        "{'@type':'ClaimReview','claimReviewed':'The wells are full of lead','x':'it's so'}",
        '{"@type":"ClaimReview","x":"He said: "Lead", she said: "No"","claimReviewed":"The wells are full of lead"}',
        '{"@type":"ClaimReview","x":""Lead" is here","claimReviewed":"The wells are full of lead"}',
        '{@type:"ClaimReview",y:undefined,claimReviewed:"The wells are full of lead"}',
        "{“@type”:“ClaimReview”,“claimReviewed”:“The wells are full of lead”}",
        "{&quot;@type&quot;:&quot;ClaimReview&quot;,&quot;claimReviewed&quot;:&quot;The wells are full of lead&quot;}",
        '{"@type":"ClaimReview","claimReviewed":"The wells are full of lead","author":{"name":"Valley"',
    ],
)
def test_a_fact_check_in_json_that_is_not_strict_is_read_beside_scripts_that_are_broken(data: str) -> None:
    head = LD % "{broken" + LD % data + LD % "]"
    document = _read_within("", head)
    assert [check.claim for check in document.fact_checks] == ["The wells are full of lead"]
    assert document.remark == ""


def test_a_fact_check_that_cannot_be_read_is_named() -> None:
    broken = LD % '{"@type":"ClaimReview" "claimReviewed":"The wells are full of lead"}'
    document = _read_within("", broken)
    assert document.fact_checks == ()
    assert "could not read this fact-check" in document.remark
    good = LD % '{"@type":"ClaimReview","claimReviewed":"The wells are full of lead"}'
    assert "could not read this fact-check" in _read_within("", good + broken).remark


@pytest.mark.parametrize(
    "folded",
    [
        "<button aria-expanded=false aria-controls=p0>Is it safe?</button><div id=p0 aria-hidden=true hidden>{}</div>",
        "<button aria-expanded=false aria-controls=p0>Is it safe?</button><div id=p0 style='display:none'>{}</div>",
        "<div hidden=until-found>{}</div>",
        "<div style='opacity:0;transform:translateY(24px)'>{}</div>",
        "<div class='wow fadeIn' style='visibility:hidden'>{}</div>",
        "<div style='max-height:0;overflow:hidden'>{}</div>",
        "<style>.fold .body{{display:none}}</style><div class=fold><div class=body>{}</div></div>",
    ],
)
def test_folded_and_faded_text_is_left_out_and_the_source_says_so(folded: str) -> None:
    answer = "<p>The town's water is safe to drink, officials said in May.</p>"
    document = _read_within(folded.format(answer))
    assert "safe to drink" not in document.text
    assert document.notices == (PARTS_LEFT_OUT,)
    assert "left out" in document.remark
    with pytest.raises(FetchError, match="a script must show its text") as failed:
        read_body(_html(folded.format(answer * 5)), HTML, None, URL)
    assert failed.value.outcome is FetchOutcome.UNREADABLE


def test_a_number_that_a_script_counts_up_to_is_not_read_as_nought() -> None:
    document = _read_within("<p>In all <b class=counter data-target=412>0</b> wells were tested; 0 were closed.</p>")
    assert "In all […] wells were tested; 0 were closed." in document.text
    assert document.notices == (PARTS_LEFT_OUT,)
    table = "<table><tr><td data-value=0.4>0</td><td data-count=0>0</td><td>5</td></tr></table>"
    assert "| 0 | 0 | 5 |" in _read_within(table).text


@pytest.mark.parametrize(
    "beside",
    [
        "<div class=mobile-menu style='display:none'>{}</div>",
        "<nav style='display:none'>{}</nav>",
        "<div role=dialog hidden>{}</div>",
        "<noscript>{}</noscript>",
        "<div class=sr-only>{}</div>",
        "<div hidden>Home News Contact About us Imprint Privacy Jobs Press</div>",
        f"<div hidden>{PARAGRAPHS[1]}</div>",
    ],
)
def test_nobody_misses_a_menu_a_dialogue_or_what_stands_elsewhere_in_plain_sight(beside: str) -> None:
    assert _read_within(beside.format("<p>Go to the page that you want to read, and read it.</p>")).notices == ()


def test_a_closed_section_of_html_itself_is_read() -> None:
    folded = "<details><summary>Is it safe?</summary><p>The water of the town is safe to drink.</p></details>"
    document = _read_within(folded)
    assert "safe to drink" in document.text
    assert document.notices == ()
