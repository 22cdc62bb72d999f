"""Readers' suggestions on a note, and the answer to each; on the Supernote page and on the Draft page."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from crowdnotes.cases.blinding import is_something_hidden
from crowdnotes.cases.suggestions import answer_suggestion, is_seen_changed, suggest
from crowdnotes.domain import Case, Suggestion, SuggestionAnswer
from crowdnotes.errors import InputError
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import escaped, lines
from crowdnotes.text.table_files import lines_of
from crowdnotes.wording import plural
from pages.common.components import badge, changed_pieces, first_shown, marked_text, outside_text
from pages.common.layout import SupernoteStep
from pages.common.progress import job_panel, start, under_way
from pages.common.session import button, cases, keep_typed, notices, run_action, workspace
from pages.common.times import moment

if TYPE_CHECKING:
    from streamlit.typing import UploadedFile

_NOTICE_AREA = SupernoteStep.SUGGESTIONS.value
_JOB_KIND = "suggestions"
_COLOUR_BY_ANSWER = {SuggestionAnswer.YES: "green", SuggestionAnswer.NO: "gray", SuggestionAnswer.IN_PART: "orange"}
_PAGE_SIZE = 10


def suggestions_fold(case: Case | None, job: JobRecord | None) -> None:
    """Draw them folded; nothing while there is no note."""
    if case is None or case.draft is None:
        return
    key = f"suggestions-{case.id}"
    st.session_state[key] = bool(st.session_state.get(key))  # with another label it stays as it was
    with st.expander(
        f"Comments and suggestions: {_summarise_suggestions(case)}",
        key=key,
        icon=":material/forum:",
        on_change="rerun",
    ) as fold:
        if fold.open:
            notices(_NOTICE_AREA)
            suggestions(case, job)


def _summarise_suggestions(case: Case) -> str:
    if not case.suggestions:
        return "others' are hidden" if is_something_hidden(case) else "none yet"
    waiting = sum(item.waits for item in case.suggestions)
    if not waiting:
        return f"{len(case.suggestions)}, all answered"
    return f"{len(case.suggestions)}, {waiting} waiting for an answer"


def suggestions(case: Case, job: JobRecord | None) -> None:
    """Draw what was suggested with its answers, and a box for more."""
    with st.empty().container():
        job_panel(case, job, _JOB_KIND)
    if case.draft is not None:
        outside_text(case.draft.text, look="note", key=f"commented-{case.id}-{case.draft.sha256[:12]}")
    waiting = [item for item in case.suggestions if item.waits]
    if waiting and case.decision is None:
        _draw_answer_all_button(case, len(waiting), busy=under_way(job))
    newest = [*waiting, *(item for item in reversed(case.suggestions) if not item.waits)]
    first = first_shown(len(newest), _PAGE_SIZE, f"suggestions-page-{case.id}")
    for item in newest[first : first + _PAGE_SIZE]:
        _draw_suggestion(case, item)
    if case.decision is None:
        _draw_suggestion_form(case)
    elif not case.suggestions:
        st.caption("Reopen the case on the Draft page to add suggestions.")


def _draw_answer_all_button(case: Case, waiting: int, *, busy: bool) -> None:
    if not workspace().engine.uses_language_model:
        st.caption("You answer. Where a suggestion is right, change the note first.")
        return
    label = plural(waiting, "Let the AI answer 1 suggestion", "Let the AI answer {n} suggestions")
    about = "It changes the note where a suggestion is right. Undo brings yours back."
    button(label, "answer-all", _NOTICE_AREA, partial(start, case, _JOB_KIND), icon="forum", disabled=busy, help=about)


def _draw_suggestion(case: Case, item: Suggestion) -> None:
    with st.container(border=True, gap="xsmall", key=f"suggestion-{item.id}"):
        state = (
            badge("orange", "hourglass_top", "waiting for an answer")
            if item.waits
            else badge("gray", "", f"resolved by {item.resolved_by}")
            if item.answer is None
            else badge(_COLOUR_BY_ANSWER[item.answer], "", item.answer.as_text)
        )
        by = f"by {escaped(item.by, 60)}, {moment(item.at)}"
        st.markdown(f"**{item.id}** {state} :small[:gray[{by}]]")
        outside_text(item.text, look="quote", key=f"suggestion-text-{case.id}-{item.id}")
        if item.answer is not None:
            when = f", {moment(item.answered_at)}" if item.answered_at else ""
            st.markdown(f"{escaped(item.reason)} :small[:gray[{escaped(item.answered_by, 60)}{when}]]")
            _draw_answered_change(case, item)
        if case.decision is None:
            label = "Answer" if item.answer is None else "Change the answer"
            with st.expander(label, key=f"answer-{case.id}-{item.id}", icon=":material/reply:"):
                answer_form(case, item, _NOTICE_AREA)


def _draw_answered_change(case: Case, item: Suggestion) -> None:
    """Its words, and the two texts where both are still known."""
    if item.changed:
        st.markdown(f":material/edit_note: Changed: {escaped(item.changed)}")
    if item.changed and item.became is None:
        st.caption(":orange[:material/info: The note stayed the same.]")
        return
    texts = {draft.sha256: draft.text for draft in (*case.revisions, *((case.draft,) if case.draft else ()))}
    before, after = texts.get(item.about), texts.get(item.became or "")
    if before is not None and after is not None:
        marked_text(changed_pieces(before, after)[1], look="small", key=f"became-{case.id}-{item.id}")


def answer_form(case: Case, item: Suggestion, place: str) -> None:
    """Draw the fields of an answer, its errors below them; `place` is where on the page it is."""
    key = f"reply-{place}-{case.id}-{item.id}"
    why = f"One sentence for {'the moderator' if item.owed else 'the person who asked'}"
    what = "Change the note first. Leave this empty where you did not."
    if is_seen_changed(item, case.draft):
        st.caption("The note has changed since this comment. If you answer “Changed”, you need not write more.")
        what = "Optional"
    with st.form(f"form-{key}", border=False):
        st.segmented_control(
            "Your answer",
            list(SuggestionAnswer),
            default=item.answer,
            format_func=lambda answer: answer.as_text.capitalize(),
            key=f"{key}-answer",
        )
        st.text_input(
            "Why",
            value=item.reason,
            key=f"{key}-reason",
            placeholder=why,
        )
        st.text_input(
            "What changed in the note",
            value=item.changed,
            key=f"{key}-changed",
            placeholder=what,
        )
        st.form_submit_button("Save the answer", icon=":material/save:", on_click=_save_answer, args=(case, item, key))
    notices(key)


def _save_answer(case: Case, item: Suggestion, key: str) -> None:
    state = st.session_state
    answer, reason, changed = state[f"{key}-answer"], state[f"{key}-reason"] or "", state[f"{key}-changed"] or ""

    def save() -> Case:
        if answer is None:
            raise InputError("Choose whether you changed the note.")
        return cases().apply(case.id, answer_suggestion, item.id, answer, reason, changed=changed)

    run_action(key, lambda: keep_typed({"Why": reason, "What changed in the note": changed}, save))


def _draw_suggestion_form(case: Case) -> None:
    key = f"suggest-{case.id}"
    with st.form(f"form-{key}", border=False):
        st.text_area(
            "Suggestions, one on each line",
            key=f"{key}-text",
            height=90,
            placeholder="Say when the trial was done.\nThe second link needs a login.",
        )
        with st.expander("Or a file", icon=":material/upload_file:"):
            st.file_uploader("One on each line (TXT or CSV)", type=["txt", "csv", "md"], key=_upload_key(key))
        name = workspace().actor.name
        st.text_input("Who says so", value=name, key=f"{key}-by")
        st.form_submit_button("Add", icon=":material/add_comment:", on_click=_add_suggestions, args=(case, key))


def _add_suggestions(case: Case, key: str) -> None:
    state = st.session_state
    file: UploadedFile | None = state.get(_upload_key(key))
    by, typed = state[f"{key}-by"] or "", state[f"{key}-text"] or ""

    def save() -> Case:
        of_file = lines_of(file.getvalue()) if file is not None else []
        return cases().apply(case.id, suggest, [*lines(typed), *of_file], said_by=by)

    def add() -> None:
        keep_typed({"Suggestions": typed}, save)
        state[f"{key}-text"] = ""
        state[f"{key}-uploads"] = state.get(f"{key}-uploads", 0) + 1

    run_action(_NOTICE_AREA, add)


def _upload_key(key: str) -> str:
    return f"{key}-file-{st.session_state.get(f'{key}-uploads', 0)}"
