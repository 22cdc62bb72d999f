"""Fetches a reading model from the Hugging Face hub, once: weights as safetensors alone, never as pickle."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from crowdnotes.embedding import weights_sha256
from crowdnotes.errors import ModelFilesError

# What a tokenizer and a model need, at the top of the repository: no code, no other formats of the weights.
_FILES = ("model.safetensors", "config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
_MORE = ("added_tokens.json", "vocab.txt", "vocab.json", "merges.txt", "spm.model", "sentencepiece.bpe.model")


@dataclass(frozen=True, slots=True)
class Fetched:
    """A model that was fetched: where it lies, and what it is exactly."""

    folder: Path
    name: str
    revision: str
    sha256: str
    licence: str


def fetch_reader(name: str, revision: str, folder: Path, endpoint: str | None = None) -> Fetched:
    """Fetch one revision into `folder`. Raises ModelFilesError with a sentence when it cannot be had."""
    import httpx2
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        info = HfApi(endpoint=endpoint, token=False).model_info(name, revision=revision)
        there = {file.rfilename for file in info.siblings or ()}
        if "model.safetensors" not in there:
            raise ModelFilesError(f"{name} has no weights as safetensors.", "Choose another model or revision.")
        snapshot_download(
            name,
            revision=info.sha,
            local_dir=folder,
            allow_patterns=[*_FILES, *_MORE],
            endpoint=endpoint,
            token=False,
        )
    except (HfHubHTTPError, HFValidationError, httpx2.HTTPError, OSError, ValueError) as error:
        raise ModelFilesError(
            f"{name} could not be fetched ({type(error).__name__}).",
            "Check the name and the connection, or put the model's files into a folder and name that.",
        ) from error
    card = info.card_data
    licence = str(card.get("license") or "not stated") if card is not None else "not stated"
    return Fetched(folder, name, info.sha or revision, weights_sha256(folder), licence)
