"""A run over HealthNotes: on disk a row a finished post, so that it can go on; CrowdNotes+ Table 2 as table and page.

As in the paper, a gate counts only after those before it, and of all posts: one without a note fails. The page stands
beside the published figures and needs no network: plotly.js is in it. Posts and notes are outside text: pandas escapes
what it writes.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from datetime import date
from enum import StrEnum
from html import escape
from pathlib import Path
from typing import Generic, TypeVar

import pandas as pd
import plotly.graph_objects as go
from pydantic import Field, ValidationError

from crowdnotes.domain import FrozenModel, GateName, GateStatus, Mode
from crowdnotes.errors import InputError
from crowdnotes.studies.bench.source_study import published
from crowdnotes.studies.measures import wilson

# The paper measures these; a gate that was added since has no figure there to stand beside.
PAPERS_GATES = (GateName.RELEVANCE, GateName.CORRECTNESS, GateName.HELPFULNESS)
_OPTIONS = "options.json"
_ELSEWHERE = "Give the options it was started with, or another --out."


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
    """What stands behind a supernote in its row: the notes, what passed, who chose, and what the jury said.

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
    def told(self) -> str:
        """How it ended, in a line."""
        raise NotImplementedError


class PostRow(RunRow):
    """One post: the program's note with its gates, or why there is none, the human one, and what it took.

    `unread` counts the sources that were not read, by how that ended; `unanswered` are the search services that
    failed. Of a supernote `note` is the winner and `human` the best existing note. `chain` is how many calls had to
    wait for each other; `dollars` None where a price is not known. `case_id` is the case in the run's own database.
    """

    outcome: Outcome
    note: str = ""
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
    supernote: SupernoteFigures | None = None

    @property
    def is_final(self) -> bool:
        """See `RunRow`."""
        return self.outcome is not Outcome.FAILED

    @property
    def told(self) -> str:
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
            folder.mkdir(parents=True, exist_ok=True)
            _settle(folder / _OPTIONS, self._file, options)
            self._rows = {row.note_id: row for row in self._read()}
        except OSError as error:
            raise InputError(f"{folder} cannot be used ({error.strerror}).", "Give another --out.") from error

    def row(self, note_id: str) -> Row | None:
        """What is on record of a post, also when it could not be run."""
        return self._rows.get(note_id)

    def is_finished(self, note_id: str) -> bool:
        """Whether a post need not be run again: one that could not be run is tried anew."""
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
            raise InputError(f"{self._file.name} cannot be written ({error.strerror}).", "Make room.") from error
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
            raise InputError(f"{self._file.name} holds a line that is not of such a run.", _ELSEWHERE) from error


def _settle(file: Path, rows: Path, options: RunOptions) -> None:
    if not file.exists():
        if rows.exists():
            raise InputError(f"{rows.name} is there without the options of its run.", _ELSEWHERE)
        file.write_text(options.model_dump_json(indent=2) + "\n", encoding="utf-8")
        return
    try:
        before = RunOptions.model_validate_json(file.read_bytes())
    except ValidationError as error:
        raise InputError(f"{file.name} is not of such a run.", _ELSEWHERE) from error
    differing = [name for name in RunOptions.model_fields if getattr(before, name) != getattr(options, name)]
    if differing:
        named = ", ".join(name.replace("_", " ") for name in differing)
        raise InputError(f"The folder {file.parent.name} holds a run with other options ({named}).", _ELSEWHERE)


TableRow = dict[str, str | int | float | None]


def table_rows(rows: Sequence[PostRow]) -> list[TableRow]:
    """Of the helpful half, the other (by the crowd's verdict on the contributor's note), and both together.

    Posts, how many ended in each way, and by gate how many passed, in percent with Wilson's 95 % interval; percent is
    None of no posts.
    """
    helpful = [row for row in rows if row.is_helpful]
    others = [row for row in rows if not row.is_helpful]
    return [_table_row("helpful", helpful), _table_row("not helpful", others), _table_row("overall", rows)]


def _table_row(name: str, rows: Sequence[PostRow]) -> TableRow:
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
    """The three rates with their intervals: "50.00 (9–91)"."""
    rates = [[row[f"{gate.value}_{end}"] for end in ("percent", "low", "high")] for gate in PAPERS_GATES]
    return ["—" if rate is None else f"{rate:.2f} ({low:.0f}–{high:.0f})" for rate, low, high in rates]


def switches(options: RunOptions) -> str:
    """The run in a few words: "automation, without query diversity"."""
    off = {"query diversity": options.query_diversity, "utility judgement": options.utility}
    without = [name for name, is_on in off.items() if not is_on]
    return options.mode.value + (f", without {' and '.join(without)}" if without else "")


