"""A trained head: one scikit-learn pipeline over blocks of columns, saved with skops (nothing pickled).

A block is what a head looks at of each note: hashed counts of words or of letter runs, weighed by rarity in the
pipeline, or a sentence vector. Then one logistic regression, whose probabilities are calibrated on held-out folds.
"""

from __future__ import annotations

import hashlib
import html
import io
import json
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from crowdnotes.domain import Span
from crowdnotes.embedding import Embedder, FloatArray
from crowdnotes.errors import ModelFilesError
from crowdnotes.text.note_rules import find_urls, without_urls

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from sklearn.pipeline import Pipeline

JUDGES = Path(__file__).resolve().parents[4] / "assets" / "judges"
HELPFULNESS, OPINION = "helpfulness.skops", "principles.skops"
BUCKETS = 1 << 15
REPAIR = "Put the folder assets/judges back, for instance with `git checkout assets`, or train it again."
_MOST_CHARACTERS = 4_000  # a note has 280, a post seldom more than 1,000
_MARKS = re.compile(r"\W+")
_SCHEMA = "schema.json"  # of skops, beside the arrays

Blocks = Mapping[str, Any]
"""By name a row a note: counts (a sparse matrix), or vectors, shape (notes, dimensions), None when there are none."""


Counters = Mapping[str, Callable[[Sequence[str]], Any]]


@dataclass(frozen=True, slots=True)
class Explained:
    """Why a head gives its probability.

    `worths`: what each block adds to the log-odds; of a vector, beside what the mean would.

    `gains`: how much the probability falls with each shortened text.
    """

    probability: float
    worths: Mapping[str, float]
    gains: Sequence[float]


@dataclass(frozen=True)
class Head:
    """A trained head.

    `widths`: the blocks' columns, in their order; `means`: of the vectors it learned from; `embedder` made them.
    """

    pipeline: Pipeline
    widths: Mapping[str, int]
    means: Mapping[str, FloatArray]
    embedder: str

    def probabilities(self, blocks: Blocks) -> FloatArray:
        """Of each note, shape (notes,). Vectors that are missing are put at the mean, where they tell nothing."""
        return np.asarray(self.pipeline.predict_proba(self._rows(blocks))[:, 1])

    def explained(self, blocks: Blocks, shortened: Sequence[str], counters: Counters) -> Explained:
        """What moves the probability of one note; `shortened` is the note without one word each, its vectors kept.

        `counters` make the blocks of counts from texts. All variants go through the pipeline together.
        """
        from scipy import sparse
        from scipy.special import expit

        variants = [blocks, {**blocks, **dict.fromkeys(self.means)}]
        if shortened:
            kept = {name: None if block is None else block.repeat(len(shortened), axis=0)
                    for name, block in blocks.items() if name not in counters}  # fmt: skip
            variants.append(kept | {name: count(shortened) for name, count in counters.items()})
        rows = self.pipeline[:-1].transform(sparse.vstack([self._rows(variant) for variant in variants]))
        last = self.pipeline[-1]
        probabilities = expit(rows @ last.coef_[0] + last.intercept_[0])
        own, average = rows[:2].multiply(last.coef_).tocsr()
        worths = {
            name: float(own[:, place].sum() - (average[:, place].sum() if name in self.means else 0.0))
            for name, place in self.pipeline[0].output_indices_.items()
            if name in self.widths
        }
        return Explained(float(probabilities[0]), worths, [float(p) for p in probabilities[0] - probabilities[2:]])

    def _rows(self, blocks: Blocks) -> csr_matrix:
        count = next(block.shape[0] for block in blocks.values() if block is not None)
        filled = {name: np.tile(mean, (count, 1)) for name, mean in self.means.items()}
        return rows_of(filled | {name: block for name, block in blocks.items() if block is not None}, self.widths)

    def save(self, path: Path) -> None:
        """Write pipeline and means in one compressed file; the same head gives the same bytes."""
        import skops.io

        content = {
            "pipeline": self.pipeline,
            "widths": dict(self.widths),
            "means": dict(self.means),
            "embedder": self.embedder,
        }
        _write_reproducibly(skops.io.dumps(content), path)


