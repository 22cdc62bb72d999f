"""Earlier evidence: the sets of passages as they were, and the way back to them."""

from __future__ import annotations

import streamlit as st

from crowdnotes.cases.earlier_sets import taken_away
from crowdnotes.domain import Case, Evidence, EvidenceSet
from crowdnotes.jobs.records import JobRecord
from pages.parts.progress import under_way
from pages.parts.session import act, author, workspace
from pages.parts.steps import StepName
from pages.parts.text import count, host, moment, plain

_PLACE = StepName.EVIDENCE.value


def earlier_evidence(case: Case, job: JobRecord | None) -> None:
    """Every earlier set, the newest first, and the passages that are not here any more. Folded away."""
    sets = case.earlier_evidence
    if not sets:
        return
    label = f"Earlier evidence ({count(len(sets), 'set')})"
    with st.expander(label, key=f"earlier-{case.id}", icon=":material/history:", on_change="rerun") as fold:
        if not fold.open:
            return
        closed = under_way(job) or case.decision is not None
        gone = taken_away(case)
        if gone:
            st.markdown("**Not here any more**")
            for item in gone:
                _passage(case, item, closed=closed)
        st.markdown("**As it was**")
        for number in reversed(range(len(sets))):
            _set(case, number, sets[number], closed=closed)


def _passage(case: Case, item: Evidence, *, closed: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(_named(item), width="stretch")
        bring_back_button(case, item.id, "Bring back", closed=closed)


def bring_back_button(case: Case, evidence_id: str, label: str, *, closed: bool, place: str = "earlier") -> None:
    """Puts a passage that is not here any more beside those that are; `place` tells two such buttons apart."""
    st.button(
        label,
        key=f"bring-back-{case.id}-{evidence_id}-{place}",
        type="tertiary",
        icon=":material/undo:",
        disabled=closed,
        on_click=_bring_back,
        args=(case, evidence_id),
    )


def _set(case: Case, number: int, earlier: EvidenceSet, *, closed: bool) -> None:
    when = moment(earlier.at) if earlier.at is not None else "Time not recorded"
    why = f" · before: {plain(earlier.why, 120)}" if earlier.why else ""
    with st.container(border=True, gap="xsmall", key=f"earlier-set-{number}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"{when}{why}", width="stretch")
            st.button(
                "Bring these back",
                key=f"bring-back-{case.id}-set-{number}",
                type="tertiary",
                icon=":material/settings_backup_restore:",
                disabled=closed or earlier.evidence == case.evidence,
                help="What the note uses stays beside them. The present passages go on record.",
                on_click=_bring_back_set,
                args=(case, number),
            )
        st.markdown("  \n".join(_named(item) for item in earlier.evidence))


def _named(item: Evidence) -> str:
    where = plain(host(item.source.url) or item.source.library or "", 50)
    read = " · opened" if item.review.opened_at is not None else ""
    return f":small[**{item.id}** {plain(item.source.title, 110)} :gray[{where}{read}]]"


def _bring_back(case: Case, evidence_id: str) -> None:
    act(_PLACE, lambda: workspace().service.bring_back(case.id, evidence_id, author()))


def _bring_back_set(case: Case, number: int) -> None:
    act(_PLACE, lambda: workspace().service.bring_back_set(case.id, number, author()))
