"""Asks a model one question, from the cache or within the budget, and reports its answer as it arrives.

A call leaves out what the model's server cannot do (`capabilities`). An answer that repeats itself endlessly is cut
off, and an unusable one is asked for once more.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, cast

from pydantic_core import from_json

from crowdnotes.domain import Usage
from crowdnotes.engines.llm.api_keys import key_for
from crowdnotes.engines.llm.capabilities import Abilities, KnownAbilities, Shape
from crowdnotes.engines.llm.parsing import A, sanitized, without_thoughts, yes_probability
from crowdnotes.engines.llm.recorded import RecordedAnswers
from crowdnotes.engines.llm.request import Question, Useless, data_blocks
from crowdnotes.engines.llm.server import (
    CANCEL_CHECK_SECONDS,
    CallRejectedError,
    Message,
    ModelServer,
    OnPiece,
    QuestionTooLongError,
    Reply,
)
from crowdnotes.engines.metering import Budget, Meter, current_meter, new_boundary, price, run_parallel
from crowdnotes.engines.prompts import Prompt
from crowdnotes.errors import AnswerCutError, AnswerEmptyError, AnswerUnreadableError, ModelRefusedError
from crowdnotes.settings_sections import LlmSettings
from crowdnotes.storage.disk_cache import DiskCache

_PROGRESS_STEP_CHARACTERS = 24  # that must be new before the words are read and reported again
_MAX_PROGRESS_CHARACTERS = 50_000  # of an unfinished answer; it is read again with each piece
_MAX_SHOWN_CHARACTERS = 600
_REPETITION_WINDOW = 1_600  # characters searched for a repeated piece
_MIN_REPETITIONS = 8  # one after the other; a list does not repeat an entry so often
_WAITING_NOTICE_SECONDS = 2  # without an answer, before a notice says so


class AnswerProgress:
    """Reports one answer while it arrives; `check` runs with each piece and several times a second."""

    def __init__(self, report: Callable[[str], None], check: Callable[[], None] = lambda: None) -> None:
        self.said = ""
        self.thought = ""
        self._report = report
        self._check = check
        self._begun = time.monotonic()
        self._reported_length = 0
        self._is_readable = False
        self._reported_seconds = 0
        self._checked_length = 0

    def piece(self, text: str, is_thought: bool) -> None:
        """Add the next piece. Raises AnswerUnreadableError when the model repeats itself endlessly."""
        if is_thought:
            self.thought += text
        else:
            self.said += text
        length = len(self.said) + len(self.thought)
        if length - self._checked_length >= _REPETITION_WINDOW // 4:
            self._checked_length = length
            refuse_repetition(self.thought if is_thought else self.said)
        if (
            len(self.said) - self._reported_length >= _PROGRESS_STEP_CHARACTERS
            and len(self.said) <= _MAX_PROGRESS_CHARACTERS
        ):
            self._reported_length = len(self.said)
            if words := readable(self.said):
                self._is_readable = True
                self._report(words)
        self._report_waiting()

    def check(self) -> None:
        """Report how long the model has been thinking or silent. Raises what the case's own check raises."""
        self._check()
        self._report_waiting()

    def _report_waiting(self) -> None:
        seconds = int(time.monotonic() - self._begun)
        if self._is_readable or seconds < _WAITING_NOTICE_SECONDS or seconds == self._reported_seconds:
            return
        self._reported_seconds = seconds
        self._report(
            f"thinking… {seconds} s" if self.thought or self.said.strip() else f"waiting for the AI… {seconds} s"
        )


