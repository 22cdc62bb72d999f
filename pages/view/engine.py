"""The line at the foot: the next thing to do, work under way, and who thinks, with its costs and the way to another."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from crowdnotes.domain import Case
from crowdnotes.jobs import JobRecord, JobState
from crowdnotes.text.markdown import count, escaped
from crowdnotes.workspace import SELF_TEST
from pages.view.progress import doing, newest, under_way, watched
from pages.view.session import PAGE_WIDTH, button, notices, shared_workspace, telling, workspace

if TYPE_CHECKING:
    from crowdnotes.engines.choice import EngineChoice
    from crowdnotes.engines.llm.discovery import FoundServer
    from crowdnotes.engines.llm.self_test import SelfTest

_POLL_SECONDS = 0.8
_LOCAL = (
    "The engine is what searches, writes and scores. The local one runs on this machine: it finds evidence, offers "
    "sentences to quote, and shows where to look. It writes no note; whether one is correct is yours to judge."
)
_MODEL = (
    "The engine is what searches, writes and scores. A language model is at work: posts and passages are sent to its "
    "server. It gives words and verdicts; links, quotations and what carries each sentence are checked here."
)
_JUDGE = "Helpfulness is judged by {} on the server {}: the post and the note are sent there when a note is scored."


def status_bar(waits: str, job: JobRecord | None = None, case: Case | None = None) -> None:
    """Draw the line; while a job runs it follows the job, else it says what is waited for."""
    with (
        st.bottom,
        st.container(horizontal_alignment="center"),
        st.container(width=PAGE_WIDTH, horizontal=True, horizontal_alignment="distribute", gap="xsmall"),
    ):
        with st.container(width="content"):  # of its own: a fragment that runs again must not touch its neighbours
            if job is not None and job.state.under_way:
                st.fragment(_follow, run_every=_POLL_SECONDS)(job.id)
            else:
                _state(f":gray[:material/person:] {waits}")
        engine_panel(case)


def _follow(job_id: str) -> None:
    with telling():
        _state(f":primary[:material/progress_activity:] {escaped(doing(newest(job_id)), 140)}")


def _state(words: str) -> None:
    st.markdown(f":small[{words}]", width="content")


def engine_panel(case: Case | None = None) -> None:
    """A line with the engine's name; opened, it tells more and lets the person change it."""
    engine = workspace().engine
    judge = engine.judge
    asks = engine.uses_language_model or bool(judge.server)
    thinks = "a language model is at work" if engine.uses_language_model else "no language model is at work"
    if judge.server and not engine.uses_language_model:
        thinks = "a language model judges helpfulness, and does nothing else"
    cost = f" · {case.used.in_words()}" if case is not None and asks else ""
    tested = workspace().self_test()
    did = "" if tested is None else f" ({tested.in_words}{', weak' if tested.is_weak else ''})"
    with st.popover(
        f":small[{escaped(engine.name)}{did}: {thinks}{escaped(cost)}]", icon=":material/memory:", type="tertiary"
    ):
        st.markdown(_MODEL if engine.uses_language_model else _LOCAL)
        if engine.uses_language_model:
            _self_test(tested)
        if judge.server:
            st.markdown(_JUDGE.format(escaped(judge.name), escaped(judge.server)))
        if case is not None and case.usage:
            st.markdown("**This case so far**")
            for step, used in case.usage.items():
                st.markdown(f"{escaped(step)}: {escaped(used.in_words())}")
        if asks:
            _budget()
        _engine_choice()
        if not engine.uses_language_model:
            with st.expander("A good model in three steps", icon=":material/memory:"):
                _steps()


def first_model() -> None:
    """On the first screen, while no language model is at work: the way to one."""
    if workspace().engine.uses_language_model:
        return
    with st.expander(
        "With a language model it finds more, and writes notes: three steps to one", icon=":material/memory:"
    ):
        _steps()
        _engine_choice("first-")


def _steps() -> None:
    """One server on this machine with a model that fits it, or a key."""
    memory, model = workspace().recommended_model()
    if model is not None and memory is not None:
        fits = f"For the {memory:.0f} GB of memory here: `ollama pull {model.name}` ({model.size}; {model.about})."
    elif memory is not None:
        fits = f"The {memory:.0f} GB of memory here are too few for a model that helps: take a key instead."
    else:
        fits = "Which one fits how much memory is in docs/models.md."
    st.markdown(
        "1. **A server on this machine.** Install [Ollama](https://ollama.com/download); it needs no account.\n"
        f"2. **A model that fits.** {fits}\n"
        "3. **Use it, and test it.** Look for model servers, choose the model, then *Test the model*: twenty "
        "questions, about a minute."
    )
    st.caption("The advice is from published sizes; nobody has tried the model here until its test has run.")
    st.markdown(
        "**Or a key**, to a service that speaks OpenAI's protocol: put it into the system's keyring with "
        "`crowdnotes models key set ADDRESS`, set `CROWDNOTES_LLM_BASE_URL` and `CROWDNOTES_LLM_MODEL`, and start "
        "again. Posts and passages then go to that service."
    )


