"""The note: what the program proposes, the box in which the person writes, and the state of its links."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import streamlit as st

from crowdnotes.cases import actions, approval
from crowdnotes.cases.permissions import why_read_only
from crowdnotes.domain import (
    INFERRED,
    Act,
    Basis,
    Case,
    Draft,
    Evidence,
    GateStatus,
    LinkCheck,
    LinkState,
    Quotation,
    StageName,
)
from crowdnotes.errors import StoreError, WorkflowError
from crowdnotes.evidence.demo_pages import example_of, is_demonstration_url
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import escaped, host
from crowdnotes.text.note_rules import find_urls, note_length
from crowdnotes.text.urls import canonical_url
from crowdnotes.wording import plural
from pages.common.components import (
    badge,
    gate_sign,
    note_counter,
    outside_text,
    passage_words,
    source_name,
    web_link,
)
from pages.common.jury import CANDIDATE_LETTERS
from pages.common.layout import Area, StepName, go_to
from pages.common.progress import is_outdated, job_panel, start, under_way
from pages.common.search_report import through_badge
from pages.common.session import button, cases, refused_form, run_action, unsaved_words, workspace

_MAX_SECONDS_TO_STOP = 5  # until a scoring that is not wanted any more next looks whether to stop
_BADGE_BY_LINK_STATE = {
    LinkState.LIVE: ("green", "link"),
    LinkState.BLOCKED: ("orange", "block"),
    LinkState.UNREACHABLE: ("orange", "cloud_off"),
    LinkState.DEAD: ("red", "link_off"),
    LinkState.REFUSED: ("red", "gpp_bad"),
}


def _link_badge(check: LinkCheck | None) -> str:
    """Return Markdown of a badge that says how a link answered."""
    if check is None:
        return badge("gray", "help", "not checked yet")
    if is_demonstration_url(check.url):
        return badge("gray", "science", "made up for the example")
    return badge(*_BADGE_BY_LINK_STATE[check.state], check.as_text)


def cited_links(case: Case) -> None:
    """Draw the note's links with how each answered, in a line. The problems say why one did not."""
    checks = approval.link_checks(case, cases().now())
    if not checks:
        return
    with st.container(key="cited-links", horizontal=True, vertical_alignment="center", gap="small"):
        for url, check in checks:
            address = url if "://" in url else f"https://{url}"
            link = f"Link {escaped(host(address) or url, 60)}"
            st.markdown(f":small[{link}] {_link_badge(check)}", width="content")
            web_link("Archived copy", check.archived_url if check is not None else None, "inventory_2")


def cited_badge(case: Case, url: str | None) -> str:
    """Markdown of the badge for a source that the note cites; empty when it does not."""
    checks = approval.link_checks(case, cases().now()) if url else ()
    mine = (check for cited, check in checks if url and canonical_url(cited) == canonical_url(url))
    return next((f":small[link] {_link_badge(check)}" for check in mine), "")


def _is_asking_links(job: JobRecord | None) -> bool:
    """Return whether all that is still under way is asking the links."""
    current = job.current if job is not None and job.state.under_way else None
    return current is not None and current.name == StageName.LINKS.value


def forbids_scoring(case: Case, job: JobRecord | None) -> bool:
    """Return whether a job is at work that does not stop for a new scoring."""
    return under_way(job) and not (_is_asking_links(job) or is_outdated(case, job))


def stop_for_new_scores(case: Case) -> None:
    """End a check of the links, or a scoring of an earlier text, so that a new scoring can start; it takes a moment."""
    runner = workspace().runner
    job = runner.latest(case.id)
    if job is not None and job.state.under_way and not forbids_scoring(cases().get(case.id), job):
        workspace().cancel(job)
        runner.wait(job.id, timeout=_MAX_SECONDS_TO_STOP)


