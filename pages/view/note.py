"""Step 3: the note, saved as it is typed, and which passage carries each sentence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

import streamlit as st

from crowdnotes.demonstration import example_of
from crowdnotes.domain import Basis, Case, Draft, Evidence, Quotation, SentenceSupport, Support
from crowdnotes.errors import WorkflowError
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import clip, escaped, host
from crowdnotes.text.note_rules import NOTE_LIMIT, note_length
from pages.view.components import marked_text, note_counter, note_pieces, outside_text, passage_words, sentence_pieces
from pages.view.decision import cited_links
from pages.view.progress import job_panel, start, under_way
from pages.view.session import act, author, button, workspace
from pages.view.steps import StepName, StepState, StepView, step

_BADGES: dict[Support, tuple[Literal["gray", "green", "orange", "red"], str]] = {
    Support.UNCHECKED: ("gray", ":material/radio_button_unchecked:"),
    Support.SUPPORTED: ("green", ":material/check:"),
    Support.PARTLY: ("orange", ":material/contrast:"),
    Support.UNSUPPORTED: ("red", ":material/close:"),
}
_LETTERS = "ABCDEFGHIJ"
_WRITES = {
    True: "From the passages in use alone. A language model writes; what carries each sentence is checked here.",
    False: "No language model is at work: the program writes no note. It finds the sentences that speak to the post.",
}
_FINDS = {
    Support.SUPPORTED: "The passage says it",
    Support.PARTLY: "Only in part",
    Support.UNSUPPORTED: "It does not",
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
        return StepView(name, StepState.DONE, length)
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
    label = "Write a draft" if not case.candidates else "Propose something new"
    if not workspace().engine.uses_language_model:
        label = "Find sentences to quote"
    only = {candidate.sha256 for candidate in case.candidates} <= ({case.draft.sha256} if case.draft else set())
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if not only:
            _candidates(case)
        button(
            label,
            "write",
            _PLACE,
            partial(start, case, "write"),
            type="secondary" if case.draft else "primary",
            icon="edit_note",
            disabled=not case.used_evidence or under_way(job),
            help=_WRITES[workspace().engine.uses_language_model],
        )
        tempting_note(case)
    with st.container(key="proposed", gap="small"):  # always there, so that the note below stays where it is
        _proposed(case, only=only)


def _proposed(case: Case, *, only: bool) -> None:
    """What came of it, where that is not simply the candidates: sentences to quote, or why there is no note."""
    if case.candidates and only:
        made = "put one note together from the notes of others" if case.supernote is not None else "wrote one note"
        st.caption(f"The program {made}: the words below.")
    _what_the_judge_says(case)
    abstained = next((stage.summary for stage in case.stages if stage.name.value == "draft"), "")
    if not case.candidates and abstained and (case.quotations or case.draft is None):
        st.info(
            escaped(abstained.removeprefix("No note: ")),
            title="Sentences to quote" if case.quotations else "The program proposes no note.",
            icon=":material/format_quote:" if case.quotations else ":material/front_hand:",
        )
    _quotations(case)


def _what_the_judge_says(case: Case) -> None:
    """Of the candidate that is in the note: what was changed and why, or what the judge holds against it."""
    chosen = next((item for item in case.candidates if case.draft and item.sha256 == case.draft.sha256), None)
    if chosen is None:
        return
    if chosen.changes:
        st.caption(f":material/edit_note: Revised from the best candidate: {escaped(chosen.changes, 300)}")
    for objection in chosen.objections:
        st.caption(f":material/rate_review: {escaped(objection, 300)}")


def _quotations(case: Case) -> None:
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
                _source_line(item)
                about = "Behind your words, as a quotation with its publisher and its link. Undo takes it out."
                quote = partial(_quote, case, quotation)
                button("Put into the note", f"quote-{number}", _PLACE, quote, icon="add", help=about)


def _source_line(item: Evidence) -> None:
    where = escaped(host(item.source.url) or item.source.title, 50)
    st.markdown(f":small[:gray[{item.id} · {where}]]", width="content")


def _quote(case: Case, quotation: Quotation) -> None:
    """Words that were typed just now are saved first, so that the quotation stands behind them."""
    if save_typed(case):
        workspace().service.quote(case.id, quotation, author())


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
    revised = {candidate.sha256 for candidate in case.candidates if candidate.changes}
    st.segmented_control(
        "Candidates",
        list(texts),
        format_func=lambda sha256: (
            f"{letters[sha256]} · {'revised · ' if sha256 in revised else ''}{note_length(texts[sha256])} characters"
        ),
        key="candidate",
        on_change=act,
        args=(_PLACE, partial(_choose, case)),
        help="Choosing one replaces the text below; Undo brings yours back.",
        wrap=True,
    )


def _choose(case: Case) -> None:
    chosen = st.session_state["candidate"]
    if chosen is not None:
        workspace().service.choose_candidate(case.id, chosen, author())


def _attribution(case: Case) -> None:
    draft = case.draft
    if draft is None or not draft.text.strip():
        return
    sentences = _sentences(case, draft)
    by_person = _is_compared_by_person(case)
    st.markdown("**Compare each sentence with its passage**" if by_person else "**What carries each sentence**")
    if not sentences:
        st.caption("Not scored as it stands: score it below to see which passage is nearest to each sentence.")
        return
    if by_person:
        st.caption(
            "No language model is at work, so this is yours to judge. Hints say where to look; they may be wrong."
        )
    if case.assessment is not None and not case.assessment_is_current:
        st.caption(":orange[:material/history:] The passages in use changed since. Score the note again below.")
    for number, sentence in enumerate(sentences, start=1):
        _sentence(case, draft.text, number, sentence)
        if by_person and sentence.evidence_id:
            _comparison(case, number, sentence, sentence.words_in(draft.text), sentence.evidence_id)
        elif by_person:
            st.caption("No passage in use stands near this sentence. Use one that does, or take the sentence out.")


def _is_compared_by_person(case: Case) -> bool:
    """Whether the scores of this very text wait for a person, or rest on what they found."""
    assessment = case.assessment if case.assessment_is_current else None
    return assessment is not None and assessment.is_compared_by_person


def _comparison(case: Case, number: int, sentence: SentenceSupport, words: str, evidence_id: str) -> None:
    """What the person finds, and whether the hints matter."""
    state, chosen, settled = st.session_state, f"compare-{case.id}-{number}", f"settled-{case.id}-{number}"
    state[chosen] = sentence.support if sentence.support in _FINDS else None
    save = partial(workspace().service.compare_sentence, case.id, words, evidence_id)

    def compare() -> None:
        save(state[chosen] or Support.UNCHECKED, author(), doubts_settled=bool(state.get(settled, False)))

    with st.container(key=f"comparison-{case.id}-{number}", gap="xsmall"):
        st.segmented_control(
            f"Does {evidence_id} say it?",
            list(_FINDS),
            format_func=_FINDS.__getitem__,
            key=chosen,
            on_change=act,
            args=(_PLACE, compare),
        )
        if sentence.doubts and sentence.support is Support.SUPPORTED:
            state[settled] = sentence.doubts_settled
            hints = "the hint" if len(sentence.doubts) == 1 else "the hints"
            label = f"I looked at {hints}: the sentence is right as it stands"
            st.checkbox(label, key=settled, on_change=act, args=(_PLACE, compare))


_INFERRED = "The model that wrote it says that a reader has to conclude this; the passage does not say it outright."


def _is_inferred(case: Case, sentence: SentenceSupport) -> bool:
    written = case.draft.sentences if case.draft else ()
    return any(item.span == sentence.span and item.basis is Basis.INFERRED for item in written)


def _sentence(case: Case, note: str, number: int, sentence: SentenceSupport) -> None:
    colour, icon = _BADGES[sentence.support]
    key = f"sentence-{case.id}-{number}"
    with st.container(key=key, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f":gray[{number}]", width="content")
            st.badge(sentence.support.value, color=colour, icon=icon)
            carrier = case.evidence_by_id(sentence.evidence_id) if sentence.evidence_id else None
            if carrier is not None:
                _source_line(carrier)
            if _is_inferred(case, sentence):
                st.badge("inferred", color="orange", icon=":material/contrast:", help=_INFERRED)
        marked_text(sentence_pieces(note, sentence), look="plain", key=f"{key}-text")
        if carrier is not None and sentence.carrier is not None:
            words = passage_words(carrier.passage, sentence.carrier)
            outside_text(f"“{clip(words, 320)}”", look="quote", key=f"{key}-quote")
        for doubt in dict.fromkeys(sentence.doubts):
            st.caption(f":orange[:material/help:] {escaped(doubt)}")


SCORE_BUTTON = "score"
SCORE_SHORTCUT = "Alt+S"  # spelt out in note_counter.js too
_BOX = "note-box"
_PLACE = StepName.DRAFT.value


@dataclass(slots=True)
class _Box:
    """`base` is the sha256 of the saved text that the box began from; `rival` an edit that could not be saved."""

    base: str | None
    generation: int = 0
    rival: str | None = None

    def key(self, case: Case) -> str:
        # A new generation is a new widget: the only way to put other words before the person.
        return f"note-{case.id}-{self.generation}"


def note_box(case: Case) -> None:
    """Draw the box, its counter and its undo."""
    box = _box(case)
    saved = case.draft.sha256 if case.draft else None
    if box.base != saved and box.rival is None:
        box.base = saved
        box.generation += 1
    if box.rival is not None:
        _both_texts(case, box, box.rival)
        return
    text = case.draft.text if case.draft else ""
    with st.container(key=_BOX, gap="xsmall"):
        st.text_area(
            "The note, with its links",
            value=text,
            height=190,
            key=box.key(case),
            on_change=act,
            args=(_PLACE, partial(save_typed, case)),
            placeholder="Say what the evidence says, in neutral words, and link to it",
        )
        note_counter(text, box=_BOX, submit=SCORE_BUTTON, key=f"counter-{case.id}")
    about = "Go back to the text before the last change"
    undo = partial(workspace().service.undo_edit, case.id, author())
    button("Undo", "undo", _PLACE, undo, icon="undo", disabled=not case.revisions, help=about)


def _box(case: Case) -> _Box:
    key = f"box-{case.id}"
    if key not in st.session_state:
        st.session_state[key] = _Box(case.draft.sha256 if case.draft else None)
    box: _Box = st.session_state[key]
    return box


def save_typed(case: Case) -> bool:
    """Save what stands in the box, if it is drawn and nobody else's words are in the way; whether that went well.

    If not, it still stands in the box, or beside the other's words.
    """
    box = _box(case)
    text = st.session_state.get(box.key(case))

    def save() -> bool:
        try:
            saved = workspace().service.edit_draft(case.id, text or "", author(), based_on=box.base)
        except WorkflowError as refusal:
            if refusal.rule != "edited elsewhere":
                raise
            box.rival = text
            return False
        box.base = saved.draft.sha256 if saved.draft else None
        return True

    return box.rival is None and (text is None or bool(act(_PLACE, save)))


def _both_texts(case: Case, box: _Box, mine: str) -> None:
    st.warning(
        "Both texts are here. Choose one; the other stays in the undo history if it was saved.",
        title="The note was changed in another tab, or by another person, while you were writing.",
        icon=":material/call_split:",
    )
    theirs = case.draft.text if case.draft else ""
    with st.grid(2, min_column_width=280):
        for whose, name, words, label in (
            ("Saved by the other", "theirs", theirs, "Take this text"),
            ("Yours, not saved yet", "mine", mine, "Save my text"),
        ):
            with st.container(gap="xsmall"):
                st.markdown(f"**{whose}**")
                outside_text(words, look="note", key=f"conflict-{name}")
                settle = partial(_settle, case, box, mine=mine if name == "mine" else None)
                button(label, f"take-{name}", _PLACE, settle)


def _settle(case: Case, box: _Box, *, mine: str | None) -> None:
    if mine is not None:
        # Bound to the text that was shown beside it: a third change meanwhile is a conflict again.
        _replace(case, mine)
    box.rival = None


def _replace(case: Case, text: str) -> None:
    """Put a text in the place of the one that is shown. Raises WorkflowError when that was changed meanwhile."""
    shown = case.draft.sha256 if case.draft else None
    workspace().service.edit_draft(case.id, text, author(), based_on=shown)


def lesson(case: Case | None) -> None:
    """What the example teaches, while a case of an example is under way."""
    example = example_of(case) if case is not None else None
    if example is not None:
        st.caption(f":material/school: Demonstration: {escaped(example.teaches)}")


def tempting_note(case: Case) -> None:
    """Offer an example's note that says more than its source, to see whether the review catches it."""
    example = example_of(case)
    note = example.tempting_note if example else None
    if note is None or not case.used_evidence or (case.draft is not None and case.draft.text == note):
        return
    about = "A note that says more than its source does. Score it, and see whether the review catches it."
    button("Try the tempting note", "tempting", _PLACE, partial(_replace, case, note), icon="school", help=about)
