"""HTML to a Document by trafilatura: the article's words, without menus, scripts, comments and hidden text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from lxml import etree  # type: ignore[import-untyped]  # its stubs cover too little
from lxml import html as html_parser

from crowdnotes.domain import PARTS_LEFT_OUT, FactCheck, FetchOutcome
from crowdnotes.errors import FetchError
from crowdnotes.evidence.claim_review import Item, fact_check, holds_review, loose_json, reviews_in_text
from crowdnotes.evidence.reading.document import (
    MAX_SHORT_TEASER_CHARACTERS,
    NO_TEXT_SENTENCE,
    PAYWALL_SENTENCE,
    STRUCK_SENTENCE,
    UNFINISHED_SENTENCE,
    Document,
    asks_for_money,
    asks_for_script,
    refuse_stand_in,
)
from crowdnotes.evidence.reading.hidden_text import LeftOut, drop_hidden, names_of
from crowdnotes.evidence.reading.plain_text import decode_with_remark, drop_struck, tidy_line, tidy_text
from crowdnotes.evidence.reading.printed_signs import printed_letters, readable_formulas, write_out_signs
from crowdnotes.evidence.reading.shown_dates import find_shown_date, leads_on, stated_order
from crowdnotes.text.dates import parse_date
from crowdnotes.text.urls import MAX_URL, is_web_address

if TYPE_CHECKING:
    from trafilatura.settings import Document as Extracted

_MAX_FACT_CHECKS = 5  # of a page's claims; a list of all that a site ever checked is none of this page
_MAX_ITEMS = 200  # of a page's own data that are looked at
_MAX_NAME_CHARACTERS = 100
_MAX_SITE_NAME_CHARACTERS = 50  # at the beginning of a title
_MAX_MISSED_PIECES = 500
_MIN_TEXT_CHARACTERS = 80  # characters; less is a shell or a notice, not a page
# Extraction takes about 0.1 ms a tag and never stops by itself; the longest encyclopaedia articles stay below.
_MAX_TAGS = 100_000
_MAX_CHARACTERS = 3_000_000
_SCRIPT_PATTERN = re.compile(
    r"<script(?=[\s/>]).*?(?:</script>|\Z)", re.IGNORECASE | re.DOTALL
)  # linear: it never fails to end
# What the parsers raise on pages that are made to break them.
_BROKEN_PAGE_ERRORS = (
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    ArithmeticError,
    RecursionError,
    etree.LxmlError,
)


def read_html(body: bytes, charset: str | None, url: str, fallback_title: str) -> Document:
    """Return the page's main text, one line a paragraph, with the title, site name, date and language it gives.

    Raises FetchError: UNREADABLE when there is no text without JavaScript, BLOCKED for a robot check,
    PAYWALLED when the page keeps its text from those who do not pay.
    """
    decoded, guessed = decode_with_remark(body, charset)
    html = _limit_html(decoded.replace("\x00", ""))
    tree, left_out, notice = _parse_html(html)
    items = list(_read_page_items(tree))
    published, not_before = _read_date(tree, items, url, html)
    write_out_signs(tree)
    extracted = _extract_article(tree, url)
    text = _tidy(extracted.text or "") if extracted is not None else ""
    if len(text) < _MIN_TEXT_CHARACTERS:
        text = max(text, _tidy(all_words(tree)), key=len)
    title = tidy_line((extracted.title if extracted is not None else "") or "")
    is_notice_alone = len(text) < _MIN_TEXT_CHARACTERS and len(notice) > len(text)
    refuse_stand_in(_read_title(tree) or title, notice if is_notice_alone else text, all_words(tree), html)
    if is_paywalled(tree, html, text):
        raise FetchError(PAYWALL_SENTENCE, FetchOutcome.PAYWALLED)
    missed, unfinished = _missed(left_out, text), UNFINISHED_SENTENCE * left_out.is_unfinished
    is_struck = left_out.is_struck or drop_struck((extracted.text if extracted is not None else "") or "")[1]
    fact_checks, broken = _read_page_fact_checks(tree)
    _refuse_empty(text, html, is_hidden=missed)
    return Document(
        title=title or fallback_title,
        text=text,
        publisher=_read_publisher(tree, items, title),
        published=published,
        not_before=not_before,
        language=_read_language(tree),
        canonical=_read_canonical(tree, url),
        fact_checks=fact_checks,
        asks_for_password=any((field.get("type") or "").lower() == "password" for field in tree.iter("input")),
        notices=(PARTS_LEFT_OUT,) if missed else (),
        remark=" ".join(
            filter(None, (_MISSED_SENTENCE * missed, unfinished, STRUCK_SENTENCE * is_struck, broken, guessed)),
        ),
    )


_MISSED_SENTENCE = "We left out parts that the page hides or shows only after a click. Look at the page itself."
_HIDDEN_SENTENCE = (
    "We cannot read this page: a script must show its text first. Open it in your browser and paste the text you need."
)
_BROKEN_CHECK_SENTENCE = "We could not read this fact-check's rating. Look for it on the page."


def _missed(left_out: LeftOut, text: str) -> bool:
    """Return whether hidden prose was left out that is not also visible elsewhere on the page."""
    shown = " ".join(text.split())
    return any(piece not in shown for piece in left_out.prose[:_MAX_MISSED_PIECES])


def _tidy(text: str) -> str:
    return tidy_text(drop_struck(printed_letters(readable_formulas(text)))[0])


def _parse_html(html: str) -> tuple[Any, LeftOut, str]:
    """Return the page as a tree without what it hides, what was taken out, and the words of its consent notice."""
    from trafilatura import load_html

    try:
        # As one element more, because trafilatura takes a lone fragment for no HTML at all.
        tree = load_html(html)
        if tree is None:
            tree = load_html(f"<html><body><div>{html}</div></body></html>")
        if tree is not None:
            notice = take_consent_notices(tree)
            left_out = drop_hidden(tree)
    except _BROKEN_PAGE_ERRORS as error:
        raise FetchError("The page's HTML is too broken to read.", FetchOutcome.UNREADABLE) from error
    if tree is None:
        raise FetchError("The page has hardly any text.", FetchOutcome.UNREADABLE)
    return tree, left_out, notice


def _read_language(tree: Any) -> str | None:
    found = re.match(r"[a-z]{2}(?![a-z])", (tree.get("lang") or "").strip().lower())
    return found.group() if found else None


def _read_canonical(tree: Any, url: str) -> str | None:
    """Return the address that the page gives itself, if it is of its own host: it cannot speak for another's.

    A file's page has no host (`url` is its name), and may give any web address.
    """
    given = (link.get("href") or "" for link in tree.iter("link") if "canonical" in (link.get("rel") or "").lower())
    href = next(given, "").strip()
    try:
        address = urljoin(url, href) if 0 < len(href) <= MAX_URL else ""
        own, named = (_strip_host_prefix(urlsplit(one).hostname or "") for one in (url, address))
    except ValueError:
        return None
    return address if own in ("", named) and len(address) <= MAX_URL and is_web_address(address) else None


def _strip_host_prefix(host: str) -> str:
    return re.sub(r"^(?:www\d?|m|amp|mobile)\.", "", host)


def _limit_html(html: str) -> str:
    """Return the page cut to what can be worked through in seconds; the scripts of a long one go first."""
    if len(html) > _MAX_CHARACTERS:
        html = _SCRIPT_PATTERN.sub("", html)[:_MAX_CHARACTERS]
    if html.count("<") <= _MAX_TAGS:
        return html
    at = 0
    for _ in range(_MAX_TAGS):
        at = html.find("<", at) + 1
    return html[: at - 1]


def _extract_article(tree: Any, url: str) -> Extracted | None:
    from trafilatura import bare_extraction

    try:
        extracted = bare_extraction(
            tree,
            url=url,
            favor_recall=True,
            include_comments=False,
            with_metadata=True,
            # Dates are read in `_read_date`; this keeps trafilatura from looking long.
            date_extraction_params={"extensive_search": False},
        )
    except _BROKEN_PAGE_ERRORS as error:
        raise FetchError("The page's HTML is too broken to read.", FetchOutcome.UNREADABLE) from error
    return None if isinstance(extracted, dict) else extracted


def _refuse_empty(text: str, html: str, *, is_hidden: bool) -> None:
    """Raise when there is no text, or all that it says is that it needs JavaScript."""
    if len(text) < _MIN_TEXT_CHARACTERS and is_hidden:
        raise FetchError(_HIDDEN_SENTENCE, FetchOutcome.UNREADABLE)
    if len(text) < _MIN_TEXT_CHARACTERS or asks_for_script(text):
        is_built_by_script = "<script" in html.lower() or asks_for_script(text)
        words = NO_TEXT_SENTENCE if is_built_by_script else "The page has hardly any text."
        raise FetchError(words, FetchOutcome.UNREADABLE)


def _read_title(tree: Any) -> str:
    return tidy_line(next((element.text or "" for element in tree.iter("title")), "")[:1_000])


_ARTICLE_TYPE_PATTERN = re.compile(r"Article|Posting|Report$|ClaimReview|Review$|Dataset|VideoObject|NewsStory")
_PAGE_TYPE_PATTERN = re.compile(
    r"WebPage$|QAPage|CreativeWork|Article|Posting|Report$|ClaimReview|Review$|Dataset|VideoObject"
)
_DATE_NAME_PATTERN = re.compile(
    r"(?:^|[\s_-])(?:date|datum|fecha|dateline|pubdate|published|publish\w*|posted|post-?date|entry-?date|timestamp|byline|updated|modified|last-?modified)(?:$|[\s_-])",
    re.IGNORECASE,
)
_OTHER_DATE_PATTERN = re.compile(
    r"weather|current-?(?:date|day|time)|(?:^|[\s_-])(?:today|clock|masthead)(?:$|[\s_-])"  # the day of the visit
    r"|cookie|consent|expir|event|deadline|comment|related|teaser|recommend|popular|sidebar|widget|card|copyright|birth|archive|calendar|countdown",
    re.IGNORECASE,
)
_DATE_PROPERTIES = frozenset({"datePublished", "dateCreated"})
_DATE_MARKS = ("name", "property", "itemprop", "content", "datetime", "pubdate", "class", "id", "title")
# In pages of these 03/04/2025 may be in March or in April; elsewhere the day comes first.
_MONTH_FIRST_LANGUAGES = frozenset({"", "en", "en-us", "en-ca"})
_MAX_META = 1_000
_MAX_DATE_ELEMENTS = 20
_MAX_DATE_LINE_CHARACTERS = 120  # a date in a longer paragraph is one that the text speaks of


def _read_date(tree: Any, items: Sequence[Item], url: str, html: str) -> tuple[date | None, date | None]:
    """Return the day that the page states as its own, else the first day of the year that it states."""
    root = tree.getroottree().getroot()
    may_be_month_first = (root.get("lang") or "").strip().lower() in _MONTH_FIRST_LANGUAGES
    is_month_first = stated_order(all_words(tree)) if may_be_month_first else False
    found = _parse_page_date(_find_date_in_data(items)) or _parse_page_date(_find_date_in_marks(tree, url))
    if found is not None and not _is_day_stated(f"{url} {html}", found, is_month_first is not False):
        # Taken with the day first, where the page says or shows that the month is.
        is_turned = is_month_first and found.day <= 12 and found.day != found.month
        return (found.replace(month=found.day, day=found.month), None) if is_turned else (None, date(found.year, 1, 1))
    shown = None
    if found is None:
        shown = find_shown_date(tree, _OTHER_DATE_PATTERN, is_month_first=is_month_first)
    if shown is None or not 1990 <= shown.year <= datetime.now(UTC).year:
        return found, None
    day = _parse_page_date(shown.day.isoformat()) if shown.day else None
    return day, None if shown.day else date(shown.year, 1, 1)


def _find_date_in_data(items: Sequence[Item]) -> str | None:
    """Return the day in the page's own data; None where articles differ, as on a list of them."""
    for pattern in (_ARTICLE_TYPE_PATTERN, _PAGE_TYPE_PATTERN):
        given = (item.get("datePublished") for item in items if _has_type(item, pattern))
        stated = {day for value in given if (day := _parse_stated_date(value)) is not None}
        if stated:
            return stated.pop().isoformat() if len(stated) == 1 else None
    return None


