"""How far moderators agree who read the same cases without each other's findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from crowdnotes.cases.agreement import agreement, read_pairs
from crowdnotes.cases.export import findings_csv
from crowdnotes.domain import Figure, ReadPair
from crowdnotes.wording import plural
from crowdnotes.workspace import Workspace
from pages.common.session import cases, download, expander


def agreement_fold() -> None:
    """Draw it folded."""
    expander("How far readers agree", "agreement", "group", _draw_agreement)


def _draw_agreement() -> None:
    found = read_pairs(cases())
    figures = agreement(found)
    st.caption("They did not see each other's findings. Kappa and alpha: 1 is full agreement, 0 chance.")
    with st.container(horizontal=True, gap="large"):
        for name, figure in figures.items():
            with st.container(gap=None, width="content"):
                if figure.value is None:
                    st.metric(name, "NOT RUN")
                    st.caption(figure.not_run)
                    continue
                is_share = name == "Same finding"
                interval = [
                    f"{100 * it:.0f} %" if is_share else f"{it:.2f}"
                    for it in (figure.value, figure.low, figure.high)
                    if it is not None
                ]
                st.metric(name, interval[0])
                ends = f"{interval[1]} – {interval[2]}, " if len(interval) > 1 else ""
                pairs = plural(figure.n, "1 pair of sentence and source", "{n} pairs of sentence and source")
                st.caption(f"{ends}{pairs}. {figure.how}")
    if found:
        export = partial(_export_findings, found, figures)
        download("Export findings as CSV", export, "agreement.csv", "text/csv")


def _export_findings(found: Sequence[ReadPair], figures: Mapping[str, Figure], mine: Workspace) -> str:
    for case_id in {pair.case_id for pair in found}:
        mine.cases.get(case_id)  # goes on record: the table shows who found what
    return findings_csv(found, figures)
