"""What reading a page gives: the document, its content type, what replaces a page, its list of references."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from crowdnotes.domain import FactCheck, FetchOutcome
from crowdnotes.errors import FetchError


@dataclass(frozen=True, slots=True)
class Document:
    """Plain text, tidied: one line a paragraph, an empty line between the pages of a PDF.

    `publisher` and `published` are what the page itself claims, `not_before` is the first day of the year that it
    names where it names no day, `canonical` the address that it gives itself. `language` is an ISO 639-1 code, None
    when there is too little text. `page_starts` are the offsets in the text at which the pages of a PDF begin.
    `asks_for_password`: there is a form for one. `fact_checks` are the page's ClaimReview data. `file_date` is when a
    PDF says that its file was made. `notices` are marks that a reader must see, `remark` sentences on how it was read.
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
    file_date: date | None = None
    notices: tuple[str, ...] = ()
    remark: str = ""


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
                f"This is {self.essence[:60]}. We read only web pages, text and PDF.", FetchOutcome.WRONG_TYPE
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
    raise FetchError("This is not a web page, text or PDF.", FetchOutcome.WRONG_TYPE)


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
    """Return the text without its closing sections of references, sources, footnotes and links."""
    begin, end = references_in(text)
    return (text[:begin] + text[end:]).rstrip() if begin < len(text) else text


