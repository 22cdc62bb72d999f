"""The Account page: who is signed in, and for admins everybody, with what they may do."""

from __future__ import annotations

from functools import partial

import streamlit as st

from crowdnotes.domain import Account, Act, Role
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import say
from pages.common.navigation import page_body
from pages.common.session import act, button, key_of, notices, workspace
from pages.common.sign_in import sign_out
from pages.common.times import time_mark

_PLACE = "people"


def _row(one: Account) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"person-{one.key}"):
        with st.container(gap=None):
            st.markdown(f"**{escaped(one.name)}**" + (f" :orange-badge[{say('sign_in.is_out')}]" * is_out(one)))
            st.caption(escaped(one.key))
            time_mark(one.last_seen)
        key = key_of(f"role {one.key}", one.role)
        st.selectbox(
            say("sign_in.role_of", name=one.name),
            list(Role),
            key=key,
            format_func=lambda role: role.in_words,
            label_visibility="collapsed",
            width=160,
            on_change=lambda: act(_PLACE, partial(workspace().people.set_role, one, st.session_state[key])),
        )
        change = partial(workspace().people.set_disabled, one, disabled=not is_out(one))
        label = say("sign_in.let_in" if is_out(one) else "sign_in.keep_out")
        button(label, f"keep-out {one.key}", _PLACE, change)
        with st.popover(say("sign_in.records", name=escaped(one.name, 40)), icon=":material/folder_shared:"):
            st.download_button(
                say("sign_in.export"),
                data=partial(workspace().people.exported, one),
                file_name="person.json",
                mime="application/json",
                icon=":material/download:",
                on_click="ignore",
                key=f"export {one.key}",
            )
            st.caption(say("sign_in.erase_about"))
            erase = say("sign_in.erase", name=escaped(one.name, 40))
            button(erase, f"erase {one.key}", _PLACE, partial(_erase, one), icon="delete_forever")


def _erase(one: Account) -> None:
    removed, changed = workspace().people.erase(one)
    st.toast(say("sign_in.erased", name=escaped(one.name, 40), removed=removed, changed=changed), duration="long")


def is_out(one: Account) -> bool:
    """Whether somebody is kept out."""
    return one.disabled_at is not None


with page_body(say("pages.people")):
    actor = workspace().actor
    st.markdown(say("sign_in.account", name=escaped(actor.name), role=actor.role.in_words))
    sign_out(workspace().settings)
    if workspace().may(Act.PEOPLE):
        st.header(say("sign_in.everybody"), anchor=False)
        st.caption(say("sign_in.everybody_about"))
        notices(_PLACE)
        for person in workspace().people.everybody():
            _row(person)
