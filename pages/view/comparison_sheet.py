"""What a participant of a blind comparison sees: one pair after the other, and never which note is which."""

from __future__ import annotations

from functools import partial

import streamlit as st

from crowdnotes.domain import Level, Rating, Sheet, Side, Statement
from crowdnotes.errors import InputError
from crowdnotes.text.markdown import count, host
from crowdnotes.text.note_rules import find_urls
from pages.view.components import into_view, outside_text, participant_memory, web_link
from pages.view.session import act, button, notices, workspace

_PLACE = "compare-sheet"
_PARTICIPANT = "participant"
_AT = "compare-at"  # the place of the pair that is shown, where it is not the first one without an answer
_TURNS = "compare-turns"  # each turn to a pair, there or back, brings its head into view
_MOST_LINKS = 6
# Sides by where they stand: a key or a name may never tell the first note from the second.
_SIDES: dict[Side, str] = {"left": "Note 1", "right": "Note 2"}


def participant_view(comparison_id: str) -> None:
    """Draw the pair that comes next for whom the address names, or a welcome. Raises ComparisonNotFoundError."""
    kept, participant = workspace().comparisons, st.query_params.get(_PARTICIPANT, "")
    if not kept.is_participant(participant):
        _welcome(comparison_id)
        return
    sheets = kept.sheets(comparison_id, participant)
    participant_memory(comparison_id, participant)
    waiting = [place for place, sheet in enumerate(sheets) if sheet.answer is None]
    at = st.session_state.get(_AT, waiting[0] if waiting else len(sheets))
    done = len(sheets) - len(waiting)
    st.progress(done / len(sheets), text=f"{done} of {count(len(sheets), 'pair')} answered")
    if at < len(sheets):
        _pair(comparison_id, participant, sheets[at], at)
    else:
        st.success("Every answer is kept. You can close this page.", title="Thank you!", icon=":material/check:")
    notices(_PLACE)
    with st.container(horizontal=True, gap="small"):
        if at:
            button("Back", "compare-back", _PLACE, partial(_go, at - 1), icon="arrow_back", type="tertiary")
        if at < len(sheets) and sheets[at].answer is not None:
            button("Skip: my answer stays", "compare-skip", _PLACE, partial(_go, None), type="tertiary")


def _welcome(comparison_id: str) -> None:
    kept = workspace().comparisons
    pairs = kept.get(comparison_id).each
    known = participant_memory(comparison_id, None)
    st.markdown(
        f"You will see {count(pairs, 'post')}, each with two notes that add context to it. Read the post and "
        "both notes, say how helpful each note is and how far you agree with five sentences about it, and choose one."
        "\n\n"
        "There are no right answers, and who wrote a note is not told. Each pair is kept when you save it, so you can "
        "stop and go on later in this browser. No name is asked for: your answers and their times are kept."
    )
    with st.container(horizontal=True, gap="small"):
        if known is not None and kept.is_participant(known):
            button("Go on where I stopped", "compare-go-on", _PLACE, partial(_enter, known), type="primary")
            button("Begin as somebody else", "compare-begin", _PLACE, partial(_enter, kept.new_participant()))
        else:
            begin = partial(_enter, kept.new_participant())
            button("Begin", "compare-begin", _PLACE, begin, icon="play_arrow", type="primary")


def _enter(participant: str) -> None:
    _go(None)
    st.query_params[_PARTICIPANT] = participant


def _go(place: int | None) -> None:
    """To a pair, or to the next one without an answer."""
    st.session_state[_TURNS] = st.session_state.get(_TURNS, 0) + 1
    if place is None:
        st.session_state.pop(_AT, None)
    else:
        st.session_state[_AT] = place


def _pair(comparison_id: str, participant: str, sheet: Sheet, at: int) -> None:
    into_view(f"pair-{at}-{st.session_state.get(_TURNS, 0)}")
    with st.container(border=True, gap="xsmall"):
        st.caption("The post")
        outside_text(sheet.post, look="post", key=f"compare-post-{at}")
    with st.form(f"compare-form-{at}", border=False, enter_to_submit=False):
        for column, (side, name) in zip(st.columns(2), _SIDES.items(), strict=True):
            with column, st.container(border=True, height="stretch"):
                _note(sheet, side, name, at)
        st.segmented_control(
            "Which of the two helps readers more?",
            list(_SIDES),
            format_func=_SIDES.__getitem__,
            default=sheet.answer.chosen if sheet.answer else None,
            key=_key(at, "chosen"),
        )
        save = partial(_save, comparison_id, participant, sheet, at)
        st.form_submit_button(
            "Save and go on", type="primary", icon=":material/arrow_forward:", on_click=act, args=(_PLACE, save)
        )


def _note(sheet: Sheet, side: Side, name: str, at: int) -> None:
    note: str = getattr(sheet, side)
    before: Rating | None = getattr(sheet.answer, side) if sheet.answer else None
    st.subheader(name, anchor=False)
    outside_text(note, look="note", key=_key(at, f"{side}-text"))
    links = [span.url for span in find_urls(note) if span.has_scheme][:_MOST_LINKS]
    if links:
        with st.container(horizontal=True, gap="xsmall"):
            for url in dict.fromkeys(links):
                web_link(host(url), url)
    st.segmented_control(
        f"How helpful is {name.lower()}?",
        list(Level),
        format_func=lambda level: level.value.capitalize(),
        default=before.level if before else None,
        key=_key(at, f"{side}-level"),
    )
    st.caption("How far do you agree? 1: not at all, 5: fully")
    for statement in Statement:
        st.segmented_control(
            statement.words,
            range(1, 6),
            default=before.statements[statement] if before else None,
            key=_key(at, f"{side}-{statement.value}"),
        )


def _key(at: int, field: str) -> str:
    return f"compare-{at}-{field}"


def _save(comparison_id: str, participant: str, sheet: Sheet, at: int) -> None:
    def given(field: str) -> object:
        return st.session_state.get(_key(at, field))

    open_fields = []
    for side, name in _SIDES.items():
        missing = sum(given(f"{side}-{statement.value}") is None for statement in Statement)
        if given(f"{side}-level") is None:
            open_fields.append(f"how helpful {name.lower()} is")
        if missing:
            open_fields.append(f"{count(missing, 'sentence')} about {name.lower()}")
    if given("chosen") is None:
        open_fields.append("which of the two helps more")
    if open_fields:
        raise InputError(f"Still open: {', '.join(open_fields)}.", "Answer these, then save.")
    ratings = {
        side: Rating.model_validate(
            {"level": given(f"{side}-level"), "statements": {one: given(f"{side}-{one.value}") for one in Statement}}
        )
        for side in _SIDES
    }
    chosen: Side = "left" if given("chosen") == "left" else "right"
    workspace().comparisons.answer(comparison_id, participant, sheet.pair, **ratings, chosen=chosen)
    _go(None)
