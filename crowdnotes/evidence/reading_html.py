"""HTML to a Document by trafilatura: the article's words, without menus, scripts and comments."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from lxml.etree import LxmlError  # type: ignore[import-untyped]  # its stubs cover too little to bring them

from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import FetchError
from crowdnotes.evidence.charset import decode
from crowdnotes.evidence.document import Document
from crowdnotes.evidence.tidying import tidy_line, tidy_text

if TYPE_CHECKING:
    from trafilatura.settings import Document as Extracted

_LEAST_TEXT = 80  # characters; less is a shell or a notice, not a page
_NOTICE = 700  # characters; a text shorter than this may be a notice instead of the page
_TEASER = 2_000  # characters; what a paywalled page shows of itself
# Extraction takes about 0.1 ms a tag and never stops by itself; the longest encyclopaedia articles stay below.
_MAX_TAGS = 100_000
_MAX_CHARACTERS = 3_000_000
# What the parsers raise on pages that are made to break them.
_BROKEN = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError, LxmlError)
_NOT_FREE = re.compile(r"[\"']?isAccessibleForFree[\"']?\s*:\s*[\"']?false", re.IGNORECASE)
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
    """The page's main text, one line a paragraph, with the title, site name and date it gives.

    Raises FetchError: UNREADABLE when there is no text without JavaScript, BLOCKED for a robot check,
    PAYWALLED when the page says that it is not free and shows a teaser alone.
    """
    html = _bounded(decode(body, charset).replace("\x00", ""))
    extracted = _extract(html, url)
    text = tidy_text(extracted.text or "") if extracted is not None else ""
    if len(text) < _LEAST_TEXT:
        text = max(text, tidy_text(_all_words(html)), key=len)
    _refuse_notice(text, html)
    title = tidy_line((extracted.title if extracted is not None else "") or "")
    return Document(
        title=title or fallback_title,
        text=text,
        publisher=tidy_line((extracted.sitename if extracted is not None else "") or "", 100) or None,
        published=_as_date(extracted.date if extracted is not None else None),
    )


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


def _extract(html: str, url: str) -> Extracted | None:
    from trafilatura import bare_extraction

    try:
        extracted = bare_extraction(
            html,
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
    if len(text) < _TEASER and _NOT_FREE.search(html):
        raise FetchError("The page is behind a paywall and shows its beginning only.", FetchOutcome.PAYWALLED)
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


class _Words(HTMLParser):
    """All visible words, for short pages in which no main part stands out."""

    _HIDDEN = frozenset({"script", "style", "template", "head", "nav", "footer", "svg", "iframe", "object", "select"})
    _BLOCKS = frozenset({"p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "section", "article", "td", "dd", "dt"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self._hidden += tag in self._HIDDEN
        if tag in self._BLOCKS:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._HIDDEN:
            self._hidden = max(0, self._hidden - 1)

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.pieces.append(data)


def _all_words(html: str) -> str:
    parser = _Words()
    # Never closed: closing would give a tag that breaks off at the end back as text.
    # A marked section of an unknown kind would make the parser fail; as a plain declaration it is passed over.
    parser.feed(html.replace("<![", "<! ") + "<p>")
    return re.sub(r"\n\s*", "\n", "".join(parser.pieces))
