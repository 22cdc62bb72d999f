"""Plots of the algorithm page: notes between viewpoint and helpfulness, an attack's progress, how many it takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go
import streamlit as st

from pages.common.charts import draw, theme_colours, theme_name
from pages.common.components import note_map as component

Floats = npt.NDArray[np.float64]
_KIND_LOOKS = (("circle", 0), ("left", 3), ("right", 1), ("square", 6))
"""The form of each kind of note, and the place of its colour in the theme."""
SIGNS = "●◀▶■"  # as in `_KIND_LOOKS`, for the legend
_ROUND_LOOKS = (("circle", 0), ("triangle-left", 3), ("diamond", 5), ("square", 6))
"""As `_KIND_LOOKS`, of the kinds of the experiment: its neutral notes please no side."""
ROUND_SIGNS = "●◀◆■"
_REGION_OPACITY = 0.16
_MAX_VIEWPOINT = 1.35  # of the axis of viewpoints
_MAX_VIEWPOINT_SIZE = 1.05  # of the axis of their sizes
_GRID_STEP = 0.2  # between two lines across


@dataclass(frozen=True, slots=True)
class Lines:
    """Of the rules: where a note is shown, how one-sided it may be, the not-helpful line base - slope x |factor|."""

    shown: float
    widest: float
    base: float
    slope: float


def kind_colours(kinds: Sequence[str]) -> list[tuple[str, str]]:
    """Kinds of notes with their colours, in the order of the map."""
    return [(kind, theme_colours()[place]) for kind, (_, place) in zip(kinds, _KIND_LOOKS, strict=True)]


def note_map(
    notes: Sequence[tuple[int, float, float, bool, str]],
    *,
    lines: Lines | None,
    level: float | None = None,
    up: str,
    ends: tuple[float, float],
    here: int,
    height: int,
    alt: str,
    key: str,
    on_choice: Callable[[int], None],
) -> None:
    """Draw a point a note: its viewpoint across, a number of it up, filled where the note is shown.

    `notes` have the place of their kind, x, y, whether they are shown, and words for who points at them. `lines` draws
    the regions of the rules, `level` one line instead. `up` names the axis; the note `here` has a ring around it.
    Not by Plotly: Streamlit draws a changed plot of it all anew, and a slider's effect must be seen at once.
    """
    colours = theme_colours()
    points = [
        {
            "x": _to_json_number(x),
            "y": _to_json_number(y),
            "form": _KIND_LOOKS[kind][0],
            "colour": colours[_KIND_LOOKS[kind][1]],
            "shown": shown,
            "title": title,
        }
        for kind, x, y, shown, title in notes
    ]
    across = {
        "ends": [-_MAX_VIEWPOINT, _MAX_VIEWPOINT],
        "ticks": [-1, -0.5, 0, 0.5, 1],
        "title": "Side A   ←   viewpoint of the note (fₙ)   →   Side B",
    }
    parts = _build_regions(lines, ends) if lines else _build_level_line(level)
    component(
        {**_build_drawing(points, across, up, ends, parts), "here": here, "size": 1, "height": height, "alt": alt},
        on_choice=on_choice,
        key=key,
    )


def _to_json_number(number: float) -> float | None:
    """Return a number for the browser, None where it is not known."""
    return float(number) if math.isfinite(number) else None


_Shapes = list[dict[str, Any]]
_THEME_OPTIONS = {
    "ink": "grayTextColor",
    "text": "textColor",
    "ground": "backgroundColor",
    "rule": "borderColor",
    "green": "greenColor",
    "red": "redColor",
}


def _build_drawing(
    points: _Shapes, across: dict[str, Any], up: str, ends: tuple[float, float], parts: tuple[_Shapes, _Shapes, _Shapes]
) -> dict[str, Any]:
    """Points, axes, and what lies below them: regions, dashed lines, words."""
    regions, dashed, words = parts
    first, last = math.ceil(ends[0] / _GRID_STEP), math.floor(ends[1] / _GRID_STEP)
    look = {name: st.get_option(f"theme.{theme_name()}.{option}") for name, option in _THEME_OPTIONS.items()}
    return {
        "points": points,
        "x": across,
        "y": {"ends": list(ends), "ticks": [_GRID_STEP * at for at in range(first, last + 1)], "title": up},
        "look": {**look, "font": "sans-serif"},
        "regions": regions,
        "lines": dashed,
        "words": words,
    }


def _build_regions(lines: Lines, ends: tuple[float, float]) -> tuple[_Shapes, _Shapes, _Shapes]:
    """Return where the main rules put a note, shown or not helpful: regions, their lines, their words."""
    bottom, top = ends
    out = (lines.base - bottom) / lines.slope if lines.slope else _MAX_VIEWPOINT  # where the line leaves the picture
    out = min(out, _MAX_VIEWPOINT)
    foot = lines.base - lines.slope * out
    tent = [[-out, foot], [0, lines.base], [out, foot]]
    wide = lines.widest
    corners = [[-wide, lines.shown], [wide, lines.shown], [wide, top], [-wide, top]]
    below = [*tent, [out, bottom], [-out, bottom]]
    sides = [
        {"at": [side * _MAX_VIEWPOINT, lines.shown], "text": "Too one-sided", "anchor": anchor, "above": True}
        for side, anchor in ((-1, "start"), (1, "end"))
    ]
    shown = f"Shown from {lines.shown:.2f}"
    return (
        [{"points": corners, "colour": "green"}, {"points": below, "colour": "red"}],
        [
            {"points": [[-_MAX_VIEWPOINT, lines.shown], [_MAX_VIEWPOINT, lines.shown]], "colour": "green"},
            {"points": tent, "colour": "red"},
        ],
        [
            {"at": [0, top], "text": shown, "anchor": "middle", "above": False},
            {"at": [0, bottom], "text": "Not helpful", "anchor": "middle", "above": True},
            *sides,
        ],
    )


def _build_level_line(level: float | None) -> tuple[_Shapes, _Shapes, _Shapes]:
    if level is None:
        return [], [], []
    words = {"at": [_MAX_VIEWPOINT, level], "text": f"As many shown: {level:.2f}", "anchor": "end"}
    return (
        [],
        [{"points": [[-_MAX_VIEWPOINT, level], [_MAX_VIEWPOINT, level]], "colour": "green"}],
        [{**words, "above": True}],
    )


def rounds_map(
    kinds: Sequence[tuple[str, Floats, Floats]], *, lines: Lines, height: int, alt: str, key: str
) -> list[tuple[str, str]]:
    """Draw a faint point for each kind and round, its size of viewpoint across and its score up; return the legend.

    A large point is the mean of a kind.
    """
    theme = theme_name()
    ink, ground = (st.get_option(f"theme.{theme}.{name}") for name in ("grayTextColor", "backgroundColor"))
    figure = go.Figure()
    for (name, x, y), (symbol, place) in zip(kinds, _ROUND_LOOKS, strict=True):
        colour = theme_colours()[place]
        small = {"size": 6, "color": colour, "symbol": symbol, "opacity": 0.3}
        figure.add_scatter(x=x.tolist(), y=y.tolist(), mode="markers", marker=small, hoverinfo="skip")
        large = {"size": 17, "color": colour, "symbol": symbol, "line": {"width": 2, "color": ground}}
        figure.add_scatter(
            x=[float(x.mean())], y=[float(y.mean())], mode="markers", marker=large,
            hovertemplate=f"{name}: %{{x:.2f}}, %{{y:.3f}}<extra></extra>",
        )  # fmt: skip
    ends = (-0.25, 0.5)
    green = st.get_option(f"theme.{theme}.greenColor")
    figure.add_shape(
        type="rect",
        x0=0,
        x1=lines.widest,
        y0=lines.shown,
        y1=ends[1],
        fillcolor=green,
        opacity=_REGION_OPACITY,
        layer="below",
        line={"width": 0},
    )
    figure.add_hline(y=lines.shown, line={"color": green, "dash": "dash", "width": 2}, layer="below")
    figure.add_annotation(
        x=lines.widest / 2, y=ends[1], yanchor="top", text=f"Shown from {lines.shown:.2f}",
        showarrow=False, font={"color": ink, "size": 12},
    )  # fmt: skip
    figure.add_annotation(
        x=_MAX_VIEWPOINT_SIZE, y=lines.shown, xanchor="right", yanchor="bottom", text="Too one-sided", showarrow=False,
        font={"color": ink, "size": 12},
    )  # fmt: skip
    across = {"text": "Viewpoint, either way", "font": {"color": ink, "size": 12}, "standoff": 8}
    figure.update_xaxes(range=[0, _MAX_VIEWPOINT_SIZE], dtick=0.25, zeroline=False, title=across)
    upward = {"text": "Score (iₙ)", "font": {"color": ink, "size": 12}, "standoff": 8}
    figure.update_yaxes(range=list(ends), zeroline=False, dtick=0.2, tickformat=".1f", title=upward)
    draw(figure, height, margin=0, top=8, alt=alt, key=key)
    return [(name, theme_colours()[place]) for (name, _, _), (_, place) in zip(kinds, _ROUND_LOOKS, strict=True)]


def progress(
    values: Floats,
    shown: npt.NDArray[np.bool_],
    *,
    line: float | None,
    reached: int | None,
    up: str,
    ends: tuple[float, float],
    last: int,
    height: int,
    alt: str,
    key: str,
) -> None:
    """Draw a number of a note as accounts vote on it, from none to the `last` drawn; filled where the note is shown.

    `line` is where it is shown from, `reached` the number of accounts that got what they wanted.
    """
    values, shown = values[: last + 1], shown[: last + 1]
    points = [
        {"x": at, "y": _to_json_number(float(y)), "form": "circle", "colour": theme_colours()[0], "shown": bool(one),
         "title": f"{at} accounts: {y:.2f}"}
        for at, (y, one) in enumerate(zip(values, shown, strict=True))
    ]  # fmt: skip
    dashed: _Shapes = []
    words: _Shapes = []
    if line is not None:
        dashed.append({"points": [[-1, line], [last + 1, line]], "colour": "green"})
        words_on_line = {"text": f"Shown from {line:.2f}", "anchor": "end"}
        words.append({**words_on_line, "at": [last + 1, line], "above": bool(values[-1] < line)})  # clear of the points
    if reached:
        dashed.append({"points": [[reached, ends[0]], [reached, ends[1]]], "colour": "ink"})
        words.append({"at": [reached + 1, ends[1]], "text": str(reached), "anchor": "start", "above": False,
                      "bold": True})  # fmt: skip
    across = {
        "ends": [-1, last + 1],
        "ticks": list(range(0, last + 1, 5 if last <= 20 else 10)),
        "title": "Accounts that act together",
    }
    drawing = _build_drawing(points, across, up, ends, ([], dashed, words))
    component({**drawing, "here": None, "size": 0.65, "height": height, "alt": alt}, key=key)


def needed(
    rows: Sequence[tuple[str, int | None, int | None]], *, names: tuple[str, str], most: int, alt: str, key: str
) -> list[tuple[str, str]]:
    """In each row how many accounts it takes in two ways; None is more than `most`. Gives the colours of both ways."""
    text = st.get_option(f"theme.{theme_name()}.textColor")
    colours = theme_colours()[0], theme_colours()[5]
    figure = go.Figure()
    by_way = ([row[1] for row in rows], [row[2] for row in rows])
    for name, colour, found in zip(names, colours, by_way, strict=True):
        figure.add_bar(
            name=name,
            y=[row[0] for row in rows],
            x=[most if number is None else number for number in found],
            orientation="h",
            marker={
                "color": colour,
                "pattern": {"shape": ["/" if number is None else "" for number in found], "fillmode": "replace"},
            },
            text=[_format_account_count(number, most) for number in found],
            textposition="outside",
            textangle=0,
            textfont={"color": text},
            cliponaxis=False,
            hovertemplate=f"%{{y}}: %{{text}}, {name}<extra></extra>",
        )
    figure.update_layout(barmode="group", bargap=0.25, bargroupgap=0.1)
    figure.update_xaxes(visible=False, range=[0, 1.4 * most])
    figure.update_yaxes(autorange="reversed", showgrid=False)
    draw(figure, 46 * len(rows), margin=0, top=4, alt=alt, key=key)
    return list(zip(names, colours, strict=True))


def _format_account_count(number: int | None, most: int) -> str:
    if number is None:
        return f"over {most}"
    return str(number) if number else "already so"


def raters_by_side(bars: Sequence[tuple[float, str, int]], *, height: int, alt: str, key: str) -> list[tuple[str, str]]:
    """Draw how many raters are where: the middle of each bar, its place as text, the number; return the legend."""
    colours = theme_colours()[3], theme_colours()[1]  # as notes that please that side have them
    figure = go.Figure()
    figure.add_bar(
        x=[middle for middle, _, _ in bars],
        y=[many for _, _, many in bars],
        customdata=[place for _, place, _ in bars],
        marker={"color": [colours[middle > 0] for middle, _, _ in bars]},
        hovertemplate="%{customdata}: %{y:,} raters<extra></extra>",
    )
    ink = st.get_option(f"theme.{theme_name()}.grayTextColor")
    title = {
        "text": "Side A   ←   viewpoint of the rater (fᵤ)   →   Side B",
        "font": {"color": ink, "size": 12},
        "standoff": 8,
    }
    figure.update_xaxes(range=[-1, 1], dtick=0.5, zeroline=False, title=title)
    figure.update_yaxes(nticks=5, tickformat=",~r")
    figure.update_layout(bargap=0.1)
    draw(figure, height, margin=0, top=8, alt=alt, key=key)
    return list(zip(("Side A", "Side B"), colours, strict=True))
