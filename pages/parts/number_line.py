"""A number on its scale: where it lies, how far chance moves it, and the line that it must reach."""

from __future__ import annotations

from dataclasses import dataclass

import plotly.graph_objects as go
import streamlit as st

from crowdnotes.bridging.verdicts import in_figures
from pages.parts.plots import CONFIG

_HEIGHT = 74  # pixels


@dataclass(frozen=True, slots=True)
class Standing:
    """One number: its name, where it lies, and the interval around it."""

    name: str
    value: float
    low: float
    high: float


def number_line(standings: list[Standing], *, line: float, ends: tuple[float, float], alt: str, key: str) -> None:
    """Points with their intervals on one scale from `ends[0]` to `ends[1]`, and a line at `line`.

    What lies beyond the ends is drawn at them. `alt` says in words what the plot shows.
    """
    left, right = ends
    names = [item.name for item in standings]
    values = [min(right, max(left, item.value)) for item in standings]
    theme = st.context.theme.type or "light"
    accent = st.get_option(f"theme.{theme}.primaryColor")
    ink = st.get_option(f"theme.{theme}.grayTextColor")
    text = st.get_option(f"theme.{theme}.textColor")
    figure = go.Figure()
    figure.add_scatter(
        x=values,
        y=names,
        mode="markers+text",
        marker={"size": 13, "color": accent},
        text=[in_figures(item.value, line) for item in standings],
        textposition="top center",
        textfont={"color": text},
        cliponaxis=False,  # else the value above the topmost point is cut
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [max(0.0, min(right, item.high) - at) for item, at in zip(standings, values, strict=True)],
            "arrayminus": [max(0.0, at - max(left, item.low)) for item, at in zip(standings, values, strict=True)],
            "color": accent,
            "thickness": 3,
            "width": 0,
        },
        customdata=[(item.value, item.low, item.high) for item in standings],
        hovertemplate="%{customdata[0]:.2f} (%{customdata[1]:.2f} to %{customdata[2]:.2f})<extra></extra>",
        showlegend=False,
    )
    figure.add_vline(x=line, line={"color": ink, "dash": "dash", "width": 2})
    figure.add_annotation(
        x=line, y=1, yref="paper", yanchor="bottom", text=f"shown from {line:.2f}", showarrow=False, font={"color": ink}
    )
    figure.update_layout(
        height=_HEIGHT + 44 * len(standings),
        margin={"l": 12, "r": 12, "t": 26, "b": 0},
        dragmode=False,
        xaxis={
            "range": [left, right],
            "fixedrange": True,
            "zeroline": False,
            "dtick": 0.2,
            "tickformat": ".1f",
            "tickfont": {"color": ink},
        },
        yaxis={
            "range": [len(standings) - 0.5, -0.8],  # from the top down, with room for the topmost value
            "tickfont": {"color": ink},
            "fixedrange": True,
            "ticks": "",
            "ticksuffix": "  ",
            "visible": len(standings) > 1,
        },
    )
    st.plotly_chart(figure, key=key, config=CONFIG, alt=alt)
