"""Who thinks, what it cost so far, and how to let another engine think."""

from __future__ import annotations

import streamlit as st

from crowdnotes.domain import Case
from pages.parts.engine_choice import engine_choice
from pages.parts.session import workspace
from pages.parts.text import plain

_LOCAL = (
    "The engine is what searches, writes and scores. The local one runs on this machine: it quotes the evidence and "
    "compares words, numbers and meaning. It makes up no sentence of its own."
)
_MODEL = (
    "The engine is what searches, writes and scores. A language model is at work: posts and passages are sent to its "
    "server. It gives words and verdicts; links, quotations and what carries each sentence are checked here."
)


def engine_panel(case: Case | None) -> None:
    """A line with the engine's name; opened, it tells more and lets the person change it."""
    engine = workspace().engine
    thinks = "a language model is at work" if engine.uses_language_model else "no language model is at work"
    cost = f" · {case.used.in_words()}" if case is not None and engine.uses_language_model else ""
    with st.popover(f":small[{plain(engine.name)}: {thinks}{plain(cost)}]", icon=":material/memory:", type="tertiary"):
        st.markdown(_MODEL if engine.uses_language_model else _LOCAL)
        if case is not None and case.usage:
            _costs(case)
        _budget()
        engine_choice()


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
