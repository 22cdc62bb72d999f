"""One question to a model: from the cache or within the budget, in a form the server can do, checked, counted.

Text from outside goes as marked data: between lines that it cannot forge, without injected instructions and
invisible letters.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from crowdnotes.domain import Evidence, Post, Usage
from crowdnotes.embedding import VectorCache
from crowdnotes.engines.base import EngineStep
from crowdnotes.engines.llm.answers import schema_of
from crowdnotes.engines.llm.parsing import Answer, read_answer, spoken, verdict_place, yes_probability
from crowdnotes.engines.llm.server import (
    Abilities,
    CallRejectedError,
    KnownAbilities,
    Message,
    ModelServer,
    Reply,
    Shape,
)
from crowdnotes.engines.metering import Meter, current_meter, price, side_by_side
from crowdnotes.engines.prompt_injection import visible, without_injections
from crowdnotes.engines.prompts import Prompt, load_prompt
from crowdnotes.errors import (
    AnswerCutError,
    AnswerEmptyError,
    AnswerUnreadableError,
    ModelRefusedError,
)
from crowdnotes.settings import LlmSettings
from crowdnotes.text.markdown import host
from crowdnotes.text.publishers import publisher_name

_FENCE = re.compile(r"<{3,}|>{3,}")
_NOTHING = "(nothing)"


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of data. `label` is the program's own ("passage E1"); `text` may come from anywhere.

    Text that is `cleared` was put together by the program from pieces without injections.
    """

    label: str
    text: str
    cleared: bool = False


def new_boundary() -> str:
    """A word that no text can know beforehand: 64 random bits."""
    return secrets.token_hex(8)


def data_blocks(blocks: Sequence[Block], boundary: str) -> str:
    """The blocks, each between a line that opens and one that closes it, both with the boundary.

    What could be taken for such a line is broken inside the text, so a block ends only where the program
    ends it.
    """
    return "\n\n".join(
        f"<<<DATA {boundary} {block.label}>>>\n{_inside(block, boundary)}\n<<<END {boundary}>>>" for block in blocks
    )


def _inside(block: Block, boundary: str) -> str:
    text = visible(block.text if block.cleared else without_injections(block.text))
    text = _FENCE.sub(lambda match: " ".join(match.group()), text).replace(boundary, "")
    return re.sub(r"[ \t]{3,}", "  ", text).strip() or _NOTHING


_BYTES_AN_ANSWER = 2_000  # on average with its row; what the size bound counts with
_LONGEST_ANSWER = 64_000


@dataclass(frozen=True, slots=True)
class Kept:
    """A model's words, and the probability of their verdict where it was known."""

    words: str
    probability: float | None


class AnswerCache:
    """By the sha256 of all that shapes an answer. Safe between threads; a broken file costs only itself."""

    def __init__(self, path: Path, megabytes: int) -> None:
        rows = megabytes * 1_000_000 // _BYTES_AN_ANSWER
        self._store = VectorCache(path, rows, "answer cache") if rows else None

    def get(self, key: bytes) -> Kept | None:
        """The answer kept for this key."""
        if self._store is None:
            return None
        raw = self._store.get([key]).get(key)
        if raw is None:
            return None
        words, probability = json.loads(raw)
        return Kept(words, probability)

    def put(self, key: bytes, words: str, probability: float | None) -> None:
        """Keep an answer that was of use. One of more than 64 kB is not kept."""
        raw = json.dumps([words, probability]).encode()
        if self._store is not None and len(raw) <= _LONGEST_ANSWER:
            self._store.put({key: raw})


A = TypeVar("A", bound=Answer)
_BYTES_A_TOKEN = 3  # fewer than any tokenizer makes of ordinary text, so that the estimate is not too low
_IMAGE_TOKENS = 2000
_LONGEST_USELESS = 4_000  # characters of an answer that is shown to the model again
_SECOND_TRY_TEMPERATURE = 0.3  # the same question at 0 would give the same useless answer