def _parse_stated_date(value: object) -> date | None:
    """Return the day that a property of JSON-LD gives, as a text, the first of a list, or a typed value."""
    value = value[0] if isinstance(value, list) and value else value
    value = value.get("@value") if isinstance(value, dict) else value
    return parse_date(value[:10]) or parse_date(value) if isinstance(value, str) else None


def _find_date_in_marks(tree: Any, url: str) -> str | None:
    """Return what htmldate finds in the address, the page's head, and in what is marked as a date, and nowhere else."""
    from htmldate import find_date

    page = etree.Element("html")
    head, body = etree.SubElement(page, "head"), etree.SubElement(page, "body")
    for meta in islice(tree.iter("meta"), _MAX_META):
        names = f"{meta.get('name')} {meta.get('property')}"
        if meta.get("http-equiv") is None and not _OTHER_DATE_PATTERN.search(names):
            _copy_marks(meta, head, "meta")
    for element in islice(_dated_elements(tree), _MAX_DATE_ELEMENTS):
        day = element.get("content") or element.get("datetime")
        if day and element.get("itemprop") in _DATE_PROPERTIES:
            etree.SubElement(head, "meta", itemprop=element.get("itemprop").lower(), content=day)
        shown = _copy_marks(element, body, "time" if element.tag == "time" else "div")
        shown.text = " ".join("".join(islice(element.itertext(), 20)).split())[:_MAX_DATE_LINE_CHARACTERS]
    try:
        found = find_date(
            html_parser.document_fromstring(html_parser.tostring(page)),
            extensive_search=False,
            original_date=True,
            url=url,
            max_date=datetime.now(UTC).date().isoformat(),
        )
    except _BROKEN_PAGE_ERRORS as error:
        raise FetchError("The page's HTML is too broken to read.", FetchOutcome.UNREADABLE) from error
    return str(found) if found else None


