"""A run over HealthNotes: on disk a row a finished post, so that it can go on, and its pass rates as a table.

As in the CrowdNotes+ paper, a gate counts only after those before it, and of all posts: one without a note fails.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import Field, ValidationError

from crowdnotes.domain import FrozenModel, GateName, GateStatus, Mode
from crowdnotes.errors import InputError
from crowdnotes.studies.measures import wilson

# The paper measures these; gates that were added since have no figure there.
PAPERS_GATES = (GateName.RELEVANCE, GateName.CORRECTNESS, GateName.HELPFULNESS)
_OPTIONS_FILE = "options.json"
_OTHER_OPTIONS_HINT = "Give the options it was started with, or another --out."


class RunOptions(FrozenModel):
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
    supernote_candidates: int | None = None
    sources: int | None = None


class Outcome(StrEnum):
    """How a post's case ended. All but JUDGED are posts without a note, or without its verdict."""

    JUDGED = "a note was judged"
    NO_EVIDENCE = "no evidence read"
    ABSTAINED = "no note written"
    FAILED = "could not be run"


class SupernoteFigures(FrozenModel):
    """How a supernote in its row was made: the notes, what passed, who chose, and what the jury said.

    Intercepts are simulated, None where the jury could not judge. `random` is a candidate drawn among those that
    passed, for the ablation; `not_run` counts the candidates that a filter could not judge.
    """

    notes: int
    used: int
    best_by: str
    chosen_by: str
    funnel: dict[str, int]
    not_run: dict[str, int]
    winner_intercept: float | None = None
    best_intercept: float | None = None
    random: str = ""
    random_intercept: float | None = None
    revised: bool = False


class RunRow(FrozenModel):
    """One post of a run: what it says, the contributor's note on it, and why the run has nothing of it."""

    note_id: str
    is_helpful: bool
    post: str
    human: str
    reason: str = ""

    @property
    def is_final(self) -> bool:
        """Whether it need not be run again: what could not be run is tried anew."""
        raise NotImplementedError

    @property
    def passed(self) -> bool:
        """Whether it can be compared."""
        raise NotImplementedError

    @property
    def result_line(self) -> str:
        """How it ended, in a line."""
        raise NotImplementedError


class PostRow(RunRow):
    """One post: the program's note with its gates, or why there is none, the human one, and what it took.

    `unread` counts the sources that were not read, by how that ended; `unanswered` are the search services that
    failed. Of a supernote `note` is the winner and `human` the best existing note. `chain` is how many calls had to
    wait for each other; `dollars` None where a price is not known. `case_id` is the case in the run's own database.
    `deciding` says by step whether a sentence that settles the claim was there: see `notes.find_deciding`.
    """

    outcome: Outcome
    note: str = ""
    inferred: bool = False
    gates: dict[GateName, GateStatus] = Field(default_factory=dict)
    candidates: tuple[str, ...] = ()
    changes: str = ""
    settles: str = ""
    unread: dict[str, int] = Field(default_factory=dict)
    unanswered: tuple[str, ...] = ()
    calls: int = 0
    chain: int = 0
    tokens: int = 0
    dollars: float | None = None
    seconds: float = 0.0
    case_id: str | None = None
    deciding: dict[str, bool] = Field(default_factory=dict)
    supernote: SupernoteFigures | None = None

    @property
    def is_final(self) -> bool:
        """See `RunRow`."""
        return self.outcome is not Outcome.FAILED

    @property
    def result_line(self) -> str:
        """See `RunRow`."""
        return f"{self.outcome.value}. {self.reason or self.note}"

    @property
    def passed(self) -> bool:
        """Whether there is a note that passed every gate: only such a one does the program hold ready to be posted.

        A supernote has passed its filters; its gates wait for a person who inspects the linked pages.
        """
        if self.supernote is not None:
            return bool(self.note)
        return bool(self.note and self.gates) and all(status is GateStatus.PASS for status in self.gates.values())


Row = TypeVar("Row", bound=RunRow)


class RunFolder(Generic[Row]):
    """The folder of one run, its rows of `form` in `name`. One process at a time writes into it."""

    def __init__(self, folder: Path, name: str, options: RunOptions, form: type[Row]) -> None:
        """Begin a run, or go on with it. Raises InputError when the folder holds a run with other options."""
        self._file, self._form = folder / name, form
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # it holds posts and drafts
            _require_same_options(folder / _OPTIONS_FILE, self._file, options)
            self._rows = {row.note_id: row for row in self._read()}
        except OSError as error:
            raise InputError(f"{folder} cannot be used ({error.strerror}).", "Give another --out.") from error

    def row(self, note_id: str) -> Row | None:
        """Return what is on record of a post, also when it could not be run."""
        return self._rows.get(note_id)

    def is_finished(self, note_id: str) -> bool:
        """Return whether a post need not be run again: one that could not be run is tried anew."""
        row = self.row(note_id)
        return row is not None and row.is_final

    def add(self, row: Row) -> None:
        """Put a post on record, on the disk when this returns. Raises InputError when it cannot be written."""
        try:
            with self._file.open("a", encoding="utf-8", newline="\n") as file:
                file.write(row.model_dump_json() + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(
                f"{self._file.name} cannot be written ({error.strerror}).", "Free some disk space."
            ) from error
        self._rows[row.note_id] = row

    def _read(self) -> list[Row]:
        if not self._file.exists():
            return []
        content = self._file.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):  # the program was killed while it wrote; that post is run again
            os.truncate(self._file, whole)
        try:
            return [self._form.model_validate_json(line) for line in content[:whole].splitlines()]
        except ValidationError as error:
            raise InputError(
                f"{self._file.name} holds a line that is not of such a run.", _OTHER_OPTIONS_HINT
            ) from error


