"""What of a passage may be quoted: whole sentences, and list items with the line that leads into them.

"Using deodorant." says nothing, and "Deodorants cause no harm." says the opposite of its list when the line
before it is "These are myths:". So an item stands with its lead-in or not at all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from crowdnotes.engines.local.sentence_quality import is_usable
from crowdnotes.engines.local.units import split_units

_MARK = re.compile(r"[-–•*·]\s*$")
_MARKED = re.compile(r"^[-–•*·]\s+")
_LEADS = re.compile(r":\s*$")
_STATES = re.compile(
    r"\b(?:include|affect|cause|are|is|can|may|help|prevent|increase|reduce|raise|lower|treat|have|has|do|does)\w*\b",
    re.IGNORECASE,
)
_NOT_OF_THINGS = re.compile(
    r"\b(?:you|your|we|our|steps|questions|tips|these|this|those|such|they|it can|it may|tests?|exams?|stages?|"
    r"see|visit|contact|symptoms?|signs?)\b",
    re.IGNORECASE,
)
_LONGEST_ITEM = 110
_MOST_ITEMS = 15


@dataclass(frozen=True, slots=True)
class Statement:
    """Words to quote; `is_item` when they are an item with its lead-in."""

    text: str
    is_item: bool = False


@lru_cache(maxsize=512)
def statements(passage: str) -> tuple[Statement, ...]:
    """Everything in a passage that can stand in a note, in order."""
    found: list[Statement] = []
    lead = ""
    items = 0
    end = 0
    for unit in split_units(passage):
        marked = _MARK.search(passage[end : unit.span.start]) or _MARKED.match(unit.text)
        text = _MARKED.sub("", unit.text).strip()
        end = unit.span.end
        if _LEADS.search(text):
            lead, items = " ".join(text.split()), 0
            continue
        if lead and marked and items < _MOST_ITEMS:
            items += 1
            if _may_lead(lead) and _is_item(text):
                found.append(Statement(f"{lead} {text[:1].lower() + text[1:] if _is_plain(text) else text}", True))
            continue
        lead = ""
        if is_usable(text):
            found.append(Statement(text))
    return tuple(found)


def _may_lead(lead: str) -> bool:
    return (
        4 <= len(lead.split()) <= 24
        and lead[0].isupper()
        and _STATES.search(lead) is not None
        and _NOT_OF_THINGS.search(lead) is None
    )


def _is_item(text: str) -> bool:
    return 1 < len(text) <= _LONGEST_ITEM and text.count("(") == text.count(")") and not text.endswith(("?", ":"))


def _is_plain(text: str) -> bool:
    """Whether the item's first letter may be made small: not of an abbreviation."""
    first = text.split(maxsplit=1)[0]
    return len(first) > 1 and first[1:].islower() and not re.match(r"\s[A-Z]", text[len(first) :])
