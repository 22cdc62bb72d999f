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
    name = engine.name.removeprefix("llm:") if engine.uses_language_model else "the local engine"
    use = partial(actions.use_own_engine, cases(), case.id)
    label = f"Use {name}"
    button(
        label,
        f"{place}-own-engine",
        PRESENTER,
        use,
        type="tertiary",
        icon="swap_horiz",
        help=(
            "From now on this case uses the engine of this app. What is there stays. For another engine, choose it on "
            "the first page."
        ),
    )


def engine_panel(case: Case | None = None) -> None:
    """Draw a line with the engine's name; opened, it says more and lets the person change it."""
    engine = workspace().engine
    if case is not None and case.recorded_answers:
        _draw_recorded_answers(case)
        return
    judge = engine.judge
    asks = engine.uses_language_model or bool(judge.server)
    kind = (
        "language model in use"
        if engine.uses_language_model
        else "a language model judges helpfulness only"
        if judge.server
        else "no language model in use"
    )
    cost = case.used.as_text() if case is not None and asks else ""  # in its place: only one of them fits on a line
    tested = workspace().self_test()
    did = [] if tested is None else [tested.as_text, *(["weak"] if tested.is_weak else [])]
    name = escaped(engine.name) + (f" ({', '.join(did)})" if did else "")
    label = f"{name} · {escaped(cost)}" if cost else f"{name}: {kind}"
    with st.popover(label, icon=":material/memory:", type="tertiary"):
        st.markdown(
            (
                "The engine searches, writes and scores. This one uses a language model, so posts and passages are "
                "sent to its server. CrowdNotes itself checks the links, the quotations and which source supports "
                "each sentence."
            )
            if engine.uses_language_model
            else (
                "The engine searches, writes and scores. This one runs on your computer. It finds sources, offers "
                "sentences to quote and shows where to look. It writes no note. You judge whether a note is correct."
            )
        )
        if engine.uses_language_model:
            _draw_self_test(tested)
        if judge.server:
            st.markdown(
                f"{escaped(judge.name)} on the server {escaped(judge.server)} judges helpfulness. The post and the "
                "note are sent there when you score a note."
            )
        if case is not None and case.usage:
            st.markdown("**Used for this case so far**")
            for step, used in case.usage.items():
                st.markdown(f"{escaped(step)}: {escaped(used.as_text())}")
        if asks:
            _draw_budget()
        _draw_engine_choice()
        if not engine.uses_language_model:
            with st.expander("Get a language model in three steps", icon=":material/memory:"):
                _draw_setup_steps()


RECORDED_ANSWERS_CAPTION = (
    "A demonstration with invented pages. Do not post anything from it. The language model's answers were recorded "
    "earlier: no model is asked now. Reading, checks of wording and the jury are real. Other texts or sources have no "
    "recorded answers: choose an engine for those."
)


def _draw_recorded_answers(case: Case) -> None:
    """Draw what the answers of a demonstration are, and the way to an engine that answers other words too."""
    with st.popover("recorded answers", icon=":material/history:", type="tertiary"):
        st.markdown(RECORDED_ANSWERS_CAPTION)
        use_own_engine_panel(case, "engine")


def first_model() -> None:
    """On the first screen, while no language model is in use: the way to one."""
    if workspace().engine.uses_language_model:
        return
    with st.expander("Get a language model: it finds more and writes notes", icon=":material/memory:"):
        _draw_setup_steps()
        _draw_engine_choice("first-")


def _draw_setup_steps() -> None:
    """One server on this machine with a model that fits it, or a key."""
    memory, model = workspace().recommended_model()
    if model is not None and memory is not None:
        fits = (
            f"For the {memory:.0f} GB of memory of this computer: `ollama pull {model.name}` ({model.size}; "
            f"{model.about})."
        )
    elif memory is not None:
        fits = f"This computer has {memory:.0f} GB of memory, too little for a useful model. Use a key instead."
    else:
        fits = "docs/models.md says which model fits how much memory."
    st.markdown(
        "1. **Install a server.** [Ollama](https://ollama.com/download) runs on your computer and needs no "
        f"account.\n2. **Get a model that fits.** {fits}\n3. **Choose and test it.** Select *Look for model servers*, "
        "choose the model, then select *Test the model*. The test asks 20 questions and takes about a minute.\n"
    )
    st.caption("This advice comes from published sizes. Run the test to see how well the model works for you.")
    st.markdown(
        "**Or use a key** for an online service that works like OpenAI's. Save the key with `crowdnotes models key "
        "set ADDRESS`, set `CROWDNOTES_LLM_BASE_URL` and `CROWDNOTES_LLM_MODEL`, and start CrowdNotes again. Posts "
        "and passages then go to that service."
    )


