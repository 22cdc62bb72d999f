"""The decision: the fields of X's form, approval or another ending, and what follows.

Where X's API is set up, also X's score before approval and the sending of an approved note.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from crowdnotes.cases import actions, approval, moderation
from crowdnotes.cases.export import class_label, form_labels, is_demonstration, post_url, to_json, to_markdown
from crowdnotes.cases.tag_suggestions import suggest_tags
from crowdnotes.domain import Act, Case, Classification, DecisionKind, Obstacle, ObstacleKind, OnXState
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import escaped, exact
from crowdnotes.text.note_rules import tags_of
from crowdnotes.wording import plural
from pages.common.components import outside_text
from pages.common.layout import Area, StepName, go_to, scroll_target
from pages.common.progress import under_way
from pages.common.session import button, cases, download, notices, run_action, show_errors, unsaved_words, workspace
from pages.common.times import moment
from pages.draft_parts.approval import (
    kept_field,
    kept_words,
    lead,
    lead_to_what_is_left,
    leading,
    left_to_do,
    problems,
    reasons,
    start_new_note,
    typed_words,
)

_X_NOTICE_AREA = "to-x"


def score_of_x(case: Case) -> None:
    """Draw what X makes of the note as it is, and the way to ask; nothing where X is not set up."""
    x = workspace().x
    if x is None or case.draft is None or not _can_send_to_x(case):
        return
    with st.container(key="x-score", gap="xsmall"):
        notices(_X_NOTICE_AREA)
        score = x.score(case)
        if score is None:
            button("Ask X for its score", "x-evaluate", _X_NOTICE_AREA, partial(x.evaluate, case.id), icon="speed")
        else:
            st.markdown(f"X's claim-opinion score: **{score:.2f}**")
        st.caption("Does it keep to the claim and to facts? Higher is better. Nobody sees the note.")


def send_to_x(case: Case) -> None:
    """Draw what of an approved case will be sent, or its state on X; nothing where X is not set up."""
    x = workspace().x
    if x is None or case.draft is None or not _can_send_to_x(case):
        return
    with st.container(key="send-to-x", border=True, gap="small"):
        st.markdown("**Or send it to X by its API**")
        notices(_X_NOTICE_AREA)
        sent = x.sent(case)
        if sent is None:
            if x.test_mode:
                st.info("X gets the note, class and reasons above, and shows the note to nobody.", title="Test mode")
            else:
                st.warning(
                    "X gets the note, class and reasons above, and proposes the note under the post.",
                    title="For all to see",
                )
            send = partial(x.submit, case.id, case.draft.sha256)
            label = "Send to X as a test" if x.test_mode else "Send to X"
            button(label, "x-send", _X_NOTICE_AREA, send, icon="send")
            return
        ask = partial(x.follow, case.id)
        if sent.state is OnXState.OPEN:
            st.warning(
                f"Sending began {moment(sent.at)}. It is not sent again before X was asked.",
                title="Not known whether it arrived",
            )
            with st.container(horizontal=True):
                button("Ask X whether it arrived", "x-ask", _X_NOTICE_AREA, ask, icon="help", type="primary")
                button(
                    "Ask X, and send it if it did not",
                    "x-again",
                    _X_NOTICE_AREA,
                    partial(x.submit, case.id, case.draft.sha256),
                    icon="send",
                )
            return
        mode = "Sent to X as a test" if sent.test_mode else "Sent to X"
        st.markdown(f":green[:material/check:] **{mode}**: note {escaped(sent.note_id)}, {moment(sent.at)}")
        if sent.text_sha256 != case.draft.sha256:
            st.warning("Another version of the note was sent.")
        if sent.status:
            st.markdown(f"On X: **{escaped(x.as_text(sent))}**")
        button("Ask X for its status", "x-ask", _X_NOTICE_AREA, ask, icon="refresh")


def _can_send_to_x(case: Case) -> bool:
    practice = case.recorded_answers or is_demonstration(case)
    return not practice and workspace().may(Act.SEND_TO_X, case)


_NOTICE_AREA = StepName.DECIDE.value
_BUTTON_BY_DECISION = {
    DecisionKind.APPROVED: ("Approve the note", "check"),
    DecisionKind.NOT_NEEDED: ("No note needed", "comments_disabled"),
    DecisionKind.INSUFFICIENT_EVIDENCE: ("Not enough evidence", "search_off"),
    DecisionKind.REJECTED: ("Reject", "block"),
}
_LABEL_BY_CLASS = {
    Classification.MISLEADING: "Misleading",
    Classification.NOT_MISLEADING: "Not misleading",
}
_COMMENT_FIELD = "word"  # the field of the person's comment on the decision


def decide_area(case: Case, job: JobRecord | None, waits: Sequence[Obstacle]) -> None:
    """Draw what is left before approval, and X's form; of a decided case what follows it."""
    scroll_target(Area.DECIDE)
    notices(_NOTICE_AREA)
    if case.decision is not None:
        hand_off(case)
        return
    if case.draft is not None:
        with st.container(key="decide-note"):  # on a phone the note's own tab is out of sight
            outside_text(case.draft.text, look="note", key=f"decide-note-{case.id}")
        problems(case, [item for item in waits if item.id.kind is not ObstacleKind.NOT_YOURS], job)
        _draw_note_form(case)
        score_of_x(case)


