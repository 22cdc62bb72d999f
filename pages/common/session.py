"""What every page shares: the workspace, the case in the URL, and one place where errors are caught."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from crowdnotes.cases import actions
from crowdnotes.cases.cases import Cases
from crowdnotes.domain import Act, Case, Evidence, Review, Verdict
from crowdnotes.errors import CaseNotFoundError, CrowdNotesError, InputError, NotAllowedError, WorkflowError
from crowdnotes.jobs import JobRecord
from crowdnotes.logs import log_context
from crowdnotes.text.markdown import clip, escaped
from crowdnotes.wording import plural
from crowdnotes.workspace import Workspace
from pages.common.components import announcements, outside_text, scroll_into_view
from pages.common.first_sight import name_tab
from pages.common.shared_workspace import shared_workspace
from pages.common.sign_in import signed_in_person

_log = logging.getLogger("crowdnotes.pages")
_T = TypeVar("_T")
_CASE_PARAM = "case"
_RECORDED_CASE_KEY = "recorded-answers"  # the case in the address, if it goes by recorded answers
DEMO = "demo"  # in the address: a demonstration is asked for, or the number of its step
_NOTICES_KEY = "notices"
_PRESENT_KEY = "present at"
_REFUSED_KEY = "refused words"
_FORM_NOTICE_AREA = "form"
_ANNOUNCED_KEY, _MAX_ANNOUNCED = "announced", 5
_MAX_NOTICES = 8  # of a page pasted by mistake, enough to see what it was
_MAX_TAB_CHARACTERS = 60  # of a post, in the title of a tab
PAGE_WIDTH = 1040  # pixels; longer lines are hard to read


@dataclass(frozen=True, slots=True)
class Notice:
    """An error as the user reads it: a sentence and what to do next, in the case that was open.

    The page scrolls to it once, by its `number`.
    """

    message: str
    next_step: str
    number: str
    case_id: str | None = None
    rule: str = ""  # of the workflow, that refused


def workspace(*, own_engine: bool = False) -> Workspace:
    """Return the workspace as the person at the screen may use it, with their engine; in a demonstration with its own.

    With `own_engine` also there with theirs. Raises NotAllowedError where nobody is signed in.
    """
    shared, shown = shared_workspace(), st.query_params.get(_CASE_PARAM)
    is_recorded = shown is not None and st.session_state.get(_RECORDED_CASE_KEY) == shown and not own_engine
    return shared.for_person(signed_in_person(shared.opened.settings), recorded=is_recorded)


def cases() -> Cases:
    """Return the stored cases as the person at the screen may use them."""
    return workspace().cases


def own_review(item: Evidence) -> Review | None:
    """Return what the person at the screen made of a passage; None where they have not opened it."""
    return item.review_by(workspace().actor.key)


def own_verdict(item: Evidence) -> Verdict | None:
    """Return the verdict of the person at the screen on a passage; None without one."""
    review = own_review(item)
    return review.verdict if review is not None else None


def current_case() -> tuple[Case | None, JobRecord | None]:
    """Return the case that the URL names and its newest job, as they are now; None without one.

    Raises CaseNotFoundError.
    """
    case_id = st.query_params.get(_CASE_PARAM)
    if not case_id:
        return None, None
    # The job first: what a job that has ended did is then surely in the case.
    job = workspace().runner.latest(case_id)
    case = cases().get(case_id)
    st.session_state[_RECORDED_CASE_KEY] = case.id if case.recorded_answers else None
    return case, job


def name_tab_after_case(case: Case | None, page: str) -> None:
    """Give the browser's tab the title of the case, by its post, and of the page; of the page alone without a case."""
    post = f"“{clip(case.post.text, _MAX_TAB_CHARACTERS)}”" if case is not None and case.post.text else ""
    name_tab(*filter(None, (post, page)))


def begin_presence(case_id: str) -> None:
    """Remember that this tab shows a case of the queue, so that `end_presence` knows when it no longer does."""
    st.session_state[_PRESENT_KEY] = case_id


def end_presence(page: str) -> None:
    """Where this tab has left a case of the queue for the page of that title, let others no longer see it there."""
    case_id = st.session_state.get(_PRESENT_KEY)
    if case_id is not None and (page, st.query_params.get(_CASE_PARAM)) != ("Queue", case_id):
        del st.session_state[_PRESENT_KEY]
        with suppress(CaseNotFoundError, NotAllowedError):
            cases().end_presence(case_id)