def cautions(options: RunOptions, wanted: int, rows: Sequence[PostRow], trained_on: int) -> list[str]:
    """What a reader of the table must know, in sentences.

    wanted: how many posts were asked for. trained_on: how many of them were in the training data of the local judge.
    """
    found = [
        "Rates are of all posts, as in the paper: one without a note counts as failing every gate.",
        "The published figures were judged by GPT-4.1 and HealthJudge; this run by the engine that is named.",
    ]
    if len(rows) < wanted:
        found.insert(0, f"Not finished: {len(rows)} of {wanted} posts.")
    if trained_on:
        found.append(
            f"The local helpfulness judge was trained on {trained_on} of these posts, with the contributors' notes, so"
            " its verdicts here may follow the halves more closely than on new posts."
        )
    if options.mode is Mode.AUTOMATION:
        found.append("Evidence is of the day of the contributor's note or before; what has no date is left out.")
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
        found.append(f"Could not be run: {failed} of the posts. The same command tries them again.")
    return found


THIS_RUN = "This run"
_MARKED = {"Human notes": ("x", "#555555"), "o3": ("diamond", "#7b5ea7"), "MedGemma-27B": ("circle", "#b0762f")}
_HALVES = {"helpful": "#1a7f4e", "not helpful": "#2f6db0"}
_ROW = 26  # pixels of a model


def published_rates(mode: Mode) -> dict[str, list[float]]:
    """By model relevance, correctness and helpfulness of the helpful half, then of the other, in percent.

    The contributors' own notes stand on their own links in both modes.
    """
    halves = {model["name"]: model.get(mode.value, model["augmentation"]) for model in published()["models"]}
    return {name: [*half["helpful"], *half["not_helpful"]] for name, half in halves.items()}


def gates_plot(rows: Sequence[TableRow], mode: Mode) -> go.Figure:
    """Pass rates of the three gates in each half as bars with intervals; published ones as marks over them."""
    figure = go.Figure()
    cells = [(row, gate.value) for row in rows[:2] for gate in PAPERS_GATES]
    places = [[row["half"] for row, _ in cells], [gate for _, gate in cells]]
    figure.add_bar(
        name=THIS_RUN,
        x=places,
        y=[row[f"{gate}_percent"] for row, gate in cells],
        error_y=_error_bars(cells, "#333333"),
        marker_color=[_HALVES[str(row["half"])] for row, _ in cells],
    )
    known = published_rates(mode)
    for name, (symbol, colour) in _MARKED.items():
        marker = {"symbol": symbol, "color": colour, "size": 10}
        figure.add_scatter(name=f"{name} (paper)", x=places, y=known[name], mode="markers", marker=marker)
    return _styled(figure, "Posts that pass each gate, %", height=420).update_yaxes(range=[0, 100])


def models_plot(rows: Sequence[TableRow], mode: Mode) -> go.Figure:
    """Helpfulness of every published model in this mode, and of this run with its interval, best on top."""
    known = {name: (rates[2], rates[5]) for name, rates in published_rates(mode).items()}
    order = sorted(known, key=lambda name: sum(known[name]))
    last = PAPERS_GATES[-1].value
    figure = go.Figure()
    for place, (half, colour) in enumerate(_HALVES.items()):
        figure.add_scatter(
            name=f"{half} half",
            x=[*(known[name][place] for name in order), rows[place][f"{last}_percent"]],
            y=[*order, THIS_RUN],
            error_x=_error_bars([(None, "")] * len(order) + [(rows[place], last)], colour),
            cliponaxis=False,
            mode="markers",
            marker={"color": colour, "size": 10, "symbol": ["circle"] * len(order) + ["star"]},
        )
    figure.update_xaxes(range=[0, 100])
    return _styled(figure, "Posts that pass all three gates, %", height=_ROW * (len(order) + 1) + 120)


def _error_bars(cells: Sequence[tuple[TableRow | None, str]], colour: str) -> dict[str, object]:
    """The interval around each rate; nothing where there are no posts, as of a published figure."""
    ends: list[tuple[float, float]] = []
    for row, gate in cells:
        if row is None or row[f"{gate}_percent"] is None:
            ends.append((0.0, 0.0))
        else:
            low, rate, high = (float(row[f"{gate}_{end}"] or 0) for end in ("low", "percent", "high"))
            ends.append((rate - low, high - rate))
    below, above = zip(*ends, strict=True)
    return {"type": "data", "symmetric": False, "array": above, "arrayminus": below, "color": colour}


