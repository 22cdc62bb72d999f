"""One server that speaks the OpenAI protocol: asking it, and naming what went wrong.

The openai package retries lost connections, 408, 409, 429 (minding retry-after) and 5xx by itself. Each answer is
bounded in time and bytes, whatever the server does, and ends within a moment when its case's work is cancelled. No
redirect leads to another address. Keys stand in no error.
"""

from __future__ import annotations

import math
import re
import ssl
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

import httpcore2
import httpx2
import openai
from openai.types.chat import ChatCompletionChunk

from crowdnotes.engines.metering import is_this_machine
from crowdnotes.errors import ModelServerError
from crowdnotes.settings_sections import LlmSettings
from crowdnotes.wording import fill

_LOOKS_LIKE_KEY = re.compile(
    r"(?i)\b(?:bearer\s+|(?:sk|pk|rk|key|gsk|xai|hf|api)[-_])[A-Za-z0-9*._~+/=-]{6,}|[A-Za-z0-9_-]{32,}"
)
_MAX_COMPLAINT_CHARACTERS = 240
_MAX_ERROR_CHARACTERS = 20_000  # of its page is looked at
_CANCEL_CHECK_SECONDS = 0.1  # seconds until a cancel is heard
_MAX_BYTES_PER_TOKEN = 4_000  # as it travels, with five alternatives and the stream's own words around it
_MAX_OTHER_BYTES = 4_000_000  # for the rest of an answer, and for a list of models


def scrubbed(text: str, keys: Sequence[str] = ()) -> str:
    """One short printable line without the given keys and without what looks like one."""
    for key in keys:
        if len(key) >= 4:
            text = text.replace(key, "(key)")
    line = " ".join("".join(char if char.isprintable() else " " for char in text[:_MAX_ERROR_CHARACTERS]).split())
    line = _LOOKS_LIKE_KEY.sub("(key)", line)
    return line if len(line) <= _MAX_COMPLAINT_CHARACTERS else f"{line[:_MAX_COMPLAINT_CHARACTERS]}…"


Message = Mapping[str, Any]
_TOO_LONG_COMPLAINT = re.compile(
    r"context (?:length|window|size)|maximum context|(?:prompt|input) is too long", re.IGNORECASE
)
_MESSAGE_BY_STATUS = {
    401: (
        "The language model's server {server} did not accept the key ({error}).",
        "Set it with `crowdnotes models key set`, or in CROWDNOTES_LLM_API_KEY.",
    ),
    403: (
        "The language model's server {server} does not let this key in ({error}).",
        "Set it with `crowdnotes models key set`, or in CROWDNOTES_LLM_API_KEY.",
    ),
    404: ("The language model's server {server} does not know the model or the address ({error}).", None),
    413: (
        "The language model's server {server} finds the question too long ({error}).",
        "Use fewer passages, or let the model read more: its server has a setting for the length of the context.",
    ),
    429: (
        "The language model's server {server} takes no more calls now ({error}).",
        "Wait a little, or look at your plan.",
    ),
}


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the answer, with the natural logarithms of the probabilities of what could stand there."""

    text: str
    options: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. `finish` is the protocol's reason; token counts are None when the server gave none.

    `streams` is False when a stream was asked for and the server sent none.
    """

    text: str
    finish: str
    refusal: str = ""
    tokens: tuple[Token, ...] = field(default=())
    input_tokens: int | None = None
    output_tokens: int | None = None
    streams: bool = True


class QuestionTooLongError(ModelServerError):
    """The server says that the question does not fit into what its model reads. `said` is its complaint, scrubbed."""

    default_next_step = (
        "Use fewer passages, or let the model read more: its server has a setting for the length of the context."
    )

    def __init__(self, message: str, said: str) -> None:
        super().__init__(message)
        self.said = said


OnPiece = Callable[[str, bool], None]
"""Told each piece of an answer as it comes, and whether it is a thought; what it raises stops the answer."""


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


