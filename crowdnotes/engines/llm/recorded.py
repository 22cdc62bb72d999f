"""Answers of a language model to the examples, recorded once: no model and no key is needed to show them whole.

They stand where an engine keeps the answers it was given before (see `calls.KeptAnswers`): the questions are made, and
the answers read and checked, by the same code as those of a model that is asked now. A question that was not asked when
they were recorded, or whose prompt was changed since, has no answer.
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
    """What a model said. `prompt` and `version` name what it was asked with, `key` (hex) is of the whole question."""

    model_config = ConfigDict(frozen=True)

    prompt: str
    version: str
    key: str
    answer: str


_RECORDED_ANSWERS_ADAPTER = TypeAdapter(tuple[RecordedAnswer, ...])


@dataclass(frozen=True, slots=True)
class Live:
    """A model that is asked while answers are recorded."""

    server: ModelServer
    model: str


class RecordedAnswers:
    """`KeptAnswers` and `Server` in one. Without `live` nobody is asked. Safe between threads."""

    def __init__(self, file: Path = FILE, live: Live | None = None) -> None:
        """Raises ConfigurationError when the file cannot be read; one to record into need not be there."""
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
        room: int,
        on_piece: OnPiece = lambda _, __: None,
        check: Callable[[], None] = lambda: None,
    ) -> Reply:
        """Of the live model. Raises ModelServerError, without one always: no other engine steps in."""
        if self._live is None:
            raise ModelServerError(
                "There is no recorded answer for these words and sources: choose an engine to go on.",
                "It is changed under “recorded answers” at the top of the page.",
            )
        return self._live.server.ask(self._live.model, messages, options, room, on_piece, check)

    def save(self) -> int:
        """Write the answers that were used since this was made, and no others; their number."""
        kept = [item for key, item in self._known.items() if key in self._used]
        kept.sort(key=lambda item: (item.prompt, item.key))
        self._file.write_bytes(_RECORDED_ANSWERS_ADAPTER.dump_json(tuple(kept), indent=1) + b"\n")
        return len(kept)


def read_answers(file: Path = FILE) -> tuple[RecordedAnswer, ...]:
    """All that is recorded. Raises ConfigurationError."""
    repair = "Put the folder assets/demonstration back, for instance with `git checkout assets`."
    try:
        return _RECORDED_ANSWERS_ADAPTER.validate_json(file.read_bytes())
    except OSError as error:
        raise ConfigurationError("The recorded answers of the demonstration cannot be read.", repair) from error
    except ValidationError as error:
        raise ConfigurationError("The recorded answers of the demonstration are damaged.", repair) from error
