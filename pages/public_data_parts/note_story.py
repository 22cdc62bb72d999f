"""A note's story on the screen: in words, as it was rated, the score after each rating, and what changed its status."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from crowdnotes.errors import InputError
from crowdnotes.public_data.database import reading
from crowdnotes.public_data.note_statuses import Verdicts, verdicts
from crowdnotes.public_data.open_posts import post_url
from crowdnotes.public_data.replay import TAKEN, Fewer, Levels, Moment, Replay, ScoreStory, Which, fewer, replay
from crowdnotes.public_data.sides import WIDTH, Sides, sides
from crowdnotes.public_data.story import (
    FewWords,
    Story,
    is_number_or_link,
    notes_to_begin_with,
    notes_with_words,
    story,
)
from crowdnotes.settings_sections import BridgingSettings
from crowdnotes.text.markdown import clip, day, escaped
from crowdnotes.wording import say
from pages.algorithm_parts.charts import raters_by_side
from pages.common.chart_card import picture_card, table_with_csv
from pages.common.charts import shades, stacked
from pages.common.components import rules_link, web_link
from pages.common.session import workspace
from pages.common.times import moment
from pages.public_data_parts.time_charts import ratings_by_side, score_by_rating

_MOST = 280
_ROW, _BARS = 38, 200  # pixels
_FOLDED = 5  # changes of status; more are told when they are asked for
_KEY = "note"


def note_story(index: Path) -> None:
    """Ask for a note and tell its story."""
    settings = workspace().settings.bridging
    version = index.stat().st_mtime
    wanted = st.text_input(
        say("note_story.label"),
        placeholder=say("note_story.placeholder"),
        key=_KEY,
        max_chars=_MOST,
        bind="query-params",
    )
    if not wanted.strip():
        _offer(index, version)
        found = _sides(str(index), version)
        if found is not None:
            _two_sides(found)
        return
    if not is_number_or_link(wanted):
        _search(index, wanted)
        return
    try:
        told = _story(str(index), version, wanted, settings)
    except InputError as error:
        st.info(escaped(str(error)), icon=":material/info:")
        _offer(index, version)
        return
    _in_words(told)
    if told.score is None:
        st.info(escaped(told.score_not_run), icon=":material/info:")
    else:
        _pictures(told, told.score, settings.helpful_intercept)
        _less(index, version, told)
    _record(told)


@st.cache_data(show_spinner=False, max_entries=32)
def _story(index: str, version: float, wanted: str, _settings: BridgingSettings) -> Story:
    del version
    with reading(Path(index)) as connection:
        return story(connection, wanted, _settings)


@st.cache_data(show_spinner=False, max_entries=4)
def _offered(index: str, version: float) -> dict[str, list[FewWords]]:
    del version
    with reading(Path(index)) as connection:
        return notes_to_begin_with(connection)


def _open(note: int) -> None:
    st.session_state[_KEY] = str(note)


def _offer(index: Path, version: float) -> None:
    counted = _verdicts(str(index), version, workspace().settings.bridging)
    if counted is not None:
        with st.container(border=True, gap="xsmall", key="verdicts"):
            st.markdown(f"**{escaped(counted.sentence)}**")
            for said in filter(None, [counted.about_x, counted.about_line, counted.about_power]):
                st.markdown(f":small[{escaped(said)}]")
    for name, notes in _offered(str(index), version).items():
        if notes:
            st.caption(say(name))
            _notes(notes, name)


def _two_sides(found: Sides) -> None:
    bars = [
        (
            (place + 0.5) * WIDTH,
            say("sides.from_to", low=place * WIDTH, high=(place + 1) * WIDTH).replace("-", "−"),
            many,
        )
        for place, many in found.bars.items()
    ]
    picture_card(
        "sides",
        title=say("sides.title"),
        sentence=found.sentence,
        draw=lambda key: raters_by_side(bars, height=_BARS, alt=f"{say('sides.title')}. {found.sentence}", key=key),
        rows={say("sides.polarity"): [place for _, place, _ in bars], say("sides.raters"): [n for _, _, n in bars]},
        file="sides",
        foot=[say("sides.foot")],
    )
    with st.expander(say("sides.what"), icon=":material/groups:"):
        st.markdown(say("sides.no_names"))
        for name, notes in (
            (say("sides.minus"), found.minus), (say("sides.plus"), found.plus), (say("sides.across"), found.across),
        ):  # fmt: skip
            st.caption(name if notes else f"{name} {say('sides.too_few')}")
            _notes(notes, name)


def _search(index: Path, words: str) -> None:
    with reading(index) as connection:
        found = notes_with_words(connection, words)
    st.caption(say("note_story.found" if found else "note_story.not_found"))
    _notes(found)


def _notes(notes: Sequence[FewWords], place: str = "") -> None:
    with st.container(gap="xxsmall"):
        for note, ratings, text in notes:
            st.button(
                escaped(f"{clip(text, 90)} ({say('note_story.ratings', n=ratings)})"),
                key=f"open-{place}{note}",
                on_click=_open,
                args=(note,),
                type="tertiary",
                icon=":material/auto_stories:",
            )


@st.cache_data(show_spinner=False, max_entries=4)
def _verdicts(index: str, version: float, _settings: BridgingSettings) -> Verdicts | None:
    del version
    with reading(Path(index)) as connection:
        return verdicts(connection, _settings)


@st.cache_data(show_spinner=False, max_entries=4)
def _sides(index: str, version: float) -> Sides | None:
    del version
    with reading(Path(index)) as connection:
        return sides(connection)


@st.cache_data(show_spinner=False, max_entries=64)
def _fewer(
    index: str, version: float, note: int, misleading: bool, taken: int, which: Which, _settings: BridgingSettings
) -> Fewer | None:
    del version
    with reading(Path(index)) as connection:
        replayed = replay(connection, note, misleading, _settings)
    return fewer(replayed, taken, which) if isinstance(replayed, Replay) else None


@st.fragment
def _less(index: Path, version: float, told: Story) -> None:
    """Some ratings taken away: does the status change?"""
    with st.container(border=True, gap="xsmall", key="story-fewer"):
        st.caption(say("fewer.title"))
        with st.container(horizontal=True):
            taken = st.segmented_control(say("fewer.how_many"), TAKEN, default=5, required=True, key="taken")
            which = st.segmented_control(
                say("fewer.which"), list(Which), default=Which.RANDOM, required=True, key="which", format_func=str
            )
        found = _fewer(
            str(index), version, told.note, told.misleading is not False, taken or 5, which or Which.RANDOM,
            workspace().settings.bridging,
        )  # fmt: skip
        st.markdown(f"**{escaped(found.sentence if found else say('fewer.none_left'))}**")
        st.caption(say("fewer.held"))


def _in_words(told: Story) -> None:
    with st.container(border=True, key="story-in-words"):
        if told.sentences is not None:
            short = told.sentences.short
            st.markdown(escaped(short))
            if more := told.paragraph.removeprefix(short).strip():
                st.markdown(f":small[{escaped(more)}]")
        if told.post is not None:
            web_link(say("note_story.post_on_x"), post_url(told.post))
    others = [note for note in told.notes_on_post if note.note != told.note]
    if others:
        with st.expander(say("note_story.others", n=len(others)), icon=":material/notes:"):
            for note in others:
                st.button(
                    escaped(f"{clip(note.text, 90)} ({say('note_story.ratings', n=note.ratings)}, {note.in_words})"),
                    key=f"open-{note.note}",
                    on_click=_open,
                    args=(note.note,),
                    type="tertiary",
                )


def _pictures(told: Story, score: ScoreStory, line: float) -> None:
    sentences = told.sentences
    if sentences is None:
        return
    foot = [say("note_story.foot", note=told.note), score.held]
    moments = score.moments
    changed = say("note_story.changed", n=len(score.changes)) if score.changes else ""
    if moments:
        picture_card(
            "story-score",
            title=say("note_story.score"),
            sentence=f"{sentences.score} {changed}".strip(),
            draw=lambda key: score_by_rating(score, line, alt=f"{say('note_story.score')}. {sentences.score}", key=key),
            rows={
                say("note_story.after"): [one.ratings for one in moments],
                say("note_story.score_column"): [_number(one.intercept) for one in moments],
                say("note_story.polarity"): [_number(one.factor) for one in moments],
                say("note_story.status"): [one.status.in_words for one in moments],
            },
            file=f"score-{told.note}",
            foot=foot,
        )
        picture_card(
            "story-ratings",
            title=say("note_story.by_side"),
            sentence=f"{sentences.sides} {say('note_story.sides_are')}".strip(),
            draw=lambda key: ratings_by_side(moments, alt=f"{say('note_story.by_side')}. {sentences.sides}", key=key),
            rows=_ratings_table(moments),
            file=f"ratings-{told.note}",
            foot=foot,
        )
    if score.first is None or not sentences.first:
        st.caption(escaped(told.first_not_run or say("note_story.no_more_than_first")))
    else:
        first, now = score.first, score.now
        picture_card(
            "story-first",
            title=say("note_story.first"),
            sentence=sentences.first,
            draw=lambda key: _first(first, now, sentences.first, key),
            rows=_ratings_table((first, now)),
            file=f"first-{told.note}",
            foot=foot,
        )


def _first(first: Moment, now: Moment, sentence: str, key: str) -> list[tuple[str, str]]:
    names = [say("note_story.first_ratings", n=first.ratings), say("note_story.all_ratings", n=now.ratings)]
    sides = [(say("note_story.minus"), "minus"), (say("note_story.plus"), "plus")]
    if now.unknown.n:
        sides.append((say("note_story.unknown"), "unknown"))
    bars = [f"{side}, {name}" for side, _ in sides for name in names]
    counted: list[Levels] = [getattr(one, side) for _, side in sides for one in (first, now)]
    parts = [
        (say("note_story.helpful"), [levels.helpful for levels in counted]),
        (say("note_story.somewhat"), [levels.somewhat for levels in counted]),
        (say("note_story.not_helpful"), [levels.not_helpful for levels in counted]),
    ]
    entries = shades([name for name, _ in parts])
    stacked(
        bars,
        parts,
        colours=[colour for _, colour in entries],
        tones=[None, None, None],
        unit=say("note_story.unit"),
        shares=True,
        height=_ROW * len(bars),
        alt=f"{say('note_story.first')}. {sentence}",
        key=key,
    )
    return entries


def _ratings_table(moments: tuple[Moment, ...]) -> dict[str, list[object]]:
    rows: dict[str, list[object]] = {say("note_story.after"): [one.ratings for one in moments]}
    for side in ("minus", "plus", "unknown"):
        for level, name in (
            ("helpful", say("note_story.helpful")),
            ("somewhat", say("note_story.somewhat")),
            ("not_helpful", say("note_story.not_helpful")),
        ):
            levels: list[Levels] = [getattr(one, side) for one in moments]
            rows[f"{_SIDES[side]()}: {name}"] = [getattr(one, level) for one in levels]
    return rows


_SIDES = {
    "minus": lambda: say("note_story.minus"),
    "plus": lambda: say("note_story.plus"),
    "unknown": lambda: say("note_story.unknown"),
}


def _record(told: Story) -> None:
    """Each change of status, and what X recorded."""
    changes = told.score.changes if told.score is not None else ()
    if changes:
        st.header(say("note_story.changes"), anchor=False)
        folded = len(changes) > _FOLDED
        with st.expander(say("note_story.all_changes", n=len(changes))) if folded else st.container():
            table_with_csv(
                {
                    say("note_story.when"): [moment(one.at) for one in changes],
                    say("note_story.rating"): [one.ratings for one in changes],
                    say("note_story.became"): [one.after.in_words for one in changes],
                    say("note_story.why"): [one.why for one in changes],
                    say("note_story.rule"): [one.decided_by.value for one in changes],
                },
                key="story-changes",
                file=f"changes-{told.note}",
            )
    st.header(say("note_story.on_x"), anchor=False)
    st.caption(say("note_story.x_words"))
    if not told.on_x:
        st.caption(escaped(told.on_x_not_run))
    else:
        for one in told.on_x:
            then = one.recomputed
            beside = say("note_story.by_these", status=then.status.in_words) if then else ""
            st.markdown(escaped(f"{day(one.at)}: {one.in_words}. {beside}".strip()))
    if told.score is not None:
        with st.expander(say("note_story.not_applied", n=len(told.score.not_applied)), icon=":material/rule:"):
            for rule in told.score.not_applied:
                st.markdown(f"- {escaped(rule)}")

    rules_link()


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
