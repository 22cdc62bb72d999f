"""The bar at the foot of the page: the next thing to do, work under way, and the engine with its costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from crowdnotes.domain import Case
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import escaped
from pages.view.components import outside_text
from pages.view.progress import doing, newest
from pages.view.session import PAGE_WIDTH, act, notices, telling, use_engine, workspace

if TYPE_CHECKING:
    from crowdnotes.engines.choice import EngineChoice
    from crowdnotes.engines.llm.discovery import FoundServer

_POLL_SECONDS = 0.8
_PINNED = "post-pinned"


def status_bar(waits: str, job: JobRecord | None = None, case: Case | None = None) -> None:
    """Draw the line; while a job runs it follows the job, else it says what is waited for.

    With a case the post can be kept in view above the line, whatever the person scrolls to.
    """
    with st.bottom, st.container(horizontal_alignment="center"), st.container(width=PAGE_WIDTH, gap=None):
        if case is not None and st.session_state.get(_PINNED):
            outside_text(case.post.whole_text, look="pinned", key=f"pinned-{case.id}")
        with st.container(
            horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", gap="xsmall", wrap=True
        ):
            with st.container(width="content"):  # of its own: a fragment that runs again must not touch its neighbours
                if job is not None and job.state.under_way:
                    st.fragment(_follow, run_every=_POLL_SECONDS)(job.id)
                else:
                    _state(f":gray[:material/person:] {waits}")
            if case is not None:
                _pin()
            engine_panel(case)


def _pin() -> None:
    pinned = bool(st.session_state.get(_PINNED))
    st.button(
        "The post",
        key="pin-post",
        type="tertiary",
        icon=":material/keyboard_arrow_down:" if pinned else ":material/keyboard_arrow_up:",
        help="Fold the post away" if pinned else "Keep the whole post in view while you work",
        on_click=_toggle_pin,
    )


def _toggle_pin() -> None:
    st.session_state[_PINNED] = not st.session_state.get(_PINNED)


def waits_for(case: Case | None) -> str:
    """What the program waits for, in words."""
    if case is not None and case.decision is not None:
        return f"Done: {case.decision.kind.value}"
    return f"Waits for you: {_next(case)}"


def _next(case: Case | None) -> str:
    if case is None:
        return "paste a post"
    if not case.evidence:
        return "bring sources, or decide that there is not enough evidence"
    if not case.used_evidence:
        return "open the passages and judge them"
    if case.draft is None:
        return "write a draft, or let the program propose one"
    return "decide" if case.assessment_is_current else "score the note"


def _follow(job_id: str) -> None:
    with telling():
        _state(f":primary[:material/progress_activity:] {escaped(doing(newest(job_id)), 140)}")


def _state(words: str) -> None:
    st.markdown(f":small[{words}]", width="content")


_LOCAL = (
    "The engine is what searches, writes and scores. The local one runs on this machine: it finds evidence, offers "
    "sentences to quote, and shows where to look. It writes no note; whether one is correct is yours to judge."
)
_MODEL = (
    "The engine is what searches, writes and scores. A language model is at work: posts and passages are sent to its "
    "server. It gives words and verdicts; links, quotations and what carries each sentence are checked here."
)
_JUDGE = "Helpfulness is judged by {} on the server {}: the post and the note are sent there when a note is scored."


def engine_panel(case: Case | None) -> None:
    """A line with the engine's name; opened, it tells more and lets the person change it."""
    engine = workspace().engine
    judge = engine.judge
    asks = engine.uses_language_model or bool(judge.server)
    thinks = "a language model is at work" if engine.uses_language_model else "no language model is at work"
    if judge.server and not engine.uses_language_model:
        thinks = "a language model judges helpfulness, and does nothing else"
    cost = f" · {case.used.in_words()}" if case is not None and asks else ""
    with st.popover(
        f":small[{escaped(engine.name)}: {thinks}{escaped(cost)}]", icon=":material/memory:", type="tertiary"
    ):
        st.markdown(_MODEL if engine.uses_language_model else _LOCAL)
        if judge.server:
            st.markdown(_JUDGE.format(escaped(judge.name), escaped(judge.server)))
        if case is not None and case.usage:
            _costs(case)
        if asks:
            _budget()
        engine_choice()


def _costs(case: Case) -> None:
    st.markdown("**This case so far**")
    for step, used in case.usage.items():
        st.markdown(f"{escaped(step)}: {escaped(used.in_words())}")


def _budget() -> None:
    bounds = workspace().settings.llm
    parts = []
    if bounds.budget_dollars is not None:
        parts.append(f"{bounds.budget_dollars:.2f} US dollars")
    if bounds.budget_tokens is not None:
        parts.append(f"{bounds.budget_tokens:,} tokens")
    st.caption(f"Budget of a case: {' and '.join(parts)}. A call that could pass it is not made." if parts else "")


_FOUND = "model-servers"
_CHOSEN = "engine-choice"
_PLACE = "engine"
_KEYS = (
    "A server that wants a key: put it into the system's keyring with `crowdnotes models key set ADDRESS`. "
    "Keys are never shown here."
)


def engine_choice() -> None:
    """What may be used, as a list with a button; servers are looked for only when asked."""
    found: list[FoundServer] = st.session_state.get(_FOUND) or []
    options = workspace().engine_choices(found)
    in_use = workspace().choice
    st.selectbox(
        "Who thinks from now on",
        options,
        index=options.index(in_use) if in_use in options else 0,
        format_func=lambda choice: _name(choice, found),
        key=_CHOSEN,
        help="For everyone who uses this running app, until it is started again. Work under way goes on as it began.",
    )
    with st.container(horizontal=True):
        st.button("Use this engine", key="use-engine", icon=":material/swap_horiz:", on_click=_use)
        st.button("Look for model servers", key="find-servers", icon=":material/lan:", on_click=_look)
    notices(_PLACE)
    if _FOUND in st.session_state:
        _servers(found)


def _name(choice: EngineChoice, found: list[FoundServer]) -> str:
    if choice.base_url is None:
        words = "Local engine (no language model)"
    else:
        server = next((server.name for server in found if server.base_url == choice.base_url), choice.base_url)
        words = f"{choice.model or 'models as set'} on {server}"
    return f"{words} · in use" if choice == workspace().choice else words


def _use() -> None:
    act(_PLACE, lambda: use_engine(st.session_state[_CHOSEN]))


def _look() -> None:
    st.session_state[_FOUND] = act(_PLACE, workspace().find_servers) or []


def _servers(found: list[FoundServer]) -> None:
    if not found:
        st.caption("None answers on this machine (Ollama, LM Studio, llama.cpp and vLLM were asked).")
    for server in found:
        models = f"{len(server.models)} model{'' if len(server.models) == 1 else 's'}"
        st.caption(f"**{escaped(server.name)}**: {escaped(server.problem) if server.problem else models}")
        if server.models and not server.is_set:
            st.caption("To begin with it each time, set:")
            lines = f"CROWDNOTES_LLM_BASE_URL={server.base_url}\nCROWDNOTES_LLM_MODEL={server.models[0]}"
            st.code(lines, language=None)
    st.caption(_KEYS)