def references_in(text: str) -> tuple[int, int]:
    """Return where the closing sections of references begin and end; twice the text's length when there are none.

    A heading counts only when it is alone on a line in the last part of the text. An appendix that follows is
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
    """Return whether a heading at `position` in [0, 1], followed by `entries`, opens a reference section."""
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


_MAX_NOTICE_CHARACTERS = 1_500  # characters; a longer text is more than a notice, unless its title says what it is
_MAX_SURE_NOTICE_CHARACTERS = 700  # of words that articles have too
_MAX_NEXT_TO_NOTHING_CHARACTERS = 300
_MAX_EMPTY_CHARACTERS = 200
_MAX_TITLE_CHARACTERS = 100
_MAX_LOOKED_AT = 20_000  # characters of a page in which buttons are looked for
_MAX_CONSENT_CHARACTERS = 6_000  # consent notices list purposes and partners
_TITLE_PART_PATTERN = re.compile(r"\s+[|–—·•:»-]+\s+|\s*[|]\s*")

_GONE_START = (
    r"(?:(?:error|fehler|erreur|http)?\s?(?:code\s?)?404\b[\s:.,!–-]*)?"
    r"(?:(?:oops|sorry|uh[- ]oh|ups|whoops)\b[!,.]*\s*)?"
    r"(?:(?:the|this|that|your|die|diese|la|cette|esta|de|deze) )?(?:requested )?"
)


def _compile(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


with Path(__file__).with_name("stand_ins.toml").open("rb") as _file:
    _STAND_INS: dict[str, re.Pattern[str]] = {name: _compile(listed) for name, listed in tomllib.load(_file).items()}
_GONE_TITLE_PATTERN = re.compile(
    rf"{_GONE_START}(?:{_STAND_INS['gone_title'].pattern})[.!]*|(?:error |http |fehler |erreur )?404[.!]*",
    re.IGNORECASE,
)
_MIN_CONSENT_WORDS = 3  # different ones
_MIN_REPORT_WORDS = 2  # different ones
_MIN_CONSENT_SHARE = 0.6  # of the letters, in sentences that speak of it
_MIN_VOICE_SHARE = 0.2  # of the letters, in those of them in which the site speaks of itself
_MAX_AGE_GATE_CHARACTERS = 600
_MAX_SURE_AGE_GATE_CHARACTERS = 300  # with nothing to answer among its words: a button may be a picture


def refuse_stand_in(title: str, text: str, around: str = "", html: str = "") -> None:
    """Raise FetchError when a text is not the page that was asked for but what the site shows in its place.

    `around` are all words of the page, those of buttons too, and `html` is its source, where it is a web page.
    """
    title, text = " ".join(title[:1_000].split()).replace("’", "'"), text.replace("’", "'")
    named = (part.strip() for part in (title, *_TITLE_PART_PATTERN.split(title), text.partition("\n")[0]))
    parts = [part for part in named if 0 < len(part) <= _MAX_TITLE_CHARACTERS]
    is_short, is_very_short = len(text) < _MAX_NOTICE_CHARACTERS, len(text) < _MAX_SURE_NOTICE_CHARACTERS
    says = text if is_very_short else ""

    def is_titled(pattern: re.Pattern[str]) -> bool:
        return any(pattern.fullmatch(part) for part in parts)

    is_check = is_titled(_STAND_INS["robot_title"]) and (is_very_short or (is_short and _says("robot", text)))
    is_next_to_nothing = len(text) < _MAX_NEXT_TO_NOTHING_CHARACTERS
    is_check = is_check or _says("robot", says) or (is_next_to_nothing and _says("browser", text))
    if is_check or (len(text) < _MAX_EMPTY_CHARACTERS and _says("robot_mark", html)):
        raise FetchError(_ROBOT_SENTENCE, FetchOutcome.BLOCKED)
    is_headed = len(parts) > 1 and all(_GONE_TITLE_PATTERN.fullmatch(part) for part in (parts[-1], parts[1]))
    if (is_titled(_GONE_TITLE_PATTERN) and (is_short or is_headed)) or _says("gone", says):
        raise FetchError(
            "The site says this page does not exist. Check the link, or search for its title.",
            FetchOutcome.NOT_FOUND,
        )
    if (is_very_short and is_titled(_STAND_INS["fault_title"])) or (is_next_to_nothing and _says("fault", text)):
        raise FetchError("The site shows an error. Try again later.", FetchOutcome.SERVER_ERROR)
    if is_next_to_nothing and _says("sign_in", text) and not asks_for_money(text):
        raise FetchError(
            "The site asks you to sign in first. Open it in your browser and paste the text you need.",
            FetchOutcome.BLOCKED,
        )
    if _says("parked", says):
        raise FetchError(
            "There is no site here: the address is for sale or unused. Look elsewhere.",
            FetchOutcome.NOT_FOUND,
        )
    if is_short and _says("region", text):
        raise FetchError(
            "The site does not show this page in your country. Look elsewhere, or paste the text.",
            FetchOutcome.BLOCKED,
        )
    if _is_age_gate(text, around):
        raise FetchError(
            "The site asks for your age first. Open it in your browser and paste the text you need.",
            FetchOutcome.BLOCKED,
        )
    if _is_consent_notice(text, around.replace("’", "'"), is_policy=is_titled(_STAND_INS["policy_title"])):
        raise FetchError(
            "The site asks for consent first. Open it in your browser and paste the text you need.",
            FetchOutcome.CONSENT,
        )


_ROBOT_SENTENCE = "The site shows nothing to programs. Open it in your browser and paste the text you need."


UNFINISHED_SENTENCE = "This page has too many styles to check: it may hide some of this text. Look at the page itself."
STRUCK_SENTENCE = "We left out struck-out words."


def asks_for_script(text: str) -> bool:
    """Return whether all that a page says is that it needs JavaScript."""
    return len(text) < _MAX_SURE_NOTICE_CHARACTERS and _says("script", text)


def asks_for_money(text: str) -> bool:
    """Return whether words ask for money for the page that they are on."""
    return _says("paying", text.replace("’", "'"))


def _says(kind: str, text: str) -> bool:
    return _STAND_INS[kind].search(text) is not None


NO_TEXT_SENTENCE = "We cannot read this page: it needs JavaScript. Open it in your browser and paste the text you need."


def _is_age_gate(text: str, around: str) -> bool:
    if len(text) >= _MAX_AGE_GATE_CHARACTERS or not _says("age", text):
        return False
    return len(text) < _MAX_SURE_AGE_GATE_CHARACTERS or _has_line(around, "age_choice")


def _has_line(text: str, kind: str) -> bool:
    """Return whether all of a line is of that kind, as the words of a button are."""
    return any(_STAND_INS[kind].fullmatch(line.strip()) for line in text.split("\n"))


def _is_consent_notice(text: str, around: str, *, is_policy: bool) -> bool:
    """Return whether a text is next to nothing but a site's own words on consent.

    What is about cookies says "we" seldom.
    """
    if not 0 < len(text) < _MAX_CONSENT_CHARACTERS:
        return False
    if is_policy and not _has_line(around, "consent_choice"):
        return False  # the rules themselves are what is cited
    has_choice = _says("consent_choice", f"{text}\n{around}"[:_MAX_LOOKED_AT])
    kinds = {found.lower() for found in _STAND_INS["consent"].findall(text)}
    is_short = len(text) < _MAX_SURE_NOTICE_CHARACTERS and _says("consent_use", text)
    if not is_short and (not has_choice or len(kinds) < _MIN_CONSENT_WORDS):
        return False
    if len({found.lower() for found in _STAND_INS["consent_report"].findall(text)}) >= _MIN_REPORT_WORDS:
        return False
    sentences = [piece for piece in re.split(r"(?<=[.!?])\s+|(?<=。)|\n", text) if piece]
    about = [piece for piece in sentences if _says("consent", piece) or _says("consent_choice", piece)]
    own = [piece for piece in about if _says("consent_voice", piece)]
    return sum(map(len, about)) >= _MIN_CONSENT_SHARE * len(text) and sum(map(len, own)) >= _MIN_VOICE_SHARE * len(text)


MAX_SHORT_TEASER_CHARACTERS = 1_200  # of what is shown of a page where only an invitation to pay speaks for a paywall
PAYWALL_SENTENCE = "A paywall hides all but the beginning. Use another source, or paste the text if you can read it."
