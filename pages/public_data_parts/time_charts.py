"""Plots over time: a score as ratings come in, ratings by side, posts a day, and delays by group."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from crowdnotes.public_data.delays import Hours
from crowdnotes.public_data.replay import FIRST_RATINGS, Moment, ScoreStory
from crowdnotes.public_data.surges import Surges
from pages.common.charts import HIDE_TRACE_NAME, draw, shades, theme_colours, theme_name

_MIN_RATINGS_FOR_AUTO_TICKS = 10  # from the first to the last that are drawn: each has its tick
_CHART_HEIGHT = 240  # pixels
_ROW_HEIGHT = 34
_LAST_STEP_SHARE = 0.04  # of the whole time
_TICK_HOURS = (1 / 60, 1 / 6, 1, 3, 6, 12, 24, 72, 168, 720)
_TICK_LABELS = ("1 min", "10 min", "1 h", "3 h", "6 h", "12 h", "1 day", "3 days", "1 week", "30 days")


def score_by_rating(score: ScoreStory, line: float, *, alt: str, key: str) -> list[tuple[str, str]]:
    """Draw the note's score after each rating, the line, and where its status changed; return the legend."""
    moments = [one for one in score.moments if one.intercept is not None]
    accent, second = theme_colours()[0], theme_colours()[3]
    ink = st.get_option(f"theme.{theme_name()}.grayTextColor")
    figure = go.Figure()
    figure.add_scatter(
        x=[one.ratings for one in moments],
        y=[one.intercept for one in moments],
        mode="lines+markers" if len(moments) == 1 else "lines",
        line={"color": accent, "width": 3},
        hovertemplate="After %{x} ratings: %{y:.2f}" + HIDE_TRACE_NAME,
    )
    by_place = {one.ratings: one.intercept for one in moments}
    known = [one.ratings for one in moments]
    changes = [(one, by_place.get(min(known, key=lambda at: abs(at - one.ratings)))) for one in score.changes if known]
    figure.add_scatter(
        x=[one.ratings for one, _ in changes],
        y=[at for _, at in changes],
        mode="markers",
        marker={"size": 12, "symbol": "diamond", "color": second},
        customdata=[one.after.as_text for one, _ in changes],
        hovertemplate="After %{x} ratings: %{customdata}" + HIDE_TRACE_NAME,
    )
    figure.add_hline(y=line, line={"color": ink, "dash": "dash", "width": 2}, layer="below")
    last = moments[-1].intercept if moments else None
    clear = "bottom" if last is None or last < line else "top"  # of the score's own line
    figure.add_annotation(
        x=1, xref="paper", y=line, xanchor="right", yanchor=clear, showarrow=False, font={"color": ink},
        text=f"shown from {line:.2f}",
    )  # fmt: skip
    if score.first is not None:
        figure.add_vline(x=FIRST_RATINGS, line={"color": ink, "dash": "dot", "width": 1}, layer="below")
        figure.add_annotation(
            x=FIRST_RATINGS, y=0, yref="paper", xanchor="left", yanchor="bottom", showarrow=False, font={"color": ink},
            text=f"first {FIRST_RATINGS:,}",
        )  # fmt: skip
    values = [one.intercept for one in moments if one.intercept is not None]
    figure.update_yaxes(range=[min([-0.1, *values]) - 0.05, max([line, *values]) + 0.12], zeroline=False)
    figure.update_xaxes(zeroline=False, showgrid=False, title={"text": "Ratings", "standoff": 8})
    if moments[-1:] and moments[-1].ratings - moments[0].ratings < _MIN_RATINGS_FOR_AUTO_TICKS:
        figure.update_xaxes(dtick=1)  # there is no half a rating
    draw(figure, _CHART_HEIGHT, margin=0, top=8, alt=alt, key=key)
    changed = [("Status changed", second)] if changes else []
    return [("Score", accent), *changed]


def ratings_by_side(moments: Sequence[Moment], *, alt: str, key: str) -> list[tuple[str, str]]:
    """Ratings so far, of one side upwards and of the other downwards, by level; gives the legend."""
    levels = shades(["Helpful", "Somewhat helpful", "Not helpful"])
    names = ("helpful", "somewhat", "not_helpful")
    ink = st.get_option(f"theme.{theme_name()}.grayTextColor")
    figure = go.Figure()
    dated = [one.at for one in moments if one.at]
    # A step is as wide as the time to the next rating: the last one gets a width too.
    at: list[datetime | None] = [one.at for one in moments]
    if dated:
        at.append(dated[-1] + max((dated[-1] - dated[0]) * _LAST_STEP_SHARE, timedelta(minutes=1)))
    for side, sign in (("plus", 1), ("minus", -1)):
        for name, (shown, colour) in zip(names, levels, strict=True):
            counted = [getattr(getattr(one, side), name) for one in moments]
            counted += counted[-1:] if dated else []
            figure.add_scatter(
                x=at,
                y=[sign * number for number in counted],
                customdata=counted,
                stackgroup=side,
                mode="lines",
                line={"width": 0, "shape": "hv", "color": colour},
                fillcolor=colour,
                hovertemplate=f"{shown}: %{{customdata:,}}{HIDE_TRACE_NAME}",
            )
    most = max((max(one.minus.n, one.plus.n) for one in moments), default=1) or 1
    step = max(1, int(f"{most / 2:.0e}".split("e")[0]) * 10 ** math.floor(math.log10(most / 2))) if most > 1 else 1
    ticks = [step * place for place in range(-2, 3)]
    figure.update_yaxes(
        tickvals=ticks, ticktext=[f"{abs(tick):,}" for tick in ticks], range=[-most * 1.08, most * 1.08]
    )
    figure.add_hline(y=0, line={"color": ink, "width": 1})
    for text, end, anchor in (("Side B", 1, "top"), ("Side A", 0, "bottom")):
        figure.add_annotation(
            x=0, xref="paper", y=end, yref="paper", xanchor="left", yanchor=anchor, showarrow=False, text=text,
            font={"color": ink},
        )  # fmt: skip
    figure.update_xaxes(showgrid=False, nticks=5)
    draw(figure, _CHART_HEIGHT, margin=0, top=8, alt=alt, key=key)
    return levels


