"""The embedder's thread: what it is asked is answered where it was asked, until the program has ended."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from crowdnotes.embedding import MiniLMEmbedder
from crowdnotes.errors import ModelFilesError

# Jobs are told to stop when the program ends; until then they are not to fail for want of vectors.
_AT_THE_END = """
import atexit
from pathlib import Path
import numpy as np
from crowdnotes.embedding import MiniLMEmbedder

class Quick(MiniLMEmbedder):
    def _encoded(self, texts):
        return np.ones((len(texts), self.dimensions), dtype=np.float32)

embedder = Quick(Path("nowhere"))
embedder.encode(["early"])
atexit.register(lambda: print(embedder.encode(["late"]).shape))
"""


def test_texts_are_embedded_while_the_program_ends() -> None:
    ended = subprocess.run([sys.executable, "-c", _AT_THE_END], capture_output=True, text=True, check=False)
    assert ended.stdout.strip() == "(1, 384)", ended.stderr


def test_a_model_that_is_not_there_is_told_where_it_was_asked(tmp_path: Path) -> None:
    embedder = MiniLMEmbedder(tmp_path)
    for _ in range(2):  # the thread outlives the first failure
        with pytest.raises(ModelFilesError):
            embedder.encode(["a text"])
