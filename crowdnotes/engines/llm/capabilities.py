"""Learns what a model's server can do from what it refuses, and remembers it while the program runs.

Servers refuse the same thing with different statuses and in different words, so their words are read.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum

_MAX_COMPLAINT_DEPTH = 6
_MAX_COMPLAINT_ITEMS = 8
# Where servers put words for people, and where only the name of a field or of a fault. OpenRouter quotes the server
# that it asked in "raw".
_WORDS = ("message", "detail", "msg", "error", "errors", "description", "reason", "metadata", "raw")
_NAMES = ("param", "loc", "field", "code", "type", "error_type")

# How complaints name each field of a call.
_FIELD_WORDS = {
    "response_format": re.compile(
        r"response.?format|response.?mime.?type|schema|guided|grammar|structured|text\.format|peg-native"
        r"|json[_ ](?:mode|object|output|validate|format)|generate json|word .?json"
    ),
    "logprobs": re.compile(r"log.?prob|token.?probabilit"),
    "temperature": re.compile(r"temperature"),
    "top_p": re.compile(r"top_?p\b"),
    "stream_options": re.compile(r"stream_options|include_usage"),
    "stream": re.compile(r"\bstream(?!_options)"),
    "max_tokens": re.compile(r"max_tokens"),
    # OpenAI and most others name the field; Ollama says that the model "does not support thinking".
    "reasoning_effort": re.compile(
        r"reasoning.?effort|support (?:thinking|reasoning)|thinking.?(?:level|budget|config|is not)|\bthink\b"
    ),
    # Gemma's template, llama.cpp, LM Studio, Mistral's template, and Google's own address for Gemma, in this order.
    "system_role": re.compile(
        r"system role|system message|role\W+system|unknown role|roles must alternate|only user and assistant roles"
        r"|developer instruction"
    ),
}
# OpenRouter, LiteLLM, Google and others where they name no field, or use a name of their own.
_FORM_COMPLAINT = re.compile(
    r"parameter|argument|unsupported|unrecognized|unknown (?:name|field)|cannot find field"
    r"|\bnot (?:support|permit|allow|enable)"
)
_NO_JSON = re.compile(r"json[_ ](?:mode|output|validate)|generate json|response.?mime.?type|peg-native|word .?json")
_NEWER_LIMIT_NAME = "max_completion_tokens"

_ASKED = r"\b(?:prompt|input|question|request|message|conversation|content|text|query)s?\b"
_TOO_LONG = re.compile(
    r"context.?(?:length|window|size|limit)|context overflow|context the overflows|maximum context|\bn_ctx\b"
    rf"|{_ASKED}.{{0,40}}\b(?:too (?:long|large|big)|exceed)|(?:too (?:long|large|big)|shorter|reduce).{{0,30}}{_ASKED}"
    r"|max_(?:completion_|new_)?tokens.{0,60}(?:range|less than|at most|<=|too (?:large|high|big)|exceed|greater)"
    r"|string too long|too many (?:\w+ ){0,3}tokens|tokens? limit|(?:maximum|max) (?:prompt|input)"
    r"|range of input length"
)
_TOO_MANY_TOKENS = re.compile(
    r"tokens?\b.{0,80}(?:exceed|(?:greater|more|larger|longer|less) than|at most|limit of|maximum|<=|>)"
    r"|(?:exceed|(?:greater|more|larger|longer|less) than|at most|limit of|maximum|<=|>).{0,40}\btokens?\b"
)
_LIMIT_OF_TIME_OR_MONEY = re.compile(r"rate.?limit|quota|per.?(?:min|hour|day)|credit|balance|too many requests|afford")
_CAN_NEVER_PASS = re.compile(r"request too large|reduce your (?:message|prompt|input)|tokens must be reduced")


@dataclass(frozen=True, slots=True)
class Complaint:
    """A server's refusal. `words` are for people, `names` of fields and faults for programs."""

    words: str
    names: str = ""

    @property
    def is_too_long(self) -> bool:
        """Whether the question and its answer are more than the model reads, however the server says it."""
        said = f"{self.words} {self.names}".lower()
        if _LIMIT_OF_TIME_OR_MONEY.search(said):
            return _CAN_NEVER_PASS.search(said) is not None
        fields = self.fields - {"max_tokens", "stream", "system_role"}
        if "response_format" in fields:
            return False  # the grammar is too large, not the question
        return _TOO_LONG.search(said) is not None or (not fields and _TOO_MANY_TOKENS.search(said) is not None)

    @property
    def fields(self) -> set[str]:
        """The fields of a call that it names, and "system_role"."""
        said = f"{self.words} {self.names}".lower()
        return {field for field, words in _FIELD_WORDS.items() if words.search(said)}

    @property
    def is_about_form(self) -> bool:
        """Whether the form of the call is refused, even if no field is named."""
        return _FORM_COMPLAINT.search(f"{self.words} {self.names}".lower()) is not None


