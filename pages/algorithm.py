"""The Algorithm page: how a note gets its score, whether that resists extremes, and how hard it is to manipulate."""

from __future__ import annotations

import streamlit as st

from pages.algorithm_parts.attack import attack_lab
from pages.algorithm_parts.small_world import extremes, small_world
from pages.common.components import rules_link, what_x_can_change
from pages.common.navigation import page_body

_PAGE_WIDTH = 1240  # pixels: sliders next to two pictures

with page_body(
    "Algorithm",
    "How Community Notes decides which notes to show. Try X's real algorithm on a small, made-up crowd.",
    width=_PAGE_WIDTH,
):
    names = ["How notes are scored", "Does it resist extremes?", "Attack lab"]
    scores, experiment, attacks = st.tabs(names, key="part", on_change="rerun", bind="query-params")
    for tab, draw in ((scores, small_world), (experiment, extremes), (attacks, attack_lab)):
        if tab.open:
            with tab:
                draw()
    what_x_can_change()
    rules_link()
