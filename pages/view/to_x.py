"""To X by its API, where that is set up: X's score before approval; what is sent, the act, and what became of it."""

from __future__ import annotations

from functools import partial

import streamlit as st

from crowdnotes.cases.export import is_demonstration
from crowdnotes.domain import Act, Case, OnXState
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import say
from pages.common.session import button, notices, workspace
from pages.common.times import moment

_PLACE = "to-x"


def score_of_x(case: Case) -> None:
    """What X makes of the note as it is, and the way to ask; nothing where X is not set up."""
    x = workspace().x
    if x is None or case.draft is None or not _offered(case):
        return
    with st.container(key="x-score", gap="xsmall"):
        notices(_PLACE)
        score = x.score(case)
        if score is None:
            button(say("to_x.ask_score"), "x-evaluate", _PLACE, partial(x.evaluate, case.id), icon="speed")
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
        notices(_PLACE)
        sent = x.sent(case)
        if sent is None:
            if x.test_mode:
                st.info(say("to_x.test_about"), title=say("to_x.test"))
            else:
                st.warning(say("to_x.public_about"), title=say("to_x.public"))
            send = partial(x.submit, case.id, case.draft.sha256)
            label = say("to_x.send_test") if x.test_mode else say("to_x.send")
            button(label, "x-send", _PLACE, send, icon="send")
            return
        ask = partial(x.follow, case.id)
        if sent.state is OnXState.OPEN:
            st.warning(say("to_x.open_about", when=moment(sent.at)), title=say("to_x.open"))
            with st.container(horizontal=True):
                button(say("to_x.ask_arrived"), "x-ask", _PLACE, ask, icon="help", type="primary")
                button(say("to_x.again"), "x-again", _PLACE, partial(x.submit, case.id, case.draft.sha256), icon="send")
            return
        mode = say("to_x.sent_test") if sent.test_mode else say("to_x.sent")
        st.markdown(say("to_x.sent_at", mode=mode, note=escaped(sent.note_id), when=moment(sent.at)))
        if sent.text_sha256 != case.draft.sha256:
            st.warning(say("to_x.sent_other"))
        if sent.status:
            st.markdown(say("to_x.status", status=escaped(x.in_words(sent))))
        button(say("to_x.ask_status"), "x-ask", _PLACE, ask, icon="refresh")


def _offered(case: Case) -> bool:
    practice = case.recorded_answers or is_demonstration(case)
    return not practice and workspace().may(Act.SEND_TO_X, case)
