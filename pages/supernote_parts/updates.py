"""Later: whether new notes and ratings make a better one, and whether it is worth the change."""

from __future__ import annotations

from functools import partial

import streamlit as st

from crowdnotes.cases import supernote_actions
from crowdnotes.domain import Case, CrowdStatus, PostedNote, Ratings, SupernoteWork
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import plural
from pages.common.components import outside_text
from pages.common.layout import Area, SupernoteStep, go_to
from pages.common.progress import start, under_way
from pages.common.session import button, cases, keep_typed, run_action
from pages.common.times import moment
from pages.supernote_parts.candidates import JOB
from pages.supernote_parts.given_notes import (
    NO_STATUS,
    STATUS_WORDS,
    forget_notes,
    in_ratings,
    keep_faults,
    notes_fields,
    notes_given,
    status_badge,
    typed_notes,
)
from pages.supernote_parts.header import is_stale

_NOTICE_AREA = SupernoteStep.WATCH.value
_LABEL_BY_LEVEL = {
    "helpful": "helpful",
    "somewhat_helpful": "somewhat",
    "not_helpful": "not helpful",
}
_LABEL_BY_SIDE = {
    "unknown_side": "Side not known",
    "negative": "Side A",
    "positive": "Side B",
}


def watch_fold(case: Case, work: SupernoteWork, job: JobRecord | None) -> None:
    """Draw it, folded; nothing before candidates were made."""
    if case.finished_round is None:
        return
    with st.expander(
        "Newer notes and ratings", key=f"watch-{case.id}", icon=":material/visibility:", on_change="rerun"
    ) as fold:
        if fold.open:
            _draw_update(case, work, job)
            _draw_posted_note(case, work)
            _draw_newer_notes_form(case, busy=under_way(job))


def _draw_update(case: Case, work: SupernoteWork, job: JobRecord | None) -> None:
    """Draw what changed, and whether a better note exists, would be shown and is worth the change."""
    found = supernote_actions.supernote_update(case)
    st.markdown(f"**Since the drafts were written:** {escaped(found.changes)}.")
    st.caption("This compares the notes that you add below. We do not ask X.")
    if work.newest is not None and work.newest.notes != work.notes and case.decision is None:
        stale = is_stale(work)
        button(
            _label_remake_button(work) if stale else "Choose again with the new ratings",
            "watch-again",
            _NOTICE_AREA,
            partial(_remake_candidates, case),
            icon="diversity_2",
            type="primary",
            disabled=under_way(job),
            help="Drafts without words from these notes stay." if stale else "This writes no new drafts.",
        )
        return
    for said, sign in ((found.better, "compare_arrows"), (found.crossing, "flag")):
        if said:
            st.markdown(f":material/{sign}: {escaped(said)}")
    if not found.why:
        return
    title = {True: "Worth replacing", False: "Leave it as it is", None: "You have to decide"}[found.replace]
    show = st.success if found.replace else st.info
    icon = {True: ":material/published_with_changes:", False: ":material/front_hand:", None: ":material/help:"}
    show(f"{escaped(found.why)} A changed text loses its ratings.", title=title, icon=icon[found.replace])


def _label_remake_button(work: SupernoteWork) -> str:
    changed, left_out = ", ".join(work.changed), ", ".join(work.left_out)
    if changed and left_out:
        return f"Write drafts for {changed} and without {left_out}"
    return f"Write drafts for {changed}" if changed else f"Write drafts without {left_out}"


def _remake_candidates(case: Case) -> None:
    start(case, JOB)
    go_to(Area.NOTE)


# --- the note as it was posted ---


