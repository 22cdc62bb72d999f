"""One HTML page of a run on HealthNotes: its tables and plots beside the published figures.

The page needs no network: plotly.js is in it. Posts and notes are outside text, so everything is escaped.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from importlib.resources import files

import plotly.graph_objects as go

from crowdnotes.domain import GateName, Mode, Noun
from crowdnotes.studies.bench.healthnotes import PAPERS_GATES, Outcome, PassRate, Report, switches

Three = tuple[float, float, float]


class PublishedHalves(Noun):
    """Relevance, correctness and helpfulness of each half, in percent, each gate after those before it."""

    helpful: Three
    not_helpful: Three


class PublishedModel(Noun):
    """A row of Table 2; `automation` is None for the contributors' own notes."""

    name: str
    augmentation: PublishedHalves
    automation: PublishedHalves | None = None

    def of(self, mode: Mode) -> PublishedHalves | None:
        """The figures of one mode; of the contributors' notes those that there are, in either."""
        return self.augmentation if mode is Mode.AUGMENTATION or self.automation is None else self.automation


class PublishedAblation(Noun):
    """A row of Table 3: helpfulness in percent, with `without` taken away; "" is nothing."""

    name: str
    without: str
    helpful: float
    not_helpful: float
    overall: float


class Published(Noun):
    """All of it, and where it is from."""

    source: str
    models: tuple[PublishedModel, ...]
    ablations: tuple[PublishedAblation, ...]


@cache
def published() -> Published:
    """The figures as they stand in the table beside this file."""
    table = files("crowdnotes.studies.bench").joinpath("healthnotes_published.toml").read_text(encoding="utf-8")
    return Published.model_validate(tomllib.loads(table))


THIS_RUN = "This run"
_MARKED = {"Human notes": ("x", "#555555"), "o3": ("diamond", "#7b5ea7"), "MedGemma-27B": ("circle", "#b0762f")}
_HALVES = {"helpful": "#1a7f4e", "not helpful": "#2f6db0"}
_ROW = 26  # pixels of a model


def gates_plot(report: Report, known: Published) -> go.Figure:
    """Pass rates of the three gates in each half as bars with intervals; published ones as marks over them."""
    figure = go.Figure()
    places = [
        [row.name for row in report.rows[:2] for _ in PAPERS_GATES],
        [gate.value for _ in range(2) for gate in PAPERS_GATES],
    ]
    rates = [row.rates[gate] for row in report.rows[:2] for gate in PAPERS_GATES]
    figure.add_bar(
        name=THIS_RUN,
        x=places,
        y=[rate.percent for rate in rates],
        error_y=_error_bars(rates, "#333333"),
        marker_color=[_HALVES[row.name] for row in report.rows[:2] for _ in PAPERS_GATES],
    )
    for model in known.models:
        halves = model.of(report.options.mode)
        if model.name in _MARKED and halves is not None:
            symbol, colour = _MARKED[model.name]
            figure.add_scatter(
                name=f"{model.name} (paper)",
                x=places,
                y=[*halves.helpful, *halves.not_helpful],
                mode="markers",
                marker={"symbol": symbol, "color": colour, "size": 10},
            )
    return _styled(figure, "Posts that pass each gate, %", height=420).update_yaxes(range=[0, 100])


def models_plot(report: Report, known: Published) -> go.Figure:
    """Helpfulness of every published model in this mode, and of this run with its interval, best on top."""
    published = {
        model.name: (halves.helpful[2], halves.not_helpful[2])
        for model in known.models
        if (halves := model.of(report.options.mode)) is not None
    }
    own = [row.rates[GateName.HELPFULNESS] for row in report.rows[:2]]
    order = sorted(published, key=lambda name: sum(published[name]))
    figure = go.Figure()
    for place, (half, colour) in enumerate(_HALVES.items()):
        figure.add_scatter(
            name=f"{half} half",
            x=[published[name][place] for name in order] + [own[place].percent],
            y=[*order, THIS_RUN],
            error_x=_error_bars([PassRate(0, 0)] * len(order) + [own[place]], colour),
            cliponaxis=False,
            mode="markers",
            marker={"color": colour, "size": 10, "symbol": ["circle"] * len(order) + ["star"]},
        )
    figure.update_xaxes(range=[0, 100])
    return _styled(figure, "Posts that pass all three gates, %", height=_ROW * (len(order) + 1) + 120)


def _error_bars(rates: list[PassRate], colour: str) -> dict[str, object]:
    """Wilson's interval around each rate; nothing where there are no posts, as of a published figure."""
    above = [rate.interval[1] - rate.percent if rate.percent is not None else 0.0 for rate in rates]
    below = [rate.percent - rate.interval[0] if rate.percent is not None else 0.0 for rate in rates]
    return {"type": "data", "symmetric": False, "array": above, "arrayminus": below, "color": colour}


def _styled(figure: go.Figure, title: str, *, height: int) -> go.Figure:
    return figure.update_layout(
        title=title,
        template="plotly_white",
        height=height,
        margin={"l": 10, "r": 10, "t": 60, "b": 10},
        legend={"orientation": "h", "y": -0.15},
    )