def _self_test(tested: SelfTest | None) -> None:
    """How the model did on twenty questions, and the button that asks them."""
    job = workspace().runner.latest(SELF_TEST)
    notices(SELF_TEST)
    if job is not None and under_way(job):
        watched(job)
        return
    if tested is None:
        st.markdown(":material/help: **Not tested yet.** Twenty questions tell whether it is good enough to help.")
    elif tested.is_weak:
        faults = "".join(f"\n- It {escaped(words)}." for words in tested.fails_at)
        st.warning(
            f"{faults}\n\nCheck all it gives you, or use another model.", title=f"A weak model: {tested.in_words}"
        )
    else:
        st.markdown(f":material/check: **Tested: {tested.in_words}** questions answered rightly.")
    if tested is not None and tested.misses:
        with st.expander("What it got wrong"):
            for miss in tested.misses:
                st.markdown(f"- {escaped(miss.fault)} :gray[:small[{escaped(miss.asked, 200)}]]")
    if job is not None and job.state is JobState.FAILED and job.current is not None:
        st.caption(f"NOT RUN: {escaped(job.current.error)} {escaped(job.current.next_step)}")
    label, about = "Test the model" if tested is None else "Test it again", "About a minute, and some 40,000 tokens."
    button(label, "test-model", SELF_TEST, workspace().test_model, icon="checklist", help=about)


def _budget() -> None:
    bounds = workspace().settings.llm
    dollars = None if bounds.budget_dollars is None else f"{bounds.budget_dollars:.2f} US dollars"
    tokens = None if bounds.budget_tokens is None else f"{bounds.budget_tokens:,} tokens"
    if dollars or tokens:
        both = " and ".join(filter(None, (dollars, tokens)))
        st.caption(f"Budget of a case: {both}. A call that could pass it is not made.")


_FOUND = "model-servers"
_KEYS = (
    "A server that wants a key: put it into the system's keyring with `crowdnotes models key set ADDRESS`. "
    "Keys are never shown here."
)


def _engine_choice(place: str = "") -> None:
    """What may be used, as a list with a button; servers are looked for only when asked.

    `place` sets the keys of one such list apart from those of another on the same page.
    """
    chosen, told_at = f"{place}engine-choice", f"{place}engine"
    found: list[FoundServer] = st.session_state.get(_FOUND) or []
    options = workspace().engine_choices(found)
    in_use = workspace().choice
    st.selectbox(
        "Choose the engine",
        options,
        index=options.index(in_use) if in_use in options else 0,
        format_func=lambda choice: _name(choice, found),
        key=chosen,
        help="For everyone who uses this running app, until it is started again. Work under way goes on as it began.",
    )
    with st.container(horizontal=True):
        use, look = partial(_use, chosen), partial(_look, chosen)
        button("Use this engine", f"{place}use-engine", told_at, use, icon="swap_horiz")
        button("Look for model servers", f"{place}find-servers", told_at, look, icon="lan")
    notices(told_at)
    if _FOUND in st.session_state:
        _servers(found)


def _name(choice: EngineChoice, found: list[FoundServer]) -> str:
    if choice.base_url is None:
        words = "Local engine (no language model)"
    else:
        server = next((server.name for server in found if server.base_url == choice.base_url), choice.base_url)
        words = f"{choice.model or 'models as set'} on {server}"
    return f"{words} · in use" if choice == workspace().choice else words


def _use(chosen: str) -> None:
    shared_workspace().use(st.session_state[chosen])


def _look(chosen: str) -> None:
    """Look for servers; who has no model yet gets one chosen: the one recommended if it is there, else the first."""
    st.session_state[_FOUND] = []
    found = st.session_state[_FOUND] = workspace().find_servers()
    models = [choice for choice in workspace().engine_choices(found) if choice.model]
    if models and not workspace().engine.uses_language_model:
        _, best = workspace().recommended_model()
        st.session_state[chosen] = min(models, key=lambda choice: best is None or choice.model != best.name)


def _servers(found: list[FoundServer]) -> None:
    if not found:
        st.caption("None answers on this machine (Ollama, LM Studio, llama.cpp and vLLM were asked).")
    for server in found:
        models = escaped(server.problem) or count(len(server.models), "model")
        st.caption(f"**{escaped(server.name)}**: {models}")
        if server.models and not server.is_set:
            st.caption("To begin with it each time, set:")
            lines = f"CROWDNOTES_LLM_BASE_URL={server.base_url}\nCROWDNOTES_LLM_MODEL={server.models[0]}"
            st.code(lines, language=None)
    st.caption(_KEYS)
