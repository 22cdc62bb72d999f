"""HTML to a Document by trafilatura: the article's words, without menus, scripts, comments and hidden text."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from lxml.etree import LxmlError  # type: ignore[import-untyped]  # its stubs cover too little to bring them

from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import FetchError
from crowdnotes.evidence.charset import decode
from crowdnotes.evidence.document import Document
from crowdnotes.evidence.page_words import all_words
from crowdnotes.evidence.paywall import is_paywalled
from crowdnotes.evidence.tidying import tidy_line, tidy_text
from crowdnotes.evidence.visible import drop_hidden
from crowdnotes.text.urls import MAX_URL

if TYPE_CHECKING:
    from trafilatura.settings import Document as Extracted

_LEAST_TEXT = 80  # characters; less is a shell or a notice, not a page
_NOTICE = 700  # characters; a text shorter than this may be a notice instead of the page
# Extraction takes about 0.1 ms a tag and never stops by itself; the longest encyclopaedia articles stay below.
_MAX_TAGS = 100_000
_MAX_CHARACTERS = 3_000_000
# What the parsers raise on pages that are made to break them.
_BROKEN = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError, LxmlError)
_ASKS_FOR_SCRIPT = re.compile(
    r"(?:enable|activate|requires?|turn on|needs?)\s+(?:\w+\s+){0,2}javascript"
    r"|javascript (?:is|must be) (?:disabled|enabled|required)",
    re.IGNORECASE,
)
_ASKS_FOR_HUMAN = re.compile(
    r"verify(?:ing)? (?:that )?you are (?:a )?human|checking your browser|are you a robot|complete the captcha"
    r"|unusual traffic|access (?:to this page has been )?denied|request (?:was )?blocked|just a moment\.\.\.",
    re.IGNORECASE,
)


def read_html(body: bytes, charset: str | None, url: str, fallback_title: str) -> Document:
    """The page's main text, one line a paragraph, with the title, site name, date and language it gives.

    Raises FetchError: UNREADABLE when there is no text without JavaScript, BLOCKED for a robot check,
    PAYWALLED when the page keeps its text from those who do not pay.
    """
    html = _bounded(decode(body, charset).replace("\x00", ""))
    tree = _parsed(html)
    extracted = _extract(tree, url)
    text = tidy_text(extracted.text or "") if extracted is not None else ""
    if len(text) < _LEAST_TEXT:
        text = max(text, tidy_text(all_words(tree)), key=len)
    if is_paywalled(tree, html, text):
        raise FetchError("The page is behind a paywall and shows its beginning only.", FetchOutcome.PAYWALLED)
    _refuse_notice(text, html)
    title = tidy_line((extracted.title if extracted is not None else "") or "")
    return Document(
        title=title or fallback_title,
        text=text,
        publisher=tidy_line((extracted.sitename if extracted is not None else "") or "", 100) or None,
        published=_as_date(extracted.date if extracted is not None else None),
        language=_language(tree),
        canonical=_canonical(tree, url),
        asks_for_password=any((field.get("type") or "").lower() == "password" for field in tree.iter("input")),
    )


def _parsed(html: str) -> Any:
    """The page as a tree, without what it hides."""
    from trafilatura import load_html

    try:
        # As one element more, because trafilatura takes a lone fragment for no HTML at all.
        tree = load_html(html)
        if tree is None:
            tree = load_html(f"<html><body><div>{html}</div></body></html>")
        if tree is not None:
            drop_hidden(tree)
    except _BROKEN as error:
        raise FetchError("The page's HTML is too broken to read.", FetchOutcome.UNREADABLE) from error
    if tree is None:
        raise FetchError("The page holds hardly any text, so it cannot be read here.", FetchOutcome.UNREADABLE)
    return tree


def _language(tree: Any) -> str | None:
    found = re.match(r"[a-z]{2}(?![a-z])", (tree.get("lang") or "").strip().lower())
    return found.group() if found else None


def _canonical(tree: Any, url: str) -> str | None:
    """The address that the page gives itself, if it is of its own host: it cannot speak for another's."""
    for link in tree.iter("link"):
        if "canonical" not in (link.get("rel") or "").lower().split():
            continue
        href = (link.get("href") or "").strip()
        if len(href) > MAX_URL:
            return None
        try:
            address = urljoin(url, href)
            own, named = (urlsplit(one).hostname or "" for one in (url, address))
        except ValueError:
            return None
        same = _plain_host(own) == _plain_host(named)
        is_web = address.startswith(("http://", "https://"))
        return address if same and is_web and len(address) <= MAX_URL else None
    return None


def _plain_host(host: str) -> str:
    return re.sub(r"^(?:www\d?|m|amp|mobile)\.", "", host)


def _bounded(html: str) -> str:
    """The page cut to what can be worked through in seconds; scripts of a long page go first."""
    if len(html) > _MAX_CHARACTERS:
        html = _without_scripts(html)[:_MAX_CHARACTERS]
    if html.count("<") <= _MAX_TAGS:
        return html
    at = 0
    for _ in range(_MAX_TAGS):
        at = html.find("<", at) + 1
    return html[: at - 1]


def _without_scripts(html: str) -> str:
    """One pass of `str.find`: a pattern would be quadratic on tags that never close."""
    lowered = html.lower() if html.isascii() else html
    kept: list[str] = []
    at = 0
    while (start := lowered.find("<script", at)) >= 0:
        end = lowered.find("</script>", start)
        kept.append(html[at:start])
        if end < 0:
            return "".join(kept)
        at = end + len("</script>")
    return "".join([*kept, html[at:]])


def _extract(tree: Any, url: str) -> Extracted | None:
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
    except _BROKEN as error:
        raise FetchError("The page's HTML is too broken to read.", FetchOutcome.UNREADABLE) from error
    return None if isinstance(extracted, dict) else extracted


def _refuse_notice(text: str, html: str) -> None:
    """Raise when the text is not the page but a notice in its place."""
    if len(text) < _NOTICE and _ASKS_FOR_HUMAN.search(text):
        raise FetchError(
            "The site asks whether a human is reading, and shows no page to programs.", FetchOutcome.BLOCKED
        )
    if len(text) < _LEAST_TEXT or (len(text) < _NOTICE and _ASKS_FOR_SCRIPT.search(text)):
        reason = "shows no text without JavaScript" if "<script" in html.lower() else "holds hardly any text"
        raise FetchError(f"The page {reason}, so it cannot be read here.", FetchOutcome.UNREADABLE)


def _as_date(found: str | None) -> date | None:
    try:
        day = date.fromisoformat((found or "")[:10])
    except ValueError:
        return None
    return day if day.year >= 1990 and day <= datetime.now(UTC).date() else None
