"""One call under way: what it says is told while it comes, and one that says the same for ever is cut off."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from pydantic_core import from_json

from crowdnotes.engines.llm.parsing import sanitized, spoken
from crowdnotes.errors import AnswerUnreadableError
from crowdnotes.wording import say

_EVERY = 24  # characters more, until the words are read and told again
_LONGEST_TOLD = 50_000  # characters of an answer under way; it is read again with each piece that comes
_SHOWN = 600
_TAIL = 1_600  # characters that are looked at for one piece again and again
_TIMES = 8  # that it stands there, one after the other; whoever lists things does not write one so often
_PATIENCE = 2  # seconds before it is told that nothing has come yet


class Telling:
    """The words of one call so far. `check` is looked at with each sign of life and several times a second."""

    def __init__(self, tell: Callable[[str], None], check: Callable[[], None] = lambda: None) -> None:
        self.said = ""
        self.thought = ""
        self._tell = tell
        self._check = check
        self._begun = time.monotonic()
        self._told_at = 0  # characters
        self._is_readable = False
        self._seconds_told = 0
        self._looked_at = 0

    def piece(self, text: str, is_thought: bool) -> None:
        """The next piece came. Raises AnswerUnreadableError when the model goes round in circles."""
        if is_thought:
            self.thought += text
        else:
            self.said += text
        length = len(self.said) + len(self.thought)
        if length - self._looked_at >= _TAIL // 4:
            self._looked_at = length
            refuse_circles(self.thought if is_thought else self.said)
        if len(self.said) - self._told_at >= _EVERY and len(self.said) <= _LONGEST_TOLD:
            self._told_at = len(self.said)
            if words := readable(self.said):
                self._is_readable = True
                self._tell(words)
        self._tell_time()

    def check(self) -> None:
        """Tell how long it has been thinking or silent. Raises what the case's own check raises."""
        self._check()
        self._tell_time()

    def _tell_time(self) -> None:
        seconds = int(time.monotonic() - self._begun)
        if self._is_readable or seconds < _PATIENCE or seconds == self._seconds_told:
            return
        self._seconds_told = seconds
        self._tell(say("model.thinking" if self.thought or self.said.strip() else "model.waiting", seconds=seconds))


def refuse_circles(words: str) -> None:
    """Raises AnswerUnreadableError when the words end in one piece again and again."""
    tail = words[-_TAIL:]
    for length in range(1, _TAIL // _TIMES + 1) if len(tail) == _TAIL else ():
        if tail[length:] == tail[:-length]:
            raise AnswerUnreadableError(say("answers.repeats"))


def readable(words: str) -> str:
    """What a person can read of an unfinished answer: its last string of several words; "" if there is none."""
    said = spoken(words)
    begin = said.find("{")
    if begin < 0:
        return ""
    try:
        part = from_json(said[begin:], allow_partial="trailing-strings")
    except ValueError:
        return ""
    return sanitized(next((text for text in _strings(part) if " " in text.strip()), "")[-_SHOWN:], _SHOWN)


def _strings(part: Any) -> list[str]:
    """All strings in it, the last first."""
    if isinstance(part, str):
        return [part]
    inside = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    return [text for item in reversed(list(inside)) for text in _strings(item)]
