"""Pages and texts that are the same: found by several searches, or copied elsewhere.

Many rankings become one by reciprocal rank fusion (Cormack, Clarke and Buettcher, 2009), twice: a provider's
rankings, one for each query that it was asked, become one ranking, and those of the providers become the merged
one. So each provider has one vote, and the best of many queries' answers ranks as high as the best of one
query's. Near copies are recognised by the word triples that two texts share.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import TypeVar

from crowdnotes.domain import FetchOutcome, Hit, Source
from crowdnotes.text.markdown import host
from crowdnotes.text.plain_letters import plain_letters
from crowdnotes.text.tokens import ENGLISH_STOP_WORDS, content_stems, stem, tokens, words
from crowdnotes.text.urls import canonical_url, identities

_MOST_A_TOPIC = 2
# Words of a heading that are not its subject: "What are the treatments for mumps?", "Mumps: causes".
_FACET_STEMS = frozenset(
    map(
        stem,
        "affected basics cause changes clinical complications definition diagnosis diagnosed done facts faq frequent "
        "genetic guide history information inherited introduction learn living management outlook overview people "
        "prevent prognosis questions related research risk signs stages summary symptoms tests treated treatment "
        "trials".split(),
    )
)
T = TypeVar("T")
Shingles = frozenset[tuple[str, ...]]
Rankings = Sequence[Sequence[Hit]]

PREPRINT = "preprint"  # the notice on a hit
_MIN_SIMILARITY = 0.8  # Jaccard similarity of word triples; a changed word in every thirty stays above it
_SHINGLE_WORDS = 3
_MAX_COMPARED_CHARACTERS = 20_000  # two long documents that agree this far are copies
_FUSION_CONSTANT = 60  # the constant of the paper
_MAX_HIT_CHARACTERS = 800  # characters of title and snippet
_MIN_SHINGLES = 8  # fewer words than that agree by chance
_MIN_PART_SHINGLES = 20
_MIN_CONTAINED_SHARE = 0.9  # services show more of a text, or less, than others


def normalised(text: str) -> str:
    """Return the words of a text without case, punctuation and spacing: equal for exact copies."""
    return " ".join(words(unicodedata.normalize("NFKC", plain_letters(text)).casefold()))


def source_key(source: Source) -> str:
    """Return what a source is known by within its case: a page by its address, all else by its id."""
    return canonical_url(source.url) if source.id.startswith("url:") and source.url else source.id


def distinct(sources: Iterable[Source]) -> list[Source]:
    """Return the first of those that turned out to lead to the same page; one that was read before one that was not."""
    kept: list[Source] = []
    for source in sources:
        same = next((number for number, other in enumerate(kept) if _is_same_page(source, other)), None)
        if same is None:
            kept.append(source)
        elif kept[same].outcome is not FetchOutcome.READ and source.outcome is FetchOutcome.READ:
            kept[same] = source
    return kept


def _is_same_page(source: Source, other: Source) -> bool:
    """Return whether both lead to one address and say the same: many sites have one canonical link for all pages."""
    if _resolve_source_address(source) != _resolve_source_address(other):
        return False
    one_was_not_read = source.text_sha256 is None or other.text_sha256 is None
    return one_was_not_read or source.text_sha256 == other.text_sha256 or source.title == other.title


def _resolve_source_address(source: Source) -> str:
    is_page = source.id.startswith("url:")
    return canonical_url(source.page_url) if is_page and source.page_url else source_key(source)


def shingles(text: str) -> Shingles:
    """Return the set of word triples of a text; a shorter text is one shingle, an empty one none."""
    found = normalised(text[:_MAX_COMPARED_CHARACTERS]).split()
    if len(found) <= _SHINGLE_WORDS:
        return frozenset([tuple(found)]) if found else frozenset()
    return frozenset(zip(found, found[1:], found[2:], strict=False))


def _are_near_copies(a: Shingles, b: Shingles) -> bool:
    """Return whether `_MIN_SIMILARITY` of all triples of the two are in both; two texts without words are copies."""
    if min(len(a), len(b)) < _MIN_SIMILARITY * max(len(a), len(b)):
        return False
    shared = len(a & b)
    return shared >= _MIN_SIMILARITY * (len(a) + len(b) - shared)


def without_near_duplicates(items: Iterable[T], text: Callable[[T], str], limit: int | None = None) -> list[T]:
    """Return the items in order, without near copies of an earlier one; of those without words one stays.

    Put the best first: it is the one that stays. Stops at `limit` items, so that the rest is never compared.
    """
    kept: list[T] = []
    seen: list[Shingles] = []
    for item in items:
        if limit is not None and len(kept) >= limit:
            break
        own = shingles(text(item))
        if not any(_are_near_copies(own, other) for other in seen):
            kept.append(item)
            seen.append(own)
    return kept


def spread_over_topics(hits: Sequence[Hit], places: int, asked: AbstractSet[str] = frozenset()) -> list[Hit]:
    """Return the first `places` hits with at most two of one topic; more of one where topics are too few to fill them.

    Of one topic are records of one page, and pages of one site whose headings name the same subject. Those of it that
    stay hold most of the stems `asked`.
    """
    keys = [_list_topic_keys(hit) for hit in hits]
    topics = len({of_hit[0] if of_hit else str(place) for place, of_hit in enumerate(keys)})
    most = max(_MOST_A_TOPIC, -(-places // max(1, topics)))
    held = [len(content_stems(f"{hit.title} {hit.snippet}") & asked) for hit in hits]
    kept: set[int] = set()
    had: Counter[str] = Counter()
    for place in sorted(range(len(hits)), key=lambda place: -held[place]):
        if all(had[key] < most for key in keys[place]):
            had.update(keys[place])
            kept.add(place)
    return [hits[place] for place in sorted(kept)][:places]


def _list_topic_keys(hit: Hit) -> list[str]:
    """Its page, and its site with the subject of its heading, as far as either is known."""
    named = {token.stem for token in tokens(hit.title) if token.folded not in ENGLISH_STOP_WORDS} - _FACET_STEMS
    site = host(hit.url) or hit.library or hit.provider
    page = [canonical_url(hit.url)] if hit.url else []
    return [*page, f"{site} {' '.join(sorted(named))}"] if named else page


def merge(providers: Sequence[Rankings]) -> list[Hit]:
    """Return the hits of all rankings of all providers, without repeats, best first; the best scores 1.

    Hits are the same page when they share a canonical address, a DOI or a library record: then they
    share their notices. A near copy of another's title and snippet is left out, a preprint before the
    published paper.
    """
    pages = _group_by_page(providers)
    best = max((page.score for page in pages), default=0.0)
    merged = [_combine_hits(page, page.score / best) for page in pages]
    merged.sort(key=lambda hit: -hit.score)
    return _drop_near_copies(merged)


@dataclass(slots=True, eq=False)
class _MergedPage:
    hits: list[Hit] = field(default_factory=list)
    score: float = 0.0


def _group_by_page(providers: Sequence[Rankings]) -> list[_MergedPage]:
    """Return the hits grouped by identity, in the order in which they were first seen, with their score."""
    of: dict[str, _MergedPage] = {}
    for hit in (hit for rankings in providers for ranking in rankings for hit in ranking):
        _find_page(hit, of).hits.append(hit)
    pages = list(dict.fromkeys(of.values()))
    page_of = {id(hit): page for page in pages for hit in page.hits}
    for rankings in providers:
        votes: dict[_MergedPage, float] = {}
        for ranking in rankings:
            for rank, page in enumerate(dict.fromkeys(page_of[id(hit)] for hit in ranking)):
                votes[page] = votes.get(page, 0.0) + _score_rank(rank)
        for rank, page in enumerate(sorted(votes, key=lambda page: -votes[page])):
            page.score += _score_rank(rank)
    return pages


def _score_rank(rank: int) -> float:
    return (_FUSION_CONSTANT + 1) / (_FUSION_CONSTANT + 1 + rank)


def _find_page(hit: Hit, of: dict[str, _MergedPage]) -> _MergedPage:
    """Return the page that a hit belongs to; a hit with a DOI and an address may join two into one.

    Two records of one library stay two, whatever address they share: each is a part of that page.
    """
    keys = identities(hit)
    held = dict.fromkeys(of[key] for key in sorted(keys) if key in of)
    known = [page for page in held if not any(_is_another_record(hit, other) for other in page.hits)]
    page = known[0] if known else _MergedPage()
    for other in known[1:]:
        page.hits.extend(other.hits)
        of.update({key: page for key, value in of.items() if value is other})
    for key in keys:
        of.setdefault(key, page)
    return page


def _is_another_record(hit: Hit, other: Hit) -> bool:
    return hit.library is not None and hit.library == other.library and hit.record != other.record


def _combine_hits(page: _MergedPage, score: float) -> Hit:
    """Return the hit with the most to read, with what the others know besides."""
    hits = page.hits
    chosen = max(hits, key=lambda hit: (hit.library is not None, bool(hit.snippet), hit.published is not None))
    others = dict.fromkeys(hit.provider for hit in hits if hit.provider != chosen.provider)
    return chosen.replace(
        score=round(score, 6),
        published=chosen.published or next((hit.published for hit in hits if hit.published), None),
        rating=chosen.rating or next((hit.rating for hit in hits if hit.rating), ""),
        check=chosen.check or next((hit.check for hit in hits if hit.check), None),
        doi=chosen.doi or next((hit.doi for hit in hits if hit.doi), None),
        notes=tuple({note.note: note for hit in hits for note in hit.notes}.values()),
        notices=tuple(dict.fromkeys(notice for hit in hits for notice in hit.notices)),
        also_found_by=tuple(others),
    )


def _drop_near_copies(hits: Sequence[Hit]) -> list[Hit]:
    kept: list[Hit] = []
    seen: list[Shingles] = []
    for hit in hits:
        own = shingles(f"{hit.title} {hit.snippet}"[:_MAX_HIT_CHARACTERS])
        copy_of = next((at for at, other in enumerate(seen) if _is_near_copy(hit, own, kept[at], other)), None)
        if copy_of is None:
            kept.append(hit)
            seen.append(own)
        else:
            kept[copy_of] = _merge_copies(kept[copy_of], hit)
    return kept


def _is_near_copy(hit: Hit, own: Shingles, other: Hit, held: Shingles) -> bool:
    """Return the same words; or, from another provider, words of which the longer text holds nearly all."""
    if len(own) >= _MIN_SHINGLES and _are_near_copies(own, held):
        return True
    fewer = min(len(own), len(held))
    return (
        hit.provider != other.provider
        and fewer >= _MIN_PART_SHINGLES
        and len(own & held) >= _MIN_CONTAINED_SHARE * fewer
    )


def _merge_copies(first: Hit, copy: Hit) -> Hit:
    """Of two with the same words the better placed one, but a published paper rather than its preprint."""
    is_preprint = PREPRINT in first.notices and PREPRINT not in copy.notices
    chosen, other = (copy, first) if is_preprint else (first, copy)
    others = dict.fromkeys((*chosen.also_found_by, other.provider, *other.also_found_by))
    found_by = tuple(name for name in others if name != chosen.provider)
    return chosen.replace(score=first.score, also_found_by=found_by)
