"""The presenter's strip on top of a demonstration: what is shown, in one sentence, and the way on and back."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from crowdnotes.demo_tour import Act, Place, advance, before_eyes, begin, jury_change, next_act, presented, unopened
from crowdnotes.domain import Case
from crowdnotes.evidence.demo_pages import example_of
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import in_figures
from crowdnotes.wording import say
from pages.common.components import spotlight
from pages.common.engine_panel import PRESENTER, own_engine
from pages.common.layout import Area, go_to
from pages.common.progress import under_way
from pages.common.session import DEMO, button, notices, show_case, workspace
from pages.draft_parts.reader import open_source

_PLACES = list(Place)
# Where a phone goes, and what is framed, the first of it brought into view: classes of page parts.
_SHOWN = {
    Place.POST: (Area.POST, [".st-key-strip"]),
    Place.SOURCES: (Area.SOURCES, [".st-key-claim", ".st-key-rows"]),
    Place.READING: (Area.SOURCES, [".st-key-reader"]),
    Place.NOTES: (Area.NOTE, [".st-key-proposed"]),
    Place.TEMPTING: (Area.NOTE, [".st-key-support", "[class*='st-key-gates-']"]),
    Place.MENDED: (Area.NOTE, [".st-key-support", "[class*='st-key-gates-']"]),
    Place.JURY: (Area.NOTE, ["[class*='st-key-jury-']"]),
    Place.DECISION: (Area.DECIDE, [".st-key-ways-out"]),
}

_SENTENCES = {
    Place.POST: "present.post",
    Place.SOURCES: "present.sources",
    Place.READING: "present.reading",
    Place.NOTES: "present.notes",
    Place.TEMPTING: "present.tempting",
    Place.MENDED: "present.mended",
    Place.JURY: "present.jury",
    Place.DECISION: "present.decision",
}
# What Next does: the second where nothing lies open that it would take for use.
_LABELS = {
    Act.FIND: ("present.act_find", "present.act_find"),
    Act.OPEN: ("present.act_open", "present.act_open"),
    Act.USE_AND_OPEN: ("present.act_use_and_open", "present.act_open"),
    Act.USE_AND_WRITE: ("present.act_use_and_write", "present.act_write"),
    Act.TEMPT: ("present.act_tempt", "present.act_tempt"),
    Act.MEND: ("present.act_mend", "present.act_mend"),
    Act.SHOW_JURY: ("present.act_show", "present.act_show"),
    Act.DECIDE: ("present.act_decide", "present.act_decide"),
    Act.APPROVE: ("present.act_approve", "present.act_approve"),
    Act.SHOW: ("present.act_show", "present.act_show"),
    Act.END: ("present.act_end", "present.act_end"),
}


def begin_if_asked() -> None:
    """Begin a demonstration when the address asks for one (`?demo`)."""
    if DEMO in st.query_params and "case" not in st.query_params:
        present_example()


def present_example() -> None:
    """A case of its own for the demonstration, and the strip at its first step."""
    case = begin(workspace(), presented())
    show_case(case.id)
    _show(case, Place.POST)


def presenter(case: Case, job: JobRecord | None) -> None:
    """Draw the strip; in a demonstration that is not being presented, what its answers are and the way back to it."""
    if not case.recorded_answers:
        return
    is_presented = example_of(case) == presented()
    place = _place() if is_presented else None
    key = "recorded" if place is None else "presenter"
    with st.container(key=key, horizontal=True, vertical_alignment="center", gap="small"):
        st.badge(say("present.recorded"), icon=":material/history:", color="violet", help=say("present.recorded_help"))
        if place is None:
            st.caption(say("present.recorded_about"), width="stretch")
            own_engine(case, "strip")
        if place is None and is_presented:
            show = partial(_show, case, Place.POST)
            button(say("present.present"), "present", PRESENTER, show, type="tertiary", icon="slideshow")
        if place is not None:
            _strip(case, place, busy=under_way(job))
    notices(PRESENTER)
    if place is not None:  # whenever what Next does is another, something else is on show
        token = f"{case.id} {place} {_label(case, next_act(case, place))} {under_way(job)}"
        is_over = place is Place.DECISION and case.decision is not None
        framed = [".st-key-area-decide"] if is_over else _SHOWN[place][1]
        spotlight(framed, token, heart=".st-key-sides-of-jury", opens=place is Place.JURY)


def _strip(case: Case, place: Place, *, busy: bool) -> None:
    act = next_act(case, place)
    step = say("present.step", n=_PLACES.index(place) + 1, all=len(_PLACES))
    opened = len(case.evidence) - len(unopened(case))
    if place is Place.READING and opened:  # one step, a screen for each source
        step = say("present.step_source", step=step, n=opened, all=len(case.evidence))
    st.markdown(f"**{step}** {_sentence(case, place)}", width="stretch")
    with st.container(key="presenter-acts", horizontal=True, gap="xsmall", width="content"):
        back = partial(_show, case, _PLACES[max(0, _PLACES.index(place) - 1)])
        closed = place is Place.POST or busy
        look: dict[str, Any] = {"type": "tertiary", "shortcut": "Left", "disabled": closed}
        button(say("present.back"), "present-back", PRESENTER, back, **look)
        # At the end no key that was pressed once too often leads away.
        on = partial(show_case, None) if act is Act.END else partial(_next, case.id, place)
        look = {"type": "primary", "shortcut": None if act is Act.END else "Right", "disabled": busy}
        button(say("present.working") if busy else _label(case, act), "present-next", PRESENTER, on, **look)
        leave = partial(st.query_params.pop, DEMO, None)
        button(say("present.leave"), "present-leave", PRESENTER, leave, type="tertiary", icon="close")


def _place() -> Place | None:
    """As the address tells; None when nobody presents."""
    said = st.query_params.get(DEMO, "")
    return _PLACES[int(said) - 1] if said.isdecimal() and 1 <= int(said) <= len(_PLACES) else None


def _show(case: Case, place: Place) -> None:
    """Put a place on the screen, and the passage that belongs to it."""
    st.query_params[DEMO] = str(_PLACES.index(place) + 1)
    go_to(_SHOWN[place][0])
    if place is Place.READING and case.evidence:
        open_source(case, (before_eyes(case) or case.evidence)[0].id)


def _next(case_id: str, place: Place) -> None:
    service = workspace().service
    then, _ = advance(workspace(), service.get(case_id), place)
    _show(service.get(case_id), then)


def _label(case: Case, act: Act) -> str:
    """What Next does, in words: what it does in the presenter's name is said before it is done."""
    used, then = (", ".join(item.id for item in items) for items in (before_eyes(case), unopened(case)[:1]))
    return say(_LABELS[act][not used], used=used, then=then)


def _sentence(case: Case, place: Place) -> str:
    if place is Place.DECISION and case.decision is not None:
        return say("present.decided")
    change = jury_change(case) if place is Place.JURY else None
    if change is not None:
        line = change[1].helpful_line
        was, now = (in_figures(verdict.note_intercept, line) for verdict in change)
        return say("present.jury_change", before=was, after=now, needed=f"{line:.2f}")
    return say(_SENTENCES[place])
