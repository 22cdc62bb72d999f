"""What X's public data shows: one note's story, surges of posts, and how late notes come."""

from __future__ import annotations

from typing import Final

import streamlit as st

from crowdnotes.public_data.database import index_path
from pages.common.components import what_x_can_change
from pages.common.navigation import page_body
from pages.common.session import workspace
from pages.public_data_parts.note_story import note_story
from pages.public_data_parts.surges_and_delays import late_notes, surge_days

_LABEL_BY_VIEW: Final = {"note": "A note's story", "surges": "Surges", "delays": "Delays"}

with page_body(
    "Public data",
    "The story of a note, days on which many posts got notes, and how late notes come.",
):
    index = index_path(workspace().settings.data_dir)
    if not index.is_file():
        st.info(
            "Download the public data from X into a folder. Then run this command with the folder's name:",
            title="There is no index yet.",
            icon=":material/database:",
        )
        st.code("crowdnotes crowd index FOLDER", language=None)
        st.caption("To try this page without a download, make up some data first:")
        st.code("crowdnotes crowd make-data public\ncrowdnotes crowd index public", language=None)
    else:
        chosen = st.segmented_control(
            "View",
            list(_LABEL_BY_VIEW),
            default="note",
            required=True,
            format_func=lambda view: _LABEL_BY_VIEW[view],
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
            what_x_can_change()
