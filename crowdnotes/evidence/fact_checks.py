"""Whether a search result is a fact-check, and by whom: has the claim been checked already?

By who publishes the page (fact_checkers.toml), never by what it says: a post that quotes a fact-check, or a
page that links to one, is none.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from crowdnotes.domain import Hit, SourceCategory
from crowdnotes.evidence.archives import original_of

_TABLE = Path(__file__).with_name("fact_checkers.toml")
_REVIEWS_ONLY = "google-fact-check"  # a provider that gives nothing but reviews of claims
# What else stands on a fact-checker's site: lists of checks, and pages about itself.
_NO_CHECK = re.compile(
    r"(?:tags?|categor(?:y|ies)|authors?|topics?|search|about(?:-us)?|contact(?:-us)?|donate|team|staff|careers|jobs|"
    r"methodology|corrections?|newsletters?|privacy(?:-policy)?|terms(?:-of-use)?)(?:/|$)"
)


def fact_checker(url: str | None) -> str | None:
    """The known fact-checker whose check the page is, by host and path, also for an archived copy of it.

    None for other sites, and for home pages, lists and pages about the fact-checker itself.
    """
    try:
        parts = urlsplit(original_of(url or ""))
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return None
    path = parts.path.strip("/").lower()
    if not path or _NO_CHECK.match(path):
        return None
    labels = host.split(".")
    for first in range(len(labels) - 1):
        for section, name in _sections().get(".".join(labels[first:]), ()):
            # A section's own name may go on ("…/fact-check-the-vaccine") but not begin another word.
            if not section or re.match(rf"{re.escape(section)}[/-]", path):
                return name
    return None


def fact_checks(hits: Iterable[Hit]) -> list[Hit]:
    """The hits that are checks of a claim, whoever found them, in their order; those with a rating first."""
    checks = [hit for hit in hits if fact_checker(hit.url) or _is_review(hit)]
    return sorted(checks, key=lambda hit: not hit.rating)


def _is_review(hit: Hit) -> bool:
    """Whether a service for reviews gave it, and not as somebody's post on a platform."""
    return _REVIEWS_ONLY in (hit.provider, *hit.also_found_by) and hit.category is not SourceCategory.SOCIAL


@cache
def _sections() -> Mapping[str, list[tuple[str, str]]]:
    """By host, the folders that hold checks ("" for all of it) and whose they are."""
    with _TABLE.open("rb") as file:
        table: Mapping[str, str] = tomllib.load(file)
    found: dict[str, list[tuple[str, str]]] = {}
    for key, name in table.items():
        host, _, section = key.partition("/")
        found.setdefault(host, []).append((section, name))
    return found
