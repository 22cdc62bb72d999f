"""The sites that known_sites.toml names: what kind of source each is, and what a note calls its publisher."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

from crowdnotes.domain import SourceCategory

T = TypeVar("T")

_TABLE = Path(__file__).with_name("known_sites.toml")
MOST_LABELS = 12  # of a host; no key has as many


@dataclass(frozen=True, slots=True)
class KnownSite:
    """A site by the host, or the host and the beginning of a path, that is its key in the table."""

    key: str
    category: SourceCategory
    name: str


@cache
def known_sites() -> Mapping[str, KnownSite]:
    """Every site of the table by its key."""
    with _TABLE.open("rb") as file:
        table = tomllib.load(file)
    return {
        key: KnownSite(key, SourceCategory(category), name)
        for category, hosts in table.items()
        for key, name in hosts.items()
    }


def longest_match(host: str, path: str, entries: Mapping[str, T]) -> T | None:
    """The entry of the longest host suffix, cut at dots, and within it of the longest path beginning."""
    labels = host.split(".")[-MOST_LABELS:]
    steps = [step for step in path.split("/") if step][:3]
    for first in range(len(labels)):
        suffix = ".".join(labels[first:])
        for count in range(len(steps), -1, -1):
            entry = entries.get("/".join([suffix, *steps[:count]]))
            if entry is not None:
                return entry
    return None


def find_site(host: str, path: str = "/") -> KnownSite | None:
    """The known site that a page belongs to."""
    return longest_match(host, path, known_sites())
