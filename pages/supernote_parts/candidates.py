"""The candidates of a supernote: how many, what they cost, how the making goes, and what each filter took out."""

from __future__ import annotations

from functools import partial

import streamlit as st

from crowdnotes.cases import supernote_actions
from crowdnotes.domain import Candidate, Case, FilterName, SupernoteRound, SupernoteWork
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import fill, plural
from pages.common.charts import funnel
from pages.common.components import outside_text
from pages.common.layout import Area, SupernoteStep, go_to
from pages.common.progress import job_panel, start, under_way
from pages.common.session import button, cases, run_action, workspace
from pages.supernote_parts.header import is_stale

_NOTICE_AREA = SupernoteStep.CANDIDATES.value
JOB = "supernote"


def candidates(case: Case, work: SupernoteWork, job: JobRecord | None) -> None:
    """Draw how the making goes; and what makes them, while there are none of the notes as they are used now."""
    with st.empty().container():  # its own place, so that what is below stays where it is when it goes
        job_panel(case, job, JOB)
    if case.decision is not None:
        return
    if case.finished_round is None:
        st.header("Write drafts", anchor=False)
        _draw_kept_candidates(work, busy=under_way(job))
        _draw_make_form(case, work, busy=under_way(job))
    elif is_stale(work):
        names = ", ".join((*work.changed, *work.left_out))
        st.warning(f"These notes changed since the drafts were written: {names}.", icon=":material/history:")
        _draw_make_form(case, work, busy=under_way(job))


def filters_fold(case: Case, work: SupernoteWork, job: JobRecord | None) -> None:
    """Draw what the filters left, and why it is less than asked for; folded, what each removed, and a new start."""
    made = case.finished_round
    if made is None:
        return
    st.markdown(f"**{_summarise_filters(made)}** {_name_strictest_filter(made)}")
    _draw_lost_candidates(made)
    with st.expander(
        "What each check removed", key=f"filters-{case.id}", icon=":material/filter_alt:", on_change="rerun"
    ) as fold:
        if fold.open:
            _draw_funnel(case, made)
    if case.decision is None and not is_stale(work):
        with st.expander("Write drafts again", key=f"again-{case.id}", icon=":material/diversity_2:"):
            _draw_make_form(case, work, busy=under_way(job))


def _draw_kept_candidates(work: SupernoteWork, *, busy: bool) -> None:
    """Draw what there is of a round that was stopped."""
    kept = len(work.newest.candidates) if work.newest is not None else 0
    if kept and not busy:
        st.caption(f"{plural(kept, '1 draft is', '{n} drafts are')} kept, not ranked yet.")


def _draw_make_form(case: Case, work: SupernoteWork, *, busy: bool) -> None:
    state, key = st.session_state, f"wanted-{case.id}"
    state[key] = work.wanted
    writes = workspace().engine.uses_language_model
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.number_input(
            "How many drafts",
            min_value=1,
            max_value=supernote_actions.MAX_CANDIDATES,
            step=10,
            key=key,
            on_change=run_action,
            args=(_NOTICE_AREA, lambda: cases().apply(case.id, supernote_actions.set_candidate_count, int(state[key]))),
            disabled=busy,
            width=180,
        )
        button(
            _label_make_button(case, work),
            "make-candidates",
            _NOTICE_AREA,
            partial(_start_making, case),
            icon="diversity_2",
            type="primary" if case.finished_round is None or is_stale(work) else "secondary",
            disabled=busy or not work.used,
            help=None if work.used else "Use at least one note first",
        )
    if work.used and not writes:
        possible = workspace().stages.possible_candidates(case)
        if possible < work.wanted:
            said = plural(possible, "These notes allow 1 draft.", "These notes allow {n} different drafts.")
            st.markdown(f"**{said}**")
    cost = f"**Expected: {escaped(workspace().stages.supernote_cost(case))}.**"
    how = (
        "The AI writes them; CrowdNotes adds the links."
        if writes
        else "Without AI, they put sentences of the notes together."
    )
    st.caption(f"{cost} {how}")


