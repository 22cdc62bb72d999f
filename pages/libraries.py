"""The Libraries page: your own collections of evidence, indexed on this machine."""

from __future__ import annotations

import streamlit as st

from crowdnotes.domain import Hit
from crowdnotes.text.markdown import day, escaped, record_place, title, web_url
from crowdnotes.workspace import LIBRARIES
from pages.view.libraries import add_form, indexing, indexing_panel
from pages.view.progress import under_way
from pages.view.session import act, notices, page_body, workspace
from pages.view.status_bar import status_bar

_FOUND = "library-found"
_SEARCHED = "library-search"


def _remove(name: str) -> None:
    act(LIBRARIES, lambda: workspace().libraries.remove(name))


def _library(name: str, about: str, *, has_addresses: bool) -> None:
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{escaped(name)}**", width="stretch")
            _remove_button(name)
        st.caption(about)
        if not has_addresses:
            st.caption(":material/link_off: Its records have no address. A note needs a link: X asks for one.")


def _damaged(name: str) -> None:
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge("cannot be read", color="red", icon=":material/error:")
            st.markdown(f"**{escaped(name)}**", width="stretch")
            _remove_button(name)
        st.caption(
            "Its file is damaged, or of another version, so nothing is searched in it. Remove it, then add it again."
        )


def _remove_button(name: str) -> None:
    with st.popover("Remove", icon=":material/delete:", type="tertiary"):
        st.markdown("Cases that used it keep what they read.")
        st.button(
            "Remove this library",
            key=f"remove-{name}",
            icon=":material/delete_forever:",
            on_click=_remove,
            args=(name,),
        )


def _search(names: list[str]) -> None:
    st.subheader("Look something up", anchor=False)
    with st.form("search-library", border=False):
        name = st.selectbox("Library", names)
        query = st.text_input("A claim or question", type="search", placeholder="Does vitamin C prevent colds?")
        if st.form_submit_button("Search", icon=":material/search:"):
            # Without words the library says so itself, and what was found before goes.
            st.session_state[_FOUND] = act(_SEARCHED, lambda: workspace().libraries.search(name, query or "", k=10))
    notices(_SEARCHED)
    found: list[Hit] | None = st.session_state.get(_FOUND)
    if found is not None and not found:
        st.info("Nothing in this library fits.", icon=":material/search_off:")
    for hit in found or []:
        _hit(hit)


def _hit(hit: Hit) -> None:
    with st.container(border=True, gap="xsmall"):
        st.markdown(title(hit.title, "Without a title", 160))
        st.markdown(escaped(hit.snippet, 500))
        st.caption(record_place(hit.library or "", hit.record))
        url = web_url(hit.url)
        if url:
            st.link_button("Open the source", url, type="tertiary", icon=":material/open_in_new:")


job = None
with page_body("Libraries", "Your own collections of evidence, indexed and searched on this machine alone."):
    notices(LIBRARIES)
    job = indexing()
    indexing_panel(job)
    libraries = workspace().libraries.list()
    broken = workspace().libraries.broken()
    if not libraries and not broken and not under_way(job):
        st.info(
            "Add a table below, and the Draft page can search it.",
            title="There is no library yet.",
            icon=":material/local_library:",
        )
    for library in libraries:
        about = f"{library.in_words} · added {day(library.created_at)}"
        _library(library.name, about, has_addresses=library.has_addresses)
    for damaged in broken:
        _damaged(damaged)
    add_form(busy=under_way(job))
    if libraries:
        _search([library.name for library in libraries])
status_bar("Waits for you: add or search a library", job)
