"""The four tables of the public data: their columns today, their names in the pilot, what must be there.

Source: the download page of the guide and the scorer's constants.py; the pilot's headers are from the
files of early 2021. Ids are 64-bit integers (notes, posts) or strings (people), never floats.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    """How a column's text is read."""

    ID = "whole number"
    TIME = "milliseconds since 1970"
    FLAG = "0 or 1"
    NUMBER = "number"
    NAME = "one of few words"  # kept as a dictionary: people's ids and enumerations
    TEXT = "free text"


@dataclass(frozen=True)
class TableSpec:
    """One table: how its files are called, its columns, those it cannot do without, what makes a row unique."""

    name: str
    stems: tuple[str, ...]
    columns: dict[str, Kind]
    required: tuple[str, ...]
    key: tuple[str, ...]
    aliases: dict[str, str] = field(default_factory=dict)

    def canonical(self, header: str) -> str:
        """Today's name of a column."""
        return self.aliases.get(header, header)


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
        "notMisleadingPersonalOpinion trustworthySources isMediaNote isCollaborativeNote"
    ).split()
)

RATINGS = TableSpec(
    name="ratings",
    stems=("ratings", "noteRatings"),
    columns={
        "noteId": Kind.ID,
        "raterParticipantId": Kind.NAME,
        "createdAtMillis": Kind.TIME,
        "version": Kind.NUMBER,
        "agree": Kind.FLAG,
        "disagree": Kind.FLAG,
        "helpful": Kind.FLAG,
        "notHelpful": Kind.FLAG,
        "helpfulnessLevel": Kind.NAME,
        **dict.fromkeys(HELPFUL_TAGS, Kind.FLAG),
        **dict.fromkeys(NOT_HELPFUL_TAGS, Kind.FLAG),
        "ratedOnTweetId": Kind.ID,
        "ratingSourceBucketed": Kind.NAME,
        "suggestion": Kind.TEXT,
        "suggestionId": Kind.NAME,
    },
    required=("noteId", "raterParticipantId"),
    key=("noteId", "raterParticipantId"),
    aliases={
        "participantId": "raterParticipantId",
        "notHelpfulArgumentativeOrInflammatory": "notHelpfulArgumentativeOrBiased",
    },
)
NOTES = TableSpec(
    name="notes",
    stems=("notes",),
    columns={
        "noteId": Kind.ID,
        "noteAuthorParticipantId": Kind.NAME,
        "createdAtMillis": Kind.TIME,
        "tweetId": Kind.ID,
        "classification": Kind.NAME,
        "believable": Kind.NAME,
        "harmful": Kind.NAME,
        "validationDifficulty": Kind.NAME,
        **dict.fromkeys(_NOTE_FLAGS, Kind.FLAG),
        "summary": Kind.TEXT,
    },
    required=("noteId", "classification"),
    key=("noteId",),
    aliases={"participantId": "noteAuthorParticipantId"},
)
HISTORY = TableSpec(
    name="noteStatusHistory",
    stems=("noteStatusHistory",),
    columns={
        "noteId": Kind.ID,
        "noteAuthorParticipantId": Kind.NAME,
        "createdAtMillis": Kind.TIME,
        "timestampMillisOfFirstNonNMRStatus": Kind.TIME,
        "firstNonNMRStatus": Kind.NAME,
        "timestampMillisOfCurrentStatus": Kind.TIME,
        "currentStatus": Kind.NAME,
        "timestampMillisOfLatestNonNMRStatus": Kind.TIME,
        "mostRecentNonNMRStatus": Kind.NAME,
        "timestampMillisOfStatusLock": Kind.TIME,
        "lockedStatus": Kind.NAME,
        "timestampMillisOfRetroLock": Kind.TIME,
        "currentCoreStatus": Kind.NAME,
        "currentExpansionStatus": Kind.NAME,
        "currentGroupStatus": Kind.NAME,
        "currentDecidedBy": Kind.NAME,
        "currentModelingGroup": Kind.NUMBER,
        "timestampMillisOfMostRecentStatusChange": Kind.TIME,
        "timestampMillisOfNmrDueToMinStableCrhTime": Kind.TIME,
        "currentMultiGroupStatus": Kind.NAME,
        "currentModelingMultiGroup": Kind.NUMBER,
        "timestampMinuteOfFinalScoringOutput": Kind.TIME,
        "timestampMillisOfFirstNmrDueToMinStableCrhTime": Kind.TIME,
        "abovePcrhThresholdTime": Kind.TIME,
    },
    required=("noteId", "currentStatus"),
    key=("noteId",),
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
        "participantId": Kind.NAME,
        "enrollmentState": Kind.NAME,
        "successfulRatingNeededToEarnIn": Kind.NUMBER,
        "timestampOfLastStateChange": Kind.TIME,
        "timestampOfLastEarnOut": Kind.TIME,
        "modelingPopulation": Kind.NAME,
        "modelingGroup": Kind.NUMBER,
        "numberOfTimesEarnedOut": Kind.NUMBER,
    },
    required=("participantId",),
    key=("participantId",),
)
TABLES = (NOTES, RATINGS, HISTORY, ENROLMENT)
