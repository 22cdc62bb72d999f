"""What Streamlit lacks: the live counter, marked text, the path of the gates, a place to scroll to; plots of one style.

The JavaScript only ever sets textContent, so text from outside stays text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict

import plotly.graph_objects as go
import streamlit as st

from crowdnotes.domain import GateName, GateResult, GateStatus, Passage, SentenceSupport, Span, Support
from crowdnotes.text.markdown import controls_shown, escaped, in_figures, web_url
from crowdnotes.text.note_rules import NOTE_LIMIT, top_level_domains
from crowdnotes.text.table_rows import ReadableRows, readable_rows

_FOLDER = Path(__file__).parents[2] / "assets" / "components"

Look = Literal["plain", "post", "quote", "passage", "title", "small", "note", "pinned"]
_GATE_SIGNS = {GateStatus.PASS: "✓", GateStatus.FAIL: "✗", GateStatus.NOT_RUN: "–"}
STATUS_WORDS = {GateStatus.PASS: "passed", GateStatus.FAIL: "failed", GateStatus.NOT_RUN: "not run"}


class Piece(TypedDict):
    """A run of text of one kind: "", "context", "mark", "doubt", "partly" or "unsupported"."""

    text: str
    kind: str
    title: str


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def counter_script() -> str:
    """The counter's JavaScript, with the limit and the top-level domains of X's rule."""
    script = _read("note_counter.js").replace("__NOTE_LIMIT__", str(NOTE_LIMIT))
    return script.replace("__TOP_LEVEL_DOMAINS__", json.dumps(sorted(top_level_domains())))


def _component(name: str, html: str, js: str = "") -> Callable[..., object]:
    """What assets/components has under a name."""
    css = _read(f"{name}.css") if (_FOLDER / f"{name}.css").exists() else None
    return st.components.v2.component(f"crowdnotes_{name}", html=html, css=css, js=js or _read(f"{name}.js"))


_counter = _component(
    "note_counter",
    """<div class="counter" role="status" aria-live="off" aria-atomic="true">
<span class="number"></span><span class="bar"><span></span></span><span class="words"></span></div>""",
    counter_script(),
)
_marked = _component("marked_text", '<div class="text" dir="auto">\n</div>')
_gates = _component("gate_path", '<ol class="path" aria-label="The three gates, in order">\n</ol>')
_into_view = _component("into_view", "<span></span>")


def into_view(token: str) -> None:
    """Bring the place where this is drawn into view, once for each token.

    The keyboard goes there too where what it was on is gone.
    """
    _into_view(data={"token": token}, key=f"into-view-{token}")


def note_counter(text: str, *, box: str, submit: str, key: str) -> None:
    """Counts what is typed into the text area inside the container with key `box`, and saves after a pause.

    `text` is what is saved already. Alt+S in the box saves and presses the button with key `submit`.
    """
    _counter(data={"text": text, "box": box, "submit": submit}, key=key)


def marked_text(pieces: Sequence[Piece], *, look: Look, key: str) -> None:
    """Text of many lines from outside, in a look, with its marks."""
    _marked(data={"pieces": list(pieces), "look": look}, key=key)


def outside_text(text: str, *, look: Look, key: str) -> None:
    """Text of many lines from outside, without marks."""
    marked_text([_piece(text)], look=look, key=key)


def web_link(label: str, url: str | None, icon: str = "open_in_new") -> None:
    """A link to a page of the web; nothing where the address is not one that a browser may open."""
    if address := web_url(url):
        st.link_button(label, address, type="tertiary", icon=f":material/{icon}:")


def badge(colour: str, icon: str, words: str) -> str:
    """Markdown of a badge with words from wherever; `icon` by its name, or empty."""
    return f":{colour}-badge[{f':material/{icon}: ' if icon else ''}{escaped(words, 60)}]"


def gate_path(results: Iterable[GateResult], questions: Mapping[GateName, str], *, stale: bool, key: str) -> None:
    """The gates in order, each with its status, reason, and score on its scale of 0 to 1."""
    gates = [
        {
            "name": result.gate.value.capitalize(),
            "asks": questions[result.gate],
            "status": result.status.value,
            "sign": _GATE_SIGNS[result.status],
            "label": STATUS_WORDS[result.status],
            "reason": controls_shown(result.reason),
            "score": result.score,
            "threshold": result.threshold,
        }
        for result in results
    ]
    _gates(data={"gates": gates, "stale": stale}, key=key)


def passage_pieces(passage: Passage) -> list[Piece]:
    """A passage in its surroundings, the most relevant sentences marked; its tables as words."""
    rows = _in_context(passage)
    start = len(passage.before)
    end = start + len(passage.text)
    spans = [
        (Span(start=0, end=start), "context", ""),
        *((_moved(mark, start), "mark", "most relevant to the post") for mark in passage.marks),
        (Span(start=end, end=end + len(passage.after)), "context", ""),
    ]
    return _cut(rows.text, [(rows.carried(span), kind, title) for span, kind, title in spans])


def passage_words(passage: Passage, span: Span) -> str:
    """The words of a passage at `span`, offsets in its text; of a table's row with dots between the cells."""
    rows = _in_context(passage)
    place = rows.carried(_moved(span, len(passage.before)))
    return rows.text[place.start : place.end]


