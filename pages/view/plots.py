"""Plots of one style: shares, numbers on a line, what filters leave. In the theme's colours, readable on a phone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
import streamlit as st

from crowdnotes.text.markdown import escaped, in_figures

CONFIG = {"displayModeBar": False, "scrollZoom": False, "doubleClick": False, "responsive": True}
_APART = " \u2003"  # a wide space between two entries, where a line may break
_ROW = 34  # pixels of a bar with its gap


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of thing in every bar: its name, and how many of it each bar has."""

    name: str
    counts: tuple[int, ...]


def stacked_shares(bars: Sequence[str], parts: Sequence[Part], *, alt: str, between: str, key: str) -> None:
    """Horizontal bars of the same length, each cut into the shares of its parts; numbers stand in the pieces.

    `bars` are named from the top. The colour of a part is that of its place in `parts`, in whatever plot:
    `chartCategoricalColors` of the theme. Below stands what each colour is, with its number in each bar
    and `between` these: an arrow where one bar became the other, a stroke where they stand side by side.
    `alt` says in words what the plot shows.
    """
    totals = [sum(part.counts[i] for part in parts) for i in range(len(bars))]
    colours = _colours()
    figure = go.Figure()
    for place, part in enumerate(parts):
        figure.add_bar(
            name=part.name,
            y=list(bars),
            x=[100 * n / total if total else 0 for n, total in zip(part.counts, totals, strict=True)],
            text=[str(n) if n else "" for n in part.counts],
            customdata=list(zip(part.counts, totals, strict=True)),
            hovertemplate=f"{part.name}: %{{customdata[0]}} of %{{customdata[1]}}<extra></extra>",
            orientation="h",
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            insidetextfont={"color": _ink_on(colours[place])} if place < len(colours) else None,
        )
    figure.update_layout(barmode="stack", bargap=0.3, uniformtext={"minsize": 10, "mode": "hide"})
    figure.update_xaxes(visible=False, range=[0, 100])
    figure.update_yaxes(autorange="reversed", showgrid=False)
    _draw(figure, _ROW * len(bars), margin=0, top=0, alt=alt, key=key)
    st.markdown(_legend(parts, between))


def _draw(figure: go.Figure, height: int, *, margin: int, top: int, alt: str, key: str) -> None:
    """Heights and margins in pixels; nothing in a plot moves or zooms."""
    ink = st.get_option(f"theme.{_theme()}.grayTextColor")
    figure.update_layout(
        height=height, margin={"l": margin, "r": margin, "t": top, "b": 0}, dragmode=False, showlegend=False
    )
    figure.update_xaxes(fixedrange=True, tickfont={"color": ink})
    figure.update_yaxes(fixedrange=True, tickfont={"color": ink}, ticks="", ticksuffix="  ")
    st.plotly_chart(figure, key=key, config=CONFIG, alt=alt)


def _colours() -> Sequence[str]:
    return st.get_option(f"theme.{_theme()}.chartCategoricalColors") or ()


def _theme() -> str:
    return st.context.theme.type or "light"


def _ink_on(colour: str) -> str:
    """Black or white, whichever is read more easily on `colour` (#rrggbb): one of them has 4.5 to 1 on any.

    Source: WCAG 2.2, relative luminance and contrast ratio.
    """
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    luminance = sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return "#000000" if (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) else "#ffffff"


def _legend(parts: Sequence[Part], between: str) -> str:
    """What each colour is, with its numbers: Plotly's own legend scrolls at the width of a phone."""
    return _named([f"{part.name} {between.join(map(str, part.counts))}" if any(part.counts) else "" for part in parts])


def _named(names: Sequence[str]) -> str:
    """What each colour is; an empty name has no entry."""
    colours = _colours()
    squares = [f':color[■]{{foreground="{colour}"}} ' for colour in colours[: len(names)]] or [""] * len(names)
    entries = [f"{square}{escaped(name)}" for square, name in zip(squares, names, strict=False) if name]
    return f":small[{_APART.join(entry.replace(' ', chr(0xA0)) for entry in entries)}]"


_HEIGHT = 74  # pixels


@dataclass(frozen=True, slots=True)
class Standing:
    """One number: its name, where it lies, and the interval around it."""

    name: str
    value: float
    low: float
    high: float


