"""Readers' suggestions on a note, and what became of each; on the Supernote page and on the Draft page."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from crowdnotes.domain import Case, Suggestion, SuggestionAnswer
from crowdnotes.errors import InputError
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import count, escaped, lines
from pages.view.components import changed_pieces, first_shown, marked_text, outside_text
from pages.view.progress import job_panel, start, under_way
from pages.view.session import act, author, button, notices, workspace
from pages.view.steps import SupernoteStep
from pages.view.times import moment

if TYPE_CHECKING:
    from streamlit.typing import UploadedFile

_PLACE = SupernoteStep.SUGGESTIONS.value
_JOB = "suggestions"
_COLOURS = {SuggestionAnswer.YES: "green", SuggestionAnswer.NO: "gray", SuggestionAnswer.IN_PART: "orange"}
_A_PAGE = 10


def suggestions_fold(case: Case | None, job: JobRecord | None) -> None:
    """Draw them folded; nothing while there is no note."""
    if case is None or case.draft is None:
        return
    key = f"suggestions-{case.id}"
    st.session_state[key] = bool(st.session_state.get(key))  # with another label it stays as it was
    with st.expander(
        f"Readers' suggestions: {_standing(case)}",
        key=key,
        icon=":material/forum:",
        on_change="rerun",
    ) as fold:
        if fold.open:
            notices(_PLACE)
            suggestions(case, job)


def _standing(case: Case) -> str:
    if not case.suggestions:
        return "none yet"
    waiting = sum(item.answer is None for item in case.suggestions)
    return f"{len(case.suggestions)}, {f'{waiting} waiting for an answer' if waiting else 'all answered'}"


def suggestions(case: Case, job: JobRecord | None) -> None:
    """Draw what was suggested with its answers, and room for more."""
    with st.empty().container():
        job_panel(case, job, _JOB)
    if case.draft is not None:
        outside_text(case.draft.text, look="note", key=f"commented-{case.id}-{case.draft.sha256[:12]}")
    waiting = [item for item in case.suggestions if item.answer is None]
    if waiting and case.decision is None:
        _by_model(case, count(len(waiting), "suggestion"), busy=under_way(job))
    newest = [*waiting, *(item for item in reversed(case.suggestions) if item.answer is not None)]
    first = first_shown(len(newest), _A_PAGE, f"suggestions-page-{case.id}")
    for item in newest[first : first + _A_PAGE]:
        _suggestion(case, item)
    if case.decision is None:
        _more(case)
    elif not case.suggestions:
        st.caption("The case is decided. Reopen it on the Draft page to take suggestions.")


def _by_model(case: Case, how_many: str, *, busy: bool) -> None:
    if not workspace().engine.uses_language_model:
        st.caption(
            "No language model is at work: the answers are yours. Change the note in its draft where one is right."
        )
        return
    about = "Each gets an answer with its reason, and the note is redrafted where one is right. Undo brings yours back."
    answer = partial(start, case, _JOB)
    button(f"Let the model answer {how_many}", "answer-all", _PLACE, answer, icon="forum", disabled=busy, help=about)


def _suggestion(case: Case, item: Suggestion) -> None:
    with st.container(border=True, gap="xsmall", key=f"suggestion-{item.id}"):
        badge = (
            ":orange-badge[:material/hourglass_top: waits for an answer]"
            if item.answer is None
            else f":{_COLOURS[item.answer]}-badge[{item.answer.value}]"
        )
        st.markdown(f"**{item.id}** {badge} :small[:gray[by {escaped(item.by, 60)}, {moment(item.at)}]]")
        outside_text(item.text, look="quote", key=f"suggestion-text-{case.id}-{item.id}")
        if item.answer is not None:
            when = f", {moment(item.answered_at)}" if item.answered_at else ""
            st.markdown(f"{escaped(item.reason)} :small[:gray[{escaped(item.answered_by, 60)}{when}]]")
            _what_changed(case, item)
        if case.decision is None:
            label = "Answer it" if item.answer is None else "Answer otherwise"
            with st.expander(label, key=f"answer-{case.id}-{item.id}", icon=":material/reply:"):
                _answer_form(case, item)


def _what_changed(case: Case, item: Suggestion) -> None:
    """Its words, and the two texts where both are still known."""
    if item.changed:
        st.markdown(f":material/edit_note: Changed: {escaped(item.changed)}")
    if item.changed and item.became is None:
        st.caption(
            ":orange[:material/info: When it was answered the note had the same words as when it was suggested.]"
        )
        return
    texts = {draft.sha256: draft.text for draft in (*case.revisions, *((case.draft,) if case.draft else ()))}
    before, after = texts.get(item.about), texts.get(item.became or "")
    if before is not None and after is not None:
        marked_text(changed_pieces(before, after)[1], look="small", key=f"became-{case.id}-{item.id}")


def _answer_form(case: Case, item: Suggestion) -> None:
    key = f"reply-{case.id}-{item.id}"
    with st.form(f"form-{key}", border=False):
        st.segmented_control(
            "Your answer",
            list(SuggestionAnswer),
            default=item.answer,
            format_func=lambda answer: str(answer.value),
            key=f"{key}-answer",
        )
        st.text_input("Why", value=item.reason, key=f"{key}-reason", placeholder="One sentence for the reader")
        st.text_input(
            "What changed in the note for it",
            value=item.changed,
            key=f"{key}-changed",
            placeholder="Needed for yes and in part; change the note first",
        )
        st.form_submit_button("Save the answer", icon=":material/save:", on_click=_answer, args=(case, item, key))


def _answer(case: Case, item: Suggestion, key: str) -> None:
    state = st.session_state
    answer, reason, changed = state[f"{key}-answer"], state[f"{key}-reason"] or "", state[f"{key}-changed"] or ""

    def save() -> None:
        if answer is None:
            raise InputError("Choose yes, no or in part.")
        workspace().service.answer_suggestion(case.id, item.id, answer, reason, author(), changed=changed)

    act(_PLACE, save)


def _more(case: Case) -> None:
    key = f"suggest-{case.id}"
    with st.form(f"form-{key}", border=False):
        st.text_area(
            "What readers suggest, one a line",
            key=f"{key}-text",
            height=90,
            placeholder="Say when the trial was done.\nThe second link needs a login.",
        )
        with st.expander("Or a file", icon=":material/upload_file:"):
            st.file_uploader("One suggestion a line (TXT or CSV)", type=["txt", "csv", "md"], key=_upload_key(key))
        st.text_input("Who says so", value=author(), key=f"{key}-by", help="Kept with each of them.")
        st.form_submit_button("Add", icon=":material/add_comment:", on_click=_add, args=(case, key))


def _add(case: Case, key: str) -> None:
    state = st.session_state
    file: UploadedFile | None = state.get(_upload_key(key))
    by = (state[f"{key}-by"] or "").strip() or author()

    def add() -> None:
        service = workspace().service
        of_file = service.lines_in_file(file.getvalue()) if file is not None else []
        service.suggest(case.id, [*lines(state[f"{key}-text"] or ""), *of_file], by)
        state[f"{key}-text"] = ""
        state[f"{key}-uploads"] = state.get(f"{key}-uploads", 0) + 1

    act(_PLACE, add)


def _upload_key(key: str) -> str:
    return f"{key}-file-{st.session_state.get(f'{key}-uploads', 0)}"
