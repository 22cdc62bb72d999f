"""Which tags of X's form a note's own wording speaks for. Only suggestions: the person ticks."""

from __future__ import annotations

import re
from dataclasses import dataclass

from crowdnotes.domain import Case, Classification

_DENIES = re.compile(
    r"\b(?:no|not|never|none|cannot|can't|isn't|aren't|wasn't|doesn't|don't|didn't|without|false|untrue|incorrect"
    r"|myth|hoax|debunked)\b",
    re.IGNORECASE,
)
_UNVERIFIED = re.compile(
    r"\b(?:no (?:scientific |clinical |credible |known )?evidence|unproven|unverified|not been (?:shown|proven)"
    r"|unsupported|insufficient evidence)\b",
    re.IGNORECASE,
)
_CONTEXT = re.compile(
    r"\b(?:however|only|but|actual(?:ly)?|per (?:capita|100|year)|relative|absolute|compared|context|small|study of"
    r"|in (?:mice|animals)|risk)\b",
    re.IGNORECASE,
)
_SATIRE = re.compile(r"\b(?:satir\w+|parody|spoof|joke|humou?r(?:ous)?)\b", re.IGNORECASE)
_MEDIA = re.compile(r"\b(?:edited|altered|doctored|manipulated|photoshopped|deepfake|ai[- ]generated)\b", re.IGNORECASE)
_OUTDATED = re.compile(
    r"\b(?:outdated|out of date|no longer|since then|has since|superseded|old (?:photo|video))\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class TagSuggestion:
    """A tag (its column) and the words of the note or evidence that suggest it."""

    tag: str
    why: str


def suggest_tags(case: Case) -> tuple[TagSuggestion, ...]:
    """Tags that the note's own wording, and the passages in use, speak for; most telling first.

    Empty without a draft, or for a note that says the post is not misleading.
    """
    if case.draft is None or case.classification is not Classification.MISLEADING:
        return ()
    note = case.draft.text
    passages = " ".join(item.passage.text for item in case.used_evidence)
    found: list[TagSuggestion] = []
    for tag, pattern, texts in (
        ("misleadingSatire", _SATIRE, (note, passages)),
        ("misleadingManipulatedMedia", _MEDIA, (note,)),
        ("misleadingOutdatedInformation", _OUTDATED, (note,)),
        ("misleadingUnverifiedClaimAsFact", _UNVERIFIED, (note,)),
        ("misleadingFactualError", _DENIES, (note,)),
        ("misleadingMissingImportantContext", _CONTEXT, (note,)),
    ):
        match = next((hit for text in texts if (hit := pattern.search(text))), None)
        if match is not None:
            where = "note" if match.string is note else "evidence"
            found.append(TagSuggestion(tag, f"the {where} says “{match.group()}”"))
    if not found and note.strip():
        found.append(TagSuggestion("misleadingMissingImportantContext", "the note adds context"))
    return tuple(found[:3])
