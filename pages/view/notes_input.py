"""Where existing notes come from: pasted, a file, or X's public files; the same fields for a new post and for later."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from crowdnotes.domain import ExistingNote
from crowdnotes.errors import InputError
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import say
from pages.common.session import workspace

if TYPE_CHECKING:
    from streamlit.typing import UploadedFile

_PASTED, _FILE, _PUBLIC = (say("notes_input.pasted"), say("notes_input.file"), say("notes_input.public"))
_KINDS = ["csv", "tsv", "json", "jsonl", "txt"]


def notes_fields(key: str) -> None:
    """Draw the fields; `notes_given` reads what they hold."""
    chosen = st.segmented_control(
        say("notes_input.from"),
        [_PASTED, _FILE, _PUBLIC],
        default=_PASTED,
        key=f"{key}-from",
        required=True,
    )
    if chosen == _FILE:
        st.file_uploader(say("notes_input.upload"), type=_KINDS, key=_upload_key(key), max_upload_size=20)
        st.caption(say("notes_input.columns"))
    elif chosen == _PUBLIC:
        st.text_input(
            say("notes_input.folder"),
            key=f"{key}-folder",
            placeholder="/home/you/community-notes",
            help=say("notes_input.folder_help"),
            persist_state="session",
        )
        st.text_input(
            say("notes_input.post_id"),
            key=f"{key}-post-id",
            placeholder=say("notes_input.post_id_example"),
            help=say("notes_input.post_id_help"),
            persist_state="session",
        )
    else:
        st.text_area(
            say("notes_input.paste"),
            key=f"{key}-pasted",
            height=190,
            placeholder=say("notes_input.paste_example"),
            persist_state="session",
        )


def notes_given(key: str, address: str | None) -> tuple[tuple[ExistingNote, ...], tuple[str, ...]]:
    """The notes, and a sentence on each thing that was merged or left out. Raises InputError.

    `address` is the post's, which tells its id where the field for that is empty.
    """
    state, read = st.session_state, workspace().service
    chosen = state.get(f"{key}-from")
    if chosen == _FILE:
        file: UploadedFile | None = state.get(_upload_key(key))
        if file is None:
            raise InputError(say("notes_input.no_file"), say("notes_input.no_file_next"))
        found = read.notes_in_file(file.getvalue(), file.name, address or None)
    elif chosen == _PUBLIC:
        folder = (state.get(f"{key}-folder") or "").strip()
        post = (state.get(f"{key}-post-id") or "").strip() or (address or "")
        if not folder or not post:
            raise InputError(say("notes_input.no_folder"), say("notes_input.no_folder_next"))
        found = read.notes_of_post(Path(folder).expanduser(), post)
    else:
        found = read.pasted_notes(state.get(f"{key}-pasted") or "")
    return found.notes, found.faults


def keep_faults(key: str, faults: Sequence[str]) -> None:
    """Remember what was merged or left out, to be told when the page is drawn."""
    st.session_state[f"{key}-faults"] = tuple(faults)


def tell_faults(key: str) -> None:
    """What was merged or left out at the last reading."""
    faults: tuple[str, ...] = st.session_state.get(f"{key}-faults", ())
    if faults:
        words = "\n".join(f"- {escaped(fault, 300)}" for fault in faults)
        st.warning(words, title=say("notes_input.faults"), icon=":material/info:")


def forget_notes(key: str) -> None:
    """Empty the fields."""
    st.session_state[f"{key}-pasted"] = ""
    st.session_state[f"{key}-uploads"] = st.session_state.get(f"{key}-uploads", 0) + 1  # a new key is a new widget


def _upload_key(key: str) -> str:
    return f"{key}-file-{st.session_state.get(f'{key}-uploads', 0)}"