def _write_reproducibly(archive: bytes, path: Path) -> None:
    """Write what skops made undated, each array named by its content: skops names it by where it lay in memory."""
    with zipfile.ZipFile(io.BytesIO(archive)) as made:
        files = {name: made.read(name) for name in made.namelist()}
    schema = files.pop(_SCHEMA)
    names = {name: f"{hashlib.sha256(content).hexdigest()[:16]}{Path(name).suffix}" for name, content in files.items()}

    def named(node: dict[str, Any]) -> dict[str, Any]:
        node.pop("__id__", None)  # an address too
        return node | {"file": names[node["file"]]} if "file" in node else node

    files = {names[name]: content for name, content in files.items()}
    files[_SCHEMA] = json.dumps(json.loads(schema, object_hook=named)).encode()
    with zipfile.ZipFile(path, "w") as kept:
        for name in sorted(files):
            kept.writestr(zipfile.ZipInfo(name), files[name], zipfile.ZIP_DEFLATED, compresslevel=9)


def load_head(path: Path) -> Head:
    """What `Head.save` wrote. Raises ModelFilesError when the file is missing or damaged, or holds other types."""
    import skops.io
    from skops.io.exceptions import UntrustedTypesFoundException

    try:
        return Head(**skops.io.load(path))
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile, UntrustedTypesFoundException) as error:
        raise ModelFilesError(f"The trained judge {path.name} is missing or damaged.", REPAIR) from error


@cache
def shipped_head(name: str) -> Head:
    """A head of assets/judges, read once. Raises ModelFilesError when it is missing or damaged."""
    return load_head(JUDGES / name)


def rows_of(blocks: Blocks, widths: Mapping[str, int]) -> csr_matrix:
    """The blocks side by side, in the order of `widths`."""
    from scipy import sparse

    return sparse.hstack([sparse.csr_matrix(blocks[name]) for name in widths]).tocsr()


def note_words(note: str) -> str:
    """The note's words as judged: entities undone, without URLs."""
    return without_urls(html.unescape(note))


def linked_hosts(note: str) -> list[str]:
    """The host of each link of a note that has a scheme, in order, lower case and without "www."."""
    hosts = []
    for url in find_urls(html.unescape(note)):
        try:
            host = urlsplit(url.url).hostname if url.has_scheme else ""
        except ValueError:  # "https://[" is a URL to a reader, not to the parser
            continue
        if host:
            hosts.append(host.removeprefix("www."))
    return hosts


def word_counts(notes: Sequence[str]) -> csr_matrix:
    """Words, pairs of them, and a mark for each site that the note links to; shape (notes, BUCKETS)."""

    def marked(note: str) -> str:
        sites = [f"site_{_MARKS.sub('_', host)}" for host in linked_hosts(note)]
        return _encodable(" ".join([note_words(note)[:_MOST_CHARACTERS], *sites]))

    return _counter("word", 1, 2).transform(map(marked, notes))


def letter_counts(notes: Sequence[str]) -> csr_matrix:
    """Runs of two to four letters inside words: they see endings and misspellings; shape (notes, BUCKETS)."""
    texts = (_encodable(note_words(note)[:_MOST_CHARACTERS]) for note in notes)
    return _counter("char_wb", 2, 4).transform(texts)


def vectors_of(embedder: Embedder, name: str, texts: Sequence[str]) -> FloatArray | None:
    """The vectors of texts; None when the head was fitted to another embedder."""
    return embedder.encode(texts) if embedder.name == name else None


@cache
def _counter(analyzer: str, shortest: int, longest: int) -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(
        n_features=BUCKETS,
        analyzer=analyzer,
        ngram_range=(shortest, longest),
        token_pattern=r"\w\w+|[!?]+" if analyzer == "word" else None,
        alternate_sign=False,
        norm=None,
    )


def without_each(note: str, spans: Sequence[Span]) -> list[str]:
    """The note without the words at each span."""
    return [f"{note[: span.start]}{note[span.end :]}" for span in spans]


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be hashed
