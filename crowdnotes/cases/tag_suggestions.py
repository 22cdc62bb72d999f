"""Which tags of X's form a note's own wording speaks for. Only suggestions: the person ticks."""

from __future__ import annotations

import re
from dataclasses import dataclass

from crowdnotes.domain import Case, Classification
from crowdnotes.text.note_rules import without_urls
from crowdnotes.text.tokens import content_stems
from crowdnotes.wording import fill

_DENIES = re.compile(
    r"\b(?<!may )(?<!might )(?<!could )"
    r"(?:no|not|never|none|cannot|can't|isn't|aren't|wasn't|doesn't|don't|didn't|false|untrue|incorrect"
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
_PICTURE = r"(?:photos?|photographs?|images?|pictures?|videos?|clips?|footage|audio|recordings?|screenshots?)"
_EDITED = r"(?:edited|altered|doctored|manipulated|faked|generated)"
# An edited article is no altered picture.
_MEDIA = re.compile(
    rf"\b(?:photoshopped|deep ?fakes?|ai[- ]generated|{_EDITED} {_PICTURE}|{_PICTURE}\b[^.;:!?]{{0,60}}\b{_EDITED})\b",
    re.IGNORECASE,
)
_OUTDATED = re.compile(
    r"\b(?:outdated|out of date|no longer|since then|has since|superseded|old (?:photo|video))\b", re.IGNORECASE
)
_FEWEST_ADDED = 3  # different words
# Where the words themselves ("not", "but") are no reason that a person understands.
_REASONS = {
    "misleadingFactualError": "the note says that something in the post is not true",
    "misleadingMissingImportantContext": "the note adds context that the post leaves out",
}


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
            says = "the note says “{words}”" if match.string is note else "the evidence says “{words}”"
            found.append(TagSuggestion(tag, fill(_REASONS.get(tag, says), words=match.group())))
    added = _added(case.post.text, note, passages)
    if not found and len(added) >= _FEWEST_ADDED:
        found.append(
            TagSuggestion("misleadingMissingImportantContext", "the note adds context that the post leaves out")
        )
    return tuple(found[:3])


def _added(post: str, note: str, passages: str) -> set[str]:
    """The stems that the note has from the passages and the post has not."""
    in_post, in_note, said = (content_stems(text) for text in (post, without_urls(note), passages))
    return set((in_note & said) - in_post)
