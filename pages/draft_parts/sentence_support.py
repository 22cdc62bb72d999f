"""Which source supports each sentence of the note, as rows and as a map.

Without a language model the person compares each sentence with its source.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from crowdnotes.cases import actions
from crowdnotes.domain import Basis, Case, Evidence, Pair, SentenceSupport, Support
from crowdnotes.text.markdown import clip, escaped
from crowdnotes.wording import plural
from pages.common.components import (
    marked_text,
    note_pieces,
    outside_text,
    passage_words,
    read_aloud,
    sentence_map,
    sentence_pieces,
    source_name,
)
from pages.common.layout import StepName, card_place
from pages.common.session import button, cases, run_action, workspace
from pages.draft_parts.reader import arrival_at_sentence, chosen_source, read_source

_MAX_SENTENCE_CHARACTERS = 150  # characters of a sentence: three lines
_MAP_SIGN_BY_SUPPORT = {Support.SUPPORTED: "✓", Support.PARTLY: "◐", Support.UNSUPPORTED: "✗", Support.UNCHECKED: "○"}


def map_of_sentences(case: Case) -> None:
    """Folded, but of a decided case; nothing below two sentences and two sources, where the rows say as much."""
    sources = _order_map_sources(case)
    if len(case.sentences) < 2 or len(sources) < 2 or case.draft is None:
        return
    key = f"map-of-{case.id}"
    name = "Map of sentences and sources"
    with st.expander(
        name,
        key=f"map-{case.id}",
        icon=":material/account_tree:",
        expanded=case.decision is not None,
    ):
        sentence_map(
            name,
            [
                _describe_map_sentence(case, number, item, case.draft.text)
                for number, item in enumerate(case.sentences, start=1)
            ],
            [_describe_map_source(case, item) for item in sources],
            [
                {"kind": kind, "label": label}
                for kind, label in dict(
                    _classify_curve(case, item) for item in case.sentences if item.evidence_id
                ).items()
            ],
            on_choice=partial(choose, case),
            key=key,
        )


def choose(case: Case, chosen: object) -> None:
    """Open what was chosen: a sentence's source at its words, or a source. What the browser gives may be anything."""
    given = chosen if isinstance(chosen, dict) else {}
    number, evidence_id, words = given.get("sentence"), given.get("source"), None
    if isinstance(number, int) and 1 <= number <= len(case.sentences):
        evidence_id, words = case.sentences[number - 1].evidence_id, case.sentences[number - 1].carrier
    if isinstance(evidence_id, str) and case.evidence_by_id(evidence_id) is not None:
        run_action(card_place(evidence_id), partial(read_source, case, evidence_id, words))


def _order_map_sources(case: Case) -> list[Evidence]:
    """Return those that sentences lean on, in their order, so that few curves cross; then the others in use."""
    leaned = (case.evidence_by_id(item.evidence_id or "") for item in case.sentences)
    found = [item for item in leaned if item is not None]
    return list({item.id: item for item in (*found, *case.used_evidence)}.values())


def _classify_curve(case: Case, item: SentenceSupport) -> tuple[str, str]:
    """Return how its curve is drawn, and what that means."""
    if case.has_open_hint(item):
        return "hinted", f"checked by {item.by}, warnings left"
    return item.support.name.lower(), item.support.as_text


def _describe_map_sentence(case: Case, number: int, item: SentenceSupport, note: str) -> dict[str, object]:
    words, (kind, support) = item.words_in(note).strip(), _classify_curve(case, item)
    return {
        "number": number,
        "text": clip(words, _MAX_SENTENCE_CHARACTERS),
        "kind": kind,
        "sign": "?" if kind == "hinted" else _MAP_SIGN_BY_SUPPORT[item.support],
        "source": item.evidence_id,
        "description": f"Sentence {number}, {support}, closest source {item.evidence_id or 'none'}: {words}",
    }


def _describe_map_source(case: Case, item: Evidence) -> dict[str, object]:
    name = source_name(item.source)
    numbers = [str(n) for n, leaned in enumerate(case.sentences, start=1) if leaned.evidence_id == item.id]
    of = f"closest to sentence {', '.join(numbers)}" if numbers else "closest to no sentence"
    return {"id": item.id, "name": clip(name, 60), "description": f"{item.id}, {name}: {of}"}


_NOTICE_AREA = StepName.DRAFT.value
_SIGN_BY_SUPPORT = {
    Support.UNCHECKED: ":gray[:material/radio_button_unchecked:]",
    Support.SUPPORTED: ":green[:material/check_circle:]",
    Support.PARTLY: ":orange[:material/contrast:]",
    Support.UNSUPPORTED: ":red[:material/cancel:]",
}
_LABEL_BY_FINDING = {
    Support.SUPPORTED: "The source says it",
    Support.PARTLY: "Partly",
    Support.UNSUPPORTED: "No",
}


def draw_sentence_support(case: Case) -> None:
    """Draw a row for each sentence, with its source; choosing the source opens it at the words that support it."""
    draft = case.draft
    if draft is None or not draft.text.strip():
        return
    by_person = _is_compared_by_person(case)
    heading = "Check each sentence against its source" if by_person else "Which source supports each sentence"
    st.markdown(f"**{heading}**")
    sentences = case.sentences
    if not sentences:
        st.caption("Score the note to see its sources.")
        return
    if by_person:
        st.caption("Working without AI: you are the judge. Warnings may be wrong.")
    with st.container(key="support", gap="xsmall"):
        for number, sentence in enumerate(sentences, start=1):
            _draw_sentence(case, draft.text, number, sentence, by_person=by_person)
    map_of_sentences(case)


