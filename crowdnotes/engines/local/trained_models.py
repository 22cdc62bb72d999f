"""The small trained heads, the words and vectors that they look at, and the reader that gives one of them its vectors.

A head is one scikit-learn pipeline over blocks of columns, saved with skops (nothing pickled). A block is what it looks
at of each note: hashed counts of words or of letter runs, weighed by rarity in the pipeline, or a sentence vector. Then
one logistic regression, whose probabilities are calibrated on held-out folds.

The reader is the embedder with a low-rank change, so that its vectors tell how raters took a note: LoRA (Hu and others,
2021, arxiv.org/abs/2106.09685), two thin matrices a layer, whose product is added to its weights. It is a file of about
a megabyte; the model itself stays the one that is installed.

The files are in assets/judges, with a model card and measured figures each; `crowdnotes train` makes them (`studies/`).
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
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

import numpy as np

from crowdnotes.domain import Span
from crowdnotes.engines.embedding import Embedder, FloatArray, MiniLMEmbedder
from crowdnotes.errors import ModelFilesError
from crowdnotes.text.note_rules import find_urls, without_urls

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from sentence_transformers import SentenceTransformer
    from sklearn.pipeline import Pipeline

JUDGES = Path(__file__).resolve().parents[3] / "assets" / "judges"
HELPFULNESS, OPINION, READER = "helpfulness.skops", "principles.skops", "reader.npz"
BUCKETS = 1 << 15
_MAX_NOTE_CHARACTERS = 4_000  # a note has 280, a post seldom more than 1,000
_NON_WORD = re.compile(r"\W+")
_SCHEMA_FILE = "schema.json"  # of skops, beside the arrays

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
    schema = files.pop(_SCHEMA_FILE)
    names = {name: f"{hashlib.sha256(content).hexdigest()[:16]}{Path(name).suffix}" for name, content in files.items()}

    def named(node: dict[str, Any]) -> dict[str, Any]:
        node.pop("__id__", None)  # an address too
        return node | {"file": names[node["file"]]} if "file" in node else node

    files = {names[name]: content for name, content in files.items()}
    files[_SCHEMA_FILE] = json.dumps(json.loads(schema, object_hook=named)).encode()
    with zipfile.ZipFile(path, "w") as kept:
        for name in sorted(files):
            kept.writestr(zipfile.ZipInfo(name), files[name], zipfile.ZIP_DEFLATED, compresslevel=9)


def load_head(path: Path) -> Head:
    """What `Head.save` wrote. Raises ModelFilesError when the file is missing or damaged, or holds other types."""
    import skops.io

    try:
        return Head(**skops.io.load(path))
    except Exception as error:  # what is damaged raises what it will
        raise ModelFilesError(
            f"The trained judge {path.name} is missing or damaged.",
            "Put the folder assets/judges back, for instance with `git checkout assets`, or train it again.",
        ) from error


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
    return [_get_host(parts) for parts in _parse_links(html.unescape(note))]


def _parse_links(text: str) -> list[SplitResult]:
    links = []
    for url in find_urls(text):
        with suppress(ValueError):  # "https://[" is a URL to a reader, not to the parser
            parts = urlsplit(url.url)
            if url.has_scheme and parts.hostname:
                links.append(parts)
    return links


def _get_host(parts: SplitResult) -> str:
    return (parts.hostname or "").removeprefix("www.")


def word_counts(notes: Sequence[str]) -> csr_matrix:
    """Words, pairs of them, and a mark for each site that the note links to; shape (notes, BUCKETS)."""

    def marked(note: str) -> str:
        sites = [f"site_{_NON_WORD.sub('_', host)}" for host in linked_hosts(note)]
        return _replace_unencodable(" ".join([note_words(note)[:_MAX_NOTE_CHARACTERS], *sites]))

    return _make_vectorizer("word", 1, 2).transform(map(marked, notes))


def letter_counts(notes: Sequence[str]) -> csr_matrix:
    """Runs of two to four letters inside words: they see endings and misspellings; shape (notes, BUCKETS)."""
    texts = (_replace_unencodable(note_words(note)[:_MAX_NOTE_CHARACTERS]) for note in notes)
    return _make_vectorizer("char_wb", 2, 4).transform(texts)


def vectors_of(embedder: Embedder, name: str, texts: Sequence[str]) -> FloatArray | None:
    """The vectors of texts; None when the head was fitted to another embedder."""
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
    """The note without the words at each span."""
    return [f"{note[: span.start]}{note[span.end :]}" for span in spans]


def _replace_unencodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be hashed


_TEXT_SEPARATOR = " [SEP] "  # the model's own mark between two texts
_MAX_LINKS = 4
_MAX_PAGE_NAME_CHARACTERS = 60
_MAX_POST_CHARACTERS = 600  # characters; what stands further back seldom says what the post is about
_PATH_WORD = re.compile(r"[a-z]{4,}")
_IGNORED_PATH_WORDS = frozenset({"html", "article", "articles"})
_WHITESPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Adapter:
    """The change of the model, by the name of a linear layer of BertModel.

    `up` has the shape (out, rank), and `down` (rank, in).
    """

    up: Mapping[str, FloatArray]
    down: Mapping[str, FloatArray]

    @cached_property
    def mark(self) -> str:
        """Eight hexadecimal digits that differ where the numbers do."""
        digest = hashlib.sha256()
        for layer in sorted(self.up):
            digest.update(layer.encode() + self.up[layer].tobytes() + self.down[layer].tobytes())
        return digest.hexdigest()[:8]

    def arrays(self) -> dict[str, FloatArray]:
        """The numbers as they are kept, in half precision, by name."""
        both = {"up": self.up, "down": self.down}
        return {
            f"{side}/{layer}": array.astype(np.float16)
            for side, arrays in both.items()
            for layer, array in arrays.items()
        }


def adapter_of(arrays: Mapping[str, FloatArray]) -> Adapter:
    """What `Adapter.arrays` gave, other names left aside. Raises ModelFilesError when the two sides differ."""
    sides: dict[str, dict[str, FloatArray]] = {"up": {}, "down": {}}
    for name, array in arrays.items():
        side, _, layer = name.partition("/")
        if side in sides:
            sides[side][layer] = np.asarray(array, dtype=np.float32)
    up, down = sides["up"], sides["down"]
    if not up or up.keys() != down.keys() or any(up[layer].shape[1] != down[layer].shape[0] for layer in up):
        raise ModelFilesError(
            "The change of the embedding model is damaged.",
            "Put the folder assets/judges back, for instance with `git checkout assets`, or train it again.",
        )
    return Adapter(up, down)


class AdaptedMiniLM(MiniLMEmbedder):
    """all-MiniLM-L6-v2 with an adapter's change in its weights. Safe to share between threads."""

    def __init__(self, adapter: Adapter) -> None:
        super().__init__()
        self.name = f"{MiniLMEmbedder.name}+{adapter.mark}"
        self._adapter = adapter

    def _change(self, model: SentenceTransformer) -> None:
        super()._change(model)
        import torch

        layers = dict(model[0].model.named_modules())
        try:
            with torch.no_grad():
                for name, up in self._adapter.up.items():
                    layers[name].weight += torch.from_numpy(up @ self._adapter.down[name])
        except (KeyError, RuntimeError) as error:  # no such layer, or one of another size
            raise ModelFilesError(
                "The trained judge's change is one of another embedding model.",
                "Put the folder assets/judges back, for instance with `git checkout assets`, or train it again.",
            ) from error


