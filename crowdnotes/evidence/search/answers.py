"""Reads what a search service answered: JSON or XML of a documented shape, or anything else.

Nothing here trusts the shape. A wrong one as a whole raises SearchError; a wrong record is passed over.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from lxml import etree  # type: ignore[import-untyped]  # its stubs cover too little to bring them

from crowdnotes.domain import ProviderState
from crowdnotes.errors import SearchError
from crowdnotes.evidence.reading.plain import tidy_line, tidy_text

JsonObject = Mapping[str, Any]


def parse_json(body: bytes) -> JsonObject:
    """The body as a JSON object. Raises SearchError for anything else."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _nonsense(body, "JSON") from error
    if not isinstance(value, dict):
        raise unexpected()
    return value


def parse_xml(body: bytes) -> Any:
    """The body's root element; entities are not expanded and nothing is loaded. Raises SearchError."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise _nonsense(body, "XML") from error
    if root is None:
        raise unexpected()
    return root


def xml_text(element: Any) -> str:
    """All text inside an element, its children's included; "" for None."""
    return "" if element is None else "".join(element.itertext()).strip()


def dig(value: object, *keys: str) -> Any:
    """What lies under a chain of keys; None where the chain breaks."""
    for key in keys:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def records(value: object, *keys: str, may_lack: bool = False) -> list[JsonObject]:
    """The objects of the list under a chain of keys.

    Some services leave an empty list out: with `may_lack` that is no record. Else it raises SearchError.
    """
    found = dig(value, *keys)
    if found is None and may_lack:
        return []
    if not isinstance(found, list):
        raise unexpected()
    return [item for item in found if isinstance(item, dict)]


def string(value: object, *keys: str) -> str:
    """The string under a chain of keys, "" where there is none; a number as its digits."""
    found = dig(value, *keys)
    if isinstance(found, list) and found:
        found = found[0]
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found) if abs(found) < 10**18 else ""
    return found if isinstance(found, str) else ""


def strings(value: object, *keys: str) -> list[str]:
    """The strings of the list under a chain of keys; none where there is no list."""
    found = dig(value, *keys)
    return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []


def unexpected() -> SearchError:
    """The error for an answer of a shape that the service's documentation does not know."""
    return SearchError("It answered in a form that its documentation does not know.", ProviderState.FAILED)


def _nonsense(body: bytes, wanted: str) -> SearchError:
    start = body[:512].lstrip().lower()
    if not start:
        return SearchError("It answered with nothing at all.", ProviderState.FAILED)
    if start.startswith((b"<!doctype html", b"<html")):
        return SearchError("It answered with a web page, not with results.", ProviderState.FAILED)
    return SearchError(f"It answered with something that is not complete {wanted}.", ProviderState.FAILED)


_MAX_MARKUP = 10_000  # characters looked at; a title or abstract is shorter
_ROUNDS = 3  # some services escape what is escaped already
_UNSEEN = re.compile(r"<(script|style|template|noscript)\b[^>]*>.*?(?:</\1\s*>|$)", re.IGNORECASE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?(?:-->|$)", re.DOTALL)
# Tags that stand inside a word or sentence leave no gap: H<sub>2</sub>O.
_INLINE = re.compile(r"</?(?:jats:)?(?:i|b|em|strong|sub|sup|span|sc|italic|bold|u|mark|a)\b[^<>]*>", re.IGNORECASE)
# "p < 0.05" is no tag: a tag's name starts at once.
_TAG = re.compile(r"</?[a-z][^<>]*>|<[!?][^<>]*>", re.IGNORECASE)
# A tag that was cut off in the middle, with an attribute that shows what it was.
_BROKEN_TAG = re.compile(r"<[a-z][\w:-]*\s[^<>]*=[^<>]*$", re.IGNORECASE)


def plain_text(markup: str, limit: int) -> str:
    """At most `limit` characters of plain text; paragraphs of the markup run together."""
    text = markup[:_MAX_MARKUP]
    for _ in range(_ROUNDS):
        before = text
        text = html.unescape(_without_tags(text))
        if text == before:
            break
    return tidy_line(tidy_text(_without_tags(text)), limit)


def plain_line(markup: str) -> str:
    """The same for a title."""
    return plain_text(markup, 300)


def _without_tags(text: str) -> str:
    text = _COMMENT.sub(" ", _UNSEEN.sub(" ", text))
    return _BROKEN_TAG.sub(" ", _TAG.sub(" ", _INLINE.sub("", text)))


PREPRINT = "preprint"
RETRACTED = "retracted"
RETRACTION_NOTICE = "a retraction notice"

# Publication types of PubMed and Europe PMC, their kinds of comment and correction, and the types of
# update that Crossref and Retraction Watch record. What a notice is about comes before what it is.
_NOTICES = (
    (r"^retraction ?of\b|^retraction of publication$", RETRACTION_NOTICE),
    (r"^retracted publication$|^(?:partial[ _]?)?retraction(?: ?in)?$|^removal$", RETRACTED),
    (r"^withdraw(?:al|n)(?: ?in)?$", "withdrawn"),
    (r"^expression[ _-]?of[ _-]?concern(?: ?in)?$", "expression of concern"),
    (r"^(?:erratum|corrigendum|correct(?:ion|ed))(?: ?in)?$", "corrected since"),
    (r"^preprint$", PREPRINT),
)


def notice_of(kind: str) -> str | None:
    """The notice that a publication type, relation or update type stands for; None for any other."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind).strip().lower()
    return next((notice for pattern, notice in _NOTICES if re.search(pattern, spaced)), None)


def notices_of(kinds: Iterable[str], *marks: str | None) -> tuple[str, ...]:
    """The marks that there are, then the notices that the kinds stand for, each once."""
    return tuple(dict.fromkeys(notice for notice in (*marks, *map(notice_of, kinds)) if notice is not None))
