"""A note on its way to X, and what became of it there."""

from __future__ import annotations

from datetime import datetime

from crowdnotes.domain.base import Kind, Noun


class OnXState(Kind):
    """OPEN: whether it arrived is not known; it is being sent, or the answer never came."""

    OPEN = "unsettled"
    SENT = "on x"


class OnX(Noun):
    """The one note that the program sent, or meant to send, to a post of that number.

    `at` is when it was last to be sent, by the database's clock; `status` and `results` (of a test note's evaluation)
    are in X's words, "" before X said any.
    """

    post_id: str
    test_mode: bool
    case_id: str
    text_sha256: str
    attempt: str
    at: datetime
    state: OnXState
    note_id: str = ""
    status: str = ""
    results: str = ""