_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1d2733; }
table { border-collapse: collapse; display: block; overflow-x: auto; margin: 1rem 0; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid #d5dbe1; text-align: right; vertical-align: top; }
th:first-child, td:first-child { text-align: left; white-space: nowrap; }
.own { font-weight: 600; background: #eef5f0; }
.posts td { text-align: left; overflow-wrap: anywhere; }
small { color: #55606b; font-weight: 400; }
"""
_PLOT = {"displayModeBar": False, "responsive": True}


def report_page(report: Report) -> str:
    """The whole page as HTML."""
    known = published()
    gates = gates_plot(report, known).to_html(full_html=False, include_plotlyjs=True, config=_PLOT)
    models = models_plot(report, known).to_html(full_html=False, include_plotlyjs=False, config=_PLOT)
    ablations = _ablations(report, known) if report.options.mode is Mode.AUTOMATION else ""
    title = f"HealthNotes: {switches(report.options)}"
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
<p>{escape(_with_what(report))}</p>
<ul>{"".join(f"<li>{escape(caution)}</li>" for caution in report.cautions)}</ul>
<h2>This run</h2>
{_own(report)}
{gates}
<h2>Beside the published figures (Table 2)</h2>
<p>{escape(known.source)}. Human notes stand on the contributors' own links in both modes.</p>
{models}
{_published(report, known)}
{ablations}
<h2>Post by post</h2>
{_posts(report)}
</body>
</html>
"""


def _with_what(report: Report) -> str:
    options = report.options
    engines = "; ".join(f"{step}: {name}" for step, name in options.engine.items())
    places = ", ".join((*options.libraries, *options.services)) or "the links of the contributors' notes"
    return f"{len(report.results)} posts. Evidence from {places}. Engine: {engines}."


def _own(report: Report) -> str:
    head = ["half", "posts", *(outcome.value for outcome in Outcome), *(f"{gate.value} %" for gate in PAPERS_GATES)]
    rows = [
        [
            escape(row.name),
            str(row.posts),
            *(str(row.outcomes[outcome]) for outcome in Outcome),
            *(_rate(row.rates[gate]) for gate in PAPERS_GATES),
        ]
        for row in report.rows
    ]
    return _table(head, rows)


def _published(report: Report, known: Published) -> str:
    """Table 2 of the run's mode, this run first."""
    head = ["", *(f"{gate.value} %, {half}" for half in ("helpful", "not helpful") for gate in PAPERS_GATES)]
    own = [THIS_RUN, *(_rate(row.rates[gate]) for row in report.rows[:2] for gate in PAPERS_GATES)]
    rows = [
        [escape(model.name), *(f"{value:.2f}" for value in (*halves.helpful, *halves.not_helpful))]
        for model in known.models
        if (halves := model.of(report.options.mode)) is not None
    ]
    return _table(head, [own, *rows], own=1)


def _ablations(report: Report, known: Published) -> str:
    """Table 3, this run first."""
    own = [
        f"{THIS_RUN} <small>{escape(switches(report.options))}</small>",
        *(_rate(row.rates[GateName.HELPFULNESS]) for row in report.rows),
    ]
    rows = [
        [
            escape(f"{item.name}, without {item.without}" if item.without else f"{item.name}, whole"),
            *(f"{v:.2f}" for v in (item.helpful, item.not_helpful, item.overall)),
        ]
        for item in known.ablations
    ]
    head = ["", *(f"helpfulness %, {row.name}" for row in report.rows)]
    return f"<h2>With a part taken away (Table 3)</h2>{_table(head, [own, *rows], own=1)}"


def _posts(report: Report) -> str:
    head = ["note id", "half", "ended", *(gate.value for gate in PAPERS_GATES), "the note, or why there is none"]
    rows = [
        [
            escape(result.note_id),
            "helpful" if result.is_helpful else "not helpful",
            escape(result.outcome.value),
            *(escape(getattr(result, gate.value).value.replace("_", " ")) for gate in PAPERS_GATES),
            escape(" ".join(part for part in (result.note, f"({result.reason})" if result.reason else "") if part)),
        ]
        for result in report.results
    ]
    return f"<details><summary>{len(rows)} posts</summary>{_table(head, rows, kind='posts')}</details>"


def _rate(rate: PassRate) -> str:
    if rate.percent is None:
        return "—"
    low, high = rate.interval
    return f"{rate.percent:.2f} <small>{low:.0f}–{high:.0f}</small>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, own: int = 0, kind: str = "rates") -> str:
    """A table of cells that are HTML already; the first `own` rows are this run's."""
    lines = (f"<tr{' class=own' if place < own else ''}>{_cells(row)}</tr>" for place, row in enumerate(rows))
    named = "".join(f"<th>{escape(name)}</th>" for name in head)
    return f'<table class="{kind}"><thead><tr>{named}</tr></thead><tbody>{"".join(lines)}</tbody></table>'


def _cells(row: Iterable[str]) -> str:
    return "".join(f"<td>{cell}</td>" for cell in row)