def compared(
    rows: Sequence[tuple[str, Sequence[Standing]]],
    *,
    ends: tuple[float, float],
    step: float,
    line: float | None = None,
    percent: bool = False,
    alt: str,
    key: str,
) -> None:
    """In each row a point for each thing that is compared, with its interval, on one scale; a line at `line`.

    With `percent` the numbers are shares, in [0, 1].
    The things are the same ones, by name and in order, in every row, and have the colours of their place in any plot.
    """
    theme, colours = _theme(), _colours()
    text, ink = (st.get_option(f"theme.{theme}.{name}") for name in ("textColor", "grayTextColor"))
    figure = go.Figure()
    for place, symbol in zip(range(len(rows[0][1])), ("circle", "diamond"), strict=False):
        points = [standings[place] for _, standings in rows]
        colour = colours[place]
        apart = 0.14 * (2 * place - len(rows[0][1]) + 1)
        figure.add_scatter(
            x=[point.value for point in points],
            y=[number + apart for number in range(len(rows))],
            mode="markers+text",
            marker={"size": 12, "color": colour, "symbol": symbol},
            text=[f"{100 * point.value:.1f} %" if percent else f"{point.value:.2f}" for point in points],
            textposition="bottom center" if place else "top center",
            textfont={"color": text},
            cliponaxis=False,
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [point.high - point.value for point in points],
                "arrayminus": [point.value - point.low for point in points],
                "color": colour,
                "thickness": 3,
                "width": 0,
            },
            customdata=[(point.name, point.low, point.high) for point in points],
            hovertemplate="%{customdata[0]}: %{x:.2f} (%{customdata[1]:.2f} to %{customdata[2]:.2f})<extra></extra>",
        )
    if line is not None:
        figure.add_vline(x=line, line={"color": ink, "dash": "dash", "width": 2})
    figure.update_xaxes(range=list(ends), zeroline=False, dtick=step, tickformat=".0%" if percent else None)
    names = [name for name, _ in rows]
    figure.update_yaxes(range=[len(rows) - 0.4, -0.6], tickvals=list(range(len(rows))), ticktext=names)
    figure.update_yaxes(showgrid=False, zeroline=False)
    _draw(figure, 40 + 58 * len(rows), margin=22, top=8, alt=alt, key=key)
    if len(rows[0][1]) > 1:
        st.markdown(_named([standing.name for standing in rows[0][1]]))


def number_line(standings: list[Standing], *, line: float, ends: tuple[float, float], alt: str, key: str) -> None:
    """Points with their intervals on one scale from `ends[0]` to `ends[1]`, and a line at `line`.

    What lies beyond the ends is drawn at them. `alt` says in words what the plot shows.
    """
    left, right = ends
    theme = _theme()
    accent, ink, text, ground = (
        st.get_option(f"theme.{theme}.{name}")
        for name in ("primaryColor", "grayTextColor", "textColor", "backgroundColor")
    )
    values = [min(right, max(left, item.value)) for item in standings]
    figure = go.Figure()
    figure.add_scatter(
        x=values,
        y=[item.name for item in standings],
        mode="markers",
        marker={"size": 13, "color": accent},
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
    )
    figure.add_vline(x=line, line={"color": ink, "dash": "dash", "width": 2}, layer="below")
    figure.add_annotation(
        x=line, y=1, yref="paper", yanchor="bottom", text=f"shown from {line:.2f}", showarrow=False, font={"color": ink}
    )
    for item, at in zip(standings, values, strict=True):
        figure.add_annotation(  # on a ground of its own: the line may stand behind the number
            x=at, y=item.name, yshift=17, showarrow=False, text=in_figures(item.value, line),
            font={"color": text}, bgcolor=ground, borderpad=1,
        )  # fmt: skip
    figure.update_xaxes(range=[left, right], zeroline=False, dtick=0.2, tickformat=".1f")
    # From the top down, with room for the topmost value.
    figure.update_yaxes(range=[len(standings) - 0.5, -0.8], visible=len(standings) > 1)
    _draw(figure, _HEIGHT + 44 * len(standings), margin=12, top=26, alt=alt, key=key)


_STEP = 40  # pixels of a bar of the funnel with its words above it


def funnel(steps: Sequence[tuple[str, int]], *, alt: str, key: str) -> None:
    """What was left after each step, from the top down; the first is what there was. Behind each, what it took out.

    The words stand above the bars, so that they can be long on a phone. `alt` says in words what the plot shows.
    """
    theme = _theme()
    accent, faint, text = (
        st.get_option(f"theme.{theme}.{name}") for name in ("primaryColor", "borderColor", "textColor")
    )
    left = [number for _, number in steps]
    gone = [max(0, before - after) for before, after in zip([left[0], *left], left, strict=False)]
    rows = [str(place) for place in range(len(steps))]  # two steps of one name stay two bars
    figure = go.Figure()
    hover = "%{customdata[0]} left, %{customdata[1]} taken out<extra></extra>"
    both = list(zip(left, gone, strict=True))
    figure.add_bar(x=left, y=rows, orientation="h", marker={"color": accent}, customdata=both, hovertemplate=hover)
    figure.add_bar(x=gone, y=rows, orientation="h", marker={"color": faint}, customdata=both, hovertemplate=hover)
    for row, (name, number), out in zip(rows, steps, gone, strict=True):
        lost = f", {out} taken out" if out else ""
        figure.add_annotation(
            x=0, y=row, xanchor="left", yanchor="bottom", yshift=7, showarrow=False, font={"color": text, "size": 13},
            text=f"<b>{number}</b> {name}{lost}",
        )  # fmt: skip
    figure.update_layout(barmode="stack", bargap=0.68)
    figure.update_xaxes(visible=False, range=[0, max(1, left[0])])
    figure.update_yaxes(visible=False, autorange="reversed", type="category")
    _draw(figure, _STEP * len(steps), margin=0, top=6, alt=alt, key=key)