def draw_propose_button(case: Case, job: JobRecord | None) -> None:
    """Draw the button that lets the program propose, its progress, and why it proposes nothing."""
    with st.empty().container():  # its own place, so that the note below stays where it is when it goes
        job_panel(case, job, "write")
    _draw_write_button(case, job)
    with st.container(gap="small"):  # always there, so that the note below stays where it is
        _explain_missing_note(case)
    _warn_of_inference(case)
    _warn_of_missing_links(case)


def _warn_of_inference(case: Case) -> None:
    """Warn that no source says the note's answer in so many words."""
    if case.draft is not None and case.draft.is_inferred(case.settlement, case.evidence):
        st.warning(
            "Does it follow from them? If not, change the note or decide “Not enough evidence”.",
            title=INFERRED,
            icon=":material/psychology_alt:",
        )


def draw_proposals(case: Case) -> None:
    """Draw the candidates, or sentences to quote, each one click from the note above."""
    with st.container(key="proposed", gap="small"):  # always there, so that what is below stays where it is
        _draw_candidates(case)
        _draw_quotations(case)


def is_closed(case: Case) -> bool:
    """Return whether there may be no words yet: evidence comes first."""
    return case.draft is None and not case.used_evidence


def _draw_write_button(case: Case, job: JobRecord | None) -> None:
    by_model = workspace().engine.uses_language_model
    is_recorded = case.recorded_answers and bool(case.candidates)  # no other answer was recorded
    name = "Find sentences to quote" if not by_model else "Write another draft" if case.candidates else "Write a draft"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if not is_recorded:
            button(
                name,
                "write",
                _NOTICE_AREA,
                partial(_start_writing, case),
                type="secondary" if case.draft else "primary",
                icon="edit_note",
                disabled=not case.used_evidence or under_way(job),
                help="From the sources in use only (W)" if by_model else "Without AI no note is written (W)",
            )
        tempting_note(case)


def _start_writing(case: Case) -> None:
    go_to(Area.NOTE)
    start(case, "write")


def _draw_candidates(case: Case) -> None:
    """Draw a card for each: its words, its gates where it was scored, and the way into the note."""
    if {candidate.sha256 for candidate in case.candidates} <= ({case.draft.sha256} if case.draft else set()):
        if case.candidates:
            st.caption("Made from other people's notes." if case.supernote is not None else "The AI wrote this note.")
            _draw_judge_remarks(case.candidates[0])
        return
    label = plural(len(case.candidates), "{n} draft", "{n} drafts")
    with st.expander(label, expanded=True, key=f"candidates-{case.id}", type="compact"):
        for letter, candidate in zip(CANDIDATE_LETTERS, case.candidates, strict=False):
            _draw_candidate_card(case, letter, candidate)


