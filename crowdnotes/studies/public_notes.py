"""X's public data as the jury's training wants it: single ratings, the notes' texts, posts where one has them.

Split chronologically 80/10/10 by when a note was written (Supernotes 2.3), no post in two parts. Post
texts are not in the public data; who has them puts posts.parquet (tweetId, text) into the folder.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crowdnotes.bridging.columns import NOTES, RATINGS
from crowdnotes.bridging.model import RatingTable
from crowdnotes.bridging.public_data import find_shards, read_table
from crowdnotes.bridging.ratings import load_ratings
from crowdnotes.errors import InputError
from crowdnotes.text.note_rules import x_storage_form

_SHARES = (0.8, 0.9)  # where the second and the third part begin
_POSTS = "posts.parquet"


@dataclass(frozen=True)
class PublicNotes:
    """Rated notes by id: ids, posts, written_ms (n,), texts; post_texts (n,), empty where a post is not
    known, or None without posts.parquet.

    part (n,): 0 learn, 1 validate, 2 test, -1 left out because its post also stands in a later part.
    """

    ids: npt.NDArray[np.int64]
    posts: npt.NDArray[np.int64]
    written_ms: npt.NDArray[np.int64]
    texts: tuple[str, ...]
    post_texts: tuple[str, ...] | None
    part: npt.NDArray[np.int8]


@dataclass(frozen=True)
class PublicRatings:
    """The ratings (m,) of those notes: table.note is the row of the note in `PublicNotes`."""

    table: RatingTable
    created_ms: npt.NDArray[np.int64]
    dropped: dict[str, int]


def load_public(data: Path) -> tuple[PublicNotes, PublicRatings]:
    """Read notes, ratings and, where there is one, posts.parquet from a folder.

    Ratings of notes without a text are dropped and counted. Raises InputError when notes or ratings are
    missing, have no times, or nothing is left.
    """
    shards = find_shards(NOTES, data)
    if not shards or not find_shards(RATINGS, data):
        raise InputError(f"{data} lacks notes or ratings.", "Put notes-00000.tsv and ratings-00000.tsv there.")
    with tempfile.TemporaryDirectory(prefix="crowdnotes-jury-") as scratch:
        read_table(NOTES, shards, Path(scratch) / "notes.parquet")
        stored = pq.read_table(Path(scratch) / "notes.parquet")
    missing = {"noteId", "tweetId", "createdAtMillis", "summary"} - set(stored.column_names)
    if missing:
        raise InputError(f"The notes lack {', '.join(sorted(missing))}.", "Download the public data again.")
    ratings = load_ratings(data, with_details=True)
    if ratings.created_at_ms is None:
        raise InputError("The ratings have no times, so past and future cannot be told apart.", "Use public data.")
    stored = stored.filter(pc.is_valid(stored["summary"]))
    ids = stored["noteId"].to_numpy()
    order = np.argsort(ids, kind="stable")
    known = np.isin(ratings.table.note_ids, ids)
    usable = known[ratings.table.note]
    if not usable.any():
        raise InputError("No rating is of a note whose text is there.", "Notes and ratings must be of one download.")
    kept = ratings.table.keep(usable)
    rows = order[np.searchsorted(ids[order], kept.note_ids)]
    chosen = stored.take(pa.array(rows))
    posts = np.asarray(chosen["tweetId"].fill_null(-1).to_numpy(), dtype=np.int64)
    written = np.asarray(chosen["createdAtMillis"].fill_null(0).to_numpy(), dtype=np.int64)
    notes = PublicNotes(
        np.asarray(kept.note_ids, dtype=np.int64),
        posts,
        written,
        tuple(x_storage_form(text) for text in chosen["summary"].to_pylist()),
        _post_texts(data / _POSTS, posts),
        split_chronologically(written, posts),
    )
    dropped = dict(ratings.dropped)
    if not usable.all():
        dropped["ratings of notes without text"] = int((~usable).sum())
    return notes, PublicRatings(kept, ratings.created_at_ms[usable], dropped)


def split_chronologically(written_ms: npt.NDArray[np.int64], posts: npt.NDArray[np.int64]) -> npt.NDArray[np.int8]:
    """The part of each note (n,): see `PublicNotes.part`. A post below 0 is not known and binds nothing."""
    place = np.empty(len(written_ms), dtype=np.int64)
    place[np.argsort(written_ms, kind="stable")] = np.arange(len(written_ms))
    edges = [round(len(place) * share) for share in _SHARES]
    part = np.digitize(place, edges).astype(np.int8)
    for earlier in (0, 1):
        later = np.unique(posts[(part > earlier) & (posts >= 0)])
        part[(part == earlier) & np.isin(posts, later)] = -1
    return part


def _post_texts(path: Path, posts: npt.NDArray[np.int64]) -> tuple[str, ...] | None:
    if not path.exists():
        return None
    try:
        table = pq.read_table(path, columns=["tweetId", "text"])
        texts: dict[Any, str] = dict(
            zip(table["tweetId"].cast(pa.int64()).to_pylist(), table["text"].to_pylist(), strict=True)
        )
    except (pa.ArrowInvalid, OSError, KeyError) as error:
        raise InputError(
            f"{path.name} cannot be read.", "It needs the columns tweetId (whole numbers) and text."
        ) from error
    return tuple(texts.get(int(post)) or "" for post in posts)
