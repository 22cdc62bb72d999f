"""Asks one server that speaks the OpenAI protocol, and explains what went wrong.

The openai package retries lost connections, 408, 409, 429 (respecting retry-after) and 5xx by itself. Each answer is
limited in time and bytes, whatever the server does, and ends at once when its case's work is cancelled. No redirect
leads to another address. No error contains a key.
"""

from __future__ import annotations

import json
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
from typing import Any

import httpcore2
import httpx2
import openai
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from crowdnotes.engines.llm.capabilities import Complaint, read_complaint
from crowdnotes.engines.metering import is_this_machine
from crowdnotes.errors import ModelServerError
from crowdnotes.settings_sections import LlmSettings
from crowdnotes.wording import fill

_LOOKS_LIKE_KEY = re.compile(
    r"(?i)\b(?:bearer\s+|(?:sk|pk|rk|key|gsk|xai|hf|api)[-_])[A-Za-z0-9*._~+/=-]{6,}|[A-Za-z0-9_-]{32,}"
)
_MAX_COMPLAINT_CHARACTERS = 240
_MAX_READ_COMPLAINT_CHARACTERS = 2_000  # to learn what it is about
_MAX_ERROR_CHARACTERS = 20_000  # of an error page
CANCEL_CHECK_SECONDS = 0.1
_MAX_BYTES_PER_TOKEN = 4_000  # as sent, with five alternatives and the fields of the stream
_MAX_LOGARITHM = 10_000  # larger ones are no logarithms of probabilities
_MAX_OTHER_BYTES = 4_000_000  # for the rest of an answer, and for a list of models


def scrubbed(text: str, keys: Sequence[str] = (), limit: int = _MAX_COMPLAINT_CHARACTERS) -> str:
    """Return one short printable line without the given keys and without what looks like one."""
    for key in keys:
        if len(key) >= 4:
            text = text.replace(key, "(key)")
    line = " ".join("".join(char if char.isprintable() else " " for char in text[:_MAX_ERROR_CHARACTERS]).split())
    line = _LOOKS_LIKE_KEY.sub("(key)", line)
    return line if len(line) <= limit else f"{line[:limit]}…"


Message = Mapping[str, Any]
_ABOUT_KEY = re.compile(r"\bkey|token|credential|auth|sign|log ?in", re.IGNORECASE)
_KEY_REFUSED = (
    "The AI server {server} refuses this key ({error}).",
    "Set it with `crowdnotes models key set`, or in CROWDNOTES_LLM_API_KEY.",
)
_NEVER_ABOUT_FORM = {401, 402, 408, 409, 425, 429}  # they are about who asks, how often and when
_OF_GATEWAYS = {502, 503, 504, *range(520, 530)}
_MESSAGE_BY_STATUS = {
    401: (
        "The AI server {server} refuses the key ({error}).",
        "Set it with `crowdnotes models key set`, or in CROWDNOTES_LLM_API_KEY.",
    ),
    402: ("The AI server {server} wants payment first ({error}).", "Look at your account there."),
    403: (
        "The AI server {server} does not allow this ({error}).",
        "Choose a model that this key may use (`crowdnotes models`), or set another key with `crowdnotes models "
        "key set`, or in CROWDNOTES_LLM_API_KEY.",
    ),
    404: ("The AI server {server} does not know the model or the address ({error}).", None),
    413: (
        "The AI server {server} finds the question too long ({error}).",
        "Use fewer sources, or raise the context length in the server's settings.",
    ),
    429: (
        "The AI server {server} takes no more calls now ({error}).",
        "Wait a little, or check your plan.",
    ),
}


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the answer, with the natural logarithms of the probabilities of the alternatives."""

    text: str
    options: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply. `finish` is the protocol's reason; token counts are None if the server gave none.

    `streams` is False if a stream was asked for and the server sent none.
    """

    text: str
    finish: str
    refusal: str = ""
    tokens: tuple[Token, ...] = field(default=())
    input_tokens: int | None = None
    output_tokens: int | None = None
    streams: bool = True


class QuestionTooLongError(ModelServerError):
    """The question does not fit into what the model reads. `said` is the complaint, scrubbed."""

    default_next_step = "Use fewer sources, or raise the context length in the server's settings."

    def __init__(self, message: str, said: str) -> None:
        super().__init__(message)
        self.said = said


OnPiece = Callable[[str, bool], None]
"""Receives each piece of an answer, and whether it is a thought; raising an exception stops the answer."""


