"""HTML to a Document by trafilatura: the article's words, without menus, scripts, comments and hidden text."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from lxml.etree import LxmlError, iterwalk  # type: ignore[import-untyped]  # its stubs cover too little

from crowdnotes.domain import FactCheck, FetchOutcome
from crowdnotes.errors import FetchError
from crowdnotes.evidence.claim_review import fact_check, reviews_in_text
from crowdnotes.evidence.reading.document import Document
from crowdnotes.evidence.reading.hidden_text import drop_hidden
from crowdnotes.evidence.reading.plain_text import decode, tidy_line, tidy_text
from crowdnotes.text.dates import parse_date
from crowdnotes.text.urls import MAX_URL, is_web_address

if TYPE_CHECKING:
    from trafilatura.settings import Document as Extracted

_MAX_FACT_CHECKS = 5  # of a page's claims; a list of all that a site ever checked is none of this page
_MIN_TEXT_CHARACTERS = 80  # characters; less is a shell or a notice, not a page
_MAX_NOTICE_CHARACTERS = 700  # characters; a text shorter than this may be a notice instead of the page
# Extraction takes about 0.1 ms a tag and never stops by itself; the longest encyclopaedia articles stay below.
_MAX_TAGS = 100_000
_MAX_CHARACTERS = 3_000_000
_SCRIPT_PATTERN = re.compile(
    r"<script(?=[\s/>]).*?(?:</script>|\Z)", re.IGNORECASE | re.DOTALL
)  # linear: it never fails to end
# What the parsers raise on pages that are made to break them.
_BROKEN_PAGE_ERRORS = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError, LxmlError)
_SCRIPT_NOTICE_PATTERN = re.compile(
    r"(?:enable|activate|requires?|turn on|needs?)\s+(?:\w+\s+){0,2}javascript"
    r"|javascript (?:is|must be) (?:disabled|enabled|required)",
    re.IGNORECASE,
)
_ROBOT_CHECK_PATTERN = re.compile(
    r"verify(?:ing)? (?:that )?you are (?:a )?human|checking your browser|are you a robot|complete the captcha"
    r"|unusual traffic|access (?:to this page has been )?denied|request (?:was )?blocked|just a moment\.\.\.",
    re.IGNORECASE,
)


def read_html(body: bytes, charset: str | None, url: str, fallback_title: str) -> Document:
    """The page's main text, one line a paragraph, with the title, site name, date and language it gives.

    Raises FetchError: UNREADABLE when there is no text without JavaScript, BLOCKED for a robot check,
    PAYWALLED when the page keeps its text from those who do not pay.
    """
    html = _limit_html(decode(body, charset).replace("\x00", ""))
    tree = _parse_html(html)
    extracted = _extract_article(tree, url)
    text = tidy_text(extracted.text or "") if extracted is not None else ""
    if len(text) < _MIN_TEXT_CHARACTERS:
        text = max(text, tidy_text(all_words(tree)), key=len)
    if is_paywalled(tree, html, text):
        raise FetchError("The page is behind a paywall and shows its beginning only.", FetchOutcome.PAYWALLED)
    _refuse_notice(text, html)
    day = _parse_page_date(extracted.date if extracted is not None else None)
    is_stated = day is not None and _is_day_stated(f"{url} {html}", day)
    title = tidy_line((extracted.title if extracted is not None else "") or "")
    return Document(
        title=title or fallback_title,
        text=text,
        publisher=tidy_line((extracted.sitename if extracted is not None else "") or "", 100) or None,
        published=day if is_stated else None,
        not_before=date(day.year, 1, 1) if day is not None and not is_stated else None,
        language=_read_language(tree),
        canonical=_read_canonical(tree, url),
        fact_checks=tuple(islice(_read_page_fact_checks(tree), _MAX_FACT_CHECKS)),
        asks_for_password=any((field.get("type") or "").lower() == "password" for field in tree.iter("input")),
    )


def _parse_html(html: str) -> Any:
    """The page as a tree, without what it hides."""
    from trafilatura import load_html

    try:
        # As one element more, because trafilatura takes a lone fragment for no HTML at all.
        tree = load_html(html)
        if tree is None:
            tree = load_html(f"<html><body><div>{html}</div></body></html>")
        if tree is not None:
            drop_hidden(tree)
    except _BROKEN_PAGE_ERRORS as error:
        raise FetchError("The page's HTML is too broken to read.", FetchOutcome.UNREADABLE) from error
    if tree is None:
        raise FetchError("The page holds hardly any text, so it cannot be read here.", FetchOutcome.UNREADABLE)
    return tree


def _read_language(tree: Any) -> str | None:
    found = re.match(r"[a-z]{2}(?![a-z])", (tree.get("lang") or "").strip().lower())
    return found.group() if found else None


def _read_canonical(tree: Any, url: str) -> str | None:
    """The address that the page gives itself, if it is of its own host: it cannot speak for another's.

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
    """The page cut to what can be worked through in seconds; the scripts of a long one go first."""
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
            # Only dates that the page states as its own: a guess from the prose is worse than none.
            date_extraction_params={
                "original_date": True,
                "extensive_search": False,
                "max_date": datetime.now(UTC).date().isoformat(),
            },
        )
    except _BROKEN_PAGE_ERRORS as error:
        raise FetchError("The page's HTML is too broken to read.", FetchOutcome.UNREADABLE) from error
    return None if isinstance(extracted, dict) else extracted


