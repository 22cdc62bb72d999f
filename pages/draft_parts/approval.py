"""What is left before the note can be approved: each thing once, with what mends it."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from functools import partial

import streamlit as st

from crowdnotes.cases import actions, case_findings
from crowdnotes.domain import (
    Case,
    GateStatus,
    LintLevel,
    Obstacle,
    ObstacleId,
    ObstacleKind,
    PrincipleName,
    is_reason,
    remaining,
)
from crowdnotes.domain.approval import SENTENCE_KINDS
from crowdnotes.jobs import JobRecord
from crowdnotes.text.lint import without_tracking
from crowdnotes.text.markdown import escaped, host
from crowdnotes.wording import plural
from pages.common.components import led_to
from pages.common.engine_panel import use_own_engine_panel
from pages.common.layout import Area, StepName, go_to
from pages.common.progress import is_scoring, job_panel, start, under_way
from pages.common.session import button, cases, run_action, show_case, workspace
from pages.draft_parts.more_evidence import add_link
from pages.draft_parts.note import forbids_scoring
from pages.draft_parts.reader import open_source
from pages.draft_parts.scores import score, take_words

_NOTICE_AREA = StepName.DECIDE.value
_LEAD_KEY = "led"  # selectors of what the person is led to, with a token for each time
_FIELDS_PAGE_KEY = "reasons-on-draft"  # whether the reasons were drawn last on the Draft page
_NEW_POST_SELECTOR = ".st-key-new-post-box textarea"
_NOTE_BOX_SELECTOR = ".st-key-note-box textarea"
_FIRST_PROBLEM_SELECTOR = ".st-key-problem-0"
_QUEUE_FIELD_STARTS = ("comment-", "words-")  # comments for the author, which the Queue page shows
# What lifts these is the label of their button.
_KINDS_WITH_BUTTON = frozenset({
    ObstacleKind.UNOPENED, ObstacleKind.NOT_SCORED, ObstacleKind.STALE, ObstacleKind.LINK_UNINSPECTED,
    ObstacleKind.LINK_UNANSWERED, *SENTENCE_KINDS,
})  # fmt: skip
# What a button lifts on any page; the others lead to parts of the Draft page.
_KINDS_LIFTED_ANYWHERE = frozenset({ObstacleKind.NOT_SCORED, ObstacleKind.STALE, ObstacleKind.LINK_UNANSWERED})


def left_to_do(case: Case, waits: Sequence[Obstacle]) -> list[Obstacle]:
    """Return what no reason passes over yet."""
    return list(remaining(waits, reasons(case, waits)))


def lead_to_what_is_left(case: Case, waits: Sequence[Obstacle]) -> None:
    """Bring the first thing that approval waits for before the person, with the keyboard on what mends it."""
    if case.draft is None:
        if case.used_evidence:
            lead(Area.NOTE, _NOTE_BOX_SELECTOR, _FIRST_PROBLEM_SELECTOR)
        else:
            lead(Area.SOURCES, ".st-key-rows", ".st-key-area-sources", _FIRST_PROBLEM_SELECTOR)
        return
    left = {item.id for item in left_to_do(case, waits)}
    first = next((number for number, item in enumerate(waits) if item.id in left), None)
    if first is None:  # the last reason was typed just now
        return
    lead(None, "[class*=st-key-tags-]" if waits[first].id.kind is ObstacleKind.NO_TAG else f".st-key-problem-{first}")


def lead(area: Area | None, *selectors: str) -> None:
    """Take the person to the first part of the page that the selectors find; on a phone in that tab."""
    if area is not None:
        go_to(area)
    st.session_state[_LEAD_KEY] = (selectors, uuid.uuid4().hex[:8])


def start_new_note() -> None:
    """Show the first screen; the keyboard goes to the box for the post."""
    show_case(None)
    lead(None, _NEW_POST_SELECTOR)


def leading() -> None:
    """Bring into view what `lead` chose; once a page."""
    led_to(*st.session_state.get(_LEAD_KEY, ((), "")))


def problems(case: Case, waits: Sequence[Obstacle], job: JobRecord | None, *, on_draft: bool = True) -> None:
    """Draw them, those that stop approval first, then on the Draft page what is worth a look.

    Another page draws `notices` of `StepName.DECIDE` itself, and no button that leads to a part of the Draft page.
    """
    if st.session_state.get(_FIELDS_PAGE_KEY, on_draft) != on_draft:
        # Fields of the same key on two pages are two widgets: the second would begin empty. The case has the words.
        for key in [key for key in st.session_state if str(key).startswith(_field_key(case, ""))]:
            del st.session_state[key]
    st.session_state[_FIELDS_PAGE_KEY] = on_draft
    left = {item.id for item in left_to_do(case, waits)}
    if not on_draft:
        job_panel(case, job, "assess")
    job_panel(case, job, "links")
    with st.container(key="problems", gap="small"):
        if left:
            to_do = plural(len(left), "One thing left to do", "{n} things left to do")
            st.markdown(f":orange[:material/hourglass_top:] **{to_do}**")
        links = [item for item in waits if item.id.kind is ObstacleKind.LINK_UNANSWERED]
        for number, item in enumerate(waits):
            with st.container(key=f"problem-{number}", gap="xxsmall"):
                # All links are asked at once, so one button is enough.
                passed_over, checks_links = item.id not in left, item in links[:1]
                has_button = on_draft or item.id.kind in _KINDS_LIFTED_ANYWHERE
                _draw_problem(
                    case, item, job, number,
                    passed_over=passed_over, checks_links=checks_links, has_button=has_button,
                )  # fmt: skip
        if on_draft:
            _draw_form_warnings(case)


def reasons(case: Case, waits: Sequence[Obstacle]) -> dict[ObstacleId, str]:
    """Return the reasons written so far, by what each passes over, from the fields on the screen."""
    written = {item.id: kept_words(case, _override_field_name(case, item.id)) for item in waits}
    return {obstacle: reason for obstacle, reason in written.items() if reason}


def _draw_problem(
    case: Case,
    item: Obstacle,
    job: JobRecord | None,
    number: int,
    *,
    passed_over: bool,
    checks_links: bool,
    has_button: bool,
) -> None:
    sign = ":primary[:material/check:]" if passed_over else ":orange[:material/radio_button_unchecked:]"
    says_button = has_button and item.id.kind in _KINDS_WITH_BUTTON
    how = "You override this; your reason goes on record." if passed_over else "" if says_button else item.lifts
    waits_for_scores = item.id.kind in {ObstacleKind.NOT_SCORED, ObstacleKind.STALE}
    being_scored = waits_for_scores and is_scoring(case, job)
    if being_scored:
        how = "It is being scored."
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        then = f" :small[:gray[{escaped(how)}]]" if how else ""
        st.markdown(f"{sign} {escaped(item.sentence)}{then}", width="stretch")
        if has_button and not passed_over and not being_scored:
            _draw_fix_button(case, item, job, number, checks_links=checks_links)
    _draw_gate_findings(case, item)
    if item.id.is_overridable:
        _draw_override(case, item)


def _draw_fix_button(case: Case, item: Obstacle, job: JobRecord | None, number: int, *, checks_links: bool) -> None:
    """Draw the button that does what lifts it, where one press can."""
    kind, subject, busy = item.id.kind, item.id.subject, under_way(job)
    # Of a note's form there may be several of one kind, and a sentence is long.
    key = f"mend-{kind.name.lower()}-{number if kind in {ObstacleKind.FORM, *SENTENCE_KINDS} else subject}"
    look = {"type": "secondary"}
    if kind is ObstacleKind.GATE_NOT_RUN and case.recorded_answers:
        use_own_engine_panel(case, key)  # scoring again would find no recorded answer either
    elif kind in {ObstacleKind.UNOPENED, ObstacleKind.UNJUDGED}:
        button(f"Read {subject}", key, _NOTICE_AREA, partial(open_source, case, subject), **look)
    elif kind is ObstacleKind.EVIDENCE_GONE and any(gone.id == subject for gone in case.taken_away):
        back = partial(cases().apply, case.id, actions.restore_passage, subject)
        button(f"Bring {subject} back", key, _NOTICE_AREA, back, icon="undo", disabled=busy, **look)
    elif kind is ObstacleKind.LINK_UNINSPECTED:
        add = partial(add_link, case, subject)
        button("Add it as a source", key, _NOTICE_AREA, add, icon="add_link", disabled=busy, **look)
    elif kind in {ObstacleKind.NOT_SCORED, ObstacleKind.STALE}:
        closed = forbids_scoring(case, job)
        button("Score it now", key, _NOTICE_AREA, partial(score, case), icon="rule", disabled=closed, **look)
    elif kind in SENTENCE_KINDS and case.draft is not None:
        words = [it.words_in(case.draft.text).strip() for it in case.sentences]
        card = f"[class*=st-key-sentence-{words.index(subject) + 1}-]"
        compare = partial(lead, Area.NOTE, f"{card} [class*=st-key-comparison-]", card)
        button(f"Check sentence {words.index(subject) + 1}", key, _NOTICE_AREA, compare, **look)
    elif kind in {ObstacleKind.FORM, ObstacleKind.GATE_FAILED}:
        button("Change the note", key, _NOTICE_AREA, partial(lead, Area.NOTE, _NOTE_BOX_SELECTOR), **look)
    elif checks_links:
        again, look["help"] = partial(start, case, "links"), "Tries each link up to three times, as X does"
        button("Check the links", "check-links", _NOTICE_AREA, again, icon="sync", disabled=busy, **look)


def _draw_gate_findings(case: Case, item: Obstacle) -> None:
    """Draw what a gate that failed objects to."""
    if item.id.kind is not ObstacleKind.GATE_FAILED or case.assessment is None:
        return
    gate = next((result for result in case.assessment.found if result.gate.value == item.id.subject), None)
    if gate is None or gate.status is not GateStatus.FAIL:
        return
    wrong = ((found.evidence_id, found.message) for found in gate.findings if not found.ok)
    for evidence_id, message in dict.fromkeys(wrong):
        if message != gate.reason:
            about = f"{evidence_id}: " if evidence_id and not message.startswith(evidence_id) else ""
            st.markdown(f":small[:red[:material/arrow_right:] {about}{escaped(message)}]")


def _draw_override(case: Case, obstacle: Obstacle) -> None:
    """Folded: a written reason to approve all the same."""
    field = _override_field_name(case, obstacle.id)
    key = f"override-{case.id}-{obstacle.id.kind.name}-{obstacle.id.subject}".lower()  # it opens of this one alone
    with st.expander("Approve anyway, with a reason", key=key, type="compact", expanded=bool(kept_words(case, field))):
        said = kept_field(
            case,
            field,
            f"Why approve although {obstacle.id.although(_site_for_label, escaped)}?",
            "A short sentence, kept in the record",
        )
        if said and not is_reason(said):
            st.markdown(":small[:red[:material/error: Too short. Write a short sentence.]]")


def _draw_form_warnings(case: Case) -> None:
    """Draw what does not stop approval: that raters may not want the note, and what in its form may bother them."""
    results = case.assessment.principles if case.assessment is not None and case.assessment_is_current else ()
    for result in results:
        if result.principle is PrincipleName.WANTED and result.status is GateStatus.FAIL:
            st.markdown(
                f":orange[:material/help:] Raters may not want this note: {escaped(result.reason)} "
                ":small[:gray[If you agree, decide “No note needed”.]]"
            )
    warnings = [item for item in case_findings.form_warnings(case) if item.level is not LintLevel.BLOCKS]
    undated = [item.id for item in case.used_evidence if item.source.stated_day is None]
    if undated and not (case.assessment is not None and case.assessment.is_compared_by_person):  # asked there
        said = plural(
            len(undated),
            "{ids} has no date. Does it still hold?",
            "{ids} have no date. Do they still hold?",
            ids=", ".join(undated),
        )
        st.markdown(f":small[:orange[:material/event_busy:] {said}]")
    if unnamed := case_findings.unnamed_terms(case):
        names = " and ".join(f"“{escaped(name, 40)}”" for name in unnamed)
        st.markdown(f":small[:orange[:material/help:] The post speaks of {names}, your note does not.]")
    for message in dict.fromkeys(item.message for item in warnings):
        st.markdown(f":small[:orange[:material/warning:] {escaped(message)}]")
    if case.draft is not None and any(item.code == "tracking" for item in warnings):
        cut = partial(take_words, case, without_tracking(case.draft.text))
        button(
            "Remove the tracking from the link", "cut-tracking", _NOTICE_AREA, cut, icon="content_cut", type="tertiary"
        )


def kept_words(case: Case, field: str) -> str:
    """Return what such a field says now, also when it was typed just before a button was pressed."""
    return str(st.session_state.get(_field_key(case, field), _get_saved_words(case, field)) or "").strip()


def kept_field(case: Case, field: str, label: str, placeholder: str = "") -> str:
    """Draw a line to write in, kept in the case at every pause, so that a reload finds it; return its words."""
    state, key = st.session_state, _field_key(case, field)
    state.setdefault(key, _get_saved_words(case, field))
    st.text_input(
        label,
        key=key,
        placeholder=placeholder,
        live=True,
        on_change=run_action,
        args=(_NOTICE_AREA, lambda: cases().apply(case.id, actions.save_decision_text, field, state.get(key) or "")),
        persist_state="page",
    )
    return kept_words(case, field)


def typed_words(case: Case) -> dict[str, str]:
    """Return what this person has written towards the decision, here or before, by the label of its field."""
    start, state = _field_key(case, ""), st.session_state
    here = {str(key).removeprefix(start): said for key, said in state.items() if str(key).startswith(start)}
    mine = (it for it in case.typed_words if it.by_key == workspace().actor.key)
    own = {it.field: it.text for it in mine if not it.field.startswith(_QUEUE_FIELD_STARTS)} | here
    labels = {
        field: "Comment" if " " not in field else f"Why approve although {field.rpartition(' ')[0]}" for field in own
    }
    return {labels[field]: str(said) for field, said in own.items() if str(said or "").strip()}


def _get_saved_words(case: Case, field: str) -> str:
    return case.words_of(workspace().actor.key, field)


def _field_key(case: Case, field: str) -> str:
    return f"decision-{case.id}-{field}"


def _override_field_name(case: Case, obstacle: ObstacleId) -> str:
    """Names the very judgement that is passed over: a reason for one text says nothing about another."""
    assessment = case.assessment
    judged = f"{assessment.text_sha256}-{assessment.basis_sha256}" if assessment else "not-scored"
    return f"{obstacle.kind.value} {obstacle.subject} {judged}"


def _site_for_label(url: str) -> str:
    """Return the host, for a label: the whole address is above it, and a note may leave the scheme out."""
    site = host(url if "://" in url else f"https://{url}")
    # Without escapes where none is needed: a label is also read aloud, as it is written here.
    return site if re.fullmatch(r"[a-z0-9.-]+", site) else escaped(site, 60)
