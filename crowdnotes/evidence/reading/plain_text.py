"""Plain text from bytes in whatever charset, and from short markup such as a title or an abstract.

The charset is found in this order: byte-order mark; valid UTF-8 (chance makes other text valid UTF-8 almost never);
what the header, then the page itself declares, where the bytes agree; detection by charset-normalizer.
"""

from __future__ import annotations

import html
import re
import unicodedata

import webencodings

from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import FetchError
from crowdnotes.evidence.reading.document import STRUCK_SENTENCE, Document
from crowdnotes.evidence.reading.printed_signs import joined_marks, printed_letters, read_formulas, readable_formulas
from crowdnotes.text.table_files import Encoding, codec_by_mark, is_mostly_utf8, likely_charset

_MAX_TITLE_CHARACTERS = 150


def read_plain(body: bytes, charset: str | None, fallback_title: str) -> Document:
    """Return the text as it is; its first line is the title when it is short enough to be one."""
    decoded, guessed = decode_with_remark(body, charset)
    if decoded.count("\x00") + decoded.count("\ufffd") > len(decoded) // 20:
        raise FetchError("The file is not text.", FetchOutcome.UNREADABLE)
    printed, is_struck = drop_struck(printed_letters(decoded))
    text = tidy_text(printed)
    if not text:
        raise FetchError("The file is empty.", FetchOutcome.UNREADABLE)
    first = text.partition("\n")[0].strip("# ")
    return Document(
        title=tidy_line(first) if 0 < len(first) <= _MAX_TITLE_CHARACTERS else fallback_title,
        text=text,
        remark=" ".join(filter(None, (STRUCK_SENTENCE * is_struck, guessed))),
    )


_META_CHARSET_PATTERN = re.compile(rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([\w.:-]{2,40})", re.IGNORECASE)
_XML_ENCODING_PATTERN = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{2,40})", re.IGNORECASE)
_STATEFUL_CODEC_PATTERN = re.compile("iso2022|utf-16")  # would pass as UTF-8 or ASCII
_SAMPLE_BYTES = 65_536


def decode(body: bytes, declared: str | None = None) -> str:
    """Return the body as text; bytes that fit no charset become U+FFFD. `declared` is the header's charset."""
    return decode_with_remark(body, declared)[0]


def decode_with_remark(body: bytes, declared: str | None = None) -> tuple[str, str]:
    """Return the same, and a sentence that names a charset that had to be guessed; "" where none had to be."""
    if (marked := codec_by_mark(body)) is not None:
        return body.decode(marked, "replace"), ""
    inside = _look_up_codec(_find_declared_charset(body))
    if inside is not None and inside.startswith("utf-16"):
        inside = None  # a declaration that was read as ASCII is not in it
    candidates = [name for name in (_look_up_codec(declared), inside) if name is not None]
    stateful = [name for name in candidates if _STATEFUL_CODEC_PATTERN.match(name)]
    for name in (*stateful, "utf-8", *candidates):
        try:
            return body.decode(name), ""
        except UnicodeDecodeError:
            continue
    if is_mostly_utf8(body):
        return body.decode("utf-8", "replace"), ""
    charset = Encoding(likely_charset(body[:_SAMPLE_BYTES]) or next(iter(candidates), "cp1252"))
    remark = f"We guessed its encoding: {charset.as_named}. Check the letters."
    return body.decode(charset.codec, "replace"), remark


def _find_declared_charset(body: bytes) -> str | None:
    found = _XML_ENCODING_PATTERN.match(body[:1024]) or _META_CHARSET_PATTERN.search(body[:4096])
    return found.group(1).decode("ascii") if found else None


def _look_up_codec(label: str | None) -> str | None:
    """Return the Python codec that a browser would use for a charset label (WHATWG Encoding), if any."""
    found = webencodings.lookup(label) if label else None
    if found is None or found.name in ("replacement", "x-user-defined"):
        return None
    return "gb18030" if found.name == "gbk" else found.codec_info.name


# Control, bidirectional overrides and isolates, zero-width characters, soft hyphens, variation and tag
# characters (used to smuggle words past a reader), lone surrogates, private use and non-characters.
# Kept: the joiners U+200C and U+200D and the marks U+200E and U+200F, which real scripts need; U+FFFD, the sign of a
# letter that was lost.
_INVISIBLE_PATTERN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u180e\u200b\u202a-\u202e\u2060-\u206f\ud800-\udfff\ue000-\uf8ff\ufe00-\ufe0f\ufeff\ufff0-\ufffc\ufffe\uffff\U000e0000-\U0010ffff]"
)
_LINE_END_PATTERN = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_SPACES_PATTERN = re.compile("[^\\S\n]+")
_STACKED_MARKS_PATTERN = re.compile("([\u0300-\u036f]{3})[\u0300-\u036f]+")


def tidy_text(text: str) -> str:
    """NFC, invisible characters removed, line ends as line feeds, runs of spaces as one, at most one empty line."""
    text = _INVISIBLE_PATTERN.sub("", _LINE_END_PATTERN.sub("\n", text))
    text = unicodedata.normalize("NFC", _STACKED_MARKS_PATTERN.sub(r"\1", text))
    lines = (_SPACES_PATTERN.sub(" ", line).strip() for line in text.split("\n"))
    return re.sub("\n{3,}", "\n\n", "\n".join(lines)).strip()


