"""Readers' suggestions on a note, and what became of each; on the Supernote page and on the Draft page."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from crowdnotes.domain import Case, Suggestion, SuggestionAnswer
from crowdnotes.errors import InputError
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import escaped, lines
from crowdnotes.wording import say
from pages.common.components import badge, changed_pieces, first_shown, marked_text, outside_text
from pages.common.layout import SupernoteStep
from pages.common.progress import job_panel, start, under_way
from pages.common.session import act, button, notices, workspace
from pages.common.times import moment

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
        say("suggestions.title", state=_standing(case)),
        key=key,
        icon=":material/forum:",
        on_change="rerun",
    ) as fold:
        if fold.open:
            notices(_PLACE)
            suggestions(case, job)


def _standing(case: Case) -> str:
    if not case.suggestions:
        return say("suggestions.none")
    waiting = sum(item.waits for item in case.suggestions)
    if not waiting:
        return say("suggestions.answered", all=len(case.suggestions))
    return say("suggestions.waiting", all=len(case.suggestions), waiting=waiting)


def suggestions(case: Case, job: JobRecord | None) -> None:
    """Draw what was suggested with its answers, and room for more."""
    with st.empty().container():
        job_panel(case, job, _JOB)
    if case.draft is not None:
        outside_text(case.draft.text, look="note", key=f"commented-{case.id}-{case.draft.sha256[:12]}")
    waiting = [item for item in case.suggestions if item.waits]
    if waiting and case.decision is None:
        _by_model(case, len(waiting), busy=under_way(job))
    newest = [*waiting, *(item for item in reversed(case.suggestions) if not item.waits)]
    first = first_shown(len(newest), _A_PAGE, f"suggestions-page-{case.id}")
    for item in newest[first : first + _A_PAGE]:
        _suggestion(case, item)
    if case.decision is None:
        _more(case)
    elif not case.suggestions:
        st.caption(say("suggestions.decided"))


def _by_model(case: Case, waiting: int, *, busy: bool) -> None:
    if not workspace().engine.uses_language_model:
        st.caption(say("suggestions.no_model"))
        return
    label, about = say("suggestions.by_model", n=waiting), say("suggestions.by_model_about")
    button(label, "answer-all", _PLACE, partial(start, case, _JOB), icon="forum", disabled=busy, help=about)


def _suggestion(case: Case, item: Suggestion) -> None:
    with st.container(border=True, gap="xsmall", key=f"suggestion-{item.id}"):
        state = (
            badge("orange", "hourglass_top", say("suggestions.waits"))
            if item.waits
            else badge("gray", "", say("suggestions.resolved", name=item.resolved_by))
            if item.answer is None
            else badge(_COLOURS[item.answer], "", item.answer.in_words)
        )
        by = say("suggestions.by", name=escaped(item.by, 60), when=moment(item.at))
        st.markdown(f"**{item.id}** {state} :small[:gray[{by}]]")
        outside_text(item.text, look="quote", key=f"suggestion-text-{case.id}-{item.id}")
        if item.answer is not None:
            when = f", {moment(item.answered_at)}" if item.answered_at else ""
            st.markdown(f"{escaped(item.reason)} :small[:gray[{escaped(item.answered_by, 60)}{when}]]")
            _what_changed(case, item)
        if case.decision is None:
            label = say("suggestions.answer" if item.answer is None else "suggestions.change_answer")
            with st.expander(label, key=f"answer-{case.id}-{item.id}", icon=":material/reply:"):
                answer_form(case, item, _PLACE)


def _what_changed(case: Case, item: Suggestion) -> None:
    """Its words, and the two texts where both are still known."""
    if item.changed:
        st.markdown(f":material/edit_note: {say('suggestions.changed', what=escaped(item.changed))}")
    if item.changed and item.became is None:
        st.caption(f":orange[:material/info: {say('suggestions.same_words')}]")
        return
    texts = {draft.sha256: draft.text for draft in (*case.revisions, *((case.draft,) if case.draft else ()))}
    before, after = texts.get(item.about), texts.get(item.became or "")
    if before is not None and after is not None:
        marked_text(changed_pieces(before, after)[1], look="small", key=f"became-{case.id}-{item.id}")


def answer_form(case: Case, item: Suggestion, place: str) -> None:
    """The fields of an answer; `place` is where on the page it stands, and is told what is wrong with it."""
    key = f"reply-{place}-{case.id}-{item.id}"
    with st.form(f"form-{key}", border=False):
        st.segmented_control(
            say("suggestions.yours"),
            list(SuggestionAnswer),
            default=item.answer,
            format_func=lambda answer: str(answer.value),
            key=f"{key}-answer",
        )
        st.text_input(
            say("suggestions.why"),
            value=item.reason,
            key=f"{key}-reason",
            placeholder=say("suggestions.why_example"),
        )
        st.text_input(
            say("suggestions.what_changed"),
            value=item.changed,
            key=f"{key}-changed",
            placeholder=say("suggestions.what_changed_example"),
        )
        st.form_submit_button(
            say("suggestions.save"), icon=":material/save:", on_click=_answer, args=(case, item, key, place)
        )


def _answer(case: Case, item: Suggestion, key: str, place: str) -> None:
    state = st.session_state
    answer, reason, changed = state[f"{key}-answer"], state[f"{key}-reason"] or "", state[f"{key}-changed"] or ""

    def save() -> None:
        if answer is None:
            raise InputError(say("suggestions.choose"))
        workspace().service.answer_suggestion(case.id, item.id, answer, reason, changed=changed)

    act(place, save)


def _more(case: Case) -> None:
    key = f"suggest-{case.id}"
    with st.form(f"form-{key}", border=False):
        st.text_area(
            say("suggestions.add_text"),
            key=f"{key}-text",
            height=90,
            placeholder=say("suggestions.add_example"),
        )
        with st.expander(say("suggestions.or_file"), icon=":material/upload_file:"):
            st.file_uploader(say("suggestions.file"), type=["txt", "csv", "md"], key=_upload_key(key))
        name = workspace().actor.name
        st.text_input(say("suggestions.who"), value=name, key=f"{key}-by", help=say("suggestions.who_help"))
        st.form_submit_button(say("suggestions.add"), icon=":material/add_comment:", on_click=_add, args=(case, key))


def _add(case: Case, key: str) -> None:
    state = st.session_state
    file: UploadedFile | None = state.get(_upload_key(key))
    by = state[f"{key}-by"] or ""

    def add() -> None:
        service = workspace().service
        of_file = service.lines_in_file(file.getvalue()) if file is not None else []
        service.suggest(case.id, [*lines(state[f"{key}-text"] or ""), *of_file], said_by=by)
        state[f"{key}-text"] = ""
        state[f"{key}-uploads"] = state.get(f"{key}-uploads", 0) + 1

    act(_PLACE, add)


def _upload_key(key: str) -> str:
    return f"{key}-file-{st.session_state.get(f'{key}-uploads', 0)}"