@dataclass(frozen=True, slots=True)
class Question(Generic[A]):
    """What to ask: the prompt with its values as system message, the data as marked blocks.

    `read` turns the model's words into the answer or raises ModelAnswerError; `schema` is the JSON schema
    sent where the server takes one; `verdict` finds the place right before a yes or no whose probability is
    wanted. `variant` sets apart questions that are the same but for chance. `useless` is the answer that was given
    before, where the question is put again.
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
    useless: Useless | None = None


@dataclass(frozen=True, slots=True)
class Useless:
    """What the model answered before, and in plain words why that could not be used."""

    said: str
    fault: str

    def turns(self, boundary: str) -> list[Message]:
        """The model's answer and the word about it, to follow the question."""
        said = _FENCE.sub(" ", spoken(self.said)).replace(boundary, "")[:_LONGEST_USELESS] or _NOTHING
        fault = _FENCE.sub(" ", self.fault).replace(boundary, "")
        told = f"That could not be used: {fault} Answer the same question again, in the form asked for."
        return [{"role": "assistant", "content": said}, {"role": "user", "content": told}]


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
        """The answer. After one of no use the model is told what was wrong with it, and asked once more.

        Raises BudgetError before a call that could pass the budget, ModelServerError, or ModelAnswerError.
        """
        key = self._key(question)
        kept = self._cache.get(key)
        if kept is not None:
            value = question.read(kept.words)
            self._count(question.step, Usage(cached=1))
            return Answered(value, kept.probability)
        return self._asked(key, question, on_text)

    def _asked(self, key: bytes, question: Question[A], on_text: Callable[[str], None] | None) -> Answered[A]:
        reply = self._reply(question, on_text)
        if reply.refusal or reply.finish == "content_filter":
            raise ModelRefusedError("The model declined to answer.")
        if reply.finish == "length":
            raise AnswerCutError(f"The model's answer ended at {self._settings.max_answer_tokens} tokens, unfinished.")
        try:
            value = question.read(reply.text)
        except (AnswerEmptyError, AnswerUnreadableError) as error:
            if question.useless is not None:
                raise
            warmer = max(question.temperature, _SECOND_TRY_TEMPERATURE)
            again = replace(question, temperature=warmer, useless=Useless(reply.text, error.message))
            return self._asked(key, again, on_text)
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
        reserved = meter.reserve(reads + writes, self._price(reads, writes))
        options = _options(self._settings, question, abilities, on_text)
        begun = time.perf_counter()
        # A call that breaks off may have been billed; nobody says.
        usage = Usage(calls=1, unpriced=int(reserved.dollars is None), estimated=True)
        try:
            reply = self._server.ask(self.model, messages, options, on_text, meter.check)
            usage = self._usage(reply, reads)
        except CallRejectedError as error:
            if error.is_sure:
                usage = Usage()
            raise
        finally:
            spent = usage.model_copy(update={"seconds": time.perf_counter() - begun})
            meter.settle(reserved, question.step, spent)
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
        meter.settle(meter.reserve(0, None), step, usage)

    def _messages(self, question: Question[A], boundary: str, *, system_role: bool = True) -> list[Message]:
        """The prompt, then the data; in one message for models that know no system role."""
        prompt = question.prompt.filled(question.values)
        data = data_blocks(question.blocks, boundary)
        text = data if system_role else f"{prompt}\n\n{data}"
        content: Any = text
        if question.image:
            content = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": question.image}}]
        user: Message = {"role": "user", "content": content}
        after = question.useless.turns(boundary) if question.useless else []
        return [{"role": "system", "content": prompt}, user, *after] if system_role else [user, *after]

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


_VOTE_TEMPERATURE = 0.7  # at 0 every vote would be the same


def question(
    step: EngineStep,
    prompt: str,
    form: type[A],
    blocks: Sequence[Block],
    *,
    values: Mapping[str, object] | None = None,
    check: Callable[[A], None] | None = None,
    verdict: str = "",
    temperature: float = 0.0,
    variant: int = 0,
    image: str = "",
) -> Question[A]:
    """A question whose answer must fit `form` and pass `check` (which raises AnswerUnreadableError).

    `verdict` is the form's yes-or-no field whose probability is wanted.
    """
    data = [block.text for block in blocks]
    asked = load_prompt(prompt)

    def read(words: str) -> A:
        answer = read_answer(words, form, data, asked.words)
        if check is not None:
            check(answer)
        return answer

    return Question(
        step=step.value,
        prompt=asked,
        blocks=blocks,
        read=read,
        schema=schema_of(form),
        values=values or {},
        verdict=verdict_place(verdict) if verdict else None,
        temperature=temperature,
        variant=variant,
        image=image,
    )


def judged(asker: Asker, asked: Question[A], says_yes: Callable[[A], bool], votes: int) -> Answered[A]:
    """The judge's answer and the probability of its "yes".

    From the tokens where the server tells; else from `votes` answers to the same question, of which one
    of the majority is returned; else None. A vote that fails is not counted.
    """
    first = asker.ask(asked)
    if first.probability is not None or votes <= 1:
        return first
    again = [replace(asked, temperature=_VOTE_TEMPERATURE, variant=number) for number in range(1, votes)]
    results = side_by_side([partial(asker.ask, other) for other in again], votes)
    answers = [first.value, *(result.value for result in results if isinstance(result, Answered))]
    for_yes = [answer for answer in answers if says_yes(answer)]
    for_no = [answer for answer in answers if not says_yes(answer)]
    majority = for_yes if len(for_yes) > len(for_no) else for_no
    return Answered(majority[0], len(for_yes) / len(answers))


def post_block(post: Post) -> Block:
    """The post with what its images say."""
    return Block("post", post.whole_text)


def passage_block(item: Evidence) -> Block:
    """A passage under its id, with who published it, under what title and when: all of it from outside."""
    source = item.source
    name, site = publisher_name(source), host(source.url)
    publisher = name or (f"not known (site {site})" if site else "not known")
    about = f"(publisher: {publisher} · title: {source.title} · date: {source.published or 'not known'})"
    return Block(f"passage {item.id}", f"{about}\n{item.passage.text}")
