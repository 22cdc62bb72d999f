"""What every page shares: the workspace, the case in the URL, and one place where errors are caught."""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from crowdnotes.domain import Act, Case, Evidence, Review, Verdict
from crowdnotes.errors import CrowdNotesError, InputError, NotAllowedError
from crowdnotes.jobs import JobRecord
from crowdnotes.logs import about
from crowdnotes.settings import Settings
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import say
from crowdnotes.workspace import SharedWorkspace, Workspace, open_workspace, warm_up
from pages.common.components import into_view
from pages.common.first_sight import first_sight
from pages.common.sign_in import COMPARISON, at_the_screen, has_accounts, let_in

_ENTERED = "entered"


def chosen_page() -> StreamlitPage:
    """Draw the navigation; gives the page that the address names."""
    st.session_state[_ENTERED] = True
    compare = st.Page("pages/compare.py", title=say("pages.compare"), icon=":material/compare:", url_path="compare")
    people = st.Page("pages/people.py", title=say("pages.people"), icon=":material/account_circle:", url_path="people")
    example = st.Page(
        "pages/example.py",
        title=say("pages.example"),
        icon=":material/school:",
        url_path="example",
        visibility="hidden",
    )
    is_known, settings = _who_is_known()
    if settings is not None and settings.participants_only:
        door = st.Page(ask_for_link, title="CrowdNotes", default=True)
        return st.navigation([door, compare, example], position="hidden")
    queue = (
        [st.Page("pages/queue.py", title=say("pages.queue"), icon=":material/inbox:", url_path="queue")]
        if _has_queue()
        else []
    )
    return st.navigation(
        [
            st.Page(
                "pages/draft.py", title=say("pages.draft"), icon=":material/edit_note:", url_path="draft", default=True
            ),
            st.Page("pages/supernote.py", title=say("pages.supernote"), icon=":material/hub:", url_path="supernote"),
            *queue,
            st.Page("pages/cases.py", title=say("pages.cases"), icon=":material/inventory_2:", url_path="cases"),
            st.Page(
                "pages/overview.py", title=say("pages.overview"), icon=":material/monitoring:", url_path="overview"
            ),
            st.Page("pages/public_data.py", title=say("pages.crowd"), icon=":material/groups:", url_path="crowd"),
            st.Page(
                "pages/algorithm.py", title=say("pages.algorithm"), icon=":material/balance:", url_path="algorithm"
            ),
            st.Page(
                "pages/libraries.py",
                title=say("pages.libraries"),
                icon=":material/local_library:",
                url_path="libraries",
            ),
            compare,
            st.Page("pages/help.py", title=say("pages.help"), icon=":material/help:", url_path="help"),
            *([people] if settings is not None and has_accounts(settings) else []),
            st.Page("pages/batches.py", title=say("pages.batches"), url_path="batches", visibility="hidden"),
            example,
        ],
        # A participant has come to answer, and finds no way to the results.
        position="hidden" if COMPARISON in st.query_params or not is_known else "top",
    )


def _who_is_known() -> tuple[bool, Settings | None]:
    """Whether somebody is at the screen who may come in, and the settings; where that fails `may_run` says why."""
    settings = None
    try:
        settings = shared_workspace().opened.settings
        _ = workspace().actor
    except CrowdNotesError:
        return False, settings
    return True, settings


def may_run(page: StreamlitPage) -> bool:
    """Whether that page may be run for whoever is at the screen; else how to sign in is shown, or raised why not."""
    return let_in(shared_workspace().opened, page.url_path)


def _has_queue() -> bool:
    """Where several people work, for those of them who may review; and at first for who comes by its address."""
    try:
        return shared_workspace().opened.has_desk and workspace().may(Act.REVIEW)
    except NotAllowedError:
        return True  # nobody is signed in: no page is listed then, and each has to be known
    except CrowdNotesError:
        return False  # app.py says why


def ask_for_link() -> None:
    """What a participant without a link reads."""
    st.info(say("app.ask_for_link"), icon=":material/link:")


