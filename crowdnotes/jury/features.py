"""The jury model's features of a note: hashed words, letters and link hosts, and an embedding.

Hashing keeps no vocabulary: the trained weights hold no words of anybody's note. Links count twice: by where they
lead (host, account) and by the words in their path, which often repeat a headline.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from crowdnotes.text.note_rules import find_urls, without_urls

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from crowdnotes.embedding import Embedder

VERSION = 4
_BITS = {"words": 18, "letters": 18, "hosts": 14}
_TOKEN = r"(?u)\b\w+\b|[!?]"
_HOST = re.compile(r"^https?://(?:www\.|m\.|mobile\.|amp\.|en\.m\.)?([^/?#]+)(?:/([^/?#]+))?", re.IGNORECASE)
_X = frozenset({"x.com", "twitter.com"})


def _slices() -> dict[str, slice]:
    ends = np.cumsum([1 << bits for bits in _BITS.values()])
    return {
        name: slice(int(end) - (1 << bits), int(end)) for (name, bits), end in zip(_BITS.items(), ends, strict=True)
    }


BLOCKS = _slices()  # where the columns of each kind stand
COLUMNS = max(block.stop for block in BLOCKS.values())


@dataclass(frozen=True)
class Features:
    """Of n notes: hashed presence (n, COLUMNS), and unit vectors (n, d), or (n, 0) where there is no embedder."""

    hashed: csr_matrix
    vectors: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return int(self.hashed.shape[0])

    def rows(self, chosen: npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> Features:
        """Some of the notes."""
        return Features(self.hashed[chosen], self.vectors[chosen])

    def with_vectors(self, vectors: npt.NDArray[np.float32]) -> Features:
        """The same words with other vectors."""
        return Features(self.hashed, vectors)

    def without_vectors(self) -> Features:
        """The same words for a model whose embedder is not at hand."""
        return self.with_vectors(np.zeros((len(self), 0), dtype=np.float32))


def features(notes: Sequence[str], embedder: Embedder | None) -> Features:
    """Read notes. Without an embedder the vectors have no columns (`with_vectors` adds them)."""
    if embedder is None:
        vectors = np.zeros((len(notes), 0), dtype=np.float32)
    else:
        vectors = embedder.encode([without_urls(note) for note in notes])
    return Features(_hashed(notes), vectors)


def hosts_of(note: str) -> list[str]:
    """Hosts without www., and "@account" after the host of each link to a post on X; in lower case, in order."""
    found = []
    for url in find_urls(note):
        parts = _HOST.match(url.url if url.has_scheme else f"https://{url.url}")
        if parts is None:
            continue
        host = parts[1].lower()
        found.append(host)
        if host in _X and parts[2]:
            found.append(f"@{parts[2].lower()}")
    return found


def _hashed(notes: Sequence[str]) -> csr_matrix:
    from scipy.sparse import csr_matrix, hstack

    if not notes:  # scikit-learn cannot hash nothing
        return csr_matrix((0, COLUMNS), dtype=np.float32)
    from sklearn.feature_extraction.text import HashingVectorizer

    def block(name: str, texts: Sequence[str], **how: object) -> csr_matrix:
        return HashingVectorizer(
            n_features=1 << _BITS[name], alternate_sign=False, norm=None, binary=True, dtype=np.float32, **how
        ).transform(texts)

    texts = [f"{without_urls(note)} . {_path_words(note)}" for note in notes]
    return hstack(
        (
            block("words", texts, token_pattern=_TOKEN, ngram_range=(1, 2)),
            block("letters", texts, analyzer="char_wb", ngram_range=(2, 5)),
            block("hosts", notes, analyzer=hosts_of),
        )
    ).tocsr()


def _path_words(note: str) -> str:
    paths = (re.sub(r"^https?://[^/]*", "", url.url.lower()) for url in find_urls(note))
    return " ".join(word for path in paths for word in re.findall(r"[a-z]{2,}", path))