def refuse_repetition(words: str) -> None:
    """Raise AnswerUnreadableError if the words end in the same piece again and again."""
    tail = words[-_REPETITION_WINDOW:]
    for length in range(1, _REPETITION_WINDOW // _MIN_REPETITIONS + 1) if len(tail) == _REPETITION_WINDOW else ():
        if tail[length:] == tail[:-length]:
            raise AnswerUnreadableError("The model said the same again and again, and was cut off.")


def readable(words: str) -> str:
    """Return what a person can read of an unfinished answer: its last string of several words, or ""."""
    said = without_thoughts(words)
    begin = said.find("{")
    if begin < 0:
        return ""
    try:
        part = from_json(said[begin:], allow_partial="trailing-strings")
    except ValueError:
        return ""
    return sanitized(
        next((text for text in _collect_strings(part) if " " in text.strip()), "")[-_MAX_SHOWN_CHARACTERS:],
        _MAX_SHOWN_CHARACTERS,
    )


def _collect_strings(part: Any) -> list[str]:
    """Return all strings in a value, the last first."""
    if isinstance(part, str):
        return [part]
    inside = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    return [text for item in reversed(list(inside)) for text in _collect_strings(item)]


_BYTES_PER_ANSWER = 2_000  # on average with its row, to turn the size limit into rows
_MAX_CACHED_BYTES = 64_000


class KeptAnswers(Protocol):
    """Stores answers by a key of all that shapes them. Safe between threads."""

    def get(self, key: bytes) -> tuple[str, float | None] | None:
        """Return the model's words, and the probability of their verdict if it is known."""
        ...

    def put(self, key: bytes, words: str, probability: float | None, prompt: Prompt) -> None:
        """Keep a usable answer to this prompt."""
        ...


class Server(Protocol):
    """Where a model is asked; see `ModelServer.ask`."""

    base_url: str

    def ask(
        self,
        model: str,
        messages: Sequence[Message],
        options: Mapping[str, Any],
        max_tokens: int,
        on_piece: OnPiece = ...,
        check: Callable[[], None] = ...,
    ) -> Reply:
        """Return one answer of at most `max_tokens` tokens. Raises ModelServerError."""
        ...


class AnswerCache:
    """Answers kept on disk by the sha256 of all that shapes them. Safe between threads; works without its file."""

    def __init__(self, path: Path, megabytes: int) -> None:
        rows = megabytes * 1_000_000 // _BYTES_PER_ANSWER
        self._store = DiskCache(path, rows, "answer cache") if rows else None

    def get(self, key: bytes) -> tuple[str, float | None] | None:
        """See `KeptAnswers`."""
        raw = self._store.get([key]).get(key) if self._store is not None else None
        if raw is None:
            return None
        words, probability = json.loads(raw)
        return words, probability

    def put(self, key: bytes, words: str, probability: float | None, _: Prompt) -> None:
        """Keep an answer of at most 64 kB, see `KeptAnswers`."""
        raw = json.dumps([words, probability]).encode()
        if self._store is not None and len(raw) <= _MAX_CACHED_BYTES:
            self._store.put({key: raw})


T = TypeVar("T")


class InFlightCalls:
    """Questions in progress, by key: one that two threads ask at once is sent once. Safe between threads.

    Helpfulness and principles ask the same.
    """

    def __init__(self) -> None:
        self._under_way: dict[bytes, Future[Any]] = {}
        self._lock = threading.Lock()

    def ask(self, key: bytes, ask: Callable[[], T], check: Callable[[], None]) -> tuple[T, bool]:
        """Return the result of `ask`, and whether it is another thread's answer to the same question.

        If the other thread failed, the question is asked again: that thread may have been cancelled, or its budget
        spent. `check` raises when the waiting thread must stop.
        """
        mine: Future[T] = Future()
        with self._lock:
            others = self._under_way.setdefault(key, mine)
        if others is not mine:
            while not wait([others], CANCEL_CHECK_SECONDS).done:
                check()
            return self.ask(key, ask, check) if others.exception() else (cast("T", others.result()), True)
        try:
            value = ask()
        except BaseException as error:
            self._forget(key)
            mine.set_exception(error)
            raise
        self._forget(key)
        mine.set_result(value)
        return value, False

    def _forget(self, key: bytes) -> None:
        with self._lock:
            del self._under_way[key]


_BYTES_PER_TOKEN = 3  # fewer than any tokenizer makes of ordinary text, so that the estimate is not too low
_IMAGE_TOKENS = 2000
# A server's complaint that a question is too long may count the answer in, or be about the answer alone.
_ANSWER_LIMIT_COMPLAINT = re.compile(r"max_(?:completion_|new_)?tokens|completion|output tokens", re.IGNORECASE)
_NUMBER = re.compile(r"\d{2,9}")
_MIN_ANSWER_TOKENS = 500  # no answer needs more, unless the model thinks
_SECOND_TRY_TEMPERATURE = 0.3  # the same question at 0 would give the same useless answer


@dataclass(frozen=True, slots=True)
class Answered(Generic[A]):
    """The answer, and how likely its "yes" was where that is known."""

    value: A
    probability: float | None = None


class ModelClient:
    """Asks one server and model. Safe between threads; counts on the meter of the current case."""

    def __init__(
        self,
        server: Server,
        model: str,
        settings: LlmSettings,
        abilities: KnownAbilities,
        cache: KeptAnswers,
        meter: Meter,
        once: InFlightCalls,
    ) -> None:
        self.model = model
        self._server = server
        self._settings = settings
        self._abilities = abilities
        self._cache = cache
        self._meter = meter
        self._once = once

    def ask(self, question: Question[A]) -> Answered[A]:
        """Return the answer. After an unusable one the model learns what was wrong with it, and is asked once more.

        A question that another thread is asking already is not sent: its answer serves both. The meter receives the
        words while they arrive. Raises BudgetError before a call that could exceed the budget, ModelServerError, or
        ModelAnswerError.
        """
        key = self._key(question)
        meter = current_meter() or self._meter
        answered, is_anothers = self._once.ask(key, lambda: self._get_kept_or_ask(key, question), meter.check)
        if is_anothers:
            self._count_usage(question.step, Usage(cached=1))
        return answered

    def _get_kept_or_ask(self, key: bytes, question: Question[A]) -> Answered[A]:
        kept = self._cache.get(key)
        if kept is None:
            return self._ask_and_keep(key, question)
        words, probability = kept
        value = question.read(words)
        self._count_usage(question.step, Usage(cached=1))
        return Answered(value, probability)

    def _ask_and_keep(self, key: bytes, question: Question[A]) -> Answered[A]:
        said, sent = "", frozenset[str]()
        where = (self._server.base_url, self.model)
        try:
            reply, sent = self._ask_within_limit(question)
            said = reply.text
            if reply.refusal or reply.finish == "content_filter":
                raise ModelRefusedError("The AI declined to answer.")
            value = question.read(said)
        except (AnswerEmptyError, AnswerUnreadableError) as error:
            if question.useless is not None:
                raise
            warmer = max(question.temperature, _SECOND_TRY_TEMPERATURE)
            again = replace(question, temperature=warmer, useless=Useless(said, error.message))
            if not isinstance(error, AnswerEmptyError):
                return self._ask_and_keep(key, again)
            # Some models answer nothing when asked for a schema, others when the question is too long for them.
            again = replace(again, schema=None, blocks=question.shorter or question.blocks, shorter=())
            answered = self._ask_and_keep(key, again)
            if "response_format" in sent - self._abilities.proven(*where):
                self._abilities.learn(*where, Abilities(shape=Shape.WORDS))
            return answered
        self._abilities.prove(*where, sent)
        found = yes_probability(said, reply.tokens, question.verdict) if question.verdict else None
        self._cache.put(key, said, found, question.prompt)
        return Answered(value, found)

    def _ask_within_limit(self, question: Question[A]) -> tuple[Reply, frozenset[str]]:
        """Return a whole reply, and the fields of its call.

        A reply that was cut is asked for again with twice the tokens, a question too long in fewer words. Raises
        AnswerCutError at the highest limit.
        """
        most = self._settings.max_answer_tokens
        known = self._abilities.get(self._server.base_url, self.model)
        max_tokens = min(most, max(known.answer_tokens, self._settings.answer_tokens))
        cut_at, was_short = 0, False
        while True:
            try:
                reply, sent = self._call_in_accepted_form(question, max_tokens)
            except QuestionTooLongError as error:
                if cut_at:
                    sentence = f"The AI's answer ended at {cut_at} tokens, its server's limit."
                    raise AnswerCutError(sentence, error.next_step) from None
                smaller = _smaller_limit(error.said, max_tokens)
                if question.shorter and not smaller.is_stated:
                    question, was_short = replace(question, blocks=question.shorter, shorter=()), True
                elif was_short or smaller.tokens >= max_tokens:
                    raise
                max_tokens = smaller.tokens
                continue
            refuse_repetition(reply.text)
            if reply.finish != "length":
                if cut_at:
                    self._abilities.learn(self._server.base_url, self.model, replace(known, answer_tokens=max_tokens))
                return reply, sent
            if max_tokens >= most:
                raise AnswerCutError(f"The AI's answer was cut at {max_tokens} tokens.")
            cut_at, max_tokens = max_tokens, min(most, 2 * max_tokens)

    def _call_in_accepted_form(self, question: Question[A], max_tokens: int) -> tuple[Reply, frozenset[str]]:
        """Return the reply to the first form of call that the server accepts, and the fields of that call.

        A refusal that names no field is retried once: in fewer words, and without fields that this server never
        accepted before.
        """
        meter = current_meter()
        boundary = meter.boundary if meter else new_boundary()
        where = (self._server.base_url, self.model)
        abilities = self._abilities.get(*where)
        has_guessed = False
        while True:
            messages = self._build_messages(question, boundary, system_role=abilities.system_role)
            options = _build_call_options(self._settings, question, abilities, max_tokens)
            # The fields of the call, under the names of `Complaint.fields`.
            sent = frozenset(options) | ({"system_role"} if abilities.system_role else set())
            try:
                reply = self._call_server(question, messages, options, max_tokens)
            except CallRejectedError as error:
                fewer = abilities.without_named(error.complaint, sent)
                if fewer is None and error.is_sure and not has_guessed:
                    has_guessed = True
                    unproven = abilities.without((sent & _OPTIONAL_FIELDS) - self._abilities.proven(*where))
                    if question.shorter or unproven != abilities:
                        fewer = unproven
                        question = replace(question, blocks=question.shorter or question.blocks, shorter=())
                if fewer is None:
                    raise error.otherwise from None
                abilities = fewer
                continue
            learned = replace(abilities, streams=abilities.streams and reply.streams)
            self._abilities.learn(*where, learned)
            return reply, sent

    def _call_server(
        self, question: Question[A], messages: Sequence[Message], options: Mapping[str, Any], max_tokens: int
    ) -> Reply:
        """Make one call: reserve what it may use before, and count what it used after, even if it fails."""
        reads = len(json.dumps(messages, ensure_ascii=False).encode("utf-8", "replace")) // _BYTES_PER_TOKEN
        if question.image:
            reads += _IMAGE_TOKENS - len(question.image) // _BYTES_PER_TOKEN
        meter = current_meter() or self._meter
        reserved = meter.reserve(reads + max_tokens, self.price(reads, max_tokens))
        begun = time.perf_counter()
        # A call that breaks off may have been billed.
        usage = Usage(calls=1, unpriced=int(reserved.dollars is None), estimated=True)
        with meter.reporter(question.step) as report:
            progress = AnswerProgress(report, meter.check)
            try:
                reply = self._server.ask(self.model, messages, options, max_tokens, progress.piece, progress.check)
                usage = self._measure_usage(reply, reads)
            except CallRejectedError as error:
                if error.is_sure:
                    usage = Usage()
                raise
            except QuestionTooLongError:
                usage = Usage()
                raise
            except AnswerUnreadableError:  # cut off here
                usage = self._measure_usage(Reply(progress.said + progress.thought, ""), reads)
                raise
            finally:
                ended = time.perf_counter()
                spent = usage.replace(seconds=ended - begun)
                meter.ran(begun, ended)
                meter.settle(reserved, question.step, spent)
        return reply

    def _measure_usage(self, reply: Reply, reads: int) -> Usage:
        known = reply.input_tokens is not None and reply.output_tokens is not None
        read = reply.input_tokens if known and reply.input_tokens is not None else reads
        wrote = reply.output_tokens if known and reply.output_tokens is not None else _estimate_tokens(reply.text)
        cost = self.price(read, wrote)
        return Usage(
            calls=1,
            input_tokens=read,
            output_tokens=wrote,
            dollars=cost or 0.0,
            unpriced=int(cost is None),
            estimated=not known,
        )

    def price(self, read: int, wrote: int) -> float | None:
        """Return US dollars for so many tokens; None if the price is unknown."""
        return price(self._settings, self._server.base_url, self.model, read, wrote)

    def _count_usage(self, step: str, usage: Usage) -> None:
        meter = current_meter() or self._meter
        meter.settle(meter.reserve(0, None), step, usage)

    def _build_messages(self, question: Question[A], boundary: str, *, system_role: bool = True) -> list[Message]:
        """Return the prompt, then the data; in one message for models without a system role."""
        prompt, last = question.prompt.filled(question.values)
        data = "\n\n".join(filter(None, (data_blocks(question.blocks, boundary), last)))
        text = data if system_role else f"{prompt}\n\n{data}"
        content: Any = text
        if question.image:
            content = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": question.image}}]
        user: Message = {"role": "user", "content": content}
        after = question.useless.turns(boundary) if question.useless else []
        return [{"role": "system", "content": prompt}, user, *after] if system_role else [user, *after]

    def _key(self, question: Question[A]) -> bytes:
        """Hash everything that shapes the answer, but not the boundary: it changes each time."""
        parts = [
            self._server.base_url,
            self.model,
            question.prompt.version,
            question.temperature,
            question.top_p,
            min(self._settings.answer_tokens, self._settings.max_answer_tokens),
            self._settings.effort.get(question.step),
            question.variant,
            question.schema,
            question.verdict is not None,
            self._build_messages(question, "boundary"),
        ]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode("utf-8", "replace")).digest()


