"""Reads a model's words into an answer of the form asked for; never a verdict from the text under judgement.

Lenient about form: thoughts, fences and words around it, a comma too many, “Yes” or true for “yes”, “passage E1” for
“E1”. Strict about substance: it takes the last object that has every field asked for and was not copied from the data.
What a model quotes must occur in the text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator
from pydantic.fields import FieldInfo

from crowdnotes.domain import Finding
from crowdnotes.engines.llm.server import Token
from crowdnotes.errors import AnswerEmptyError, AnswerUnreadableError, ModelRefusedError
from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.quotes import find_quote

A = TypeVar("A", bound="Answer")


class Answer(BaseModel):
    """Base of the forms. Unknown fields are ignored: models add "confidence" and the like."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _as_meant(cls, given: object) -> object:
        """Map names and values to those of the form where a model plainly means them."""
        if not isinstance(given, Mapping):
            return given
        named = {_normalise_field_name(str(name)): value for name, value in reversed([*given.items()])}
        fields = {name: (field, named[name]) for name, field in cls.model_fields.items() if name in named}
        return {
            name: _coerce_value(field, value)
            for name, (field, value) in fields.items()
            if value is not None or field.is_required()
        }


YesNo = Literal["yes", "no"]
_EMPTY_ANSWERS = {"", "none", "no", "null", "n/a", "false", "nothing"}
_YES_NO_BY_BOOLEAN = {"true": "yes", "false": "no"}
_INTEGER_PATTERN = re.compile(r"\W{0,3}(?:[a-z]{1,12}\.?\s{0,3}#?)?(-?\d{1,9})(?:\.0{0,3})?\W{0,3}", re.IGNORECASE)
_GRADE_OF_TEN = re.compile(r"\W{0,3}(\d{1,3}(?:[.,]\d{1,3})?)(?: ?/ ?10| (?:out )?of 10)?\W{0,3}", re.IGNORECASE)
_PASSAGE_ID_PATTERN = re.compile(
    r"\W{0,4}(?:(?:passage|evidence|source|note|id)\W{1,4})?([a-z])[ _-]?0{0,3}(\d{1,6})\W{0,4}", re.IGNORECASE
)


def _normalise_field_name(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip().lower())


def _normalise_option(words: str) -> str:
    """Let "Not needed", "not-needed" and "overgeneralized" match the options that they mean."""
    return re.sub(r"[\s_\-.,;:!\"'*`]+", "", words.lower()).replace("z", "s")


def _coerce_value(field: FieldInfo, value: object) -> object:
    kind, options = get_origin(field.annotation), get_args(field.annotation)
    if kind is Literal and isinstance(value, str | bool):
        said = _normalise_option(str(value))
        said = _YES_NO_BY_BOOLEAN.get(said, said) if "yes" in options else said
        return next((option for option in options if _normalise_option(option) == said), value)
    if kind is list:
        if isinstance(value, str) or value is None:
            return [] if str(value or "").strip(" .[]").lower() in _EMPTY_ANSWERS else [value]
        return [value] if isinstance(value, Mapping) else value
    if field.annotation is int and isinstance(value, str | bool):
        number = None if isinstance(value, bool) else _INTEGER_PATTERN.fullmatch(value.strip()[:40])
        return number[1] if number else f"no number: {value}"[:40]
    if field.annotation is float and isinstance(value, str) and (grade := _GRADE_OF_TEN.fullmatch(value.strip()[:20])):
        return float(grade[1].replace(",", "."))
    return "" if field.annotation is str and value is None else value


def _parse_passage_id(value: object) -> object:
    match = _PASSAGE_ID_PATTERN.fullmatch(value.strip()[:60]) if isinstance(value, str) else None
    return f"{match[1].upper()}{match[2]}" if match else value


def _split_ids(value: object) -> object:
    if not isinstance(value, list):
        return value
    parts = [
        re.split(r"[,;&]|\band\b", item) if isinstance(item, str) and len(item) < 200 else [item] for item in value
    ]
    return [part.strip() if isinstance(part, str) else part for group in parts for part in group]


PassageId = Annotated[str, BeforeValidator(_parse_passage_id)]
"""An id as the program wrote it, as in "E1", where a model writes "passage E1", "[e1]" or "E1."."""
PassageIds = Annotated[list[PassageId], BeforeValidator(_split_ids)]
"""Ids, also where a model puts several into one string."""
_MIN_COPIED_CHARACTERS = 60  # of JSON, too many to match by chance; {"claims": []} may well be meant
_MAX_REPORTED_FAULTS = 3  # enough to correct an answer


