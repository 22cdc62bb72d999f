"""From a model's words to an answer in the form asked for; a verdict is never read from the text under judgement.

Tolerant of what models put around it (thoughts, fences, a sentence before), strict about what is in it:
the one object that fits the form, and none that stands in the data the model was given.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from crowdnotes.errors import AnswerEmptyError, AnswerUnreadableError, ModelRefusedError

_THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"^.*</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL | re.IGNORECASE)
# As models begin that decline in words, where the protocol has a field for it that few servers fill.
_DECLINES = re.compile(
    r"(?:unfortunately, )?(?:i(?: am|['’]m) (?:really |very )?(?:sorry|afraid|unable|not able)|sorry,|i apologi[sz]e"
    r"|i (?:cannot|can not|can['’]t|won['’]t|will not|must decline|refuse)|as an ai\b)",
    re.IGNORECASE,
)
_MOST_OBJECTS = 40
A = TypeVar("A", bound="Answer")


class Answer(BaseModel):
    """Base of the forms. Fields that nobody asked for are passed over: models add "confidence" and the like."""

    model_config = ConfigDict(extra="ignore", frozen=True)


def read_answer(words: str, form: type[A], data: Sequence[str]) -> A:
    """The one object in `words` that fits `form`.

    Raises AnswerEmptyError, ModelRefusedError for words that decline and hold no object, or
    AnswerUnreadableError when none fits, when several differ, or when the one that fits was copied from `data`.
    """
    said = spoken(words)
    if not said:
        raise AnswerEmptyError("The model gave an empty answer.")
    found: list[A] = []
    copied = False
    problem = ""
    for raw, value in _objects(said):
        try:
            answer = form.model_validate(value)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            problem = f"“{'.'.join(map(str, first['loc']))}”: {first['msg'].lower()}"
            continue
        if _stands_in(raw, data):
            copied = True
        elif answer not in found:
            found.append(answer)
    if len(found) == 1:
        return found[0]
    if found:
        raise AnswerUnreadableError("The model gave several answers that differ.")
    if copied:
        raise AnswerUnreadableError("The model copied its answer from the text it was to judge.")
    if not problem and _DECLINES.match(said):
        raise ModelRefusedError("The model declined to answer.")
    raise AnswerUnreadableError(
        f"The model's answer is not in the form asked for ({problem or 'there is no JSON in it'})."
    )


def spoken(words: str) -> str:
    """What was said, without the thoughts that some models put before it."""
    said = _THOUGHTS.sub("", words)
    return _OPEN_THOUGHT.sub("", said).strip()


def _objects(said: str) -> Iterator[tuple[str, object]]:
    """JSON objects with their exact words: the whole, or what is in fences, or wherever one begins."""
    whole = [said, *(match.group(1).strip() for match in _FENCE.finditer(said))]
    for text in whole:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield text, value
            return
    decoder = json.JSONDecoder(strict=False)
    at, seen = said.find("{"), 0
    while at >= 0 and seen < _MOST_OBJECTS:
        seen += 1
        try:
            value, end = decoder.raw_decode(said, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield said[at:end], value
        at = said.find("{", end)


def _stands_in(raw: str, data: Sequence[str]) -> bool:
    squeezed = re.sub(r"\s+", "", raw)
    return any(squeezed in re.sub(r"\s+", "", text) for text in data)