def _build_call_options(
    settings: LlmSettings,
    question: Question[A],
    abilities: Abilities,
    max_tokens: int,
) -> dict[str, Any]:
    options: dict[str, Any] = {abilities.limit_name: max_tokens}
    effort = settings.effort.get(question.step)
    if effort is not None and abilities.effort:
        options["reasoning_effort"] = effort
    if abilities.temperature:
        options["temperature"] = question.temperature
    if question.top_p is not None and abilities.top_p:
        options["top_p"] = question.top_p
    if question.schema is not None and abilities.shape is Shape.SCHEMA:
        form = {"name": question.prompt.name, "strict": True, "schema": question.schema}
        options["response_format"] = {"type": "json_schema", "json_schema": form}
    elif question.schema is not None and abilities.shape is Shape.JSON:
        options["response_format"] = {"type": "json_object"}
    if question.verdict is not None and abilities.probabilities:
        options |= {"logprobs": True, "top_logprobs": 5}
    if abilities.streams:
        options["stream"] = True
        if abilities.usage_in_stream:
            options["stream_options"] = {"include_usage": True}
    return options


# An answer is possible without these.
_OPTIONAL_FIELDS = frozenset(
    ("response_format", "logprobs", "reasoning_effort", "stream", "stream_options", "system_role")
)


