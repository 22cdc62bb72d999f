"""What reading a page gives: the document, its content type, and where its list of references stands."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from crowdnotes.domain import FactCheck, FetchOutcome
from crowdnotes.errors import FetchError


@dataclass(frozen=True, slots=True)
class Document:
    """Plain text, tidied: one line a paragraph, an empty line between the pages of a PDF.

    `publisher` and `published` are what the page itself claims, `not_before` the first day of the year that it claims
    where no day is, `canonical` the address that it gives
    itself. `language` is an ISO 639-1 code, None when there is too little text to tell. `page_starts` are
    the offsets in the text at which the pages of a PDF begin.
    `asks_for_password`: there is a form for one. `fact_checks` are the page's ClaimReview data.
    """

    title: str
    text: str
    publisher: str | None = None
    published: date | None = None
    language: str | None = None
    canonical: str | None = None
    page_starts: tuple[int, ...] = ()
    asks_for_password: bool = False
    not_before: date | None = None
    fact_checks: tuple[FactCheck, ...] = ()


HTML = "text/html"
PLAIN = "text/plain"
PDF = "application/pdf"
READABLE = frozenset({HTML, PLAIN, PDF})

_KIND_BY_MEDIA_TYPE = {
    "text/html": HTML,
    "application/xhtml+xml": HTML,
    "text/plain": PLAIN,
    "text/markdown": PLAIN,
    "text/x-markdown": PLAIN,
    "application/pdf": PDF,
    "application/x-pdf": PDF,
}
# Types by which a server says that it does not know; the bytes decide.
_UNDECIDED_MEDIA_TYPES = frozenset(
    {"", "application/octet-stream", "binary/octet-stream", "application/force-download", "unknown/unknown"}
)
_HTML_START_PATTERN = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*<(?:!doctype html|html|head|body|meta|title)\b",
    re.IGNORECASE | re.DOTALL,
)
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_SNIFFED_BYTES = 1024


@dataclass(frozen=True, slots=True)
class ContentType:
    """A Content-Type header: `essence` in lowercase without parameters, "" when there is none."""

    essence: str
    charset: str | None = None

    def refuse_unreadable(self) -> None:
        """Raise FetchError(WRONG_TYPE) for a type that is known and cannot be read."""
        if self.essence not in _UNDECIDED_MEDIA_TYPES and self.essence not in _KIND_BY_MEDIA_TYPE:
            raise FetchError(
                f"This is {self.essence[:60]}: only web pages, plain text and PDF can be read.", FetchOutcome.WRONG_TYPE
            )


def parse_content_type(header: str | None) -> ContentType:
    """Lenient, as browsers are: quotes and odd spaces are accepted."""
    essence, _, parameters = (header or "").partition(";")
    found = re.search(r"charset\s*=\s*[\"']?([\w.:-]{2,40})", parameters, re.IGNORECASE)
    return ContentType(essence.strip().lower(), found.group(1).lower() if found else None)


def settle_kind(declared: ContentType, body: bytes) -> str:
    """HTML, PLAIN or PDF. The bytes overrule a header that is missing, undecided or plainly wrong.

    Raises FetchError(WRONG_TYPE) when neither says something that can be read.
    """
    start = body[:_SNIFFED_BYTES]
    if b"%PDF-" in start[:64] or (b"%PDF-" in start and declared.essence not in _KIND_BY_MEDIA_TYPE):
        return PDF
    kind = _KIND_BY_MEDIA_TYPE.get(declared.essence)
    if kind == HTML:
        return HTML
    if kind in (None, PDF) and _HTML_START_PATTERN.match(start):
        return HTML
    is_text = b"\x00" not in start or start.startswith(_BYTE_ORDER_MARKS)
    if kind == PLAIN and is_text:
        return PLAIN
    if kind is None and is_text and body.strip():
        return PLAIN
    raise FetchError("This is not a web page, plain text or PDF.", FetchOutcome.WRONG_TYPE)


# What takes the words out of a page: `extract` itself, or a process that does it.
Extract = Callable[[bytes, str, str | None, str, Callable[[], None]], Document]


_NUMBERING = r"(?:#{1,6}\s*)?(?:\*\*)?(?:(?:\d{1,2}|[ivx]{1,5}|[a-h])[.)]?\s+)?"
_CLEAR_HEADINGS = (
    "references|reference list|references and notes|notes and references|references cited|bibliography"
    "|selected bibliography|works cited|literature cited|footnotes|endnotes|citations|external links|further reading"
    "|literatur|literaturverzeichnis|einzelnachweise|quellenverzeichnis|weblinks|références|notes et références"
    "|bibliographie|liens externes|referencias|bibliografía|enlaces externos|referências|bibliografia|ligações externas"
    "|riferimenti|note e riferimenti|collegamenti esterni|literatuur|referenser|källor|referanser|kilder|参考文献"
    "|参考资料|참고문헌|источники|литература|примечания|المراجع|संदर्भ"
)
# These also head ordinary sections ("Sources" of a vitamin, "Notes" on a dose).
_AMBIGUOUS_HEADINGS = (
    "sources|notes|see also|article sources|related links|related articles|related pages"
    "|quellen|siehe auch|voir aussi|véase también"
)
_CLEAR_HEADING_PATTERN = re.compile(rf"{_NUMBERING}(?:{_CLEAR_HEADINGS})(?:\*\*)?\s*:?", re.IGNORECASE)
_AMBIGUOUS_HEADING_PATTERN = re.compile(rf"{_NUMBERING}(?:{_AMBIGUOUS_HEADINGS})(?:\*\*)?\s*:?", re.IGNORECASE)
_APPENDIX_PATTERN = re.compile(
    rf"{_NUMBERING}(?:appendix|appendices|annex|supplement(?:ary|al)?)\b.{{0,80}}", re.IGNORECASE
)
_CITATION_PATTERN = re.compile(
    r"https?://|www\.|\bdoi\b|\bet al\b|\bretrieved\b|\baccessed\b|\((?:19|20)\d\d[a-z]?\)|\b(?:19|20)\d\d[;.,]"
    r"|^\W*\^|^\[\d+\]|^\d{1,3}\.\s",
    re.IGNORECASE,
)
_MIN_CLEAR_POSITION = 0.5  # share of the text after which a clear heading ends it
_MIN_AMBIGUOUS_POSITION = 0.6
_MIN_CITED_POSITION = 0.25  # long lists start early; from here on, if what follows looks like citations
_MIN_CITATION_SHARE = 0.6  # share of lines that must look like citations for that
_LOOK_AHEAD_LINES = 80  # lines that show what a section is
_MAX_LINK_LINE_CHARACTERS = 90  # characters; lists of links have short lines, prose has long ones


def without_references(text: str) -> str:
    """The text without its closing sections of references, sources, footnotes and links."""
    begin, end = references_in(text)
    return (text[:begin] + text[end:]).rstrip() if begin < len(text) else text


def references_in(text: str) -> tuple[int, int]:
    """Where the closing sections of references begin and end; twice the text's length when there are none.

    A heading counts only when it stands alone on a line in the last part of the text. An appendix that follows is
    no part of them.
    """
    lines = text.split("\n")
    begin = 0
    for index, line in enumerate(lines):
        heading = line.strip()
        is_clear = bool(_CLEAR_HEADING_PATTERN.fullmatch(heading))
        if is_clear or _AMBIGUOUS_HEADING_PATTERN.fullmatch(heading):
            entries = [entry.strip() for entry in lines[index + 1 : index + 1 + _LOOK_AHEAD_LINES] if entry.strip()]
            if _is_reference_section(is_clear, entries, begin / len(text)):
                end = begin + len(line) + 1
                for later in lines[index + 1 :]:
                    if _APPENDIX_PATTERN.fullmatch(later.strip()):
                        return begin, end
                    end += len(later) + 1
                return begin, len(text)
        begin += len(line) + 1
    return len(text), len(text)


def _is_reference_section(is_clear: bool, entries: list[str], position: float) -> bool:
    """Whether a heading at `position` in [0, 1], followed by `entries`, opens a reference section."""
    if not entries:
        return is_clear and position >= _MIN_CLEAR_POSITION
    citations = [bool(_CITATION_PATTERN.search(entry)) for entry in entries]
    if position >= _MIN_CITED_POSITION and sum(citations) >= _MIN_CITATION_SHARE * len(entries):
        return True
    if is_clear:
        return position >= _MIN_CLEAR_POSITION
    listed = sum(
        cites or len(entry) <= _MAX_LINK_LINE_CHARACTERS for cites, entry in zip(citations, entries, strict=True)
    )
    return position >= _MIN_AMBIGUOUS_POSITION and listed >= _MIN_CITATION_SHARE * len(entries)
