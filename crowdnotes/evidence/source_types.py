"""What kind of source a link leads to, and who publishes it, judged by its host and nothing the page claims.

A maintained table by host suffix (text/known_sites.toml) for the seven kinds of CrowdNotes+ appendix B.1, with
the user's own hosts before it (settings); government sites that are in neither are health authorities
when their name says so.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from urllib.parse import unquote, urlsplit

from crowdnotes.domain import Case, EarlierNote, Hit, SourceCategory
from crowdnotes.evidence.reading.plain_text import tidy_line
from crowdnotes.text.languages import language_of
from crowdnotes.text.publishers import MOST_LABELS, find_site, is_known_publisher, longest_match
from crowdnotes.text.tokens import content_stems
from crowdnotes.text.urls import identities

# One host for a whole government: the path says which department speaks.
_WHOLE_GOVERNMENTS = frozenset(
    "gov.uk europa.eu ec.europa.eu canada.ca gov.il argentina.gob.ar government.nl rijksoverheid.nl".split()
)
_GOVERNMENT_HOST_PATTERN = re.compile(
    r"(?:^|\.)(?:gov|gov\.[a-z]{2}|govt\.nz|go[bv]\.[a-z]{2}|gub\.uy|gouv\.(?:fr|[a-z]{2})|gouv\.qc\.ca|go\.[a-z]{2}"
    r"|gc\.ca|admin\.ch|gv\.at|bund\.de|europa\.eu|gov\.(?:scot|wales))$"
)
_HEALTH_HOST_PATTERN = re.compile(
    r"health|salud|sant[ée]|sa[uú]de|sanit|sanidad|gesundheit|saglik|kesehatan|vaccin|medicin|disease"
    r"|(?:^|[.-])(?:moh|mohfw|doh|dhhs|dhss|dph|cdc|hhs|minsa|fda)(?:[.-]|$)"
)
_HEALTH_PATH_PATTERN = re.compile(
    r"health|vaccin|immuni[sz]|medicin|disease|covid|coronavirus|\bnhs\b|mhra|ukhsa|infection|screening"
)
_MIN_SHARED_STEMS = 2  # words that an address and a post have in common; one alone ("vaccine") is a field
_FACT_CHECK_STEMS = frozenset({"fact", "check"})  # stems
_NO_CATEGORIES: Mapping[str, SourceCategory] = MappingProxyType({})


def categorise(url: str, own: Mapping[str, SourceCategory] = _NO_CATEGORIES) -> SourceCategory:
    """One of the seven kinds; OTHER for a host that is not known, or no URL at all.

    `own` are hosts (or host and beginning of a path, as in known_sites.toml) and their kinds, which count
    before the table: EvidenceSettings.categories.
    """
    host, path = _split_site(url)
    mine = longest_match(host, path, own)
    if mine is not None:
        return mine
    entry = find_site(host, path)
    if entry is not None and entry.key not in _WHOLE_GOVERNMENTS:
        return entry.category
    words = f"{host}{path}".lower()
    if entry is not None and _HEALTH_PATH_PATTERN.search(words):
        return SourceCategory.HEALTH_AUTHORITY
    if _GOVERNMENT_HOST_PATTERN.search(host) and _HEALTH_HOST_PATTERN.search(host):
        return SourceCategory.HEALTH_AUTHORITY
    return SourceCategory.OTHER


def publisher_of(url: str, sitename: str | None = None) -> str | None:
    """Who publishes the page: the known name of its host, else the name the page gives, else the host.

    A part of a known site (nccih.nih.gov) has the name that its page gives. A page on an unknown host that takes the
    name of a known publisher is called by its host. None when there is no URL.
    """
    host, path = _split_site(url)
    if not host:
        return None
    entry, claimed = find_site(host, path), tidy_line(sitename or "", 80)
    if entry is not None:
        # Blogs on a platform: the author speaks, not the platform.
        is_part = host.endswith(f".{entry.key}")
        if entry.category is SourceCategory.SOCIAL:
            return host if is_part else entry.name
        is_own_name = claimed and not is_known_publisher(claimed) and claimed.casefold() not in entry.name.casefold()
        return claimed if is_part and is_own_name else entry.name
    return claimed if claimed and not is_known_publisher(claimed) else host


def _split_site(url: str) -> tuple[str, str]:
    """Lowercase host without "www." and such, and the path; of the archived page for an archive's link."""
    host, path = _split_url(original_of(url if "://" in url else f"//{url.strip()}"))
    return re.sub(r"^(?:www\d?|m|amp|mobile|old)\.(?=[^.]+\.)", "", host), path


_FACT_CHECKERS_FILE = Path(__file__).with_name("fact_checkers.toml")
_REVIEWS_PROVIDER = "google-fact-check"  # a provider that gives nothing but reviews of claims
# What else a fact-checker's site has: lists of checks, and pages about itself.
_NOT_A_CHECK_PATTERN = re.compile(
    r"(?:tags?|categor(?:y|ies)|authors?|topics?|search|about(?:-us)?|contact(?:-us)?|donate|team|staff|careers|jobs|"
    r"methodology|corrections?|newsletters?|privacy(?:-policy)?|terms(?:-of-use)?)(?:/|$)"
)