def _copy_marks(element: Any, into: Any, tag: str) -> Any:
    marks = {name: value for name in _DATE_MARKS if (value := element.get(name))}
    return etree.SubElement(into, tag, marks)


def _dated_elements(tree: Any) -> Iterator[Any]:
    """Yield what is marked as a date and is in no menu, comment or list of other pages, nor within prose."""
    walk = etree.iterwalk(tree, events=("start",))
    for _, element in walk:
        if not isinstance(element.tag, str):
            continue
        names = f"{element.get('class') or ''} {element.get('id') or ''} {element.get('itemprop') or ''}"[:400]
        is_whole = element.tag in ("html", "body", "main", "article")
        if (
            element.tag in ("head", "nav", "footer", "aside", "form", "script", "style")
            or (not is_whole and _OTHER_DATE_PATTERN.search(names))
            or (element.tag == "li" and leads_on(element))
        ):
            walk.skip_subtree()
        elif not is_whole and (
            element.tag in ("time", "abbr") or _DATE_NAME_PATTERN.search(re.sub("([a-z])([A-Z])", r"\1-\2", names))
        ):
            around = element.getparent() if element.tag in ("time", "abbr") else element
            line = "".join(islice(around.itertext(), 40)) if around is not None else ""
            is_short = len(" ".join(line.split())) <= _MAX_DATE_LINE_CHARACTERS
            if (is_short or _is_alone(element)) and not _OTHER_DAY_PATTERN.search(_text_before(element)):
                yield element  # and a <time> within it


