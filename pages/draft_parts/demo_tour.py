"""The presenter's strip on top of a demonstration: what is shown, in one sentence, and the way on and back."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from crowdnotes.demo_tour import (
    DEMONSTRATION_REASON,
    TourAction,
    TourPlace,
    advance,
    before_eyes,
    begin,
    has_its_note,
    jury_change,
    next_action,
    presented,
    unopened,
)
from crowdnotes.domain import Case, GateStatus
from crowdnotes.evidence.demo_pages import example_of
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import in_figures
from crowdnotes.wording import fill
from pages.common.components import spotlight
from pages.common.engine_panel import PRESENTER, use_own_engine_panel
from pages.common.layout import Area, go_to
from pages.common.progress import under_way, wait_for_recorded
from pages.common.session import DEMO, button, cases, notices, show_case, workspace
from pages.draft_parts.approval import start_new_note
from pages.draft_parts.reader import open_source

_PLACES = list(TourPlace)
# Where a phone goes, and what is framed, the first of it brought into view: classes of page parts.
_FRAME_BY_PLACE = {
    TourPlace.POST: (Area.POST, [".st-key-strip"]),
    TourPlace.SOURCES: (Area.SOURCES, [".st-key-claim", ".st-key-rows"]),
    TourPlace.READING: (Area.SOURCES, [".st-key-reader"]),
    TourPlace.NOTES: (Area.NOTE, [".st-key-proposed"]),
    TourPlace.TEMPTING: (Area.NOTE, [".st-key-support", "[class*='st-key-gates-']"]),
    TourPlace.MENDED: (Area.NOTE, [".st-key-support", "[class*='st-key-gates-']"]),
    TourPlace.JURY: (Area.NOTE, ["[class*='st-key-jury-']"]),
    TourPlace.DECISION: (Area.DECIDE, [".st-key-area-decide", ".st-key-ways-out"]),
}

_SENTENCE_BY_PLACE = {
    TourPlace.POST: "A post makes three claims about a lake. A volunteer brings it here with two links.",
    TourPlace.SOURCES: "The full claim, and next to each source the one sentence that matters.",
    TourPlace.READING: "A person reads each source and decides whether to use it. Without that no note is approved.",
    TourPlace.NOTES: (
        "The AI writes three notes from these sources only, compares them and improves the best: the fourth. Each "
        "sentence is linked to its source."
    ),
    TourPlace.TEMPTING: "A stronger note is tempting.",
    TourPlace.MENDED: "The sourced note says what one sample shows, and no more.",
    TourPlace.JURY: "Simulated readers show whether people who usually disagree would both find the note helpful.",
    TourPlace.DECISION: (
        "Simulated readers do not say whether the note is true. A person decides: approve, no note needed, not enough "
        "evidence, or reject."
    ),
}
_WHY_IT_FAILS = "It fails: “prove” and “every” say more than one sample at one beach shows."
_WHY_A_GOOD_NOTE_MAY_NOT = (
    "A true note can miss the line: both sides have to find it helpful, and one sample leaves questions."
)
# What Next does.
_LABEL_BY_ACTION = {
    TourAction.FIND: "Find evidence",
    TourAction.OPEN: "Open {then}",
    TourAction.USE_AND_OPEN: "Use {used}, open {then}",
    TourAction.USE_AND_WRITE: "Use {used}, write notes",
    TourAction.TEMPT: "Try a stronger note",
    TourAction.MEND: "Take the sourced note",
    TourAction.SHOW_JURY: "Next",
    TourAction.DECIDE: "Tick the tags",
    TourAction.APPROVE: "Approve",
    TourAction.SHOW: "Next",
    TourAction.END: "Start your own",
}
_LABEL_WITHOUT_USE = {TourAction.USE_AND_OPEN: "Open {then}", TourAction.USE_AND_WRITE: "Write notes"}


def begin_if_asked() -> None:
    """Begin a demonstration when the address asks for one (`?demo`)."""
    if DEMO in st.query_params and "case" not in st.query_params:
        present_example()


def present_example() -> None:
    """Begin a case of its own for the demonstration, and the strip at its first step."""
    case = begin(workspace(), presented())
    show_case(case.id)
    _show_place(case, TourPlace.POST)


def draw_presenter(case: Case, job: JobRecord | None) -> None:
    """Draw the strip; in a demonstration that is not being presented, what its answers are and the way back to it."""
    if not case.recorded_answers:
        return
    is_presented = example_of(case) == presented()
    place = _read_current_place() if is_presented else None
    key = "recorded" if place is None else "presenter"
    with st.container(key=key, horizontal=True, vertical_alignment="center", gap="small"):
        if place is None:
            st.caption(
                ":material/history: **Practice.** An AI gave these answers earlier. For another text or source you "
                "need an AI of your own.",
                width="stretch",
            )
            use_own_engine_panel(case, "strip")
        else:
            about = "Invented pages, and answers that an AI gave earlier. All else runs now."
            st.badge("recorded answers", icon=":material/history:", color="violet", help=about)
        if place is None and is_presented:
            show = partial(_show_place, case, TourPlace.POST)
            button("Present", "present", PRESENTER, show, type="tertiary", icon="slideshow")
        if place is not None:
            _draw_presenter_strip(case, place, busy=under_way(job))
    notices(PRESENTER)
    if place is not None:  # whenever what Next does is another, something else is on show
        token = f"{case.id} {place} {_label_next_action(case, next_action(case, place))} {under_way(job)}"
        is_over = place is TourPlace.DECISION and case.decision is not None
        framed = [".st-key-area-decide"] if is_over else _FRAME_BY_PLACE[place][1]
        spotlight(framed, token, heart=".st-key-sides-of-jury", opens=place is TourPlace.JURY)


def _draw_presenter_strip(case: Case, place: TourPlace, *, busy: bool) -> None:
    action = next_action(case, place)
    is_over = place is TourPlace.DECISION and case.decision is not None
    step = "Done." if is_over else f"{_PLACES.index(place) + 1} of {len(_PLACES)}"
    opened = len(case.evidence) - len(unopened(case))
    if place is TourPlace.READING and opened:  # one step, a screen for each source
        step = f"{step}, source {opened} of {len(case.evidence)}"
    st.markdown(f"**{step}** {_describe_place(case, place)}", width="stretch")
    with st.container(key="presenter-acts", horizontal=True, gap="xsmall", width="content"):
        back = partial(_show_place, case, _PLACES[max(0, _PLACES.index(place) - 1)])
        closed = place is TourPlace.POST or busy
        look: dict[str, Any] = {"type": "tertiary", "shortcut": "Left", "disabled": closed}
        button("Back", "present-back", PRESENTER, back, **look)
        # At the end no key that was pressed once too often leads away.
        on = start_new_note if action is TourAction.END else partial(_advance_tour, case.id, place)
        look = {"type": "primary", "shortcut": None if action is TourAction.END else "Right", "disabled": busy}
        button("Working…" if busy else _label_next_action(case, action), "present-next", PRESENTER, on, **look)
        leave = partial(st.query_params.pop, DEMO, None)
        button("Leave", "present-leave", PRESENTER, leave, type="tertiary", icon="close")


def _read_current_place() -> TourPlace | None:
    """Return the place in the page's address; None when nobody presents."""
    said = st.query_params.get(DEMO, "")
    return _PLACES[int(said) - 1] if said.isdecimal() and 1 <= int(said) <= len(_PLACES) else None


