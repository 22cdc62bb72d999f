"""The navigation: which pages a person sees, and the heading and body of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from crowdnotes.domain import Act
from crowdnotes.errors import CrowdNotesError, NotAllowedError
from crowdnotes.settings import Settings
from pages.common.first_sight import loading_screen, name_tab
from pages.common.session import PAGE_WIDTH, end_presence, show_errors, workspace
from pages.common.shared_workspace import shared_workspace
from pages.common.sign_in import COMPARISON, has_accounts, require_sign_in

_ENTERED_KEY = "entered"


def chosen_page() -> StreamlitPage:
    """Draw the navigation; gives the page that the address names."""
    st.session_state[_ENTERED_KEY] = True
    compare = st.Page("pages/compare.py", title="Compare", icon=":material/compare:", url_path="compare")
    example = st.Page(
        "pages/example.py",
        title="Example page",
        icon=":material/school:",
        url_path="example",
        visibility="hidden",
    )
    is_known, settings = _check_sign_in()
    if settings is not None and settings.participants_only:
        door = st.Page(ask_for_link, title="CrowdNotes", default=True)
        return st.navigation([door, compare, example], position="hidden")
    title, icon = ("People", "manage_accounts") if is_known and workspace().may(Act.PEOPLE) else ("Account", "person")
    people = st.Page("pages/people.py", title=title, icon=f":material/{icon}:", url_path="people")
    queue = (
        [st.Page("pages/queue.py", title="Queue", icon=":material/inbox:", url_path="queue", visibility=visibility)]
        if (visibility := _find_queue_visibility()) is not None
        else []
    )
    first = [
        st.Page("pages/draft.py", title="Draft", icon=":material/edit_note:", url_path="draft", default=True),
        st.Page("pages/cases.py", title="Cases", icon=":material/inventory_2:", url_path="cases"),
        *queue,
        st.Page("pages/help.py", title="Help", icon=":material/help:", url_path="help"),
        *([people] if settings is not None and has_accounts(settings) else []),
        st.Page("pages/batches.py", title="Posts from a file", url_path="batches", visibility="hidden"),
        example,
    ]
    more = [
        st.Page("pages/supernote.py", title="Supernote", icon=":material/hub:", url_path="supernote"),
        compare,
        st.Page("pages/overview.py", title="Overview", icon=":material/monitoring:", url_path="overview"),
        st.Page("pages/libraries.py", title="Libraries", icon=":material/local_library:", url_path="libraries"),
        st.Page("pages/algorithm.py", title="Algorithm", icon=":material/balance:", url_path="algorithm"),
        st.Page("pages/public_data.py", title="Public data", icon=":material/groups:", url_path="crowd"),
    ]
    return st.navigation(
        {"": first, "More": more},
        # A participant has come to answer, and finds no way to the results.
        position="hidden" if COMPARISON in st.query_params or not is_known else "top",
    )


def _check_sign_in() -> tuple[bool, Settings | None]:
    """Return whether the person at the screen may come in, and the settings; where that fails `may_run` says why."""
    settings = None
    try:
        settings = shared_workspace().opened.settings
        _ = workspace().actor
    except CrowdNotesError:
        return False, settings
    return True, settings


def may_run(page: StreamlitPage) -> bool:
    """Return whether the person at the screen may see that page; else show the sign-in, or raise why not."""
    return require_sign_in(shared_workspace().opened, page.url_path)


def _find_queue_visibility() -> Literal["visible", "hidden"] | None:
    """Return whether the queue is listed; None where nobody has one.

    Who may not review, or no more, still gets a sentence at its address.
    """
    try:
        if not shared_workspace().opened.settings.has_desk:
            return None
        return "visible" if workspace().may(Act.REVIEW) else "hidden"
    except NotAllowedError:
        return "visible"  # nobody is signed in: no page is listed then, and each has to be known
    except CrowdNotesError:
        return None  # app.py says why


def ask_for_link() -> None:
    """Draw what a participant without a link reads."""
    st.info("Open the link that you were given.", icon=":material/link:")


def redirect_through_app() -> None:
    """Go through app.py when Streamlit ran a page's file without it.

    It does so, for a folder named "pages", until the first call of st.navigation: a tab that is still
    open on a page when the server starts again would lose the navigation and the look.
    """
    if _ENTERED_KEY not in st.session_state:
        loading_screen()
        chosen_page()
        st.rerun()


@contextmanager
def page_body(
    title: str,
    about: str = "",
    corner: Callable[[], None] | None = None,
    *,
    width: int = PAGE_WIDTH,
    quiet: bool = False,
) -> Iterator[None]:
    """Draw a page's heading and open its body, `width` pixels at most; `corner` draws next to the heading.

    A `quiet` heading is read aloud and not seen. An error in the body is shown as a sentence, never as a
    traceback.
    """
    redirect_through_app()
    if not quiet:  # else the page shows a case, and names the tab after that
        name_tab(title)
    with st.container(horizontal_alignment="center"), st.container(width=width):
        with st.container(
            horizontal=True,
            horizontal_alignment="distribute",
            vertical_alignment="center",
            key="quiet-heading" if quiet else None,
        ):
            st.title(title, anchor=False, width="content")
            if corner is not None:
                corner()
        if about:
            st.caption(about)
        with show_errors():
            end_presence(title)
            yield
