"""From a model's words to an answer in the form asked for; a verdict is never read from the text under judgement.

Tolerant of what models put around it (thoughts, fences, a sentence before), strict about what is in it: the
one object that fits the form, and none that stands in the data the model was given. What a model quotes must
stand in the text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from crowdnotes.domain import Finding
from crowdnotes.engines.llm.server import Token
from crowdnotes.errors import AnswerEmptyError, AnswerUnreadableError, ModelRefusedError
from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.quotes import find_quote

_THOUGHT_TAG = re.compile(r"<(/?)(think|thinking|reasoning)>", re.IGNORECASE)
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
    tags = list(_THOUGHT_TAG.finditer(words))
    closing: dict[str, int] = {}
    ends: dict[int, int] = {}  # of each thought, by where it begins
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
        if tag[1]:  # of a thought that the model's template began
            said, at = [], tag.end()
        elif tag.start() in ends:
            said.append(words[at : tag.start()])
            at = ends[tag.start()]
    return "".join([*said, words[at:]]).strip()


def _objects(said: str) -> Iterator[tuple[str, object]]:
    """JSON objects with their exact words: the whole, or what is in fences, or wherever one begins."""
    parts = said.split("```")
    fenced = parts[1 : len(parts) - 1 : 2]
    for text in [said, *(part.strip().removeprefix("json").removeprefix("JSON").strip() for part in fenced)]:
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


YesNo = Literal["yes", "no"]


class QuotedClaim(Answer):
    """Words of the post that state something."""

    quote: str


class ClaimsAnswer(Answer):
    """See claims.md."""

    claims: list[QuotedClaim]


class AskedQuery(Answer):
    """One search."""

    text: str
    purpose: str
    language: str = ""


class QueriesAnswer(Answer):
    """See queries.md."""

    queries: list[AskedQuery]


class PickAnswer(Answer):
    """See utility.md. `pick` is a number from the list, or 0 for none."""

    why: str
    pick: int


class NoteAnswer(Answer):
    """See writing.md."""

    reason: str
    decision: Literal["note", "not_needed", "not_enough_evidence"]
    note: str = ""
    evidence_ids: list[str] = Field(default_factory=list)


class ShortenedAnswer(Answer):
    """See shorten.md."""

    note: str


class SupernoteAnswer(Answer):
    """See supernote.md."""

    reason: str
    decision: Literal["note", "not_enough"]
    note: str = ""
    note_ids: list[str] = Field(default_factory=list)


def _as_list(value: object) -> object:
    """A list though a model gave one word, nothing or true."""
    if value is True:
        return ["passage"]
    said = str(value or "").strip().lower()
    return value if isinstance(value, list) else [] if said in ("", "none", "no", "false") else [said]


ToProgram = Annotated[list[str], BeforeValidator(_as_list)]
"""What speaks to a program instead of people, by its label."""


class RelevanceAnswer(Answer):
    """See relevance.md."""

    to_program: ToProgram = Field(default_factory=list)
    quote: str = ""
    reason: str
    relevant: YesNo


class Carried(Answer):
    """Where the model finds a sentence of the note in a passage. Sentences count from 1."""

    sentence: int
    evidence_id: str
    quote: str


class Distortion(Answer):
    """One way in which the note departs from a passage."""

    kind: Literal["unsupported", "misread", "overgeneralised", "selective"]
    note_words: str
    evidence_id: str = ""
    passage_words: str = ""
    explanation: str


class CorrectnessAnswer(Answer):
    """See correctness.md."""

    to_program: ToProgram = Field(default_factory=list)
    carried: list[Carried] = Field(default_factory=list)
    distortions: list[Distortion] = Field(default_factory=list)
    reason: str
    faithful: YesNo


class Objection(Answer):
    """Words of the note, and what is wrong with them."""

    quote: str
    objection: str


class HelpfulnessAnswer(Answer):
    """See helpfulness.md."""

    objections: list[Objection] = Field(default_factory=list)
    reason: str
    helpful: YesNo


class FinalDecision(Answer):
    """See helpfulness_final.md: the last line, for judges that were trained to end with it."""

    helpful: YesNo
    said: str = ""


class PrincipleAnswer(Answer):
    """See principle_*.md."""

    objections: list[Objection] = Field(default_factory=list)
    reason: str
    rewrite: str = ""
    follows: YesNo


class ImageAnswer(Answer):
    """See image.md."""

    text: str
    shows: str


@cache
def schema_of(form: type[Answer]) -> dict[str, Any]:
    """The JSON schema of a form as strict servers want it: all fields required, no others, no decoration."""
    schema: dict[str, Any] = _strict(form.model_json_schema())
    return schema


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    out = {key: _strict(value) for key, value in node.items() if key not in ("default", "description")}
    if isinstance(out.get("title"), str):
        del out["title"]
    if out.get("type") == "object":
        out["additionalProperties"] = False
        out["required"] = list(out.get("properties", {}))
    return out


_LONGEST = 5_000  # characters of a model's words that are looked at for a line on the screen
_HANDLE = re.compile(r"(?<![\w.@])@\w{2,}")


def sanitized(text: str, limit: int) -> str:
    """A model's words for the screen: one line, printable, without links and handles, at most `limit` characters."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text[:_LONGEST]).split())
    for url in reversed(find_urls(line)):
        line = f"{line[: url.start]}(link left out){line[url.end :]}"
    line = _HANDLE.sub("(name left out)", line)
    return line if len(line) <= limit else f"{line[: limit - 1].rsplit(' ', 1)[0]}…"


