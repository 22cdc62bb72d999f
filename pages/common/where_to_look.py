"""The form that says where evidence comes from: links, libraries, online services, and until which day."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict
from zlib import crc32

import streamlit as st

from crowdnotes.cases import intake
from crowdnotes.cases.intake import usable_urls
from crowdnotes.domain import Case, Mode, ProviderOutcome, ProviderState
from crowdnotes.errors import InputError
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import escaped, lines
from crowdnotes.wording import plural
from crowdnotes.workspace import CONNECTIONS
from pages.common.layout import StepName
from pages.common.progress import start, under_way, watched
from pages.common.session import add_notice, button, cases, keep_typed, notices, workspace

if TYPE_CHECKING:
    from crowdnotes.evidence.search import OnlineProvider

MODE_LABELS = {Mode.AUGMENTATION: "My own links", Mode.AUTOMATION: "A search"}  # names of texts
_NOTICE_AREA = StepName.EVIDENCE.value
_EARLIEST_DATE = date(2006, 3, 21)  # on X, then Twitter
_DATE_WIDTH = 280  # pixels
_LINKS_OR_SEARCH = "as pasted"  # links where there are any, else a search


def places_to_search(key: str, case: Case | None = None, *, disabled: bool = False, about: bool = True) -> None:
    """Let the person choose among the local libraries and the services that can be asked; see `places_chosen`.

    At first as the case was searched before, else all libraries and the usual services. With `about` it describes all
    services, and checks their connections.
    """
    searched = case is not None and case.mode is Mode.AUTOMATION
    names = [library.name for library in workspace().libraries.list()]
    if names:
        st.pills(
            "Libraries to search",
            names,
            selection_mode="multi",
            default=[name for name in names if case is None or not searched or name in case.libraries],
            format_func=escaped,
            key=f"{key}-libraries",
            disabled=disabled,
        )
    else:
        st.caption(":material/local_library: No library yet: add one on the Libraries page.")
    services = {item.name: item for item in workspace().services() if item.needs is None}
    at_first = case.services if case is not None and searched else workspace().services_at_first()
    registers = [name for name, item in services.items() if item.is_register]
    others = [name for name in services if name not in registers]
    chosen: list[str] = []
    for label, names, place in (
        ("Online services", others, f"{key}-services"),
        ("Registers, asked only if they fit the post", registers, f"{key}-registers"),
    ):
        chosen += st.pills(
            label,
            names,
            selection_mode="multi",
            default=[name for name in at_first if name in names],
            format_func=lambda name: services[name].label,
            key=place,
            disabled=disabled,
        )
    keyless = [f"{item.label} needs no key." for name, item in services.items() if item.is_fallback and name in chosen]
    st.caption(" ".join(["Search words are sent to the services you choose.", *keyless]))
    if about:
        _draw_services_panel(key)


def _ask_reading_services(key: str, chosen: Sequence[str], *, disabled: bool = False) -> None:
    """Let people tick services that may get the address of a page that cannot be read here; see `sources_chosen`."""
    services = workspace().reading_services
    ticked = st.pills(
        "Services that may read pages we cannot (optional)",
        list(services),
        selection_mode="multi",
        default=[name for name in chosen if name in services],
        format_func=lambda name: services[name],
        key=f"{key}-through",
        disabled=disabled,
    )
    if ticked:
        names = ", ".join(services[name] for name in ticked)
        st.caption(f":material/cloud_download: {reading_services_caption(names)}")


def reading_services_caption(names: str) -> str:
    """Return what is sent to the reading services of these names, and what comes back."""
    return (
        f"The address of a page that we cannot read is sent to {names}. Its text is marked: nobody compared it with "
        "the page."
    )


class Places(TypedDict):
    """Where a search looks, by name."""

    libraries: list[str]
    services: list[str]


class Sources(Places):
    """Where the evidence of a case comes from."""

    mode: Mode
    urls: tuple[str, ...]
    until: date | None
    read_through: list[str]


def places_chosen(key: str) -> Places:
    """Return what is ticked in the choice of that key."""
    state = st.session_state
    services = [*(state.get(f"{key}-services") or []), *(state.get(f"{key}-registers") or [])]
    return {"libraries": state.get(f"{key}-libraries") or [], "services": services}


_MAX_QUERY_CHARACTERS = 200  # characters


def own_words_box(key: str, *, disabled: bool = False) -> None:
    """Draw a box for search words of the person's own; see `own_words`."""
    box, about = f"{key}-own-words", "Used as they are, instead of ours"
    st.text_input("Search words (optional)", key=box, max_chars=_MAX_QUERY_CHARACTERS, help=about, disabled=disabled)


