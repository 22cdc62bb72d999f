"""The Algorithm page: how a note gets its score, whether that resists extremes, and how hard it is to manipulate."""

from __future__ import annotations

import streamlit as st

from crowdnotes.wording import say
from pages.algorithm_parts.attack import attack_lab
from pages.algorithm_parts.small_world import extremes, small_world
from pages.common.components import rules_link
from pages.common.navigation import page_body

_WIDTH = 1240  # pixels: sliders beside two pictures

with page_body(say("algorithm.title"), say("algorithm.about"), width=_WIDTH):
    names = [say("algorithm.scores"), say("algorithm.extremes"), say("algorithm.attacks")]
    scores, experiment, attacks = st.tabs(names, key="part", on_change="rerun", bind="query-params")
    for tab, draw in ((scores, small_world), (experiment, extremes), (attacks, attack_lab)):
        if tab.open:
            with tab:
                draw()
    with st.expander(say("crowd.power"), icon=":material/gavel:"):
        st.markdown(say("crowd.power_told"))
    rules_link()
