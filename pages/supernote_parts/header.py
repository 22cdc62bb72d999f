"""The strip on top of the Supernote page: its steps with the state of each, the engine and its cost, and the post."""

from __future__ import annotations

from functools import partial

import streamlit as st

from crowdnotes.bridging.thresholds import THRESHOLDS
from crowdnotes.cases import intake
from crowdnotes.cases.export import is_demonstration
from crowdnotes.domain import Candidate, Case, SupernoteWork
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import escaped, exact, in_figures
from crowdnotes.wording import plural
from pages.common.components import outside_text
from pages.common.engine_panel import engine_panel
from pages.common.layout import Area, area, in_a_line, phone_tabs
from pages.common.progress import under_way
from pages.common.session import button, cases, keep_typed, notices, show_case

_POST_NOTICE_AREA = "supernote-post"
_MAX_POST_CHARACTERS = 150  # characters of the post in its one line
_LABEL_BY_TAB = {
    Area.POST: "Post",
    Area.SOURCES: "Notes",
    Area.NOTE: "Result",
    Area.DECIDE: "More",
}


def is_stale(work: SupernoteWork) -> bool:
    """Return whether other notes are used than those that the newest round was made from."""
    return bool(work.rounds and (work.changed or work.left_out))


def draw_header(case: Case, work: SupernoteWork, job: JobRecord | None) -> None:
    """Draw the steps, the engine and the post. On a phone the tabs take their place, and the post is one of them."""
    with st.container(key="strip", gap="xxsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="steps"):
            st.markdown(in_a_line(_list_steps(case, work)), width="content")
            st.space("stretch")
            engine_panel(case)
            if _has_unlinked_draft(case) and st.button(
                "Open in Draft", key="to-draft", type="tertiary", icon=":material/edit_note:"
            ):
                st.switch_page("pages/draft.py", query_params={"case": case.id})
            new = "New supernote"
            st.button(new, key="new", icon=":material/add:", type="tertiary", on_click=show_case, args=(None,))
        made = case.finished_round
        best = made.winning if made else None
        signs = {
            Area.SOURCES: f"{len(work.used)}/{len(work.notes)}",
            Area.NOTE: "✓" if best and not _is_below_line(best) else "",
        }
        phone_tabs(case, {name: signs.get(name, "") for name in Area}, _LABEL_BY_TAB)
        if is_demonstration(case):
            st.warning(
                "The post, its notes and all their ratings are invented. Do not post anything from it.",
                title="An example.",
                icon=":material/school:",
            )
        with area(Area.POST):
            notices(_POST_NOTICE_AREA)
            words = (
                f"“{escaped(case.post.text, _MAX_POST_CHARACTERS)}”"
                if case.post.text
                else ":orange[The text of the post is missing]"
            )
            key = f"post-fold-{case.id}"
            st.session_state[key] = bool(st.session_state.get(key, not case.post.text))
            with st.expander(words, key=key, icon=":material/article:", on_change="rerun") as fold:
                if fold.open:
                    _draw_post(case, busy=under_way(job))


def _has_unlinked_draft(case: Case) -> bool:
    """Return whether there is a draft that the button below the winner does not open."""
    made = case.finished_round
    winner = made.winning if made is not None else None
    opened_below = winner is not None and case.draft is not None and winner.sha256 == case.draft.sha256
    return case.draft is not None and (case.decision is not None or not opened_below)


def _is_below_line(winner: Candidate) -> bool:
    """Return whether the simulated readers give it less than X needs, so that it gets no tick."""
    score = winner.score
    return score is not None and not score.means_nothing and score.intercept < THRESHOLDS.helpful_intercept


def _list_steps(case: Case, work: SupernoteWork) -> list[tuple[str, bool, str]]:
    made = case.finished_round
    winner = made.winning if made is not None else None
    stale = " :orange[notes changed since]" if is_stale(work) else ""
    counted = ""
    if made is not None:
        counted = f"{len(made.passed)} of {len(made.candidates)} passed" + stale
    score = ""
    line = THRESHOLDS.helpful_intercept
    below = winner is not None and _is_below_line(winner)
    if winner is not None and winner.score is not None and not winner.score.means_nothing:
        score = f"{in_figures(winner.score.intercept, line)} ({line:.2f} needed)"
    if winner is not None and winner.not_run:
        score += f" :orange[{plural(len(winner.not_run), '1 check not run', '{n} checks not run')}]"
    return [
        ("Notes", bool(work.used), f"{len(work.used)} of {len(work.notes)} used"),
        ("Drafts", made is not None and not stale, counted),
        ("Best", winner is not None and not below, score),
        ("Decide", case.decision is not None, case.decision.kind.as_text if case.decision else ""),
    ]


def _draw_post(case: Case, *, busy: bool) -> None:
    if case.post.url:
        st.caption(exact(case.post.url))
    if case.post.text:
        outside_text(case.post.text, look="post", key=f"supernote-post-{case.id}")
        return
    st.caption(
        ":orange[:material/short_text: Not checked (NOT RUN): whether a note answers the post, as its text is missing.]"
    )
    if case.decision is None:
        key = f"words-of-{case.id}"
        st.text_area("Text of the post", key=key, height=90, placeholder="Paste the text of the post")
        save = partial(_save_post_text, case, key)
        button("Add the text", f"save-{key}", _POST_NOTICE_AREA, save, icon="save", disabled=busy)


def _save_post_text(case: Case, key: str) -> None:
    text = st.session_state.get(key) or ""
    keep_typed({"Text of the post": text}, partial(intake.edit_post, cases(), case.id, text, url=case.post.url))
