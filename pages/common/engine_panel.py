"""The engine at the head of a page: its name, its cost, the result of its test, and how to change it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from crowdnotes.cases import actions
from crowdnotes.domain import Act, Case
from crowdnotes.jobs import JobState
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import plural
from crowdnotes.workspace import SELF_TEST
from pages.common.progress import under_way, watched
from pages.common.session import button, cases, notices, workspace
from pages.common.shared_workspace import shared_workspace
from pages.common.sign_in import has_accounts

if TYPE_CHECKING:
    from crowdnotes.engines.choice import EngineChoice
    from crowdnotes.engines.llm.discovery import FoundServer
    from crowdnotes.engines.llm.self_test import SelfTest


PRESENTER = "present"


def use_own_engine_panel(case: Case, place: str) -> None:
    """Draw the way from recorded answers to the engine in use, which answers other words and sources too."""
    engine = workspace(own_engine=True).engine
    label = f"Use {engine.name.removeprefix('llm:')}" if engine.uses_language_model else "Continue without AI"
    use = partial(actions.use_own_engine, cases(), case.id)
    button(
        label,
        f"{place}-own-engine",
        PRESENTER,
        use,
        type="tertiary",
        icon="swap_horiz",
        help="Keeps what is there. Choose another AI on the first page.",
    )


def engine_panel(case: Case | None = None) -> None:
    """Draw a line that names the AI in use, or that there is none; opened, it says more and lets one change it."""
    engine = workspace().engine
    if case is not None and case.recorded_answers:  # the strip above the page says so
        return
    judge = engine.judge
    asks = engine.uses_language_model or bool(judge.server)
    without = "AI judges helpfulness only" if judge.server else "Working without AI"
    cost = case.used.as_text() if case is not None and asks else ""  # in its place: only one of them fits on a line
    tested = workspace().self_test()
    did = [] if tested is None else [tested.as_text, *(["weak"] if tested.is_weak else [])]
    name = escaped(engine.name.removeprefix("llm:")) + (f" ({', '.join(did)})" if did else "")
    label = f"AI: {name}" if engine.uses_language_model else without
    with st.popover(f"{label} · {escaped(cost)}" if cost else label, icon=":material/memory:", type="tertiary"):
        st.markdown(
            "The AI helps to search, write and score: posts and sources are sent to its server. CrowdNotes itself "
            "checks links, quotations and which source supports each sentence."
            if engine.uses_language_model
            else "CrowdNotes finds sources, offers sentences to quote and shows where to look. It writes no note: you "
            "do, and you judge whether it is correct."
        )
        if engine.uses_language_model:
            _draw_self_test(tested)
        if judge.server:
            st.markdown(
                f"{escaped(judge.name)} on {escaped(judge.server)} judges helpfulness. It gets the post and the note "
                "that you score."
            )
        if case is not None and case.usage:
            st.markdown("**Used for this case**")
            for step, used in case.usage.items():
                st.markdown(f"{escaped(step)}: {escaped(used.as_text())}")
        if asks:
            _draw_budget()
        _draw_engine_choice()
        if not engine.uses_language_model:
            with st.expander("Set up AI in three steps", icon=":material/memory:"):
                _draw_setup_steps()


def first_model() -> None:
    """On the first screen, while no language model is in use: the way to one."""
    if workspace().engine.uses_language_model:
        return
    with st.expander("Set up AI: it finds more and writes notes", icon=":material/memory:"):
        _draw_setup_steps()
        _draw_engine_choice("first-")


def _draw_setup_steps() -> None:
    """One server on this machine with a model that fits it, or a key."""
    memory, model = workspace().recommended_model()
    if model is not None and memory is not None:
        fits = f"For its {memory:.0f} GB of memory: `ollama pull {model.name}` ({model.size}; {model.about})."
    elif memory is not None:
        fits = f"Its {memory:.0f} GB of memory is too little. Use a key instead."
    else:
        fits = "docs/models.md says which."
    st.markdown(
        "On the computer on which CrowdNotes runs:\n\n"
        "1. **Install** [Ollama](https://ollama.com/download). It needs no account.\n2. "
        f"**Get a model that fits.** {fits}\n3. **Choose and test it:** *Look for models*, then *Test the model*.\n"
    )
    st.markdown(
        "**Or use a key** for an online service that works like OpenAI's: `crowdnotes models key set ADDRESS`. Set "
        "`CROWDNOTES_LLM_BASE_URL` and `CROWDNOTES_LLM_MODEL`, and start again. Posts and sources then go there."
    )


def _draw_self_test(tested: SelfTest | None) -> None:
    """Draw how the model did on twenty questions, and the button that asks them."""
    job = workspace().runner.latest(SELF_TEST)
    notices(SELF_TEST)
    if job is not None and under_way(job):
        watched(job)
        return
    if tested is None:
        st.markdown(":material/help: **Not tested yet.** 20 questions show whether it is good enough.")
    elif tested.is_weak:
        faults = "".join(f"\n- It {escaped(words)}." for words in tested.fails_at)
        st.warning(f"{faults}\n\nCheck all it says, or use another model.", title=f"Weak model: {tested.as_text}")
    else:
        st.markdown(f":material/check: **Tested: {tested.as_text}** correct.")
    if tested is not None and tested.misses:
        with st.expander("What it got wrong"):
            for miss in tested.misses:
                st.markdown(f"- {escaped(miss.fault)} :gray[:small[{escaped(miss.asked, 200)}]]")
    if job is not None and job.state is JobState.FAILED and job.current is not None:
        why = f"{escaped(job.current.error)} {escaped(job.current.next_step)}"
        st.caption(f"NOT RUN: {why}")
    label, about = ("Test the model" if tested is None else "Test again"), "Takes about a minute and 40,000 tokens."
    button(label, "test-model", SELF_TEST, workspace().test_model, icon="checklist", help=about)


def _draw_budget() -> None:
    bounds = workspace().settings.llm
    most = []
    if bounds.budget_dollars is not None:
        most.append(f"{bounds.budget_dollars:.2f} US dollars")
    if bounds.budget_tokens is not None:
        most.append(f"{bounds.budget_tokens:,} tokens")
    if most:
        st.caption(f"Limit for a case: {', '.join(most)}.")


_FOUND_SERVERS_KEY = "model-servers"


def _draw_engine_choice(place: str = "") -> None:
    """Draw what may be used, as a list with a button; servers are looked for only when asked.

    `place` separates the keys of one such list from those of another on the same page.
    """
    chosen, notice_place = f"{place}engine-choice", f"{place}engine"
    may_set_up, for_all = workspace().may(Act.SET_UP), shared_workspace().engine_for_all
    if for_all is not None and not may_set_up:
        st.caption("An admin chose this for everybody.")
        return
    if not workspace().may(Act.WORK):
        return
    found: list[FoundServer] = st.session_state.get(_FOUND_SERVERS_KEY) or []
    options = workspace().engine_choices(found)
    in_use = workspace().choice
    st.selectbox(
        "AI to use",
        options,
        index=options.index(in_use) if in_use in options else 0,
        format_func=lambda choice: _name_choice(choice, found),
        key=chosen,
        help="From now on. Running work keeps what it has.",
    )
    address, for_everybody = f"{place}engine-address", False
    if may_set_up:
        st.text_input(
            "Address of another server (optional)",
            key=address,
            type="url",
            placeholder="https://api.example.org/v1",
            help="One that works like OpenAI's. Posts and sources go there only once you choose its model.",
        )
        if has_accounts(workspace().settings):
            for_everybody = st.checkbox("For everybody", for_all is not None, key=f"{place}engine-for-all")
    with st.container(horizontal=True):
        use, look = partial(_use_chosen_engine, chosen, for_everybody), partial(_find_servers, chosen, address)
        button("Use this", f"{place}use-engine", notice_place, use, icon="swap_horiz")
        button("Look for models", f"{place}find-servers", notice_place, look, icon="lan")
    notices(notice_place)
    if _FOUND_SERVERS_KEY in st.session_state:
        _draw_servers(found)


def _name_choice(choice: EngineChoice, found: list[FoundServer]) -> str:
    if choice.base_url is None:
        words = "Without AI"
    else:
        server = next((server.name for server in found if server.base_url == choice.base_url), choice.base_url)
        words = f"{choice.model or 'models from the settings'} on {server}"
    return f"{words} · in use" if choice == workspace().choice else words


def _use_chosen_engine(chosen: str, for_all: bool) -> None:
    shared_workspace().use(st.session_state[chosen], workspace(), for_all=for_all)


def _find_servers(chosen: str, address: str) -> None:
    """Look for servers, also where the person says.

    Who has no model yet gets one chosen: the one recommended if it is there, else the first.
    """
    st.session_state[_FOUND_SERVERS_KEY] = []
    found = st.session_state[_FOUND_SERVERS_KEY] = workspace().find_servers(st.session_state.get(address) or "")
    models = [choice for choice in workspace().engine_choices(found) if choice.model]
    if models and not workspace().engine.uses_language_model:
        _, best = workspace().recommended_model()
        st.session_state[chosen] = min(models, key=lambda choice: best is None or choice.model != best.name)


def _draw_servers(found: list[FoundServer]) -> None:
    if not found:
        st.caption("Not found on this computer: Ollama, LM Studio, llama.cpp or vLLM.")
    for server in found:
        models = escaped(server.problem) or plural(len(server.models), "{n} model", "{n} models")
        st.caption(f"**{escaped(server.name)}**: {models}")
        if server.models and not server.is_set:
            st.caption("To use it always, set:")
            lines = f"CROWDNOTES_LLM_BASE_URL={server.base_url}\nCROWDNOTES_LLM_MODEL={server.models[0]}"
            st.code(lines, language=None)
    st.caption("If it needs a key: `crowdnotes models key set ADDRESS`")
