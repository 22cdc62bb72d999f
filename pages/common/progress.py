"""Long work: starting it, watching it, stopping it, taking it up again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from crowdnotes.cases import intake
from crowdnotes.cases.pipeline import JOBS
from crowdnotes.domain import Case, Outcome, Query, StageName
from crowdnotes.errors import JobError
from crowdnotes.jobs import JobRecord, JobState, StepRecord, StepState
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import fill
from pages.common.components import read_aloud, scroll_into_view
from pages.common.search_report import search_list
from pages.common.session import announce, button, show_errors, workspace

_POLL_SECONDS = 0.4
_RECORDED_SECONDS = 1.5  # about twice what recorded work takes once the models are loaded
_STARTED_JOB_KEY = "started-here"  # the job that this tab started last: its progress is scrolled to, others' is not
_ANNOUNCED_JOB_KEY = "end-announced"  # the job whose end was announced last
_SIGN_BY_STEP_STATE = {
    StepState.WAITING: ":gray[:material/radio_button_unchecked:]",
    StepState.RUNNING: ":primary[:material/pending:]",
    StepState.FAILED: ":red[:material/error:]",
    StepState.CANCELLED: ":gray[:material/cancel:]",
}
_SIGN_BY_OUTCOME = {
    Outcome.DONE: ":green[:material/check_circle:]",
    Outcome.NOT_RUN: ":gray[:material/do_not_disturb_on:]",
    Outcome.NOT_NEEDED: ":gray[:material/remove:]",
}
_FINISHED_STATES = frozenset({StepState.DONE, StepState.KEPT})
_MESSAGE_BY_JOB_END = {
    JobState.FAILED: ("{work} failed.", "Try again"),
    JobState.CANCELLED: ("{work} was stopped. What is finished is kept.", "Continue"),
    JobState.INTERRUPTED: ("{work} ended when CrowdNotes stopped. What is finished is kept.", "Continue"),
}


def start(case: Case, kind: str) -> None:
    """Start long work on a case; the page goes to its progress. Raises what forbids it."""
    job = workspace().start(case.id, kind)
    st.session_state[_STARTED_JOB_KEY] = job.id
    wait_for_recorded(case, job)


def wait_for_recorded(case: Case, job: JobRecord) -> None:
    """Wait a little for work that asks nobody, as its answers are recorded: the page then shows its result at once."""
    if case.recorded_answers:
        workspace().runner.wait(job.id, timeout=_RECORDED_SECONDS)


def gather_anew(case: Case) -> None:
    """Start gathering for a post that says something else now, unless the case was begun with nowhere to look."""
    if intake.can_gather(case):
        start(case, "gather")


def under_way(job: JobRecord | None) -> bool:
    """Return whether there is a job at work."""
    return job is not None and job.state.under_way


def is_outdated(case: Case, job: JobRecord | None) -> bool:
    """Return whether a job scores another note, or other sources, than the case has now."""
    if job is None or job.kind != "assess":
        return False
    return job.arguments.get("basis", case.scoring_basis) != case.scoring_basis


def is_scoring(case: Case, job: JobRecord | None) -> bool:
    """Return whether a job at work scores the note and its sources as the case has them now."""
    return job is not None and job.kind == "assess" and under_way(job) and not is_outdated(case, job)


def _name_work(job: JobRecord) -> str:
    kind = JOBS.get(job.kind)
    return kind.doing if kind is not None else job.steps[0].title


def _find_notice_area(job: JobRecord) -> str:
    """Return where the errors of such work are shown."""
    kind = JOBS.get(job.kind)
    return kind.place if kind is not None else job.case_id


def was_started_here(job: JobRecord) -> bool:
    """Return whether this tab started the job, as its last."""
    return st.session_state.get(_STARTED_JOB_KEY) == job.id


def job_panel(case: Case, job: JobRecord | None, kind: str, *, goes_elsewhere: bool = False) -> None:
    """Draw the newest job of the case, if it is of this kind and still matters.

    The page comes to one that this tab started, unless it `goes_elsewhere`.
    """
    if job is None or job.kind != kind:
        return
    if was_started_here(job):
        if not goes_elsewhere:  # also when it has ended: the keyboard's place is here, before the result
            scroll_into_view(job.id, name=_name_work(job))
        _announce_end(job)
    if job.state.under_way:
        follow_up = case.open_search
        watched(job, follow_up.queries if follow_up is not None else case.queries)
    elif job.state in _MESSAGE_BY_JOB_END and case.decision is None and not is_outdated(case, job):
        _draw_job_end(case, job)


def watched(job: JobRecord, searches: Sequence[Query] = ()) -> None:
    """Follow a job that is under way; the page is drawn again when a step of it, or all of it, ends.

    `searches` are shown as soon as the step that thinks of them has ended: before they are sent.
    """
    st.fragment(_draw_running_job, run_every=_POLL_SECONDS)(job.id, _count_finished_steps(job), searches)


def _reload_job(job_id: str) -> JobRecord:
    """Return the newest record of the job; draw the page again when it is gone, as with a deleted case."""
    try:
        return workspace().runner.get(job_id)
    except JobError:
        st.rerun()


def _draw_running_job(job_id: str, finished: int, searches: Sequence[Query]) -> None:
    with show_errors():
        job = _reload_job(job_id)
        if not job.state.under_way or _count_finished_steps(job) != finished:
            _announce_end(job)
            st.rerun()
        with st.container(border=True, key=f"job-panel-{job.id}", gap="xsmall"):
            _draw_steps(job)
            if job.state is JobState.QUEUED:
                st.caption(
                    "Waiting for a free worker."
                    if workspace().runner.has_workers()
                    else "Waiting: no worker is running."
                )
            cancel = partial(workspace().cancel, job)
            button("Cancel", f"cancel-{job.id}", _find_notice_area(job), cancel, icon="stop_circle")
            if any(step.name == StageName.QUERIES.value and step.state in _FINISHED_STATES for step in job.steps):
                search_list(searches)


def _announce_end(job: JobRecord) -> None:
    """Let a screen reader say, once, that the work is done; what went wrong is drawn as an alert."""
    if job.state is JobState.DONE and st.session_state.get(_ANNOUNCED_JOB_KEY) != job.id:
        st.session_state[_ANNOUNCED_JOB_KEY] = job.id
        announce(f"{_name_work(job)}: done. {job.steps[-1].summary}")


def _count_finished_steps(job: JobRecord) -> int:
    return sum(step.state in _FINISHED_STATES for step in job.steps)


def _draw_steps(job: JobRecord) -> None:
    if len(job.steps) > 1:
        st.markdown(f"**{_name_work(job)}**")
    for record in job.steps:
        summary = escaped(record.summary or record.note, 400)
        has_ended = record.state in _FINISHED_STATES
        sign = _SIGN_BY_OUTCOME[record.outcome] if has_ended else _SIGN_BY_STEP_STATE[record.state]
        state = read_aloud(f": {record.outcome.value if has_ended else record.state.value};")
        st.markdown(f"{sign} {record.title}{_format_step_count(record)}{state} :gray[:small[{summary}]]")
    current = job.current
    if current is not None and current.total:
        st.progress(min(1.0, current.done / current.total))


def _format_step_count(record: StepRecord) -> str:
    if not record.total or record.state is StepState.DONE:
        return ""
    return f", {record.done:,} of {record.total:,}"


def _draw_job_end(case: Case, job: JobRecord) -> None:
    words, again = _MESSAGE_BY_JOB_END[job.state]
    title, current = fill(words, work=_name_work(job)), job.current
    if job.state is JobState.FAILED and current is not None:
        st.error(f"{escaped(current.error)} {escaped(current.next_step)}", title=title, icon=":material/error:")
    else:
        st.warning("You can continue at any time.", title=title, icon=":material/pause_circle:")
    button(
        again,
        f"again-{job.kind}",
        _find_notice_area(job),
        partial(start, case, job.kind),
        icon="replay",
        type="secondary" if job.state is JobState.FAILED else "primary",  # it may fail again
    )
