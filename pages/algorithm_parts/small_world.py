"""Two simulations: a small world of raters and notes, and the essay's experiment on extreme ratings.

The essay is Vitalik Buterin's on Community Notes (2023).
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from crowdnotes.bridging.thresholds import THRESHOLDS
from crowdnotes.public_data.extremes import KINDS, ROUNDS, Experiment, run_experiment
from crowdnotes.public_data.small_world import (
    NOTES,
    RATERS,
    NoteKind,
    OtherStarts,
    World,
    WorldOptions,
    make_world,
    other_starts,
)
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import fill
from pages.algorithm_parts.charts import ROUND_SIGNS, SIGNS, Floats, Lines, kind_colours, note_map, rounds_map
from pages.common.chart_card import picture_card, table_with_csv
from pages.common.session import show_errors

_CHART_HEIGHT = 330  # pixels


@st.fragment
def extremes() -> None:
    """Draw what is tried, and the result."""
    with show_errors():
        left, right = st.columns([0.3, 0.7], gap="medium")
        with left:
            st.markdown(
                "A good note gets +2 from its own side and 0 from the other, an extreme one +4 and −2. With "
                "as many ratings from both sides, their averages are equal. Are their scores?"
            )
            ratings = st.segmented_control(
                "Ratings of each note", [4, 8, 20], default=4, required=True, key="extremes-ratings"
            )
            own = st.segmented_control(
                "From its own side",
                [50, 75],
                default=50,
                required=True,
                key="extremes-own",
                format_func=lambda share: f"{share}%",
                help="At 50% both sides rate each note equally often.",
            )
        with right:
            with st.spinner(f"Running {ROUNDS} rounds…", show_time=False):
                found = _run_cached_experiment(ratings or 4, (ratings or 4) * (own or 50) // 100)
            st.markdown(f"**{found.verdict}**")
            _draw_experiment(found)


@lru_cache(maxsize=16)
def _run_cached_experiment(ratings: int, own: int) -> Experiment:
    return run_experiment(ratings, own)


def _draw_experiment(found: Experiment) -> None:
    rules = THRESHOLDS
    lines = Lines(rules.helpful_intercept, rules.max_factor, rules.not_helpful_base, rules.not_helpful_slope)

    def draw(key: str) -> list[tuple[str, str]]:
        return rounds_map(
            [(kind, found.by_round[:, place, 2], found.by_round[:, place, 1]) for place, kind in enumerate(KINDS)],
            lines=lines, height=_CHART_HEIGHT, alt=f"Four kinds of notes. {found.sentence}", key=key,
        )  # fmt: skip

    picture_card(
        "extremes-map", title="Four kinds of notes", sentence=found.sentence, draw=draw, rows=found.rows,
        file="extremes-rounds", signs=ROUND_SIGNS,
    )  # fmt: skip
    if not any(kind.score >= rules.helpful_intercept for kind in found.kinds):
        st.markdown(f"No note reaches {rules.helpful_intercept:.2f}, not even the good ones. Compare which is higher.")
    st.markdown(escaped(found.polarity_sentence(rules.max_factor)))
    of = (
        f"{found.rounds} rounds. Each note has {found.ratings} ratings, {found.own} from its own side. Faint "
        "marks: one round each; large marks: the mean."
    )
    st.caption(of)
    table_with_csv(found.rows, key="extremes-table", file="extremes")
    st.caption(
        "After Vitalik Buterin's essay (2023); his scores: good 0.300, extreme 0.217. Compare the order, not "
        "the numbers: the scale here is 0 to 1."
    )


Bools = npt.NDArray[np.bool_]
_BIND_TO_ADDRESS: Any = "query-params"  # in the address, so that a world can be sent to others
_NOTE_KEY, _KEPT_NOTE_KEY = "note", "note-kept"
_STARTS_KEY = "starts_of"  # the world that was fitted from other starts
_SCORE_AXIS, _AVERAGE_AXIS = (
    (-0.45, 0.75),
    (-0.05, 1.05),
)  # ends of the axes: they stay where they are as a slider moves


@lru_cache(maxsize=64)
def _make_cached_world(options: WorldOptions) -> World:
    return make_world(options)


def chosen_world() -> World:
    """Return the world of the sliders, which are drawn here."""
    with st.grid(min_column_width=150, gap="small", key="world-sliders") as grid:
        camps = _draw_slider(grid, "camps", 1, 2, 2, 1)
        polarity = _draw_slider(grid, "polarity", 0.0, 1.0, 0.7, 0.05, disabled=camps == 1)
        share = _draw_slider(grid, "share", 50, 95, 75, 5, "%d%%", disabled=camps == 1)
        generosity = _draw_slider(grid, "generosity", 0.0, 0.4, 0.1, 0.05)
        noise = _draw_slider(grid, "noise", 0.0, 0.5, 0.2, 0.05)
        ratings = _draw_slider(grid, "ratings", 10, 50, 20, 5)
        seed = _draw_slider(grid, "draw", 0, 20, 0, 1)
    return _make_cached_world(
        WorldOptions(
            camps=camps, polarity=polarity, share=share / 100, generosity=generosity, noise=noise,
            ratings_each=ratings, seed=seed,
        )
    )  # fmt: skip


_LABEL_BY_SLIDER = {
    "camps": ("Sides", "1: all think alike. 2: two that disagree."),
    "polarity": ("Distance of the sides", "How much the two sides disagree."),
    "share": ("Larger side", "Its share of the raters who are on a side."),
    "generosity": ("Friendliness", "How much raters differ in how high they rate."),
    "noise": ("Noise", "How much of each rating is chance."),
    "ratings": ("Ratings each", "Of 60 notes."),
    "draw": ("Number of the crowd", "Another number makes another crowd."),
}


def _draw_slider(
    grid: Any, key: str, low: Any, high: Any, value: Any, step: Any, form: str | None = None, *, disabled: bool = False
) -> Any:
    label, about = _LABEL_BY_SLIDER[key]
    with grid.cell():
        return st.slider(
            label, low, high, value, step, form, key=key, help=about, bind=_BIND_TO_ADDRESS, disabled=disabled
        )


@st.fragment
def small_world() -> None:
    """Sliders, two maps of the same notes, and the sum behind one of them."""
    with show_errors():
        left, right = st.columns([0.24, 0.76], gap="medium")
        with left:
            world = chosen_world()
        with right:
            if world.one_camp:
                st.caption(f":material/info: {escaped(world.sides_sentence)}")
            _draw_maps(world)
            for doubt in filter(None, [world.left_out_sentence, *world.notices]):
                st.caption(f":orange[:material/warning:] {escaped(doubt)}")
            _explain_note(world)
            _draw_other_starts(world)
    sides = "" if world.one_camp else world.sides_sentence
    st.caption(escaped(f"{sides} {RATERS} raters, {NOTES} notes.".strip()))


def _draw_maps(world: World) -> None:
    rules = world.thresholds
    grid = st.grid(2, min_column_width=330, gap="small")
    with grid.cell():
        _draw_map(
            world,
            world.scores,
            world.shown,
            ("scores", "Score (filled: shown)", world.sentence),
            lines=Lines(rules.helpful_intercept, rules.max_factor, rules.not_helpful_base, rules.not_helpful_slope),
            up="Score (iₙ)",
            ends=_SCORE_AXIS,
        )
    with grid.cell():
        _draw_map(
            world,
            world.averages,
            world.averages >= (math.inf if world.average_line is None else world.average_line),
            ("averages", "Plain average", world.average_sentence),
            lines=None,
            level=world.average_line,
            up="Average rating",
            ends=_AVERAGE_AXIS,
        )


def _draw_map(world: World, height: Floats, shown: Bools, card: tuple[str, str, str], **how: Any) -> None:
    """Draw the notes, each at a height; `card` has the picture's name, title and sentence."""
    name, title, sentence = card
    order = list(NoteKind)
    note = _get_chosen_note(world)
    points = [
        (order.index(kind), world.factors[one], height[one], bool(shown[one]), _name_note(world, one))
        for one, kind in enumerate(world.kinds)
    ]

    def draw(key: str) -> list[tuple[str, str]]:
        alt = f"{title}. {sentence}"
        note_map(points, here=note, height=_CHART_HEIGHT, alt=alt, key=key, on_choice=_choose_note, **how)
        return kind_colours([world.name(kind) for kind in NoteKind])

    picture_card(f"world-{name}", title=title, sentence=sentence, draw=draw, rows=world.rows, file=name, signs=SIGNS)


