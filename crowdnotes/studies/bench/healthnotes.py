"""A run on HealthNotes: on disk a line a finished post, so that it can go on; as a table CrowdNotes+ Table 2.

As in the paper, a gate counts only after those before it, and of all posts: one without a note fails.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path

from pydantic import Field, ValidationError

from crowdnotes.domain import GateName, GateStatus, Mode, Noun
from crowdnotes.errors import InputError
from crowdnotes.studies.measures import wilson

# The paper measures these; a gate that was added since has no figure there to stand beside.
PAPERS_GATES = (GateName.RELEVANCE, GateName.CORRECTNESS, GateName.HELPFULNESS)
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
    """One post: the three gates' verdicts on the first candidate, or why there is none.

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


@dataclass(frozen=True, slots=True)
class PassRate:
    """How many of a half's posts passed a gate."""

    passed: int
    of: int

    @property
    def percent(self) -> float | None:
        """In [0, 100], two decimals; None of no posts."""
        return round(100 * self.passed / self.of, 2) if self.of else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval in percent; (0, 100) of no posts."""
        low, high = wilson(self.passed, self.of)
        return round(100 * low, 2), round(100 * high, 2)


@dataclass(frozen=True, slots=True)
class HalfRow:
    """A half of the benchmark, or both: its posts by outcome, and the gates' pass rates."""

    name: str
    posts: int
    outcomes: Mapping[Outcome, int]
    rates: Mapping[GateName, PassRate]


def table_rows(results: Sequence[PostResult]) -> tuple[HalfRow, HalfRow, HalfRow]:
    """Helpful, not helpful (by the crowd's verdict on the contributor's note), and both together."""
    helpful = [result for result in results if result.is_helpful]
    others = [result for result in results if not result.is_helpful]
    return _row("helpful", helpful), _row("not helpful", others), _row("overall", results)


def table_csv(rows: Sequence[HalfRow]) -> str:
    """The rows with a header; percentages with Wilson's 95 % interval."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(as_record(rows[0])), lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(as_record(row) for row in rows)
    return out.getvalue()


def as_record(row: HalfRow) -> dict[str, str | int | float | None]:
    """A row as flat names and values, for CSV and JSON."""
    record: dict[str, str | int | float | None] = {"half": row.name, "posts": row.posts}
    record |= {outcome.name.lower(): row.outcomes[outcome] for outcome in Outcome}
    for gate, rate in row.rates.items():
        low, high = rate.interval
        record |= {
            f"{gate.value}_passed": rate.passed,
            f"{gate.value}_percent": rate.percent,
            f"{gate.value}_low": low,
            f"{gate.value}_high": high,
        }
    return record


def _row(name: str, results: Sequence[PostResult]) -> HalfRow:
    counts = Counter(result.outcome for result in results)
    rates: dict[GateName, PassRate] = {}
    standing = list(results)
    for gate in PAPERS_GATES:
        standing = [result for result in standing if getattr(result, gate.value) is GateStatus.PASS]
        rates[gate] = PassRate(len(standing), len(results))
    return HalfRow(name, len(results), {outcome: counts[outcome] for outcome in Outcome}, rates)


@dataclass(frozen=True, slots=True)
class Report:
    """What the command shows: `wanted` is how many posts were asked for, `cautions` are sentences."""

    options: StudyOptions
    wanted: int
    results: tuple[PostResult, ...]
    rows: tuple[HalfRow, HalfRow, HalfRow]
    cautions: tuple[str, ...]


def make_report(options: StudyOptions, wanted: int, results: Sequence[PostResult], trained_on: int) -> Report:
    """The report of what is finished; `trained_on` of the posts were in the training data of the local judge."""
    return Report(options, wanted, tuple(results), table_rows(results), _cautions(options, wanted, results, trained_on))


def switches(options: StudyOptions) -> str:
    """The run in a few words: "automation, without query diversity"."""
    off = {"query diversity": options.query_diversity, "utility judgement": options.utility}
    without = [name for name, is_on in off.items() if not is_on]
    return options.mode.value + (f", without {' and '.join(without)}" if without else "")


def _cautions(options: StudyOptions, wanted: int, results: Sequence[PostResult], trained_on: int) -> tuple[str, ...]:
    found = [
        "Rates are of all posts, as in the paper: one without a note counts as failing every gate.",
        "The published figures were judged by GPT-4.1 and HealthJudge; this run by the engine that is named.",
    ]
    if len(results) < wanted:
        found.insert(0, f"Not finished: {len(results)} of {wanted} posts.")
    if trained_on:
        found.append(
            f"The local helpfulness judge was trained on {trained_on} of these posts, with the contributors' notes, so"
            " its verdicts here may follow the halves more closely than on new posts."
        )
    if options.mode is Mode.AUTOMATION:
        found.append("Evidence is of the day of the contributor's note or before; what has no date is left out.")
    found += [f"Library {name}: its undated records count as of {day}." for name, day in options.library_dates.items()]
    unread: Counter[str] = Counter()
    for result in results:
        unread.update(result.unread)
    if unread:
        counts = ", ".join(f"{count} {how}" for how, count in unread.most_common())
        found.append(f"Sources that were not read: {counts}.")
    silent = sorted({name for result in results for name in result.unanswered})
    if silent:
        posts = sum(bool(result.unanswered) for result in results)
        found.append(f"A search was not answered for {posts} of the posts: {', '.join(silent)}.")
    failed = sum(result.outcome is Outcome.FAILED for result in results)
    if failed:
        found.append(f"Could not be run: {failed} of the posts. The same command tries them again.")
    return tuple(found)
