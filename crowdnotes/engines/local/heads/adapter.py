"""A low-rank change of the embedding model: two thin matrices a layer, whose product is added to its weights.

LoRA (Hu and others, 2021, arxiv.org/abs/2106.09685). The change is a file of about a megabyte; the model
itself stays the one that is installed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from crowdnotes.embedding import FloatArray, MiniLMEmbedder
from crowdnotes.errors import ModelFilesError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_REPAIR = "Put the folder assets/judges back, for instance with `git checkout assets`, or train it again."


@dataclass(frozen=True)
class Adapter:
    """By the name of a linear layer of BertModel: `up`, shape (out, rank), and `down`, shape (rank, in)."""

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
        raise ModelFilesError("The change of the embedding model is damaged.", _REPAIR)
    return Adapter(up, down)


class AdaptedMiniLM(MiniLMEmbedder):
    """all-MiniLM-L6-v2 with an adapter's change in its weights. Safe to share between threads."""

    def __init__(self, adapter: Adapter, model_dir: Path | None = None, threads: int = 2) -> None:
        super().__init__(model_dir, threads)
        self.name = f"{MiniLMEmbedder.name}+{adapter.mark}"
        self._adapter = adapter

    def _change(self, model: SentenceTransformer) -> None:
        import torch

        layers = dict(model[0].model.named_modules())
        try:
            with torch.no_grad():
                for name, up in self._adapter.up.items():
                    layers[name].weight += torch.from_numpy(up @ self._adapter.down[name])
        except (KeyError, RuntimeError) as error:  # no such layer, or one of another size
            raise ModelFilesError("The trained judge's change is one of another embedding model.", _REPAIR) from error
