"""Plots of one style: shares, numbers on a line, what filters leave. In the theme's colours, readable on a phone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from crowdnotes.text.markdown import escaped, in_figures

CONFIG = {"displayModeBar": False, "scrollZoom": False, "doubleClick": False, "responsive": True}
_ENTRY_SEPARATOR = " \u2003"  # a wide space between two entries, where a line may break
HIDE_TRACE_NAME = "<extra></extra>"  # next to the tooltip
_BAR_HEIGHT = 34  # pixels of a bar with its gap


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of thing in every bar: its name, and how many of it each bar has."""

    name: str
    counts: tuple[int, ...]


def stacked_shares(bars: Sequence[str], parts: Sequence[Part], *, alt: str, between: str, key: str) -> None:
    """Horizontal bars of the same length, each cut into the shares of its parts, with numbers in the pieces.

    `bars` are named from the top. The colour of a part is that of its place in `parts`, in whatever plot:
    `chartCategoricalColors` of the theme. A legend below names each colour, with its number in each bar
    and `between` these: an arrow where one bar became the other, a stroke where they are side by side.
    `alt` describes the plot in a sentence.
    """
    totals = [sum(part.counts[i] for part in parts) for i in range(len(bars))]
    colours = theme_colours()
    figure = go.Figure()
    for place, part in enumerate(parts):
        figure.add_bar(
            name=part.name,
            y=list(bars),
            x=[100 * n / total if total else 0 for n, total in zip(part.counts, totals, strict=True)],
            text=[str(n) if n else "" for n in part.counts],
            customdata=list(zip(part.counts, totals, strict=True)),
            hovertemplate=f"{part.name}: %{{customdata[0]}} of %{{customdata[1]}}" + HIDE_TRACE_NAME,
            orientation="h",
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            insidetextfont={"color": _ink_on(colours[place])} if place < len(colours) else None,
        )
    figure.update_layout(barmode="stack", bargap=0.3, uniformtext={"minsize": 10, "mode": "hide"})
    figure.update_xaxes(visible=False, range=[0, 100])
    figure.update_yaxes(autorange="reversed", showgrid=False)
    draw(figure, _BAR_HEIGHT * len(bars), margin=0, top=0, alt=alt, key=key)
    st.markdown(_format_counts_legend(parts, between))


Tone = Literal["pass", "warn", "fail", "none"]
_THEME_COLOUR_BY_TONE = {"pass": "greenColor", "warn": "orangeColor", "fail": "redColor", "none": "grayColor"}
_MIN_BAR_SLOTS = 5  # of a scale; bars that are fewer are as wide as if they were so many
_HATCH_BY_TONE = {"fail": "/", "warn": "|"}  # green, orange and red are one colour to some eyes


def _hatch(tone: Tone | None, colour: str) -> dict[str, Any]:
    lines = "#ffffff" if _ink_on(colour) == "#000000" else "#000000"  # away from the ink, so that numbers stay readable
    look = {"fillmode": "overlay", "fgcolor": lines, "fgopacity": 0.35, "size": 7, "solidity": 0.2}
    return {"shape": _HATCH_BY_TONE.get(tone or "", ""), **look}


def shades(parts: Sequence[str], tones: Sequence[Tone | None] = ()) -> list[tuple[str, str]]:
    """Return parts with their colours: that of a verdict where its tone is given, else that of its place."""
    known = [*tones, *[None] * (len(parts) - len(tones))]
    return [
        (part, st.get_option(f"theme.{theme_name()}.{_THEME_COLOUR_BY_TONE[tone]}") if tone else theme_colours()[place])
        for place, (part, tone) in enumerate(zip(parts, known, strict=True))
    ]


