"""What prevents the approval of a case, and the written reasons for which a person approved all the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from crowdnotes.domain.base import FrozenModel
from crowdnotes.wording import fill


class ObstacleKind(StrEnum):
    """The rules of approval, in the order in which a case meets them."""

    DECIDED = "decided"
    NOT_YOURS = "not yours"
    NO_EVIDENCE = "no evidence"
    NO_NOTE = "no note"
    EVIDENCE_GONE = "evidence gone"
    UNOPENED = "unopened"
    UNJUDGED = "unjudged"
    READERS = "readers"
    READERS_DISAGREE = "readers disagree"
    FOUND_WRONG = "found wrong"
    FORM = "form"
    NOT_SCORED = "not scored"
    STALE = "stale"
    GATE_FAILED = "gate failed"
    GATE_NOT_RUN = "gate not run"
    SENTENCE_NOT_COMPARED = "sentence not compared"
    WARNINGS_OPEN = "warnings open"
    LINK_UNINSPECTED = "link not inspected"
    LINK_UNANSWERED = "link not found to answer"
    NO_TAG = "no tag"


_PHRASE_BY_OVERRIDABLE_KIND = {
    ObstacleKind.READERS_DISAGREE: "the readers disagree about {what}",
    ObstacleKind.GATE_FAILED: "the {what} check did not pass",
    ObstacleKind.GATE_NOT_RUN: "the {what} check was not run",
    ObstacleKind.SENTENCE_NOT_COMPARED: "nobody compared this sentence with a source: “{what}”",
    ObstacleKind.WARNINGS_OPEN: "nobody checked the warnings about this sentence: “{what}”",
    ObstacleKind.LINK_UNINSPECTED: "we did not read the page behind {what}",
    ObstacleKind.LINK_UNANSWERED: "the link {what} did not respond",
}
LINK_KINDS = frozenset({ObstacleKind.LINK_UNINSPECTED, ObstacleKind.LINK_UNANSWERED})
SENTENCE_KINDS = frozenset({ObstacleKind.SENTENCE_NOT_COMPARED, ObstacleKind.WARNINGS_OPEN})
_KINDS_WITH_WORDS = frozenset({*SENTENCE_KINDS, ObstacleKind.READERS_DISAGREE})


class ObstacleId(FrozenModel):
    """Which rule refuses, and what about: a gate, a sentence's words, an address, a passage's id, a fault of form."""

    kind: ObstacleKind
    subject: str = ""

    @property
    def is_overridable(self) -> bool:
        """Whether a person may approve all the same, with a written reason."""
        return self.kind in _PHRASE_BY_OVERRIDABLE_KIND

    def although(self, address: Callable[[str], str] = str, words: Callable[[str], str] = str) -> str:
        """Return the words that follow "approved although", for an overridable obstacle.

        `address` writes a link, `words` a sentence of the note.
        """
        write = address if self.kind in LINK_KINDS else words if self.kind in _KINDS_WITH_WORDS else str
        subject = write(self.subject)
        return fill(_PHRASE_BY_OVERRIDABLE_KIND[self.kind], what=subject)


class Obstacle(FrozenModel):
    """One thing that prevents approval: a sentence, and what removes it."""

    id: ObstacleId
    sentence: str
    lifts: str = ""


class Override(FrozenModel):
    """An obstacle in spite of which a person approved, and the reason they wrote."""

    obstacle: ObstacleId
    reason: str


_MIN_REASON_LETTERS = 10  # fewer is a keystroke to get past the box, not a reason to judge later
_MIN_REASON_WORDS = 3  # different ones, for the same reason
_LETTER_RUN_PATTERN = re.compile(r"[^\W\d_]+")
# Chinese, Japanese, Thai, Lao, Burmese and Khmer put no spaces between words: there each sign counts as one.
_UNSPACED_SCRIPT_PATTERN = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)


def is_reason(text: str) -> bool:
    """Return whether a text is enough of a reason to approve in spite of a check: letters that make different words."""
    unspaced = _UNSPACED_SCRIPT_PATTERN.findall(text)
    # Two signs of those scripts are about a word, and say as much as a longer run of letters.
    letters = sum(character.isalpha() for character in text) + len(unspaced)
    words = len({*_LETTER_RUN_PATTERN.findall(_UNSPACED_SCRIPT_PATTERN.sub(" ", text).casefold()), *unspaced})
    return words >= _MIN_REASON_WORDS and letters >= _MIN_REASON_LETTERS


def remaining(found: Sequence[Obstacle], reasons: Mapping[ObstacleId, str]) -> tuple[Obstacle, ...]:
    """Return the obstacles that remain, given the reasons written so far. One that is too short asks for more words."""
    left = (item for item in found if not (item.id.is_overridable and is_reason(reasons.get(item.id, ""))))
    return tuple(
        item.replace(lifts="Give the reason in a short sentence.") if reasons.get(item.id) else item for item in left
    )
