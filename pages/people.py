"""The page of people: who is signed in, and for admins all who have signed in, with what they may do."""

from __future__ import annotations

import re
from functools import partial

import streamlit as st

from crowdnotes.domain import Account, Act, Role
from crowdnotes.text.markdown import escaped, without_marks
from crowdnotes.wording import plural
from crowdnotes.workspace import Workspace
from pages.common.navigation import page_body, redirect_through_app
from pages.common.session import button, download, key_of, notices, run_change, workspace
from pages.common.sign_in import sign_out
from pages.common.times import time_mark

_NOTICE_AREA = "people"
_MAX_WITHOUT_SEARCH = 10  # people whom one sees at a glance
_COLUMN_WIDTHS = (5, 2.2, 2, 3)
_ROLES = (
    "- **viewer**: reads what is shared, and practises on demonstrations\n"
    "- **contributor**: also begins cases, writes notes and sends them to the moderators\n"
    "- **moderator**: also reads and decides all cases, and takes posts from a file\n"
    "- **admin**: also changes people, libraries, services and the model"
)


def _draw_account_row(one: Account) -> None:
    about, role, access, records = st.columns(_COLUMN_WIDTHS, vertical_alignment="center")
    with about, st.container(gap=None, key=f"person-{one.key}"):
        st.markdown(f"**{escaped(one.name)}**" + (" :orange-badge[kept out]" * is_out(one)))
        if one.subject != one.name:
            st.caption(escaped(one.key))
        with st.container(horizontal=True, vertical_alignment="center", gap="xxsmall"):
            st.caption("Last seen", width="content")
            time_mark(one.last_seen)
    name = f"role {one.key}"
    key = key_of(name, one.role)
    role.selectbox(
        f"Role of {without_marks(one.name)}",
        list(Role),
        key=key,
        format_func=lambda role: role.as_text,
        label_visibility="collapsed",
        on_change=run_change,
        args=(_NOTICE_AREA, name, key, lambda: workspace().people.set_role(one, st.session_state[key])),
    )
    change = partial(workspace().people.set_disabled, one, disabled=not is_out(one))
    with access:
        if is_out(one):
            button("Let in", f"keep-out {one.key}", _NOTICE_AREA, change, width="stretch")
        else:
            with st.popover("Keep out", width="stretch", key=f"ask-keep-out {one.key}"):
                st.markdown(f"{escaped(one.name, 40)} can do nothing here until you let them in again.")
                with st.container(key=f"grave-keep-out {one.key}"):
                    label = f"Keep {escaped(one.name, 40)} out"
                    button(label, f"keep-out {one.key}", _NOTICE_AREA, change, type="primary")
    with records, st.popover("Export or erase", icon=":material/folder_shared:", width="stretch", key=f"of {one.key}"):
        file = f"{re.sub(r'[^0-9A-Za-z]+', '-', one.name).strip('-') or 'person'}.json"
        download("Export", partial(_export_person, one), file, "application/json", key=f"export {one.key}")
        st.caption("Cases that you have not finished reading are only named in the export.")
        _draw_erasure(one)


def _draw_erasure(one: Account) -> None:
    """Draw what erasing removes, and the red button, which works once the person's name is typed."""
    st.markdown(
        f"**Erase {escaped(one.name, 40)}**\n\n"
        "- All records will say “someone who left”.\n"
        "- Cases that they did not share are removed. Of those that a moderator has read, sent back or decided, the "
        "findings stay without the note.\n"
        "- What others typed stays.\n\n"
        "You cannot undo this."
    )
    typed = st.text_input("To erase, type the name above", key=f"erase-name {one.key}", live=True)
    with st.container(key=f"grave-erase {one.key}"):
        button(
            f"Erase {escaped(one.name, 40)}",
            f"erase {one.key}",
            _NOTICE_AREA,
            partial(_erase_account, one),
            icon="delete_forever",
            type="primary",
            disabled=(typed or "").strip() != one.name.strip(),
        )


def _export_person(one: Account, mine: Workspace) -> str:
    return mine.people.exported(one)


def _erase_account(one: Account) -> None:
    removed, changed = workspace().people.erase(one)
    gone = plural(removed, "1 case removed", "{n:,} cases removed")
    st.toast(f"{escaped(one.name, 40)} was erased: {gone}, {changed:,} changed.", duration="long")


def is_out(one: Account) -> bool:
    """Return whether a person is kept out."""
    return one.disabled_at is not None


def _draw_people() -> None:
    st.header("Everyone who has signed in", anchor=False)
    st.caption("Changes apply at once.")
    with st.expander("What each role may do", icon=":material/help:"):
        st.markdown(_ROLES)
    notices(_NOTICE_AREA)
    people = workspace().people.everybody()
    if len(people) > _MAX_WITHOUT_SEARCH:
        sought = st.text_input("Search people", type="search", key="search-people", live=True)
        people = [one for one in people if (sought or "").strip().casefold() in f"{one.name} {one.key}".casefold()]
        if not people:
            st.info("Nobody has that name.", icon=":material/search_off:")
    for person in people:
        _draw_account_row(person)


redirect_through_app()  # before anything asks who is signed in
actor, sees_people = workspace().actor, workspace().may(Act.PEOPLE)
with page_body("People" if sees_people else "Account"):
    st.markdown(f"You are {escaped(actor.name)}. Your role: {actor.role.as_text}.")
    sign_out(workspace().settings)
    if sees_people:
        _draw_people()
    else:
        st.caption("Admins can change your role.")
        with st.expander("What each role may do", icon=":material/help:"):
            st.markdown(_ROLES)
