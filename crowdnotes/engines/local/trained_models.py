"""The small trained heads, and the features that they use.

A head is one scikit-learn pipeline over blocks of columns, saved with skops (nothing pickled). A block is one kind of
feature of each note: hashed counts of words or of letter runs, weighted by rarity in the pipeline, plain measures, or a
sentence vector. Then one logistic regression, whose probabilities are calibrated on held-out folds.

The files are in assets/judges, each with a model card and measured figures; `crowdnotes train` makes them (`studies/`).
"""

from __future__ import annotations

import hashlib
import html
import io
import json
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from crowdnotes.domain import Span
from crowdnotes.engines.embedding import Embedder, FloatArray
from crowdnotes.errors import ModelFilesError
from crowdnotes.text.note_rules import find_urls, without_urls

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from sklearn.pipeline import Pipeline

JUDGES = Path(__file__).resolve().parents[3] / "assets" / "judges"
HELPFULNESS, OPINION = "helpfulness.skops", "principles.skops"
BUCKETS = 1 << 15
_MAX_NOTE_CHARACTERS = 4_000  # a note has 280, a post seldom more than 1,000
_NON_WORD = re.compile(r"\W+")
_TEXT_SEPARATOR = " [SEP] "
_SCHEMA_FILE = "schema.json"  # of skops, next to the arrays

Blocks = Mapping[str, Any]
"""By name, one row per note: counts (a sparse matrix) or vectors, shape (notes, dimensions), or None for no vectors."""


Counters = Mapping[str, Callable[[Sequence[str]], Any]]


@dataclass(frozen=True, slots=True)
class Explained:
    """Why a head gives its probability.

    `worths`: by block what each column of its vectors adds to the log-odds, compared with the mean.

    `gains`: how much the probability falls with each shortened text.
    """

    probability: float
    worths: Mapping[str, FloatArray]
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
        """Return the probability of each note, shape (notes,). The mean replaces missing vectors."""
        return np.asarray(self.pipeline.predict_proba(self._build_rows(blocks))[:, 1])

    def explained(self, blocks: Blocks, shortened: Sequence[str], counters: Counters) -> Explained:
        """Return what moves the probability of one note.

        `shortened` is the note with one word removed each time, its vectors kept; `counters` make the blocks of counts
        from texts. All variants go through the pipeline together.
        """
        from scipy import sparse
        from scipy.special import expit

        variants = [blocks, {**blocks, **dict.fromkeys(self.means)}]
        if shortened:
            kept = {name: None if block is None else block.repeat(len(shortened), axis=0)
                    for name, block in blocks.items() if name not in counters}  # fmt: skip
            variants.append(kept | {name: count(shortened) for name, count in counters.items()})
        rows = self.pipeline[:-1].transform(sparse.vstack([self._build_rows(variant) for variant in variants]))
        last = self.pipeline[-1]
        probabilities = expit(rows @ last.coef_[0] + last.intercept_[0])
        added = (rows[0] - rows[1]).toarray()[0] * last.coef_[0]
        worths = {name: added[self.pipeline[0].output_indices_[name]] for name in self.means}
        return Explained(float(probabilities[0]), worths, [float(p) for p in probabilities[0] - probabilities[2:]])

    def _build_rows(self, blocks: Blocks) -> csr_matrix:
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
    """Write the archive without dates and name each array by its content; skops names it by memory address."""
    with zipfile.ZipFile(io.BytesIO(archive)) as made:
        files = {name: made.read(name) for name in made.namelist()}
    schema = files.pop(_SCHEMA_FILE)
    names = {name: f"{hashlib.sha256(content).hexdigest()[:16]}{Path(name).suffix}" for name, content in files.items()}

    def named(node: dict[str, Any]) -> dict[str, Any]:
        node.pop("__id__", None)  # a memory address too
        return node | {"file": names[node["file"]]} if "file" in node else node

    files = {names[name]: content for name, content in files.items()}
    files[_SCHEMA_FILE] = json.dumps(json.loads(schema, object_hook=named)).encode()
    with zipfile.ZipFile(path, "w") as kept:
        for name in sorted(files):
            kept.writestr(zipfile.ZipInfo(name), files[name], zipfile.ZIP_DEFLATED, compresslevel=9)


def load_head(path: Path) -> Head:
    """Return what `Head.save` wrote. Raises ModelFilesError if the file is missing, damaged or holds other types."""
    import skops.io

    try:
        return Head(**skops.io.load(path))
    except Exception as error:  # a damaged file may raise anything
        raise ModelFilesError(
            f"The trained judge {path.name} is missing or damaged.",
            "Restore the folder assets/judges, for example with `git checkout assets`, or train it again.",
        ) from error


@cache
def shipped_head(name: str) -> Head:
    """Return a head of assets/judges, read once. Raises ModelFilesError if it is missing or damaged."""
    return load_head(JUDGES / name)


def rows_of(blocks: Blocks, widths: Mapping[str, int]) -> csr_matrix:
    """Return the blocks joined by column, in the order of `widths`."""
    from scipy import sparse

    return sparse.hstack([sparse.csr_matrix(blocks[name]) for name in widths]).tocsr()


def note_words(note: str) -> str:
    """Return the note's words as judged: entities decoded, without URLs."""
    return without_urls(html.unescape(note))


def linked_hosts(note: str) -> list[str]:
    """Return the host of each link that has a scheme, in order, lower case and without "www."."""
    hosts = []
    for url in find_urls(html.unescape(note)):
        with suppress(ValueError):  # "https://[" is a URL to a reader, not to the parser
            host = urlsplit(url.url).hostname
            if url.has_scheme and host:
                hosts.append(host.removeprefix("www."))
    return hosts


def word_counts(notes: Sequence[str]) -> csr_matrix:
    """Return counts of words, word pairs, and a mark for each linked site; shape (notes, BUCKETS)."""

    def marked(note: str) -> str:
        sites = [f"site_{_NON_WORD.sub('_', host)}" for host in linked_hosts(note)]
        return _replace_unencodable(" ".join([note_words(note)[:_MAX_NOTE_CHARACTERS], *sites]))

    return _make_vectorizer("word", 1, 2).transform(map(marked, notes))


def pair_counts(pairs: Sequence[tuple[str, str]]) -> csr_matrix:
    """Return counts of words and word pairs of (plain post, note with links); shape (pairs, BUCKETS)."""
    texts = (
        f"{post[:_MAX_NOTE_CHARACTERS]}{_TEXT_SEPARATOR}{html.unescape(note)[:_MAX_NOTE_CHARACTERS]}"
        for post, note in pairs
    )
    return _make_vectorizer("word", 1, 2).transform(map(_replace_unencodable, texts))


def letter_counts(notes: Sequence[str]) -> csr_matrix:
    """Return counts of runs of 2 to 4 letters, which show endings and misspellings; shape (notes, BUCKETS)."""
    texts = (_replace_unencodable(note_words(note)[:_MAX_NOTE_CHARACTERS]) for note in notes)
    return _make_vectorizer("char_wb", 2, 4).transform(texts)


def vectors_of(embedder: Embedder, name: str, texts: Sequence[str]) -> FloatArray | None:
    """Return the vectors of texts; None if the head was fitted to another embedder."""
    return embedder.encode(texts) if embedder.name == name else None


@cache
def _make_vectorizer(analyzer: str, shortest: int, longest: int) -> Any:
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
    """Return the note without the words at each span, one text per span."""
    return [f"{note[: span.start]}{note[span.end :]}" for span in spans]


def _replace_unencodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be hashed
