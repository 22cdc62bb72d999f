"""The first step of a supernote: the post, the notes that it has, and which of them are used."""

from __future__ import annotations

from functools import partial

import streamlit as st

from crowdnotes.demonstration import example_with_notes
from crowdnotes.domain import Case, Classification, CrowdStatus, ExistingNote, Ratings, SupernoteWork
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import count, escaped, exact
from crowdnotes.text.note_rules import tag_words
from pages.view.components import badge, first_shown, outside_text
from pages.view.notes_input import forget_notes, keep_faults, notes_fields, notes_given, tell_faults
from pages.view.progress import under_way
from pages.view.session import act, author, button, show_case, workspace
from pages.view.steps import StepState, StepView, SupernoteStep, step

_PLACE = SupernoteStep.NOTES.value
_NEW = "new-supernote"
_A_PAGE = 10
_TAGS = 3
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


def notes_step(case: Case | None, job: JobRecord | None) -> None:
    """Draw the step: a form for a new case, the notes as rows for one under way."""
    work = case.supernote if case is not None else None
    with step(case, _view(work)) as is_open:
        if case is None or work is None:
            _new()
            return
        no_note_needed(case)
        if is_open:
            tell_faults(case.id)
            _post(case, busy=under_way(job))
            _rows(case, work, busy=under_way(job))


def _view(work: SupernoteWork | None) -> StepView:
    if work is None:
        return StepView(SupernoteStep.NOTES, StepState.ACTIVE, "Bring the post and the notes that people wrote on it")
    used, of = len(work.used), count(len(work.notes), "note")
    state = StepState.DONE if work.rounds and not work.changed and not work.left_out else StepState.ACTIVE
    return StepView(SupernoteStep.NOTES, state, f"{of}, {used} used")


def no_note_needed(case: Case) -> None:
    """What raters have said against any note at all; before anything is written."""
    said = workspace().service.no_note_needed(case)
    if said:
        st.warning(
            f"{escaped(said)} Ask first whether there should be a note; “No note needed” on the Draft page is a "
            "result too.",
            title="Raters have said that no note is needed.",
            icon=":material/front_hand:",
        )


# --- a new one ---


def _new() -> None:
    st.text_area(
        "Text of the post",
        key=f"{_NEW}-text",
        height=110,
        placeholder="Paste the words of the post as they stand on X",
        help="May stay empty where its address is given. Whether the note answers the post can then not be checked.",
        persist_state="session",
    )
    st.text_input(
        "Address of the post on X (optional)",
        key=f"{_NEW}-url",
        type="url",
        placeholder="https://x.com/…/status/…",
        persist_state="session",
    )
    notes_fields(_NEW)
    with st.container(horizontal=True, gap="small"):
        button("Read the notes", "read-notes", _PLACE, _create, icon="notes", type="primary")
        about = "An invented post with six invented notes, which link to pages of our own"
        button("Try an example", "supernote-example", _PLACE, _example, icon="school", type="tertiary", help=about)


def _create() -> None:
    state = st.session_state
    text, url = state[f"{_NEW}-text"] or "", (state[f"{_NEW}-url"] or "").strip() or None
    notes, faults = notes_given(_NEW, url)
    case = workspace().service.create_supernote(text, notes=notes, url=url, by=author())
    state[f"{_NEW}-text"] = state[f"{_NEW}-url"] = ""
    forget_notes(_NEW)
    keep_faults(case.id, faults)
    show_case(case.id)


def _example() -> None:
    example = example_with_notes()
    case = workspace().service.create_supernote(
        example.post.text, notes=example.notes, url=example.post.url, by=author()
    )
    show_case(case.id)


# --- those there are ---


def _post(case: Case, *, busy: bool) -> None:
    if case.post.url:
        st.caption(exact(case.post.url))
    if case.post.text:
        outside_text(case.post.text, look="post", key=f"supernote-post-{case.id}")
        return
    st.caption(
        ":orange[:material/short_text: Without the post's words nobody checks whether a note answers it: NOT RUN.]"
    )
    if case.decision is None:
        key = f"words-of-{case.id}"
        st.text_area("The words of the post", key=key, height=90, placeholder="Paste them as they stand on X")
        save = partial(_save_words, case, key)
        button("Add the words", f"save-{key}", _PLACE, save, icon="save", disabled=busy)


def _save_words(case: Case, key: str) -> None:
    workspace().service.edit_post(case.id, st.session_state.get(key) or "", author(), url=case.post.url)


def _rows(case: Case, work: SupernoteWork, *, busy: bool) -> None:
    for remark in workspace().service.remarks_on_notes(case):
        st.caption(f":orange[:material/info:] {escaped(remark, 300)}")
    st.caption(
        "Eligible, and ticked at first, are notes that call the post misleading and on which X has not decided, as far "
        "as is known. Tick another, or untick one: the choice is yours."
    )
    first = first_shown(len(work.notes), _A_PAGE, f"notes-page-{case.id}")
    for note in work.notes[first : first + _A_PAGE]:
        _row(case, note, busy=busy)


def _row(case: Case, note: ExistingNote, *, busy: bool) -> None:
    state, key = st.session_state, f"use-note-{case.id}-{note.id}"
    state[key] = note.is_used
    choose = partial(_choose, case, note, key)
    with st.container(border=True, gap="xsmall", key=f"given-{note.id}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            closed = busy or case.decision is not None
            st.checkbox(f"Use {note.id}", key=key, on_change=act, args=(_PLACE, choose), disabled=closed)
            st.markdown(_badges(note), width="content")
        outside_text(note.text, look="plain", key=f"given-text-{case.id}-{note.id}")
        st.markdown(f":small[:gray[{in_ratings(note.ratings)}]]")


def _choose(case: Case, note: ExistingNote, key: str) -> None:
    """Against the rule only where the person says otherwise than the rule does."""
    wanted = bool(st.session_state[key])
    by_rule = not note.why_not_eligible
    workspace().service.choose_note(case.id, note.id, None if wanted == by_rule else wanted, author())


def _badges(note: ExistingNote) -> str:
    told = [status_badge(note.status)]
    if note.classification is Classification.NOT_MISLEADING:
        told.append(badge("gray", "thumb_up", "says: not misleading"))
    if note.why_not_eligible:
        told.append(f":small[:gray[Not eligible: {escaped(note.why_not_eligible)}]]")
    else:
        told.append(f":small[:gray[Eligible{'' if note.is_used else ', left out'}]]")
    return " ".join(told)


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
        f"{count(ratings.count, 'rating')}: {ratings.helpful} helpful, {ratings.somewhat_helpful} somewhat helpful, "
        f"{ratings.not_helpful} not helpful"
    )
    tags = sorted(ratings.tags.items(), key=lambda pair: (-pair[1], pair[0]))[:_TAGS]
    said = ", ".join(f"{escaped(_tag_words(tag), 60)} {number}" for tag, number in tags)
    return f"{words} · {said}" if said else words


def _tag_words(tag: str) -> str:
    return f"not helpful: {tag_words(tag)}" if tag.startswith("notHelpful") else tag_words(tag) or tag