def _require_same_options(file: Path, rows: Path, options: RunOptions) -> None:
    if not file.exists():
        if rows.exists():
            raise InputError(f"{rows.name} is there without the options of its run.", _OTHER_OPTIONS_HINT)
        file.write_text(options.model_dump_json(indent=2) + "\n", encoding="utf-8")
        return
    try:
        before = RunOptions.model_validate_json(file.read_bytes())
    except ValidationError as error:
        raise InputError(f"{file.name} is not of such a run.", _OTHER_OPTIONS_HINT) from error
    differing = [name for name in RunOptions.model_fields if getattr(before, name) != getattr(options, name)]
    if differing:
        named = ", ".join(name.replace("_", " ") for name in differing)
        raise InputError(
            f"The folder {file.parent.name} holds a run with other options ({named}).", _OTHER_OPTIONS_HINT
        )


TableRow = dict[str, str | int | float | None]


def table_rows(rows: Sequence[PostRow]) -> list[TableRow]:
    """Of the helpful half, the other (by the crowd's verdict on the contributor's note), and both together.

    Posts, how many ended in each way, and by gate how many passed, in percent with Wilson's 95 % interval; percent is
    None of no posts.
    """
    helpful = [row for row in rows if row.is_helpful]
    others = [row for row in rows if not row.is_helpful]
    return [
        _build_half_row("helpful", helpful),
        _build_half_row("not helpful", others),
        _build_half_row("overall", rows),
    ]


def _build_half_row(name: str, rows: Sequence[PostRow]) -> TableRow:
    ended = Counter(row.outcome for row in rows)
    found: TableRow = {"half": name, "posts": len(rows)}
    found |= {outcome.name.lower(): ended[outcome] for outcome in Outcome}
    standing = list(rows)
    for gate in PAPERS_GATES:
        standing = [row for row in standing if row.gates.get(gate) is GateStatus.PASS]
        low, high = wilson(len(standing), len(rows))
        found |= {
            f"{gate.value}_passed": len(standing),
            f"{gate.value}_percent": round(100 * len(standing) / len(rows), 2) if rows else None,
            f"{gate.value}_low": round(100 * low, 2),
            f"{gate.value}_high": round(100 * high, 2),
        }
    return found


def rates_in_words(row: TableRow) -> list[str]:
    """Return the three rates with their intervals: "50.00 (9–91)"."""
    rates = [[row[f"{gate.value}_{end}"] for end in ("percent", "low", "high")] for gate in PAPERS_GATES]
    return ["—" if rate is None else f"{rate:.2f} ({low:.0f}–{high:.0f})" for rate, low, high in rates]


def switches(options: RunOptions) -> str:
    """Return the run in a few words: "automation, without query diversity"."""
    off = {"query diversity": options.query_diversity, "utility judgement": options.utility}
    without = [name for name, is_on in off.items() if not is_on]
    return options.mode.value + (f", without {' and '.join(without)}" if without else "")


def cautions(options: RunOptions, wanted: int, rows: Sequence[PostRow], trained_on: int) -> list[str]:
    """Return what a reader of the table must know, in sentences.

    wanted: how many posts were asked for. trained_on: how many of them were in the training data of the local judge.
    """
    found = [
        "Rates are of all posts, as in the paper: one without a note fails every gate.",
        "The paper's figures were judged by GPT-4.1 and HealthJudge; this run by its own engine.",
    ]
    if len(rows) < wanted:
        found.insert(0, f"Not finished: {len(rows)} of {wanted} posts.")
    if trained_on:
        found.append(
            f"The judge without AI learned from {trained_on} of these posts, so it may do better here than on new ones."
        )
    if options.mode is Mode.AUTOMATION:
        found.append("Evidence is no later than the contributor's note; what has no date is left out.")
    found += [f"Library {name}: its undated records count as of {day}." for name, day in options.library_dates.items()]
    unread: Counter[str] = Counter()
    for row in rows:
        unread.update(row.unread)
    if unread:
        counts = ", ".join(f"{count} {how}" for how, count in unread.most_common())
        found.append(f"Sources that were not read: {counts}.")
    silent = sorted({name for row in rows for name in row.unanswered})
    if silent:
        posts = sum(bool(row.unanswered) for row in rows)
        found.append(f"A search was not answered for {posts} of the posts: {', '.join(silent)}.")
    failed = sum(row.outcome is Outcome.FAILED for row in rows)
    if failed:
        found.append(f"We could not run {failed} of the posts. The same command tries them again.")
    return found