def opened_by_link(name: str) -> str | None:
    """Return what the address gives for `name`, and keep it there.

    A page's link to itself hands it to one run alone: Streamlit leaves the address as it was.
    """
    value, known = st.query_params.get(name), f"{name} in the address"
    if value is not None and st.session_state.get(known) != value:
        st.query_params[name] = value
    st.session_state[known] = value
    return value


def show_case(case_id: str | None) -> None:
    """Put a case into the URL, so that a refresh or a second tab shows it; None takes it out."""
    st.query_params.pop(DEMO, None)
    if case_id is None:
        st.query_params.pop(_CASE_PARAM, None)
    else:
        st.query_params[_CASE_PARAM] = case_id


def run_action(place: str, action: Callable[[], _T]) -> _T | None:
    """Do something that the user asked for, and show at `place` what goes wrong.

    The message stays until the person closes it or acts at the same place again. Acts elsewhere leave it: a browser may
    send a text late, so that another act comes right after the one that failed.
    """
    st.session_state.get(_NOTICES_KEY, {}).pop(place, None)
    try:
        return action()
    except Exception as error:  # noqa: BLE001 - the one place: logged, and shown as a notice
        add_notice(place, error)
        return None


def button(label: str, key: str, place: str, action: Callable[[], object], *, icon: str = "", **look: Any) -> None:
    """Draw a button that does something when it is pressed; what goes wrong is shown at `place`. `icon` by its name."""
    sign = f":material/{icon}:" if icon else None
    st.button(label, key=key, icon=sign, on_click=run_action, args=(place, action), **look)


def comparison_link_key(comparison_id: str) -> str:
    """Return the key of the popover with a comparison's link on the Compare page; True in the session opens it."""
    return f"compare-link-{comparison_id}"


def download(
    label: str,
    make: Callable[[Workspace], str],
    file_name: str,
    mime: str,
    *,
    icon: str | None = ":material/download:",
    **look: Any,
) -> None:
    """Draw a button that makes a file once it is pressed.

    Streamlit runs `make` in a thread in which nobody is signed in, so it gets the workspace of who sees the button.
    """
    made = partial(make, workspace())
    st.download_button(label, made, file_name, mime, icon=icon, on_click="ignore", **look)  # noqa: TID251 - the one place


def button_that_asks(
    label: str, key: str, place: str, action: Callable[[], object], *, question: str, confirm: str, icon: str
) -> None:
    """Draw a button for what cannot be undone: pressed, it asks the question (Markdown), with a red button to confirm.

    The red one has another place than the first, so that a double click confirms nothing.
    """
    asks = _asking_key(key)

    def end(*, confirmed: bool) -> None:
        st.session_state.pop(asks, None)
        if confirmed:
            run_action(place, action)

    if not st.session_state.get(asks):
        st.button(label, key=key, icon=f":material/{icon}:", on_click=st.session_state.__setitem__, args=(asks, True))
        return
    st.markdown(question)
    with st.container(horizontal=True, key=f"grave-{key}"):
        st.button("Cancel", key=f"cancel-{key}", on_click=end, kwargs={"confirmed": False})
        st.button(
            confirm,
            key=f"confirm-{key}",
            icon=f":material/{icon}:",
            type="primary",
            on_click=end,
            kwargs={"confirmed": True},
        )


def is_asking(key: str) -> bool:
    """Return whether the `button_that_asks` of that key was pressed and waits for the answer."""
    return bool(st.session_state.get(_asking_key(key)))


def _asking_key(key: str) -> str:
    return f"{key} asks"


def key_of(name: str, stored: object) -> str:
    """Return the key of a widget that shows a stored value; a new key once anything but the widget changed the value.

    Under the old key the browser may still send the old value, which Streamlit would take for an act of the person: let
    `run_change` do what the widget asks for. One that the person changed keeps its key and so the keyboard's focus.
    """
    state, key = st.session_state, _newest_key(name)
    if key in state and state[key] != stored:
        state[f"{name} changes"] = state.get(f"{name} changes", 0) + 1
        key = _newest_key(name)
    state.setdefault(key, stored)
    return key