class CallRejectedError(Exception):
    """The server rejects this form of call; another form may work. `complaint` is what it says, scrubbed.

    `is_sure` is False if only a field that it names can be the cause: the fault may be the server's own. `otherwise` is
    what to raise when no other form is left.
    """

    def __init__(self, complaint: Complaint, otherwise: ModelServerError, *, is_sure: bool) -> None:
        super().__init__(complaint.words)
        self.complaint = complaint
        self.otherwise = otherwise
        self.is_sure = is_sure


class _ErrorInsteadError(Exception):
    """The server sends an error with status 200 instead of an answer."""

    def __init__(self, body: object) -> None:
        super().__init__("no answer")
        self.body = body


class _AnswerBounds:
    """The limits of one answer, tries and pauses together. `check` raises when the work must stop."""

    def __init__(
        self, host: str, seconds: float, most_bytes: int, check: Callable[[], None], first_word: float | None = None
    ) -> None:
        self.first_word = first_word  # seconds to wait for it, if different from later pauses
        self._host = host
        self._seconds = seconds
        self._ends = time.monotonic() + seconds
        self._bytes_left = most_bytes
        self._check = check

    def left(self) -> float:
        """Return the seconds left, above 0. Raises ModelServerError if none are, and what `check` raises."""
        self._check()
        left = self._ends - time.monotonic()
        if left <= 0:
            raise ModelServerError(
                f"The AI server {self._host} took over {self._seconds:g} s.",
                "Use a smaller or faster model, or raise CROWDNOTES_LLM_TOTAL_SECONDS.",
            )
        return left

    def took(self, count: int) -> None:
        """Count received bytes. Raises ModelServerError if they are more than an answer can have."""
        self._bytes_left -= count
        if self._bytes_left < 0:
            raise ModelServerError(f"The AI server {self._host} sent too much, so we stopped it.")

    def pause(self, seconds: float) -> None:
        """Wait between two tries, as long as the limits allow."""
        until = time.monotonic() + seconds
        while (wait := min(until - time.monotonic(), self.left(), CANCEL_CHECK_SECONDS)) > 0:
            time.sleep(wait)


_BROKEN = (openai.OpenAIError, httpx2.HTTPError, _ErrorInsteadError, ValueError, RecursionError)

_current_bounds: ContextVar[_AnswerBounds] = ContextVar("crowdnotes_bounds")  # of this thread's call


