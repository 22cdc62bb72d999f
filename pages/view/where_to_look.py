"""The form that says where evidence comes from: links, libraries, online services, and until which day."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

import streamlit as st

from crowdnotes.cases.intake import RefusedLink, usable_urls
from crowdnotes.domain import Case, Mode, ProviderOutcome, ProviderState
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import count, escaped, lines
from crowdnotes.workspace import CONNECTIONS
from pages.view.progress import start, under_way
from pages.view.session import act, author, notices, telling, workspace
from pages.view.steps import StepName

if TYPE_CHECKING:
    from crowdnotes.evidence.search import SearchProvider

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
        format_func=escaped,
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
    service_choice(
        key=f"services-{key}", default=case.services if searched else workspace().services_at_first(), disabled=busy
    )
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


def service_choice(*, key: str, default: Sequence[str], disabled: bool = False) -> list[str]:
    """Let the person choose among the services that can be asked; tells of all, and checks their connections."""
    chosen = service_pills(key=key, default=default, disabled=disabled)
    _about(key)
    return chosen


def service_pills(*, key: str, default: Sequence[str], disabled: bool = False) -> list[str]:
    """Let the person choose among the services that can be asked."""
    ready = [item for item in workspace().services() if item.needs is None]
    labels = {item.name: item.label for item in ready}
    chosen = st.pills(
        "Online services",
        list(labels),
        selection_mode="multi",
        default=[name for name in default if name in labels],
        format_func=labels.__getitem__,
        key=key,
        disabled=disabled,
    )
    st.caption("The words of the searches go to the services that are ticked.")
    for item in ready:
        if item.stands_in and item.name in chosen:
            st.caption(
                f":material/travel_explore: {item.label} searches the open web without a key: the words of the "
                "searches, which are made from the post, leave this machine for it. Untick it to stop that."
            )
    return chosen


def _about(key: str) -> None:
    """All services, folded away: what each still needs, and whether it answers from here."""
    online = workspace().services()
    names = {item.name for item in online}
    unknown = [name for name in workspace().settings.search.services or () if name not in names]
    if unknown:
        st.warning(f"CROWDNOTES_SEARCH_SERVICES names no service of ours: {escaped(', '.join(unknown))}.")
    waiting = sum(item.needs is not None for item in online)
    label = "About the services" + (f" ({waiting} not set up)" if waiting else "")
    about = st.popover(label, key=f"about-{key}", icon=":material/network_check:", type="tertiary", on_change="rerun")
    if about.open:
        with about:
            connections(online)


_POLL_SECONDS = 0.4
_SIGNS = {
    ProviderState.ANSWERED: ":green[:material/check_circle:]",
    ProviderState.NOT_CONFIGURED: ":gray[:material/key_off:]",
    ProviderState.CANCELLED: ":gray[:material/cancel:]",
}


def connections(online: Sequence[SearchProvider]) -> None:
    """Every service with what is known of it, and the button that asks them all."""
    job = workspace().runner.latest(CONNECTIONS)
    notices(CONNECTIONS)
    if job is not None and job.state.under_way:
        st.fragment(_follow, run_every=_POLL_SECONDS)(job.id, online)
        return
    _rows(online, asking=False)
    st.button(
        "Check connections",
        key="check-connections",
        icon=":material/network_check:",
        help="Asks each service for one thing, “measles vaccine”, and tells which answered",
        on_click=_check,
    )


def _check() -> None:
    act(CONNECTIONS, workspace().check_connections)


def _follow(job_id: str, online: Sequence[SearchProvider]) -> None:
    with telling():
        job = workspace().runner.get(job_id)
        if not job.state.under_way:
            st.rerun()
        _rows(online, asking=True)
        _how_far(job, len(online))
        st.button("Stop", key="stop-connections", icon=":material/stop_circle:", on_click=_stop, args=(job_id,))


def _how_far(job: JobRecord, services: int) -> None:
    done = job.current.done if job.current is not None else 0
    st.progress(done / services if services else 1.0, text=f"Heard from {done} of {count(services, 'service')}")


def _stop(job_id: str) -> None:
    act(CONNECTIONS, lambda: workspace().runner.cancel(job_id))


def _rows(online: Sequence[SearchProvider], *, asking: bool) -> None:
    """A line for each service, one element for all of them."""
    heard = workspace().heard
    st.markdown("  \n".join(_row(item, heard.get(item.name), asking=asking) for item in online))


def _row(service: SearchProvider, outcome: ProviderOutcome | None, *, asking: bool) -> str:
    label = f"**{escaped(service.label)}**"
    if service.needs is not None:
        return f":gray[:material/key_off:] {label} :gray[not set up] :small[:gray[{escaped(service.needs)}]]"
    if outcome is None:
        waits = ":primary[:material/pending:]" if asking else ":gray[:material/radio_button_unchecked:]"
        return f"{waits} {label} :gray[{'asked…' if asking else 'ready, not asked yet'}]"
    sign = _SIGNS.get(outcome.state, ":red[:material/error:]")
    said = f" :small[:gray[{escaped(outcome.sentence, 200)}]]" if outcome.sentence else ""
    return f"{sign} {label} {outcome.state.value} in {outcome.seconds:.1f} s{said}"


_SHOWN = 20  # of a page pasted by mistake, enough to see what it was


def keep_left(case_id: str, refused: Sequence[RefusedLink]) -> None:
    """Remember what could not be taken for a case, in place of what was remembered before."""
    _forget(case_id)
    if refused:
        st.session_state[_key(case_id)] = tuple(refused)


def left_links(case: Case, job: JobRecord | None) -> None:
    """What could not be taken, to mend and take, or to leave out."""
    refused: tuple[RefusedLink, ...] = st.session_state.get(_key(case.id), ())
    if not refused or case.decision is not None:
        return
    busy = under_way(job)
    with st.container(border=True, key="left-links", gap="small"):
        were = count(len(refused), "line was", "lines were")
        st.markdown(f":orange[:material/link_off:] **{were} not taken as a link.** The others were.")
        for item in refused[:_SHOWN]:
            st.markdown(f":small[{escaped(item.why.message)} :gray[{escaped(item.why.next_step)}]]")
        if len(refused) > _SHOWN:
            st.caption(f"And {len(refused) - _SHOWN} more like these.")
        st.text_area("Mend them here, one a line", value=_given(refused), height=90, key=_box(case.id), disabled=busy)
        with st.container(horizontal=True):
            st.button("Take these", icon=":material/add_link:", disabled=busy, on_click=_take, args=(case,))
            st.button("Leave them out", type="tertiary", icon=":material/close:", on_click=_forget, args=(case.id,))


def _take(case: Case) -> None:
    urls, refused = usable_urls(lines(st.session_state[_box(case.id)]))
    if urls:
        service = workspace().service

        def add() -> Case:
            newest = service.get(case.id)
            every, too_many = usable_urls([*newest.urls, *urls])
            keep_left(case.id, [*refused, *too_many])
            return service.set_sources(
                case.id,
                mode=newest.mode,
                urls=every,
                libraries=newest.libraries,
                services=newest.services,
                until=newest.until,
                by=author(),
            )

        saved = act(_PLACE, add)
        if saved is not None:
            start(saved, "gather")
    else:
        keep_left(case.id, refused)


def _forget(case_id: str) -> None:
    st.session_state.pop(_key(case_id), None)
    st.session_state.pop(_box(case_id), None)


def _given(refused: Sequence[RefusedLink]) -> str:
    return "\n".join(item.line for item in refused)


def _key(case_id: str) -> str:
    return f"left-links-{case_id}"


def _box(case_id: str) -> str:
    return f"left-links-box-{case_id}"
