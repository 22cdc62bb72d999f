"""The engine at the head of a page: its name, what it costs, how it did when it was tested, and the others.

The presenter's strip on top of a demonstration: what is shown, in one sentence, and the way on and back.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from crowdnotes.domain import Act, Case
from crowdnotes.jobs import JobState
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import say
from crowdnotes.workspace import SELF_TEST
from pages.common.progress import under_way, watched
from pages.common.session import button, notices, workspace
from pages.common.shared_workspace import shared_workspace
from pages.common.sign_in import has_accounts

if TYPE_CHECKING:
    from crowdnotes.engines.choice import EngineChoice
    from crowdnotes.engines.llm.discovery import FoundServer
    from crowdnotes.engines.llm.self_test import SelfTest


PRESENTER = "present"


def own_engine(case: Case, place: str) -> None:
    """The way from recorded answers to the engine in use, which answers other words and sources too."""
    engine = workspace(own_engine=True).engine
    name = engine.name.removeprefix("llm:") if engine.uses_language_model else say("present.local")
    use = partial(workspace().service.use_own_engine, case.id)
    label = say("present.own_engine", engine=name)
    button(
        label, f"{place}-own-engine", PRESENTER, use, type="tertiary", icon="swap_horiz", help=say("present.own_about")
    )


def engine_panel(case: Case | None = None) -> None:
    """A line with the engine's name; opened, it tells more and lets the person change it."""
    engine = workspace().engine
    if case is not None and case.recorded_answers:
        _recorded(case)
        return
    judge = engine.judge
    asks = engine.uses_language_model or bool(judge.server)
    kind = (
        "engine.with_model" if engine.uses_language_model else "engine.with_judge" if judge.server else "engine.local"
    )
    cost = case.used.in_words() if case is not None and asks else ""  # in its place: one line has room for one of them
    tested = workspace().self_test()
    did = [] if tested is None else [tested.in_words, *([say("engine.weak")] if tested.is_weak else [])]
    name = escaped(engine.name) + (f" ({', '.join(did)})" if did else "")
    told = f"{name} · {escaped(cost)}" if cost else f"{name}: {say(kind)}"
    with st.popover(told, icon=":material/memory:", type="tertiary"):
        st.markdown(say("engine.about_model" if engine.uses_language_model else "engine.about_local"))
        if engine.uses_language_model:
            _self_test(tested)
        if judge.server:
            st.markdown(say("engine.judge", name=escaped(judge.name), server=escaped(judge.server)))
        if case is not None and case.usage:
            st.markdown(f"**{say('engine.so_far')}**")
            for step, used in case.usage.items():
                st.markdown(f"{escaped(step)}: {escaped(used.in_words())}")
        if asks:
            _budget()
        _engine_choice()
        if not engine.uses_language_model:
            with st.expander(say("engine.get_model"), icon=":material/memory:"):
                _steps()


def _recorded(case: Case) -> None:
    """What the answers of a demonstration are, and the way to an engine that answers other words too."""
    with st.popover(say("present.recorded"), icon=":material/history:", type="tertiary"):
        st.markdown(say("present.recorded_help"))
        own_engine(case, "engine")


def first_model() -> None:
    """On the first screen, while no language model is in use: the way to one."""
    if workspace().engine.uses_language_model:
        return
    with st.expander(say("engine.first_model"), icon=":material/memory:"):
        _steps()
        _engine_choice("first-")


def _steps() -> None:
    """One server on this machine with a model that fits it, or a key."""
    memory, model = workspace().recommended_model()
    if model is not None and memory is not None:
        fits = say("engine.fits", gb=f"{memory:.0f}", name=model.name, size=model.size, about=model.about)
    elif memory is not None:
        fits = say("engine.too_small", gb=f"{memory:.0f}")
    else:
        fits = say("engine.unknown_memory")
    st.markdown(say("engine.steps", fits=fits))
    st.caption(say("engine.untried"))
    st.markdown(say("engine.by_key"))


