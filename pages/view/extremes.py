"""The essay's experiment on extremes: its rounds as points, and the table of average results."""

from __future__ import annotations

import streamlit as st

from crowdnotes.public_data.extremes import KINDS, ROUNDS, Experiment, run_experiment
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import say
from pages.algorithm_parts.charts import SIGNS, Lines, kind_colours, rounds_map
from pages.common.chart_card import picture_card, table_with_csv
from pages.common.session import telling, workspace

_FOUND = "extremes"
_HEIGHT = 330  # pixels


@st.fragment
def extremes() -> None:
    """What is tried, a button, and what came of it."""
    with telling():
        left, right = st.columns([0.3, 0.7], gap="medium")
        with left:
            st.markdown(say("extremes.about"))
            ratings = st.segmented_control(
                say("extremes.ratings"), [4, 8, 20], default=4, required=True, key="extremes-ratings"
            )
            own = st.segmented_control(
                say("extremes.own"), [50, 75], default=50, required=True, key="extremes-own",
                format_func=lambda share: f"{share}%", help=say("extremes.own_help"),
            )  # fmt: skip
            if st.button(say("extremes.run", n=ROUNDS), type="primary", icon=":material/play_arrow:"):
                with st.spinner(say("extremes.running"), show_time=False):
                    st.session_state[_FOUND] = run_experiment(ratings or 4, (ratings or 4) * (own or 50) // 100)
        with right:
            found = st.session_state.get(_FOUND)
            if isinstance(found, Experiment):
                made_with = found.ratings, found.own
                if made_with != ((ratings or 4), (ratings or 4) * (own or 50) // 100):
                    st.warning(say("extremes.stale"), icon=":material/history:")
                st.markdown(f"**{say(found.verdict)}**")
                _results(found)
            else:
                st.info(say("extremes.not_run"), icon=":material/science:")


def _results(found: Experiment) -> None:
    rules = workspace().settings.bridging
    lines = Lines(rules.helpful_intercept, rules.max_factor, rules.not_helpful_base, rules.not_helpful_slope)

    def draw(key: str) -> list[tuple[str, str]]:
        rounds_map(
            [(kind, found.by_round[:, place, 2], found.by_round[:, place, 1]) for place, kind in enumerate(KINDS)],
            lines=lines, height=_HEIGHT, alt=f"{say('extremes.title')}. {found.sentence}", key=key,
        )  # fmt: skip
        return kind_colours(list(KINDS))

    picture_card(
        "extremes-map", title=say("extremes.title"), sentence=found.sentence, draw=draw, rows=found.rows,
        file="extremes-rounds",signs=SIGNS,
    )  # fmt: skip
    if not any(kind.score >= rules.helpful_intercept for kind in found.kinds):
        st.markdown(say("extremes.none_reach", line=rules.helpful_intercept))
    st.markdown(escaped(found.polarity_sentence(rules.max_factor)))
    of = say("extremes.of", n=found.rounds, ratings=found.ratings, own=found.own, other=found.ratings - found.own)
    st.caption(of)
    table_with_csv(found.rows, key="extremes-table", file="extremes")
    st.caption(say("extremes.differs"))