def _is_compared_by_person(case: Case) -> bool:
    """Return whether the scores of this very text wait for a person, or rest on what they found."""
    assessment = case.assessment if case.assessment_is_current else None
    return assessment is not None and assessment.is_compared_by_person


def _draw_sentence(case: Case, note: str, number: int, sentence: SentenceSupport, *, by_person: bool) -> None:
    carrier = case.evidence_by_id(sentence.evidence_id) if sentence.evidence_id else None
    here = carrier is not None and carrier.id == chosen_source(case)
    hinted = case.has_open_hint(sentence)
    key = f"sentence-{number}-{'hinted' if hinted else sentence.support.name.lower()}"
    with st.container(key=f"{key}-here" if here else key, gap="xxsmall"):
        arrival_at_sentence(case, number)
        with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
            name = escaped(sentence.support.as_text)
            said = f"{_SIGN_BY_SUPPORT[sentence.support]} {read_aloud(name) if by_person else f':small[{name}]'}"
            if hinted:  # what a person found against a hint is theirs, not the program's green
                said = f":material/person: :small[checked by {escaped(sentence.by, 40)}, warnings left]"
            inferred = " :orange-badge[the source suggests it]" if _is_inferred(case, sentence) else ""
            st.markdown(f"{read_aloud('Sentence')} :gray[{number}] {said}{inferred}", width="stretch")
            if carrier is not None:
                where = escaped(source_name(carrier.source), 30)
                label = f"{carrier.id} · {where}"
                look = {"type": "tertiary", "help": "Opens it at the closest words"}
                go = partial(read_source, case, carrier.id, sentence.carrier)
                button(label, f"source-of-{number}", card_place(carrier.id), go, icon="menu_book", **look)
        marked_text(sentence_pieces(note, sentence), look="sentence", key=f"{case.id}-{number}-text")
        if by_person and carrier is not None and sentence.carrier is not None:
            words = passage_words(carrier.passage, sentence.carrier)
            outside_text(f"“{words}”", look="quote", key=f"{case.id}-{number}-quote")
        _draw_doubts(sentence)
        if by_person and sentence.evidence_id:
            _draw_comparison(case, number, sentence, sentence.words_in(note), sentence.evidence_id)
        elif by_person:
            st.caption("No source in use matches this sentence. Use one that does, or remove the sentence.")
        if carrier is not None and case.decision is None:
            _say_how_to_mend(sentence, carrier)


def _say_how_to_mend(sentence: SentenceSupport, carrier: Evidence) -> None:
    """Draw what to do about a sentence that its source does not say in full."""
    if sentence.support is Support.PARTLY:
        st.caption(f"Write only what {carrier.id} says here, or use another source that says all of it.")
    elif sentence.support is Support.UNSUPPORTED:
        st.caption(f"Write what {carrier.id} says, use a source that says this, or remove the sentence.")


def _draw_doubts(sentence: SentenceSupport) -> None:
    """Draw the strongest warning; the others are folded, as one alone is read."""
    doubts = list(dict.fromkeys(sentence.doubts))
    for doubt in doubts[:1]:
        st.caption(f":orange[:material/help:] {escaped(doubt)}")
    if more := doubts[1:]:
        with st.expander(plural(len(more), "1 more warning", "{n} more warnings"), type="compact"):
            for doubt in more:
                st.caption(f":orange[:material/help:] {escaped(doubt)}")


def _is_inferred(case: Case, sentence: SentenceSupport) -> bool:
    written = case.draft.sentences if case.draft else ()
    return any(item.span == sentence.span and item.basis is Basis.INFERRED for item in written)


def _draw_comparison(case: Case, number: int, sentence: SentenceSupport, words: str, evidence_id: str) -> None:
    """Draw what the person finds, and whether the hints matter."""
    decided = case.decision is not None
    state, chosen, settled = st.session_state, f"compare-{case.id}-{number}", f"settled-{case.id}-{number}"
    own = actions.own_finding(case, cases().actor.key, Pair(words, evidence_id))
    by_another = own is None and sentence.by not in ("", workspace().actor.name)
    found = None if by_another else own or sentence.support
    state[chosen] = found if found in _LABEL_BY_FINDING else None
    is_one_in_view = len(set(sentence.doubts)) == 1  # the others are folded; an answer covers what is in view

    def compare() -> None:
        found = state[chosen] or Support.UNCHECKED
        is_settled = is_one_in_view or bool(state.get(settled, False))
        cases().apply(case.id, actions.compare_sentence, words, evidence_id, found, doubts_settled=is_settled)

    with st.container(key=f"comparison-{case.id}-{number}", gap="xsmall"):
        st.segmented_control(
            f"Does {evidence_id} say sentence {number}?",
            list(_LABEL_BY_FINDING),
            format_func=lambda found: _LABEL_BY_FINDING[found],
            key=chosen,
            on_change=run_action,
            args=(_NOTICE_AREA, compare),
            label_visibility="collapsed",
            disabled=decided,
        )
        if by_another and sentence.support in _LABEL_BY_FINDING:
            st.caption(f"{escaped(sentence.by, 40)} found: {_LABEL_BY_FINDING[sentence.support]}")
        if sentence.doubts and sentence.support is Support.SUPPORTED and (sentence.has_open_hint or not is_one_in_view):
            state[settled] = sentence.doubts_settled
            label = f"I checked: sentence {number} is right"
            st.checkbox(label, key=settled, on_change=run_action, args=(_NOTICE_AREA, compare), disabled=decided)


def draw_decided_note(case: Case) -> None:
    """Draw the note of a decided case, its sentences underlined where the passages do not carry them in full."""
    if case.draft is not None:
        marked_text(note_pieces(case.draft.text, case.sentences), look="note", key=f"decided-{case.id}")
