"""Where the evidence comes from: links, libraries, and passages copied by hand."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from crowdnotes.domain import Case, Mode, Source
from pages.parts.progress import start
from pages.parts.session import act, author, workspace
from pages.parts.steps import StepName
from pages.parts.text import lines, plain

MODE_LABELS = {Mode.AUGMENTATION: "My own links", Mode.AUTOMATION: "A search of my libraries"}
_PLACE = StepName.EVIDENCE.value


def library_names() -> list[str]:
    """The local libraries, by name."""
    return [library.name for library in workspace().libraries.list()]


def library_choice(names: Sequence[str], *, key: str, default: Sequence[str] = ()) -> list[str]:
    """Let the person choose among the local libraries; says how to add one when there is none."""
    if not names:
        st.info(
            "There is no library yet. Add a table or a folder of documents on the Libraries page.",
            icon=":material/local_library:",
        )
        return []
    return st.pills(
        "Libraries to search",
        list(names),
        selection_mode="multi",
        default=[name for name in default if name in names] or list(names),
        format_func=plain,
        key=key,
    )


def add_sources(case: Case) -> None:
    """More links or another search. What was opened and judged stays."""
    with st.form(f"sources-{case.id}", border=False):
        mode = st.segmented_control(
            "Where should the evidence come from?",
            list(Mode),
            default=case.mode,
            required=True,
            format_func=MODE_LABELS.__getitem__,
            key=f"mode-{case.id}",
        )
        urls = st.text_area(
            "Links to sources, one a line", value="\n".join(case.urls), height=110, key=f"urls-{case.id}"
        )
        libraries = library_choice(library_names(), key=f"libraries-{case.id}", default=case.libraries)
        if st.form_submit_button("Search and read again", icon=":material/search:"):
            _gather_again(case, mode or case.mode, urls or "", libraries)


def _gather_again(case: Case, mode: Mode, urls: str, libraries: Sequence[str]) -> None:
    saved = act(
        _PLACE,
        lambda: workspace().service.set_sources(case.id, mode=mode, urls=lines(urls), libraries=libraries, by=author()),
    )
    if saved is not None:
        start(saved, "gather")
    st.rerun()


def paste_passage(case: Case, source: Source | None = None) -> None:
    """A passage that the person copied from a page, for `source` if the program could not read it."""
    suffix = source.id if source else "new"
    with st.form(f"paste-{case.id}-{suffix}", border=False, clear_on_submit=True):
        url = st.text_input(
            "Address of the page", value=(source.url or "") if source else "", type="url", key=f"paste-url-{suffix}"
        )
        title = st.text_input("Title of the page", key=f"paste-title-{suffix}")
        text = st.text_area(
            "The passage, in the page's own words",
            height=130,
            key=f"paste-text-{suffix}",
            placeholder="Copy the sentences that matter, unchanged",
        )
        if st.form_submit_button("Add this passage", icon=":material/content_paste:"):
            act(
                _PLACE,
                lambda: workspace().service.add_passage_by_hand(
                    case.id, url=url or None, title=title or "", text=text or "", by=author()
                ),
            )
            st.rerun()
