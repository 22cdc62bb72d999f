"""Which online services answer from here: asked side by side, outside the page's run, told one by one."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from crowdnotes.domain import ProviderOutcome, ProviderState
from crowdnotes.evidence.search import SearchProvider, check_providers
from crowdnotes.jobs.records import JobRecord, Progress, Step
from pages.parts.session import act, notices, telling, workspace
from pages.parts.text import count, plain

_JOB = "connections"  # what the runner has for a case when connections are checked, and where its errors are shown
_POLL_SECONDS = 0.4
_SIGNS = {
    ProviderState.ANSWERED: ":green[:material/check_circle:]",
    ProviderState.NOT_CONFIGURED: ":gray[:material/key_off:]",
    ProviderState.CANCELLED: ":gray[:material/cancel:]",
}


def connections(online: Sequence[SearchProvider]) -> None:
    """Every service with what is known of it, and the button that asks them all."""
    job = workspace().runner.latest(_JOB)
    notices(_JOB)
    if job is not None and job.state.under_way:
        st.fragment(_follow, run_every=_POLL_SECONDS)(job.id, online)
        return
    _rows(online, asking=False)
    st.button(
        "Check connections",
        key="check-connections",
        icon=":material/network_check:",
        help="Asks each service for one thing, “measles vaccine”, and tells which answered",
        on_click=_check,
        args=(online,),
    )


@st.cache_resource
def _heard() -> dict[str, ProviderOutcome]:
    """How each service answered when it was last asked, since this server started."""
    return {}


def _check(online: Sequence[SearchProvider]) -> None:
    heard, seconds = _heard(), workspace().settings.search.provider_seconds

    def run(progress: Progress) -> str:
        heard.clear()

        def report(outcome: ProviderOutcome) -> None:
            heard[outcome.provider] = outcome
            progress.count(len(heard), len(online), outcome.label)

        progress.count(0, len(online))
        outcomes = check_providers(online, provider_seconds=seconds, check=progress.check, report=report)
        answered = sum(item.state is ProviderState.ANSWERED for item in outcomes)
        return f"{answered} of {len(online)} answered"

    step = Step(name="ask", title="Ask each service", run=run, finished=lambda: None)
    act(_JOB, lambda: workspace().runner.start(_JOB, "connections", [step]))


def _follow(job_id: str, online: Sequence[SearchProvider]) -> None:
    with telling():
        job = workspace().runner.get(job_id)
        if not job.state.under_way:
            st.rerun()
        _rows(online, asking=True)
        _how_far(job, len(online))
        st.button("Stop", key="stop-connections", icon=":material/stop_circle:", on_click=_stop, args=(job_id,))


def _how_far(job: JobRecord, services: int) -> None:
    done = job.current.done if job.current is not None else 0
    st.progress(done / services if services else 1.0, text=f"Heard from {done} of {count(services, 'service')}")


def _stop(job_id: str) -> None:
    act(_JOB, lambda: workspace().runner.cancel(job_id))


def _rows(online: Sequence[SearchProvider], *, asking: bool) -> None:
    """A line for each service, one element for all of them."""
    heard = _heard()
    st.markdown("  \n".join(_row(item, heard.get(item.name), asking=asking) for item in online))


def _row(service: SearchProvider, outcome: ProviderOutcome | None, *, asking: bool) -> str:
    label = f"**{plain(service.label)}**"
    if service.needs is not None:
        return f":gray[:material/key_off:] {label} :gray[not set up] :small[:gray[{plain(service.needs)}]]"
    if outcome is None:
        waits = ":primary[:material/pending:]" if asking else ":gray[:material/radio_button_unchecked:]"
        return f"{waits} {label} :gray[{'asked…' if asking else 'ready, not asked yet'}]"
    sign = _SIGNS.get(outcome.state, ":red[:material/error:]")
    said = f" :small[:gray[{plain(outcome.sentence, 200)}]]" if outcome.sentence else ""
    return f"{sign} {label} {outcome.state.value} in {outcome.seconds:.1f} s{said}"