def standing(case: Case) -> str:
    """Markdown of how it was decided, or that it is not, for the strip above."""
    if case.decision is None:
        return "not decided"
    colour = {"approved": "green", "rejected": "red"}.get(case.decision.kind.value, "gray")
    return f":{'orange' if case.decision.overrides else colour}-badge[{case.decision.as_text}]"


def _draw_note_form(case: Case) -> None:
    """Draw the class and the tags that X's form asks for, as chips; a bulb marks what the words suggest."""
    state, chosen = st.session_state, f"class-{case.id}"
    state[chosen] = case.classification
    st.segmented_control(
        "On X you will be asked: is the post misleading?",
        list(Classification),
        required=True,
        format_func=lambda value: _LABEL_BY_CLASS[value],
        key=chosen,
        on_change=run_action,
        args=(_NOTICE_AREA, lambda: cases().apply(case.id, actions.set_classification, state[chosen])),
    )
    if case.classification is Classification.NOT_MISLEADING:
        st.caption("X never shows such a note on the post.")
    draw_tags(case, _NOTICE_AREA)


def draw_tags(case: Case, place: str, key_sign: str = "") -> None:
    """Draw the tags alone; what goes wrong is shown at `place`. The first suggestion's label begins with `key_sign`."""
    state, key, labels = st.session_state, f"tags-{case.id}-{case.classification.name}", tags_of(case.classification)
    suggested = {item.tag: item.why for item in suggest_tags(case)}
    state[key] = [tag for tag in labels if tag in case.tags]

    def tick() -> None:
        """Only what changed here: another tab may have ticked others meanwhile."""
        for tag in labels:
            if (tag in state[key]) != (tag in case.tags):
                cases().apply(case.id, actions.tick_tag, tag, ticked=tag in state[key])

    ask = (
        "Why? Choose at least one" if case.classification is Classification.MISLEADING else "Why? Choose any that apply"
    )
    st.pills(
        ask,
        list(labels),
        selection_mode="multi",
        format_func=lambda tag: labels[tag],
        key=key,
        on_change=run_action,
        args=(place, tick),
    )
    waiting = [(tag, why) for tag, why in suggested.items() if tag not in case.tags]
    for number, (tag, why) in enumerate(waiting):
        label = f"{key_sign if number == 0 else ''}Suggested: {labels[tag]} ({escaped(why)})"
        take = partial(cases().apply, case.id, actions.tick_tag, tag, ticked=True)
        button(label, f"suggested-{number}", place, take, icon="lightbulb", type="tertiary")