def posts_a_day(found: Surges, days: Sequence[str], *, alt: str, key: str) -> list[tuple[str, str]]:
    """Draw posts a day, the mean of the 28 days before, the line above it, the marked days; return the legend.

    `days` are of `per_day`.
    """
    accent, second, third = theme_colours()[0], theme_colours()[5], theme_colours()[3]
    figure = go.Figure()
    figure.add_scatter(
        x=list(days), y=list(found.per_day), mode="lines", line={"color": accent, "width": 1.5, "shape": "hvh"},
        hovertemplate="%{x|%-d %b %Y}: %{y:,} posts" + HIDE_TRACE_NAME,
    )  # fmt: skip
    figure.add_scatter(
        x=list(days), y=list(found.mean), mode="lines", line={"color": second, "width": 2, "dash": "dash"},
        hoverinfo="skip",
    )  # fmt: skip
    figure.add_scatter(
        x=list(days), y=list(found.line), mode="lines", line={"color": third, "width": 1.5, "dash": "dot"},
        hovertemplate="%{x|%-d %b %Y}: a day is a surge above %{y:,.1f}" + HIDE_TRACE_NAME,
    )  # fmt: skip
    figure.add_scatter(
        x=[str(surge.day) for surge in found.surges],
        y=[surge.posts for surge in found.surges],
        mode="markers",
        marker={"size": 9, "symbol": "diamond", "color": third},
        hovertemplate="%{x|%-d %b %Y}: %{y:,} posts" + HIDE_TRACE_NAME,
    )
    figure.update_yaxes(rangemode="tozero", nticks=5, tickformat=",~r")
    figure.update_xaxes(showgrid=False, type="date", nticks=6)
    draw(figure, _CHART_HEIGHT, margin=0, top=8, alt=alt, key=key)
    marked = [("Surge", third)] if found.surges else []
    lines = [("Mean of the 28 days before", second), ("Above this: a surge (dotted)", third)]
    return [("Posts", accent), *lines, *marked]


def hours_by_group(groups: Sequence[tuple[str, Hours]], *, alt: str, key: str) -> list[tuple[str, str]]:
    """In each group a thick line from 25 to 75 percent, a thin one to 90, and the median; gives the legend.

    On a scale on which each step multiplies. A group without percentiles has its name alone.
    """
    accent = theme_colours()[0]
    text = st.get_option(f"theme.{theme_name()}.textColor")
    figure = go.Figure()
    ends: list[float] = []
    for row, (name, hours) in enumerate(groups):
        if hours.p25 is None or hours.p50 is None or hours.p75 is None or hours.p90 is None:
            continue
        low, middle, high, most = (max(1 / 60, value) for value in (hours.p25, hours.p50, hours.p75, hours.p90))
        for first, last, width in ((low, high, 6), (high, most, 2)):
            line = {"color": accent, "width": width}
            figure.add_scatter(x=[first, last], y=[row, row], mode="lines", line=line, hoverinfo="skip")
        figure.add_scatter(
            x=[middle],
            y=[row],
            mode="markers",
            marker={"size": 12, "symbol": "diamond", "color": accent},
            hovertemplate=f"{name}: half within {middle:.1f} hours ({hours.n:,} posts){HIDE_TRACE_NAME}",
        )
        figure.add_annotation(
            x=math.log10(middle), y=row, text=f"<b>{in_hours(middle)}</b>", yshift=15, showarrow=False,
            font={"color": text, "size": 11},
        )  # fmt: skip
        ends += [low, most]
    if ends:
        low, high = math.log10(min(ends)) - 0.15, math.log10(max(ends)) + 0.15
        shown = [tick for tick in zip(_TICK_HOURS, _TICK_LABELS, strict=True) if low <= math.log10(tick[0]) <= high]
        scale: dict[str, Any] = {"type": "log", "range": [low, high], "zeroline": False}
        figure.update_xaxes(scale | {"tickvals": [at for at, _ in shown], "ticktext": [word for _, word in shown]})
    names = [name if hours.p50 is not None else f"{name} (too few)" for name, hours in groups]
    figure.update_yaxes(range=[len(groups) - 0.4, -0.8], tickvals=list(range(len(names))), ticktext=names)
    figure.update_yaxes(showgrid=False, zeroline=False)
    draw(figure, 40 + _ROW_HEIGHT * len(groups), margin=0, top=8, alt=alt, key=key)
    return [
        ("Half of the posts waited less", accent),
        ("Middle half of the posts", accent),
        ("Up to nine in ten", accent),
    ]


def in_hours(hours: float) -> str:
    """For example 40 min, 10.2 h, 3.0 days."""
    if hours < 1:
        return f"{60 * hours:.0f} min"
    return f"{hours:.1f} h" if hours < 48 else f"{hours / 24:.1f} days"
