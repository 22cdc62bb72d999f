"""The forms in which models answer, one for each prompt, and their JSON schemas."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

from pydantic import Field

from crowdnotes.engines.llm.answers import Answer

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


class RelevanceAnswer(Answer):
    """See relevance.md."""

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
