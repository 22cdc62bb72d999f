"""The head of a case of the queue: its state, who has it, and the buttons that take it and give it back."""

from __future__ import annotations

from functools import partial

import streamlit as st

from crowdnotes.cases import blinding, moderation
from crowdnotes.cases.export import is_demonstration
from crowdnotes.cases.permissions import Clock
from crowdnotes.domain import Case, DeskState
from crowdnotes.text.markdown import escaped
from pages.common.components import badge
from pages.common.layout import key_help
from pages.common.session import begin_presence, button, cases, end_presence, show_errors
from pages.common.times import clock_time

NOTICE_AREA = "validate"
HELP_KEY = {"?": [".st-key-shortcuts button"]}
_KEYS_IN_WORDS = "  \n".join(
    (
        "`n` Next case for me",
        "`w` Work on this case, or take it over",
        "`1` to `5` Judge the sentence",
        "`k` `j` Previous, next sentence",
        "`f` Keep my findings",
        "`t` Tick the suggested reason",
        "`a` Approve",
        "`d` No note needed",
        "`e` Not enough evidence",
        "`x` Reject",
        "`c` Write a comment for the author",
        "`b` Send back; first to the comment, if there is none",
        "`?` These keys",
    )
)
_KEYS_CAPTION = (
    "Keys work while you are not typing; Escape leaves a field. `1` to `5` judge at once if you have had the marked "
    "words in view. Else the first press shows them and the second judges. `a`, `b`, `d`, `e` and `x` need two "
    "presses, one right after the other; while something is left before you can approve, `a` leads there."
)
_POLL_SECONDS = 15


def queue_keys() -> None:
    """Draw the button that lists the keys of the queue."""
    key_help(_KEYS_IN_WORDS, _KEYS_CAPTION)


def next_case_button(key: str, place: str) -> None:
    """Draw the button that claims the next case; what goes wrong is shown at `place`."""
    button("Next case for me", key, place, _claim_next, icon="play_arrow", type="primary", shortcut="n")


def _claim_next() -> None:
    """Claim the next case for this person and show it; says so where nothing waits."""
    case = moderation.claim_next(cases())
    if case is None:
        st.toast("No case is waiting for you.", icon=":material/inbox:")
        back_to_queue()
    else:
        st.query_params["case"] = case.id


def back_to_queue() -> None:
    """Show the list."""
    st.query_params.pop("case", None)


def draw_head(case: Case, *, mine: bool) -> None:
    """Draw the post, the case's status, and the button to take it."""
    lease = case.desk.lease
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="validate-head"):
        button("Queue", "validate-back", NOTICE_AREA, back_to_queue, icon="arrow_back", type="tertiary")
        st.markdown(badge("green" if mine else "gray", "", _describe_case_state(case, mine=mine)), width="content")
        is_open = case.desk_state in (DeskState.SUBMITTED, DeskState.IN_REVIEW)
        if is_open and (mine or not _has_read(case)):  # who is done with it, or looks at its end, disturbs nobody
            begin_presence(case.id)
            st.fragment(_draw_other_viewers, run_every=_POLL_SECONDS)(case.id, _get_standing(case))
        else:
            end_presence("")
        st.space("stretch")
        queue_keys()
        if mine:
            button("Give it back", "release", NOTICE_AREA, partial(_release_case, case), icon="undo", type="tertiary")
        elif (label := _get_claim_label(case)) is not None:
            is_held = lease is not None and lease.holds(cases().now(Clock.DATABASE))
            claim = partial(cases().apply, case.id, moderation.take_over if is_held else moderation.claim)
            look = {"icon": "front_hand", "type": "primary"} if lease is None else {"icon": "swap_horiz"}
            button(label, "claim", NOTICE_AREA, claim, shortcut="w", **look)
        st.page_link(
            "pages/draft.py",
            label="Open in Draft",
            icon=":material/edit_note:",
            query_params={"case": case.id},
        )
    with st.container(key="validate-post"):
        st.markdown(f":small[:gray[Post:]] {escaped(case.post.text, 400)}")
    author = case.owner.name if case.owner is not None else "someone who left"
    message = f" :small[:gray[The author writes:]] {escaped(case.desk.message)}" if case.desk.message else ""
    st.markdown(f":small[:gray[Note by {escaped(author, 60)}.]]{message}")
    if is_demonstration(case):
        st.warning("Its sources are made up. Do not post this note.", title="This case is for practice.")


def _get_claim_label(case: Case) -> str | None:
    """Return the label of the button by which this person claims the case; None where they cannot."""
    if case.decision is not None or _has_read(case) or blinding.may_not_read_yet(case, cases().actor.key):
        return None
    if case.desk.lease is not None:
        return "Take over"
    return "Work on this case" if case.desk_state is DeskState.SUBMITTED else None


def _has_read(case: Case) -> bool:
    """Return whether this person has read it and others still have to: they cannot claim it again."""
    return blinding.reading_by(case, cases().actor.key) is not None and blinding.waits_for_readers(case) > 0


def draw_claim_hint(case: Case) -> None:
    """Say how this person can record what they find, or why they cannot."""
    label = _get_claim_label(case)
    if label is not None:
        st.caption(f"Press “{label}” to record what you find.")
    elif case.decision is not None:
        st.caption("This case is decided.")
    elif case.desk.state is not DeskState.SUBMITTED:
        st.caption("The author has this case now.")
    elif _has_read(case):
        st.caption("You finished your reading. Your findings stay as they are until the others have read the note.")


def _describe_case_state(case: Case, *, mine: bool) -> str:
    lease = case.desk.lease
    if case.decision is not None:
        return case.decision.as_text
    if mine and lease is not None:
        return f"yours until {clock_time(lease.until)}"
    if lease is not None and lease.holds(cases().now(Clock.DATABASE)):
        return f"{lease.holder.name} is working on this"
    return case.desk_state.as_text


def _get_standing(case: Case) -> tuple[DeskState, str | None]:
    return case.desk_state, case.desk.lease.holder.key if case.desk.lease else None


def _draw_other_viewers(case_id: str, drawn: tuple[DeskState, str | None]) -> None:
    """Draw who else has it open; draw the page again once another has claimed the case, or it has left the queue."""
    with show_errors():
        names, case = cases().note_presence(case_id), cases().get(case_id)
        if _get_standing(case) != drawn:
            st.rerun()
        holder = case.desk.lease.holder.name if case.desk.lease else ""  # the badge before names them
        for name in (name for name in names if name != holder):
            st.markdown(badge("blue", "visibility", f"{name} is looking at this"), width="content")


def draw_lost_claim(case: Case) -> None:
    """Say that another moderator has taken the case over from this one, if so."""
    if name := moderation.taken_over_by(case, cases().actor.key):
        st.warning("What you found so far is kept.", title=f"{escaped(name, 40)} took over this case.")


def _release_case(case: Case) -> None:
    cases().apply(case.id, moderation.release)
    back_to_queue()