def _styled(figure: go.Figure, title: str, *, height: int) -> go.Figure:
    margin = {"l": 10, "r": 10, "t": 60, "b": 10}
    legend = {"orientation": "h", "y": -0.15}
    return figure.update_layout(title=title, template="plotly_white", height=height, margin=margin, legend=legend)


_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1d2733; }
table { border-collapse: collapse; display: block; overflow-x: auto; margin: 1rem 0; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid #d5dbe1; text-align: right; vertical-align: top; }
th:first-child, td:first-child { text-align: left; white-space: nowrap; }
.beside tbody tr:first-child { font-weight: 600; background: #eef5f0; }
.posts td { text-align: left; overflow-wrap: anywhere; }
"""
_PLOT = {"displayModeBar": False, "responsive": True}


def report_page(options: RunOptions, posts: Sequence[PostRow], cautions: Sequence[str]) -> str:
    """The whole page as HTML."""
    rows = table_rows(posts)
    gates = gates_plot(rows, options.mode).to_html(full_html=False, include_plotlyjs=True, config=_PLOT)
    models = models_plot(rows, options.mode).to_html(full_html=False, include_plotlyjs=False, config=_PLOT)
    title = f"HealthNotes: {switches(options)}"
    engines = "; ".join(f"{step}: {name}" for step, name in options.engine.items())
    places = ", ".join((*options.libraries, *options.services)) or "the links of the contributors' notes"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>{escape(title)}</h1>
<p>{escape(f"{len(posts)} posts. Evidence from {places}. Engine: {engines}.")}</p>
<ul>{"".join(f"<li>{escape(caution)}</li>" for caution in cautions)}</ul>
<h2>This run</h2>
{_own(rows)}
{gates}
<h2>Beside the published figures (Table 2)</h2>
<p>{escape(published()["source"])}. Human notes stand on the contributors' own links in both modes.</p>
{models}
{_beside(rows, options.mode)}
{_ablations(rows, options) if options.mode is Mode.AUTOMATION else ""}
<h2>Post by post</h2>
<details><summary>{len(posts)} posts</summary>{_posts(posts)}</details>
</body>
</html>
"""


def _own(rows: Sequence[TableRow]) -> str:
    head = ["half", "posts", *(outcome.value for outcome in Outcome), *(f"{gate.value} %" for gate in PAPERS_GATES)]
    counted = ["half", "posts", *(outcome.name.lower() for outcome in Outcome)]
    return _table(head, [[*(row[name] for name in counted), *rates_in_words(row)] for row in rows])


def _beside(rows: Sequence[TableRow], mode: Mode) -> str:
    """Table 2 of the run's mode, this run first."""
    head = ["", *(f"{gate.value} %, {half}" for half in _HALVES for gate in PAPERS_GATES)]
    known = [[name, *(f"{rate:.2f}" for rate in rates)] for name, rates in published_rates(mode).items()]
    return _table(head, [[THIS_RUN, *rates_in_words(rows[0]), *rates_in_words(rows[1])], *known], kind="beside")


def _ablations(rows: Sequence[TableRow], options: RunOptions) -> str:
    """Table 3, this run first."""
    known = [
        [
            f"{row['name']}, without {row['without']}" if row["without"] else f"{row['name']}, whole",
            *(f"{row[half]:.2f}" for half in ("helpful", "not_helpful", "overall")),
        ]
        for row in published()["ablations"]
    ]
    own = [f"{THIS_RUN} ({switches(options)})", *(rates_in_words(row)[-1] for row in rows)]
    head = ["", *(f"helpfulness %, {row['half']}" for row in rows)]
    return f"<h2>With a part taken away (Table 3)</h2>{_table(head, [own, *known], kind='beside')}"


def _posts(posts: Sequence[PostRow]) -> str:
    head = ["note id", "half", "ended", *(gate.value for gate in PAPERS_GATES), "the note, or why there is none"]
    rows = [
        [
            row.note_id,
            "helpful" if row.is_helpful else "not helpful",
            row.outcome.value,
            *(row.gates.get(gate, GateStatus.NOT_RUN).value.replace("_", " ") for gate in PAPERS_GATES),
            " ".join(part for part in (row.note, f"({row.reason})" if row.reason else "") if part),
        ]
        for row in posts
    ]
    return _table(head, rows, kind="posts")


def _table(head: list[str], rows: Sequence[Sequence[object]], *, kind: str = "rates") -> str:
    with pd.option_context("display.max_colwidth", None):
        return pd.DataFrame(rows, columns=head).to_html(index=False, border=0, classes=kind)
