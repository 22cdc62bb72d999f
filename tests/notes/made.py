"""Notes, candidates and rounds that tests of supernotes share."""

from __future__ import annotations

from datetime import UTC, datetime

from crowdnotes.domain import Candidate, ExistingNote, Ratings, SupernoteRound
from crowdnotes.engines import NoteSentence
from crowdnotes.jury import Jury
from crowdnotes.notes.candidates import LOCAL, build_candidate
from tests.jury.models import EveryWordFamiliar, small_jury

AT = datetime(2026, 1, 1, tzinfo=UTC)
NOTES = (
    ExistingNote(
        id="N1",
        text="The photo was taken in Brazil in 2019. https://news.example.org/photo\nIt shows a training exercise.",
        ratings=Ratings(helpful=8, not_helpful=2),
    ),
    ExistingNote(id="N2", text="Police confirmed no arrests were made that day: https://police.example.org/day"),
    ExistingNote(id="N3", text="However, the mayor denied the claim in March. https://city.example.org/mayor"),
)


def candidate(*said: tuple[str, str], notes: tuple[ExistingNote, ...] = NOTES, **changes: object) -> Candidate:
    """A candidate of (words, note) pairs."""
    made = build_candidate([NoteSentence(text, (note,)) for text, note in said], notes, (), LOCAL)
    return made.replace(**changes)


def jury(*, joined: float = 0.9) -> Jury:
    """The small jury, to which no text is too strange."""
    return small_jury(joined=joined, kind=EveryWordFamiliar)


def round_of(*candidates: Candidate, **changes: object) -> SupernoteRound:
    """A round from `NOTES`."""
    made = SupernoteRound(number=1, made_at=AT, notes=NOTES, wanted=len(candidates) or 1, candidates=candidates)
    return made.replace(**changes)
