"""Many rankings to one list: the same page once, the best first.

Reciprocal rank fusion (Cormack, Clarke and Buettcher, 2009), twice: a provider's rankings, one for each
query that it was asked, become one ranking, and those of the providers become the merged one. So each
provider has one vote, and the best of many queries' answers stands as high as the best of one query's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from crowdnotes.domain import Hit
from crowdnotes.evidence.duplicates import KeptTexts, Shingles, shingles
from crowdnotes.evidence.search.answers import PREPRINT
from crowdnotes.text.urls import identities

_FUSION = 60  # the constant of the paper
_COMPARED = 800  # characters of title and snippet
_FEWEST_SHINGLES = 8  # fewer words than that agree by chance
_FEWEST_OF_A_PART = 20
_HELD = 0.9  # services show more of a text, or less, than others

Rankings = Sequence[Sequence[Hit]]


def merge(providers: Sequence[Rankings]) -> list[Hit]:
    """The hits of all rankings of all providers, without repeats, best first; the best scores 1.

    Hits are the same page when they share a canonical address, a DOI or a library record: then they
    share their notices. A near copy of another's title and snippet is left out, a preprint before the
    published paper.
    """
    pages = _pages(providers)
    best = max((page.score for page in pages), default=0.0)
    merged = [_combined(page, page.score / best) for page in pages]
    merged.sort(key=lambda hit: -hit.score)
    return _without_near_copies(merged)


@dataclass(slots=True)
class _Page:
    hits: list[Hit] = field(default_factory=list)
    score: float = 0.0


def _pages(providers: Sequence[Rankings]) -> list[_Page]:
    """The hits grouped by identity, in the order in which they were first seen."""
    of: dict[str, _Page] = {}
    for rankings in providers:
        for hit in (hit for ranking in rankings for hit in ranking):
            _page_of(hit, of).hits.append(hit)
    pages = list({id(page): page for page in of.values()}.values())
    page_of = {id(hit): page for page in pages for hit in page.hits}
    for rankings in providers:
        votes: dict[int, float] = {}
        for ranking in rankings:
            places: dict[int, int] = {}  # a ranking counts a page once, where it stands highest
            for rank, hit in enumerate(ranking):
                places.setdefault(id(page_of[id(hit)]), rank)
            for page, rank in places.items():
                votes[page] = votes.get(page, 0.0) + _vote(rank)
        place = {page: rank for rank, page in enumerate(sorted(votes, key=lambda page: -votes[page]))}
        for one in pages:
            if id(one) in place:
                one.score += _vote(place[id(one)])
    return pages


def _vote(rank: int) -> float:
    return (_FUSION + 1) / (_FUSION + 1 + rank)


def _page_of(hit: Hit, of: dict[str, _Page]) -> _Page:
    """The page that a hit belongs to; a hit with a DOI and an address may join two into one.

    Two records of one library stay two, whatever address they share: each is a part of that page.
    """
    keys = identities(hit)
    held = {id(of[key]): of[key] for key in sorted(keys) if key in of}
    known = [page for page in held.values() if not any(_is_another_record(hit, other) for other in page.hits)]
    page = known[0] if known else _Page()
    for other in known[1:]:
        page.hits.extend(other.hits)
        for key in [key for key, value in of.items() if value is other]:
            of[key] = page
    for key in keys:
        of.setdefault(key, page)
    return page


def _is_another_record(hit: Hit, other: Hit) -> bool:
    return hit.library is not None and hit.library == other.library and hit.record != other.record


def _combined(page: _Page, score: float) -> Hit:
    """The hit with the most to read, with what the others know besides."""
    hits = page.hits
    chosen = max(hits, key=lambda hit: (hit.library is not None, bool(hit.snippet), hit.published is not None))
    others = dict.fromkeys(hit.provider for hit in hits if hit.provider != chosen.provider)
    return chosen.model_copy(
        update={
            "score": round(score, 6),
            "published": chosen.published or next((hit.published for hit in hits if hit.published), None),
            "rating": chosen.rating or next((hit.rating for hit in hits if hit.rating), ""),
            "doi": chosen.doi or next((hit.doi for hit in hits if hit.doi), None),
            "notices": tuple(dict.fromkeys(notice for hit in hits for notice in hit.notices)),
            "also_found_by": tuple(others),
        }
    )


def _without_near_copies(hits: Sequence[Hit]) -> list[Hit]:
    kept: list[Hit] = []
    seen = KeptTexts()
    for hit in hits:
        own = shingles(f"{hit.title} {hit.snippet}"[:_COMPARED])
        copied = (
            number for number, shared in seen.shared(own) if _is_copy(hit, own, kept[number], number, shared, seen)
        )
        copy_of = next(copied, None)
        if copy_of is None:
            kept.append(hit)
            seen.keep(own)
        else:
            kept[copy_of] = _one_of(kept[copy_of], hit)
    return kept


def _is_copy(hit: Hit, own: Shingles, other: Hit, number: int, shared: int, seen: KeptTexts) -> bool:
    """The same words; or, from another provider, words of which the longer text holds nearly all."""
    if len(own) >= _FEWEST_SHINGLES and seen.is_near(own, number, shared):
        return True
    shorter = min(len(own), seen.sizes[number])
    return hit.provider != other.provider and shorter >= _FEWEST_OF_A_PART and shared >= _HELD * shorter


def _one_of(first: Hit, copy: Hit) -> Hit:
    """Of two with the same words the better placed one, but a published paper rather than its preprint."""
    is_preprint = PREPRINT in first.notices and PREPRINT not in copy.notices
    chosen, other = (copy, first) if is_preprint else (first, copy)
    others = dict.fromkeys((*chosen.also_found_by, other.provider, *other.also_found_by))
    return chosen.model_copy(
        update={
            "score": first.score,
            "also_found_by": tuple(name for name in others if name != chosen.provider),
        }
    )
