"""How far moderators agree who read the same cases without each other's findings."""

from __future__ import annotations

import streamlit as st

from crowdnotes.cases.export import findings_csv
from crowdnotes.wording import say
from pages.common.session import fold, workspace


def agreement_fold() -> None:
    """Draw it folded."""
    fold(say("agreement_figures.title"), "agreement", "group", _agreement)


def _agreement() -> None:
    figures, found = workspace().service.agreement()
    st.caption(say("agreement_figures.about"))
    with st.container(horizontal=True, gap="large"):
        for name, figure in figures.items():
            with st.container(gap=None, width="content"):
                if figure.value is None:
                    st.metric(name, say("agreement_figures.not_run"))
                    st.caption(figure.not_run)
                    continue
                is_share = name == say("agreement_figures.percent")
                told = [
                    _told(it, is_share=is_share) for it in (figure.value, figure.low, figure.high) if it is not None
                ]
                st.metric(name, told[0])
                ends = f"{told[1]} – {told[2]}, " if len(told) > 1 else ""
                st.caption(f"{ends}{say('agreement_figures.n', n=figure.n)}. {figure.how}")
    if found:
        st.download_button(
            say("agreement_figures.export"),
            data=lambda: findings_csv(found, figures),
            file_name="agreement.csv",
            mime="text/csv",
            icon=":material/download:",
            on_click="ignore",
        )


def _told(value: float, *, is_share: bool) -> str:
    return f"{100 * value:.0f} %" if is_share else f"{value:.2f}"