def _in_context(passage: Passage) -> ReadableRows:
    """Rewritten before it is cut: a passage, or a sentence of it, may begin or end within a row."""
    return readable_rows(f"{passage.before}{passage.text}{passage.after}")


def _moved(span: Span, by: int) -> Span:
    return Span(start=span.start + by, end=span.end + by)


def sentence_pieces(note: str, sentence: SentenceSupport) -> list[Piece]:
    """One sentence of a note, the words that are in doubt marked."""
    start, end = sentence.span.start, sentence.span.end
    doubts = [
        (_moved(span, -start), "doubt", "; ".join(sentence.doubts))
        for span in sentence.doubted
        if start <= span.start and span.end <= end
    ]
    return _cut(note[start:end], doubts)


def note_pieces(note: str, sentences: Iterable[SentenceSupport]) -> list[Piece]:
    """A note, its sentences underlined where the passages do not carry them in full."""
    kinds = {Support.PARTLY: "partly", Support.UNSUPPORTED: "unsupported"}
    marks = [(item.span, kinds[item.support], item.support.value) for item in sentences if item.support in kinds]
    return _cut(note, marks)


def _cut(text: str, marks: Iterable[tuple[Span, str, str]]) -> list[Piece]:
    pieces: list[Piece] = []
    position = 0
    for span, kind, title in sorted(marks, key=lambda mark: mark[0].start):
        if span.start < position or span.end > len(text) or span.start == span.end:
            continue
        if span.start > position:
            pieces.append(_piece(text[position : span.start]))
        pieces.append(_piece(text[span.start : span.end], kind, title))
        position = span.end
    if position < len(text):
        pieces.append(_piece(text[position:]))
    return pieces


def _piece(text: str, kind: str = "", title: str = "") -> Piece:
    return {"text": controls_shown(text), "kind": kind, "title": title}


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
    colours = _colours()
    entries = []
    for place, part in enumerate(parts):
        if any(part.counts):
            square = f':color[■]{{foreground="{colours[place]}"}} ' if place < len(colours) else ""
            numbers = between.join(str(number) for number in part.counts)
            entries.append(f"{square}{escaped(part.name)} {numbers}".replace(" ", "\u00a0"))
    return f":small[{_APART.join(entries)}]"


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
    theme = _theme()
    accent, ink, text = (
        st.get_option(f"theme.{theme}.{name}") for name in ("primaryColor", "grayTextColor", "textColor")
    )
    values = [min(right, max(left, item.value)) for item in standings]
    figure = go.Figure()
    figure.add_scatter(
        x=values,
        y=[item.name for item in standings],
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
    )
    figure.add_vline(x=line, line={"color": ink, "dash": "dash", "width": 2})
    figure.add_annotation(
        x=line, y=1, yref="paper", yanchor="bottom", text=f"shown from {line:.2f}", showarrow=False, font={"color": ink}
    )
    figure.update_xaxes(range=[left, right], zeroline=False, dtick=0.2, tickformat=".1f")
    # From the top down, with room for the topmost value.
    figure.update_yaxes(range=[len(standings) - 0.5, -0.8], visible=len(standings) > 1)
    _draw(figure, _HEIGHT + 44 * len(standings), margin=12, top=26, alt=alt, key=key)