def stacked(
    bars: Sequence[str],
    parts: Sequence[tuple[str, Sequence[float]]],
    *,
    colours: Sequence[str],
    tones: Sequence[Tone | None],
    unit: str,
    shares: bool = False,
    sign: str = "",
    upright: bool = False,
    height: int,
    alt: str,
    key: str,
) -> None:
    """Bars as long as what they count, cut into their parts; `upright` ones are in a row, as in time.

    With `shares` all are of one length. `tones` of the parts are hatched as well as coloured; `sign` follows the
    numbers of the scale. `height` in pixels; `alt` describes the plot in a sentence.
    """
    figure = go.Figure()
    length, place = ("y", "x") if upright else ("x", "y")
    totals = [sum(counts[bar] for _, counts in parts) or 1 if shares else 1 for bar in range(len(bars))]
    for (name, counts), colour, tone in zip(parts, colours, tones, strict=True):
        figure.add_bar(
            **{place: list(bars), length: [number / total for number, total in zip(counts, totals, strict=True)]},
            customdata=list(counts),
            orientation="v" if upright else "h",
            marker={"color": colour, "pattern": _hatch(tone, colour)},
            text=None if upright else [f"{n:,.0f}" if n else "" for n in counts],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            insidetextfont={"color": _ink_on(colour)},
            hovertemplate=f"%{{{place}}}: %{{customdata:,.3~g}} {unit}, {name}<extra></extra>",
        )
    figure.update_layout(barmode="stack", bargap=0.25, uniformtext={"minsize": 9, "mode": "hide"})
    if upright:
        figure.update_xaxes(showgrid=False, tickangle=0, type="category")
        figure.update_yaxes(rangemode="tozero", nticks=5, tickformat=",~r")
        highest = max(sum(counts[bar] for _, counts in parts) for bar in range(len(bars)))
        if highest <= _MIN_BAR_SLOTS and all(float(number).is_integer() for _, counts in parts for number in counts):
            figure.update_yaxes(dtick=1)  # there is no half a case
        figure.update_traces(width=0.75 * min(1, len(bars) / _MIN_BAR_SLOTS))
    else:
        figure.update_xaxes(visible=False)
        figure.update_yaxes(autorange="reversed", showgrid=False)
    draw(figure, height, margin=0, top=6, alt=alt, key=key, sign=sign)


def legend(entries: Sequence[tuple[str, str]], signs: str = "") -> None:
    """Draw what each colour is; see `shades`. `signs` has one character an entry, of the form of its points."""
    squares = (
        f':color[{mark}]{{foreground="{colour}"}} {escaped(name)}'
        for mark, (name, colour) in zip(signs or "■" * len(entries), entries, strict=True)
    )
    st.markdown(f":small[{_ENTRY_SEPARATOR.join(square.replace(' ', chr(0xA0)) for square in squares)}]")


_TICK_MINUTES = (1 / 6, 1, 10, 60, 360, 1440, 10080, 43200)
_TICK_LABELS = ("10 s", "1 min", "10 min", "1 h", "6 h", "1 day", "1 week", "30 days")
_MAX_OPAQUE_DOTS = 40  # dots; more are fainter
_QUARTILES = (0.25, 0.75)