def _refuse_notice(text: str, html: str) -> None:
    """Raise when the text is not the page but a notice in its place."""
    if len(text) < _MAX_NOTICE_CHARACTERS and _ROBOT_CHECK_PATTERN.search(text):
        raise FetchError(
            "The site asks whether a human is reading, and shows no page to programs.", FetchOutcome.BLOCKED
        )
    if len(text) < _MIN_TEXT_CHARACTERS or (len(text) < _MAX_NOTICE_CHARACTERS and _SCRIPT_NOTICE_PATTERN.search(text)):
        words = (
            "The page shows no text without JavaScript, so it cannot be read here."
            if "<script" in html.lower()
            else "The page holds hardly any text, so it cannot be read here."
        )
        raise FetchError(words, FetchOutcome.UNREADABLE)


def _parse_page_date(found: str | None) -> date | None:
    day = parse_date(found)
    return day if day is not None and day.year >= 1990 and day <= datetime.now(UTC).date() else None


def _is_day_stated(html: str, day: date) -> bool:
    """Whether a page names that very day. Of a month ("2024-05") trafilatura makes its first, or today's day in it."""
    today = datetime.now(UTC).date()
    if day.day not in (1, today.day) and (day + timedelta(days=1)).day != 1:
        return True  # no day that it makes up
    year, short, month, number = f"{day:%Y}", rf"(?:{day:%Y}|{day:%y})(?!\d)", f"0?{day.month}", f"0?{day.day}"
    between, words = r"[^\d\"<>]{1,2}", r"(?:st|nd|rd|th)?[.,]?\s+(?:[^\W\d]+[.,]?\s+){0,3}"
    forms = (
        rf"{year}{between}{month}{between}{number}(?!\d)|{day:%Y%m%d}",
        rf"(?<!\d)(?:{number}{between}{month}|{month}{between}{number}){between}{short}",
        rf"(?<!\d){number}{words}{year}|{year}\s+[^\W\d]+\s+{number}(?!\d)",
    )
    return re.search("|".join(forms), html) is not None


