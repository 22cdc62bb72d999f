"""X's note form: the reasons it asks for, as columns of the public data and as the labels people tick.

Source: the Community Notes guide, "download data" (columns) and the note form (labels).
"""

from __future__ import annotations

from crowdnotes.domain import Classification

CLASSIFICATIONS: dict[Classification, str] = {
    Classification.MISLEADING: "The post is misinformed or potentially misleading",
    Classification.NOT_MISLEADING: "The post is not misleading",
}
MISLEADING_TAGS: dict[str, str] = {
    "misleadingFactualError": "It contains a factual error",
    "misleadingManipulatedMedia": "It contains a digitally altered photo or video",
    "misleadingOutdatedInformation": "It contains outdated information that may be misleading",
    "misleadingMissingImportantContext": "It is a misrepresentation or missing important context",
    "misleadingUnverifiedClaimAsFact": "It presents an unverified claim as a fact",
    "misleadingSatire": "It is a joke or satire that might be misinterpreted as a fact",
    "misleadingOther": "Other",
}
NOT_MISLEADING_TAGS: dict[str, str] = {
    "notMisleadingFactuallyCorrect": "It expresses a factually correct claim",
    "notMisleadingOutdatedButNotWhenWritten": "This post was correct when written, but is out of date now",
    "notMisleadingClearlySatire": "It is clearly satirical or joking",
    "notMisleadingPersonalOpinion": "It expresses a personal opinion",
    "notMisleadingOther": "Other",
}


def tags_of(classification: Classification) -> dict[str, str]:
    """Column → label of the tags that go with a classification."""
    return MISLEADING_TAGS if classification is Classification.MISLEADING else NOT_MISLEADING_TAGS
