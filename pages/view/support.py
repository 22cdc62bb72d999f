"""Which source supports each sentence of the note; without a model the person compares the two."""

from __future__ import annotations

from functools import partial

import streamlit as st

from crowdnotes.domain import Basis, Case, Pair, SentenceSupport, Support
from crowdnotes.text.markdown import clip, escaped, host
from crowdnotes.wording import say
from pages.common.components import marked_text, note_pieces, outside_text, passage_words, sentence_pieces
from pages.common.layout import StepName, card_place
from pages.common.session import act, button, workspace
from pages.draft_parts.reader import arrival_at_sentence, chosen_source, open_source
from pages.view.sentence_map import map_of_sentences

_PLACE = StepName.DRAFT.value
_SIGNS = {
    Support.UNCHECKED: ":gray[:material/radio_button_unchecked:]",
    Support.SUPPORTED: ":green[:material/check_circle:]",
    Support.PARTLY: ":orange[:material/contrast:]",
    Support.UNSUPPORTED: ":red[:material/cancel:]",
}
_FINDS = {
    Support.SUPPORTED: "support.says_it",
    Support.PARTLY: "support.in_part",
    Support.UNSUPPORTED: "support.does_not",
}


def support(case: Case) -> None:
    """A row for each sentence, with its source; choosing the source opens it at the words that support it."""
    draft = case.draft
    if draft is None or not draft.text.strip():
        return
    by_person = _is_compared_by_person(case)
    st.markdown(f"**{say('support.compare' if by_person else 'support.title')}**")
    sentences = case.sentences
    if not sentences:
        st.caption(say("support.not_scored"))
        return
    if by_person:
        st.caption(say("support.compare_about"))
    with st.container(key="support", gap="xsmall"):
        for number, sentence in enumerate(sentences, start=1):
            _sentence(case, draft.text, number, sentence, by_person=by_person)
    map_of_sentences(case)


def _is_compared_by_person(case: Case) -> bool:
    """Whether the scores of this very text wait for a person, or rest on what they found."""
    assessment = case.assessment if case.assessment_is_current else None
    return assessment is not None and assessment.is_compared_by_person


def _sentence(case: Case, note: str, number: int, sentence: SentenceSupport, *, by_person: bool) -> None:
    carrier = case.evidence_by_id(sentence.evidence_id) if sentence.evidence_id else None
    here = carrier is not None and carrier.id == chosen_source(case)
    hinted = case.has_open_hint(sentence)
    key = f"sentence-{number}-{'hinted' if hinted else sentence.support.name.lower()}"
    with st.container(key=f"{key}-here" if here else key, gap="xxsmall"):
        arrival_at_sentence(case, number)
        with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
            said = _SIGNS[sentence.support] + ("" if by_person else f" :small[{escaped(sentence.support.in_words)}]")
            if hinted:  # what a person found against a hint is theirs, not the program's green
                said = f":material/person: :small[{say('support.hinted', name=escaped(sentence.by, 40))}]"
            inferred = f" :orange-badge[{say('support.inferred')}]" if _is_inferred(case, sentence) else ""
            st.markdown(f":gray[{number}] {said}{inferred}", width="stretch")
            if carrier is not None:
                where = escaped(host(carrier.source.url) or carrier.source.title, 30)
                label = f"{carrier.id} · {where}"
                look = {"type": "tertiary", "help": say("support.open_source")}
                go = partial(open_source, case, carrier.id, sentence.carrier)
                button(label, f"source-of-{number}", card_place(carrier.id), go, icon="menu_book", **look)
        marked_text(sentence_pieces(note, sentence), look="sentence", key=f"{case.id}-{number}-text")
        if by_person and carrier is not None and sentence.carrier is not None:
            words = passage_words(carrier.passage, sentence.carrier)
            outside_text(f"“{clip(words, 320)}”", look="quote", key=f"{case.id}-{number}-quote")
        for doubt in dict.fromkeys(sentence.doubts):
            st.caption(f":orange[:material/help:] {escaped(doubt)}")
        if by_person and sentence.evidence_id:
            _comparison(case, number, sentence, sentence.words_in(note), sentence.evidence_id)
        elif by_person:
            st.caption(say("support.no_source"))


def _is_inferred(case: Case, sentence: SentenceSupport) -> bool:
    written = case.draft.sentences if case.draft else ()
    return any(item.span == sentence.span and item.basis is Basis.INFERRED for item in written)


def _comparison(case: Case, number: int, sentence: SentenceSupport, words: str, evidence_id: str) -> None:
    """What the person finds, and whether the hints matter."""
    decided = case.decision is not None
    state, chosen, settled = st.session_state, f"compare-{case.id}-{number}", f"settled-{case.id}-{number}"
    own = workspace().service.finding(case, Pair(words, evidence_id))
    by_another = own is None and sentence.by not in ("", workspace().actor.name)
    found = None if by_another else own or sentence.support
    state[chosen] = found if found in _FINDS else None
    save = partial(workspace().service.compare_sentence, case.id, words, evidence_id)

    def compare() -> None:
        save(state[chosen] or Support.UNCHECKED, doubts_settled=bool(state.get(settled, False)))

    with st.container(key=f"comparison-{case.id}-{number}", gap="xsmall"):
        st.segmented_control(
            say("support.does_it", id=evidence_id),
            list(_FINDS),
            format_func=lambda found: say(_FINDS[found]),
            key=chosen,
            on_change=act,
            args=(_PLACE, compare),
            label_visibility="collapsed",
            disabled=decided,
        )
        if by_another and sentence.support in _FINDS:
            st.caption(say("support.by_another", name=escaped(sentence.by, 40), found=say(_FINDS[sentence.support])))
        if sentence.doubts and sentence.support is Support.SUPPORTED:
            state[settled] = sentence.doubts_settled
            label = say("support.settled", n=len(sentence.doubts))
            st.checkbox(label, key=settled, on_change=act, args=(_PLACE, compare), disabled=decided)


def decided_note(case: Case) -> None:
    """The note of a decided case, its sentences underlined where the passages do not carry them in full."""
    if case.draft is not None:
        marked_text(note_pieces(case.draft.text, case.sentences), look="note", key=f"decided-{case.id}")
