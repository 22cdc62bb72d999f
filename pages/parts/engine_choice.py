"""Changing who thinks, while the app runs: the local engine, or a model on a server that is set or was found."""

from __future__ import annotations

import streamlit as st

from crowdnotes.engines.choice import EngineChoice
from crowdnotes.engines.llm.discovery import FoundServer, find_servers, require_answer
from pages.parts.session import act, notices, use_engine, workspace
from pages.parts.text import plain

_FOUND = "model-servers"
_CHOSEN = "engine-choice"
_PLACE = "engine"
_MOST_MODELS = 30  # of one server: a long list hides what is wanted
_KEYS = (
    "A server that wants a key: put it into the system's keyring with `crowdnotes models key set ADDRESS`. "
    "Keys are never shown here."
)


def engine_choice() -> None:
    """What may be used, as a list with a button; servers are looked for only when asked."""
    found: list[FoundServer] = st.session_state.get(_FOUND) or []
    options = _options(found)
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


def _options(found: list[FoundServer]) -> list[EngineChoice]:
    """The local engine, the server that is set, what is in use, and each model found."""
    options = [EngineChoice()]
    if workspace().settings.llm.base_url is not None:
        options.append(EngineChoice(workspace().settings.llm.base_url))
    options.append(workspace().choice)
    for server in found:
        options += [EngineChoice(server.base_url, model) for model in server.models[:_MOST_MODELS]]
    return list(dict.fromkeys(options))


def _name(choice: EngineChoice, found: list[FoundServer]) -> str:
    if choice.base_url is None:
        words = "Local engine (no language model)"
    else:
        server = next((server.name for server in found if server.base_url == choice.base_url), choice.base_url)
        words = f"{choice.model or 'models as set'} on {server}"
    return f"{words} · in use" if choice == workspace().choice else words


def _use() -> None:
    choice: EngineChoice = st.session_state[_CHOSEN]

    def use() -> None:
        require_answer(choice, workspace().settings.llm)
        use_engine(choice)

    act(_PLACE, use)


def _look() -> None:
    st.session_state[_FOUND] = act(_PLACE, lambda: find_servers(workspace().settings.llm)) or []


def _servers(found: list[FoundServer]) -> None:
    if not found:
        st.caption("None answers on this machine (Ollama, LM Studio, llama.cpp and vLLM were asked).")
    for server in found:
        models = f"{len(server.models)} model{'' if len(server.models) == 1 else 's'}"
        st.caption(f"**{plain(server.name)}**: {plain(server.problem) if server.problem else models}")
        if server.models and not server.is_set:
            st.caption("To begin with it each time, set:")
            lines = f"CROWDNOTES_LLM_BASE_URL={server.base_url}\nCROWDNOTES_LLM_MODEL={server.models[0]}"
            st.code(lines, language=None)
    st.caption(_KEYS)
