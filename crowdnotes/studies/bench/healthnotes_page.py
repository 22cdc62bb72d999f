"""One HTML page of a run on HealthNotes: its tables and plots beside the published figures.

The page needs no network: plotly.js is in it. Posts and notes are outside text: pandas escapes what it writes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from crowdnotes.domain import GateStatus, Mode
from crowdnotes.studies.bench.healthnotes import (
    PAPERS_GATES,
    Outcome,
    PostRow,
    RunOptions,
    TableRow,
    rates_in_words,
    switches,
    table_rows,
)

THIS_RUN = "This run"
_MARKED = {"Human notes": ("x", "#555555"), "o3": ("diamond", "#7b5ea7"), "MedGemma-27B": ("circle", "#b0762f")}
_HALVES = {"helpful": "#1a7f4e", "not helpful": "#2f6db0"}
_ROW = 26  # pixels of a model


@cache
def published() -> dict[str, Any]:
    """The figures as they stand in the table beside this file: source, models (Table 2), ablations (Table 3)."""
    return tomllib.loads(files("crowdnotes.studies.bench").joinpath("healthnotes_published.toml").read_text("utf-8"))


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
