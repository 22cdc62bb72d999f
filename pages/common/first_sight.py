"""What is seen at once: the name, the look, and at a cold start an outline of the page.

The rest of the program takes seconds to load, so only its texts are imported here.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

_ASSETS_FOLDER = Path(__file__).parents[2] / "assets"
_is_process_warm = False  # of this process
_TITLE_KEY = "title of the tab"


def loading_screen() -> DeltaGenerator:
    """Draw the look of the app; return the place of the outline, which covers the page until `is_loaded`."""
    # First: a page without an icon takes the sign next to its name for one, and browsers load that from Google.
    icon = str(_ASSETS_FOLDER / "icon.svg")
    # As it is until the page names it, if the case is the same.
    title = st.session_state.get(_TITLE_KEY, {}).get(st.query_params.get("case"), "CrowdNotes")
    st.set_page_config(page_title=title, page_icon=icon, layout="wide", initial_sidebar_state="collapsed")
    st.html(_ASSETS_FOLDER / "page.css")
    st.logo(str(_ASSETS_FOLDER / "logo.svg"), size="large")
    outline = st.empty()
    if not _is_process_warm:
        with outline.container(key="first-sight"):
            st.title("CrowdNotes is starting", anchor=False)
            st.caption("This takes a few seconds.")
            st.skeleton(height=190)
            st.skeleton(height=40, width=130)
    return outline


def name_tab(*parts: str) -> None:
    """Give the browser's tab a title: these parts, the most special first, then the program's name."""
    title = " · ".join((*parts, "CrowdNotes"))
    st.session_state[_TITLE_KEY] = {st.query_params.get("case"): title}
    st.set_page_config(page_title=title)


def is_loaded(outline: DeltaGenerator) -> None:
    """Take the outline away: the page is there."""
    global _is_process_warm  # noqa: PLW0603 - the next sessions of this process start warm
    _is_process_warm = True
    outline.empty()