# What is said of another day than the page's own, right before it.
_OTHER_DAY_PATTERN = re.compile(
    r"\b(?:when|apply|applications?|deadline|due|until|till|before|starts?|begins?|ends?|opens?|closes?|born|died|valid|"
    r"expir\w+|register|registration|join us|events?|held|takes? place|next|wann|bis|fecha límite|jusqu'au)\b"
    r"[^.\n]{0,20}$",
    re.IGNORECASE,
)


def _text_before(element: Any) -> str:
    """Return the words right before an element within its parent."""
    before, parent = element.getprevious(), element.getparent()
    if before is None:
        return (parent.text or "").strip() if parent is not None else ""
    return ("".join(islice(before.itertext(), 20)) + (before.tail or "")).strip()[-_MAX_DATE_LINE_CHARACTERS:]


def _is_alone(element: Any) -> bool:
    """Return whether an element is a line by itself, between blocks of its parent."""
    before, after, parent = element.getprevious(), element.getnext(), element.getparent()
    gap = (before.tail if before is not None else parent.text if parent is not None else "") or ""
    neighbours = (one is None or one.tag in _BLOCK_TAGS for one in (before, after))
    return all(neighbours) and not (gap + (element.tail or "")).strip()


def _parse_page_date(found: str | None) -> date | None:
    day = parse_date(found)
    return day if day is not None and day.year >= 1990 and day <= datetime.now(UTC).date() else None


