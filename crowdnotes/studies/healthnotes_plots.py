"""The plots of a run on HealthNotes beside the published figures. Only words of our own stand in them."""

from __future__ import annotations

import plotly.graph_objects as go

from crowdnotes.domain import GateName
from crowdnotes.studies.healthnotes_published import Published
from crowdnotes.studies.healthnotes_report import Report
from crowdnotes.studies.healthnotes_table import PassRate

THIS_RUN = "This run"
_MARKED = {"Human notes": ("x", "#555555"), "o3": ("diamond", "#7b5ea7"), "MedGemma-27B": ("circle", "#b0762f")}
_HALVES = {"helpful": "#1a7f4e", "not helpful": "#2f6db0"}
_ROW = 26  # pixels of a model


def gates_plot(report: Report, known: Published) -> go.Figure:
    """Pass rates of the three gates in each half as bars with intervals; published ones as marks over them."""
    figure = go.Figure()
    places = [
        [row.name for row in report.rows[:2] for _ in GateName],
        [gate.value for _ in range(2) for gate in GateName],
    ]
    rates = [row.rates[gate] for row in report.rows[:2] for gate in GateName]
    figure.add_bar(
        name=THIS_RUN,
        x=places,
        y=[rate.percent for rate in rates],
        error_y=_error_bars(rates, "#333333"),
        marker_color=[_HALVES[row.name] for row in report.rows[:2] for _ in GateName],
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
