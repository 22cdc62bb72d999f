"""What a case wants to read: links and records, one a page however many ask for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from urllib.parse import urldefrag

from crowdnotes.domain import FetchOutcome, Hit, Source, text_sha256
from crowdnotes.text.urls import canonical_url


@dataclass(frozen=True, slots=True)
class Wanted:
    """A source to read: a link, or a record of a library."""

    id: str
    title: str
    why: str
    url: str | None = None
    hit: Hit | None = None


def place_of(source: Source) -> str:
    """What a source is known by within its case: a page by its address, all else by its id."""
    is_page = source.id.startswith("url:") and source.url is not None
    return canonical_url(source.url) if is_page and source.url is not None else source.id


def one_a_page(items: Iterable[Wanted]) -> dict[str, Wanted]:
    """By place, the first that wants it, with what a search knows of the page."""
    wanted: dict[str, Wanted] = {}
    for item in items:
        place = canonical_url(item.url) if item.url is not None else item.id
        first = wanted.setdefault(place, item)
        if first.hit is None and item.hit is not None:
            wanted[place] = replace(first, hit=item.hit)
    return wanted


def distinct(sources: Iterable[Source]) -> list[Source]:
    """The first of those that turned out to lead to the same page; one that was read before one that was not."""
    kept: list[Source] = []
    at: dict[str, list[int]] = {}
    for source in sources:
        is_page = source.id.startswith("url:")
        place = canonical_url(source.page_url) if is_page and source.page_url else place_of(source)
        there = at.setdefault(place, [])
        same = next((number for number in there if _is_one_page(kept[number], source)), None)
        if same is None:
            there.append(len(kept))
            kept.append(source)
        elif kept[same].outcome is not FetchOutcome.READ and source.outcome is FetchOutcome.READ:
            kept[same] = source
    return kept


def _is_one_page(source: Source, other: Source) -> bool:
    """Whether two of one address are one page: many sites give one canonical link to all their pages."""
    if source.text_sha256 is None or other.text_sha256 is None:
        return True
    return source.text_sha256 == other.text_sha256 or source.title == other.title


def wanted_link(url: str) -> Wanted:
    """A link that a person brought."""
    return Wanted(_link_id(url), url, "You brought this link.", url=url)


def wanted_hit(hit: Hit, why: str) -> Wanted | None:
    """A hit as a source to read; None for one that names neither a record nor a link."""
    if hit.library is not None and hit.record is not None:
        return Wanted(f"library:{hit.library}:{hit.record}", hit.title, why, hit=hit)
    return Wanted(_link_id(hit.url), hit.title, why, url=hit.url, hit=hit) if hit.url is not None else None


def _link_id(url: str) -> str:
    return f"url:{text_sha256(urldefrag(url).url)[:12]}"