def own_words(key: str) -> str:
    """Return what was typed there."""
    return str(st.session_state.get(f"{key}-own-words") or "")


def sources_form(key: str, case: Case, *, disabled: bool = False) -> None:
    """Ask for links or a search, and until which day; at first as the case has it. See `sources_chosen`."""
    state = st.session_state
    state.setdefault(f"{key}-mode", case.mode)
    state.setdefault(f"{key}-urls", "\n".join(case.urls))
    state.setdefault(f"{key}-until", case.until)
    mode = _ask_mode(key, list(Mode), disabled=disabled)
    _ask_links(key, is_optional=mode is not Mode.AUGMENTATION, disabled=disabled)
    if mode is Mode.AUTOMATION:
        places_to_search(key, case, disabled=disabled)
        own_words_box(key, disabled=disabled)
    _ask_reading_services(key, case.read_through, disabled=disabled)
    _ask_until_date(key, disabled=disabled)


def new_sources_form(key: str) -> None:
    """Draw the form for a post that is no case yet: set to its links if it has any, else to the usual places.

    The places can be chosen before there is a link or none, so they are always there.
    """
    state = st.session_state
    state.setdefault(f"{key}-mode", _LINKS_OR_SEARCH)
    state.setdefault(f"{key}-until", None)
    mode = _ask_mode(key, [_LINKS_OR_SEARCH, *Mode])
    _ask_links(key, is_optional=mode != Mode.AUGMENTATION)
    if mode != Mode.AUGMENTATION:
        places_to_search(key)
    _ask_reading_services(key, workspace().settings.search.reading_services)
    _ask_until_date(key)


def _ask_mode(key: str, modes: Sequence[Mode | str], *, disabled: bool = False) -> Mode | str:
    chosen = st.segmented_control(
        "Where from?",
        modes,
        required=True,
        format_func=lambda mode: MODE_LABELS.get(mode, "My links, or else a search"),
        key=f"{key}-mode",
        disabled=disabled,
        persist_state="session",
    )
    return chosen or modes[0]


def _ask_links(key: str, *, is_optional: bool, disabled: bool = False) -> None:
    st.text_area(
        "Links, one on each line (optional)" if is_optional else "Links, one on each line",
        key=f"{key}-urls",
        height=100,
        placeholder="https://www.cdc.gov/…",
        disabled=disabled,
        persist_state="session",
    )


def _ask_until_date(key: str, *, disabled: bool = False) -> None:
    st.date_input(
        "Published up to (optional)",
        min_value=_EARLIEST_DATE,
        max_value="today",
        format="YYYY-MM-DD",
        key=f"{key}-until",
        disabled=disabled,
        help="For an old post. Sources without a date are marked.",
        width=_DATE_WIDTH,
        persist_state="session",
    )


def sources_chosen(key: str, pasted: Sequence[str] = ()) -> tuple[Sources, list[InputError]]:
    """Return what the form of that key says, and why lines of it cannot be taken as links.

    Links `pasted` elsewhere come before those of the form.
    """
    state = st.session_state
    given = [*pasted, *lines(state[f"{key}-urls"])]
    mode = state[f"{key}-mode"]
    if mode == _LINKS_OR_SEARCH:
        mode = Mode.AUGMENTATION if given else Mode.AUTOMATION
    urls, refused = usable_urls(given)
    places = places_chosen(key) if mode == Mode.AUTOMATION else Places(libraries=[], services=[])
    through = state.get(f"{key}-through") or []
    chosen = Sources(mode=mode, urls=urls, until=state[f"{key}-until"], read_through=through, **places)
    return chosen, [item.why for item in refused]


def add_sources(case: Case, job: JobRecord | None) -> None:
    """Other links or another search. What was opened and judged stays. Closed while the program is at work."""
    busy, key = under_way(job), sources_key(case)
    sources_form(key, case, disabled=busy)
    if busy:
        st.caption("Wait until the running work has finished.")
    again = partial(_gather_again, case)
    label = "Search again" if case.stages else "Search"
    button(label, f"again-{case.id}", _NOTICE_AREA, again, icon="search", disabled=busy)


def sources_key(case: Case) -> str:
    """Names the form of a case as its sources are now: when they change, the form begins with them anew."""
    sources = (case.mode, case.urls, case.libraries, case.services, case.until, case.own_words, case.read_through)
    return f"sources-{case.id}-{crc32(repr(sources).encode())}"


def try_through(case: Case, name: str) -> None:
    """Gather once more, with one more reading service for what cannot be read here."""
    _gather_with(case, read_through=(name, *(other for other in case.read_through if other != name)))


