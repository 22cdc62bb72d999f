"""Tags that a note's own wording speaks for, and that nothing else does."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from crowdnotes.cases.tag_suggestions import suggest_tags
from crowdnotes.domain import Case, Classification, Draft, Post, Verdict
from tests.fakes import make_case, make_evidence

AT = datetime(2026, 1, 1, 12, tzinfo=UTC)
PASSAGE = "The review of ten trials followed 4,000 adults for five years and measured their liver."
CONTEXT, MEDIA = "misleadingMissingImportantContext", "misleadingManipulatedMedia"
FACTUAL = "misleadingFactualError"


def _case(note: str) -> Case:
    return make_case(
        evidence=(make_evidence(1, text=PASSAGE, opened_at=AT, verdict=Verdict.USE),),
        draft=Draft(text=note, evidence_ids=("E1",), engine="person", written_at=AT),
        classification=Classification.MISLEADING,
    )


def _tags(note: str) -> list[str]:
    return [suggestion.tag for suggestion in suggest_tags(_case(note))]


@pytest.mark.parametrize(
    "note",
    [
        "banana banana banana",
        "Edited.",
        "The drink makes you ill.",
        "These foods may not cause gas in everybody.",
        "",
        "https://a.example.org/review-of-trials",
    ],
)
def test_words_that_speak_for_nothing_suggest_nothing(note: str) -> None:
    assert _tags(note) == []


@pytest.mark.parametrize(
    ("note", "tag"),
    [
        ("The review followed adults of ten trials for years.", CONTEXT),
        ("The photo was digitally altered.", MEDIA),
        ("This is a doctored video.", MEDIA),
        ("An AI-generated scene.", MEDIA),
        ("The claim is false.", "misleadingFactualError"),
    ],
)
def test_words_that_speak_for_a_tag_suggest_it(note: str, tag: str) -> None:
    assert tag in _tags(note)


@pytest.mark.parametrize(
    ("note", "why"),
    [
        ("It does not cure colds.", "the note says something in the post is untrue"),
        ("It helps, but little.", "the note adds missing context"),
        ("An AI-generated scene.", "the note says “AI-generated”"),
    ],
)
def test_the_reason_is_one_that_a_person_understands(note: str, why: str) -> None:
    assert suggest_tags(_case(note))[0].why == why


@pytest.mark.parametrize(
    ("post", "note", "tags"),
    [
        ("It cures colds.", "However, it does not cure colds, compared with rest.", [FACTUAL]),
        ("It cures colds.", "Contrary to the post, only rest helps.", [FACTUAL]),
        ("It cures colds.", "It shortens a cold, but only by some hours.", [CONTEXT]),
        ("It cures colds.", "It cures not only colds: a small study saw more.", [CONTEXT]),
        ("No such thing as Lyme disease, it is HIV.", "Lyme disease is an infection, but rare.", [FACTUAL]),
        ("Lyme disease doesn't exist.", "Lyme disease is an infection, but rare.", [FACTUAL]),
        ("Measles is a hoax.", "Lyme disease is an infection, but rare.", [CONTEXT]),
    ],
)
def test_a_note_that_says_the_post_is_wrong_speaks_for_an_error_and_not_for_context(
    post: str, note: str, tags: list[str]
) -> None:
    case = _case(note).replace(post=Post(text=post))
    assert [item.tag for item in suggest_tags(case)] == tags


def test_what_the_note_adds_from_the_passages_speaks_for_context() -> None:
    (suggestion,) = suggest_tags(_case("The review followed adults of ten trials for years."))
    assert suggestion.tag == "misleadingMissingImportantContext"