def run_change(place: str, name: str, key: str, save: Callable[[], object]) -> None:
    """Do what the person chose in a widget whose key is of `key_of`; nothing for a value sent under an old key.

    Streamlit forgets the value of a widget that is gone but not its callback, so the old value looks like a new one.
    """
    if key == _newest_key(name):
        run_action(place, save)


def _newest_key(name: str) -> str:
    changes = st.session_state.get(f"{name} changes")
    return name if changes is None else f"{name}-{changes}"


def open_key(name: str) -> str:
    """Return the key of a popover or expander, which `close` replaces to close it."""
    closed = st.session_state.get(f"{name} closed")
    return f"{name}-{closed}" if closed else name


def close(name: str) -> None:
    """Close a popover or expander by giving it a new key: under the old one the browser may still report it open."""
    st.session_state[f"{name} closed"] = st.session_state.get(f"{name} closed", 0) + 1


def add_notice(place: str, *errors: Exception) -> None:
    """Show errors at `place` of the case in the address, below those that are shown there already."""
    shown = st.session_state.setdefault(_NOTICES_KEY, {}).setdefault(place, [])
    shown += [notice_for(error) for error in errors[:_MAX_NOTICES]]
    if len(errors) > _MAX_NOTICES:
        shown.append(
            notice_for(
                InputError(plural(len(errors) - _MAX_NOTICES, "And 1 more like this.", "And {n} more like this."))
            )
        )


def notices(place: str) -> None:
    """Draw what went wrong at this place, each with a button that closes it."""
    for notice in _notices_of_case(place):
        # Of its own: the page scrolls to the head of the container.
        with st.container(key=f"notice-{notice.number}", horizontal=True, wrap=False, gap="xxsmall"):
            with st.container(gap="xxsmall"):
                scroll_into_view(notice.number, name=notice.message)
                show_notice(notice)
            st.button(
                "",
                key=f"close-notice-{notice.number}",
                icon=":material/close:",
                type="tertiary",
                on_click=_close_notice,
                args=(place, notice),
                help="Close this message",
            )


def end_notices(place: str, rule: str) -> None:
    """Take away what a rule of the workflow refused at a place, once it would not refuse it any more."""
    for notice in _notices_of_case(place):
        if notice.rule == rule:
            _close_notice(place, notice)


def _notices_of_case(place: str) -> list[Notice]:
    """Return the notices at a place that belong to the case in the address."""
    at_place: list[Notice] = st.session_state.get(_NOTICES_KEY, {}).get(place, [])
    return [notice for notice in at_place if notice.case_id == st.query_params.get(_CASE_PARAM)]


def _close_notice(place: str, notice: Notice) -> None:
    """Take a notice away. A place draws its notices once, as the button's key is theirs."""
    everywhere: dict[str, list[Notice]] = st.session_state.get(_NOTICES_KEY, {})
    everywhere[place] = [other for other in everywhere.get(place, ()) if other is not notice]


def announce(words: str) -> None:
    """Let a screen reader say what has ended or changed, as nobody may be looking; see `draw_announcements`."""
    known: dict[str, str] = st.session_state.get(_ANNOUNCED_KEY, {})
    st.session_state[_ANNOUNCED_KEY] = dict([*known.items(), (uuid.uuid4().hex[:8], words)][-_MAX_ANNOUNCED:])


def draw_announcements() -> None:
    """Hand what was announced to the browser, at the end of each run."""
    announcements(st.session_state.get(_ANNOUNCED_KEY, {}))


def unsaved_words(
    case_id: str, words: Mapping[str, str], why: str, place: str, keep: Callable[[], object] | None
) -> None:
    """Draw texts that could not be saved, by the name of their field, to be copied; with a button that does `keep`."""
    st.warning(why, title="What you typed was not saved.", icon=":material/edit_note:")
    with st.container(key=f"unsaved-words-{place}", gap="xsmall"):
        for number, (name, said) in enumerate(words.items()):
            st.caption(escaped(name, 160))
            outside_text(said, look="small", key=f"unsaved-{place}-{case_id}-{number}", copy=True)
        if keep is not None:
            button("Reopen and keep my words", f"keep-unsaved-{place}", place, keep, icon="lock_open")