def _self_test(tested: SelfTest | None) -> None:
    """How the model did on twenty questions, and the button that asks them."""
    job = workspace().runner.latest(SELF_TEST)
    notices(SELF_TEST)
    if job is not None and under_way(job):
        watched(job)
        return
    if tested is None:
        st.markdown(f":material/help: {say('engine.not_tested')}")
    elif tested.is_weak:
        faults = "".join(f"\n- {say('engine.fault', words=escaped(words))}" for words in tested.fails_at)
        st.warning(f"{faults}\n\n{say('engine.weak_next')}", title=say("engine.weak_model", result=tested.in_words))
    else:
        st.markdown(f":material/check: {say('engine.tested', result=tested.in_words)}")
    if tested is not None and tested.misses:
        with st.expander(say("engine.wrong")):
            for miss in tested.misses:
                st.markdown(f"- {escaped(miss.fault)} :gray[:small[{escaped(miss.asked, 200)}]]")
    if job is not None and job.state is JobState.FAILED and job.current is not None:
        why = f"{escaped(job.current.error)} {escaped(job.current.next_step)}"
        st.caption(say("engine.test_failed", why=why))
    label, about = say("engine.test" if tested is None else "engine.test_again"), say("engine.test_about")
    button(label, "test-model", SELF_TEST, workspace().test_model, icon="checklist", help=about)


def _budget() -> None:
    bounds = workspace().settings.llm
    most = []
    if bounds.budget_dollars is not None:
        most.append(say("engine.dollars", n=f"{bounds.budget_dollars:.2f}"))
    if bounds.budget_tokens is not None:
        most.append(say("engine.tokens", n=f"{bounds.budget_tokens:,}"))
    if most:
        st.caption(say("engine.budget", most=", ".join(most)))


_FOUND = "model-servers"


def _engine_choice(place: str = "") -> None:
    """What may be used, as a list with a button; servers are looked for only when asked.

    `place` sets the keys of one such list apart from those of another on the same page.
    """
    chosen, told_at = f"{place}engine-choice", f"{place}engine"
    may_set_up, for_all = workspace().may(Act.SET_UP), shared_workspace().engine_for_all
    if for_all is not None and not may_set_up:
        st.caption(say("engine.for_all_set"))
        return
    if not workspace().may(Act.WORK):
        return
    found: list[FoundServer] = st.session_state.get(_FOUND) or []
    options = workspace().engine_choices(found)
    in_use = workspace().choice
    st.selectbox(
        say("engine.choose"),
        options,
        index=options.index(in_use) if in_use in options else 0,
        format_func=lambda choice: _name(choice, found),
        key=chosen,
        help=say("engine.choose_about"),
    )
    address, for_everybody = f"{place}engine-address", False
    if may_set_up:
        st.text_input(
            say("engine.address"),
            key=address,
            type="url",
            placeholder="https://api.example.org/v1",
            help=say("engine.address_about"),
        )
        if has_accounts(workspace().settings):
            for_everybody = st.checkbox(say("engine.for_all"), for_all is not None, key=f"{place}engine-for-all")
    with st.container(horizontal=True):
        use, look = partial(_use, chosen, for_everybody), partial(_look, chosen, address)
        button(say("engine.use"), f"{place}use-engine", told_at, use, icon="swap_horiz")
        button(say("engine.find"), f"{place}find-servers", told_at, look, icon="lan")
    notices(told_at)
    if _FOUND in st.session_state:
        _servers(found)


def _name(choice: EngineChoice, found: list[FoundServer]) -> str:
    if choice.base_url is None:
        words = say("engine.local_choice")
    else:
        server = next((server.name for server in found if server.base_url == choice.base_url), choice.base_url)
        words = say("engine.model_choice", model=choice.model or say("engine.as_set"), server=server)
    return say("engine.in_use", engine=words) if choice == workspace().choice else words


def _use(chosen: str, for_all: bool) -> None:
    shared_workspace().use(st.session_state[chosen], workspace(), for_all=for_all)


def _look(chosen: str, address: str) -> None:
    """Look for servers, also where the person says.

    Who has no model yet gets one chosen: the one recommended if it is there, else the first.
    """
    st.session_state[_FOUND] = []
    found = st.session_state[_FOUND] = workspace().find_servers(st.session_state.get(address) or "")
    models = [choice for choice in workspace().engine_choices(found) if choice.model]
    if models and not workspace().engine.uses_language_model:
        _, best = workspace().recommended_model()
        st.session_state[chosen] = min(models, key=lambda choice: best is None or choice.model != best.name)


def _servers(found: list[FoundServer]) -> None:
    if not found:
        st.caption(say("engine.none_found"))
    for server in found:
        models = escaped(server.problem) or say("engine.models", n=len(server.models))
        st.caption(f"**{escaped(server.name)}**: {models}")
        if server.models and not server.is_set:
            st.caption(say("engine.to_keep"))
            lines = f"CROWDNOTES_LLM_BASE_URL={server.base_url}\nCROWDNOTES_LLM_MODEL={server.models[0]}"
            st.code(lines, language=None)
    st.caption(say("engine.key"))
