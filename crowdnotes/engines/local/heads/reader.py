"""The fine-tuned embedder: the model with a low-rank change, so that its vectors tell how raters took a note.

The change is LoRA (Hu and others, 2021, arxiv.org/abs/2106.09685): two thin matrices a layer, whose product is
added to its weights. It is a file of about a megabyte; the model itself stays the one that is installed.
"""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np

from crowdnotes.embedding import Embedder, FloatArray, MiniLMEmbedder
from crowdnotes.engines.local.heads.head import JUDGES, REPAIR
from crowdnotes.errors import ModelFilesError
from crowdnotes.text.note_rules import find_urls, without_urls

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

READER = "reader.npz"
_BETWEEN = " [SEP] "  # the model's own mark between two texts
_MOST_LINKS = 4
_LONGEST_NAME = 60
_LONGEST_POST = 600  # characters; what stands further back seldom says what the post is about
_NAME_WORD = re.compile(r"[a-z]{4,}")
_NO_NAME = frozenset({"html", "article", "articles"})
_BLANKS = re.compile(r"\s+")


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
        raise ModelFilesError("The change of the embedding model is damaged.", REPAIR)
    return Adapter(up, down)


class AdaptedMiniLM(MiniLMEmbedder):
    """all-MiniLM-L6-v2 with an adapter's change in its weights. Safe to share between threads."""

    def __init__(self, adapter: Adapter, model_dir: Path | None = None, threads: int = 2) -> None:
        super().__init__(model_dir, threads)
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
            raise ModelFilesError("The trained judge's change is one of another embedding model.", REPAIR) from error


def save_reader(path: Path, adapter: Adapter) -> None:
    """Write the change of MiniLM as plain arrays."""
    np.savez_compressed(path, allow_pickle=False, **adapter.arrays())


def load_reader(path: Path) -> AdaptedMiniLM:
    """The installed MiniLM with the change in this file. Raises ModelFilesError when it is missing or damaged."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, KeyError) as error:
        raise ModelFilesError(f"The trained judge {path.name} is missing or damaged.", REPAIR) from error
    return AdaptedMiniLM(adapter_of(arrays))


def reader_for(embedder: Embedder) -> Embedder | None:
    """The shipped reader, a change of MiniLM; None with another model, beside which a second one would be loaded."""
    return _shipped_reader() if embedder.name == MiniLMEmbedder.name else None


@cache
def _shipped_reader() -> AdaptedMiniLM:
    return load_reader(JUDGES / READER)


def readable_note(note: str) -> str:
    """The note's words, and behind them host and name of each page that it links to, the first few."""
    text = html.unescape(note)
    pages = [_page(url.url) for url in find_urls(text) if url.has_scheme]
    named = " ; ".join([page for page in pages if page][:_MOST_LINKS])
    words = _BLANKS.sub(" ", without_urls(text)).strip()
    return f"{words}{_BETWEEN}{named}" if named else words


def readable_post(post: str) -> str:
    """The beginning of a post's plain text."""
    return post[:_LONGEST_POST]


def _page(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:  # "https://[" is a URL to a reader, not to the parser
        return ""
    host = (parts.hostname or "").removeprefix("www.")
    name = " ".join(word for word in _NAME_WORD.findall(parts.path.lower()) if word not in _NO_NAME)
    return f"{host} {name[:_LONGEST_NAME]}".strip()