def _is_day_stated(html: str, day: date, is_month_first: bool) -> bool:
    """Return whether a page names that very day.

    Of a month ("2024-05") trafilatura makes its first, or today's day in it. It takes the first number for the day, so
    03/04/2025 counts only where the month cannot come first, or where something else names the day.
    """
    today = datetime.now(UTC).date()
    year, short, month, number = f"{day:%Y}", rf"(?:{day:%Y}|{day:%y})(?!\d)", f"0?{day.month}", f"0?{day.day}"
    between, words = r"[^\d\"<>]{1,2}", r"(?:st|nd|rd|th)?[.,]?\s+(?:[^\W\d]+[.,]?\s+){0,3}"
    is_either = is_month_first and day.day <= 12 and day.day != day.month
    form_of_numbers = rf"(?<!\d)(?:{number}{between}{month}|{month}{between}{number}){between}{short}"
    forms = (
        rf"{year}{between}{month}{between}{number}(?!\d)|{day:%Y%m%d}",
        rf"(?<!\d){number}\.{month}\.{short}" if is_either else form_of_numbers,
        rf"(?<!\d){number}{words}{year}|{year}\s+[^\W\d]+\s+{number}(?!\d)",
    )
    if re.search("|".join(forms), html) is not None:
        return True
    is_made_up = day.day in (1, today.day) or (day + timedelta(days=1)).day == 1
    return not is_made_up and not (is_either and re.search(form_of_numbers, html))


# The containers of the common consent tools, and what sites call their own.
_CONSENT_CONTAINER_PATTERN = re.compile(
    r"(?:^|[\s_-])(?:onetrust\S*|ot-sdk\S*|cookiebot\S*|cybotcookiebot\S*|didomi\S*|qc-cmp2?\S*|sp_message\S*|usercentrics\S*|truste\S*|iubenda-cs\S*"
    r"|cmplz\S*|borlabs\S*|cookie[-_]?(?:consent|banner|notice|bar|law|wall|popup|modal|message|overlay|disclaimer|alert|info)\S*"
    r"|gdpr[-_]?(?:consent|banner|notice|popup|modal)\S*|cc-(?:window|banner)|(?:consent|privacy)[-_](?:banner|modal|manager|popup|wall|layer|notice|overlay)\S*|eu-cookie\S*)(?=\s|$)",
    re.IGNORECASE,
)
_MAX_CONSENT_CHARACTERS = 10_000  # a container that holds more is the page's own
_MAX_CONTAINERS = 20


def take_consent_notices(tree: Any) -> str:
    """Take notices that ask for consent out of an lxml tree, in place. Returns their words."""
    found: list[tuple[Any, str]] = []
    walk = etree.iterwalk(tree, events=("start",))
    for _, element in walk:
        if not isinstance(element.tag, str) or element.tag in ("html", "body", "main", "article", "head"):
            continue
        if _CONSENT_CONTAINER_PATTERN.search(names_of(element)) and len(found) < _MAX_CONTAINERS:
            words = "\n".join(islice(element.itertext(), 2_000)).strip()
            if (
                len(words) < _MAX_CONSENT_CHARACTERS
                and element.getparent() is not None
                and len(found) < _MAX_CONTAINERS
            ):
                found.append((element, words))
                walk.skip_subtree()
    for element, _ in found:
        element.drop_tree()
    return "\n".join(words for _, words in found)


