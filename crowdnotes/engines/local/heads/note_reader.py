"""The taught reader: the embedding model, changed on notes of all topics so that its vectors tell how crowds took them.

Its answers to the questions it was taught are features of the helpfulness head, as `Readings` are. Where those
weigh single words, the reader sees a whole note, and the names of the pages that it links to.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from crowdnotes.embedding import Embedder, FloatArray
from crowdnotes.engines.local.heads.adapter import AdaptedMiniLM, Adapter, adapter_of
from crowdnotes.errors import ModelFilesError
from crowdnotes.text.note_rules import find_urls, without_urls

LIKENESS = "post and note read alike"
SHARPNESS = 8.0  # about the length of the model's vectors before they are made unit vectors
_BETWEEN = " [SEP] "  # the model's own mark between two texts
_MOST_LINKS = 4
_LONGEST_NAME = 60
_LONGEST_POST = 600  # characters; what stands further back seldom says what the post is about
_NAME_WORD = re.compile(r"[a-z]{4,}")
_NO_NAME = frozenset({"html", "article", "articles"})
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Read:
    """A text's unit vector, shape (dimensions,), and what the reader answers to each question, as log-odds."""

    vector: FloatArray
    answers: dict[str, float]


@dataclass(frozen=True, slots=True)
class NoteReader:
    """An encoder and one linear question each row: `weights`, shape (questions, dimensions), and `bias`."""

    encoder: Embedder
    questions: tuple[str, ...]
    weights: FloatArray
    bias: FloatArray

    def read(self, texts: Sequence[str]) -> list[Read]:
        """The texts as the reader takes them; a note goes through `readable_note` first."""
        vectors = self.encoder.encode(texts)
        answers = SHARPNESS * vectors @ self.weights.T + self.bias
        return [
            Read(vector, dict(zip(self.questions, map(float, row), strict=True)))
            for vector, row in zip(vectors, answers, strict=True)
        ]


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


def taught_features(post: Read, note: Read) -> dict[str, float]:
    """What the reader says of a note, and how like its post it takes it to be, by name."""
    return {
        **{f"note is read: {name}": answer for name, answer in note.answers.items()},
        LIKENESS: float(post.vector @ note.vector),
    }


def save_note_reader(
    path: Path, adapter: Adapter, questions: Sequence[str], weights: FloatArray, bias: FloatArray
) -> None:
    """Write the change of MiniLM and the questions as plain arrays."""
    np.savez_compressed(
        path,
        allow_pickle=False,
        questions=np.array(list(questions)),
        weights=weights.astype(np.float32),
        bias=bias.astype(np.float32),
        **adapter.arrays(),
    )


def load_note_reader(path: Path) -> NoteReader:
    """What `save_note_reader` wrote, on the installed MiniLM. Raises ModelFilesError when it is missing or damaged."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        questions = tuple(str(name) for name in arrays.pop("questions"))
        weights, bias = arrays.pop("weights"), arrays.pop("bias")
    except (OSError, ValueError, KeyError) as error:
        raise ModelFilesError(
            f"The trained judge {path.name} is missing or damaged.",
            "Put the folder assets/judges back, for instance with `git checkout assets`, or train it again.",
        ) from error
    return NoteReader(AdaptedMiniLM(adapter_of(arrays)), questions, weights, bias)


def _page(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:  # "https://[" is a URL to a reader, not to the parser
        return ""
    host = (parts.hostname or "").removeprefix("www.")
    name = " ".join(word for word in _NAME_WORD.findall(parts.path.lower()) if word not in _NO_NAME)
    return f"{host} {name[:_LONGEST_NAME]}".strip()
