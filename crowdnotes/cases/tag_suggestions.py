"""Suggest tags of X's form by the note's own wording. The person ticks them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from crowdnotes.domain import Case, Classification
from crowdnotes.text.note_rules import without_urls
from crowdnotes.text.tokens import content_stems
from crowdnotes.wording import fill

_DENIAL_PATTERN = re.compile(
    r"\b(?<!may )(?<!might )(?<!could )"
    r"(?:no|not|never|none|cannot|can't|isn't|aren't|wasn't|doesn't|don't|didn't|false|untrue|incorrect"
    r"|myth|hoax|debunked|wrong|inaccurate|fake|fabricated|contrary to|disproven|misquoted)\b"
    r"(?! (?:only|just|longer)\b)",
    re.IGNORECASE,
)
# What a post says is not there: a note that describes it says that the post is wrong, without a word of denial.
_DENIED_THING_PATTERN = re.compile(
    r"\bno such thing as (?P<first>[^.!?;,\n]+)"
    r"|(?P<second>[^.!?;,\n]+) (?:(?:does|do|did)(?:n['\u2019]t| not) exist|(?:is|are)(?:n['\u2019]t| not) real\b"
    r"|(?:is|are|was|were) (?:all )?(?:an? )?(?:hoax|myth|fake|scam|lie|fraud|made up)\b)",
    re.IGNORECASE,
)
_UNVERIFIED_PATTERN = re.compile(
    r"\b(?:no (?:scientific |clinical |credible |known )?evidence|unproven|unverified|not been (?:shown|proven)"
    r"|unsupported|insufficient evidence)\b",
    re.IGNORECASE,
)
_CONTEXT_PATTERN = re.compile(
    r"\b(?:however|only|but|actual(?:ly)?|per (?:capita|100|year)|relative|absolute|compared|context|small|study of"
    r"|in (?:mice|animals)|risk)\b",
    re.IGNORECASE,
)
_SATIRE_PATTERN = re.compile(r"\b(?:satir\w+|parody|spoof|joke|humou?r(?:ous)?)\b", re.IGNORECASE)
_PICTURE_WORDS = r"(?:photos?|photographs?|images?|pictures?|videos?|clips?|footage|audio|recordings?|screenshots?)"
_EDITING_WORDS = r"(?:edited|altered|doctored|manipulated|faked|generated)"
# An edited article is no altered picture.
_MANIPULATED_MEDIA_PATTERN = re.compile(
    rf"\b(?:photoshopped|deep ?fakes?|ai[- ]generated|{_EDITING_WORDS} {_PICTURE_WORDS}"
    rf"|{_PICTURE_WORDS}\b[^.;:!?]{{0,60}}\b{_EDITING_WORDS})\b",
    re.IGNORECASE,
)
_OUTDATED_PATTERN = re.compile(
    r"\b(?:outdated|out of date|no longer|since then|has since|superseded|old (?:photo|video))\b", re.IGNORECASE
)
_MIN_ADDED_STEMS = 3  # different words
# Where the words themselves ("not", "but") would not explain the tag to a person.
_FACTUAL_ERROR, _MISSING_CONTEXT = "misleadingFactualError", "misleadingMissingImportantContext"
_REASON_BY_TAG = {
    _FACTUAL_ERROR: "the note says something in the post is untrue",
    _MISSING_CONTEXT: "the note adds missing context",
}


@dataclass(frozen=True, slots=True)
class TagSuggestion:
    """A tag (its column) and the words of the note or evidence that suggest it."""

    tag: str
    why: str


def suggest_tags(case: Case) -> tuple[TagSuggestion, ...]:
    """Suggest tags by the note's own wording and the passages in use; the best supported first.

    Context is missing where a note adds to what the post says, and denies nothing of it.
    Empty without a draft, or for a note that says the post is not misleading.
    """
    if case.draft is None or case.classification is not Classification.MISLEADING:
        return ()
    note = case.draft.text
    passages = " ".join(item.passage.text for item in case.used_evidence)
    found: list[TagSuggestion] = []
    for tag, pattern, texts in (
        ("misleadingSatire", _SATIRE_PATTERN, (note, passages)),
        ("misleadingManipulatedMedia", _MANIPULATED_MEDIA_PATTERN, (note,)),
        ("misleadingOutdatedInformation", _OUTDATED_PATTERN, (note,)),
        ("misleadingUnverifiedClaimAsFact", _UNVERIFIED_PATTERN, (note,)),
        (_FACTUAL_ERROR, _DENIAL_PATTERN, (note,)),
        (_MISSING_CONTEXT, _CONTEXT_PATTERN, (note,)),
    ):
        match = next((hit for text in texts if (hit := pattern.search(text))), None)
        if tag == _FACTUAL_ERROR and match is None and _describes_denied_thing(case.post.text, note):
            found.append(TagSuggestion(tag, _REASON_BY_TAG[tag]))
        elif match is not None and not (tag == _MISSING_CONTEXT and any(it.tag == _FACTUAL_ERROR for it in found)):
            says = "the note says “{words}”" if match.string is note else "a source says “{words}”"
            found.append(TagSuggestion(tag, fill(_REASON_BY_TAG.get(tag, says), words=match.group())))
    added = _find_added_stems(case.post.text, note, passages)
    if not found and len(added) >= _MIN_ADDED_STEMS:
        found.append(TagSuggestion(_MISSING_CONTEXT, _REASON_BY_TAG[_MISSING_CONTEXT]))
    return tuple(found[:3])


def _describes_denied_thing(post: str, note: str) -> bool:
    """Return whether the note has the words for what the post says is not there."""
    in_note = content_stems(without_urls(note))
    denied = (content_stems(" ".join(filter(None, hit.groups()))) for hit in _DENIED_THING_PATTERN.finditer(post))
    return any(stems and stems <= in_note for stems in denied)


def _find_added_stems(post: str, note: str, passages: str) -> set[str]:
    """Return the stems that the note has from the passages and the post has not."""
    in_post, in_note, said = (content_stems(text) for text in (post, without_urls(note), passages))
    return set((in_note & said) - in_post)
