"""Where the evidence comes from: links, libraries and online services, until which day."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import streamlit as st

from crowdnotes.cases.pasted_links import usable_urls
from crowdnotes.domain import Case, Mode
from crowdnotes.jobs.records import JobRecord
from pages.parts.left_links import keep_left
from pages.parts.progress import start, under_way
from pages.parts.services import service_choice, ticked_at_first
from pages.parts.session import act, author, workspace
from pages.parts.steps import StepName
from pages.parts.text import lines, plain

MODE_LABELS = {Mode.AUGMENTATION: "My own links", Mode.AUTOMATION: "A search"}
_PLACE = StepName.EVIDENCE.value
_FIRST_POST = date(2006, 3, 21)  # on X, then Twitter
_DATE_WIDTH = 280  # pixels


def library_names() -> list[str]:
    """The local libraries, by name."""
    return [library.name for library in workspace().libraries.list()]


def library_choice(
    names: Sequence[str], *, key: str, default: Sequence[str] | None = None, disabled: bool = False
) -> list[str]:
    """Let the person choose among the local libraries, all at first; says how to add one when there is none."""
    if not names:
        st.caption(
            ":material/local_library: There is no library yet. "
            "Add a table or a folder of documents on the Libraries page to search it too."
        )
        return []
    return st.pills(
        "Libraries to search",
        list(names),
        selection_mode="multi",
        default=[name for name in (names if default is None else default) if name in names],
        format_func=plain,
        key=key,
        disabled=disabled,
    )


def cutoff(*, key: str, value: date | None = None, disabled: bool = False, keep: bool = False) -> date | None:
    """The day that evidence must not be later than; empty for no bound. `keep` remembers it between pages."""
    if keep:
        st.session_state.setdefault(key, value)
    return st.date_input(
        "Evidence no later than (optional)",
        value=value,
        min_value=_FIRST_POST,
        max_value="today",
        format="YYYY-MM-DD",
        key=key,
        disabled=disabled,
        help="For a post of the past: what was published after this day is left out. What has no date is marked.",
        width=_DATE_WIDTH,
        persist_state="session" if keep else None,
    )


def add_sources(case: Case, job: JobRecord | None) -> None:
    """Other links or another search. What was opened and judged stays. Closed while the program is at work."""
    busy, searched, key = under_way(job), case.mode is Mode.AUTOMATION, case.id
    st.segmented_control(
        "Where should the evidence come from?",
        list(Mode),
        default=case.mode,
        required=True,
        format_func=MODE_LABELS.__getitem__,
        key=f"mode-{key}",
        disabled=busy,
    )
    _links(case, busy=busy)
    library_choice(library_names(), key=f"libraries-{key}", default=case.libraries if searched else None, disabled=busy)
    service_choice(key=f"services-{key}", default=case.services if searched else ticked_at_first(), disabled=busy)
    cutoff(key=f"until-{key}", value=case.until, disabled=busy)
    if busy:
        st.caption("Opens when the work under way has ended.")
    st.button(
        "Search and read again",
        key=f"again-{key}",
        icon=":material/search:",
        disabled=busy,
        on_click=_gather_again,
        args=(case,),
    )


def _links(case: Case, *, busy: bool) -> None:
    box, taken = f"urls-{case.id}", f"urls-of-{case.id}"
    if st.session_state.get(taken) != case.urls:  # other links than the box was filled with
        st.session_state[taken] = case.urls
        st.session_state[box] = "\n".join(case.urls)
    st.text_area("Links to sources, one a line", height=110, key=box, disabled=busy)


def _gather_again(case: Case) -> None:
    state = st.session_state
    mode = state[f"mode-{case.id}"] or case.mode
    searching = mode is Mode.AUTOMATION
    urls, refused = usable_urls(lines(state[f"urls-{case.id}"]))
    saved = act(
        _PLACE,
        lambda: workspace().service.set_sources(
            case.id,
            mode=mode,
            urls=urls,
            libraries=(state.get(f"libraries-{case.id}") or ()) if searching else (),
            services=(state.get(f"services-{case.id}") or ()) if searching else (),
            until=state[f"until-{case.id}"],
            by=author(),
        ),
    )
    if saved is not None:
        keep_left(case.id, refused)
        st.session_state.pop(f"urls-of-{case.id}")
        start(saved, "gather")
