"""The second step of a supernote: how many candidates, what they cost, how it goes, and what each filter caught."""

from __future__ import annotations

from functools import partial

import streamlit as st

from crowdnotes.domain import Candidate, Case, FilterName, SupernoteRound, SupernoteWork
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import count, escaped
from pages.view.components import outside_text
from pages.view.plots import funnel
from pages.view.progress import job_panel, start, under_way
from pages.view.session import act, author, button, workspace
from pages.view.steps import StepState, StepView, SupernoteStep, arrive, step

_PLACE = SupernoteStep.CANDIDATES.value
JOB = "supernote"
_BY_MODEL = "A language model writes them from the notes, many ways; the program adds the links, never the model."
_BY_SENTENCES = (
    "No language model is at work: candidates are whole sentences of the notes, put together; none is cut or altered."
)


def candidates_step(case: Case | None, job: JobRecord | None) -> None:
    """Draw the step."""
    work = case.supernote if case is not None else None
    with step(case, _view(case)) as is_open:
        if case is None or work is None:
            return
        with st.empty().container():  # its own place, so that what is below stays where it is when it goes
            job_panel(case, job, JOB)
        if not is_open:
            return
        made = case.finished_round
        if made is not None:
            _funnel(case, made)
        if case.decision is not None:
            return
        if made is None:
            _kept_so_far(work, busy=under_way(job))
        if made is None or is_stale(work):
            _making(case, work, busy=under_way(job))
            return
        with st.expander("Make them again, or another number", key=f"again-{case.id}", icon=":material/diversity_2:"):
            _making(case, work, busy=under_way(job))


def _view(case: Case | None) -> StepView:
    name, work = SupernoteStep.CANDIDATES, case.supernote if case is not None else None
    if case is None or work is None:
        return StepView(name, StepState.LOCKED, "Many texts are made from the notes, and filtered")
    made = case.finished_round
    if made is None:
        return StepView(name, StepState.ACTIVE, "Many texts from the notes; six filters take out what no note may be")
    result = f"{count(len(made.candidates), 'candidate')}, {len(made.passed)} passed the filters"
    result += f"; {count(len(made.not_run), 'filter')} NOT RUN" if made.not_run else ""
    if is_stale(work):
        since = ", ".join((*work.changed, *work.left_out))
        result += f" :orange-badge[:material/history: {since} changed since]"
        return StepView(name, StepState.ACTIVE, result)
    return StepView(name, StepState.DONE, result, stays_open=True)


def is_stale(work: SupernoteWork) -> bool:
    """Whether other notes are used than those that the newest round was made from."""
    return bool(work.rounds and (work.changed or work.left_out))


def _kept_so_far(work: SupernoteWork, *, busy: bool) -> None:
    """What there is of a round that was stopped."""
    kept = len(work.newest.candidates) if work.newest is not None else 0
    if kept and not busy:
        st.caption(
            f"{count(kept, 'candidate is', 'candidates are')} kept; they are filtered and ranked when you go on."
        )


def _making(case: Case, work: SupernoteWork, *, busy: bool) -> None:
    state, key = st.session_state, f"wanted-{case.id}"
    state[key] = work.wanted
    writes = workspace().engine.uses_language_model
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.number_input(
            "How many candidates",
            min_value=1,
            max_value=workspace().service.most_candidates,
            step=10,
            key=key,
            on_change=act,
            args=(_PLACE, lambda: workspace().service.set_wanted(case.id, int(state[key]), author())),
            disabled=busy,
            width=180,
        )
        button(
            _label(case, work),
            "make-candidates",
            _PLACE,
            partial(_start, case),
            icon="diversity_2",
            type="primary" if case.finished_round is None or is_stale(work) else "secondary",
            disabled=busy or not work.used,
            help=None if work.used else "Use at least one note first",
        )
    st.caption(
        f"**Expected: {escaped(workspace().service.supernote_cost(case))}.** {_BY_MODEL if writes else _BY_SENTENCES}"
    )


def _label(case: Case, work: SupernoteWork) -> str:
    if not work.rounds:
        return "Make the candidates"
    if case.finished_round is None:
        return "Make the rest"
    return "Make what changed anew" if is_stale(work) else "Make them again"


def _start(case: Case) -> None:
    start(case, JOB)
    arrive(SupernoteStep.CANDIDATES)


def _funnel(case: Case, made: SupernoteRound) -> None:
    steps = [(_with_not_run(name, made), number) for name, number in made.funnel]
    which = "every filter that ran" if made.not_run else "all six filters"
    words = f"Of {steps[0][1]} candidates, {steps[-1][1]} passed {which}."
    st.markdown(f"**{words}** {_most_caught(made)}")
    funnel(
        steps,
        alt=f"{words} " + ", ".join(f"{number} left after {name}" for name, number in steps[1:]),
        key=f"funnel-{case.id}-{made.number}",
    )
    _lost(made)
    _examples(case, made)


def _with_not_run(name: str, made: SupernoteRound) -> str:
    """The filter's name, with what it did not judge among those that are left."""
    number = sum(name in item.not_run for item in made.passed)
    return f"{name} (NOT RUN{'' if number == len(made.passed) else f' for {number}'})" if number else name


def _most_caught(made: SupernoteRound) -> str:
    caught = {name: sum(item.failed is name for item in made.candidates) for name in FilterName}
    worst = max(caught, key=lambda name: caught[name])
    if not caught[worst]:
        return "No filter took one out."
    return f"Most were taken out by “{worst.value}”: {caught[worst]}."


def _lost(made: SupernoteRound) -> None:
    told = []
    if made.merged:
        told.append(f"{count(made.merged, 'candidate')} said nearly the same as another and went into one with it.")
    if len(made.candidates) + made.merged < made.wanted and not made.lost:
        told.append(f"{made.wanted} were asked for; the notes gave no more that differ.")
    st.caption(" ".join(told))
    if made.lost:
        with st.expander(
            f"Why texts of the model are no candidates: {count(len(made.lost), 'reason')}", icon=":material/report:"
        ):
            for reason in made.lost:
                st.markdown(f":small[{escaped(reason, 300)}]")


def _examples(case: Case, made: SupernoteRound) -> None:
    caught: dict[FilterName, Candidate] = {}
    for item in made.candidates:
        if item.failed is not None:
            caught.setdefault(item.failed, item)
    if not caught:
        return
    with st.expander("What each filter caught, with an example", key=f"caught-{case.id}", icon=":material/filter_alt:"):
        for name in FilterName:
            if name in caught:
                st.markdown(f"**{name.value}:** {escaped(caught[name].why, 300)}")
                outside_text(caught[name].text, look="quote", key=f"caught-{case.id}-{made.number}-{name.name}")