_SKIPPED_TAGS = frozenset("script style template head svg iframe object select noscript nav footer".split())
_BLOCK_TAGS = frozenset({"p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "section", "article", "td", "dd", "dt"})


def all_words(tree: Any) -> str:
    """Return the words of an lxml tree, one line a block, without those of menus and footers."""
    pieces: list[str] = []
    walk = etree.iterwalk(tree, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        if event == "start":
            if element.tag in _SKIPPED_TAGS:
                walk.skip_subtree()
                continue
            if element.tag in _BLOCK_TAGS:
                pieces.append("\n")
            pieces.append(element.text or "")
        elif element is not tree:
            pieces.append(element.tail or "")
    return re.sub(r"\n\s*", "\n", "".join(pieces))


_MAX_TEASER_CHARACTERS = 2_000  # characters; what a paywalled page shows of itself

# https://developers.google.com/search/docs/appearance/structured-data/paywalled-content
_FREE_ACCESS_KEY = "isAccessibleForFree"
_FREE_ACCESS_PATTERN = re.compile(
    rf"[\"']?{_FREE_ACCESS_KEY}[\"']?\s*:\s*[\"']?(?:https?:\\?/\\?/schema\.org\\?/)?(true|false)", re.IGNORECASE
)
# Items that describe the site and its owner, not the page.
_SITE_TYPE_PATTERN = re.compile(r"WebSite|Organization|SearchAction|Person", re.IGNORECASE)
# The Open Graph mark of Facebook's paywall guide, and what publishers use in its place.
_PAID_TIERS = frozenset({"locked", "metered", "premium", "paid", "subscriber"})
_TIER_META_NAMES = frozenset({"article:content_tier", "content_tier", "cxenseparse:articletype"})
# What public pages have as well: two different ones are needed.
_HINT_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"already a member\s*\?",
        r"subscribe (?:now )?(?:to|and) (?:read|unlock|access|view|get)",
        r"unlock (?:this|the full|unlimited)",
        r"(?:buy|purchase|rent) (?:this )?(?:article|pdf|access)",
        r"(?:get|purchase|check) (?:full )?access (?:to (?:this|the full)|through your)",
        r"access through your institution",
    )
)


def is_paywalled(tree: Any, html: str, text: str) -> bool:
    """Return whether a page keeps most of its text from those who do not pay.

    `tree` and `html` are the page, `text` what can be read of it. A page that says it is not free but
    shows all of itself all the same was read. Menus and footers invite readers of every page: they are no sign.
    """
    if len(text) < _MAX_TEASER_CHARACTERS and (_is_stated_not_free(tree, html) or _has_paid_tier(tree)):
        return True
    if len(text) >= MAX_SHORT_TEASER_CHARACTERS:
        return False
    words = " ".join(all_words(tree).split())
    if asks_for_money(words):
        return True
    return sum(hint.search(words) is not None for hint in _HINT_PATTERNS) > 1


def _is_stated_not_free(tree: Any, html: str) -> bool:
    """Return whether "false" is all that is stated of being free: a list of several pages states both."""
    stated = Counter(value.lower() for value in _FREE_ACCESS_PATTERN.findall(html)) - Counter(
        _read_site_statements(tree)
    )
    for meta in tree.iter("meta"):
        if (meta.get("itemprop") or "").lower() == _FREE_ACCESS_KEY.lower():
            stated[(meta.get("content") or "").strip().lower().rpartition("/")[2]] += 1
    return stated["false"] > 0 and stated["true"] == 0


def _read_site_statements(tree: Any) -> Iterator[str]:
    items: list[dict[str, Any]] = []
    for text in _read_json_ld(tree):
        list(loose_json(text, object_hook=items.append))  # each item without those inside it
    for item in items:
        with suppress(RecursionError):  # of lists within lists
            if _FREE_ACCESS_KEY in item and _SITE_TYPE_PATTERN.search(str(item.get("@type"))[:100]):
                yield str(item[_FREE_ACCESS_KEY]).lower().rpartition("/")[2]


def _read_json_ld(tree: Any) -> Iterator[str]:
    for script in tree.iter("script"):
        if "ld+json" in (script.get("type") or "").lower():
            yield script.text or ""


def _read_page_items(tree: Any) -> Iterator[Item]:
    """Return the items of JSON-LD that describe the page: those on top, in a graph, and what a page is mainly about."""
    for text in _read_json_ld(tree):
        pending = list(loose_json(text))
        for _ in range(_MAX_ITEMS):
            if not pending:
                break
            item = pending.pop(0)
            if isinstance(item, list):
                pending = [*item[:_MAX_ITEMS], *pending]
            elif isinstance(item, dict):
                yield item
                pending += [item[key] for key in ("@graph", "mainEntity", "mainEntityOfPage") if key in item]


def _has_type(item: Item, pattern: re.Pattern[str]) -> bool:
    kinds = item.get("@type")
    return any(
        isinstance(kind, str) and pattern.search(kind) for kind in (kinds if isinstance(kinds, list) else [kinds])
    )


_SITE_NAME_KEYS = frozenset({"og:site_name", "application-name"})
_PUBLISHER_KEYS = frozenset(
    {"citation_journal_title", "citation_publisher", "dc.publisher", "dcterms.publisher", "publisher"}
)
# What a site leaves where nobody filled in its name.
_NO_NAME_PATTERN = re.compile(
    r"https?://.*|%[\w.-]+%|undefined|null|none|nan|n/a|untitled|site ?name|my (?:wordpress )?(?:site|blog|website)"
    r"|[\W_]+|(?:19|20)\d\d|(?:page|seite|página|pagina) \d+|home(?: ?page)?|startseite|accueil|inicio|início|index"
    r"|wordpress|joomla!?|drupal"
    r"|just another wordpress (?:site|weblog)|.*(?:\{\{|\$\{|\{%|<%|\[object ).*",
    re.IGNORECASE,
)
_TITLE_END_PATTERN = re.compile(r"(.{3,})\s+([|–—·•»«‹<~/:-]|::)\s+([^|–—·•»«‹]{2,50})$", re.DOTALL)
_TITLE_PART_PATTERN = re.compile(r"\s+(?:[|–—·•»«‹<~/:-]|::)\s+")


def _read_publisher(tree: Any, items: Sequence[Item], heading: str) -> str | None:
    """Who publishes the page as it says: og:site_name, the publisher in its data, or how its title ends or begins."""
    if name := _read_named_meta(tree, _SITE_NAME_KEYS):
        return name
    named = {str(item["@id"]): item for item in items if "@id" in item}
    for item in items:
        publisher = item.get("publisher") if _has_type(item, _PAGE_TYPE_PATTERN) else None
        publisher = publisher[0] if isinstance(publisher, list) and publisher else publisher
        if isinstance(publisher, dict) and "name" not in publisher:
            publisher = named.get(str(publisher.get("@id")))
        given = publisher.get("name") if isinstance(publisher, dict) else publisher
        name = tidy_line(unescape(given)[:1_000], _MAX_NAME_CHARACTERS) if isinstance(given, str) else ""
        if name and not is_web_address(name) and not _NO_NAME_PATTERN.fullmatch(name):
            return name
    if name := _read_named_meta(tree, _PUBLISHER_KEYS):
        return name
    found = _TITLE_END_PATTERN.match(_read_title(tree))
    if found is None:
        return None
    headings = {_fold(heading), *(_fold("".join(islice(one.itertext(), 20))) for one in islice(tree.iter("h1"), 5))}
    if _fold(found[3]) in headings:
        return tidy_line(found[1]) if len(found[1]) <= _MAX_SITE_NAME_CHARACTERS else None
    # "Vaccines - a history" names nobody; a bar does, and so does what comes after the heading and a section.
    parts = [_fold(part) for part in _TITLE_PART_PATTERN.split(found[1])]
    is_named = found[2] == "|" or _fold(found[1]) in headings or (len(parts) == 2 and parts[0] in headings)
    name = tidy_line(found[3], _MAX_NAME_CHARACTERS) if is_named else ""
    return None if _NO_NAME_PATTERN.fullmatch(name) else name or None


def _read_named_meta(tree: Any, keys: frozenset[str]) -> str:
    for meta in islice(tree.iter("meta"), _MAX_META):
        key = (meta.get("property") or meta.get("name") or "").strip().lower()
        name = tidy_line((meta.get("content") or "")[:1_000], _MAX_NAME_CHARACTERS) if key in keys else ""
        if name and not _NO_NAME_PATTERN.fullmatch(name):
            return name
    return ""


def _fold(words: str) -> str:
    return " ".join(words.split()).casefold()


def _read_page_fact_checks(tree: Any) -> tuple[tuple[FactCheck, ...], str]:
    """Return what the page's own data says of claims that it checks, and a sentence on what is broken."""
    checks = [
        [check for item in reviews_in_text(text) if (check := fact_check(item)) is not None]
        for text in _read_json_ld(tree)
        if holds_review(text)
    ]
    said = tuple(check for of_text in checks for check in of_text)[:_MAX_FACT_CHECKS]
    return said, "" if all(checks) else _BROKEN_CHECK_SENTENCE


def _has_paid_tier(tree: Any) -> bool:
    for meta in tree.iter("meta"):
        name = (meta.get("property") or meta.get("name") or "").strip().lower()
        if name in _TIER_META_NAMES and (meta.get("content") or "").strip().lower() in _PAID_TIERS:
            return True
    return False