def tidy_line(text: str, limit: int = 300) -> str:
    """Return the same for a title or name: one line of at most `limit` characters."""
    line = " ".join(tidy_text(text).split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


_STROKE = "[\u0335-\u0338\u20d2\u20e5\u20eb]"  # set over the letter before it
# One letter with a stroke may be a letter of its own, and a nought with a slash is a nought.
_STRUCK_LETTERS_PATTERN = re.compile(rf"(?:[^\n]{_STROKE}+){{2,}}|[0-9][\u0335\u0336]+")
_SLASHED_NOUGHTS_PATTERN = re.compile("(?:0[\u0337\u0338]+)+")


def drop_struck(text: str) -> tuple[str, bool]:
    """Return text without what strokes over its letters strike out, and whether there was any."""
    if text.isascii():
        return text, False
    plain = _STRUCK_LETTERS_PATTERN.sub(
        lambda found: found[0] if _SLASHED_NOUGHTS_PATTERN.fullmatch(found[0]) else "", text
    )
    return plain, plain != text


_MAX_MARKUP_CHARACTERS = 10_000  # characters looked at; a title or abstract is shorter
_MAX_UNESCAPE_ROUNDS = 3  # some services escape what is escaped already
_HIDDEN_ELEMENT_PATTERN = re.compile(
    r"<(script|style|template|noscript)\b[^>]*>.*?(?:</\1\s*>|$)", re.IGNORECASE | re.DOTALL
)
_COMMENT_PATTERN = re.compile(r"<!--.*?(?:-->|$)", re.DOTALL)
# Tags inside a word or sentence leave no gap: H<sub>2</sub>O.
_INLINE_TAG_PATTERN = re.compile(
    r"</?(?:jats:)?(?:i|b|em|strong|sub|sup|span|sc|italic|bold|u|mark|a)\b[^<>]*>", re.IGNORECASE
)
# What was struck out is no longer said.
_STRUCK_PATTERN = re.compile(
    r"<((?:jats:)?(?:del|s|strike))(?:\s[^<>]*=[^<>]*)?>(?:(?!<\1\b).){0,2000}?</\1\s*>", re.IGNORECASE | re.DOTALL
)
# "p < 0.05" and "n<k and m>3" are no tags: those have a name that is known, or attributes.
_TAG_NAMES = (
    "a|abbr|abstract|address|alternatives|article|aside|b|base|blockquote|body|bold|br|button|caption|center|cite|code"
    "|col|colgroup|copyrightinformation|dd|del|details|disp-formula|div|dl|dt|em|ext-link|figcaption|figure|font|footer"
    "|form|graphic|h[1-6]|head|header|hr|html|i|iframe|img|inline-formula|inline-graphic|input|ins|italic|label"
    "|li|link|list|list-item|main|mark|math|m[a-z]{1,12}|monospace|named-content|nav|object|ol|option|overline|p|pre|q|ref|s|sc|script"
    "|sec|section|select|semantics|small|source|span|strike|strong|style|styled-content|sub|summary|sup|svg|table|tbody|td"
    "|template|tex-math|textarea|tfoot|th|thead|time|title|tr|tt|u|ul|underline|uri|var|video|wbr|xref|abstracttext|dispformula|x"
)
_TAG_PATTERN = re.compile(
    rf"</?(?:\w{{1,8}}:)?(?:{_TAG_NAMES})(?:\s[^<>]*=[^<>]*)?\s*/?>|</?\w[\w:.-]*\s[^<>]*=\s?[\"'][^<>]*>|</\w[\w:.-]*\s*>|<[!?][^<>]*>",
    re.IGNORECASE,
)
# A tag that was cut off in the middle, with an attribute that shows what it was.
_BROKEN_TAG_PATTERN = re.compile(r"<[a-z][\w:-]*\s[^<>]*=[^<>]*$", re.IGNORECASE)


def plain_text(markup: str, limit: int) -> str:
    """At most `limit` characters of plain text; paragraphs of the markup run together."""
    text = markup[:_MAX_MARKUP_CHARACTERS]
    for _ in range(_MAX_UNESCAPE_ROUNDS):
        before = text
        text = html.unescape(_strip_tags(_STRUCK_PATTERN.sub("", joined_marks(read_formulas(text)))))
        if text == before:
            break
    return tidy_line(drop_struck(printed_letters(readable_formulas(_strip_tags(text))))[0], limit)


def plain_line(markup: str) -> str:
    """Return the same for a title."""
    return plain_text(markup, 300)


def _strip_tags(text: str) -> str:
    text = _COMMENT_PATTERN.sub(" ", _HIDDEN_ELEMENT_PATTERN.sub(" ", text))
    return _BROKEN_TAG_PATTERN.sub(" ", _TAG_PATTERN.sub(" ", _INLINE_TAG_PATTERN.sub("", text)))
