"""Replays recorded answers of a language model to the examples, which need neither a model nor a key.

They replace the cache of answers (see `calls.KeptAnswers`): the same code makes the questions, and reads and checks the
answers. A question that was not asked during recording, or whose prompt has changed, has no answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from crowdnotes.engines.llm.server import Message, ModelServer, OnPiece, Reply
from crowdnotes.engines.prompts import Prompt
from crowdnotes.errors import ConfigurationError, ModelServerError

FILE = Path(__file__).resolve().parents[3] / "assets" / "demonstration" / "answers.json"


class RecordedAnswer(BaseModel):
    """A model's answer. `prompt` and `version` name its prompt, `key` (hex) the whole question."""

    model_config = ConfigDict(frozen=True)

    prompt: str
    version: str
    key: str
    answer: str


_RECORDED_ANSWERS_ADAPTER = TypeAdapter(tuple[RecordedAnswer, ...])


@dataclass(frozen=True, slots=True)
class Live:
    """The model to ask while answers are recorded."""

    server: ModelServer
    model: str


class RecordedAnswers:
    """`KeptAnswers` and `Server` in one. Without `live` no model is asked. Safe between threads."""

    def __init__(self, file: Path = FILE, live: Live | None = None) -> None:
        """Raise ConfigurationError if the file cannot be read; a file to record into may be missing."""
        self.base_url = "recorded:"
        self._file = file
        self._live = live
        self._lock = threading.Lock()
        self._known = {} if live and not file.exists() else {item.key: item for item in read_answers(file)}
        self._used: set[str] = set()

    def get(self, key: bytes) -> tuple[str, float | None] | None:
        """See `KeptAnswers.get`."""
        with self._lock:
            found = self._known.get(key.hex())
            self._used.add(key.hex())
        return (found.answer, None) if found else None

    def put(self, key: bytes, words: str, _: float | None, prompt: Prompt) -> None:
        """See `KeptAnswers.put`."""
        found = RecordedAnswer(prompt=prompt.name, version=prompt.version, key=key.hex(), answer=words)
        with self._lock:
            self._known[found.key] = found

    def ask(
        self,
        _: str,
        messages: Sequence[Message],
        options: Mapping[str, Any],
        max_tokens: int,
        on_piece: OnPiece = lambda _, __: None,
        check: Callable[[], None] = lambda: None,
    ) -> Reply:
        """Ask the live model. Raises ModelServerError, always without one: no other engine steps in."""
        if self._live is None:
            raise ModelServerError(
                "There is no recorded answer for this text and these sources: choose an AI to go on.",
                "Choose it at the top of the page.",
            )
        return self._live.server.ask(self._live.model, messages, options, max_tokens, on_piece, check)

    def save(self) -> int:
        """Write only the answers that were used since this was made, and return their number."""
        kept = [item for key, item in self._known.items() if key in self._used]
        kept.sort(key=lambda item: (item.prompt, item.key))
        self._file.write_bytes(_RECORDED_ANSWERS_ADAPTER.dump_json(tuple(kept), indent=1) + b"\n")
        return len(kept)


def read_answers(file: Path = FILE) -> tuple[RecordedAnswer, ...]:
    """Return all recorded answers. Raises ConfigurationError."""
    repair = "Restore the folder assets/demonstration, for example with `git checkout assets`."
    try:
        return _RECORDED_ANSWERS_ADAPTER.validate_json(file.read_bytes())
    except OSError as error:
        raise ConfigurationError("We cannot read the demonstration's recorded answers.", repair) from error
    except ValidationError as error:
        raise ConfigurationError("The demonstration's recorded answers are damaged.", repair) from error
