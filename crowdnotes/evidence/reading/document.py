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

_KINDS = {
    "text/html": HTML,
    "application/xhtml+xml": HTML,
    "text/plain": PLAIN,
    "text/markdown": PLAIN,
    "text/x-markdown": PLAIN,
    "application/pdf": PDF,
    "application/x-pdf": PDF,
}
# Types by which a server says that it does not know; the bytes decide.
_UNDECIDED = frozenset(
    {"", "application/octet-stream", "binary/octet-stream", "application/force-download", "unknown/unknown"}
)
_HTML_START = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*<(?:!doctype html|html|head|body|meta|title)\b",
    re.IGNORECASE | re.DOTALL,
)
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_SNIFFED = 1024


@dataclass(frozen=True, slots=True)
class ContentType:
    """A Content-Type header: `essence` in lowercase without parameters, "" when there is none."""

    essence: str
    charset: str | None = None

    def refuse_unreadable(self) -> None:
        """Raise FetchError(WRONG_TYPE) for a type that is known and cannot be read."""
        if self.essence not in _UNDECIDED and self.essence not in _KINDS:
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
    start = body[:_SNIFFED]
    if b"%PDF-" in start[:64] or (b"%PDF-" in start and declared.essence not in _KINDS):
        return PDF
    kind = _KINDS.get(declared.essence)
    if kind == HTML:
        return HTML
    if kind in (None, PDF) and _HTML_START.match(start):
        return HTML
    is_text = b"\x00" not in start or start.startswith(_BOMS)
    if kind == PLAIN and is_text:
        return PLAIN
    if kind is None and is_text and body.strip():
        return PLAIN
    raise FetchError("This is not a web page, plain text or PDF.", FetchOutcome.WRONG_TYPE)


# What takes the words out of a page: `extract` itself, or a process that does it.
Extract = Callable[[bytes, str, str | None, str, Callable[[], None]], Document]


_NUMBERING = r"(?:#{1,6}\s*)?(?:\*\*)?(?:(?:\d{1,2}|[ivx]{1,5}|[a-h])[.)]?\s+)?"
_CLEAR = (
    "references|reference list|references and notes|notes and references|references cited|bibliography"
    "|selected bibliography|works cited|literature cited|footnotes|endnotes|citations|external links|further reading"
    "|literatur|literaturverzeichnis|einzelnachweise|quellenverzeichnis|weblinks|références|notes et références"
    "|bibliographie|liens externes|referencias|bibliografía|enlaces externos|referências|bibliografia|ligações externas"
    "|riferimenti|note e riferimenti|collegamenti esterni|literatuur|referenser|källor|referanser|kilder|参考文献"
    "|参考资料|참고문헌|источники|литература|примечания|المراجع|संदर्भ"
)
# These also head ordinary sections ("Sources" of a vitamin, "Notes" on a dose).
_AMBIGUOUS = (
    "sources|notes|see also|article sources|related links|related articles|related pages"
    "|quellen|siehe auch|voir aussi|véase también"
)
_CLEAR_HEADING = re.compile(rf"{_NUMBERING}(?:{_CLEAR})(?:\*\*)?\s*:?", re.IGNORECASE)
_AMBIGUOUS_HEADING = re.compile(rf"{_NUMBERING}(?:{_AMBIGUOUS})(?:\*\*)?\s*:?", re.IGNORECASE)
_RESUMES = re.compile(rf"{_NUMBERING}(?:appendix|appendices|annex|supplement(?:ary|al)?)\b.{{0,80}}", re.IGNORECASE)
_CITATION = re.compile(
    r"https?://|www\.|\bdoi\b|\bet al\b|\bretrieved\b|\baccessed\b|\((?:19|20)\d\d[a-z]?\)|\b(?:19|20)\d\d[;.,]"
    r"|^\W*\^|^\[\d+\]|^\d{1,3}\.\s",
    re.IGNORECASE,
)
_CLEAR_FROM = 0.5  # share of the text after which a clear heading ends it
_AMBIGUOUS_FROM = 0.6
_MAYBE_FROM = 0.25  # long lists start early; from here on, if what follows looks like citations
_CITED = 0.6  # share of lines that must look like citations for that
_LOOK_AHEAD = 80  # lines that show what a section is
_SHORT = 90  # characters; lists of links have short lines, prose has long ones


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
        is_clear = bool(_CLEAR_HEADING.fullmatch(heading))
        if is_clear or _AMBIGUOUS_HEADING.fullmatch(heading):
            entries = [entry.strip() for entry in lines[index + 1 : index + 1 + _LOOK_AHEAD] if entry.strip()]
            if _closes(is_clear, entries, begin / len(text)):
                end = begin + len(line) + 1
                for later in lines[index + 1 :]:
                    if _RESUMES.fullmatch(later.strip()):
                        return begin, end
                    end += len(later) + 1
                return begin, len(text)
        begin += len(line) + 1
    return len(text), len(text)


def _closes(is_clear: bool, entries: list[str], position: float) -> bool:
    """Whether a heading at `position` in [0, 1], followed by `entries`, opens a reference section."""
    if not entries:
        return is_clear and position >= _CLEAR_FROM
    citations = [bool(_CITATION.search(entry)) for entry in entries]
    if position >= _MAYBE_FROM and sum(citations) >= _CITED * len(entries):
        return True
    if is_clear:
        return position >= _CLEAR_FROM
    listed = sum(cites or len(entry) <= _SHORT for cites, entry in zip(citations, entries, strict=True))
    return position >= _AMBIGUOUS_FROM and listed >= _CITED * len(entries)
