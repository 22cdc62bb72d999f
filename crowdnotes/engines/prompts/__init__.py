"""The prompts, one file per step, each with a version: the hash of the exact words that a model gets.

A file is the system message of its step. The program fills in a value for each `$name`, and for the names in
`_SHARED_PARTS` the words of those files, such as how to treat text from outside and how notes are written. Some values
are further files, for what only some questions of a step ask. Text after a line `$data` is sent after the data. Put
there what differs between questions about the same data: servers cache what they read for as long as the next question
begins with the same words.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template

_DATA_LINE = "\n$data\n"
_PROMPT_FOLDER = Path(__file__).parent
_SHARED_PARTS = ("tone_rules", "unwanted", "data_rules", "note_rules", "carried", "supernote_rules")  # in this order


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt. `version` is the first 12 hex digits of the sha256 of its words."""

    name: str
    words: str
    version: str

    def filled(self, values: Mapping[str, object]) -> tuple[str, str]:
        """Return the words before and after the data, with the values filled in. Raises KeyError if one is missing."""
        before, _, after = self.words.partition(_DATA_LINE)
        texts = {name: str(value) for name, value in values.items()}
        return Template(before).substitute(texts).strip(), Template(after).substitute(texts).strip()


@cache
def load_prompt(name: str) -> Prompt:
    """Return the prompt in <name>.md."""
    words = _read_prompt_file(name)
    for shared in _SHARED_PARTS:
        words = words.replace(f"${shared}", _read_prompt_file(shared))
    return Prompt(name, words, _hash_version(words))


def _read_prompt_file(name: str) -> str:
    return (_PROMPT_FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()


def version_of(*names: str) -> str:
    """Return one version for several prompts together: 12 hex digits."""
    return _hash_version("\n".join(load_prompt(name).version for name in names))


def _hash_version(words: str) -> str:
    return hashlib.sha256(words.encode("utf-8")).hexdigest()[:12]
