"""The notes that a post already has: the form for a new supernote, and a row for each note of a case.

Notes are pasted, or come from a file or from X's public data.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from crowdnotes.cases import supernote_actions
from crowdnotes.domain import Case, Classification, CrowdStatus, ExistingNote, Ratings, SupernoteWork
from crowdnotes.errors import InputError
from crowdnotes.evidence.demo_pages import example_with_notes
from crowdnotes.jobs import JobRecord
from crowdnotes.notes.note_files import notes_of_post, pasted_notes, read_notes
from crowdnotes.text.markdown import clip, escaped, host
from crowdnotes.text.note_rules import find_urls, tag_words
from crowdnotes.wording import plural
from pages.common.components import badge, first_shown, outside_text, web_link
from pages.common.layout import SupernoteStep
from pages.common.progress import under_way
from pages.common.session import button, cases, notices, run_action, show_case

if TYPE_CHECKING:
    from streamlit.typing import UploadedFile


_PASTED_NOTES, _NOTES_FILE, _PUBLIC_DATA = ("Paste them", "A file", "X's public data")
_FILE_TYPES = ["csv", "tsv", "json", "jsonl", "txt"]


def notes_fields(key: str) -> None:
    """Draw the fields; `notes_given` reads what they hold."""
    chosen = st.segmented_control(
        "Where are the notes?",
        [_PASTED_NOTES, _NOTES_FILE, _PUBLIC_DATA],
        default=_PASTED_NOTES,
        key=f"{key}-from",
        required=True,
    )
    if chosen == _NOTES_FILE:
        st.file_uploader(
            "File with the notes on this post (CSV, TSV or JSON)",
            type=_FILE_TYPES,
            key=_upload_key(key),
            max_upload_size=20,
        )
        st.caption(
            "One note a row, in a column text. We also read: status, classification, noteId, helpful, "
            "somewhatHelpful, notHelpful (numbers of ratings), tags, createdAt."
        )
    elif chosen == _PUBLIC_DATA:
        st.text_input(
            "Folder with X's files",
            key=f"{key}-folder",
            placeholder="/home/you/community-notes",
            help=(
                "On the computer that runs CrowdNotes: notes-00000.tsv, with the files of ratings and status "
                "history. Files of the 2021 pilot work too."
            ),
            persist_state="session",
        )
        st.text_input(
            "ID of the post",
            key=f"{key}-post-id",
            placeholder="the number in the post's address",
            help="Not needed with the post's address above.",
            persist_state="session",
        )
    else:
        st.text_area(
            "The notes, with their links",
            key=f"{key}-pasted",
            height=190,
            placeholder="One note, with its link\n\nAn empty line, then the next note",
            persist_state="session",
        )


def notes_given(key: str, address: str | None) -> tuple[tuple[ExistingNote, ...], tuple[str, ...]]:
    """Return the notes, and a sentence on each thing that was merged or left out. Raises InputError.

    `address` is the post's, which holds its id where the field for that is empty.
    """
    state = st.session_state
    chosen = state.get(f"{key}-from")
    if chosen == _NOTES_FILE:
        file: UploadedFile | None = state.get(_upload_key(key))
        if file is None:
            raise InputError("There is no file yet.", "Choose a file, or paste the notes.")
        found = read_notes(file.getvalue(), file.name, address or None)
    elif chosen == _PUBLIC_DATA:
        folder = (state.get(f"{key}-folder") or "").strip()
        post = (state.get(f"{key}-post-id") or "").strip() or (address or "")
        if not folder or not post:
            raise InputError("The folder or the ID of the post is missing.", "Fill in both.")
        found = notes_of_post(Path(folder).expanduser(), post)
    else:
        found = pasted_notes(state.get(f"{key}-pasted") or "")
    return found.notes, found.faults


def typed_notes(key: str) -> str:
    """Return the notes as they were pasted; "" where they come from elsewhere."""
    state = st.session_state
    return str(state.get(f"{key}-pasted") or "") if state.get(f"{key}-from") == _PASTED_NOTES else ""


def keep_faults(key: str, faults: Sequence[str]) -> None:
    """Remember what was merged or left out, to be shown when the page is drawn."""
    st.session_state[f"{key}-faults"] = tuple(faults)


def draw_faults(key: str) -> None:
    """Show what was merged or left out at the last reading."""
    faults: tuple[str, ...] = st.session_state.get(f"{key}-faults", ())
    if faults:
        words = "\n".join(f"- {escaped(fault, 300)}" for fault in faults)
        st.warning(words, title="Some notes were changed or left out.", icon=":material/info:")


def forget_notes(key: str) -> None:
    """Empty the fields."""
    st.session_state[f"{key}-pasted"] = ""
    st.session_state[f"{key}-uploads"] = st.session_state.get(f"{key}-uploads", 0) + 1  # a new key is a new widget


def _upload_key(key: str) -> str:
    return f"{key}-file-{st.session_state.get(f'{key}-uploads', 0)}"


_NOTICE_AREA = SupernoteStep.NOTES.value
_KEY_PREFIX = "new-supernote"
_PAGE_SIZE = 10
_MAX_ROW_CHARACTERS = 210  # characters of a note in its row: two lines
_MAX_TAGS = 3
STATUS_WORDS = {
    CrowdStatus.NEEDS_MORE_RATINGS: "needs more ratings",
    CrowdStatus.HELPFUL: "shown by X",
    CrowdStatus.NOT_HELPFUL: "rated not helpful",
}
STATUS_COLOURS = {
    CrowdStatus.NEEDS_MORE_RATINGS: "orange",
    CrowdStatus.HELPFUL: "green",
    CrowdStatus.NOT_HELPFUL: "red",
}
NO_STATUS = "status not known"


def no_note_needed(case: Case) -> None:
    """Draw what raters have said against any note at all; before anything is written."""
    said = supernote_actions.no_note_needed(case)
    if said:
        words = f"{escaped(said)} First decide whether the post needs a note: “No note needed” is a result too."
        st.warning(words, title="Raters said that no note is needed.", icon=":material/front_hand:")


# --- a new one ---


def new_supernote() -> None:
    """Draw the form: the post, and its notes."""
    notices(_NOTICE_AREA)
    st.text_area(
        "Text of the post",
        key=f"{_KEY_PREFIX}-text",
        height=110,
        placeholder="Paste the text of the post",
        help="With the address alone, we cannot check whether the note answers the post.",
        persist_state="session",
    )
    st.text_input(
        "Address of the post on X (optional)",
        key=f"{_KEY_PREFIX}-url",
        type="url",
        placeholder="https://x.com/…/status/…",
        persist_state="session",
    )
    notes_fields(_KEY_PREFIX)
    with st.container(horizontal=True, gap="small"):
        button("Read the notes", "read-notes", _NOTICE_AREA, _create_supernote, icon="notes", type="primary")
        look = {"type": "tertiary", "help": "A made-up post with six notes"}
        button("Try an example", "supernote-example", _NOTICE_AREA, _create_example_supernote, icon="school", **look)


def _create_supernote() -> None:
    state = st.session_state
    text, url = state[f"{_KEY_PREFIX}-text"] or "", (state[f"{_KEY_PREFIX}-url"] or "").strip() or None
    notes, faults = notes_given(_KEY_PREFIX, url)
    case = supernote_actions.create_supernote(cases(), text, notes=notes, url=url)
    state[f"{_KEY_PREFIX}-text"] = state[f"{_KEY_PREFIX}-url"] = ""
    forget_notes(_KEY_PREFIX)
    keep_faults(case.id, faults)
    show_case(case.id)


def _create_example_supernote() -> None:
    example = example_with_notes()
    case = supernote_actions.create_supernote(cases(), example.post.text, notes=example.notes, url=example.post.url)
    show_case(case.id)


# --- those there are ---


def notes_pane(case: Case, work: SupernoteWork, job: JobRecord | None) -> None:
    """Draw a row for each note: whether it is used, and why; the chosen one in full below."""
    no_note_needed(case)
    draw_faults(case.id)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.header("Notes", anchor=False, width="content")
        of = plural(len(work.notes), "1 note", "{n:,} notes")
        st.markdown(f":gray[{of}, {len(work.used)} used]", width="content")
    unknown = sum(note.status is None for note in work.notes)
    not_known = f" Taken as open, as we do not know X's decision: {unknown}." if unknown else ""
    st.caption(f"All notes still open on X are ticked.{not_known}")
    for remark in supernote_actions.remarks_on_notes(case):
        st.caption(f":orange[:material/info:] {escaped(remark, 300)}")
    chosen = st.session_state.get(_chosen_note_key(case))
    first = first_shown(len(work.notes), _PAGE_SIZE, f"notes-page-{case.id}")
    with st.container(key="rows", gap=None):
        for note in work.notes[first : first + _PAGE_SIZE]:
            _draw_note_row(case, note, here=note.id == chosen, busy=under_way(job))
    for note in work.notes:
        if note.id == chosen:
            _draw_note_reader(case, note)


def _chosen_note_key(case: Case) -> str:
    return f"note-{case.id}"


def _draw_note_row(case: Case, note: ExistingNote, *, here: bool, busy: bool) -> None:
    """Its status, its first words, and the tick; choosing it shows it in full."""
    state, key = st.session_state, f"use-note-{case.id}-{note.id}"
    state[key] = note.is_used
    with st.container(key=f"row-{note.id}{'-here' if here else ''}", gap=None):
        with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
            read = partial(state.__setitem__, _chosen_note_key(case), None if here else note.id)
            label = f"**{note.id}** {status_badge(note.status)}"
            if note.classification is Classification.NOT_MISLEADING:
                label += f" {badge('gray', 'thumb_up', 'says: not misleading')}"
            button(label, f"read-note-{case.id}-{note.id}", _NOTICE_AREA, read, type="tertiary", width="stretch")
            st.checkbox(
                f"Use {note.id}",
                key=key,
                on_change=run_action,
                args=(_NOTICE_AREA, partial(_save_note_choice, case, note, key)),
                disabled=busy or case.decision is not None,
                width="content",
            )
        st.markdown(f":small[{escaped(clip(' '.join(note.text.split()), _MAX_ROW_CHARACTERS), _MAX_ROW_CHARACTERS)}]")
        st.markdown(f":small[:gray[{_explain_eligibility(note)} · {in_ratings(note.ratings)}]]")


def _draw_note_reader(case: Case, note: ExistingNote) -> None:
    with st.container(key="reader", gap="small"):
        outside_text(note.text, look="plain", key=f"given-text-{case.id}-{note.id}", copy=True)
        links = dict.fromkeys(span.url for span in find_urls(note.text) if span.has_scheme)
        if links:
            with st.container(horizontal=True, gap="xsmall"):
                for url in links:
                    web_link(host(url), url)


def _save_note_choice(case: Case, note: ExistingNote, key: str) -> None:
    """Against the rule only where the person says otherwise than the rule does."""
    wanted = bool(st.session_state[key])
    by_rule = not note.why_not_eligible
    cases().apply(case.id, supernote_actions.choose_note, note.id, None if wanted == by_rule else wanted)


def _explain_eligibility(note: ExistingNote) -> str:
    """Return why it is used or not."""
    if note.why_not_eligible:
        return escaped(note.why_not_eligible.removesuffix("."))
    return "Open on X" if note.is_used else "Open on X, left out"


def status_badge(status: CrowdStatus | None) -> str:
    """Markdown of what X's raters have made of a note so far."""
    if status is None:
        return badge("gray", "", NO_STATUS)
    return badge(STATUS_COLOURS[status], "", STATUS_WORDS[status])


def in_ratings(ratings: Ratings) -> str:
    """Markdown of a note's ratings by level and its commonest tags."""
    if not ratings.count:
        return "No ratings known"
    words = (
        f"{plural(ratings.count, '1 rating', '{n:,} ratings')}: {ratings.helpful} helpful, "
        f"{ratings.somewhat_helpful} somewhat helpful, {ratings.not_helpful} not helpful"
    )
    tags = sorted(ratings.tags.items(), key=lambda pair: (-pair[1], pair[0]))[:_MAX_TAGS]
    said = ", ".join(f"“{escaped(tag_words(tag) or tag, 60)}” {number}" for tag, number in tags)
    return f"{words} · {said}" if said else words