def _show_place(case: Case, place: TourPlace) -> None:
    """Put a place on the screen, and the passage that belongs to it."""
    st.query_params[DEMO] = str(_PLACES.index(place) + 1)
    go_to(_FRAME_BY_PLACE[place][0])
    if place is TourPlace.READING and case.evidence:
        open_source(case, (before_eyes(case) or case.evidence)[0].id)


def _advance_tour(case_id: str, place: TourPlace) -> None:
    then, job = advance(workspace(), cases().get(case_id), place)
    case = cases().get(case_id)
    if job is not None:
        wait_for_recorded(case, job)
        case = cases().get(case_id)
    _show_place(case, then)


def _label_next_action(case: Case, action: TourAction) -> str:
    """Return the label of Next, which says what it will do in the presenter's name."""
    used, then = (", ".join(item.id for item in items) for items in (before_eyes(case), unopened(case)[:1]))
    label = _LABEL_BY_ACTION[action] if used else _LABEL_WITHOUT_USE.get(action, _LABEL_BY_ACTION[action])
    return fill(label, used=used, then=then)


def _describe_place(case: Case, place: TourPlace) -> str:
    if place is TourPlace.DECISION and case.decision is not None:
        who = "In this demonstration the button decided; in real work a person does."
        is_pressed = case.decision.reason == DEMONSTRATION_REASON
        return f"{who if is_pressed else 'You decided.'} Every step is on record. A demonstration is never posted."
    if not has_its_note(case, place):
        note = "the stronger note" if place is TourPlace.TEMPTING else "the sourced note"
        changed = f"The note was changed: this step is about {note}."
        return changed if case.decision else f"{changed} The button takes it back."
    if place in {TourPlace.TEMPTING, TourPlace.MENDED}:
        return f"{_SENTENCE_BY_PLACE[place]} {_describe_checks(case, place)}".strip()
    change = jury_change(case) if place is TourPlace.JURY else None
    if change is not None:
        tempting, chosen = change
        said = f"Simulated readers give this note {chosen.outlook}"
        if chosen.shown_of_100 is not None and tempting.shown_of_100 is not None:
            said += (
                f": X shows about {chosen.shown_of_100} in 100 like it, {tempting.shown_of_100} like the tempting one"
            )
        else:
            line = chosen.helpful_line
            scores = (in_figures(verdict.note_intercept, line) for verdict in (chosen, tempting))
            said += ": score {}, the tempting one {}; {:.2f} is needed".format(*scores, line)
        return f"{said}." if chosen.reaches_line else f"{said}. {_WHY_A_GOOD_NOTE_MAY_NOT}"
    return _SENTENCE_BY_PLACE[place]


def _describe_checks(case: Case, place: TourPlace) -> str:
    """Return what the checks say of the note on the page; "" until they have run."""
    if case.assessment is None or not case.assessment_is_current:
        return ""
    statuses = {result.status for result in case.assessment.gates}
    if place is TourPlace.TEMPTING:
        return _WHY_IT_FAILS if GateStatus.FAIL in statuses else ""
    return "All three checks pass." if statuses == {GateStatus.PASS} else "Not every check passed: see below."