def _name_note(world: World, note: int) -> str:
    return f"Note {note + 1}, {world.name(world.kinds[note])}"


def _pick_first_note(world: World) -> int:
    """Return the note that a reader sees first: one that pleases one side, near the line by its average."""
    one_sided = [note for note, kind in enumerate(world.kinds) if kind.one_sided]
    return max(one_sided, key=world.averages.__getitem__)


def _get_chosen_note(world: World) -> int:
    if not isinstance(
        st.session_state.get(_NOTE_KEY), int
    ):  # none yet; or its name, where notes are called otherwise now
        st.session_state[_NOTE_KEY] = st.session_state.get(_KEPT_NOTE_KEY, _pick_first_note(world))
    note: int = st.session_state[_NOTE_KEY]
    st.session_state[_KEPT_NOTE_KEY] = note
    return note


def _choose_note(note: int) -> None:
    st.session_state[_NOTE_KEY] = note


def _explain_note(world: World) -> None:
    """Draw why the chosen note is shown or not, and the sum that predicts its ratings, a symbol a cell."""
    note = _get_chosen_note(world)
    with st.container(border=True, gap="small", key="world-note"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.caption("Why is a note shown or not? Choose one here or on the map.", width="content")
            st.selectbox(
                "Note", range(NOTES), key=_NOTE_KEY, width=320, label_visibility="collapsed",
                format_func=partial(_name_note, world),
            )  # fmt: skip
        st.markdown(f"**{escaped(world.story(note))}**")
        low, high = world.side_sums(note)
        note_factor = world.factors[note]
        products = [side.factor * note_factor for side in (low, high)]
        polarities = {
            "one": _format_figure(low.factor),
            "other": _format_figure(high.factor),
            "note": _format_figure(note_factor),
        }
        cells = (
            ("$\\mu$ **Mood**", f"{world.fit.global_intercept:.2f}", "How high ratings are in general."),
            (
                "\\+ $i_u$ **Friendliness**",
                _format_both_sides(world, low.intercept, high.intercept),
                "How high these raters rate in general.",
            ),
            (
                "\\+ $i_n$ **Score**",
                _format_figure(world.scores[note]),
                "What is left for the note itself. Shown from 0.40.",
            ),
            (
                "\\+ $f_u \\times f_n$ **Viewpoint**",
                _format_both_sides(world, *products),
                fill(
                    "That of the raters ({one}, {other}) times that of the note ({note}). Same sign: they like it "
                    "more.",
                    **polarities,
                ),
            ),
            (
                "= **Predicted rating**",
                _format_both_sides(world, low.predicted, high.predicted),
                "From 0, not helpful, to 1, helpful.",
            ),
        )
        grid = st.grid(len(cells), min_column_width=140, border=True, gap="xsmall")
        for symbol, figures, about in cells:
            with grid.cell(), st.container(gap="xxsmall"):
                st.markdown(symbol)
                st.markdown(figures)
                st.caption(about)
        rated = (
            "How they really rated it: those taken for side A **{one}**, those taken for side B **{other}**."
            if world.one_camp
            else "How they really rated it: side A **{one}**, side B **{other}**."
        )
        st.markdown(fill(rated, one=_format_figure(low.rated), other=_format_figure(high.rated)))
        st.caption(
            "A number costs its square times a penalty $\\lambda$: 0.15 for mood, friendliness and score, "
            "only 0.03 for viewpoints. So what a viewpoint explains does not count for the score."
        )


def _draw_other_starts(world: World) -> None:
    """Whether the same ratings, fitted from elsewhere, give the same."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.button(
            "Try other random starts",
            key="starts",
            icon=":material/shuffle:",
            help="Do other random numbers to begin with give the same answer?",
            on_click=_request_other_starts,
            args=(world.options,),
        )
        if st.session_state.get(_STARTS_KEY) == world.options:
            st.markdown(f"**{escaped(_fit_other_starts(world.options).sentence)}**", width="stretch")


@lru_cache(maxsize=16)
def _fit_other_starts(options: WorldOptions) -> OtherStarts:
    return other_starts(_make_cached_world(options))


def _request_other_starts(options: WorldOptions) -> None:
    st.session_state[_STARTS_KEY] = options


def _format_both_sides(world: World, one: float, other: float) -> str:
    words = (
        "Taken for side A: {one}  \nTaken for side B: {other}" if world.one_camp else "Side A: {one}  \nSide B: {other}"
    )
    return fill(words, one=_format_figure(one), other=_format_figure(other))


def _format_figure(number: float) -> str:
    return "no ratings" if math.isnan(number) else f"{number:.2f}".replace("-", "−")