def fact_checker(url: str | None) -> str | None:
    """Return the known fact-checker whose check the page is, by host and path, also for an archived copy of it.

    None for other sites, and for home pages, lists and pages about the fact-checker itself.
    """
    host, path = _split_url(original_of(url or ""))
    path = path.strip("/").lower()
    if not path or _NOT_A_CHECK_PATTERN.match(path):
        return None
    labels = host.split(".")[-MOST_LABELS:]
    for first in range(len(labels) - 1):
        for section, name in _load_sections().get(".".join(labels[first:]), ()):
            # A section's own name may go on ("…/fact-check-the-vaccine") but not begin another word.
            if not section or re.match(rf"{re.escape(section)}[/-]", path):
                return name
    return None


def hits_of(case: Case) -> list[Hit]:
    """Return what the search on record and follow-up searches found; no page and no record twice."""
    found = list(case.hits) if case.searched else []
    seen = {name for hit in found for name in identities(hit)}
    for hit in (hit for asked in case.follow_ups for hit in asked.hits):
        if seen.isdisjoint(identities(hit)):
            found.append(hit)
        seen |= identities(hit)
    return found


def fact_checks(hits: Iterable[Hit], post: str) -> list[Hit]:
    """Return the hits that are checks of a claim, by any provider, in their order; those with a rating first.

    What earlier notes alone led to is left out where its address speaks of something else: an address without
    words, or a post in another language than most addresses, does not show it.
    """
    said = content_stems(post) if language_of(post) in (None, "en") else None
    checks = [hit for hit in hits if (fact_checker(hit.url) and _is_about_post(hit, said)) or _is_review_hit(hit)]
    return sorted(checks, key=lambda hit: not hit.rating)


def _is_about_post(hit: Hit, said: frozenset[str] | None) -> bool:
    if said is None or not hit.notes or hit.snippet:
        return True
    titled = content_stems(hit.title.partition(": ")[2]) - _FACT_CHECK_STEMS
    return len(titled) < _MIN_SHARED_STEMS or len(titled & said) >= _MIN_SHARED_STEMS


def earlier_notes(hits: Iterable[Hit]) -> list[tuple[EarlierNote, tuple[Hit, ...]]]:
    """Return the earlier notes that led to pages, each with its pages: those that X showed first, else as found."""
    pages: dict[int, tuple[EarlierNote, list[Hit]]] = {}
    for hit in hits:
        for note in hit.notes:
            pages.setdefault(note.note, (note, []))[1].append(hit)
    return sorted(((note, tuple(found)) for note, found in pages.values()), key=lambda pair: not pair[0].was_shown)


def _is_review_hit(hit: Hit) -> bool:
    """Return whether a service or library of reviews gave it, and not as a person's post on a platform."""
    is_review = hit.check is not None or _REVIEWS_PROVIDER in (hit.provider, *hit.also_found_by)
    return is_review and hit.category is not SourceCategory.SOCIAL


@cache
def _load_sections() -> Mapping[str, list[tuple[str, str]]]:
    """By host, the folders that hold checks ("" for all of it) and whose they are."""
    with _FACT_CHECKERS_FILE.open("rb") as file:
        table: Mapping[str, str] = tomllib.load(file)
    found: dict[str, list[tuple[str, str]]] = {}
    for key, name in table.items():
        host, _, section = key.partition("/")
        found.setdefault(host, []).append((section, name))
    return found


# https://en.wikipedia.org/wiki/Wikipedia:List_of_web_archives_on_Wikipedia
_ARCHIVE_TODAY_HOSTS = frozenset(f"archive.{end}" for end in "today ph is li vn fo md".split())
_WAYBACK_HOSTS = frozenset({"web.archive.org", "wayback.archive.org"})
_COPY_PATH_PATTERN = re.compile(
    r"^/(?:web/)?(?:o/\w+/)?(?:[\d*]{1,14}(?:[a-z]{2}_)?|newest|oldest)/(.+)$", re.IGNORECASE
)
_ARCHIVE_TODAY_PATH_PATTERN = re.compile(r"^/o/\w+/(.+)$")


def is_archived(url: str) -> bool:
    """Return whether a link leads to a copy in the Wayback Machine or archive.today."""
    host, path = _split_url(url)
    return (host in _WAYBACK_HOSTS and path.startswith("/web/")) or (host in _ARCHIVE_TODAY_HOSTS and len(path) > 1)


def original_of(url: str) -> str:
    """Return the address that an archived copy is of; the address itself when it is no copy or does not say."""
    host, path = _split_url(url)
    if host not in _WAYBACK_HOSTS and host not in _ARCHIVE_TODAY_HOSTS:
        return url
    found = _COPY_PATH_PATTERN.match(path) or (
        _ARCHIVE_TODAY_PATH_PATTERN.match(path) if host in _ARCHIVE_TODAY_HOSTS else None
    )
    if found is None:
        return url
    inner = found.group(1)
    if re.match(r"https?%3a", inner, re.IGNORECASE):
        inner = unquote(inner)
    inner = re.sub(r"^(https?):/+", r"\1://", inner, flags=re.IGNORECASE)
    if not re.match(r"https?://", inner, re.IGNORECASE):
        inner = f"http://{inner}" if re.match(r"[\w-]+(?:\.[\w-]+)+(?:/|$)", inner) else ""
    query = url.partition("?")[2].partition("#")[0]
    return (f"{inner}?{query}" if query else inner) or url


def _split_url(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url.strip())
        return (parts.hostname or "").rstrip(".").removeprefix("www."), parts.path
    except ValueError:
        return "", ""