def enter_by_the_door() -> None:
    """Go through app.py when Streamlit ran a page's file without it.

    It does so, for a folder named "pages", until the first call of st.navigation: a tab that is still
    open on a page when the server starts again would lose the navigation and the look.
    """
    if _ENTERED not in st.session_state:
        first_sight()
        chosen_page()
        st.rerun()


_log = logging.getLogger("crowdnotes.pages")
_T = TypeVar("_T")
_CASE = "case"
_RECORDED = "recorded-answers"  # the case in the address, if it goes by recorded answers
DEMO = "demo"  # in the address: a demonstration is asked for, or the number of its step
_NOTICES = "notices"
_MOST_TOLD = 8  # of a page pasted by mistake, enough to see what it was
PAGE_WIDTH = 1040  # pixels; longer lines are hard to read


@dataclass(frozen=True, slots=True)
class Notice:
    """An error as the user reads it: a sentence and what to do next. The page scrolls to it once, by its `number`."""

    message: str
    next_step: str
    number: str


def workspace(*, own_engine: bool = False) -> Workspace:
    """The workspace as whoever is at the screen may use it, with their engine; in a demonstration with its own.

    With `own_engine` also there with theirs. Raises NotAllowedError where nobody is signed in.
    """
    shared, shown = shared_workspace(), st.query_params.get(_CASE)
    is_recorded = shown is not None and st.session_state.get(_RECORDED) == shown and not own_engine
    return shared.of(at_the_screen(shared.opened.settings), recorded=is_recorded)


@st.cache_resource(show_spinner=False)
def shared_workspace() -> SharedWorkspace:
    """Opened once."""
    return SharedWorkspace(open_workspace())


@st.cache_resource(show_spinner=False)
def load_models() -> None:
    """Let the models load in the background, once: behind the first page, which would have to wait beside them."""
    threading.Thread(target=_warm_up, args=(shared_workspace().opened,), name="warm-up", daemon=True).start()


def _warm_up(opened: Workspace) -> None:
    try:
        warm_up(opened)
    except CrowdNotesError:
        # The first step that needs the model will say so to the person.
        _log.warning("the embedding model could not be read at the start", exc_info=True)


def own_review(item: Evidence) -> Review | None:
    """What the person at the screen made of a passage; None where they have not opened it."""
    return item.review_by(workspace().actor.key)


def own_verdict(item: Evidence) -> Verdict | None:
    """See `own_review`."""
    review = own_review(item)
    return review.verdict if review is not None else None


def current_case() -> tuple[Case | None, JobRecord | None]:
    """The case that the URL names and its newest job, as they are now; None without one.

    Raises CaseNotFoundError.
    """
    case_id = st.query_params.get(_CASE)
    if not case_id:
        return None, None
    # The job first: what a job that has ended did is then surely in the case.
    job = workspace().runner.latest(case_id)
    case = workspace().service.get(case_id)
    st.session_state[_RECORDED] = case.id if case.recorded_answers else None
    return case, job


def show_case(case_id: str | None) -> None:
    """Put a case into the URL, so that a refresh or a second tab shows it; None takes it out."""
    st.query_params.pop(DEMO, None)
    if case_id is None:
        st.query_params.pop(_CASE, None)
    else:
        st.query_params[_CASE] = case_id


def act(place: str, action: Callable[[], _T]) -> _T | None:
    """Do something that the user asked for; what goes wrong is shown at `place` until the next action."""
    st.session_state[_NOTICES] = {}
    try:
        return action()
    except Exception as error:  # noqa: BLE001 - the one place: logged, and told in words
        tell(place, error)
        return None


def button(label: str, key: str, place: str, action: Callable[[], object], *, icon: str = "", **look: Any) -> None:
    """A button that does something when it is pressed; what goes wrong is shown at `place`. `icon` by its name."""
    sign = f":material/{icon}:" if icon else None
    st.button(label, key=key, icon=sign, on_click=act, args=(place, action), **look)


