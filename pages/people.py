"""The Account page: who is signed in, and for admins everybody, with what they may do."""

from __future__ import annotations

from functools import partial

import streamlit as st

from crowdnotes.domain import Account, Act, Role
from crowdnotes.text.markdown import escaped
from crowdnotes.workspace import Workspace
from pages.common.navigation import page_body
from pages.common.session import button, download, key_of, notices, run_action, workspace
from pages.common.sign_in import sign_out
from pages.common.times import time_mark

_NOTICE_AREA = "people"


def _draw_account_row(one: Account) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"person-{one.key}"):
        with st.container(gap=None):
            st.markdown(f"**{escaped(one.name)}**" + (" :orange-badge[kept out]" * is_out(one)))
            st.caption(escaped(one.key))
            time_mark(one.last_seen)
        key = key_of(f"role {one.key}", one.role)
        st.selectbox(
            f"Role of {one.name}",
            list(Role),
            key=key,
            format_func=lambda role: role.as_text,
            label_visibility="collapsed",
            width=160,
            on_change=lambda: run_action(
                _NOTICE_AREA, partial(workspace().people.set_role, one, st.session_state[key])
            ),
        )
        change = partial(workspace().people.set_disabled, one, disabled=not is_out(one))
        label = "Let in" if is_out(one) else "Keep out"
        button(label, f"keep-out {one.key}", _NOTICE_AREA, change)
        with st.popover(f"Records of {escaped(one.name, 40)}", icon=":material/folder_shared:"):
            export = partial(_export_person, one)
            download("Export", export, "person.json", "application/json", key=f"export {one.key}")
            st.caption("The export leaves out, but names, cases that you have not finished reading.")
            st.caption(
                "After erasing, all records say “someone who left”. Cases that they did not share are "
                "removed; of those that a moderator has read, sent back or decided, the findings stay without "
                "the note. What others typed stays. You cannot undo this."
            )
            erase = f"Erase {escaped(one.name, 40)}"
            button(erase, f"erase {one.key}", _NOTICE_AREA, partial(_erase_account, one), icon="delete_forever")


def _export_person(one: Account, mine: Workspace) -> str:
    return mine.people.exported(one)


def _erase_account(one: Account) -> None:
    removed, changed = workspace().people.erase(one)
    st.toast(f"{escaped(one.name, 40)} was erased. Cases removed: {removed}, changed: {changed}.", duration="long")


def is_out(one: Account) -> bool:
    """Return whether a person is kept out."""
    return one.disabled_at is not None


with page_body("Account"):
    actor = workspace().actor
    st.markdown(f"You are {escaped(actor.name)}. Your role: {actor.role.as_text}.")
    sign_out(workspace().settings)
    if workspace().may(Act.PEOPLE):
        st.header("Everybody", anchor=False)
        st.caption("Everybody who has signed in. A change counts from their next step.")
        notices(_NOTICE_AREA)
        for person in workspace().people.everybody():
            _draw_account_row(person)
