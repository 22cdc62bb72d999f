"""Who publishes a page: the sites of known_sites.toml with their kind, and what a reader calls them ("the CDC")."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from crowdnotes.domain import Source, SourceCategory
from crowdnotes.text.markdown import host
from crowdnotes.text.note_rules import find_urls

T = TypeVar("T")

_KNOWN_SITES_FILE = Path(__file__).with_name("known_sites.toml")
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
    with _KNOWN_SITES_FILE.open("rb") as file:
        table = tomllib.load(file)
    return {
        key: KnownSite(key, SourceCategory(category), name)
        for category, hosts in table.items()
        for key, name in hosts.items()
    }


def longest_match(host: str, path: str, entries: Mapping[str, T]) -> T | None:
    """Return the entry of the longest host suffix, cut at dots, and within it of the longest path beginning."""
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
    """Return the known site that a page belongs to."""
    return longest_match(host, path, known_sites())


_MAX_NAME_CHARACTERS = 60
_NAME_BY_HOST = {
    "cdc.gov": "the CDC",
    "fda.gov": "the FDA",
    "epa.gov": "the EPA",
    "usda.gov": "the USDA",
    "who.int": "the WHO",
    "nhs.uk": "the NHS",
    "cancer.gov": "the National Cancer Institute",
    "cancer.org": "the American Cancer Society",
    "nhlbi.nih.gov": "the NIH (NHLBI)",
    "niddk.nih.gov": "the NIH (NIDDK)",
    "ninds.nih.gov": "the NIH (NINDS)",
    "rarediseases.info.nih.gov": "the NIH",
    "ghr.nlm.nih.gov": "the NIH",
    "nihseniorhealth.gov": "the NIH",
    "medlineplus.gov": "the NIH's MedlinePlus",
    "nlm.nih.gov": "the National Library of Medicine",
    "nlm.nih.gov/medlineplus": "the NIH's MedlinePlus",
    "nih.gov": "the NIH",
    "mayoclinic.org": "Mayo Clinic",
    "my.clevelandclinic.org": "Cleveland Clinic",
    "clevelandclinic.org": "Cleveland Clinic",
    "hopkinsmedicine.org": "Johns Hopkins Medicine",
    "ema.europa.eu": "the European Medicines Agency",
    "reuters.com": "Reuters",
    "apnews.com": "AP News",
    "bbc.com": "the BBC",
    "bbc.co.uk": "the BBC",
    "factcheck.org": "FactCheck",
    "wikipedia.org": "Wikipedia",
}
_NEEDS_ARTICLE_PATTERN = re.compile(
    r"^(?:[A-Z]{2,6}$|(?:national|world|centers?|u\.?s\.?|united|american|european|federal|food|department|ministry|"
    r"office|agency|institute|royal|british|university|society|association|mayo foundation|international)\b)",
    re.IGNORECASE,
)


_MIN_PROTECTED_NAME_LETTERS = 8  # letters; a shorter name ("Time", "Health") is part of honest names too


@cache
def _load_publisher_names() -> frozenset[str]:
    return frozenset(entry.name.casefold() for entry in known_sites().values())


def is_known_publisher(claimed: str) -> bool:
    """Return whether a page takes the name of a publisher whose hosts are known, or a name that holds it."""
    folded, taken = claimed.casefold().removeprefix("the "), _load_publisher_names()
    is_short_name = any(folded == name.casefold().removeprefix("the ") for name in _NAME_BY_HOST.values())
    return (
        is_short_name
        or folded in taken
        or any(len(name) >= _MIN_PROTECTED_NAME_LETTERS and name in folded for name in taken)
    )


def publisher_name(source: Source) -> str:
    """Return a name that reads well after "According to", without a URL in it; "" when the source has none."""
    known, publisher = _look_up_name(source.url), _clean_name(source.publisher or "")
    if known and not (publisher and _is_named_part(source)):
        return known
    if publisher:
        return f"the {publisher}" if _NEEDS_ARTICLE_PATTERN.match(publisher) else publisher
    site = re.search(r"\s[|–—-]\s([^|–—]{2,40})$", source.title)
    if site and (name := _clean_name(site.group(1))) and not is_known_publisher(name):
        return f"the {name}" if _NEEDS_ARTICLE_PATTERN.match(name) else name
    return ""


def publisher_label(source: Source) -> str:
    """Return `publisher_name` as it is written alone or before a colon: "CDC", "MedlinePlus (NIH)"."""
    name = publisher_name(source).removeprefix("the ")
    return re.sub(r"^([A-Z]{2,6})'s (.+)$", r"\2 (\1)", name)


def with_publishers_named(text: str, sources: Sequence[Source]) -> str:
    """Return the text with a publisher's name for each bare site address of these sources: "the CDC" for "cdc.gov".

    Readers would get the address as a link. One of another site, or with a path, stays as it is: nobody knows what it
    should be called, and `find_urls` finds it.
    """
    for link in reversed(find_urls(text)):
        name = "" if link.has_scheme else _find_site_name(link.url.lower().removeprefix("www."), sources)
        if not name:
            continue
        before, after = text[: link.start], text[link.end :]
        if before.endswith("(") and after.startswith(")"):  # behind the name, as in "the CDC (cdc.gov)"
            text = f"{before[:-1].rstrip()}{after[1:]}"
            continue
        if name.startswith("the ") and re.search(r"\bthe $", before, re.IGNORECASE):
            name = name[4:]
        if not before.strip() or re.search(r"[.!?]\s*$", before):
            name = f"{name[0].upper()}{name[1:]}"
        text = f"{before}{name}{after}"
    return text


def _find_site_name(site: str, sources: Sequence[Source]) -> str:
    for source in sources:
        at = host(source.url)
        name = publisher_name(source)
        if at and (_is_subdomain(at, site) or _is_subdomain(site, at)) and name and not name.startswith("“"):
            return name
    return ""


def _is_named_part(source: Source) -> bool:
    """Return whether a page of a part of a known site (nccih.nih.gov) gave that part's own name."""
    at = host(source.url)
    site = find_site(at) if at and source.library is None else None
    return site is not None and at.endswith(f".{site.key}") and source.publisher not in (None, site.name, at)


def _look_up_name(url: str | None) -> str:
    try:
        parts = urlsplit(url or "")
        name = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return ""
    return longest_match(name, parts.path, _NAME_BY_HOST) or ""


def _is_subdomain(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")


def _clean_name(name: str) -> str:
    """One line, of bearable length, and no host name: X would count "cdc.gov" as a link."""
    name = re.sub(r"\s+", " ", name).strip(" .,;:-|")
    if not name or find_urls(name) or re.search(r"[<>@/\\]|\.\w", name):
        return ""
    return name if len(name) <= _MAX_NAME_CHARACTERS else ""
