"""Bytes to text in the charset that they are really in.

Order: byte-order mark; valid UTF-8 (chance makes other text valid UTF-8 almost never); what the
header, then the page itself declares, where the bytes agree; detection by charset-normalizer.
"""

from __future__ import annotations

import codecs
import re

from charset_normalizer import from_bytes

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_META = re.compile(rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([\w.:-]{2,40})", re.IGNORECASE)
_XML = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{2,40})", re.IGNORECASE)
# Python has codecs that are no charsets ("zip", "punycode"): only these families are looked up.
_CHARSET = re.compile(
    r"(?:utf|iso|windows|cp|gb|big5|euc|shift|sjis|koi8|mac|latin|us-ascii|ascii|tis|hz|ks_c|x-)", re.IGNORECASE
)
# As browsers do (WHATWG Encoding): pages that declare these mean the larger set.
_LARGER = {
    "iso-8859-1": "cp1252", "latin-1": "cp1252", "latin1": "cp1252", "us-ascii": "cp1252", "ascii": "cp1252",
    "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "shift-jis": "cp932", "x-sjis": "cp932",
    "ks_c_5601-1987": "cp949", "euc-kr": "cp949", "x-gbk": "gb18030", "iso-8859-9": "cp1254",
}  # fmt: skip
_STATEFUL = re.compile(r"iso-?2022|hz|utf-?16|utf-?32", re.IGNORECASE)  # would pass as UTF-8 or ASCII
_SAMPLE = 65_536


def decode(body: bytes, declared: str | None = None) -> str:
    """The body as text; bytes that fit no charset become U+FFFD. `declared` is the header's charset."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    candidates = [name for name in (_codec(declared), _codec(_declared_inside(body))) if name is not None]
    stateful = [name for name in candidates if _STATEFUL.match(name)]
    for name in (*stateful, "utf-8", *candidates):
        try:
            return body.decode(name)
        except UnicodeDecodeError:
            continue
    if _mostly_utf8(body):
        return body.decode("utf-8", "replace")
    best = from_bytes(body[:_SAMPLE]).best()
    fallback = candidates[0] if candidates else "cp1252"
    return body.decode(best.encoding if best is not None else fallback, "replace")


def _declared_inside(body: bytes) -> str | None:
    found = _XML.match(body[:1024]) or _META.search(body[:4096])
    return found.group(1).decode("ascii") if found else None


def _codec(name: str | None) -> str | None:
    """A Python codec for a charset label, None for an unknown or unfit one."""
    if name is None or not _CHARSET.match(name):
        return None
    name = _LARGER.get(name.lower(), name)
    try:
        found = codecs.lookup(name).name
    except LookupError:
        return None
    return None if found in ("utf-7", "idna", "punycode") else found


def _mostly_utf8(body: bytes) -> bool:
    """UTF-8 with a few broken bytes, as a page pasted together from several has them."""
    text = body.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    return broken * 20 < sum(not character.isascii() for character in text) - broken