def read_answer(words: str, form: type[A], data: Sequence[str], example: str = "") -> A:
    """Return the last object in `words` that fits `form` and is no copy from `data` or the prompt's `example`.

    Raises AnswerEmptyError, ModelRefusedError for words that decline and hold no object, or AnswerUnreadableError with
    what is wrong in plain words.
    """
    said = without_thoughts(words)
    if not said:
        raise AnswerEmptyError("The model gave an empty answer.")
    found: A | None = None
    copied = False
    problem = ""
    for raw, value in _find_json_objects(said):
        try:
            answer = form.model_validate(_unwrap_answer(value, form))
        except ValidationError as error:
            problem = _describe_validation_error(error)
            continue
        if _is_copied_from(raw, data) or (len(raw) >= _MIN_COPIED_CHARACTERS and _is_copied_from(raw, [example])):
            copied = True
        else:
            found = answer
    if found is not None:
        return found
    if copied:
        raise AnswerUnreadableError("The model copied its answer from what it was given to read.")
    if not problem and _REFUSAL_PATTERN.match(said):
        raise ModelRefusedError("The AI declined to answer.")
    raise AnswerUnreadableError(
        "The model's answer is not in the form asked for ({problem}).".format(
            problem=problem or "there is no JSON in it"
        )
    )


def _describe_validation_error(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_input=False)
    return "; ".join(
        f"“{'.'.join(map(str, fault['loc']))}”: {fault['msg'].lower()}" for fault in faults[:_MAX_REPORTED_FAULTS]
    )


def _unwrap_answer(value: Any, form: type[Answer]) -> Any:
    """Unwrap an answer that a model put under one name of its own, as in {"answer": {…}}."""
    if isinstance(value, dict) and len(value) == 1:
        ((name, inner),) = value.items()
        if isinstance(inner, dict) and _normalise_field_name(name) not in form.model_fields:
            return inner
    return value


# How models mark their thoughts: most; Magistral; Kimi; gpt-oss, whose last channel is the answer.
_THOUGHT_TAG = re.compile(r"<(/?)(think|thinking|thought|reasoning|seed:think)>", re.IGNORECASE)
_BRACKETED_THOUGHT_TAG = re.compile(r"(?:\[(/?)THINK\]|◁(/?)think▷)")
_FINAL_CHANNEL = re.compile(r"<\|channel\|>final[^<]{0,40}<\|message\|>")
_ANY_CHANNEL = re.compile(r"<\|(?:channel|start|message|end|return)\|>")
# How models begin to decline; the protocol has a field for it that few servers fill.
_REFUSAL_PATTERN = re.compile(
    r"(?:unfortunately, )?(?:i(?: am|['’]m) (?:really |very )?(?:sorry|afraid|unable|not able)|sorry,|i apologi[sz]e"
    r"|i (?:cannot|can not|can['’]t|won['’]t|will not|must decline|refuse)|as an ai\b)",
    re.IGNORECASE,
)


def without_thoughts(words: str) -> str:
    """Return the words without the thoughts that some models put first; "" for a thought that never ends."""
    if words.lstrip().startswith("<|"):
        finals = list(_FINAL_CHANNEL.finditer(words))
        words = words[finals[-1].end() :] if finals else "" if "<|channel|>" in words else words
        words = _ANY_CHANNEL.split(words, maxsplit=1)[0] if finals else words
    words = _BRACKETED_THOUGHT_TAG.sub(lambda tag: f"<{tag[1] or tag[2] or ''}think>", words)
    tags = list(_THOUGHT_TAG.finditer(words))
    closing: dict[str, int] = {}
    ends: dict[int, int] = {}  # of each thought, by its start
    for tag in reversed(tags):
        name = tag[2].lower()
        if tag[1]:
            closing[name] = tag.end()
        elif name in closing:
            ends[tag.start()] = closing[name]
    said: list[str] = []
    at = 0
    for tag in tags:
        if tag.start() < at:
            continue
        if tag[1]:  # the model's template began this thought
            said, at = [], tag.end()
        elif tag.start() in ends:
            said.append(words[at : tag.start()])
            at = ends[tag.start()]
        elif not "".join([*said, words[at : tag.start()]]).strip():
            return ""
    return "".join([*said, words[at:]]).strip()


_MAX_JSON_OBJECTS = 40
# Outside of strings: a comma before a closing bracket, and the words of Python. Each keeps its length.
# A string without an end runs to the end of the text, so that no search starts at each of its quotation marks.
_JSON_SLIP = re.compile(r'"(?:[^"\\]|\\.)*+"?|,(?=\s*+[}\]])|\b(?:True|False|None)\b', re.DOTALL)
_REPAIR_BY_SLIP = {",": " ", "True": "true", "False": "false", "None": "null"}


def _find_json_objects(said: str) -> Iterator[tuple[str, object]]:
    """Yield JSON objects with their exact words, wherever one begins outside of another."""
    decoder = json.JSONDecoder(strict=False)
    at, seen = said.find("{"), 0
    while at >= 0 and seen < _MAX_JSON_OBJECTS:
        seen += 1
        end = at + 1
        for text in (str, _repair_json):  # as it is, else repaired
            try:
                value, length = decoder.raw_decode(text(said[at:]))
            except (ValueError, RecursionError):
                continue
            end = at + length
            yield said[at:end], value
            break
        at = said.find("{", end)


