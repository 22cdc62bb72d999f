"""The one style of plots: no tools around them, the theme's colours and fonts, and words for those who see none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
import streamlit as st

from pages.parts.text import plain

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
    colours, ink = _colours(), st.get_option(f"theme.{_theme()}.grayTextColor")
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
            showlegend=False,
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            insidetextfont={"color": _ink_on(colours[place])} if place < len(colours) else None,
        )
    figure.update_layout(
        barmode="stack",
        bargap=0.3,
        height=_ROW * len(bars),
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        dragmode=False,
        xaxis={"visible": False, "range": [0, 100], "fixedrange": True},
        yaxis={
            "autorange": "reversed",
            "fixedrange": True,
            "ticks": "",
            "showgrid": False,
            "ticksuffix": "  ",
            "tickfont": {"color": ink},
        },
        uniformtext={"minsize": 10, "mode": "hide"},
    )
    st.plotly_chart(figure, key=key, config=CONFIG, alt=alt)
    st.markdown(_key(parts, between))


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


def _key(parts: Sequence[Part], between: str) -> str:
    """What each colour is, with its numbers: Plotly's own legend scrolls at the width of a phone."""
    colours = _colours()
    entries = []
    for place, part in enumerate(parts):
        if any(part.counts):
            square = f':color[■]{{foreground="{colours[place]}"}} ' if place < len(colours) else ""
            numbers = between.join(str(number) for number in part.counts)
            entries.append(f"{square}{plain(part.name)} {numbers}".replace(" ", "\u00a0"))
    return f":small[{_APART.join(entries)}]"
