"""Step 3: the words, and which passage carries each sentence. Opens after the first passage in use."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from crowdnotes.domain import Case, Draft, SentenceSupport, Support
from crowdnotes.jobs.records import JobRecord
from crowdnotes.note_text import NOTE_LIMIT, note_length
from pages.parts.components import marked_text, note_pieces, outside_text, passage_words, sentence_pieces
from pages.parts.demonstration import tempting_note
from pages.parts.link_checks import cited_links
from pages.parts.note_box import note_box
from pages.parts.progress import job_panel, start, under_way
from pages.parts.session import act, author, workspace
from pages.parts.steps import StepName, StepState, StepView, step
from pages.parts.text import clip, host, plain

_BADGES: dict[Support, tuple[Literal["green", "orange", "red"], str]] = {
    Support.SUPPORTED: ("green", ":material/check:"),
    Support.PARTLY: ("orange", ":material/contrast:"),
    Support.UNSUPPORTED: ("red", ":material/close:"),
}
_LETTERS = "ABCDEFGHIJ"
_WRITES = {
    True: "From the passages in use alone. A language model writes; what carries each sentence is checked here.",
    False: "From the passages in use alone. No language model is at work: sentences are taken from the evidence.",
}


def draft_step(case: Case | None, job: JobRecord | None) -> None:
    """Draw the step."""
    with step(case, _view(case)) as is_open:
        if case is None:
            return
        with st.empty().container():  # its own place, so that the note below stays where it is when it goes
            job_panel(case, job, "write")
        if not is_open:
            return
        if case.decision is not None:
            _decided(case)
            return
        _writer(case, job)
        _without_link(case)
        note_box(case)
        cited_links(case)
        _attribution(case)


def _view(case: Case | None) -> StepView:
    name = StepName.DRAFT
    if case is None or (case.draft is None and not case.used_evidence):
        return StepView(name, StepState.LOCKED, "Opens when you use your first passage: evidence before words")
    if case.draft is None:
        return StepView(name, StepState.ACTIVE, "Let the program propose, or write it yourself")
    length = f"{note_length(case.draft.text)} of {NOTE_LIMIT} characters"
    if case.decision is not None:
        return StepView(name, StepState.DONE, length, "Open")
    return StepView(name, StepState.ACTIVE, length)


def _decided(case: Case) -> None:
    if case.draft is not None:
        pieces = note_pieces(case.draft.text, _sentences(case, case.draft))
        marked_text(pieces, look="note", key=f"decided-{case.id}")


def _sentences(case: Case, draft: Draft) -> tuple[SentenceSupport, ...]:
    """The newest attribution of this very text; empty when the words changed since."""
    if case.assessment is not None and case.assessment.text_sha256 == draft.sha256:
        return case.assessment.sentences
    return draft.sentences


def _writer(case: Case, job: JobRecord | None) -> None:
    label = "Write a draft" if not case.candidates else "Write new candidates"
    only = {candidate.sha256 for candidate in case.candidates} <= ({case.draft.sha256} if case.draft else set())
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if not only:
            _candidates(case)
        st.button(
            label,
            key="write",
            type="secondary" if case.draft else "primary",
            icon=":material/edit_note:",
            disabled=not case.used_evidence or under_way(job),
            help=_WRITES[workspace().engine.uses_language_model],
            on_click=start,
            args=(case, "write"),
        )
        tempting_note(case)
    if case.candidates and only:
        st.caption("The program wrote one note: the words below.")
    abstained = next((stage.summary for stage in case.stages if stage.name.value == "draft"), "")
    if not case.candidates and abstained:
        st.info(
            plain(abstained.removeprefix("No note: ")),
            title="The program proposes no note.",
            icon=":material/front_hand:",
        )


def _without_link(case: Case) -> None:
    """X asks for a link; a record of a library, or a pasted passage, may have none to give."""
    without = [item.id for item in case.used_evidence if not item.source.url]
    if without and len(without) == len(case.used_evidence):
        st.warning(
            "Use a passage that has a link as well, or paste this one again with the address of its page.",
            title="No passage in use has a link; X asks for one.",
            icon=":material/link_off:",
        )
    elif without:
        st.caption(f":material/link_off: {', '.join(without)} cannot be linked: link to another passage in use.")


def _candidates(case: Case) -> None:
    texts = {candidate.sha256: candidate.text for candidate in case.candidates}
    st.session_state["candidate"] = case.draft.sha256 if case.draft and case.draft.sha256 in texts else None
    letters = dict(zip(texts, _LETTERS, strict=False))
    st.segmented_control(
        "Candidates",
        list(texts),
        format_func=lambda sha256: f"{letters[sha256]} · {note_length(texts[sha256])} characters",
        key="candidate",
        on_change=_choose,
        args=(case.id,),
        help="Choosing one replaces the text below; Undo brings yours back.",
        wrap=True,
    )


def _choose(case_id: str) -> None:
    chosen = st.session_state["candidate"]
    if chosen is not None:
        act(StepName.DRAFT.value, lambda: workspace().service.choose_candidate(case_id, chosen, author()))


def _attribution(case: Case) -> None:
    draft = case.draft
    if draft is None or not draft.text.strip():
        return
    sentences = _sentences(case, draft)
    st.markdown("**What carries each sentence**")
    if not sentences:
        st.caption("The words changed. Score the note below to see which passage carries each sentence.")
        return
    if case.assessment is not None and not case.assessment_is_current:
        st.caption(":orange[:material/history:] The passages in use changed since. Score the note again below.")
    for number, sentence in enumerate(sentences, start=1):
        _sentence(case, draft.text, number, sentence)


def _sentence(case: Case, note: str, number: int, sentence: SentenceSupport) -> None:
    colour, icon = _BADGES[sentence.support]
    key = f"sentence-{case.id}-{number}"
    with st.container(key=key, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f":gray[{number}]", width="content")
            st.badge(sentence.support.value, color=colour, icon=icon)
            carrier = case.evidence_by_id(sentence.evidence_id) if sentence.evidence_id else None
            if carrier is not None:
                where = plain(host(carrier.source.url) or carrier.source.title, 50)
                st.markdown(f":small[:gray[{carrier.id} · {where}]]", width="content")
        marked_text(sentence_pieces(note, sentence), look="plain", key=f"{key}-text")
        if carrier is not None and sentence.carrier is not None:
            words = passage_words(carrier.passage, sentence.carrier)
            outside_text(f"“{clip(words, 320)}”", look="quote", key=f"{key}-quote")
        for doubt in dict.fromkeys(sentence.doubts):
            st.caption(f":orange[:material/help:] {plain(doubt)}")