def offer_libraries(case: Case, *, busy: bool) -> None:
    """Draw the way to a search that needs no connection: in libraries not searched yet, or to a first library."""
    names = [library.name for library in workspace().libraries.list()]
    left = [name for name in names if name not in case.libraries]
    if left:
        label = plural(
            len(left),
            "Search your library {names}: it works offline",
            "Search your libraries {names}: they work offline",
            names=escaped(", ".join(left)),
        )
        search = partial(_gather_with, case, libraries=(*case.libraries, *left))
        button(label, f"libraries-too-{case.id}", _NOTICE_AREA, search, icon="local_library", disabled=busy)
    elif not names:
        label = "Add a library: it works offline"
        st.page_link("pages/libraries.py", label=label, icon=":material/local_library:")


def _gather_with(case: Case, **changed: Any) -> None:
    """Gather once more from the same places but for what is `changed`, by the names of `intake.set_sources`."""
    sources = {
        "mode": case.mode,
        "urls": case.urls,
        "libraries": case.libraries,
        "services": case.services,
        "until": case.until,
        "own_words": case.own_words,
        "read_through": case.read_through,
    }
    start(cases().apply(case.id, intake.set_sources, **(sources | changed)), "gather")


def _gather_again(case: Case) -> None:
    key = sources_key(case)
    chosen, refused = sources_chosen(key)
    words = own_words(key) if chosen["mode"] is Mode.AUTOMATION else ""
    typed = {"Links": str(st.session_state.get(f"{key}-urls") or ""), "Search words": words}
    saved = keep_typed(typed, partial(cases().apply, case.id, intake.set_sources, own_words=words, **chosen))
    add_notice(_NOTICE_AREA, *refused)
    start(saved, "gather")


def _draw_services_panel(key: str) -> None:
    """Draw all services, folded away: what each still needs, and whether it answers from here."""
    online = workspace().services()
    names = {item.name for item in online}
    unknown = [name for name in workspace().settings.search.services or () if name not in names]
    if unknown:
        st.warning(f"CROWDNOTES_SEARCH_SERVICES has unknown services: {escaped(', '.join(unknown))}.")
    waiting = sum(item.needs is not None for item in online)
    label = f"About the services ({waiting} not set up)" if waiting else "About the services"
    about = st.popover(label, key=f"about-{key}", icon=":material/network_check:", type="tertiary", on_change="rerun")
    if about.open:
        with about:
            _draw_connections(online)


_SIGN_BY_PROVIDER_STATE = {
    ProviderState.ANSWERED: ":green[:material/check_circle:]",
    ProviderState.NOT_CONFIGURED: ":gray[:material/key_off:]",
    ProviderState.NOT_ASKED: ":gray[:material/radio_button_unchecked:]",
    ProviderState.CANCELLED: ":gray[:material/cancel:]",
}


def _draw_connections(online: Sequence[OnlineProvider]) -> None:
    """Every service with what is known of it, and the button that asks them all."""
    job = workspace().runner.latest(CONNECTIONS)
    notices(CONNECTIONS)
    if job is not None and under_way(job):
        watched(job)
        return
    last_answers = workspace().last_answers
    st.markdown(
        "  \n".join(
            _format_connection(item.label, last_answers.get(item.name), item.brings, item.needs) for item in online
        )
    )
    st.caption("Reading services, for pages that we cannot read:")
    st.markdown(
        "  \n".join(
            _format_connection(label, last_answers.get(name)) for name, label in workspace().reading_services.items()
        )
    )
    about = "Searches each for “measles vaccine”; reading services read a test page"
    check = workspace().check_connections
    button("Check connections", "check-connections", CONNECTIONS, check, icon="network_check", help=about)


def _format_connection(name: str, outcome: ProviderOutcome | None, brings: str = "", needed: str | None = None) -> str:
    label = f"**{escaped(name)}**"
    if brings:
        label += f" :small[:gray[{brings}]]"
    if needed is not None:
        needs = f":gray[not set up] :small[:gray[{escaped(needed)}]]"
        return f":gray[:material/key_off:] {label} {needs}"
    if outcome is None:
        return f":gray[:material/radio_button_unchecked:] {label} :gray[not tried yet]"
    sign = _SIGN_BY_PROVIDER_STATE.get(outcome.state, ":red[:material/error:]")
    said = f" :small[:gray[{escaped(outcome.sentence, 200)}]]" if outcome.sentence else ""
    answer = f"{outcome.state.as_text} in {outcome.seconds:.1f} s"
    return f"{sign} {label} {answer}{said}"