def _draw_candidate_card(case: Case, letter: str, candidate: Draft) -> None:
    here = case.draft is not None and case.draft.sha256 == candidate.sha256
    with st.container(key=f"candidate-card-{letter}{'-here' if here else ''}", gap="xxsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            revised = " · improved" if candidate.changes else ""
            length = f" · {note_length(candidate.text)} characters"
            st.markdown(
                f"**{letter}** {_format_gate_signs(case, candidate)} :small[:gray[{revised}{length}]]", width="stretch"
            )
            if here:
                st.markdown(":small[:gray[:material/check: in the note]]", width="content")
            else:
                choose = partial(cases().apply, case.id, actions.choose_candidate, candidate.sha256)
                look = {"type": "tertiary", "help": "Replaces your text. Undo brings it back."}
                button("Use this text", f"candidate-{letter}", _NOTICE_AREA, choose, icon="arrow_upward", **look)
        _draw_leading_source(case, candidate)
        outside_text(_strip_links(candidate.text), look="clipped", key=f"candidate-text-{case.id}-{letter}")
        if here:
            _draw_judge_remarks(candidate)


def _draw_leading_source(case: Case, candidate: Draft) -> None:
    """Draw the source of its first sentence, and whether that source states it, as its writer says."""
    first = candidate.sentences[0] if candidate.sentences else None
    item = case.evidence_by_id(first.evidence_id) if first is not None and first.evidence_id else None
    if first is not None and item is not None:
        is_inferred = candidate.is_inferred(case.settlement, case.evidence)
        said = ", which suggests it" if is_inferred or first.basis is Basis.INFERRED else ""
        where = escaped(source_name(item.source), 50)
        st.markdown(f":small[:gray[Starts from {item.id}, {where}{said}]]")


def _strip_links(text: str) -> str:
    for found in reversed(find_urls(text)):
        text = text[: found.start].rstrip() + text[found.end :]
    return text.strip()


def _format_gate_signs(case: Case, candidate: Draft) -> str:
    """Its three gates, where this very text was scored."""
    known = case.scores_of(candidate.sha256)
    if known is None:
        return ":small[:gray[not scored]]"
    passed = sum(gate.status is GateStatus.PASS for gate in known.gates)
    marks = "".join(map(gate_sign, known.gates))
    return f"{marks} :small[{passed} of {len(known.gates)} checks passed]"


def _draw_judge_remarks(candidate: Draft) -> None:
    """Draw what the judge changed in it, or holds against it."""
    if candidate.changes:
        st.caption(f":material/edit_note: Improved: {escaped(candidate.changes, 300)}")
    for objection in candidate.objections:
        st.caption(f":material/rate_review: {escaped(objection, 300)}")


def _explain_missing_note(case: Case) -> None:
    """Draw why there is no note, where the program proposes none; not above words of the person's own."""
    written = next((stage for stage in case.stages if stage.name is StageName.DRAFT), None)
    if case.draft is None and case.candidates:
        st.caption("Use one of the drafts below, or write your own note.")
    if written is None or case.candidates or (case.draft is not None and not case.quotations):
        return
    said = escaped(written.reason or written.summary)
    if case.quotations:
        st.caption(said)
    else:
        st.info(said, title="No note was written.", icon=":material/front_hand:")


def _draw_quotations(case: Case) -> None:
    """Whole sentences of the passages in use, each one click from the note."""
    used = {item.id: item for item in case.used_evidence}
    for number, quotation in enumerate(case.quotations, start=1):
        item = used.get(quotation.evidence_id)
        if item is None:  # put aside since
            continue
        with st.container(key=f"quotation-{number}", gap="xsmall"):
            outside_text(
                f"“{passage_words(item.passage, quotation.span)}”", look="quote", key=f"quoted-{case.id}-{number}"
            )
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                source_line(item)
                if _is_in_note(case, item, quotation):
                    st.markdown(":small[:gray[:material/check: in the note]]", width="content")
                    continue
                quote = partial(_insert_quotation, case, quotation)
                about = "Quotes it in your note, with its link"
                look = {"help": about, "type": "tertiary"}
                button("Use this text", f"quote-{number}", _NOTICE_AREA, quote, icon="add", **look)


def _is_in_note(case: Case, item: Evidence, quotation: Quotation) -> bool:
    words = " ".join(item.passage.text[quotation.span.start : quotation.span.end].split())
    return case.draft is not None and words in " ".join(case.draft.text.split())


def source_line(item: Evidence) -> None:
    """Its id and where it is from; of what a service read, that nobody compared its words with the page."""
    where = escaped(source_name(item.source), 50)
    st.markdown(" ".join([f":small[:gray[{item.id} · {where}]]", *through_badge(item.source)]), width="content")


def _insert_quotation(case: Case, quotation: Quotation) -> None:
    """Save words that were typed just now first, so that the quotation follows them."""
    if save_typed(case):
        cases().apply(case.id, actions.quote, quotation)


def _warn_of_missing_links(case: Case) -> None:
    """X asks for a link; a record of a library, or a pasted passage, may have none to give."""
    without = [item.id for item in case.used_evidence if not item.source.url]
    if without and len(without) == len(case.used_evidence):
        st.warning(
            "Use a source that has one, or paste this one again with its address.",
            title="X needs a link, and no source in use has one.",
            icon=":material/link_off:",
        )
    elif without:
        st.caption(f":material/link_off: No link: {', '.join(without)}. Link to another source.")


SCORE_BUTTON = "score"
_BOX_KEY = "note-box"
_NOTICE_AREA = StepName.DRAFT.value


@dataclass(slots=True)
class _NoteBoxState:
    """`base` is the sha256 of the saved text that the box began from; `rival` an edit over one that changed meanwhile.

    `refused` are words that the case took no more, as when it was decided meanwhile.
    """

    base: str | None
    generation: int = 0
    rival: str | None = None
    refused: str | None = None

    def key(self, case: Case) -> str:
        # A new generation is a new widget: the only way to put other words before the person.
        return f"note-{case.id}-{self.generation}"


def note_box(case: Case) -> None:
    """Draw the box and its counter."""
    box = _get_note_box_state(case)
    saved = case.draft.sha256 if case.draft else None
    if box.refused and (box.base != saved or box.key(case) not in st.session_state):
        box.rival, box.refused = box.refused, None  # the box does not hold them any more
    if box.base != saved and box.rival is None:
        box.base = saved
        box.generation += 1
    if box.rival is not None:
        _draw_edit_conflict(case, box, box.rival)
        return
    text = case.draft.text if case.draft else ""
    with st.container(key=_BOX_KEY, gap="xsmall"):
        st.text_area(
            "The note, with its links",
            value=text,
            height="content",
            key=box.key(case),
            on_change=run_action,
            args=(_NOTICE_AREA, partial(save_typed, case)),
            placeholder="Say what the sources say, in neutral words, and link to them",
            disabled=bool(why_read_only(case, cases().actor)),
        )
        aside = partial(setattr, box, "rival")  # typed before a reload, over a text that is not the saved one any more
        note_counter(text, box=_BOX_KEY, submit=SCORE_BUTTON, on_aside=aside, key=f"counter-{case.id}")


def draw_refused_words(case_id: str, case: Case | None) -> None:
    """Draw what was typed into the box or a form while the case was decided, deleted or changed elsewhere."""
    refused_form(case_id, case)
    box: _NoteBoxState | None = st.session_state.get(f"box-{case_id}")
    if case is not None and box is not None and box.refused == (case.draft.text if case.draft else None):
        box.refused = None
    if case is not None and case.decision is not None:
        _find_unsaved(case, _get_note_box_state(case))
    if box is None or not box.refused or (case is not None and case.decision is None):
        return  # where the case is open the words are still in the box
    may_reopen = case is not None and workspace().may(Act.REOPEN, case)
    keep = partial(_reopen_with, case, box.refused) if case is not None and may_reopen else None
    why = "The case was deleted." if case is None else "The case was decided meanwhile."
    unsaved_words(case_id, {"The note": box.refused}, why, _NOTICE_AREA, keep)


def _find_unsaved(case: Case, box: _NoteBoxState) -> None:
    """Ask the browser for words that it had not sent yet when the box went away."""
    note_counter(
        case.draft.text if case.draft else "",
        box=_BOX_KEY,
        submit=SCORE_BUTTON,
        on_aside=partial(setattr, box, "refused"),
        key=f"counter-{case.id}",
        is_gone=True,
    )


def _reopen_with(case: Case, text: str) -> None:
    cases().apply(case.id, actions.reopen)
    _replace_text(case, text)
    _get_note_box_state(case).refused = None


def draw_link_buttons(case: Case) -> None:
    """Draw, under a note without a link, a button for each source in use that puts its link there."""
    if case.draft is None or not case.draft.text.strip() or any(it.has_scheme for it in find_urls(case.draft.text)):
        return
    pages = {item.source.url: item for item in reversed(case.used_evidence) if item.source.url}
    for item in reversed(pages.values()):
        look = {
            "type": "tertiary",
            "help": "At the end of the note",
            "disabled": bool(why_read_only(case, cases().actor)),
        }
        add = partial(_add_link, case, item.id)
        button(f"Add the link of {item.id}", f"add-link-{item.id}", _NOTICE_AREA, add, icon="add_link", **look)


def _add_link(case: Case, evidence_id: str) -> None:
    """Save words that were typed just now first, so that the link follows them."""
    if save_typed(case):
        cases().apply(case.id, actions.add_link, evidence_id)


def draw_undo_button(case: Case) -> None:
    """Draw the button that goes back to the text before the last change."""
    back = partial(cases().apply, case.id, actions.undo_edit)
    button("Undo", "undo", _NOTICE_AREA, back, icon="undo", disabled=not case.revisions, type="tertiary")


def _get_note_box_state(case: Case) -> _NoteBoxState:
    key = f"box-{case.id}"
    if key not in st.session_state:
        st.session_state[key] = _NoteBoxState(case.draft.sha256 if case.draft else None)
    box: _NoteBoxState = st.session_state[key]
    return box


def save_typed(case: Case) -> bool:
    """Save the text in the box, if it is drawn and nobody else's words are in the way; return whether that went well.

    If not, it is still in the box, or next to the other's words.
    """
    box = _get_note_box_state(case)
    text = st.session_state.get(box.key(case))

    def save() -> bool:
        try:
            saved = cases().apply(case.id, actions.edit_draft, text or "", based_on=box.base)
        except WorkflowError as refusal:
            if refusal.rule != "edited elsewhere":
                box.refused = text
                raise
            box.rival = text
            return False
        except StoreError:  # the case was deleted
            box.refused = text
            raise
        box.base, box.refused = saved.draft.sha256 if saved.draft else None, None
        return True

    return box.rival is None and (text is None or bool(run_action(_NOTICE_AREA, save)))


def _draw_edit_conflict(case: Case, box: _NoteBoxState, mine: str) -> None:
    st.warning(
        "Choose one text. Undo brings back the other if it was saved.",
        title="The note was changed elsewhere meanwhile.",
        icon=":material/call_split:",
    )
    theirs = case.draft.text if case.draft else ""
    with st.grid(2, min_column_width=280):
        for whose, name, words, label in (
            ("Saved elsewhere", "theirs", theirs, "Take this text"),
            ("Yours, not saved", "mine", mine, "Save my text"),
        ):
            with st.container(gap="xsmall"):
                st.markdown(f"**{whose}**")
                outside_text(words, look="note", key=f"conflict-{name}")
                settle = partial(_settle_conflict, case, box, mine=mine if name == "mine" else None)
                button(label, f"take-{name}", _NOTICE_AREA, settle)


def _settle_conflict(case: Case, box: _NoteBoxState, *, mine: str | None) -> None:
    if mine is not None:
        # Bound to the text that was shown next to it: a third change meanwhile is a conflict again.
        _replace_text(case, mine)
    box.rival = None


def _replace_text(case: Case, text: str) -> None:
    """Put a text in the place of the one that is shown. Raises WorkflowError when that was changed meanwhile."""
    shown = case.draft.sha256 if case.draft else None
    cases().apply(case.id, actions.edit_draft, text, based_on=shown)


def draw_lesson(case: Case | None) -> None:
    """Draw what the example teaches, while a case of an example is under way."""
    example = example_of(case) if case is not None else None
    if example is not None:
        st.caption(f":material/school: Demonstration: {escaped(example.teaches)}")


def tempting_note(case: Case) -> None:
    """Offer an example's note that says more than its source, to see whether the review catches it."""
    example = example_of(case)
    note = example.tempting_note if example else None
    if note is None or not case.used_evidence or (case.draft is not None and case.draft.text == note):
        return
    look = {"help": "It says more than its source", "type": "tertiary"}
    button("Try the tempting note", "tempting", _NOTICE_AREA, partial(_replace_text, case, note), icon="school", **look)
