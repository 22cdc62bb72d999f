"""The workspace that all sessions of the server share, opened once, and the models it loads."""

from __future__ import annotations

import logging
import threading

import streamlit as st

from crowdnotes.errors import CrowdNotesError
from crowdnotes.workspace import SharedWorkspace, Workspace, open_workspace, warm_up

_log = logging.getLogger("crowdnotes.pages")


@st.cache_resource(show_spinner=False)
def shared_workspace() -> SharedWorkspace:
    """Return the workspace, opened once."""
    return SharedWorkspace(open_workspace())


@st.cache_resource(show_spinner=False)
def load_models() -> None:
    """Let the models load in the background, once: no page waits for them."""
    threading.Thread(target=_warm_up, args=(shared_workspace().opened,), name="warm-up", daemon=True).start()


def _warm_up(opened: Workspace) -> None:
    try:
        warm_up(opened)
    except CrowdNotesError:
        # The first step that needs the model will say so to the person.
        _log.warning("a model could not be read at the start", exc_info=True)