class _BoundedStream(httpcore2.NetworkStream):
    """A connection that reads in slices, so that the limits hold however slowly the bytes arrive."""

    def __init__(self, inner: httpcore2.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        bounds = _current_bounds.get()
        patience = bounds.first_word or timeout
        until = math.inf if patience is None else time.monotonic() + patience
        while True:
            try:
                data = self._inner.read(max_bytes, min(CANCEL_CHECK_SECONDS, bounds.left()))
            except httpcore2.ReadTimeout:
                if time.monotonic() >= until:
                    raise
            else:
                bounds.took(len(data))
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
        """Do as the package does, but keep the pause within the limits."""
        headers = response.headers if response else None
        _current_bounds.get().pause(self._calculate_retry_timeout(max_retries - retries_taken, options, headers))

    def _should_retry(self, response: httpx2.Response) -> bool:
        """Do as the package does, but do not resend what is refused for its length or form."""
        return super()._should_retry(response) and not _is_about_call(response)

    def _process_response_data(self, *, data: object, cast_to: Any, response: httpx2.Response) -> Any:
        """Return the raw answer: the package checks nothing, and building its objects is slow."""
        if cast_to in (ChatCompletion, ChatCompletionChunk):
            return data
        return super()._process_response_data(data=data, cast_to=cast_to, response=response)


def _is_about_call(response: httpx2.Response) -> bool:
    response.read()
    try:
        complaint = read_complaint(response.json())
    except (ValueError, RecursionError):
        complaint = Complaint(response.text[:_MAX_ERROR_CHARACTERS])
    complaint = _scrub_complaint(complaint, ())
    return complaint.is_too_long or (
        response.status_code not in _NEVER_ABOUT_FORM | _OF_GATEWAYS and bool(complaint.fields)
    )


def _scrub_complaint(complaint: Complaint, keys: Sequence[str]) -> Complaint:
    words, names = (scrubbed(text, keys, _MAX_READ_COMPLAINT_CHARACTERS) for text in (complaint.words, complaint.names))
    return Complaint(words, names)


@cache
def _load_ssl_context(*, trust_env: bool) -> ssl.SSLContext:
    """Load it once: this takes longer than everything else in making a client."""
    return httpx2.create_ssl_context(trust_env=trust_env)


class ModelServer:
    """A server by base URL and key. Safe between threads."""

    def __init__(self, base_url: str, key: str | None, settings: LlmSettings) -> None:
        self.base_url = base_url
        self._host = httpx2.URL(base_url).host
        self._keys = (key,) if key else ()
        self._settings = settings
        trust_env = not is_this_machine(base_url)  # no proxy for this machine
        http = openai.DefaultHttpxClient(
            event_hooks={"response": [partial(_refuse_redirect, self._keys), _read_what_is_no_stream]},
            trust_env=trust_env,
            verify=_load_ssl_context(trust_env=trust_env),
        )
        # No public option keeps the proxies of the environment and also wraps the connections.
        for transport in filter(None, (http._transport, *http._mounts.values())):
            pool: Any = transport._pool  # type: ignore[attr-defined]
            pool._network_backend = _BoundedBackend(pool._network_backend)
        self._client = _BoundedClient(
            base_url=base_url,
            api_key=key or "none",  # local servers need none; the package insists on one
            timeout=httpx2.Timeout(settings.timeout_seconds, connect=settings.connect_seconds),
            max_retries=settings.max_retries,
            default_headers={"Accept-Encoding": "identity"},  # compressed data could expand to any size
            http_client=http,
        )
        weakref.finalize(self, self._client.close)  # connections end with the engine, not with the process

    def models(self) -> list[str]:
        """Return the ids of the models it offers, sorted. Raises ModelServerError."""
        with self._bounded(0, lambda: None):
            try:
                # An id that is no text raises here: the package checks nothing.
                return sorted(str.strip(model.id) for model in self._client.models.list())
            except (*_BROKEN, AttributeError, TypeError) as error:
                raise self._describe_error(error) from None  # the last two mean that another program answered

    def ask(
        self,
        model: str,
        messages: Sequence[Message],
        options: Mapping[str, Any],
        max_tokens: int,
        on_piece: OnPiece = lambda _, __: None,
        check: Callable[[], None] = lambda: None,
    ) -> Reply:
        """Return one answer of at most `max_tokens` tokens; `on_piece` gets each piece if `options` ask for a stream.

        Raises ModelServerError, QuestionTooLongError, CallRejectedError if the server rejects the form of the call, and
        what `check` raises, which runs several times a second. A stream that breaks is asked for once more in one
        piece.
        """
        arguments: dict[str, Any] = {"model": model, "messages": list(messages), **options}
        with self._bounded(max_tokens, check, self._settings.first_word_seconds) as bounds:
            try:
                streams = True
                if arguments.pop("stream", False):
                    streamed, streams = self._read_stream(arguments, on_piece)
                    if streamed is not None:
                        return replace(streamed, streams=streams)
                arguments.pop("stream_options", None)
                bounds.first_word = None
                # An answer in one piece gives no sign of life before its end.
                patience = httpx2.Timeout(self._settings.total_seconds, connect=self._settings.connect_seconds)
                whole = self._read_whole(self._client.chat.completions.create(**arguments, timeout=patience))
                return replace(whole, streams=streams)
            except _BROKEN as error:
                raise self._choose_error(error, model) from None

    def _choose_error(self, error: Exception, model: str) -> Exception:
        """Return what to raise: the complaint shows, whatever its status, whether fewer words or another form help."""
        status, complaint = self._read_error(error)
        if status and status != 401 and (complaint.is_too_long or status == 413):
            sentence = f"The question is too long for the AI {model} ({scrubbed(complaint.words)})."
            return QuestionTooLongError(sentence, complaint.words)
        if status is None or status in _NEVER_ABOUT_FORM:
            return self._describe_error(error)
        is_sure = status in (400, 422) or complaint.is_about_form
        if status in _OF_GATEWAYS and not is_sure:
            return self._describe_error(error)
        return CallRejectedError(complaint, self._describe_error(error), is_sure=is_sure)

    def _read_error(self, error: Exception) -> tuple[int | None, Complaint]:
        """Return the status, also one in the body (None if nothing was said), and the complaint."""
        body = getattr(error, "body", None)
        status = getattr(error, "status_code", None)
        if status is None and body is not None:
            code = body.get("code") if isinstance(body, Mapping) else None
            status = code if isinstance(code, int) and 400 <= code < 600 else 200
        return status, _scrub_complaint(read_complaint(body if body is not None else str(error)), self._keys)

    @contextmanager
    def _bounded(
        self, tokens: int, check: Callable[[], None], first_word: float | None = None
    ) -> Iterator[_AnswerBounds]:
        most = _MAX_OTHER_BYTES + tokens * _MAX_BYTES_PER_TOKEN
        bounds = _AnswerBounds(self._host, self._settings.total_seconds, most, check, first_word)
        token = _current_bounds.set(bounds)
        try:
            yield bounds
        finally:
            _current_bounds.reset(token)

    def _read_stream(self, arguments: dict[str, Any], on_piece: OnPiece) -> tuple[Reply | None, bool]:
        """Return the whole reply, None if the stream broke; and whether anything arrived as a stream."""
        whole = _Pieces()
        begun = False
        try:
            with self._client.chat.completions.create(**arguments, stream=True) as stream:
                chunk: Any
                for chunk in stream:
                    _refuse_error(chunk)
                    begun, _current_bounds.get().first_word = True, None
                    whole.add(chunk, "delta", on_piece)
                if not begun and stream.response.is_closed and _is_json(stream.response):
                    return self._read_whole(stream.response.json()), False
        except (openai.APIStatusError, openai.APITimeoutError, httpx2.TimeoutException):
            raise
        except (openai.APIError, httpx2.HTTPError, ValueError, RecursionError, _ErrorInsteadError) as error:
            if not begun or (getattr(error, "body", None) is not None and not whole.said):
                raise
            return None, True
        if whole.finish in ("", "error"):
            return None, begun
        return whole.reply(), True

    def _read_whole(self, completion: Any) -> Reply:
        _refuse_error(completion)
        whole = _Pieces()
        if not isinstance(completion, Mapping) or not whole.add(completion, "message", lambda _, __: None):
            raise _ErrorInsteadError(completion)
        if whole.finish == "error":
            raise ModelServerError(f"The AI server {self._host} stopped in the middle of its answer.")
        return whole.reply()

    def _describe_error(self, error: Exception) -> ModelServerError:
        where = self._host
        status, complaint = self._read_error(error)
        reason = scrubbed(complaint.words) or "it says no more"
        if status is not None:
            words, next_step = _MESSAGE_BY_STATUS.get(
                status, ("The AI server {server} failed with status {status} ({error}).", "")
            )
            if status == 403 and _ABOUT_KEY.search(reason):
                words, next_step = _KEY_REFUSED
            elif status in (400, 422):
                words = "The server rejects the call ({error})."
            elif status == 200:
                words = "The AI server {server} gave no answer ({error})."
            return ModelServerError(fill(words, server=where, error=reason, status=status), next_step or "")
        if isinstance(error, openai.APITimeoutError | httpx2.TimeoutException):
            return ModelServerError(f"The AI server {where} did not answer in time.")
        if isinstance(error, openai.APIConnectionError | httpx2.TransportError):
            return ModelServerError(f"We cannot reach the AI server {where}, or it stopped.")
        return ModelServerError(f"We cannot read the answer of the AI server {where} ({reason}).")


class _Pieces:
    """Collects the pieces of one answer, or all of it at once; ignores what is no such thing."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.finish = ""
        self._thought: list[str] = []
        self._called: list[str] = []  # arguments of a tool: gateways ask some models for JSON this way
        self._refusal: list[str] = []
        self._tokens: list[Token] = []
        self._usage: Mapping[str, Any] = {}

    def add(self, piece: Any, place: str, on_piece: OnPiece) -> bool:
        """Add the message at `place` ("delta" or "message"), and return whether there is one."""
        piece = _mapping(piece)
        self._usage = _mapping(piece.get("usage")) or self._usage
        found = False
        for choice in map(_mapping, _list(piece.get("choices"))):
            self.finish = _FINISH.get(finish := str(choice.get("finish_reason") or "").lower(), finish) or self.finish
            self._tokens += _read_tokens(_mapping(choice.get("logprobs")).get("content"))
            message = choice.get(place)
            found = found or isinstance(message, Mapping)
            message = _mapping(message)
            said, thought, refusal = _read_content(message.get("content"))
            # vLLM, llama.cpp and DeepSeek use the first name for what a model thinks, others the second.
            thought += _text(message.get("reasoning_content")) or _text(message.get("reasoning"))
            self._refusal += [refusal, _text(message.get("refusal"))]
            calls = [_mapping(call).get("function") for call in _list(message.get("tool_calls"))]
            self._called += [_text(_mapping(call).get("arguments")) for call in (*calls, message.get("function_call"))]
            for text, kept, is_thought in ((thought, self._thought, True), (said, self.said, False)):
                if text:
                    kept.append(text)
                    on_piece(text, is_thought)
        return found

    def reply(self) -> Reply:
        """Return the answer. If it has no words, use the arguments of a tool, or a thought that is JSON alone."""
        said, called, thought = "".join(self.said), "".join(self._called), "".join(self._thought).strip()
        # Some servers send the answer as a thought. A thought with words around its JSON is unfinished.
        answers = self.finish == "stop" and thought.startswith(("{", "```")) and thought.endswith(("}", "```"))
        text = said if said.strip() else called or (thought if answers else "")
        refusal = "".join(self._refusal)
        return Reply(text, self.finish, refusal, tuple(self._tokens), *_read_token_counts(self._usage))


# The names of Mistral, Anthropic and Google, and of a tool that was called with the answer.
_FINISH = {
    **dict.fromkeys(("max_tokens", "model_length"), "length"),
    **dict.fromkeys(("tool_calls", "function_call", "end_turn", "eos"), "stop"),
    **dict.fromkeys(("safety", "refusal", "prohibited_content"), "content_filter"),
}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _read_content(content: Any) -> tuple[str, str, str]:
    """Return words, thoughts and refusal of a message: its content is a text, a list of parts, or an object."""
    if isinstance(content, str):
        return content, "", ""
    if isinstance(content, Mapping):
        kind = content.get("type")
        if kind == "thinking":
            return "", "".join(_read_content(content.get("thinking"))), ""
        if kind == "refusal":
            return "", "", _text(content.get("refusal"))
        if "text" in content:
            text = content["text"]
            return _text(text) or _text(_mapping(text).get("value")), "", ""
        return ("" if kind is not None else json.dumps(content)), "", ""  # a gateway parsed the JSON already
    parts = [_read_content(part) for part in _list(content)]
    words, thoughts, refusals = ("".join(part[at] for part in parts) for at in range(3))
    return words, thoughts, refusals


def _refuse_error(data: Any) -> None:
    """Raise _ErrorInsteadError if there is an error instead of an answer."""
    data = data[0] if isinstance(data, list) and data else data
    body = _mapping(data)
    if body.get("error"):
        raise _ErrorInsteadError(body["error"])
    if not isinstance(data, Mapping) or (not body.get("choices") and set(body) & {"message", "detail", "errors"}):
        raise _ErrorInsteadError(data)


def _is_json(response: httpx2.Response) -> bool:
    return "json" in response.headers.get("content-type", "").lower()


def _read_what_is_no_stream(response: httpx2.Response) -> None:
    """Read an answer or error that arrives in one piece although a stream was asked for."""
    if _is_json(response):
        response.read()


def _refuse_redirect(keys: Sequence[str], response: httpx2.Response) -> None:
    """Refuse redirects: they would send the post and its text to a server that nobody chose."""
    host = response.url.host
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise ModelServerError(f"The AI server {host} packed its answer against our request.")
    if not response.has_redirect_location:
        return
    try:
        target = response.url.join(response.headers["location"])
    except (httpx2.InvalidURL, ValueError):
        raise ModelServerError(f"The AI server {host} redirects to an invalid address.") from None
    if (target.scheme, target.netloc) != (response.url.scheme, response.url.netloc):
        where = scrubbed(f"{target.scheme}://{target.netloc.decode('ascii', 'replace')}", keys)
        raise ModelServerError(
            f"The AI server {host} redirects to {where}. We do not follow it.",
            "If you trust that address, set it as CROWDNOTES_LLM_BASE_URL.",
        )


def _read_token_counts(usage: Mapping[str, Any]) -> tuple[int | None, int | None]:
    read, wrote = usage.get("prompt_tokens"), usage.get("completion_tokens")
    return (read, wrote) if isinstance(read, int) and isinstance(wrote, int) and min(read, wrote) >= 0 else (None, None)


def _read_tokens(content: Any) -> tuple[Token, ...]:
    out = []
    for item in map(_mapping, _list(content)):
        options = [item, *map(_mapping, _list(item.get("top_logprobs")))]
        known = [(str(option.get("token")), option.get("logprob")) for option in options]
        kept = {text: float(p) for text, p in known if isinstance(p, int | float) and abs(p) < _MAX_LOGARITHM}
        out.append(Token(str(item.get("token")), tuple(kept.items())))
    return tuple(out)
