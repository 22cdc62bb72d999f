"""What a model's server can do, learned from what it refuses, and remembered for as long as the program runs."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, replace
from enum import IntEnum

# Gemma's template, llama.cpp, LM Studio, Mistral's template, and Google's own address for Gemma, in this order.
_NO_SYSTEM_ROLE = re.compile(
    r"system role|system message|role\W+system|unknown role|roles must alternate|only user and assistant roles"
    r"|developer instruction"
)
# OpenAI and most others name the field; Ollama says that the model "does not support thinking".
_NO_EFFORT = re.compile(r"reasoning.?effort|support (?:thinking|reasoning)|\bthink\b")
_NO_STREAM = re.compile(r"\bstream(?!_options)")
_SCHEMA_COMPLAINT_WORDS = ("response_format", "schema", "guided", "grammar", "structured")
_NEWER_LIMIT_NAME = "max_completion_tokens"


class Shape(IntEnum):
    """How the form of an answer is asked for, strictest first."""

    SCHEMA = 0
    JSON = 1
    WORDS = 2


@dataclass(frozen=True, slots=True)
class Abilities:
    """What to send. Begins with everything; a refusal takes away what it names.

    `system_role`: whether the prompt may be a message of its own; `probabilities`: whether token probabilities
    may be asked for; `limit_name`: what the bound on the answer is called; `effort`: whether it may be told how long
    to think; `streams`: whether answers come piece by piece; `room`: tokens that answers were seen to need.
    """

    shape: Shape = Shape.SCHEMA
    probabilities: bool = True
    temperature: bool = True
    top_p: bool = True
    limit_name: str = "max_tokens"
    usage_in_stream: bool = True
    system_role: bool = True
    effort: bool = True
    streams: bool = True
    room: int = 0

    def without(self, complaint: str) -> Abilities | None:
        """What to try after the server complained with these words; None when nothing is left to give up.

        Several things may be named at once. A complaint that names none costs one thing, the strictest first.
        """
        return self.without_named(complaint) or self._weaker()

    def without_named(self, complaint: str) -> Abilities | None:
        """What is left without the things that the complaint names; None when it names nothing that was sent."""
        words = complaint.lower()
        fewer = replace(
            self,
            shape=self._shape_after(words),
            probabilities=self.probabilities and "logprobs" not in words,
            # Some take either: then it is the temperature that stays.
            temperature=self.temperature and ("temperature" not in words or (self.top_p and "top_p" in words)),
            top_p=self.top_p and "top_p" not in words,
            usage_in_stream=self.usage_in_stream and "stream_options" not in words,
            limit_name=_NEWER_LIMIT_NAME if "max_tokens" in words else self.limit_name,
            system_role=self.system_role and _NO_SYSTEM_ROLE.search(words) is None,
            effort=self.effort and _NO_EFFORT.search(words) is None,
            streams=self.streams and _NO_STREAM.search(words) is None,
        )
        return None if fewer == self else fewer

    def met_by(self, other: Abilities) -> Abilities:
        """What both can do: calls side by side learn different things, and none may unlearn another's."""
        return Abilities(
            shape=max(self.shape, other.shape),
            probabilities=self.probabilities and other.probabilities,
            temperature=self.temperature and other.temperature,
            top_p=self.top_p and other.top_p,
            limit_name=self.limit_name if self.limit_name == _NEWER_LIMIT_NAME else other.limit_name,
            usage_in_stream=self.usage_in_stream and other.usage_in_stream,
            system_role=self.system_role and other.system_role,
            effort=self.effort and other.effort,
            streams=self.streams and other.streams,
            room=max(self.room, other.room),
        )

    def _shape_after(self, words: str) -> Shape:
        if self.shape is Shape.SCHEMA and any(name in words for name in _SCHEMA_COMPLAINT_WORDS):
            # A server that rejects the field by name knows no form of it.
            unknown = any(word in words for word in ("unsupported", "unexpected", "unknown", "extra"))
            return Shape.WORDS if unknown and "json_schema" not in words else Shape.JSON
        if self.shape is Shape.JSON and any(name in words for name in ("response_format", "json", "grammar")):
            return Shape.WORDS
        return self.shape

    def _weaker(self) -> Abilities | None:
        if self.effort:
            return replace(self, effort=False)
        if self.shape is not Shape.WORDS:
            return replace(self, shape=Shape(self.shape + 1))
        if self.probabilities:
            return replace(self, probabilities=False)
        if self.system_role:
            return replace(self, system_role=False)
        if self.streams:
            return replace(self, streams=False)
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
        """Remember what a call that was answered had to give up."""
        with self._lock:
            before = self._known.get((base_url, model), Abilities())
            self._known[base_url, model] = before.met_by(abilities)
