"""Who thinks, what it cost so far, and which model servers on this machine could."""

from __future__ import annotations

import streamlit as st

from crowdnotes.domain import Case
from crowdnotes.engines.llm.discovery import FoundServer, find_servers
from pages.parts.session import workspace
from pages.parts.text import plain

_FOUND = "model-servers"
_LOCAL = (
    "The engine is what searches, writes and scores. The local one runs on this machine: it quotes the evidence and "
    "compares words, numbers and meaning. It makes up no sentence of its own."
)
_MODEL = (
    "The engine is what searches, writes and scores. A language model is at work: posts and passages are sent to its "
    "server. It gives words and verdicts; links, quotations and what carries each sentence are checked here."
)


def engine_panel(case: Case | None) -> None:
    """A line with the engine's name; opened, it tells more and looks for servers."""
    engine = workspace().engine
    thinks = "a language model is at work" if engine.uses_language_model else "no language model is at work"
    cost = f" · {case.used.in_words()}" if case is not None and engine.uses_language_model else ""
    with st.popover(f":small[{plain(engine.name)}: {thinks}{plain(cost)}]", icon=":material/memory:", type="tertiary"):
        st.markdown(_MODEL if engine.uses_language_model else _LOCAL)
        if case is not None and case.usage:
            _costs(case)
        _budget()
        st.button("Look for model servers", key="find-servers", icon=":material/lan:", on_click=_look)
        found: list[FoundServer] | None = st.session_state.get(_FOUND)
        if found is not None:
            _servers(found)


def _costs(case: Case) -> None:
    st.markdown("**This case so far**")
    for step, used in case.usage.items():
        st.markdown(f"{plain(step)}: {plain(used.in_words())}")


def _budget() -> None:
    bounds = workspace().settings.llm
    if not workspace().engine.uses_language_model:
        return
    parts = []
    if bounds.budget_dollars is not None:
        parts.append(f"{bounds.budget_dollars:.2f} US dollars")
    if bounds.budget_tokens is not None:
        parts.append(f"{bounds.budget_tokens:,} tokens")
    st.caption(f"Budget of a case: {' and '.join(parts)}. A call that could pass it is not made." if parts else "")


def _look() -> None:
    st.session_state[_FOUND] = find_servers(workspace().settings.llm)


def _servers(found: list[FoundServer]) -> None:
    if not found:
        st.caption("None answers on this machine (Ollama, LM Studio, llama.cpp and vLLM were asked).")
    for server in found:
        st.markdown(f"**{plain(server.name)}**" + (" (in use)" if server.is_set else ""))
        if server.problem:
            st.caption(plain(server.problem))
        elif not server.is_set:
            model = server.models[0] if server.models else "MODEL"
            st.caption("Set these and start the program again:")
            st.code(f"CROWDNOTES_LLM_BASE_URL={server.base_url}\nCROWDNOTES_LLM_MODEL={model}", language=None)
            if len(server.models) > 1:
                st.caption(f"It has also: {plain(', '.join(server.models[1:12]))}.")
