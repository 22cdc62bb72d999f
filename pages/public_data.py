"""What X's public data shows: one note's story, surges of posts, and how late notes come."""

from __future__ import annotations

from typing import Final

import streamlit as st

from crowdnotes.public_data.database import index_path
from crowdnotes.wording import say
from pages.common.navigation import page_body
from pages.common.session import workspace
from pages.public_data_parts.note_story import note_story
from pages.public_data_parts.surges_and_delays import late_notes, surge_days

_VIEWS: Final = {"note": "crowd.note", "surges": "crowd.surges", "delays": "crowd.delays"}

with page_body(say("crowd.title"), say("crowd.about")):
    index = index_path(workspace().settings.data_dir)
    if not index.is_file():
        st.info(say("crowd.empty"), title=say("crowd.empty_title"), icon=":material/database:")
        st.code(say("crowd.index_command"), language=None)
        st.caption(say("crowd.try_it"))
        st.code(say("crowd.made_commands"), language=None)
    else:
        chosen = st.segmented_control(
            say("crowd.view"),
            list(_VIEWS),
            default="note",
            required=True,
            format_func=lambda view: say(_VIEWS[view]),
            label_visibility="collapsed",
            key="view",
            bind="query-params",
        )
        if chosen == "surges":
            surge_days(index)
        elif chosen == "delays":
            late_notes(index)
        else:
            note_story(index)
            with st.expander(say("crowd.power"), icon=":material/gavel:"):
                st.markdown(say("crowd.power_told"))