_SKIPPED_TAGS = frozenset("script style template head svg iframe object select noscript nav footer".split())
_BLOCK_TAGS = frozenset({"p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "section", "article", "td", "dd", "dt"})


def all_words(tree: Any) -> str:
    """The words of an lxml tree, one line a block, without those of menus and footers."""
    pieces: list[str] = []
    walk = iterwalk(tree, events=("start", "end", "comment", "pi"))
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
_MAX_SHORT_TEASER_CHARACTERS = 1_200  # the same where only an invitation to pay speaks for a paywall

# https://developers.google.com/search/docs/appearance/structured-data/paywalled-content
_FREE_ACCESS_KEY = "isAccessibleForFree"
_FREE_ACCESS_PATTERN = re.compile(
    rf"[\"']?{_FREE_ACCESS_KEY}[\"']?\s*:\s*[\"']?(?:https?:\\?/\\?/schema\.org\\?/)?(true|false)", re.IGNORECASE
)
# Items that stand for the site and its owner, not for the page.
_SITE_TYPE_PATTERN = re.compile(r"WebSite|Organization|SearchAction|Person", re.IGNORECASE)
# The Open Graph mark of Facebook's paywall guide, and what publishers use in its place.
_PAID_TIERS = frozenset({"locked", "metered", "premium", "paid", "subscriber"})
_TIER_META_NAMES = frozenset({"article:content_tier", "content_tier", "cxenseparse:articletype"})
# What speaks of this very page: once is enough.
_INVITATION_PATTERN = re.compile(
    r"(?:subscribe|sign (?:up|in)|register|log ?in|become a (?:member|subscriber)|start your (?:free )?trial)"
    r" (?:now )?(?:to|and) (?:(?:continue|keep|finish|start) (?:reading|watching|listening|with)"
    r"|(?:continue|keep|finish|read|unlock|access|view|get)"
    r" (?:access to )?(?:this|the (?:full|whole|rest|entire|complete|article|story)"
    r"|full (?:access|article|text|story)))"
    r"|subscribe (?:now )?to continue"
    r"|(?:this|the) (?:article|story|content|page) is (?:only )?(?:for|reserved for|available to|exclusive to)"
    r" (?:our )?(?:paying |paid |registered )?(?:subscribers|members)"
    r"|to (?:continue|keep) reading,? (?:please )?(?:subscribe|log ?in|sign|register|create)"
    r"|already (?:a subscriber|subscribed|have a subscription)\s*\?"
    r"|you(?:'|’)?ve (?:reached|used) (?:your|all your)[^.]{0,40}(?:free )?(?:article|stor)"
    r"|dieser artikel ist (?:nur )?(?:für|mit)|jetzt (?:weiterlesen|abonnieren|freischalten)"
    r"|réservé (?:à nos|aux) abonnés|il vous reste \d+ ?% de cet article|contenido exclusivo para suscriptores"
    r"|suscríbete para (?:seguir|continuar)|riservato agli abbonati",
    re.IGNORECASE,
)
# What stands on public pages as well: two different ones are needed.
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
    """Whether a page keeps most of its text from those who do not pay.

    `tree` and `html` are the page, `text` what can be read of it. A page that says it is not free but
    shows all of itself all the same was read. Menus and footers invite readers of every page: they are no sign.
    """
    if len(text) < _MAX_TEASER_CHARACTERS and (_is_stated_not_free(tree, html) or _has_paid_tier(tree)):
        return True
    if len(text) >= _MAX_SHORT_TEASER_CHARACTERS:
        return False
    words = " ".join(all_words(tree).split())
    if _INVITATION_PATTERN.search(words) is not None:
        return True
    return sum(hint.search(words) is not None for hint in _HINT_PATTERNS) > 1


def _is_stated_not_free(tree: Any, html: str) -> bool:
    """Whether "false" is all that is stated of being free: a list of several pages states both."""
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
        with suppress(ValueError, RecursionError):  # what is broken counts as the page's
            json.loads(text, object_hook=items.append)  # each item without those inside it
    for item in items:
        if _FREE_ACCESS_KEY in item and _SITE_TYPE_PATTERN.search(str(item.get("@type"))[:100]):
            yield str(item[_FREE_ACCESS_KEY]).lower().rpartition("/")[2]


def _read_json_ld(tree: Any) -> Iterator[str]:
    for script in tree.iter("script"):
        if "ld+json" in (script.get("type") or "").lower():
            yield script.text or ""


def _read_page_fact_checks(tree: Any) -> Iterator[FactCheck]:
    """What the page's own data says of claims that it checks; it may say anything, so it is shown as the page's."""
    for item in (item for text in _read_json_ld(tree) for item in reviews_in_text(text)):
        if (check := fact_check(item)) is not None:
            yield check


def _has_paid_tier(tree: Any) -> bool:
    for meta in tree.iter("meta"):
        name = (meta.get("property") or meta.get("name") or "").strip().lower()
        if name in _TIER_META_NAMES and (meta.get("content") or "").strip().lower() in _PAID_TIERS:
            return True
    return False