class _AnswerBounds:
    """The bounds of one answer, tries and pauses together. `check` raises when the work is to stop."""

    def __init__(
        self, host: str, seconds: float, most_bytes: int, check: Callable[[], None], first_word: float | None = None
    ) -> None:
        self.first_word = first_word  # seconds of silence until it has come, where another patience holds for it
        self._host = host
        self._seconds = seconds
        self._ends = time.monotonic() + seconds
        self._bytes_left = most_bytes
        self._check = check

    def left(self) -> float:
        """Seconds left, above 0. Raises ModelServerError when there are none, and whatever `check` raises."""
        self._check()
        left = self._ends - time.monotonic()
        if left <= 0:
            raise ModelServerError(
                f"The server {self._host} was not done after {self._seconds:g} s.",
                "Use a smaller or faster model, or set CROWDNOTES_LLM_TOTAL_SECONDS higher.",
            )
        return left

    def took(self, count: int) -> None:
        """Count bytes that came. Raises ModelServerError when they are more than an answer can have."""
        self._bytes_left -= count
        if self._bytes_left < 0:
            raise ModelServerError(f"The server {self._host} sent far more than an answer can be, and was cut off.")

    def pause(self, seconds: float) -> None:
        """Wait between two tries, as long as the bounds allow."""
        until = time.monotonic() + seconds
        while (wait := min(until - time.monotonic(), self.left(), _CANCEL_CHECK_SECONDS)) > 0:
            time.sleep(wait)


_current_bounds: ContextVar[_AnswerBounds] = ContextVar("crowdnotes_exchange")  # the one that this thread is at


