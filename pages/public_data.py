"""What X's public data shows: one note's story, surges of posts, and how late notes come."""

from __future__ import annotations

from typing import Final

import streamlit as st

from crowdnotes.public_data.database import index_path
from pages.common.navigation import page_body
from pages.common.session import workspace
from pages.public_data_parts.note_story import note_story
from pages.public_data_parts.surges_and_delays import late_notes, surge_days

_LABEL_BY_VIEW: Final = {"note": "A note's story", "surges": "Surges", "delays": "Delays"}

with page_body(
    "Public data",
    "What X's public data shows: the story of a note, days on which many posts got notes, and how late notes come.",
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
            with st.expander("What can X itself change?", icon=":material/gavel:"):
                st.markdown(
                    "- X writes the rules and may change any of them: the line of 0.40, who may rate, whose ratings "
                    "count. Code and data are public, so a change can be seen, but only afterwards.\n- X can delete "
                    "posts, notes and accounts. The data shows that a note's text is gone, not who removed it or "
                    "why.\n- X holds a new status back for half an hour, keeps a shown note that falls a little "
                    "short, and locks a status about two weeks after the note was written. So a status can stand that "
                    "today's ratings would not give.\n- X uses models and signals that it does not publish: on facts "
                    "and sources, and on who acts together. The data comes from X alone; nobody outside can see "
                    "whether it is whole.\n- What you can check: here the score is worked out again from the ratings "
                    "and set beside what X recorded. A difference needs a reason; it is no proof of interference."
                )
