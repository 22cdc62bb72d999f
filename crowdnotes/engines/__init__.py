"""The Engine boundary and its implementations: the local engine, and one that asks a language model."""

from crowdnotes.domain import Aim
from crowdnotes.engines.base import (
    Brief,
    Engine,
    EngineStep,
    FurtherSearch,
    ImageReading,
    NoteSentence,
    Pick,
    Ranking,
    ResultOrigin,
    Revision,
    SearchPlan,
    SuggestionReplies,
    SuggestionReply,
    SupernoteAnswer,
    SupernoteBrief,
    SupernoteVerdict,
    SupernoteWriter,
    WriterAnswer,
    Written,
    WrittenSentence,
)
