"""The four tables of the public data: their columns today, their names in the pilot, what must be there.

Source: the download page of the guide and the scorer's constants.py; the pilot's headers are from the
files of early 2021. Ids are 64-bit integers (notes, posts) or strings (people), never floats.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum

HOUR_MS, DAY_MS = 3_600_000, 86_400_000


class ColumnKind(StrEnum):
    """How a column's text is read."""

    ID = "whole number"
    TIME = "milliseconds since 1970"
    FLAG = "0 or 1"
    NUMBER = "number"
    NAME = "one of few words"  # kept as a dictionary: people's ids and enumerations
    TEXT = "free text"


@dataclass(frozen=True)
class TableSpec:
    """One table: how its files are called, its columns, those it cannot do without, what makes a row unique.

    changed: the column that says when a row was last changed, in milliseconds.
    """

    name: str
    stems: tuple[str, ...]
    columns: dict[str, ColumnKind]
    required: tuple[str, ...]
    key: tuple[str, ...]
    changed: str
    aliases: dict[str, str] = field(default_factory=dict)

    def canonical(self, header: str) -> str:
        """Today's name of a column."""
        return self.aliases.get(header, header)

    def place_of(self, name: str) -> str:
        """Return which part of the table a file of that name holds, as in "0"; "" where it is none of its files."""
        found = re.fullmatch(self._start + rf"(?:\.tsv{_COPY_PATTERN})?\.(?:tsv|zip)", name, re.IGNORECASE)
        return str(int(found[1] or 0)) if found else ""

    def is_packed_otherwise(self, name: str) -> bool:
        """Return whether a file is named like one of the table but packed in another way, or not fully downloaded."""
        return re.fullmatch(self._start + _PACKED_OTHERWISE_PATTERN, name, re.IGNORECASE) is not None

    @property
    def _start(self) -> str:
        return rf"(?:{'|'.join(map(re.escape, self.stems))})(?:[-_.]?(\d+))?{_COPY_PATTERN}"


# A second download, as browsers call it, and a copy, as systems do.
_COPY_PATTERN = r"(?: ?\(\d+\)| - copy(?: \(\d+\))?| copy(?: \d+)?|[ -]\d{1,2})?"
_PACKED_OTHERWISE_PATTERN = r"\.(?:(?:tsv|zip|gz)\..+|gz|bz2|xz|zst|7z|rar|csv|xlsx?|ods|crdownload|part|download)"
_UNREAD_TABLES = {
    "batsignals": "requests for notes",
    "noterequests": "requests for notes",
    "scorednotes": "the scorer's results",
    "helpfulnessscores": "the scorer's results",
}


def unread_table(name: str) -> str:
    """Return what a file or folder of the public data holds that nothing here reads; "" for any other."""
    stem = re.match(r"[a-z]+", name.lower())
    return _UNREAD_TABLES.get(stem[0], "") if stem else ""


HELPFUL_TAGS = tuple(
    (
        "helpfulOther helpfulInformative helpfulClear helpfulEmpathetic helpfulGoodSources helpfulUniqueContext "
        "helpfulAddressesClaim helpfulImportantContext helpfulUnbiasedLanguage"
    ).split()
)
NOT_HELPFUL_TAGS = tuple(
    (
        "notHelpfulOther notHelpfulIncorrect notHelpfulSourcesMissingOrUnreliable notHelpfulOpinionSpeculationOrBias "
        "notHelpfulMissingKeyPoints notHelpfulOutdated notHelpfulHardToUnderstand notHelpfulArgumentativeOrBiased "
        "notHelpfulOffTopic notHelpfulSpamHarassmentOrAbuse notHelpfulIrrelevantSources notHelpfulOpinionSpeculation "
        "notHelpfulNoteNotNeeded"
    ).split()
)
_NOTE_FLAGS = tuple(
    (
        "misleadingOther misleadingFactualError misleadingManipulatedMedia misleadingOutdatedInformation "
        "misleadingMissingImportantContext misleadingUnverifiedClaimAsFact misleadingSatire notMisleadingOther "
        "notMisleadingFactuallyCorrect notMisleadingOutdatedButNotWhenWritten notMisleadingClearlySatire "
        "notMisleadingPersonalOpinion trustworthySources"
    ).split()
)