def read_complaint(body: object) -> Complaint:
    """Return the complaint in the body of a refusal, wherever it is."""
    found = list(_read_words(body, 0))
    words = "; ".join(dict.fromkeys(text for text, is_name in found if text and not is_name))
    return Complaint(words or str(body or ""), " ".join(text for text, is_name in found if is_name))


def _read_words(body: object, depth: int) -> Iterator[tuple[str, bool]]:
    """Yield each text, and whether it is a name."""
    if depth > _MAX_COMPLAINT_DEPTH:
        return
    if isinstance(body, Mapping):
        for name in _WORDS:
            yield from _read_words(body.get(name), depth + 1)
        for name in _NAMES:
            value = body.get(name)
            for part in value[:_MAX_COMPLAINT_ITEMS] if isinstance(value, list) else [value]:
                if isinstance(part, str | int):
                    yield str(part), True
    elif isinstance(body, list):
        for item in body[:_MAX_COMPLAINT_ITEMS]:
            yield from _read_words(item, depth + 1)
    elif isinstance(body, str):
        text = body.strip()
        try:
            inside = json.loads(text) if text.startswith(("{", "[")) else None
        except (ValueError, RecursionError):
            inside = None
        found = list(_read_words(inside, depth + 1))
        yield from found or [(text, False)]


class Shape(IntEnum):
    """How to ask for the form of an answer, strictest first."""

    SCHEMA = 0
    JSON = 1
    WORDS = 2


@dataclass(frozen=True, slots=True)
class Abilities:
    """What to send. Starts with everything; a refusal removes what it names, whatever its status.

    `system_role`: the prompt may be its own message; `probabilities`: token probabilities may be asked for;
    `limit_name`: the name of the limit on the answer; `effort`: the model takes how long to think; `streams`: answers
    arrive in pieces; `answer_tokens`: tokens that answers needed so far.
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
    answer_tokens: int = 0

    def without_named(self, complaint: Complaint, sent: Collection[str]) -> Abilities | None:
        """Return what is left without the fields that the complaint names; None if none of them was sent."""
        named = complaint.fields & set(sent)
        if {"temperature", "top_p"} <= named:
            named.remove("temperature")  # some take either: keep the temperature
        fewer = self.without(named - {"response_format"})
        if "response_format" in named:
            fewer = replace(fewer, shape=self._shape_after(complaint))
        return None if fewer == self else fewer

    def without(self, fields: Collection[str]) -> Abilities:
        """Return what is left without these fields of a call."""
        return replace(
            self,
            shape=Shape.WORDS if "response_format" in fields else self.shape,
            probabilities=self.probabilities and "logprobs" not in fields,
            temperature=self.temperature and "temperature" not in fields,
            top_p=self.top_p and "top_p" not in fields,
            usage_in_stream=self.usage_in_stream and "stream_options" not in fields,
            limit_name=_NEWER_LIMIT_NAME if "max_tokens" in fields else self.limit_name,
            system_role=self.system_role and "system_role" not in fields,
            effort=self.effort and "reasoning_effort" not in fields,
            streams=self.streams and "stream" not in fields,
        )

    def met_by(self, other: Abilities) -> Abilities:
        """Return what both can do: parallel calls learn different things, and none may be forgotten."""
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
            answer_tokens=max(self.answer_tokens, other.answer_tokens),
        )

    def _shape_after(self, complaint: Complaint) -> Shape:
        """Return JSON mode if the schema was refused, words alone if the field or JSON itself was."""
        words = f"{complaint.words} {complaint.names}".lower()
        if self.shape is not Shape.SCHEMA or _NO_JSON.search(words):
            return Shape.WORDS
        unknown = ("unsupported", "unexpected", "unknown", "unrecognized", "extra", "parameters")
        is_unknown = any(word in words for word in unknown)
        return Shape.WORDS if is_unknown and "schema" not in words.replace("response_format", "") else Shape.JSON


class KnownAbilities:
    """What this process learned about each server and model. Safe between threads."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Abilities] = {}
        self._proven: dict[tuple[str, str], frozenset[str]] = {}
        self._lock = threading.Lock()

    def get(self, base_url: str, model: str) -> Abilities:
        """Return what to start with."""
        with self._lock:
            return self._known.get((base_url, model), Abilities())

    def learn(self, base_url: str, model: str, abilities: Abilities) -> None:
        """Remember what a successful call had to leave out."""
        with self._lock:
            before = self._known.get((base_url, model), Abilities())
            self._known[base_url, model] = before.met_by(abilities)

    def proven(self, base_url: str, model: str) -> frozenset[str]:
        """Return the fields of successful calls: a refusal that names no field is not about these."""
        with self._lock:
            return self._proven.get((base_url, model), frozenset())

    def prove(self, base_url: str, model: str, fields: Collection[str]) -> None:
        """Remember the fields of a successful call."""
        with self._lock:
            before = self._proven.get((base_url, model), frozenset())
            self._proven[base_url, model] = before | frozenset(fields)
