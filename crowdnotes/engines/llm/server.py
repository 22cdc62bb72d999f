"""One server that speaks the OpenAI protocol: one question to it, what it can do, and what can go wrong, by its name.

The openai package retries lost connections, 408, 409, 429 (minding retry-after) and 5xx by itself. Keys
stand in no error.
"""

from __future__ import annotations

import math
import re
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

import httpx2
import openai

from crowdnotes.errors import ModelServerError
from crowdnotes.settings import LlmSettings

_LOOKS_LIKE_KEY = re.compile(
    r"(?i)\b(?:bearer\s+|(?:sk|pk|rk|key|gsk|xai|hf|api)[-_])[A-Za-z0-9*._~+/=-]{6,}|[A-Za-z0-9_-]{32,}"
)
_LONGEST_COMPLAINT = 240


def scrubbed(text: str, keys: Sequence[str] = ()) -> str:
    """One short printable line without the given keys and without what looks like one."""
    for key in keys:
        if len(key) >= 4:
            text = text.replace(key, "(key)")
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    line = _LOOKS_LIKE_KEY.sub("(key)", line)
    return line if len(line) <= _LONGEST_COMPLAINT else f"{line[:_LONGEST_COMPLAINT]}…"


# Gemma's template, llama.cpp, LM Studio, Mistral's template, and Google's own address for Gemma, in this order.
_NO_SYSTEM_ROLE = re.compile(
    r"system role|system message|role\W+system|unknown role|roles must alternate|only user and assistant roles"
    r"|developer instruction"
)
_SHAPES = ("response_format", "schema", "guided", "grammar", "structured")
_NEWER_LIMIT = "max_completion_tokens"


class Shape(IntEnum):
    """How the form of an answer is asked for, strictest first."""

    SCHEMA = 0
    JSON = 1
    WORDS = 2


@dataclass(frozen=True, slots=True)
class Abilities:
    """What to send. Begins with everything; a refusal takes away what it names.

    `system_role`: whether the prompt may be a message of its own; `probabilities`: whether token probabilities
    may be asked for; `limit_name`: what the bound on the answer is called.
    """

    shape: Shape = Shape.SCHEMA
    probabilities: bool = True
    temperature: bool = True
    limit_name: str = "max_tokens"
    usage_in_stream: bool = True
    system_role: bool = True

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
            temperature=self.temperature and "temperature" not in words,
            usage_in_stream=self.usage_in_stream and "stream_options" not in words,
            limit_name=_NEWER_LIMIT if "max_tokens" in words else self.limit_name,
            system_role=self.system_role and _NO_SYSTEM_ROLE.search(words) is None,
        )
        return None if fewer == self else fewer

    def met_by(self, other: Abilities) -> Abilities:
        """What both can do: calls side by side learn different things, and none may unlearn another's."""
        return Abilities(
            shape=max(self.shape, other.shape),
            probabilities=self.probabilities and other.probabilities,
            temperature=self.temperature and other.temperature,
            limit_name=self.limit_name if self.limit_name == _NEWER_LIMIT else other.limit_name,
            usage_in_stream=self.usage_in_stream and other.usage_in_stream,
            system_role=self.system_role and other.system_role,
        )

    def _shape_after(self, words: str) -> Shape:
        if self.shape is Shape.SCHEMA and any(name in words for name in _SHAPES):
            # A server that rejects the field by name knows no form of it.
            unknown = any(word in words for word in ("unsupported", "unexpected", "unknown", "extra"))
            return Shape.WORDS if unknown and "json_schema" not in words else Shape.JSON
        if self.shape is Shape.JSON and any(name in words for name in ("response_format", "json", "grammar")):
            return Shape.WORDS
        return self.shape

    def _weaker(self) -> Abilities | None:
        if self.shape is not Shape.WORDS:
            return replace(self, shape=Shape(self.shape + 1))
        if self.probabilities:
            return replace(self, probabilities=False)
        if self.system_role:
            return replace(self, system_role=False)
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


Message = Mapping[str, Any]
_SET_KEY = "Set it with `crowdnotes models key set`, or in CROWDNOTES_LLM_API_KEY."
_SHORTER = "Use fewer passages, set CROWDNOTES_LLM_MAX_ANSWER_TOKENS lower, or use a model that reads more."
_TOO_LONG = re.compile(r"context (?:length|window|size)|maximum context|(?:prompt|input) is too long", re.IGNORECASE)
_STATUS = {
    401: ("did not accept the key", _SET_KEY),
    403: ("does not let this key in", _SET_KEY),
    404: ("does not know the model or the address", ""),
    413: ("finds the question too long", _SHORTER),
    429: ("takes no more calls now", "Wait a little, or look at your plan."),
}


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the answer, with the natural logarithms of the probabilities of what could stand there."""

    text: str
    options: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. `finish` is the protocol's reason; token counts are None when the server gave none."""

    text: str
    finish: str
    refusal: str = ""
    tokens: tuple[Token, ...] = field(default=())
    input_tokens: int | None = None
    output_tokens: int | None = None


class CallRejectedError(Exception):
    """The server rejects this form of call: another form may do. `said` is its complaint, scrubbed.

    `is_sure` is False for a 500: some servers end so when a model's template knows no system role, but others
    for faults of their own. `otherwise` is what to raise when no other form is left.
    """

    def __init__(self, said: str, otherwise: ModelServerError, *, is_sure: bool) -> None:
        super().__init__(said)
        self.said = said
        self.otherwise = otherwise
        self.is_sure = is_sure