RATINGS = TableSpec(
    name="ratings",
    stems=("ratings", "noteRatings"),
    columns={
        "noteId": ColumnKind.ID,
        "raterParticipantId": ColumnKind.NAME,
        "createdAtMillis": ColumnKind.TIME,
        "version": ColumnKind.NUMBER,
        "agree": ColumnKind.FLAG,
        "disagree": ColumnKind.FLAG,
        "helpful": ColumnKind.FLAG,
        "notHelpful": ColumnKind.FLAG,
        "helpfulnessLevel": ColumnKind.NAME,
        **dict.fromkeys(HELPFUL_TAGS, ColumnKind.FLAG),
        **dict.fromkeys(NOT_HELPFUL_TAGS, ColumnKind.FLAG),
        "ratedOnTweetId": ColumnKind.ID,
        "ratingSourceBucketed": ColumnKind.NAME,
        "suggestion": ColumnKind.TEXT,
        "suggestionId": ColumnKind.NAME,
    },
    required=("noteId", "raterParticipantId"),
    key=("noteId", "raterParticipantId"),
    changed="createdAtMillis",
    aliases={
        "participantId": "raterParticipantId",
        "notHelpfulArgumentativeOrInflammatory": "notHelpfulArgumentativeOrBiased",
    },
)
NOTES = TableSpec(
    name="notes",
    stems=("notes",),
    columns={
        "noteId": ColumnKind.ID,
        "noteAuthorParticipantId": ColumnKind.NAME,
        "createdAtMillis": ColumnKind.TIME,
        "tweetId": ColumnKind.ID,
        "classification": ColumnKind.NAME,
        "believable": ColumnKind.NAME,
        "harmful": ColumnKind.NAME,
        "validationDifficulty": ColumnKind.NAME,
        **dict.fromkeys(_NOTE_FLAGS, ColumnKind.FLAG),
        "summary": ColumnKind.TEXT,
        "isMediaNote": ColumnKind.FLAG,
        "isCollaborativeNote": ColumnKind.FLAG,
    },
    required=("noteId", "classification"),
    key=("noteId",),
    changed="createdAtMillis",
    aliases={"participantId": "noteAuthorParticipantId"},
)
HISTORY = TableSpec(
    name="noteStatusHistory",
    stems=("noteStatusHistory",),
    columns={
        "noteId": ColumnKind.ID,
        "noteAuthorParticipantId": ColumnKind.NAME,
        "createdAtMillis": ColumnKind.TIME,
        "timestampMillisOfFirstNonNMRStatus": ColumnKind.TIME,
        "firstNonNMRStatus": ColumnKind.NAME,
        "timestampMillisOfCurrentStatus": ColumnKind.TIME,
        "currentStatus": ColumnKind.NAME,
        "timestampMillisOfLatestNonNMRStatus": ColumnKind.TIME,
        "mostRecentNonNMRStatus": ColumnKind.NAME,
        "timestampMillisOfStatusLock": ColumnKind.TIME,
        "lockedStatus": ColumnKind.NAME,
        "timestampMillisOfRetroLock": ColumnKind.TIME,
        "currentCoreStatus": ColumnKind.NAME,
        "currentExpansionStatus": ColumnKind.NAME,
        "currentGroupStatus": ColumnKind.NAME,
        "currentDecidedBy": ColumnKind.NAME,
        "currentModelingGroup": ColumnKind.NUMBER,
        "timestampMillisOfMostRecentStatusChange": ColumnKind.TIME,
        "timestampMillisOfNmrDueToMinStableCrhTime": ColumnKind.TIME,
        "currentMultiGroupStatus": ColumnKind.NAME,
        "currentModelingMultiGroup": ColumnKind.NUMBER,
        "timestampMinuteOfFinalScoringOutput": ColumnKind.TIME,
        "timestampMillisOfFirstNmrDueToMinStableCrhTime": ColumnKind.TIME,
        "abovePcrhThresholdTime": ColumnKind.TIME,
    },
    required=("noteId", "currentStatus"),
    key=("noteId",),
    changed="timestampMillisOfCurrentStatus",
    aliases={
        "participantId": "noteAuthorParticipantId",
        "latestNonNMRStatus": "mostRecentNonNMRStatus",
        "currentDecidedByKey": "currentDecidedBy",
    },
)
ENROLMENT = TableSpec(
    name="userEnrollment",
    stems=("userEnrollment",),
    columns={
        "participantId": ColumnKind.NAME,
        "enrollmentState": ColumnKind.NAME,
        "successfulRatingNeededToEarnIn": ColumnKind.NUMBER,
        "timestampOfLastStateChange": ColumnKind.TIME,
        "timestampOfLastEarnOut": ColumnKind.TIME,
        "modelingPopulation": ColumnKind.NAME,
        "modelingGroup": ColumnKind.NUMBER,
        "numberOfTimesEarnedOut": ColumnKind.NUMBER,
    },
    required=("participantId",),
    key=("participantId",),
    changed="timestampOfLastStateChange",
)
TABLES = (NOTES, RATINGS, HISTORY, ENROLMENT)
