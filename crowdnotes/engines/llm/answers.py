"""The forms that models are asked to answer in, a class each, and what the program makes of their words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from crowdnotes.domain import Finding
from crowdnotes.engines.llm.parsing import Answer, PassageId, YesNo
from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.quotes import find_quote


def _as_list(value: object) -> object:
    """A list though a model gave one word, nothing or true."""
    if value is True:
        return ["passage"]
    said = str(value or "").strip().lower()
    return value if isinstance(value, list) else [] if said in ("", "none", "no", "false") else [said]


ToProgram = Annotated[list[str], BeforeValidator(_as_list)]
"""What speaks to a program instead of people, by its label."""


class Carried(Answer):
    """Where the model finds a sentence of the note in a passage. Sentences count from 1."""

    sentence: int
    evidence_id: PassageId
    quote: str


class Distortion(Answer):
    """One way in which the note departs from a passage."""

    kind: Literal["unsupported", "misread", "overgeneralised", "selective"]
    note_words: str
    evidence_id: PassageId = ""
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


class FinalDecision(Answer):
    """See helpfulness_final.md: the last line, for judges that were trained to end with it."""

    helpful: YesNo
    said: str = ""


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
