"""The decision: what X's form asks, approval, the other endings, and what follows.

To X by its API, where that is set up: X's score before approval; what is sent, the act, and what became of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from crowdnotes.cases.export import class_label, form_labels, is_demonstration, post_url, to_json, to_markdown
from crowdnotes.domain import Act, Case, Classification, DecisionKind, Obstacle, ObstacleKind, OnXState
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import escaped, exact
from crowdnotes.text.note_rules import tags_of
from crowdnotes.wording import say
from pages.common.components import outside_text
from pages.common.layout import Area, StepName, arrival, go_to
from pages.common.progress import under_way
from pages.common.session import act, button, notices, workspace
from pages.common.times import moment
from pages.draft_parts.approval import (
    kept_field,
    kept_words,
    lead_to_what_is_left,
    leading,
    left_to_do,
    problems,
    reasons,
)

_TO_X_PLACE = "to-x"


def score_of_x(case: Case) -> None:
    """What X makes of the note as it is, and the way to ask; nothing where X is not set up."""
    x = workspace().x
    if x is None or case.draft is None or not _offered(case):
        return
    with st.container(key="x-score", gap="xsmall"):
        notices(_TO_X_PLACE)
        score = x.score(case)
        if score is None:
            button(say("to_x.ask_score"), "x-evaluate", _TO_X_PLACE, partial(x.evaluate, case.id), icon="speed")
        else:
            st.markdown(say("to_x.score", score=score))
        st.caption(say("to_x.score_about"))


def send_to_x(case: Case) -> None:
    """Of an approved case: what will be sent, or what became of it; nothing where X is not set up."""
    x = workspace().x
    if x is None or case.draft is None or not _offered(case):
        return
    with st.container(key="send-to-x", border=True, gap="small"):
        st.markdown(say("to_x.head"))
        notices(_TO_X_PLACE)
        sent = x.sent(case)
        if sent is None:
            if x.test_mode:
                st.info(say("to_x.test_about"), title=say("to_x.test"))
            else:
                st.warning(say("to_x.public_about"), title=say("to_x.public"))
            send = partial(x.submit, case.id, case.draft.sha256)
            label = say("to_x.send_test") if x.test_mode else say("to_x.send")
            button(label, "x-send", _TO_X_PLACE, send, icon="send")
            return
        ask = partial(x.follow, case.id)
        if sent.state is OnXState.OPEN:
            st.warning(say("to_x.open_about", when=moment(sent.at)), title=say("to_x.open"))
            with st.container(horizontal=True):
                button(say("to_x.ask_arrived"), "x-ask", _TO_X_PLACE, ask, icon="help", type="primary")
                button(
                    say("to_x.again"),
                    "x-again",
                    _TO_X_PLACE,
                    partial(x.submit, case.id, case.draft.sha256),
                    icon="send",
                )
            return
        mode = say("to_x.sent_test") if sent.test_mode else say("to_x.sent")
        st.markdown(say("to_x.sent_at", mode=mode, note=escaped(sent.note_id), when=moment(sent.at)))
        if sent.text_sha256 != case.draft.sha256:
            st.warning(say("to_x.sent_other"))
        if sent.status:
            st.markdown(say("to_x.status", status=escaped(x.in_words(sent))))
        button(say("to_x.ask_status"), "x-ask", _TO_X_PLACE, ask, icon="refresh")


def _offered(case: Case) -> bool:
    practice = case.recorded_answers or is_demonstration(case)
    return not practice and workspace().may(Act.SEND_TO_X, case)


_PLACE = StepName.DECIDE.value
_KINDS = {
    DecisionKind.APPROVED: ("decide.approve", "check"),
    DecisionKind.NOT_NEEDED: ("decide.not_needed", "comments_disabled"),
    DecisionKind.INSUFFICIENT_EVIDENCE: ("decide.not_enough", "search_off"),
    DecisionKind.REJECTED: ("decide.reject", "block"),
}
_CLASSES = {
    Classification.MISLEADING: "decide.misleading",
    Classification.NOT_MISLEADING: "decide.not_misleading",
}
_WORD = "word"  # the field of the person's comment on the decision


def decide_area(case: Case, job: JobRecord | None, waits: Sequence[Obstacle]) -> None:
    """What is left before approval, and X's form; of a decided case what follows it."""
    arrival(Area.DECIDE)
    notices(_PLACE)
    if case.decision is not None:
        hand_off(case)
        return
    if case.draft is not None:
        with st.container(key="decide-note"):  # on a phone the note's own tab is out of sight
            outside_text(case.draft.text, look="note", key=f"decide-note-{case.id}")
        problems(case, [item for item in waits if item.id.kind is not ObstacleKind.NOT_YOURS], job)
        _note_form(case)
        score_of_x(case)


def standing(case: Case) -> str:
    """Markdown of how it was decided, or that it is not, for the strip above."""
    if case.decision is None:
        return say("decide.open")
    colour = {"approved": "green", "rejected": "red"}.get(case.decision.kind.value, "gray")
    return f":{'orange' if case.decision.overrides else colour}-badge[{case.decision.in_words}]"


def _note_form(case: Case) -> None:
    """The class and the tags that X's form asks for, as chips; a bulb marks what the words suggest."""
    state, chosen = st.session_state, f"class-{case.id}"
    state[chosen] = case.classification
    st.segmented_control(
        say("decide.form"),
        list(Classification),
        required=True,
        format_func=lambda value: say(_CLASSES[value]),
        key=chosen,
        on_change=act,
        args=(_PLACE, lambda: workspace().service.set_classification(case.id, state[chosen])),
    )
    if case.classification is Classification.NOT_MISLEADING:
        st.caption(say("decide.never_shown"))
    _tags(case)