def draw_decision_buttons(case: Case, job: JobRecord | None, waits: Sequence[Obstacle]) -> None:
    """One button to approve, which says what is left and leads there; the other three ends are as near, and quieter.

    For a person whose case another has to decide, only that.
    """
    if case.decision is not None:
        return
    if waits and waits[0].id.kind is ObstacleKind.NOT_YOURS:
        st.caption(waits[0].sentence)
        return
    left = left_to_do(case, waits)
    busy = case.draft is not None and under_way(job)
    if case.draft is None:
        approve = "Approve: needs a note"
    elif busy:
        approve = "Approve: work is running"
    else:
        approve = (
            plural(len(left), "Approve: {n} thing left", "Approve: {n} things left") if left else "Approve the note"
        )
    waiting = case.draft is None or bool(left)
    with st.container(key="ends", gap="xxsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="ways-out"):
            for kind, (name, icon) in _BUTTON_BY_DECISION.items():
                key, decide = f"decide-{kind.value.replace(' ', '-')}", partial(_save_decision, case, kind, waits)
                if kind is DecisionKind.APPROVED:
                    main = "secondary" if case.draft is None else "primary"  # without a note others come first
                    look = {"type": main, "disabled": busy, "width": "stretch"}
                    go_on = partial(lead_to_what_is_left, case, waits) if waiting else decide
                    button(approve, key, _NOTICE_AREA, go_on, icon="checklist" if waiting else icon, **look)
                else:
                    button(name, key, _NOTICE_AREA, decide, icon=icon, type="tertiary")
        with st.expander("Comment", type="compact", expanded=bool(kept_words(case, _COMMENT_FIELD))):
            # A fragment, as nothing else on the page depends on the comment.
            st.fragment(kept_field)(case, _COMMENT_FIELD, "Comment (optional, kept in the record)")
    leading()


def _save_decision(case: Case, kind: DecisionKind, waits: Sequence[Obstacle]) -> None:
    seen = case.draft.sha256 if case.draft else None
    approval.decide_case(
        cases(), case.id, kind, reason=kept_words(case, _COMMENT_FIELD), overrides=reasons(case, waits), seen=seen
    )
    if kind is DecisionKind.APPROVED:  # the note comes into view, which is to be copied
        go_to(Area.DECIDE)
    else:
        lead(Area.DECIDE, ".st-key-decided")
    job = workspace().runner.latest(case.id)
    if job is not None and under_way(job):  # nobody waits for it any more
        workspace().cancel(job)


def hand_off(case: Case) -> None:
    """After the decision: what to do on X, the files to keep, and the way back."""
    decision = case.decision
    if decision is None:
        return
    leading()
    with st.container(key="decided"):
        by = f":small[:gray[by {escaped(decision.by, 40)}, {moment(decision.at)}]]"
        if decision.kind is DecisionKind.APPROVED:
            st.markdown(f"{standing(case)} {by}")
            _draw_approved_note(case)
        else:
            st.markdown(f"**Case closed: {decision.kind.as_text}.** Nothing is posted. {by}")
        label = "Now with a post of your own" if is_demonstration(case) else "Next post"
        with st.container(horizontal=True):
            look = {"type": "primary", "icon": "arrow_forward"}
            if _is_decided_for_another(case):
                _draw_next_case_button(**look)
            else:
                button(label, "next-post", _NOTICE_AREA, start_new_note, **look)
            if workspace().may(Act.REOPEN, case):
                button("Reopen the case", "reopen", _NOTICE_AREA, partial(_reopen_case, case), icon="lock_open")
    _draw_unsaved_words(case)
    if decision.reason:
        by = escaped(decision.by, 40)
        other = f"Rejected by {by}" if decision.kind is DecisionKind.REJECTED else f"Comment by {by}"
        whose = "Your comment" if decision.by_key == workspace().actor.key else other
        st.markdown(f"{whose}: {escaped(decision.reason)}")
    for item in decision.overrides:
        why = f"Approved although **{item.obstacle.although(exact, escaped)}**. Reason: {escaped(item.reason)}"
        st.markdown(f":orange[:material/priority_high:] {why}")
    _draw_downloads(case)


def _is_decided_for_another(case: Case) -> bool:
    """Return whether this moderator has the case from the queue."""
    is_own = case.owner_key == workspace().actor.key
    was_sent = workspace().settings.has_desk and case.desk.submitted_at is not None
    return was_sent and not is_own and workspace().may(Act.REVIEW, case)


def _draw_next_case_button(**look: Any) -> None:
    """Draw the button that claims the next case of the queue and shows it there; the list where nothing waits."""
    if st.button("Next case for me", key="next-post", **{**look, "icon": f":material/{look['icon']}:"}):
        with show_errors():
            following = moderation.claim_next(cases())
            st.switch_page("pages/queue.py", query_params={"case": following.id} if following else None)


def _draw_unsaved_words(case: Case) -> None:
    """Draw what this person typed towards a decision that another person made meanwhile."""
    decision = case.decision
    if decision is None or decision.by_key == workspace().actor.key:
        return
    said = typed_words(case)
    if said:
        keep = partial(_reopen_case, case) if workspace().may(Act.REOPEN, case) else None
        unsaved_words(case.id, said, "Someone else decided the case.", _NOTICE_AREA, keep)


def _draw_approved_note(case: Case) -> None:
    if is_demonstration(case):
        st.warning("Its links are made up.", title="Practice only: do not post this note.")
    else:
        st.markdown("**1.** Copy the note")
    outside_text(case.draft.text if case.draft else "", look="note", key=f"approved-{case.id}", copy=True)
    if is_demonstration(case):
        return
    st.markdown("**2.** On X, choose “Write a Community Note” under the post, then choose")
    st.markdown(f":primary[:material/radio_button_checked:] {escaped(class_label(case))}")
    for label in form_labels(case):
        st.markdown(f":primary[:material/check_box:] {escaped(label)}")
    url = post_url(case)
    if url:
        st.link_button("Open the post on X", url, icon=":material/open_in_new:")
        send_to_x(case)
    else:
        st.caption("No address: find the post on X yourself.")


def _draw_downloads(case: Case) -> None:
    with st.container(horizontal=True):
        about = "Markdown, to read and keep"
        download("Download record", lambda _: to_markdown(case), f"note-{case.id}.md", "text/markdown", help=about)
        about = "JSON, for programs"
        download("Download data", lambda _: to_json(case), f"note-{case.id}.json", "application/json", help=about)


def _reopen_case(case: Case) -> None:
    cases().apply(case.id, actions.reopen)
    go_to(Area.DECIDE)