class ModelServer:
    """A server by base URL and key. Safe between threads."""

    def __init__(self, base_url: str, key: str | None, settings: LlmSettings) -> None:
        self.base_url = base_url
        self._keys = (key,) if key else ()
        self._settings = settings
        self._client = openai.OpenAI(
            base_url=base_url,
            api_key=key or "none",  # servers on this machine ask for none; the package insists on one
            timeout=httpx2.Timeout(settings.timeout_seconds, connect=settings.connect_seconds),
            max_retries=settings.max_retries,
        )
        weakref.finalize(self, self._client.close)  # connections end with the engine, not with the process

    def models(self) -> list[str]:
        """The ids of the models it offers, sorted. Raises ModelServerError."""
        try:
            return sorted(model.id for model in self._client.models.list())
        except (openai.OpenAIError, httpx2.HTTPError, ValueError, AttributeError, TypeError) as error:
            raise self._named(error) from None  # the last three: another program answered

    def ask(
        self, model: str, messages: Sequence[Message], options: Mapping[str, Any], on_text: Callable[[str], None] | None
    ) -> Reply:
        """One answer, streamed to `on_text` (the words so far) when it is given.

        Raises ModelServerError, or CallRejectedError when the server rejects the form of the call. A
        stream that breaks is asked for once more in one piece.
        """
        arguments: dict[str, Any] = {"model": model, "messages": list(messages), **options}
        try:
            if on_text is not None:
                streamed = self._streamed(arguments, on_text)
                if streamed is not None:
                    return streamed
            arguments.pop("stream_options", None)
            return self._whole(self._client.chat.completions.create(**arguments))
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            said = scrubbed(_told(error), self._keys)
            if _TOO_LONG.search(said):
                raise ModelServerError(f"The question is too long for the model {model} ({said}).", _SHORTER) from None
            raise CallRejectedError(
                said, ModelServerError(f"The server rejects the call ({said})."), is_sure=True
            ) from None
        except openai.InternalServerError as error:
            raise CallRejectedError(scrubbed(_told(error), self._keys), self._named(error), is_sure=False) from None
        except (openai.OpenAIError, httpx2.HTTPError, ValueError) as error:
            raise self._named(error) from None

    def _streamed(self, arguments: dict[str, Any], on_text: Callable[[str], None]) -> Reply | None:
        """The whole reply; None when the stream broke before its end."""
        until = time.monotonic() + self._settings.total_seconds
        said, finish, refusal, usage, begun = "", "", "", None, False
        try:
            with self._client.chat.completions.create(**arguments, stream=True) as stream:
                for chunk in stream:
                    begun = True
                    if time.monotonic() > until:
                        raise ModelServerError(f"The server was not done after {self._settings.total_seconds:g} s.")
                    usage = chunk.usage or usage
                    for choice in chunk.choices or ():
                        finish = choice.finish_reason or finish
                        refusal += choice.delta.refusal or "" if choice.delta else ""
                        piece = choice.delta.content or "" if choice.delta else ""
                        if piece:
                            said += piece
                            on_text(said)
        except openai.APIStatusError:
            raise
        except (openai.APIError, httpx2.HTTPError, ValueError):
            if not begun:
                raise
            return None
        if not finish:
            return None
        return Reply(said, finish, refusal, (), *_counts(usage))

    def _whole(self, completion: Any) -> Reply:
        choices = getattr(completion, "choices", None)
        if not choices:
            raise ModelServerError("The server's reply holds no answer.")
        choice = choices[0]
        message = choice.message
        if message is None:
            raise ModelServerError("The server's reply holds no message.")
        text = message.content if isinstance(message.content, str) else ""
        tokens = _tokens(getattr(choice.logprobs, "content", None)) if choice.logprobs else ()
        return Reply(text, choice.finish_reason or "", message.refusal or "", tokens, *_counts(completion.usage))

    def _named(self, error: Exception) -> ModelServerError:
        where = httpx2.URL(self.base_url).host
        told = scrubbed(_told(error), self._keys)
        if isinstance(error, openai.APIStatusError):
            sentence, next_step = _STATUS.get(error.status_code, (f"failed with status {error.status_code}", ""))
            return ModelServerError(f"The language model's server {where} {sentence} ({told}).", next_step)
        if isinstance(error, openai.APITimeoutError | httpx2.TimeoutException):
            return ModelServerError(f"No word from the language model's server {where} in time.")
        if isinstance(error, openai.APIConnectionError | httpx2.TransportError):
            return ModelServerError(f"The language model's server {where} could not be reached, or broke off.")
        return ModelServerError(f"The language model's server {where} sent a reply that cannot be read ({told}).")


def _told(error: Exception) -> str:
    body = getattr(error, "body", None)
    if isinstance(body, Mapping):
        return str(body.get("message") or body.get("detail") or body.get("error") or body)
    return str(body or error)


def _counts(usage: Any) -> tuple[int | None, int | None]:
    read, wrote = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
    return (read, wrote) if isinstance(read, int) and isinstance(wrote, int) and min(read, wrote) >= 0 else (None, None)


def _tokens(content: Iterable[Any] | None) -> tuple[Token, ...]:
    out = []
    for item in content or ():
        options = [(item.token, item.logprob), *((other.token, other.logprob) for other in item.top_logprobs or ())]
        known = {str(text): float(p) for text, p in options if isinstance(p, int | float) and math.isfinite(p)}
        out.append(Token(str(item.token), tuple(known.items())))
    return tuple(out)
