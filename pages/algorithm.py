"""The Algorithm page: how a note gets its score, whether that resists extremes, and how hard it is to manipulate."""

from __future__ import annotations

import streamlit as st

from pages.algorithm_parts.attack import attack_lab
from pages.algorithm_parts.small_world import extremes, small_world
from pages.common.components import rules_link
from pages.common.navigation import page_body

_PAGE_WIDTH = 1240  # pixels: sliders beside two pictures

with page_body(
    "Algorithm",
    (
        "How Community Notes decides which notes are shown. Try it on a small made-up crowd: the scores come from the "
        "real algorithm, the people and notes are not real."
    ),
    width=_PAGE_WIDTH,
):
    names = ["How notes are scored", "Does it resist extremes?", "Attack lab"]
    scores, experiment, attacks = st.tabs(names, key="part", on_change="rerun", bind="query-params")
    for tab, draw in ((scores, small_world), (experiment, extremes), (attacks, attack_lab)):
        if tab.open:
            with tab:
                draw()
    with st.expander("What can X itself change?", icon=":material/gavel:"):
        st.markdown(
            "- X writes the rules and may change any of them: the line of 0.40, who may rate, whose ratings count. "
            "Code and data are public, so a change can be seen, but only afterwards.\n- X can delete posts, notes and "
            "accounts. The data shows that a note's text is gone, not who removed it or why.\n- X holds a new status "
            "back for half an hour, keeps a shown note that falls a little short, and locks a status about two weeks "
            "after the note was written. So a status can stand that today's ratings would not give.\n- X uses models "
            "and signals that it does not publish: on facts and sources, and on who acts together. The data comes "
            "from X alone; nobody outside can see whether it is whole.\n- What you can check: here the score is "
            "worked out again from the ratings and set beside what X recorded. A difference needs a reason; it is no "
            "proof of interference."
        )
    rules_link()
