"""What a server and model can do, learned from what they refuse: many speak only a part of the protocol."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from enum import IntEnum


class Shape(IntEnum):
    """How the form of an answer is asked for, strictest first."""

    SCHEMA = 0
    JSON = 1
    WORDS = 2


@dataclass(frozen=True, slots=True)
class Abilities:
    """What to send. Begins with everything; a refusal takes away what it names."""

    shape: Shape = Shape.SCHEMA
    probabilities: bool = True
    temperature: bool = True
    limit_name: str = "max_tokens"
    usage_in_stream: bool = True

    def without(self, complaint: str) -> Abilities | None:
        """What to try after the server complained with these words; None when nothing is left to give up.

        Several things may be named at once. A complaint that names none costs the strictest thing.
        """
        words = complaint.lower()
        fewer = self
        if self.shape is Shape.SCHEMA and any(
            name in words for name in ("response_format", "json_schema", "schema", "grammar", "structured", "guided")
        ):
            # A server that rejects the field by name knows no form of it.
            unknown = "unsupported" in words or "unexpected" in words or "unknown" in words or "extra" in words
            fewer = replace(fewer, shape=Shape.WORDS if unknown and "json_schema" not in words else Shape.JSON)
        elif self.shape is Shape.JSON and any(name in words for name in ("response_format", "json", "grammar")):
            fewer = replace(fewer, shape=Shape.WORDS)
        if "logprobs" in words and self.probabilities:
            fewer = replace(fewer, probabilities=False)
        if "temperature" in words and self.temperature:
            fewer = replace(fewer, temperature=False)
        if "stream_options" in words and self.usage_in_stream:
            fewer = replace(fewer, usage_in_stream=False)
        if "max_tokens" in words and self.limit_name == "max_tokens":
            fewer = replace(fewer, limit_name="max_completion_tokens")
        if fewer != self:
            return fewer
        return self._weaker()

    def _weaker(self) -> Abilities | None:
        if self.shape is not Shape.WORDS:
            return replace(self, shape=Shape(self.shape + 1))
        if self.probabilities:
            return replace(self, probabilities=False)
        return None


class KnownAbilities:
    """What was learned of each server and model in this process. Safe between threads."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Abilities] = {}
        self._lock = threading.Lock()

    def get(self, base_url: str, model: str) -> Abilities:
        """What to begin with."""
        with self._lock:
            return self._known.get((base_url, model), Abilities())

    def learn(self, base_url: str, model: str, abilities: Abilities) -> None:
        """Remember what worked."""
        with self._lock:
            self._known[base_url, model] = abilities