def key_of(name: str, stored: object) -> str:
    """The key of a widget that shows what is stored; another one when it was changed by anything but the widget.

    The browser may still send the value from before, and Streamlit would take that for the person's own act. Of a new
    key it knows nothing old. A widget that the person changed keeps its key, and so the keyboard its place.
    """
    state, counted = st.session_state, f"{name} changes"
    key = f"{name}-{state[counted]}" if counted in state else name
    if key in state and state[key] != stored:
        state[counted] = state.get(counted, 0) + 1
        key = f"{name}-{state[counted]}"
    state.setdefault(key, stored)
    return key


def open_key(name: str) -> str:
    """The key of a popover or fold that `close` closes."""
    closed = st.session_state.get(f"{name} closed")
    return f"{name}-{closed}" if closed else name


def close(name: str) -> None:
    """Close it under another key: of this one the browser may still send that it is open."""
    st.session_state[f"{name} closed"] = st.session_state.get(f"{name} closed", 0) + 1


def tell(place: str, *errors: Exception) -> None:
    """Show errors at `place` until the next action, below those that are shown there already."""
    shown = st.session_state.setdefault(_NOTICES, {}).setdefault(place, [])
    shown += [told(error) for error in errors[:_MOST_TOLD]]
    if len(errors) > _MOST_TOLD:
        shown.append(told(InputError(say("app.more_errors", n=len(errors) - _MOST_TOLD))))


def notices(place: str) -> None:
    """What went wrong at this place in the last action."""
    for notice in st.session_state.get(_NOTICES, {}).get(place, []):
        with st.container():  # what is scrolled to lies at the head of its container
            into_view(notice.number)
            show_notice(notice)


def elsewhere(kind: str, shown: Collection[str]) -> list[str]:
    """The places whose name begins with `kind` at which something went wrong, without those that are shown."""
    return [place for place in st.session_state.get(_NOTICES, {}) if place.startswith(kind) and place not in shown]


@contextmanager
def page_body(
    title: str,
    about: str = "",
    corner: Callable[[], None] | None = None,
    *,
    width: int = PAGE_WIDTH,
    quiet: bool = False,
) -> Iterator[None]:
    """A page's heading and its body, `width` pixels at most; `corner` draws beside the heading.

    A `quiet` heading is read aloud and not seen. Whatever goes wrong in the body is told in a sentence, never as a
    traceback.
    """
    enter_by_the_door()
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
        with telling():
            yield


@contextmanager
def telling() -> Iterator[None]:
    """Whatever goes wrong inside is told in a sentence; for fragments, which run again without their page."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the one place: logged, and told in words
        show_notice(told(error))


def fold(label: str, key: str, icon: str, draw: Callable[[], object]) -> None:
    """A fold that is drawn when it is opened, without the rest of the page. `icon` by its name.

    With another label it stays open or closed, as it was. What stands inside must change nothing outside.
    """

    def body() -> None:
        st.session_state[key] = bool(st.session_state.get(key))
        with telling(), st.expander(label, key=key, icon=f":material/{icon}:", on_change="rerun") as inside:
            if inside.open:
                draw()

    st.fragment(body)()


def told(error: Exception) -> Notice:
    """An error in words. One that nobody foresaw goes to the log with a number to find it by."""
    number = uuid.uuid4().hex[:8]
    if isinstance(error, CrowdNotesError):
        return Notice(error.message, error.next_step, number)
    with about((st.query_params.get(_CASE) or "")[:64]):
        _log.error("unexpected error %s", number, exc_info=error)
    return Notice(say("app.unexpected"), say("app.unexpected_next", number=number), number)


def show_notice(notice: Notice) -> None:
    """The sentence, and the next step below it."""
    icon = ":material/error:"
    if notice.next_step:
        st.error(escaped(notice.next_step), title=escaped(notice.message), icon=icon)
    else:
        st.error(escaped(notice.message), icon=icon)