def _draw_posted_note(case: Case, work: SupernoteWork) -> None:
    posted = work.posted
    st.markdown("**The posted note**")
    if posted is not None:
        outside_text(posted.text, look="note", key=f"posted-{case.id}-{posted.text}"[:60], copy=True)
        intercept = "" if posted.intercept is None else f" · score {posted.intercept:.2f}"
        sides = " · ".join(
            f"{label}: {in_ratings(side)}"
            for name, label in _LABEL_BY_SIDE.items()
            if (side := getattr(posted, name)) and side.count
        )
        at = f"as of {moment(posted.at)}"
        st.markdown(f"{status_badge(posted.status)} :small[:gray[{at}{intercept}]]")
        if posted.status is None:
            st.caption("You approved this text. We do not know whether it is on X: add its status.")
        st.markdown(f":small[:gray[{sides or 'No ratings known'}]]")
    label = "Update its status" if posted is not None else "The note is posted: add its status"
    with st.expander(label, key=f"posted-form-{case.id}", icon=":material/edit:"):
        _draw_posted_form(case, posted)
    if posted is not None:
        gone = partial(cases().apply, case.id, supernote_actions.set_posted, None)
        button("It is not posted", "not-posted", _NOTICE_AREA, gone, icon="close", type="tertiary")


def _draw_posted_form(case: Case, posted: PostedNote | None) -> None:
    key = f"posted-{case.id}"
    known = posted or PostedNote(text=case.draft.text if case.draft else "", at=case.updated_at)
    with st.form(f"form-{key}", border=False):
        st.text_area("Text of the posted note, with its links", value=known.text, height=110, key=f"{key}-text")
        with st.grid(2, min_column_width=240):
            st.selectbox(
                "Status on X",
                list(CrowdStatus),
                index=None if known.status is None else list(CrowdStatus).index(known.status),
                placeholder=NO_STATUS,
                format_func=STATUS_WORDS.__getitem__,
                key=f"{key}-status",
            )
            st.number_input(
                "Score (note intercept), if known",
                min_value=-2.0, max_value=2.0, step=0.01, value=known.intercept, key=f"{key}-intercept",
            )  # fmt: skip
        st.caption("How many raters chose each answer. Count each rater once.")
        for side, label in _LABEL_BY_SIDE.items():
            ratings: Ratings = getattr(known, side)
            with st.grid(3, min_column_width=95, gap="small"):
                for level, words in _LABEL_BY_LEVEL.items():
                    st.number_input(
                        f"{label}: {words}",
                        min_value=0,
                        step=1,
                        value=getattr(ratings, level),
                        key=f"{key}-{side}-{level}",
                    )
        st.form_submit_button("Save the status", icon=":material/save:", on_click=_save_posted, args=(case, key))


def _save_posted(case: Case, key: str) -> None:
    state = st.session_state
    sides = {
        side: Ratings(**{level: int(state[f"{key}-{side}-{level}"] or 0) for level in _LABEL_BY_LEVEL})
        for side in _LABEL_BY_SIDE
    }
    posted = PostedNote(
        text=(state[f"{key}-text"] or "").strip(),
        status=state[f"{key}-status"],
        intercept=state[f"{key}-intercept"],
        at=cases().now(),
        **sides,
    )
    save = partial(cases().apply, case.id, supernote_actions.set_posted, posted)
    run_action(_NOTICE_AREA, lambda: keep_typed({"The posted note": posted.text}, save))


# --- newer notes ---


def _draw_newer_notes_form(case: Case, *, busy: bool) -> None:
    key = f"watch-{case.id}"
    st.markdown("**Add newer notes and ratings**")
    st.caption("Add all notes on the post as they are now. Only new or changed notes give new drafts.")
    if case.decision is not None:
        st.caption(":orange[:material/lock_open: The case is decided. Adding notes reopens it.]")
    notes_fields(key)
    button(
        "Compare with the notes here",
        "watch-read",
        _NOTICE_AREA,
        partial(_read_newer_notes, case, key),
        icon="sync",
        disabled=busy,
    )


def _read_newer_notes(case: Case, key: str) -> None:
    notes, faults = notes_given(key, case.post.url)
    keep_typed({"The notes": typed_notes(key)}, partial(supernote_actions.update_notes, cases(), case.id, notes))
    forget_notes(key)
    keep_faults(case.id, faults)
    st.toast(plural(len(notes), "1 note read.", "{n:,} notes read."), icon=":material/sync:")