def spread(
    groups: Sequence[tuple[str, Sequence[float]]],
    *,
    medians: Sequence[str],
    levels: Sequence[tuple[int, int, float, str]] = (),
    upright: bool = False,
    height: int,
    alt: str,
    key: str,
) -> None:
    """Minutes on a scale on which each step multiplies: a dot a case, a thick line from 25 to 75 %, the median.

    `medians` are the words for each; where there are none, no median and no line is drawn. `levels` go from the
    place of one group to that of another, each with its words.
    """
    theme = theme_name()
    text, ground = (st.get_option(f"theme.{theme}.{name}") for name in ("textColor", "backgroundColor"))
    accent = theme_colours()[0]
    figure = go.Figure()
    length, place = ("y", "x") if upright else ("x", "y")
    labels: list[tuple[float, float, str, int]] = []
    for row, ((name, values), words) in enumerate(zip(groups, medians, strict=True)):
        # So that dots do not overlap.
        places = [row + 0.3 * ((0.618 * number) % 1 - 0.5) for number in range(len(values))]
        figure.add_scatter(
            **{length: list(values), place: places},
            mode="markers",
            marker={
                "size": 7,
                "color": accent,
                "opacity": 0.7 * min(1, (_MAX_OPAQUE_DOTS / max(1, len(values))) ** 0.5),
            },
            hovertemplate=f"{name}: %{{{length}:,.3~g}} min<extra></extra>",
        )
        if not words:
            continue
        quartiles = [float(end) for end in np.quantile(values, _QUARTILES)]
        line = {"color": accent, "width": 5}
        figure.add_scatter(**{length: quartiles, place: [row, row]}, mode="lines", line=line, hoverinfo="skip")
        middle = float(np.median(values))
        figure.add_scatter(
            **{length: [middle], place: [row]},
            mode="markers",
            marker={"size": 15, "symbol": "diamond", "color": accent, "line": {"color": ground, "width": 2}},
            hovertemplate=f"{name}: half within {words}" + HIDE_TRACE_NAME,
        )
        labels.append((middle, row, words, 16))
    for first, last, level, words in levels:
        ends = [first - 0.4, last + 0.4]
        line = {"color": accent, "width": 3}
        figure.add_scatter(**{length: [level, level], place: ends}, mode="lines", line=line, hoverinfo="skip")
        labels.append((level, (first + last) / 2, words, 12))
    for value, at, words, above in labels:  # on a ground of their own: a dot may lie behind
        figure.add_annotation(
            **{length: math.log10(value), place: at}, text=f"<b>{words}</b>", yshift=above, showarrow=False,
            font={"color": text, "size": 12}, bgcolor=ground, borderpad=1,
        )  # fmt: skip
    every = [value for _, values in groups for value in values]
    low, high = math.log10(max(1 / 60, min(every))) - 0.25, math.log10(max(1 / 60, *every)) + 0.25
    shown = [tick for tick in zip(_TICK_MINUTES, _TICK_LABELS, strict=True) if low <= math.log10(tick[0]) <= high]
    scale = {"type": "log", "range": [low, high], "zeroline": False, "tickangle": 0}
    scale |= {"tickvals": [at for at, _ in shown], "ticktext": [word for _, word in shown]}
    names: dict[str, Any] = {"showgrid": False, "zeroline": False}
    every_nth = max(1, -(-len(groups) // 7)) if upright else 1  # as many as fit on a phone
    names |= {
        "tickvals": list(range(0, len(groups), every_nth)),
        "ticktext": [name for name, _ in groups[::every_nth]],
    }
    if upright:
        names |= {"range": [-0.6, len(groups) - 0.4], "tickangle": 0}
    else:
        names |= {"range": [len(groups) - 0.5, -0.7]}
    figure.update_xaxes(names if upright else scale)
    figure.update_yaxes(scale if upright else names)
    draw(figure, height, margin=0, top=8, alt=alt, key=key)


def two_sides(
    notes: Sequence[tuple[float, float, bool]], *, names: tuple[str, str], height: int, alt: str, key: str
) -> tuple[str, str]:
    """Draw a point a note: how helpful one side finds it, and how helpful the other; on the line they agree.

    Round points are true, rhombs false; gives the colours of both.
    """
    theme = theme_name()
    ink = st.get_option(f"theme.{theme}.grayTextColor")
    colours = theme_colours()[0], theme_colours()[5]
    figure = go.Figure()
    figure.add_scatter(x=[0, 1], y=[0, 1], mode="lines", line={"color": ink, "dash": "dash", "width": 1})
    figure.update_traces(hoverinfo="skip")
    for wanted, symbol, colour in ((True, "circle", colours[0]), (False, "diamond", colours[1])):
        points = [(x, y) for x, y, filled in notes if filled is wanted]
        figure.add_scatter(
            x=[x for x, _ in points],
            y=[y for _, y in points],
            mode="markers",
            marker={
                "size": 9,
                "color": colour,
                "symbol": symbol,
                "opacity": 0.75 * min(1, (_MAX_OPAQUE_DOTS / len(notes)) ** 0.5),
            },
            hovertemplate=f"{names[0]} %{{x:.2f}}, {names[1]} %{{y:.2f}}<extra></extra>",
        )
    for update, name in ((figure.update_xaxes, names[0]), (figure.update_yaxes, names[1])):
        title = {"text": name, "font": {"color": ink, "size": 12}, "standoff": 12}
        update(range=[-0.04, 1.04], zeroline=False, tickvals=[0, 0.5, 1], title=title)
    draw(figure, height, margin=0, top=6, alt=alt, key=key)
    return colours


def draw(
    figure: go.Figure, height: int, *, margin: int, top: int, alt: str, key: str, sign: str = "", **chosen: Any
) -> None:
    """Heights and margins in pixels; `sign` follows numbers on the left. Nothing in a plot moves or zooms.

    `chosen` says what happens when a point is chosen, as `st.plotly_chart` takes it.
    """
    ink = st.get_option(f"theme.{theme_name()}.grayTextColor")
    figure.update_layout(
        height=height, margin={"l": margin, "r": margin, "t": top, "b": 0}, dragmode=False, showlegend=False
    )
    figure.update_xaxes(fixedrange=True, tickfont={"color": ink})
    figure.update_yaxes(fixedrange=True, tickfont={"color": ink}, ticks="", ticksuffix=f"{sign}  ")
    st.plotly_chart(figure, key=key, config=CONFIG, alt=alt, **chosen)


def theme_colours() -> Sequence[str]:
    """One for each kind of thing, in the theme that is shown."""
    return st.get_option(f"theme.{theme_name()}.chartCategoricalColors") or ()


def theme_name() -> str:
    """Light or dark."""
    return st.context.theme.type or "light"


def _ink_on(colour: str) -> str:
    """Black or white, whichever is read more easily on `colour` (#rrggbb): one of them has 4.5 to 1 on any.

    Source: WCAG 2.2, relative luminance and contrast ratio.
    """
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    luminance = sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return "#000000" if (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) else "#ffffff"


def _format_counts_legend(parts: Sequence[Part], between: str) -> str:
    """Return what each colour is, with its numbers: Plotly's own legend scrolls at the width of a phone."""
    return _format_colour_legend(
        [f"{part.name} {between.join(map(str, part.counts))}" if any(part.counts) else "" for part in parts]
    )


def _format_colour_legend(names: Sequence[str]) -> str:
    """Return what each colour is; an empty name has no entry."""
    colours = theme_colours()
    squares = [f':color[■]{{foreground="{colour}"}} ' for colour in colours[: len(names)]] or [""] * len(names)
    entries = [f"{square}{escaped(name)}" for square, name in zip(squares, names, strict=False) if name]
    return f":small[{_ENTRY_SEPARATOR.join(entry.replace(' ', chr(0xA0)) for entry in entries)}]"


_NUMBER_LINE_HEIGHT = 74  # pixels


@dataclass(frozen=True, slots=True)
class Standing:
    """One number: its name, where it lies, and the interval around it."""

    name: str
    value: float
    low: float
    high: float


_FIRST_COMPARED_COLOUR = 3  # its place in the theme


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
    The things are the same ones, by name and in order, in every row. Their colours are none of those that
    `stacked_shares` gives to levels.
    """
    theme, colours = theme_name(), theme_colours()[_FIRST_COMPARED_COLOUR:]
    text, ink = (st.get_option(f"theme.{theme}.{name}") for name in ("textColor", "grayTextColor"))
    figure = go.Figure()
    for place, symbol in zip(range(len(rows[0][1])), ("circle", "diamond"), strict=False):
        points = [standings[place] for _, standings in rows]
        colour = colours[place]
        offset = 0.14 * (2 * place - len(rows[0][1]) + 1)
        figure.add_scatter(
            x=[point.value for point in points],
            y=[number + offset for number in range(len(rows))],
            mode="markers+text",
            marker={"size": 12, "color": colour, "symbol": symbol},
            text=[f"{100 * point.value:.0f} %" if percent else f"{point.value:.2f}" for point in points],
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
    draw(figure, 40 + 64 * len(rows), margin=22, top=8, alt=alt, key=key)
    if len(rows[0][1]) > 1:
        legend(list(zip([standing.name for standing in rows[0][1]], colours, strict=False)), "●◆")


def number_line(standings: list[Standing], *, line: float, ends: tuple[float, float], alt: str, key: str) -> None:
    """Numbers of the jury with their intervals on one scale from `ends[0]` to `ends[1]`, and a line at `line`.

    What is beyond the ends is drawn to them, with an arrow there. `alt` describes the plot in a sentence.
    """
    left, right = ends
    theme = theme_name()
    accent, ink, text, ground = (
        st.get_option(f"theme.{theme}.{name}")
        for name in ("violetColor", "grayTextColor", "textColor", "backgroundColor")
    )
    values = [min(right, max(left, item.value)) for item in standings]
    signs = {-1: "triangle-left", 0: "circle", 1: "triangle-right"}
    symbols = [signs[(item.value > right) - (item.value < left)] for item in standings]
    figure = go.Figure()
    figure.add_scatter(
        x=values,
        y=[item.name for item in standings],
        mode="markers",
        marker={"size": 13, "color": accent, "symbol": symbols},
        cliponaxis=False,
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
    beyond_left = [item.name for item in standings if item.low < left]
    beyond_right = [item.name for item in standings if item.high > right]
    for end, names, symbol in ((left, beyond_left, "triangle-left"), (right, beyond_right, "triangle-right")):
        arrow = {"size": 12, "color": accent, "symbol": symbol}
        at_end = [end] * len(names)
        figure.add_scatter(x=at_end, y=names, mode="markers", marker=arrow, hoverinfo="skip", cliponaxis=False)
    figure.add_vline(x=line, line={"color": ink, "dash": "dash", "width": 2}, layer="below")
    figure.add_annotation(
        x=line,
        y=1,
        yref="paper",
        yanchor="bottom",
        text=f"shown from {line:.2f}",
        showarrow=False,
        font={"color": ink},
    )
    for item, at in zip(standings, values, strict=True):
        figure.add_annotation(  # on a ground of its own: the line may cross the number
            x=at, y=item.name, yshift=17, showarrow=False, text=in_figures(item.value, line),
            font={"color": text}, bgcolor=ground, borderpad=1,
        )  # fmt: skip
    figure.update_xaxes(range=[left, right], zeroline=False, dtick=0.2, tickformat=".1f")
    # From the top down, with space for the topmost value.
    figure.update_yaxes(range=[len(standings) - 0.5, -0.8], visible=len(standings) > 1)
    draw(figure, _NUMBER_LINE_HEIGHT + 44 * len(standings), margin=12, top=26, alt=alt, key=key)


_FUNNEL_BAR_HEIGHT = 40  # pixels of a bar of the funnel with its words above it


def funnel(steps: Sequence[tuple[str, int]], *, unsure: Sequence[bool], alt: str, key: str) -> None:
    """Draw what was left after each step and what it took out, from the top down; the first is what there was.

    The words are above the bars, so that they can be long on a phone. What is `unsure` is drawn with open lines, as
    it is not known. `alt` describes the plot in a sentence.
    """
    theme = theme_name()
    accent, faint, text = (
        st.get_option(f"theme.{theme}.{name}") for name in ("primaryColor", "borderColor", "textColor")
    )
    left = [number for _, number in steps]
    gone = [max(0, before - after) for before, after in zip([left[0], *left], left, strict=False)]
    rows = [str(place) for place in range(len(steps))]  # two steps of one name stay two bars
    figure = go.Figure()
    hover = "%{customdata[0]} left, %{customdata[1]} removed" + HIDE_TRACE_NAME
    both = list(zip(left, gone, strict=True))
    look = {"color": accent, "pattern": {"shape": ["/" if open_ else "" for open_ in unsure], "fillmode": "replace"}}
    figure.add_bar(x=left, y=rows, orientation="h", marker=look, customdata=both, hovertemplate=hover)
    figure.add_bar(x=gone, y=rows, orientation="h", marker={"color": faint}, customdata=both, hovertemplate=hover)
    for row, (name, number), out in zip(rows, steps, gone, strict=True):
        lost = f", {out} removed" if out else ""
        figure.add_annotation(
            x=0, y=row, xanchor="left", yanchor="bottom", yshift=7, showarrow=False, font={"color": text, "size": 13},
            text=f"<b>{number}</b> {name}{lost}",
        )  # fmt: skip
    figure.update_layout(barmode="stack", bargap=0.68)
    figure.update_xaxes(visible=False, range=[0, max(1, left[0])])
    figure.update_yaxes(visible=False, autorange="reversed", type="category")
    draw(figure, _FUNNEL_BAR_HEIGHT * len(steps), margin=0, top=6, alt=alt, key=key)
