"""What approval waits for, with room for the reasons that pass a check over."""

from __future__ import annotations

import re

import streamlit as st

from crowdnotes.cases.reasons import A_REASON, missing_from
from crowdnotes.domain import Case, GateStatus
from crowdnotes.errors import WorkflowError
from crowdnotes.handoff import gate_said
from crowdnotes.jobs.records import JobRecord
from pages.parts.link_checks import ask_again
from pages.parts.session import act, workspace
from pages.parts.steps import StepName
from pages.parts.text import count, host, plain

_PLACE = StepName.DECIDE.value
_OVERRIDDEN = "You override it: approving puts your reason below on record."


def overrides(case: Case, job: JobRecord | None) -> None:
    """Draw each check that waits, and the field for its reason."""
    waits = workspace().service.obstacles(case)
    behind = _behind(case)
    still = {item.rule for item in workspace().service.obstacles(case, reasons(case))}
    if still:
        things = count(len(still), "thing")
        st.markdown(f":orange[:material/hourglass_top:] **Approval waits for {things} more, listed here**")
    for item in waits:
        check = _check(item)
        if check in behind:
            _covered(item, by=behind[check], passed_over=item.rule not in still)
            continue
        _wait(item, passed_over=item.rule not in still)
        if check:
            _field(case, check)
    if any(item.rule.startswith("live:") for item in waits):
        ask_again(case, job)


def reasons(case: Case) -> dict[str, str]:
    """The reasons written so far, by the check that each passes over, as the fields stand now."""
    behind = _behind(case)
    checks = [check for item in workspace().service.obstacles(case) if (check := _check(item))]
    written = {check: kept_words(case, _field_name(case, behind.get(check, check))) for check in checks}
    return {check: reason for check, reason in written.items() if reason}


def kept_words(case: Case, field: str) -> str:
    """What such a field says now, also when it was typed just before a button was pressed."""
    return str(st.session_state.get(_key(case, field), case.decision_words.get(field)) or "").strip()


def kept_field(case: Case, field: str, label: str, placeholder: str = "") -> str:
    """A line to write in, kept in the case at every pause, so that a reload finds it; gives what it says."""
    key = _key(case, field)
    st.session_state.setdefault(key, case.decision_words.get(field, ""))
    st.text_input(
        label,
        key=key,
        placeholder=placeholder,
        live=True,
        on_change=_keep,
        args=(case.id, field, key),
        persist_state="page",
    )
    return kept_words(case, field)


def _keep(case_id: str, field: str, key: str) -> None:
    said = st.session_state.get(key) or ""
    act(_PLACE, lambda: workspace().service.keep_decision_words(case_id, field, said))


def _wait(refusal: WorkflowError, *, passed_over: bool) -> None:
    sign = ":primary[:material/check:]" if passed_over else ":orange[:material/chevron_right:]"
    next_step = _OVERRIDDEN if passed_over else refusal.next_step
    st.markdown(f"{sign} {plain(refusal.message)} :gray[{plain(next_step)}]")


def _covered(refusal: WorkflowError, *, by: str, passed_over: bool) -> None:
    """A gate that only waits for one before it: the reason for that one is put on record for it too."""
    sign = ":primary[:material/check:]" if passed_over else ":orange[:material/chevron_right:]"
    how = f"Your reason for {by} goes on record for it too." if passed_over else f"A reason for {by} covers it too."
    st.markdown(f"{sign} {plain(refusal.message)} :gray[{how}]")


def _field(case: Case, check: str) -> None:
    said = kept_field(
        case,
        _field_name(case, check),
        f"Why approve although {_although(case, check)}? (at least {A_REASON})",
        "Your reason stays in the record. Leave it empty to mend the note instead.",
    )
    missing = missing_from(said)
    if said and missing:
        st.markdown(f":small[:red[:material/error: Too short for a reason: it needs {missing}.]]")


def _behind(case: Case) -> dict[str, str]:
    """The gates that were not run because one before them did not pass, each with that one."""
    gates = case.assessment.gates if case.assessment is not None else ()
    first = next((gate for gate in gates if gate.status is not GateStatus.PASS), None)
    if first is None:
        return {}
    waiting = gates[gates.index(first) + 1 :]
    return {gate.gate.value: first.gate.value for gate in waiting if gate.status is GateStatus.NOT_RUN}


def _key(case: Case, field: str) -> str:
    return f"words-{case.id}-{field}"


def _field_name(case: Case, check: str) -> str:
    """Names the very judgement that is passed over: a reason for one text says nothing about another."""
    assessment = case.assessment
    judged = f"{assessment.text_sha256}-{assessment.basis_sha256}" if assessment else "not-scored"
    return f"{check} {judged}"


def _check(refusal: WorkflowError) -> str:
    """The check that a written reason can pass over; empty for a rule that nobody can."""
    if refusal.rule.startswith("gate "):
        return refusal.rule.removeprefix("gate ")
    return refusal.rule if refusal.rule.startswith(("link:", "live:")) else ""


def _although(case: Case, check: str) -> str:
    if check.startswith("link:"):
        return f"the link to {_site(check.removeprefix('link:'))} was not inspected"
    if check.startswith("live:"):
        return f"the link to {_site(check.removeprefix('live:'))} was not found to answer"
    return gate_said(case, check)


def _site(url: str) -> str:
    """The host, for a label: the whole address stands above it, and a note may leave the scheme out."""
    site = host(url if "://" in url else f"https://{url}")
    # Without escapes where none is needed: a label is also read aloud, as it is written here.
    return site if re.fullmatch(r"[a-z0-9.-]+", site) else plain(site, 60)