def save_reader(path: Path, adapter: Adapter) -> None:
    """Write the change of MiniLM as plain arrays."""
    np.savez_compressed(path, allow_pickle=False, **adapter.arrays())


def load_reader(path: Path) -> AdaptedMiniLM:
    """The installed MiniLM with the change in this file. Raises ModelFilesError when it is missing or damaged."""
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        return AdaptedMiniLM(adapter_of(arrays))
    except Exception as error:  # what is damaged raises what it will
        raise ModelFilesError(
            f"The trained judge {path.name} is missing or damaged.",
            "Put the folder assets/judges back, for instance with `git checkout assets`, or train it again.",
        ) from error


def reader_for(embedder: Embedder) -> Embedder | None:
    """The shipped reader, a change of MiniLM; None with another model, beside which a second one would be loaded."""
    return _load_shipped_reader() if embedder.name == MiniLMEmbedder.name else None


@cache
def _load_shipped_reader() -> AdaptedMiniLM:
    return load_reader(JUDGES / READER)


def readable_note(note: str) -> str:
    """The note's words, and behind them host and name of each page that it links to, the first few."""
    text = html.unescape(note)
    named = " ; ".join([_describe_page(parts) for parts in _parse_links(text)][:_MAX_LINKS])
    words = _WHITESPACE.sub(" ", without_urls(text)).strip()
    return f"{words}{_TEXT_SEPARATOR}{named}" if named else words


def readable_post(post: str) -> str:
    """The beginning of a post's plain text."""
    return post[:_MAX_POST_CHARACTERS]


def _describe_page(parts: SplitResult) -> str:
    name = " ".join(word for word in _PATH_WORD.findall(parts.path.lower()) if word not in _IGNORED_PATH_WORDS)
    return f"{_get_host(parts)} {name[:_MAX_PAGE_NAME_CHARACTERS]}".strip()
