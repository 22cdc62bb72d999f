"""A blind comparison of notes: the pairs that a participant rates, and the results of all answers.

A participant never learns which note of a pair is which.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from crowdnotes.domain import BothRated, Choice, ComparisonResults, Figure, Level, Rating, Sheet, Side, Statement
from crowdnotes.errors import InputError
from crowdnotes.text.markdown import escaped, host
from crowdnotes.text.note_rules import find_urls
from crowdnotes.wording import plural
from crowdnotes.workspace import Workspace
from pages.common.charts import Part, Standing, compared, stacked_shares
from pages.common.components import outside_text, participant_memory, scroll_into_view, web_link
from pages.common.session import button, download, notices, run_action, workspace


@st.cache_data(max_entries=50, show_spinner="Counting the answers…")
def _load_results(comparison_id: str, answers: int, newest: object) -> ComparisonResults:  # noqa: ARG001 - part of the key
    """Return the results, counted once for each new answer."""
    return workspace().comparisons.results(comparison_id)


def results_view(comparison_id: str) -> None:
    """Draw the results. Raises ComparisonNotFoundError."""
    kept = workspace().comparisons
    comparison = kept.get(comparison_id)
    answers = kept.answers(comparison_id)
    found = _load_results(comparison_id, len(answers), max((answer.at for answer in answers), default=None))
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.header(escaped(comparison.title), anchor=False, width="content")
        _draw_exports(comparison_id, sides_unknown=comparison.sides_unknown)
    came, pairs = came_in(found.answers, found.participants), plural(len(comparison.pairs), "1 pair", "{n:,} pairs")
    st.caption(f"{came}, on {found.pairs:,} of {pairs}")
    if comparison.sides_unknown or not answers:
        title = "NOT RUN" if answers else "There are no results yet."
        st.info(escaped(found.sentences["wins"]), title=title)
        return
    st.header(escaped(found.sentences["verdict"]), anchor=False)
    st.markdown(escaped(found.sentences["wins"]))
    if not found.too_few:
        _draw_charts(found, rated=not comparison.short)
    with st.expander("All figures", icon=":material/table:"):
        st.caption(
            "In brackets: 95 % ranges. Signed-rank tests treat every answer as independent; mixed models allow "
            "for people and posts that rate higher or lower throughout."
        )
        st.dataframe(
            {
                "Figure": [name for name, _ in found.rows],
                "Value": [figure.as_text for _, figure in found.rows],
                "How": [figure.how for _, figure in found.rows],
            },
            hide_index=True,
            height=330,
            alt="All figures",
        )


def _draw_charts(found: ComparisonResults, *, rated: bool) -> None:
    if not rated:
        _draw_wins(found)
        return
    left, right = st.columns(2, gap="large")
    with left:
        _draw_wins(found)
    with right:
        _draw_helpfulness(found)
    _draw_statements(found)


def came_in(answers: int, participants: int) -> str:
    """Return how many answers there are, and of how many people."""
    people = plural(participants, "1 participant", "{n:,} participants")
    return f"{plural(answers, '1 answer', '{n:,} answers')} from {people}"


def _draw_exports(comparison_id: str, *, sides_unknown: bool) -> None:
    def export(mine: Workspace, *, votes: bool = False) -> str:
        return mine.comparisons.exported(comparison_id, votes=votes)

    with st.container(horizontal=True, gap="small", width="content"):
        download("Every answer as CSV", export, "answers.csv", "text/csv")
        if sides_unknown:
            votes = partial(export, votes=True)
            download("Votes for “crowdnotes bench compare”", votes, "votes.jsonl", "text/plain", icon=None)


def _to_interval_point(name: str, figure: Figure) -> Standing:
    value = figure.value or 0.0
    low, high = (value if end is None else end for end in (figure.low, figure.high))
    return Standing(name, value, low, high)


def _draw_chart_heading(title: str, sentence: str) -> None:
    st.markdown(f"### {title}")
    st.markdown(escaped(sentence))


def _draw_wins(found: ComparisonResults) -> None:
    st.markdown(f"### How often “{escaped(found.names[0])}” was chosen")
    rows = [
        (f"{of} ({figure.n:,})", [_to_interval_point(found.names[0], figure)])
        for of, figure in found.wins.items()
        if figure.value is not None
    ]
    compared(rows, ends=(0, 1), step=0.25, line=0.5, percent=True, alt=found.sentences["wins"], key="compare-wins")


def _draw_helpfulness(found: ComparisonResults) -> None:
    _draw_chart_heading("How helpful each note was rated", found.sentences["helpfulness"])
    names = list(found.names)
    levels = [Part(level.as_text, counts) for level, counts in found.levels.items()]
    stacked_shares(names, levels, alt=found.sentences["helpfulness"], between=" / ", key="compare-levels")
    compared(
        [("mean", _list_both_points(found.names, found.helpfulness))],
        ends=(0, 1),
        step=0.25,
        alt=found.sentences["helpfulness"],
        key="compare-helpfulness",
    )


def _draw_statements(found: ComparisonResults) -> None:
    _draw_chart_heading("How far readers agree with five sentences, from 1 to 5", found.sentences["statements"])
    rows = [(statement.as_text, _list_both_points(found.names, both)) for statement, both in found.statements.items()]
    compared(rows, ends=(1, 5), step=1, alt=found.sentences["statements"], key="compare-statements")
    descriptions = [f"*{one.as_text}*: {one.words}" for one in found.statements]
    st.caption(" ".join(descriptions))


def _list_both_points(names: Sequence[str], both: BothRated) -> list[Standing]:
    return [_to_interval_point(name, figure) for name, figure in zip(names, (both.first, both.second), strict=True)]


_NOTICE_AREA = "compare-sheet"
_PARTICIPANT_PARAM = "participant"
_PAIR_PLACE_KEY = "compare-at"  # the place of the pair that is shown, where it is not the first one without an answer
_TURN_COUNT_KEY = "compare-turns"  # each turn to a pair, there or back, brings its head into view
_MAX_LINKS = 6
# Sides by their place: a key or a name may never give away which note is which.
_LABEL_BY_SIDE: dict[Side, str] = {"left": "Note 1", "right": "Note 2"}
_LABEL_BY_CHOICE: dict[Choice, str] = {"left": "Note 1", "equal": "Both alike", "right": "Note 2"}


def participant_view(comparison_id: str) -> None:
    """Draw the pair that comes next for whom the address names, or a welcome. Raises ComparisonNotFoundError."""
    kept, participant = workspace().comparisons, st.query_params.get(_PARTICIPANT_PARAM, "")
    if not kept.is_participant(participant):
        _draw_welcome(comparison_id)
        return
    sheets = kept.sheets(comparison_id, participant)
    participant_memory(comparison_id, participant)
    waiting = [place for place, sheet in enumerate(sheets) if sheet.answer is None]
    at = st.session_state.get(_PAIR_PLACE_KEY, waiting[0] if waiting else len(sheets))
    done = len(sheets) - len(waiting)
    st.progress(
        done / len(sheets),
        text=plural(len(sheets), "{done} of 1 pair answered", "{done:,} of {n:,} pairs answered", done=done),
    )
    if at < len(sheets):
        _draw_pair(comparison_id, participant, sheets[at], at)
    else:
        words = "All your answers are saved. You can close this page."
        st.success(words, title="Thank you!", icon=":material/check:")
    notices(_NOTICE_AREA)
    with st.container(horizontal=True, gap="small"):
        if at:
            button(
                "Back",
                "compare-back",
                _NOTICE_AREA,
                partial(_go_to_pair, at - 1),
                icon="arrow_back",
                type="tertiary",
            )
        if at < len(sheets) and sheets[at].answer is not None:
            button("Keep my answer", "compare-skip", _NOTICE_AREA, partial(_go_to_pair, None), type="tertiary")


def _draw_welcome(comparison_id: str) -> None:
    kept = workspace().comparisons
    pairs = kept.each(comparison_id)
    known = participant_memory(comparison_id, None)
    posts = plural(pairs, "You will see 1 post with two notes.", "You will see {n:,} posts, each with two notes.")
    steps = [
        "Read the post and both notes.",
        "Say how helpful each note is, and how far you agree with five sentences about it.",
        "Choose the note that helps readers more, or say that both help alike.",
    ]
    if kept.is_short(comparison_id):
        del steps[1]
    asked = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))
    st.markdown(
        f"{posts} For each:\n\n{asked}\n\nThere are no right answers. You do not see who wrote a note, and we do not "
        "ask for your name. Each answer is saved with its time. You can stop and continue in this browser.\n"
    )
    with st.container(horizontal=True, gap="small"):
        if known is not None and kept.is_participant(known):
            enter = partial(_start_as_participant, known)
            button("Continue", "compare-go-on", _NOTICE_AREA, enter, icon="play_arrow", type="primary")
            begin = partial(_start_as_participant, kept.new_participant())
            button("Start as someone else", "compare-begin", _NOTICE_AREA, begin)
        else:
            begin = partial(_start_as_participant, kept.new_participant())
            button("Start", "compare-begin", _NOTICE_AREA, begin, icon="play_arrow", type="primary")


def _start_as_participant(participant: str) -> None:
    _go_to_pair(None)
    st.query_params[_PARTICIPANT_PARAM] = participant


def _go_to_pair(place: int | None) -> None:
    """To a pair, or to the next one without an answer."""
    st.session_state[_TURN_COUNT_KEY] = st.session_state.get(_TURN_COUNT_KEY, 0) + 1
    if place is None:
        st.session_state.pop(_PAIR_PLACE_KEY, None)
    else:
        st.session_state[_PAIR_PLACE_KEY] = place


def _draw_pair(comparison_id: str, participant: str, sheet: Sheet, at: int) -> None:
    scroll_into_view(f"pair-{at}-{st.session_state.get(_TURN_COUNT_KEY, 0)}", name=f"Pair {at + 1}")
    with st.container(border=True, gap="xsmall"):
        st.caption("The post")
        outside_text(sheet.post, look="post", key=f"compare-post-{at}")
    if workspace().comparisons.is_short(comparison_id):
        _draw_choice(comparison_id, participant, sheet, at)
        return
    with st.form(f"compare-form-{at}", border=False, enter_to_submit=False):
        for column, (side, name) in zip(st.columns(2), _LABEL_BY_SIDE.items(), strict=True):
            with column, st.container(border=True, height="stretch"):
                _draw_note_questions(sheet, side, name, at)
        st.segmented_control(
            "Which note helps readers more?",
            list(_LABEL_BY_CHOICE),
            format_func=_LABEL_BY_CHOICE.__getitem__,
            default=sheet.answer.chosen if sheet.answer else None,
            key=_field_key(at, "chosen"),
        )
        save = partial(_save_answer, comparison_id, participant, sheet, at)
        st.form_submit_button(
            "Save and continue",
            type="primary",
            icon=":material/arrow_forward:",
            on_click=run_action,
            args=(_NOTICE_AREA, save),
        )


def _draw_choice(comparison_id: str, participant: str, sheet: Sheet, at: int) -> None:
    """Draw the two notes, each with the button that chooses it."""

    def choose(chosen: Choice, label: str) -> None:
        save = partial(_save_choice, comparison_id, participant, sheet.pair, chosen)
        look = "primary" if sheet.answer is not None and sheet.answer.chosen == chosen else "secondary"
        button(label, _field_key(at, f"choose-{chosen}"), _NOTICE_AREA, save, type=look, width="stretch")

    for column, (side, name) in zip(st.columns(2), _LABEL_BY_SIDE.items(), strict=True):
        with column:
            with st.container(border=True, height="stretch"):
                _draw_note(sheet, side, name, at)
            choose(side, f"{name} helps more")
    choose("equal", "Both help alike")


def _save_choice(comparison_id: str, participant: str, pair: str, chosen: Choice) -> None:
    workspace().comparisons.answer(comparison_id, participant, pair, chosen=chosen)
    _go_to_pair(None)


def _draw_note(sheet: Sheet, side: Side, name: str, at: int) -> None:
    note: str = getattr(sheet, side)
    st.header(name, anchor=False)
    outside_text(note, look="note", key=_field_key(at, f"{side}-text"))
    links = [span.url for span in find_urls(note) if span.has_scheme][:_MAX_LINKS]
    if links:
        with st.container(horizontal=True, gap="xsmall"):
            for url in dict.fromkeys(links):
                web_link(host(url), url)


def _draw_note_questions(sheet: Sheet, side: Side, name: str, at: int) -> None:
    before: Rating | None = getattr(sheet.answer, side) if sheet.answer else None
    _draw_note(sheet, side, name, at)
    st.segmented_control(
        f"How helpful is {name.lower()}?",
        list(Level),
        format_func=lambda level: level.as_text.capitalize(),
        default=before.level if before else None,
        key=_field_key(at, f"{side}-level"),
    )
    st.caption("How far do you agree? 1: not at all, 5: fully.")
    for statement in Statement:
        st.segmented_control(
            statement.words,
            range(1, 6),
            default=before.statements[statement] if before else None,
            key=_field_key(at, f"{side}-{statement.value}"),
        )


def _field_key(at: int, field: str) -> str:
    return f"compare-{at}-{field}"


def _save_answer(comparison_id: str, participant: str, sheet: Sheet, at: int) -> None:
    def given(field: str) -> object:
        return st.session_state.get(_field_key(at, field))

    open_fields = []
    for side, name in _LABEL_BY_SIDE.items():
        missing = sum(given(f"{side}-{statement.value}") is None for statement in Statement)
        if given(f"{side}-level") is None:
            open_fields.append(f"how helpful {name.lower()} is")
        if missing:
            open_fields.append(
                plural(missing, "1 sentence about {note}", "{n} sentences about {note}", note=name.lower())
            )
    if given("chosen") is None:
        open_fields.append("which note helps more")
    if open_fields:
        fields = ", ".join(open_fields)
        raise InputError(f"Still to answer: {fields}.", "Answer these, then save.")
    ratings = {
        side: Rating.model_validate(
            {"level": given(f"{side}-level"), "statements": {one: given(f"{side}-{one.value}") for one in Statement}}
        )
        for side in _LABEL_BY_SIDE
    }
    chosen = next(choice for choice in _LABEL_BY_CHOICE if choice == given("chosen"))
    workspace().comparisons.answer(comparison_id, participant, sheet.pair, **ratings, chosen=chosen)
    _go_to_pair(None)