def _draw_self_test(tested: SelfTest | None) -> None:
    """Draw how the model did on twenty questions, and the button that asks them."""
    job = workspace().runner.latest(SELF_TEST)
    notices(SELF_TEST)
    if job is not None and under_way(job):
        watched(job)
        return
    if tested is None:
        st.markdown(":material/help: **Not tested yet.** Ask it 20 questions to see whether it is good enough.")
    elif tested.is_weak:
        faults = "".join(f"\n- It {escaped(words)}." for words in tested.fails_at)
        st.warning(
            f"{faults}\n\nCheck everything it gives you, or use another model.", title=f"Weak model: {tested.as_text}"
        )
    else:
        st.markdown(f":material/check: **Tested: {tested.as_text}** questions answered correctly.")
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
        st.caption(f"Most that a case may use: {', '.join(most)}. CrowdNotes stops before it goes over.")


_FOUND_SERVERS_KEY = "model-servers"


def _draw_engine_choice(place: str = "") -> None:
    """Draw what may be used, as a list with a button; servers are looked for only when asked.

    `place` separates the keys of one such list from those of another on the same page.
    """
    chosen, notice_place = f"{place}engine-choice", f"{place}engine"
    may_set_up, for_all = workspace().may(Act.SET_UP), shared_workspace().engine_for_all
    if for_all is not None and not may_set_up:
        st.caption("An admin chose this engine for everybody.")
        return
    if not workspace().may(Act.WORK):
        return
    found: list[FoundServer] = st.session_state.get(_FOUND_SERVERS_KEY) or []
    options = workspace().engine_choices(found)
    in_use = workspace().choice
    st.selectbox(
        "Choose the engine",
        options,
        index=options.index(in_use) if in_use in options else 0,
        format_func=lambda choice: _name_choice(choice, found),
        key=chosen,
        help="For what you begin from now on; it is remembered. Running work keeps its engine.",
    )
    address, for_everybody = f"{place}engine-address", False
    if may_set_up:
        st.text_input(
            "Address of another server (optional)",
            key=address,
            type="url",
            placeholder="https://api.example.org/v1",
            help=(
                "Any server that works like OpenAI's. It is only asked for its models. Posts and passages go there "
                "once you choose one of them."
            ),
        )
        if has_accounts(workspace().settings):
            for_everybody = st.checkbox("For everybody", for_all is not None, key=f"{place}engine-for-all")
    with st.container(horizontal=True):
        use, look = partial(_use_chosen_engine, chosen, for_everybody), partial(_find_servers, chosen, address)
        button("Use this engine", f"{place}use-engine", notice_place, use, icon="swap_horiz")
        button("Look for model servers", f"{place}find-servers", notice_place, look, icon="lan")
    notices(notice_place)
    if _FOUND_SERVERS_KEY in st.session_state:
        _draw_servers(found)


def _name_choice(choice: EngineChoice, found: list[FoundServer]) -> str:
    if choice.base_url is None:
        words = "Local engine (no language model)"
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
        st.caption("No model server found on this computer. We looked for Ollama, LM Studio, llama.cpp and vLLM.")
    for server in found:
        models = escaped(server.problem) or plural(len(server.models), "{n} model", "{n} models")
        st.caption(f"**{escaped(server.name)}**: {models}")
        if server.models and not server.is_set:
            st.caption("To use it every time, set:")
            lines = f"CROWDNOTES_LLM_BASE_URL={server.base_url}\nCROWDNOTES_LLM_MODEL={server.models[0]}"
            st.code(lines, language=None)
    st.caption("If a server needs a key, save it with `crowdnotes models key set ADDRESS`. Keys are never shown here.")
