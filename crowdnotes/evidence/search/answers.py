"""Reading what a service answered: JSON or XML of a documented shape, or anything else.

Nothing here trusts the shape. A wrong one as a whole raises SearchError; a wrong record is passed over.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from lxml import etree  # type: ignore[import-untyped]  # its stubs cover too little to bring them

from crowdnotes.domain import ProviderState
from crowdnotes.errors import SearchError

Record = Mapping[str, Any]


def parse_json(body: bytes) -> Record:
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


def records(value: object, *keys: str, may_lack: bool = False) -> list[Record]:
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


def iso_day(text: str) -> date | None:
    """The day of an ISO 8601 date or time; None for anything else."""
    try:
        return datetime.fromisoformat(text.strip()).date()
    except (ValueError, OverflowError):
        return None


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
