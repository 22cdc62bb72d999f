"""The pages by name, and the way into them."""

from __future__ import annotations

import streamlit as st
from streamlit.navigation.page import StreamlitPage

_ENTERED = "entered"


def chosen_page() -> StreamlitPage:
    """Draw the navigation; gives the page that the address names."""
    st.session_state[_ENTERED] = True
    return st.navigation(
        [
            st.Page("pages/draft.py", title="Draft", icon=":material/edit_note:", url_path="draft", default=True),
            st.Page("pages/cases.py", title="Cases", icon=":material/inventory_2:", url_path="cases"),
            st.Page("pages/libraries.py", title="Libraries", icon=":material/local_library:", url_path="libraries"),
        ],
        position="top",
    )


def enter_by_the_door() -> None:
    """Go through app.py when Streamlit ran a page's file without it.

    It does so, for a folder named "pages", until the first call of st.navigation: a tab that is still
    open on a page when the server starts again would lose the navigation and the look.
    """
    if _ENTERED not in st.session_state:
        chosen_page()
        st.rerun()
