"""A note's text as numbers: hashed words, letters and sources, manner, stances, and its meaning's vector.

Hashing keeps no vocabulary: the trained weights hold no words of anybody's note. Links count twice:
as sources (host, account) and by the words in their path, which often repeat a headline. Words also count
with the kind of note they stand in, and with the side of whoever stands next to them (`frames`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from crowdnotes.jury.frames import frames, words_by_kind
from crowdnotes.jury.parsed import parsed
from crowdnotes.jury.raters import Floats
from crowdnotes.jury.sources import sources_of
from crowdnotes.jury.stance import stances
from crowdnotes.jury.style import style
from crowdnotes.text.note_rules import without_urls

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from crowdnotes.embedding import Embedder

VERSION = 3
BITS = {"words": 18, "letters": 18, "sources": 14, "kinds": 18, "frames": 18}
_TOKEN = r"(?u)\b\w+\b|[!?]"


@dataclass(frozen=True)
class Features:
    """Of n notes: hashed presence by block (n, 2**bits), manner (n, s), stances (n, t), unit vectors (n, d) or none."""

    blocks: dict[str, csr_matrix]
    manner: Floats
    stances: Floats
    vectors: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.manner)

    def rows(self, chosen: npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> Features:
        """Some of the notes."""
        return Features(
            {name: block[chosen] for name, block in self.blocks.items()},
            self.manner[chosen],
            self.stances[chosen],
            self.vectors[chosen],
        )

    def and_rows(self, other: Features) -> Features:
        """These notes, then others."""
        from scipy.sparse import vstack

        return Features(
            {name: vstack((block, other.blocks[name])).tocsr() for name, block in self.blocks.items()},
            np.concatenate((self.manner, other.manner)),
            np.concatenate((self.stances, other.stances)),
            np.concatenate((self.vectors, other.vectors)),
        )

    def with_vectors(self, vectors: npt.NDArray[np.float32]) -> Features:
        """The same words with other vectors."""
        return Features(self.blocks, self.manner, self.stances, vectors)


def features(notes: Sequence[str], embedder: Embedder | None) -> Features:
    """Read notes. Without an embedder the vectors have no columns (`with_vectors` adds them)."""
    if embedder is None:
        vectors = np.zeros((len(notes), 0), dtype=np.float32)
    else:
        vectors = embedder.encode([meaning(note) for note in notes])
    return Features(_blocks(notes), style(notes), stances(notes), vectors)


def meaning(note: str) -> str:
    """What the embedder reads of a note: its words without links."""
    return without_urls(note)


def _blocks(notes: Sequence[str]) -> dict[str, csr_matrix]:
    if not notes:  # scikit-learn cannot hash nothing
        from scipy.sparse import csr_matrix

        return {name: csr_matrix((0, 1 << bits), dtype=np.float32) for name, bits in BITS.items()}
    from sklearn.feature_extraction.text import HashingVectorizer

    def hashed(name: str, **how: object) -> HashingVectorizer:
        return HashingVectorizer(
            n_features=1 << BITS[name], alternate_sign=False, norm=None, binary=True, dtype=np.float32, **how
        )

    texts = [f"{parsed(note).body} . {_path_words(note)}" for note in notes]
    return {
        "words": hashed("words", token_pattern=_TOKEN, ngram_range=(1, 2)).transform(texts),
        "letters": hashed("letters", analyzer="char_wb", ngram_range=(2, 5)).transform(texts),
        "sources": hashed("sources", analyzer=sources_of).transform(notes),
        "kinds": hashed("kinds", analyzer=words_by_kind).transform(notes),
        "frames": hashed("frames", analyzer=frames).transform(notes),
    }


def _path_words(note: str) -> str:
    paths = (re.sub(r"^https?://[^/]*", "", url.url.lower()) for url in parsed(note).links)
    return " ".join(word for path in paths for word in re.findall(r"[a-z]{2,}", path))
