"""A run on HealthNotes on disk: its options, and a line for each post that is finished, so that it can go on."""

from __future__ import annotations

import hashlib
import os
from datetime import date
from enum import StrEnum
from pathlib import Path

from pydantic import Field, ValidationError

from crowdnotes.domain import GateStatus, Mode, Noun
from crowdnotes.errors import InputError

_OPTIONS = "options.json"
_POSTS = "posts.jsonl"
_ELSEWHERE = "Give the options it was started with, or another --out."


class StudyOptions(Noun):
    """What a run depends on: two runs that differ here must not be mixed.

    `engine` is by step the engine and the version of its prompts; `library_dates` by library the day that its
    undated records are no later than.
    """

    data_sha256: str
    mode: Mode
    query_diversity: bool = True
    utility: bool = True
    libraries: tuple[str, ...] = ()
    library_dates: dict[str, date] = Field(default_factory=dict)
    services: tuple[str, ...] = ()
    engine: dict[str, str]


class Outcome(StrEnum):
    """How a post's case ended. All but JUDGED are posts without a note, or without its verdict."""

    JUDGED = "a note was judged"
    NO_EVIDENCE = "no evidence read"
    ABSTAINED = "no note written"
    FAILED = "could not be run"


class PostResult(Noun):
    """One post: the three gates' verdicts on the best candidate, or why there is none.

    `unread` counts the sources that were not read, by how that ended; `unanswered` are the search services
    that failed; `case_id` is the case in the run's own database.
    """

    note_id: str
    is_helpful: bool
    outcome: Outcome
    reason: str = ""
    relevance: GateStatus = GateStatus.NOT_RUN
    correctness: GateStatus = GateStatus.NOT_RUN
    helpfulness: GateStatus = GateStatus.NOT_RUN
    note: str = ""
    passages: int = 0
    unread: dict[str, int] = Field(default_factory=dict)
    unanswered: tuple[str, ...] = ()
    case_id: str | None = None
    seconds: float = 0.0


def file_sha256(path: Path) -> str:
    """Identity of the data, as hex. Raises InputError when it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"{path.name} cannot be read ({error.strerror}).", "Check the path.") from error


class StudyFolder:
    """The folder of one run. One process at a time writes into it."""

    def __init__(self, folder: Path, options: StudyOptions) -> None:
        """Begin a run, or go on with it. Raises InputError when the folder holds a run with other options."""
        self._posts = folder / _POSTS
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _settle(folder / _OPTIONS, options)
            self._results = {result.note_id: result for result in self._read()}
        except OSError as error:
            raise InputError(f"{folder} cannot be used ({error.strerror}).", "Give another --out.") from error

    def result(self, note_id: str) -> PostResult | None:
        """What is on record of a post, also when it could not be run."""
        return self._results.get(note_id)

    def is_finished(self, note_id: str) -> bool:
        """Whether a post need not be run again: one that could not be run is tried anew."""
        result = self.result(note_id)
        return result is not None and result.outcome is not Outcome.FAILED

    def add(self, result: PostResult) -> None:
        """Put a post on record, on the disk when this returns. Raises InputError when it cannot be written."""
        try:
            with self._posts.open("a", encoding="utf-8", newline="\n") as file:
                file.write(result.model_dump_json() + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(f"{self._posts.name} cannot be written ({error.strerror}).", "Make room.") from error
        self._results[result.note_id] = result

    def _read(self) -> list[PostResult]:
        if not self._posts.exists():
            return []
        content = self._posts.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):  # the program was killed while it wrote; that post is run again
            os.truncate(self._posts, whole)
        try:
            return [PostResult.model_validate_json(line) for line in content[:whole].splitlines()]
        except ValidationError as error:
            raise InputError(f"{self._posts.name} holds a line that is not of such a run.", _ELSEWHERE) from error


def _settle(file: Path, options: StudyOptions) -> None:
    if not file.exists():
        file.write_text(options.model_dump_json(indent=2) + "\n", encoding="utf-8")
        return
    try:
        before = StudyOptions.model_validate_json(file.read_bytes())
    except ValidationError as error:
        raise InputError(f"{file.name} is not of such a run.", _ELSEWHERE) from error
    differing = [name for name in StudyOptions.model_fields if getattr(before, name) != getattr(options, name)]
    if differing:
        named = ", ".join(name.replace("_", " ") for name in differing)
        raise InputError(f"The folder {file.parent.name} holds a run with other options ({named}).", _ELSEWHERE)