def _tags(case: Case) -> None:
    state, key, labels = st.session_state, f"tags-{case.id}-{case.classification.name}", tags_of(case.classification)
    suggested = {item.tag: item.why for item in workspace().service.suggested_tags(case)}
    state[key] = [tag for tag in labels if tag in case.tags]

    def tick() -> None:
        """Only what changed here: another tab may have ticked others meanwhile."""
        for tag in labels:
            if (tag in state[key]) != (tag in case.tags):
                workspace().service.tick_tag(case.id, tag, ticked=tag in state[key])

    ask = "decide.tags" if case.classification is Classification.MISLEADING else "decide.tags_optional"
    st.pills(
        say(ask),
        list(labels),
        selection_mode="multi",
        format_func=lambda tag: labels[tag],
        key=key,
        on_change=act,
        args=(_PLACE, tick),
    )
    for tag, why in suggested.items():
        if tag not in case.tags:
            said = say("decide.suggested", tag=labels[tag], why=escaped(why))
            st.markdown(f":small[:primary[:material/lightbulb:] :gray[{said}]]")


def ends(case: Case, job: JobRecord | None, waits: Sequence[Obstacle]) -> None:
    """One button to approve, which says what is left and leads there; the other three ends are as near, and quieter.

    For whom somebody else has to decide, that alone.
    """
    if case.decision is not None:
        return
    if waits and waits[0].id.kind is ObstacleKind.NOT_YOURS:
        st.caption(waits[0].sentence)
        return
    left = left_to_do(case, waits)
    busy = case.draft is not None and under_way(job)
    if case.draft is None:
        approve = say("decide.approve_no_note")
    elif busy:
        approve = say("decide.approve_busy")
    else:
        approve = say("decide.approve_left", n=len(left)) if left else say("decide.approve")
    waiting = case.draft is None or bool(left)
    with st.container(key="ends", gap="xxsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="ways-out"):
            for kind, (name, icon) in _KINDS.items():
                key, decide = f"decide-{kind.value.replace(' ', '-')}", partial(_decide, case, kind, waits)
                if kind is DecisionKind.APPROVED:
                    main = "secondary" if case.draft is None else "primary"  # without a note others come first
                    look = {"type": main, "disabled": busy, "width": "stretch"}
                    go_on = partial(lead_to_what_is_left, case, waits) if waiting else decide
                    button(approve, key, _PLACE, go_on, icon="checklist" if waiting else icon, **look)
                else:
                    button(say(name), key, _PLACE, decide, icon=icon, type="tertiary")
        with st.expander(say("decide.comment"), type="compact", expanded=bool(kept_words(case, _WORD))):
            st.fragment(kept_field)(case, _WORD, say("decide.comment_about"))  # nothing else follows from it
    leading()


def _decide(case: Case, kind: DecisionKind, waits: Sequence[Obstacle]) -> None:
    seen = case.draft.sha256 if case.draft else None
    workspace().service.decide(case.id, kind, reason=kept_words(case, _WORD), overrides=reasons(case, waits), seen=seen)
    go_to(Area.DECIDE)
    job = workspace().runner.latest(case.id)
    if job is not None and under_way(job):  # nobody waits for it any more
        workspace().cancel(job)


_ENDS = {
    DecisionKind.NOT_NEEDED: "decide.ended_not_needed",
    DecisionKind.INSUFFICIENT_EVIDENCE: "decide.ended_not_enough",
    DecisionKind.REJECTED: "decide.ended_rejected",
}


def hand_off(case: Case) -> None:
    """After the decision: what to do on X, the files to keep, and the way back."""
    decision = case.decision
    if decision is None:
        return
    st.markdown(say("decide.decided", how=standing(case), who=escaped(decision.by, 40), when=moment(decision.at)))
    if decision.kind is DecisionKind.APPROVED:
        _approved(case)
    else:
        st.markdown(say(_ENDS[decision.kind]))
    if decision.reason:
        st.markdown(say("decide.your_comment", comment=escaped(decision.reason)))
    for item in decision.overrides:
        why = say("decide.although", what=item.obstacle.although(exact), reason=escaped(item.reason))
        st.markdown(f":orange[:material/priority_high:] {why}")
    _files(case)


def _approved(case: Case) -> None:
    if is_demonstration(case):
        st.warning(say("decide.demonstration_next"), title=say("decide.demonstration"))
    else:
        st.markdown(say("decide.copy_it"))
    outside_text(case.draft.text if case.draft else "", look="note", key=f"approved-{case.id}", copy=True)
    if is_demonstration(case):
        return
    st.markdown(say("decide.on_x"))
    st.markdown(f":primary[:material/radio_button_checked:] {escaped(class_label(case))}")
    for label in form_labels(case):
        st.markdown(f":primary[:material/check_box:] {escaped(label)}")
    url = post_url(case)
    if url:
        st.link_button(say("decide.open_post"), url, icon=":material/open_in_new:", type="primary")
        send_to_x(case)
    else:
        st.caption(say("decide.no_address"))


def _files(case: Case) -> None:
    with st.container(horizontal=True):
        _file("Markdown", say("decide.markdown"), partial(to_markdown, case), f"note-{case.id}.md", "text/markdown")
        _file("JSON", say("decide.json"), partial(to_json, case), f"note-{case.id}.json", "application/json")
        if workspace().may(Act.REOPEN, case):
            button(say("decide.reopen"), "reopen", _PLACE, partial(_reopen, case), icon="lock_open")


def _reopen(case: Case) -> None:
    workspace().service.reopen(case.id)
    go_to(Area.DECIDE)


def _file(label: str, about: str, make: Callable[[], str], name: str, mime: str) -> None:
    icon = ":material/download:"
    st.download_button(label, make, name, mime, help=about, on_click="ignore", icon=icon)
