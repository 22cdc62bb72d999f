"""One question to a model: from the cache or within the budget, in a form the server can do, checked, counted."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from crowdnotes.domain import Usage
from crowdnotes.engines.llm.abilities import Abilities, KnownAbilities, Shape
from crowdnotes.engines.llm.answer_cache import AnswerCache
from crowdnotes.engines.llm.answers import Answer
from crowdnotes.engines.llm.marked import Block, marked, new_boundary
from crowdnotes.engines.llm.prices import price
from crowdnotes.engines.llm.probabilities import yes_probability
from crowdnotes.engines.llm.server import CallRejectedError, Message, ModelServer, Reply
from crowdnotes.engines.metering import Meter, current_meter
from crowdnotes.engines.prompts import Prompt
from crowdnotes.errors import (
    AnswerCutError,
    AnswerEmptyError,
    AnswerUnreadableError,
    ModelRefusedError,
)
from crowdnotes.settings import LlmSettings

A = TypeVar("A", bound=Answer)
_BYTES_A_TOKEN = 3  # fewer than any tokenizer makes of ordinary text, so that the estimate is not too low
_IMAGE_TOKENS = 2000
_SECOND_TRY_TEMPERATURE = 0.3  # the same question at 0 would give the same useless answer


@dataclass(frozen=True, slots=True)
class Question(Generic[A]):
    """What to ask: the prompt with its values as system message, the data as marked blocks.

    `read` turns the model's words into the answer or raises ModelAnswerError; `schema` is the JSON schema
    sent where the server takes one; `verdict` finds the place right before a yes or no whose probability is
    wanted. `variant` sets apart questions that are the same but for chance.
    """

    step: str
    prompt: Prompt
    blocks: Sequence[Block]
    read: Callable[[str], A]
    schema: Mapping[str, Any] | None = None
    values: Mapping[str, object] = field(default_factory=dict)
    verdict: re.Pattern[str] | None = None
    temperature: float = 0.0
    variant: int = 0
    image: str = ""


@dataclass(frozen=True, slots=True)
class Answered(Generic[A]):
    """The answer, and how likely its "yes" was where that is known."""

    value: A
    probability: float | None = None


class Asker:
    """Asks one server and model. Safe between threads; counts on the meter of the case at work."""

    def __init__(
        self,
        server: ModelServer,
        model: str,
        settings: LlmSettings,
        abilities: KnownAbilities,
        cache: AnswerCache,
        meter: Meter,
    ) -> None:
        self.model = model
        self._server = server
        self._settings = settings
        self._abilities = abilities
        self._cache = cache
        self._meter = meter

    def ask(self, question: Question[A], on_text: Callable[[str], None] | None = None) -> Answered[A]:
        """The answer. An unreadable or empty one is asked for once more.

        Raises BudgetError before a call that could pass the budget, ModelServerError, or ModelAnswerError.
        """
        key = self._key(question)
        kept = self._cache.get(key)
        if kept is not None:
            value = question.read(kept.words)
            self._count(question.step, Usage(cached=1))
            return Answered(value, kept.probability)
        try:
            return self._asked(key, question, on_text)
        except (AnswerEmptyError, AnswerUnreadableError):
            again = replace(question, temperature=max(question.temperature, _SECOND_TRY_TEMPERATURE))
            return self._asked(key, again, on_text)

    def _asked(self, key: bytes, question: Question[A], on_text: Callable[[str], None] | None) -> Answered[A]:
        reply = self._reply(question, on_text)
        if reply.refusal or reply.finish == "content_filter":
            raise ModelRefusedError("The model declined to answer.")
        if reply.finish == "length":
            raise AnswerCutError(f"The model's answer ended at {self._settings.max_answer_tokens} tokens, unfinished.")
        value = question.read(reply.text)
        found = yes_probability(reply.text, reply.tokens, question.verdict) if question.verdict else None
        self._cache.put(key, reply.text, found)
        return Answered(value, found)

    def _reply(self, question: Question[A], on_text: Callable[[str], None] | None) -> Reply:
        boundary = new_boundary()
        abilities = self._abilities.get(self._server.base_url, self.model)
        while True:
            messages = self._messages(question, boundary, system_role=abilities.system_role)
            try:
                reply = self._metered(question, messages, abilities, on_text)
            except CallRejectedError as error:
                fewer = abilities.without(error.said) if error.is_sure else abilities.without_named(error.said)
                if fewer is None:
                    raise error.otherwise from None
                abilities = fewer
                continue
            self._abilities.learn(self._server.base_url, self.model, abilities)
            return reply

    def _metered(
        self,
        question: Question[A],
        messages: Sequence[Message],
        abilities: Abilities,
        on_text: Callable[[str], None] | None,
    ) -> Reply:
        """One call, with what it may use set aside before and what it used counted after, whatever comes of it."""
        reads = len(json.dumps(messages, ensure_ascii=False).encode("utf-8", "replace")) // _BYTES_A_TOKEN
        if question.image:
            reads += _IMAGE_TOKENS - len(question.image) // _BYTES_A_TOKEN
        writes = self._settings.max_answer_tokens
        meter = current_meter() or self._meter
        held = meter.hold(reads + writes, self._price(reads, writes))
        options = _options(self._settings, question, abilities, on_text)
        begun = time.perf_counter()
        # A call that breaks off may have been billed; nobody says.
        usage = Usage(calls=1, unpriced=int(held.dollars is None), estimated=True)
        try:
            reply = self._server.ask(self.model, messages, options, on_text)
            usage = self._usage(reply, reads)
        except CallRejectedError as error:
            if error.is_sure:
                usage = Usage()
            raise
        finally:
            spent = usage.model_copy(update={"seconds": time.perf_counter() - begun})
            meter.settle(held, question.step, spent)
        return reply

    def _usage(self, reply: Reply, reads: int) -> Usage:
        known = reply.input_tokens is not None and reply.output_tokens is not None
        read = reply.input_tokens if known and reply.input_tokens is not None else reads
        wrote = reply.output_tokens if known and reply.output_tokens is not None else _tokens_of(reply.text)
        cost = self._price(read, wrote)
        return Usage(
            calls=1,
            input_tokens=read,
            output_tokens=wrote,
            dollars=cost or 0.0,
            unpriced=int(cost is None),
            estimated=not known,
        )

    def _price(self, read: int, wrote: int) -> float | None:
        return price(self._settings, self._server.base_url, self.model, read, wrote)

    def _count(self, step: str, usage: Usage) -> None:
        meter = current_meter() or self._meter
        meter.settle(meter.hold(0, None), step, usage)

    def _messages(self, question: Question[A], boundary: str, *, system_role: bool = True) -> list[Message]:
        """The prompt, then the data; in one message for models that know no system role."""
        prompt = question.prompt.filled(question.values)
        data = marked(question.blocks, boundary)
        text = data if system_role else f"{prompt}\n\n{data}"
        content: Any = text
        if question.image:
            content = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": question.image}}]
        user: Message = {"role": "user", "content": content}
        return [{"role": "system", "content": prompt}, user] if system_role else [user]

    def _key(self, question: Question[A]) -> bytes:
        """Of everything that shapes the answer. The boundary is left out: it is another each time."""
        parts = [
            self._server.base_url,
            self.model,
            question.prompt.version,
            question.temperature,
            self._settings.max_answer_tokens,
            question.variant,
            question.schema,
            question.verdict is not None,
            self._messages(question, "boundary"),
        ]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode("utf-8", "replace")).digest()


def _options(
    settings: LlmSettings,
    question: Question[A],
    abilities: Abilities,
    on_text: Callable[[str], None] | None,
) -> dict[str, Any]:
    options: dict[str, Any] = {abilities.limit_name: settings.max_answer_tokens}
    if abilities.temperature:
        options["temperature"] = question.temperature
    if question.schema is not None and abilities.shape is Shape.SCHEMA:
        form = {"name": question.prompt.name, "strict": True, "schema": question.schema}
        options["response_format"] = {"type": "json_schema", "json_schema": form}
    elif question.schema is not None and abilities.shape is Shape.JSON:
        options["response_format"] = {"type": "json_object"}
    if question.verdict is not None and abilities.probabilities:
        options |= {"logprobs": True, "top_logprobs": 5}
    if on_text is not None and abilities.usage_in_stream:
        options["stream_options"] = {"include_usage": True}
    return options


def _tokens_of(text: str) -> int:
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_A_TOKEN)