def _label_make_button(case: Case, work: SupernoteWork) -> str:
    if not work.rounds:
        return "Write the drafts"
    if case.finished_round is None:
        return "Write the rest"
    return "Write drafts for the changed notes" if is_stale(work) else "Write them again"


def _start_making(case: Case) -> None:
    start(case, JOB)
    go_to(Area.NOTE)


def _summarise_filters(made: SupernoteRound) -> str:
    which = (
        "Of {all} drafts, {passed} passed every check that ran."
        if made.not_run
        else "Of {all} drafts, {passed} passed all six checks."
    )
    return fill(which, all=len(made.candidates), passed=len(made.passed))


def _draw_funnel(case: Case, made: SupernoteRound) -> None:
    """Draw the filters; one that did not run is drawn open: nothing passed it. A sentence, where none removed any."""
    if len(made.passed) == len(made.candidates):
        checked = ", ".join(f"“{name.as_text}”" for name in FilterName if name not in made.not_run)
        st.markdown(f"All {len(made.passed)} drafts passed {checked}.")
        for name in made.not_run:
            st.markdown(f":orange[:material/do_not_disturb_on: {_label_filter(name, made)}.]")
        return
    steps = [(_label_filter(name, made), number) for name, number in made.funnel]
    funnel(
        steps,
        unsure=[name in made.not_run for name, _ in made.funnel],
        alt=f"{_summarise_filters(made)} " + ", ".join(f"{number} left after {name}" for name, number in steps[1:]),
        key=f"funnel-{case.id}-{made.number}",
    )
    _draw_filtered_examples(case, made)


def _label_filter(name: str, made: SupernoteRound) -> str:
    """Return the filter's name, with what it did not judge among those that are left."""
    number = made.not_run.get(name, 0)
    label = FilterName(name).as_text if name in set(FilterName) else name
    if not number:
        return label
    if number == len(made.passed):
        return f"{label}: not checked (NOT RUN)"
    return f"{label}: not checked for {number} (NOT RUN)"


def _name_strictest_filter(made: SupernoteRound) -> str:
    caught = {name: sum(item.failed is name for item in made.candidates) for name in FilterName}
    worst = max(caught, key=lambda name: caught[name])
    if not caught[worst]:
        return "No check removed any."
    return f"The check “{worst.as_text}” removed the most: {caught[worst]}."


def _draw_lost_candidates(made: SupernoteRound) -> None:
    sentences = []
    if made.merged:
        sentences.append(f"Nearly the same as another, so left out: {plural(made.merged, '1 draft', '{n} drafts')}.")
    if len(made.candidates) + made.merged < made.wanted and not made.lost:
        writes = any(item.prompt_version for item in made.candidates)
        few = (
            "You asked for {wanted}. The AI wrote {made} different ones."
            if writes
            else "You asked for {wanted}. Without AI, these notes allow {made} combinations."
        )
        sentences.append(fill(few, wanted=made.wanted, made=len(made.candidates)))
    if sentences:
        st.caption(" ".join(sentences))
    if made.lost:
        with st.expander(
            f"Texts of the AI that were not used: {len(made.lost)}",
            icon=":material/report:",
        ):
            for reason in made.lost:
                st.markdown(f":small[{escaped(reason, 300)}]")


def _draw_filtered_examples(case: Case, made: SupernoteRound) -> None:
    caught: dict[FilterName, Candidate] = {}
    for item in made.candidates:
        if item.failed is not None:
            caught.setdefault(item.failed, item)
    if not caught:
        return
    st.markdown("**An example of each**")
    for name in FilterName:
        if name in caught:
            st.markdown(f"**{name.as_text}:** {escaped(caught[name].why, 300)}")
            outside_text(caught[name].text, look="quote", key=f"caught-{case.id}-{made.number}-{name.name}")