@dataclass(frozen=True, slots=True)
class _RefusedForm:
    """What was typed into a form, by the names of its fields, and the act that was refused, with the reason.

    `is_gone`: the form may be gone, as the case ended or was changed elsewhere.
    """

    case_id: str | None
    words: Mapping[str, str]
    action: Callable[[], object]
    why: str
    is_gone: bool


def keep_typed(words: Mapping[str, str], action: Callable[[], _T], *, is_gone: bool = False) -> _T:
    """Do what a form asks for; if it is refused, `refused_form` shows what was typed and offers to try again.

    A form that is not gone still holds the words that an InputError says something about.
    """
    try:
        done = action()
    except CrowdNotesError as error:
        typed = {name: said for name, said in words.items() if said.strip()}
        is_gone = is_gone or not isinstance(error, InputError)
        refused = _RefusedForm(st.query_params.get(_CASE_PARAM), typed, action, error.message, is_gone)
        st.session_state[_REFUSED_KEY] = refused
        raise
    st.session_state.pop(_REFUSED_KEY, None)
    return done


def refused_form(case_id: str, case: Case | None) -> None:
    """Draw each text that `keep_typed` kept, to be copied; with a button that reopens a decided case and tries again.

    Call this once a page. `case` is None where it was deleted.
    """
    refused: _RefusedForm | None = st.session_state.get(_REFUSED_KEY)
    is_decided = case is not None and case.decision is not None
    if refused is None or refused.case_id != case_id or not refused.words:
        return
    if not (refused.is_gone or case is None or is_decided):
        return
    st.session_state[_REFUSED_KEY] = replace(refused, is_gone=True)  # also when the case was reopened
    notices(_FORM_NOTICE_AREA)
    may_reopen = is_decided and workspace().may(Act.REOPEN, case)
    keep = partial(_reopen_and_repeat, case_id, refused) if may_reopen else None
    why = "The case was deleted." if case is None else "The case is decided." if is_decided else refused.why
    unsaved_words(case_id, refused.words, why, _FORM_NOTICE_AREA, keep)
    forget = partial(st.session_state.pop, _REFUSED_KEY, None)
    button("Close these words", "close-unsaved-form", _FORM_NOTICE_AREA, forget, icon="close", type="tertiary")


def _reopen_and_repeat(case_id: str, refused: _RefusedForm) -> None:
    cases().apply(case_id, actions.reopen)
    keep_typed(refused.words, refused.action, is_gone=True)


def notices_elsewhere(kind: str, shown: Collection[str]) -> list[str]:
    """Return the places whose name begins with `kind` at which something went wrong, without those that are shown."""
    return [place for place in st.session_state.get(_NOTICES_KEY, {}) if place.startswith(kind) and place not in shown]


@contextmanager
def show_errors() -> Iterator[None]:
    """Show errors inside as a sentence; for fragments, which run again without their page."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the one place: logged, and shown as a notice
        show_notice(notice_for(error))


def expander(label: str, key: str, icon: str, draw: Callable[[], object]) -> None:
    """Draw a fold when it is opened, without the rest of the page. `icon` by its name.

    With another label it stays open or closed, as it was. What is inside must change nothing outside.
    """

    def body() -> None:
        st.session_state[key] = bool(st.session_state.get(key))
        with show_errors(), st.expander(label, key=key, icon=f":material/{icon}:", on_change="rerun") as inside:
            if inside.open:
                draw()

    st.fragment(body)()


def notice_for(error: Exception) -> Notice:
    """Return the notice for an error. An unexpected one goes to the log with a number to find it by."""
    number = uuid.uuid4().hex[:8]
    if isinstance(error, CrowdNotesError):
        rule = error.rule if isinstance(error, WorkflowError) else ""
        return Notice(error.message, error.next_step, number, st.query_params.get(_CASE_PARAM), rule)
    with log_context((st.query_params.get(_CASE_PARAM) or "")[:64]):
        _log.error("unexpected error %s", number, exc_info=error)
    return Notice(
        "Sorry, something went wrong.",
        f"What you saved is safe. Try again, or report error {number} from the log.",
        number,
        st.query_params.get(_CASE_PARAM),
    )


def show_notice(notice: Notice) -> None:
    """Draw the sentence, and the next step below it."""
    icon = ":material/error:"
    if notice.next_step:
        st.error(escaped(notice.next_step), title=escaped(notice.message), icon=icon)
    else:
        st.error(escaped(notice.message), icon=icon)