def _repair_json(text: str) -> str:
    return _JSON_SLIP.sub(lambda match: _REPAIR_BY_SLIP.get(match.group(), match.group()), text)


def _is_copied_from(raw: str, data: Sequence[str]) -> bool:
    squeezed = re.sub(r"\s+", "", raw)
    return any(squeezed in re.sub(r"\s+", "", text) for text in data)


_MIN_VERDICT_PROBABILITY = 0.5  # on yes and no together, or the place was not a verdict


def verdict_place(name: str) -> re.Pattern[str]:
    """Return a pattern that ends where the yes or no of this field begins."""
    return re.compile(rf'"{name}"\s*:\s*"?', re.IGNORECASE)


def yes_probability(text: str, tokens: Sequence[Token], place: re.Pattern[str]) -> float | None:
    """Return P(yes) among yes and no, in [0, 1], where `place` matches last; its end is where the verdict begins.

    None without token probabilities, or if the model weighed something else there.
    """
    matches = list(place.finditer(text))
    if not matches or not tokens:
        return None
    verdict = matches[-1].end()
    start = 0
    for token in tokens:
        end = start + len(token.text)
        if start <= verdict < end:
            # A token may begin before the verdict, as in '"yes': the part before it is the same for all.
            lead = token.text[: verdict - start]
            return _compute_yes_share(token, lead)
        start = end
    return None


def _compute_yes_share(token: Token, lead: str) -> float | None:
    yes = no = 0.0
    for text, logprob in token.options:
        said = text.removeprefix(lead).strip(" \"'*").lower()
        if not said:
            continue
        if _has_same_start(said, "yes", "true"):
            yes += math.exp(min(0.0, logprob))
        elif _has_same_start(said, "no", "false"):
            no += math.exp(min(0.0, logprob))
    if yes + no < _MIN_VERDICT_PROBABILITY:
        return None
    return yes / (yes + no)


def _has_same_start(said: str, *words: str) -> bool:
    return any(word.startswith(said) or said.startswith(word) for word in words)


def _coerce_label_list(value: object) -> object:
    """Return a list even if a model gave one word, nothing or true."""
    if value is True:
        return ["passage"]
    said = str(value or "").strip().lower()
    return value if isinstance(value, list) else [] if said in ("", "none", "no", "false") else [said]


ToProgram = Annotated[list[str], BeforeValidator(_coerce_label_list)]
"""Labels of texts that speak to a program instead of people."""


def _read_share(value: object) -> float:
    """Return a share of 100 from "70 of 100" or 0.7; -1 for what is no number."""
    number = re.search(r"\d{1,3}(?:\.\d{1,4})?", str(value)[:20])
    share = float(number.group()) if number is not None and not str(value).strip().startswith("-") else -1.0
    return 100 * share if 0 < share < 1 else min(share, 100.0)


Of100 = Annotated[float, BeforeValidator(_read_share)]
"""A share of 100; -1 if the model gave none, which invalidates no other part of its answer."""


class Objection(Answer):
    """Words of the note, and what is wrong with them."""

    quote: str
    objection: str


_MAX_SANITIZED_CHARACTERS = 5_000  # of a model's words, read for a line on the screen
_ACCOUNT_HANDLE = re.compile(r"(?<![\w.@])@\w{2,}")


def sanitized(text: str, limit: int) -> str:
    """Return a model's words as one printable line, without links and handles, of at most `limit` characters."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text[:_MAX_SANITIZED_CHARACTERS]).split())
    for url in reversed(find_urls(line)):
        line = f"{line[: url.start]}(link left out){line[url.end :]}"
    line = _ACCOUNT_HANDLE.sub("(name left out)", line)
    return line if len(line) <= limit else f"{line[: limit - 1].rsplit(' ', 1)[0]}…"


def has_handle(text: str) -> bool:
    """Return whether the text names an account, as in @someone."""
    return _ACCOUNT_HANDLE.search(text) is not None


LINE = 0.5  # a verdict is "yes" if yes is likelier than no
MAX_OBJECTION_CHARACTERS = 200


def find_marked_ids(labels: Sequence[str], ids: Sequence[str]) -> set[str]:
    """Return the ids among the labels, and "post".

    Of a single passage any other label, such as "passage", means that one.
    """
    said = {label.lower().removeprefix("passage").strip() for label in labels} - {"none", "no"}
    found = {name for name in ids if name.lower() in said or (len(ids) == 1 and said - {"post"})}
    return found | ({"post"} & said)


def locate_objections(note: str, objections: Sequence[Objection]) -> tuple[Finding, ...]:
    """Return the objections whose words occur in the note, each with its place; drop the others."""
    found: list[Finding] = []
    for item in objections:
        span = find_quote(note, item.quote, whole=False)
        if span is not None and not any(finding.span == span for finding in found):
            found.append(
                Finding(
                    message=sanitized(item.objection, MAX_OBJECTION_CHARACTERS) or "Look at these words.", span=span
                )
            )
    return tuple(found)
