"""The author's side of the desk: send a case to the moderators, see what came back and what changed since."""

from __future__ import annotations

from functools import partial

import streamlit as st

from crowdnotes.cases import blinding, moderation
from crowdnotes.cases.permissions import why_read_only
from crowdnotes.domain import Act, Case, DeskState, Suggestion
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import plural
from pages.common.components import badge, changed_pieces, marked_text
from pages.common.session import announce, button, cases, expander, keep_typed, notices, run_action, workspace
from pages.common.times import moment
from pages.draft_parts.suggestions import answer_form

_NOTICE_AREA, _SEND_NOTICE_AREA = "submission", "submit"
_SENT = "Sent to the moderators."
_COLOUR_BY_DESK_STATE = {
    DeskState.SUBMITTED: "blue",
    DeskState.IN_REVIEW: "violet",
    DeskState.RETURNED: "orange",
    DeskState.DECIDED: "green",
}


def draw_submission(case: Case) -> None:
    """Draw the case's state with the moderators; nothing where one person works alone."""
    if not workspace().settings.has_desk:
        return
    with st.container(key="submission", gap="small"):
        state = case.desk_state
        if state is not DeskState.DRAFTING:
            st.markdown(badge(_COLOUR_BY_DESK_STATE[state], "", state.as_text))
            if workspace().may(Act.REVIEW, case):
                params = {"case": case.id}
                st.page_link(
                    "pages/queue.py", label="Back to the queue", icon=":material/arrow_back:", query_params=params
                )
        notices(_NOTICE_AREA)
        if state is DeskState.RETURNED:
            _draw_return_message(case)
        if not workspace().may(Act.SUBMIT, case):
            if why := why_read_only(case, cases().actor):  # another person's case
                st.caption(why)
        elif state in (DeskState.SUBMITTED, DeskState.IN_REVIEW):
            lease = case.desk.lease
            st.caption(
                f"{escaped(lease.holder.name, 40)} is reviewing it, so nobody can change it now."
                if lease is not None
                else "If you change it, moderators must read it again."
            )


def draw_versions(case: Case) -> None:
    """Draw the texts that the note had, folded, where one person does not work alone."""
    if workspace().settings.has_desk and len(moderation.versions(case)) > 1:
        expander("Versions of the note", f"versions-{case.id}", "difference", partial(_compare_versions, case))


def _draw_return_message(case: Case) -> None:
    """Who sent it back and why, and what was changed since."""
    back = case.desk.returns[-1]
    owed = [item for item in case.suggestions if item.owed]
    words = "" if any(it.text == back.words for it in owed) else back.words
    st.markdown(f"**{escaped(back.by.name, 40)}** sent this back on {moment(back.at)}. {escaped(words)}".rstrip())
    for item in owed:
        st.markdown(comment_in_words(case, item))
        if item.waits:
            with st.expander("Answer this comment", key=f"answer-owed-{item.id}", icon=":material/reply:"):
                answer_form(case, item, _NOTICE_AREA)
    left = len(moderation.open_comments(case))
    if blinding.is_something_hidden(case) and blinding.must_ask_for_comments(case, cases().actor):
        st.caption("Other moderators' comments are hidden until you have read this note to its end.")
        show = partial(cases().apply, case.id, moderation.show_comments)
        about = "On record. Where two moderators read each case, your own reading does not count after that."
        button("Show the comments", "show-comments", _NOTICE_AREA, show, icon="visibility", help=about)
    if left:
        st.caption(plural(left, "Answer 1 comment, then send it again.", "Answer {n} comments, then send it again."))
    if case.draft is not None and back.note and back.note != case.draft.text:
        st.caption("Changed since:")
        marked_text(changed_pieces(back.note, case.draft.text)[1], look="small", key=f"since-{case.id}")


def comment_in_words(case: Case, item: Suggestion) -> str:
    """Return a moderator's comment in a line: its subject, whether the note still has those words, its answer."""
    note = case.draft.text if case.draft else ""
    about = " · ".join(filter(None, (item.evidence_id, f"“{escaped(item.words, 120)}”" if item.words else "")))
    sign = ":orange[:material/hourglass_top:]" if item.waits else ":green[:material/check:]"
    pieces = [f"{sign} **{item.id}**", f":gray[{about}]" if about else "", escaped(item.text)]
    if item.words and item.words not in note:
        pieces.append(":small[:gray[These words are no longer in the note.]]")
    if item.answer is not None:
        pieces.append(f":small[→ **{item.answer.as_text}** {escaped(item.reason)}]")
    elif item.resolved_by:
        pieces.append(f":small[:gray[resolved by {escaped(item.resolved_by, 40)}]]")
    return " ".join(filter(None, pieces))


def draw_submit_form(case: Case) -> None:
    """Draw the button that sends the case to the moderators, with a message; of a sent one, what takes it back."""
    if not workspace().settings.has_desk:
        return
    notices(_SEND_NOTICE_AREA)
    if case.decision is not None or not workspace().may(Act.SUBMIT, case):
        return
    if case.desk_state in (DeskState.SUBMITTED, DeskState.IN_REVIEW):
        with st.container(key="sent", horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f":green[:material/check:] {_SENT}", width="content")
            back = partial(cases().apply, case.id, moderation.withdraw)
            button("Take it back", "withdraw", _SEND_NOTICE_AREA, back, icon="undo", type="tertiary")
        return
    key = f"message-{case.id}"

    def send() -> None:
        message = st.session_state.get(key) or ""
        keep_typed({"Message to the moderators": message}, partial(moderation.submit_case, cases(), case.id, message))
        announce(_SENT)

    with st.container(key="submit-form", horizontal=True, gap="small"):
        label = "Message to the moderators"
        st.text_input(label, key=key, placeholder=f"{label} (optional)", label_visibility="collapsed")
        st.button(
            "Send to the moderators",
            key="submit",
            type="primary" if case.assessment_is_current else "secondary",
            icon=":material/send:",
            on_click=run_action,
            args=(_SEND_NOTICE_AREA, send),
            disabled=bool(moderation.open_comments(case)),
        )


def _compare_versions(case: Case) -> None:
    """Draw two texts of the note side by side, the words marked that the other does not have."""
    known = moderation.versions(case)

    def named(number: int) -> str:
        at, by, text = known[number]
        return " · ".join(filter(None, (f"Version {number + 1}", moment(at), by, text[:40])))

    places = list(range(len(known)))
    first = st.selectbox("From", places, index=len(known) - 2, format_func=named, key=f"from-{case.id}")
    second = st.selectbox("To", places, index=len(known) - 1, format_func=named, key=f"to-{case.id}")
    before, after = changed_pieces(known[first][2], known[second][2])
    left, right = st.columns(2)
    with left:
        marked_text(before, look="small", key=f"before-{case.id}-{first}-{second}")
    with right:
        marked_text(after, look="small", key=f"after-{case.id}-{first}-{second}")