@dataclass(frozen=True, slots=True)
class _SmallerLimit:
    """A lower limit for the answer; `is_stated` if the server's numbers show that it suffices."""

    tokens: int
    is_stated: bool


def _smaller_limit(said: str, max_tokens: int) -> _SmallerLimit:
    """Return the limit to try after a server's complaint; unchanged unless the answer counts in it."""
    if not _ANSWER_LIMIT_COMPLAINT.search(said):
        return _SmallerLimit(max_tokens, is_stated=False)
    numbers = {int(number) for number in _NUMBER.findall(said)} - {max_tokens}
    # Some servers state the limit alone; others also the length of the question, and the sum of that and the answer.
    parts = [number for number in numbers if number - max_tokens not in numbers]
    states_limit = re.search(rf"\b{max_tokens}\b", said) is not None
    left = abs(parts[0] - parts[1]) if len(parts) == 2 and states_limit else parts[0] if len(parts) == 1 else 0
    if _MIN_ANSWER_TOKENS <= left < max_tokens:
        return _SmallerLimit(left, is_stated=True)
    return _SmallerLimit(min(max_tokens, max(_MIN_ANSWER_TOKENS, max_tokens // 2)), is_stated=False)


def _estimate_tokens(text: str) -> int:
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN)


_VOTE_TEMPERATURE = 0.7  # at 0 every vote would be the same


def judged(model_client: ModelClient, asked: Question[A], says_yes: Callable[[A], bool], votes: int) -> Answered[A]:
    """Return the judge's answer and the probability of its "yes".

    From token probabilities where the server gives them; else from `votes` answers to the same question, of which one
    of the majority is returned; else None. A vote that fails does not count.
    """
    first = model_client.ask(asked)
    if first.probability is not None or votes <= 1:
        return first
    again = [replace(asked, temperature=_VOTE_TEMPERATURE, variant=number) for number in range(1, votes)]
    results = run_parallel([partial(model_client.ask, other) for other in again], votes)
    answers = [first.value, *(result.value for result in results if isinstance(result, Answered))]
    for_yes = [answer for answer in answers if says_yes(answer)]
    for_no = [answer for answer in answers if not says_yes(answer)]
    majority = for_yes if len(for_yes) > len(for_no) else for_no
    return Answered(majority[0], len(for_yes) / len(answers))


_CACHE_FILE = "answers.sqlite"


class ModelClients:
    """Makes clients. Calls count on the meter of the current case, else on `meter`, with one budget for all together.

    With `recorded` answers no server is asked, and nothing is kept on this machine.
    """

    def __init__(self, settings: LlmSettings, data_dir: Path, recorded: RecordedAnswers | None = None) -> None:
        self.meter = Meter(Budget(settings.budget_dollars, settings.budget_tokens))
        self._settings = settings
        self._abilities = KnownAbilities()
        self._recorded = recorded
        self._cache: KeptAnswers = recorded or AnswerCache(data_dir / _CACHE_FILE, settings.cache_mb)
        self._once = InFlightCalls()
        self._servers: dict[str, Server] = {}

    def model_client(self, base_url: str, model: str) -> ModelClient:
        """Return the client for this model on this server."""
        if base_url not in self._servers:
            asked = self._recorded or ModelServer(base_url, key_for(self._settings, base_url), self._settings)
            self._servers[base_url] = asked
        server = self._servers[base_url]
        return ModelClient(server, model, self._settings, self._abilities, self._cache, self.meter, self._once)