def has_handle(text: str) -> bool:
    """Whether the text names an account, as in @someone."""
    return _HANDLE.search(text) is not None


LINE = 0.5  # a verdict is "yes" when yes is the likelier of the two
_OBJECTION = 200


def marked_as(labels: Sequence[str], ids: Sequence[str]) -> set[str]:
    """The ids among the labels, and "post". Whatever else is said of a passage alone, as "passage", means that one."""
    said = {label.lower().removeprefix("passage").strip() for label in labels} - {"none", "no"}
    found = {name for name in ids if name.lower() in said or (len(ids) == 1 and said - {"post"})}
    return found | ({"post"} & said)


def pointed(note: str, objections: Sequence[Objection]) -> tuple[Finding, ...]:
    """The objections whose words stand in the note, each with its place; the others are dropped."""
    found: list[Finding] = []
    for item in objections:
        span = find_quote(note, item.quote)
        if span is not None and not any(finding.span == span for finding in found):
            found.append(Finding(message=sanitized(item.objection, _OBJECTION) or "Look at these words.", span=span))
    return tuple(found)


_LEAST = 0.5  # of the probability must be on yes and no, or the place was not a verdict


def yes_probability(text: str, tokens: Sequence[Token], place: re.Pattern[str]) -> float | None:
    """P(yes) among yes and no, in [0, 1], where `place` matches last; its end is where the verdict begins.

    None without token probabilities, or when yes and no are not what was weighed there.
    """
    matches = list(place.finditer(text))
    if not matches or not tokens:
        return None
    verdict = matches[-1].end()
    start = 0
    for token in tokens:
        end = start + len(token.text)
        if start <= verdict < end:
            # A token may begin before the verdict, as in '"yes': what stands before it is the same for all.
            lead = token.text[: verdict - start]
            return _share(token, lead)
        start = end
    return None


def _share(token: Token, lead: str) -> float | None:
    yes = no = 0.0
    for text, logprob in token.options:
        said = text.removeprefix(lead).strip(" \"'*").lower()
        if not said:
            continue
        if "yes".startswith(said) or said.startswith("yes"):
            yes += math.exp(min(0.0, logprob))
        elif "no".startswith(said) or said.startswith("no"):
            no += math.exp(min(0.0, logprob))
    if yes + no < _LEAST:
        return None
    return yes / (yes + no)