class _BoundedStream(httpcore2.NetworkStream):
    """A connection whose reads are cut into slices, so that the bounds hold however slowly the bytes drip."""

    def __init__(self, inner: httpcore2.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        exchange = _current_bounds.get()
        patience = exchange.first_word or timeout
        until = math.inf if patience is None else time.monotonic() + patience
        while True:
            try:
                data = self._inner.read(max_bytes, min(_CANCEL_CHECK_SECONDS, exchange.left()))
            except httpcore2.ReadTimeout:
                if time.monotonic() >= until:
                    raise
            else:
                exchange.took(len(data))
                return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, _limit_timeout(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(self, *args: Any, **options: Any) -> httpcore2.NetworkStream:
        return _BoundedStream(self._inner.start_tls(*args, **options))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class _BoundedBackend(httpcore2.NetworkBackend):
    def __init__(self, inner: httpcore2.NetworkBackend) -> None:
        self._inner = inner

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        return _BoundedStream(
            self._inner.connect_tcp(host, port, _limit_timeout(timeout), local_address, socket_options)
        )


def _limit_timeout(timeout: float | None) -> float:
    left = _current_bounds.get().left()
    return left if timeout is None else min(timeout, left)


class _BoundedClient(openai.OpenAI):
    def _sleep_for_retry(self, *, retries_taken: int, max_retries: int, options: Any, response: Any) -> None:
        """As in the package, but the pause keeps the bounds."""
        headers = response.headers if response else None
        _current_bounds.get().pause(self._calculate_retry_timeout(max_retries - retries_taken, options, headers))

    def _process_response_data(self, *, data: object, cast_to: Any, response: httpx2.Response) -> Any:
        """A plain piece of a stream as it came: the package's own object takes longer than all the rest of it."""
        piece = _parse_plain_chunk(data) if cast_to is ChatCompletionChunk else None
        return super()._process_response_data(data=data, cast_to=cast_to, response=response) if piece is None else piece


def _parse_plain_chunk(data: Any) -> SimpleNamespace | None:
    """A piece of an answer with words and no more, under the package's names; None for any other."""
    match data:
        case {"choices": [{"delta": dict() as delta, **choice}], **rest} if not (
            choice.get("logprobs") or rest.get("usage")
        ):
            spoken = SimpleNamespace(**{"content": None, "refusal": None, **delta})
            said = SimpleNamespace(finish_reason=choice.get("finish_reason"), logprobs=None, delta=spoken)
            return SimpleNamespace(usage=None, choices=[said])
    return None


@cache
def _load_ssl_context(*, trust_env: bool) -> ssl.SSLContext:
    """Read once: it takes longer than everything else in making a client."""
    return httpx2.create_ssl_context(trust_env=trust_env)


class ModelServer:
    """A server by base URL and key. Safe between threads."""

    def __init__(self, base_url: str, key: str | None, settings: LlmSettings) -> None:
        self.base_url = base_url
        self._host = httpx2.URL(base_url).host
        self._keys = (key,) if key else ()
        self._settings = settings
        trust_env = not is_this_machine(base_url)  # this machine is asked without a proxy
        http = openai.DefaultHttpxClient(
            event_hooks={"response": [partial(_refuse_redirect, self._keys)]},
            trust_env=trust_env,
            verify=_load_ssl_context(trust_env=trust_env),
        )
        # There is no public way to keep the proxies of the environment and watch the connections too.
        for transport in filter(None, (http._transport, *http._mounts.values())):
            pool: Any = transport._pool  # type: ignore[attr-defined]
            pool._network_backend = _BoundedBackend(pool._network_backend)
        self._client = _BoundedClient(
            base_url=base_url,
            api_key=key or "none",  # servers on this machine ask for none; the package insists on one
            timeout=httpx2.Timeout(settings.timeout_seconds, connect=settings.connect_seconds),
            max_retries=settings.max_retries,
            default_headers={"Accept-Encoding": "identity"},  # what is packed could unpack to anything
            http_client=http,
        )
        weakref.finalize(self, self._client.close)  # connections end with the engine, not with the process

    def models(self) -> list[str]:
        """The ids of the models it offers, sorted. Raises ModelServerError."""
        with self._bounded(0, lambda: None):
            try:
                # What is no text breaks here: the package checks nothing of what it reads.
                return sorted(str.strip(model.id) for model in self._client.models.list())
            except (openai.OpenAIError, httpx2.HTTPError, ValueError, AttributeError, TypeError) as error:
                raise self._named(error) from None  # the last three: another program answered

    def ask(
        self,
        model: str,
        messages: Sequence[Message],
        options: Mapping[str, Any],
        room: int,
        on_piece: OnPiece = lambda _, __: None,
        check: Callable[[], None] = lambda: None,
    ) -> Reply:
        """One answer of at most `room` tokens, told to `on_piece` as it comes when `options` ask for a stream.

        Raises ModelServerError, QuestionTooLongError, CallRejectedError when the server rejects the form of the call,
        and what `check` raises, which is looked at several times a second. A stream that breaks is asked for once
        more in one piece.
        """
        arguments: dict[str, Any] = {"model": model, "messages": list(messages), **options}
        with self._bounded(room, check, self._settings.first_word_seconds) as exchange:
            try:
                streams = True
                if arguments.pop("stream", False):
                    streamed, streams = self._streamed(arguments, on_piece)
                    if streamed is not None:
                        return streamed
                arguments.pop("stream_options", None)
                exchange.first_word = None
                # In one piece there is no sign of life before the end.
                patience = httpx2.Timeout(self._settings.total_seconds, connect=self._settings.connect_seconds)
                whole = self._whole(self._client.chat.completions.create(**arguments, timeout=patience))
                return replace(whole, streams=streams)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                said = scrubbed(_extract_error_text(error), self._keys)
                if _TOO_LONG_COMPLAINT.search(said):
                    sentence = f"The question is too long for the model {model} ({said})."
                    raise QuestionTooLongError(sentence, said) from None
                rejected = ModelServerError(f"The server rejects the call ({said}).")
                raise CallRejectedError(said, rejected, is_sure=True) from None
            except openai.InternalServerError as error:
                raise CallRejectedError(
                    scrubbed(_extract_error_text(error), self._keys), self._named(error), is_sure=False
                ) from None
            except (openai.OpenAIError, httpx2.HTTPError, ValueError) as error:
                raise self._named(error) from None

    @contextmanager
    def _bounded(
        self, tokens: int, check: Callable[[], None], first_word: float | None = None
    ) -> Iterator[_AnswerBounds]:
        most = _MAX_OTHER_BYTES + tokens * _MAX_BYTES_PER_TOKEN
        exchange = _AnswerBounds(self._host, self._settings.total_seconds, most, check, first_word)
        token = _current_bounds.set(exchange)
        try:
            yield exchange
        finally:
            _current_bounds.reset(token)

    def _streamed(self, arguments: dict[str, Any], on_piece: OnPiece) -> tuple[Reply | None, bool]:
        """The whole reply, None when the stream broke before its end; and whether anything came as a stream."""
        said: list[str] = []
        tokens: list[Token] = []
        finish, refusal, usage, begun = "", "", None, False
        try:
            with self._client.chat.completions.create(**arguments, stream=True) as stream:
                for chunk in stream:
                    begun, _current_bounds.get().first_word = True, None
                    usage = chunk.usage or usage
                    for choice in chunk.choices or ():
                        finish = choice.finish_reason or finish
                        if choice.logprobs:
                            tokens += _read_tokens(choice.logprobs.content)
                        if choice.delta is None:
                            continue
                        refusal += choice.delta.refusal or ""
                        if thought := _read_thought(choice.delta):
                            on_piece(thought, True)
                        if isinstance(piece := choice.delta.content, str) and piece:
                            said.append(piece)
                            on_piece(piece, False)
        except (openai.APIStatusError, openai.APITimeoutError, httpx2.TimeoutException):
            raise
        except (openai.APIError, httpx2.HTTPError, ValueError):
            if not begun:
                raise
            return None, True
        if not finish:
            return None, begun
        return Reply("".join(said), finish, refusal, tuple(tokens), *_read_token_counts(usage)), True

    def _whole(self, completion: Any) -> Reply:
        choices = getattr(completion, "choices", None)
        if not choices:
            raise ModelServerError("The server's reply holds no answer.")
        choice = choices[0]
        message = choice.message
        if message is None:
            raise ModelServerError("The server's reply holds no message.")
        text = message.content if isinstance(message.content, str) else ""
        tokens = _read_tokens(getattr(choice.logprobs, "content", None)) if choice.logprobs else ()
        return Reply(
            text, choice.finish_reason or "", message.refusal or "", tokens, *_read_token_counts(completion.usage)
        )

    def _named(self, error: Exception) -> ModelServerError:
        where = self._host
        told = scrubbed(_extract_error_text(error), self._keys)
        if isinstance(error, openai.APIStatusError):
            words, next_step = _MESSAGE_BY_STATUS.get(
                error.status_code, ("The language model's server {server} failed with status {status} ({error}).", None)
            )
            sentence = fill(words, server=where, error=told, status=error.status_code)
            return ModelServerError(sentence, next_step or "")
        if isinstance(error, openai.APITimeoutError | httpx2.TimeoutException):
            return ModelServerError(f"No word from the language model's server {where} in time.")
        if isinstance(error, openai.APIConnectionError | httpx2.TransportError):
            return ModelServerError(f"The language model's server {where} could not be reached, or broke off.")
        return ModelServerError(f"The language model's server {where} sent a reply that cannot be read ({told}).")


def _refuse_redirect(keys: Sequence[str], response: httpx2.Response) -> None:
    """A redirect would hand the post, and what is read of it, to a server that nobody chose."""
    host = response.url.host
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise ModelServerError(f"The server {host} packed its answer, though it was asked not to.")
    if not response.has_redirect_location:
        return
    try:
        target = response.url.join(response.headers["location"])
    except (httpx2.InvalidURL, ValueError):
        raise ModelServerError(f"The server {host} redirects to something that is no address.") from None
    if (target.scheme, target.netloc) != (response.url.scheme, response.url.netloc):
        where = scrubbed(f"{target.scheme}://{target.netloc.decode('ascii', 'replace')}", keys)
        raise ModelServerError(
            f"The server {host} redirects to another address ({where}), which is not followed.",
            "If you trust that address, set it as CROWDNOTES_LLM_BASE_URL.",
        )


def _extract_error_text(error: Exception) -> str:
    body = getattr(error, "body", None)
    if isinstance(body, Mapping):
        return str(body.get("message") or body.get("detail") or body.get("error") or body)
    return str(body or error)


def _read_token_counts(usage: Any) -> tuple[int | None, int | None]:
    read, wrote = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
    return (read, wrote) if isinstance(read, int) and isinstance(wrote, int) and min(read, wrote) >= 0 else (None, None)


def _read_thought(delta: Any) -> str:
    """What a model thinks before it answers: vLLM, llama.cpp and DeepSeek use the first name, others the second."""
    for name in ("reasoning_content", "reasoning"):
        words = getattr(delta, name, None)
        if isinstance(words, str) and words:
            return words
    return ""


def _read_tokens(content: Iterable[Any] | None) -> tuple[Token, ...]:
    out = []
    for item in content or ():
        options = [(item.token, item.logprob), *((other.token, other.logprob) for other in item.top_logprobs or ())]
        known = {str(text): float(p) for text, p in options if isinstance(p, int | float) and math.isfinite(p)}
        out.append(Token(str(item.token), tuple(known.items())))
    return tuple(out)
