"""A post and a note as the heads see them: named features, hashed grams, sentence vectors."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from crowdnotes.domain import Post
from crowdnotes.embedding import Embedder, FloatArray
from crowdnotes.engines.local.heads.grams import Grams, letter_grams, word_grams
from crowdnotes.engines.local.heads.head import Sample
from crowdnotes.engines.local.heads.link_kinds import linked_hosts
from crowdnotes.engines.local.heads.note_features import note_features
from crowdnotes.engines.local.heads.note_reader import NoteReader, readable_note, readable_post, taught_features
from crowdnotes.engines.local.heads.pair_features import pair_features
from crowdnotes.engines.local.heads.readings import Readings
from crowdnotes.text.note_rules import without_urls
from crowdnotes.text.stems import plain_post

# Half-years whose strictness is learned. Dates before the first or after the last count as those.
_FIRST_HALF, _LAST_HALF = 2022.5, 2025.5
SIMILARITY = "similarity to the post"


@dataclass(frozen=True, slots=True)
class Taught:
    """What the taught reader makes of a post and a note: features by name, and its vectors of both."""

    features: Mapping[str, float]
    vectors: Mapping[str, FloatArray]


def note_words(note: str) -> str:
    """The note's words as judged: entities undone, without URLs."""
    return without_urls(html.unescape(note))


def note_grams(note: str) -> Grams:
    """Its words and pairs, and a mark for each site that it links to."""
    return word_grams(note_words(note), [f"site:{host}" for host in linked_hosts(note)])


def note_sample(note: str, vector: FloatArray | None) -> Sample:
    """A note alone; `vector` of its words, None without a fitting embedder."""
    grams = {"words": note_grams(note), "letters": letter_grams(note_words(note))}
    return Sample(note_features(note), grams, {} if vector is None else {"note": vector})


def pair_sample(
    post: Post,
    note: str,
    readings: Readings,
    post_vector: FloatArray | None,
    note_vector: FloatArray | None,
    taught: Taught | None = None,
) -> Sample:
    """A note under a post, with what `taught_reads` gave. Without vectors or a date what they tell is left out."""
    words = note_grams(note)
    text = plain_post(post.text)
    features = {**note_features(note), **pair_features(post.text, note), **readings.score(words)}
    features |= time_features(post.posted_at) if post.posted_at is not None else {}
    vectors: dict[str, FloatArray] = {}
    if taught is not None:
        features |= taught.features
        vectors |= taught.vectors
    if post_vector is not None and note_vector is not None:
        vectors |= {"post": post_vector, "note": note_vector, "both": post_vector * note_vector}
        features[SIMILARITY] = float(post_vector @ note_vector)
    return Sample(features, {"words": words, "post words": word_grams(text)}, vectors)


def taught_reads(reader: NoteReader, pairs: Sequence[tuple[Post, str]]) -> list[Taught]:
    """What the reader makes of each post and the note under it."""
    posts = reader.read([readable_post(plain_post(post.text)) for post, _ in pairs])
    notes = reader.read([readable_note(note) for _, note in pairs])
    return [
        Taught(taught_features(post, note), {"post as read": post.vector, "note as read": note.vector})
        for post, note in zip(posts, notes, strict=True)
    ]


def time_features(moment: datetime) -> dict[str, float]:
    """How near a date is to each half-year, in [0, 1], adding up to 1: raters grew stricter during 2024."""
    year = moment.year + (moment.timetuple().tm_yday - 1) / 366
    at = min(_LAST_HALF, max(_FIRST_HALF, year))
    halves = [_FIRST_HALF + step / 2 for step in range(round((_LAST_HALF - _FIRST_HALF) * 2) + 1)]
    return {f"time: {half:.1f}": max(0.0, 1.0 - 2 * abs(at - half)) for half in halves}


def vector_of(embedder: Embedder, name: str, texts: list[str]) -> list[FloatArray | None]:
    """The vectors of texts, or None for each when the head was fitted to another embedder."""
    if embedder.name != name:
        return [None] * len(texts)
    return list(embedder.encode(texts))
