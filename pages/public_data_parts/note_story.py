"""A note's story on the screen: sentences, its ratings, the score after each rating, and what changed its status."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from crowdnotes.bridging.thresholds import THRESHOLDS
from crowdnotes.domain.supernote import CrowdStatus, has_insult
from crowdnotes.errors import InputError
from crowdnotes.public_data.database import reading
from crowdnotes.public_data.note_statuses import Verdicts, verdicts
from crowdnotes.public_data.open_posts import post_url
from crowdnotes.public_data.replay import (
    REMOVED_COUNTS,
    Fewer,
    Levels,
    Moment,
    Replay,
    ScoreStory,
    Which,
    fewer,
    replay,
)
from crowdnotes.public_data.sides import BAR_WIDTH, Sides, sides
from crowdnotes.public_data.story import (
    ListedNote,
    Story,
    is_number_or_link,
    notes_to_begin_with,
    notes_with_words,
    story,
)
from crowdnotes.text.markdown import day, escaped, in_figures
from crowdnotes.wording import plural
from pages.algorithm_parts.charts import raters_by_side
from pages.common.chart_card import picture_card, table_with_csv
from pages.common.charts import shades, stacked
from pages.common.components import badge, outside_text, rules_link, web_link
from pages.common.times import moment
from pages.public_data_parts.open_posts import SHOW_INSULTS_KEY, words_of
from pages.public_data_parts.time_charts import ratings_by_side, score_by_rating
from pages.supernote_parts.given_notes import STATUS_COLOURS

_MAX_INPUT_CHARACTERS = 280
_BAR_HEIGHT, _CHART_HEIGHT = 38, 200  # pixels
_MAX_CHANGES_UNFOLDED = 5  # changes of status; more are folded
_NOTE_KEY = "note"


def note_story(index: Path) -> None:
    """Ask for a note and draw its story."""
    version = index.stat().st_mtime
    wanted = st.text_input(
        "Find a note",
        placeholder="A note's number, a post's link, or words of a note",
        key=_NOTE_KEY,
        max_chars=_MAX_INPUT_CHARACTERS,
        bind="query-params",
    )
    if not wanted.strip():
        _draw_suggested_notes(index, version)
        found = _load_sides(str(index), version)
        if found is not None:
            _draw_two_sides(found)
        return
    if not is_number_or_link(wanted):
        _draw_search_results(index, wanted)
        return
    try:
        story = _load_story(str(index), version, wanted)
    except InputError as error:
        st.info(escaped(str(error)), icon=":material/info:")
        _draw_suggested_notes(index, version)
        return
    _draw_story_text(story)
    if story.score is None:
        st.info(escaped(story.score_not_run), icon=":material/info:")
    else:
        _draw_story_charts(story, story.score, THRESHOLDS.helpful_intercept)
        _draw_fewer_ratings(index, version, story)
    _draw_x_record(story)


@st.cache_data(show_spinner=False, max_entries=32)
def _load_story(index: str, version: float, wanted: str) -> Story:
    del version
    with reading(Path(index)) as connection:
        return story(connection, wanted)


@st.cache_data(show_spinner=False, max_entries=4)
def _load_suggested_notes(index: str, version: float) -> dict[str, list[ListedNote]]:
    del version
    with reading(Path(index)) as connection:
        return notes_to_begin_with(connection)


def _open_note(note: int) -> None:
    st.session_state[_NOTE_KEY] = str(note)


def _close_note() -> None:
    st.session_state[_NOTE_KEY] = ""


def _draw_suggested_notes(index: Path, version: float) -> None:
    counted = _load_verdicts(str(index), version)
    if counted is not None:
        with st.container(border=True, gap="xsmall", key="verdicts"):
            st.markdown(f"**{escaped(counted.sentence)}**")
            with st.expander("How sure is that, and what does X say?", icon=":material/rule:"):
                for said in filter(None, [counted.raters, counted.about_x, counted.about_line, counted.about_power]):
                    st.markdown(f":small[{escaped(said)}]")
    for name, notes in _load_suggested_notes(str(index), version).items():
        if notes:
            st.caption(name)
            _draw_note_buttons(notes, name)


def _draw_two_sides(found: Sides) -> None:
    bars = [
        (
            (place + 0.5) * BAR_WIDTH,
            f"{place * BAR_WIDTH:.1f} to {(place + 1) * BAR_WIDTH:.1f}".replace("-", "−"),
            many,
        )
        for place, many in found.bars.items()
    ]
    picture_card(
        "sides",
        title="The two sides",
        sentence=found.sentence,
        draw=lambda key: raters_by_side(bars, height=_CHART_HEIGHT, alt=f"The two sides. {found.sentence}", key=key),
        rows={"Viewpoint of the rater (fᵤ)": [place for _, place, _ in bars], "Raters": [n for _, _, n in bars]},
        file="sides",
        foot=["CrowdNotes, raters in X's public data; A and B are only names"],
    )
    with st.expander("What are the sides about?", icon=":material/groups:"):
        st.markdown(
            "Are they parties? The data does not say: the sides come from who agrees with whom. These notes "
            "divide them most."
        )
        for name, notes in (
            ("Liked most by side A:", found.minus),
            ("Liked most by side B:", found.plus),
            ("Liked about as much by both, highest scores first:", found.across),
        ):
            st.caption(name if notes else f"{name} too few notes in this data.")
            _draw_note_buttons(notes, name)


def _draw_search_results(index: Path, words: str) -> None:
    with reading(index) as connection:
        found = notes_with_words(connection, words)
    st.caption(
        "Notes with these words, most ratings first:"
        if found
        else "No note has these words. A note's number or a post's link works too."
    )
    _draw_note_buttons(found)


def _draw_note_buttons(notes: Sequence[ListedNote], place: str = "") -> None:
    with st.container(gap="xxsmall"):
        for note, ratings, text in notes:
            st.button(
                escaped(f"{words_of(text)} ({plural(ratings, '{n:,} rating', '{n:,} ratings')})"),
                key=f"open-{place}{note}",
                on_click=_open_note,
                args=(note,),
                type="tertiary",
                icon=":material/auto_stories:",
            )


@st.cache_data(show_spinner=False, max_entries=4)
def _load_verdicts(index: str, version: float) -> Verdicts | None:
    del version
    with reading(Path(index)) as connection:
        return verdicts(connection)


@st.cache_data(show_spinner=False, max_entries=4)
def _load_sides(index: str, version: float) -> Sides | None:
    del version
    with reading(Path(index)) as connection:
        return sides(connection)


@st.cache_data(show_spinner=False, max_entries=64)
def _replay_fewer_ratings(
    index: str, version: float, note: int, misleading: bool, taken: int, which: Which
) -> Fewer | None:
    del version
    with reading(Path(index)) as connection:
        replayed = replay(connection, note, misleading)
    return fewer(replayed, taken, which) if isinstance(replayed, Replay) else None


@st.fragment
def _draw_fewer_ratings(index: Path, version: float, story: Story) -> None:
    """Draw whether the status changes without some ratings."""
    with st.container(border=True, gap="xsmall", key="story-fewer"):
        st.markdown("**What if a few ratings were missing?**")
        with st.container(horizontal=True):
            taken = st.segmented_control("Take away", REMOVED_COUNTS, default=5, required=True, key="taken")
            which = st.segmented_control(
                "Which ratings", list(Which), default=Which.RANDOM, required=True, key="which", format_func=str
            )
        found = _replay_fewer_ratings(
            str(index), version, story.note, story.misleading is not False, taken or 5, which or Which.RANDOM
        )
        st.markdown(f"**{escaped(found.sentence if found else 'It has no more ratings than that.')}**")


def _draw_story_text(story: Story) -> None:
    st.button("All notes", icon=":material/arrow_back:", type="tertiary", on_click=_close_note)
    with st.container(border=True, key="story-in-words"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if story.score is not None:
                status = story.score.now.status.shown
                label = f"by these ratings it would be {status.as_text}"
                st.markdown(badge(STATUS_COLOURS[CrowdStatus(status.value)], "", label), width="content")
            if story.on_x:
                st.markdown(badge("gray", "", f"on X {story.on_x[-1].as_text}"), width="content")
            if story.sentences is not None:
                st.caption(escaped(story.sentences.beginning), width="content")
        if has_insult(story.text) and not st.session_state.get(SHOW_INSULTS_KEY):
            st.caption("The note's words are hidden: they insult people.")
        elif story.text:
            outside_text(story.text, look="quote", key=f"story-note-{story.note}")
        _draw_key_figures(story)
        if story.sentences is not None:
            if story.sentences.sides:
                st.markdown(f"**{escaped(story.sentences.sides)}**")
            with st.expander("Why, and what X says", icon=":material/info:"):
                for said in story.sentences.details:
                    st.markdown(f":small[{escaped(said)}]")
        if story.post is not None:
            web_link("The post on X", post_url(story.post))
    others = [note for note in story.notes_on_post if note.note != story.note]
    if others:
        with st.expander(
            plural(len(others), "{n} other note on this post", "{n} other notes on this post"), icon=":material/notes:"
        ):
            for note in others:
                st.button(
                    escaped(
                        f"{words_of(note.text)} ({plural(note.ratings, '{n:,} rating', '{n:,} ratings')}, "
                        f"{note.as_text})"
                    ),
                    key=f"open-{note.note}",
                    on_click=_open_note,
                    args=(note.note,),
                    type="tertiary",
                )


def _draw_key_figures(story: Story) -> None:
    """Draw the score, how many rated, and how many of each side found the note helpful."""
    figures = [("Ratings", f"{story.levels.n:,}", "")]
    if story.score is not None:
        now, line = story.score.now, THRESHOLDS.helpful_intercept
        counted = now.minus.n + now.plus.n
        figures = [
            ("Score", "none" if now.intercept is None else in_figures(now.intercept, line), f"{line:.2f} needed"),
            ("Ratings", f"{now.ratings:,}", f"{counted:,} count"),
            *(
                (f"{_LABEL_BY_SIDE[name]}: helpful", f"{side.helpful:,} of {side.n:,}", "")
                for name, side in (("minus", now.minus), ("plus", now.plus))
            ),
        ]
    with st.container(horizontal=True, gap="large", key="story-figures"):
        for label, value, about in figures:
            with st.container(gap=None, width="content"):
                st.metric(label, value)
                if about:
                    st.caption(about)


def _draw_story_charts(story: Story, score: ScoreStory, line: float) -> None:
    sentences = story.sentences
    if sentences is None:
        return
    foot = [f"CrowdNotes, note {story.note} in X's public data", score.held]
    moments = score.moments
    times = len(score.changes)
    changed = plural(times, "Its status changed once.", "Its status changed {n:,} times.") if times else ""
    if moments:
        now = score.now
        reached = "It has no score." if now.intercept is None else f"It is now {in_figures(now.intercept, line)}."
        scored = f"{reached} {changed}".strip()
        by_side = " ".join(
            f"{_LABEL_BY_SIDE[name]}: {side.helpful:,} of {side.n:,} found it helpful."
            for name, side in (("minus", now.minus), ("plus", now.plus))
        )
        picture_card(
            "story-score",
            title="The score as ratings came in",
            sentence=scored,
            draw=lambda key: score_by_rating(score, line, alt=f"The score as ratings came in. {scored}", key=key),
            rows={
                "Ratings": [one.ratings for one in moments],
                "Score": [_format_score(one.intercept) for one in moments],
                "Viewpoint": [_format_score(one.factor) for one in moments],
                "Status by these ratings": [one.status.as_text for one in moments],
            },
            file=f"score-{story.note}",
            foot=foot,
        )
        picture_card(
            "story-ratings",
            title="Ratings so far, by side and level",
            sentence=by_side,
            draw=lambda key: ratings_by_side(moments, alt=f"Ratings so far, by side and level. {by_side}", key=key),
            rows=_build_ratings_table(moments),
            file=f"ratings-{story.note}",
            foot=foot,
        )
    if score.first is None or not sentences.first:
        st.caption(escaped(story.first_not_run or "It has exactly 50 ratings, so there are no later ones."))
    else:
        first, now = score.first, score.now
        picture_card(
            "story-first",
            title="The first ratings and all of them",
            sentence=sentences.first,
            draw=lambda key: _draw_first_ratings(first, now, sentences.first, key),
            rows=_build_ratings_table((first, now)),
            file=f"first-{story.note}",
            foot=foot,
        )


def _draw_first_ratings(first: Moment, now: Moment, sentence: str, key: str) -> list[tuple[str, str]]:
    names = [f"first {first.ratings:,}", f"all {now.ratings:,}"]
    sides = [side for side in _LABEL_BY_SIDE if side in ("minus", "plus") or getattr(now, side).n]
    bars = [f"{_LABEL_BY_SIDE[side]}, {name}" for side in sides for name in names]
    counted: list[Levels] = [getattr(one, side) for side in sides for one in (first, now)]
    parts = [
        ("Helpful", [levels.helpful for levels in counted]),
        ("Somewhat helpful", [levels.somewhat for levels in counted]),
        ("Not helpful", [levels.not_helpful for levels in counted]),
    ]
    entries = shades([name for name, _ in parts])
    stacked(
        bars,
        parts,
        colours=[colour for _, colour in entries],
        tones=[None, None, None],
        unit="ratings",
        shares=True,
        height=_BAR_HEIGHT * len(bars),
        alt=f"The first ratings and all of them. {sentence}",
        key=key,
    )
    return entries


def _build_ratings_table(moments: tuple[Moment, ...]) -> dict[str, list[object]]:
    rows: dict[str, list[object]] = {"Ratings": [one.ratings for one in moments]}
    for side, label in _LABEL_BY_SIDE.items():
        for level, name in (
            ("helpful", "Helpful"),
            ("somewhat", "Somewhat helpful"),
            ("not_helpful", "Not helpful"),
        ):
            levels: list[Levels] = [getattr(one, side) for one in moments]
            rows[f"{label}: {name}"] = [getattr(one, level) for one in levels]
    return rows


_LABEL_BY_SIDE = {
    "minus": "Side A",
    "plus": "Side B",
    "unknown": "Side not known",
    "left_out": "Groups that X leaves out",
}


def _draw_x_record(story: Story) -> None:
    """Each change of status, and what X recorded."""
    changes = story.score.changes if story.score is not None else ()
    if changes:
        st.header("Changes of status", anchor=False)
        folded = len(changes) > _MAX_CHANGES_UNFOLDED
        with st.expander(f"All {len(changes):,} changes, with reasons") if folded else st.container():
            table_with_csv(
                {
                    "When": [moment(one.at) for one in changes],
                    "Rating": [one.ratings for one in changes],
                    "New status by these ratings": [one.after.as_text for one in changes],
                    "Why": [one.why for one in changes],
                    "Rule's name at X": [one.decided_by.value for one in changes],
                },
                key="story-changes",
                file=f"changes-{story.note}",
            )
    st.header("What X recorded", anchor=False)
    st.caption(
        "X says “currently rated helpful” (CRH) for shown, “currently rated not helpful” (CRNH), and “needs "
        "more ratings” (NMR) for waiting."
    )
    if not story.on_x:
        st.caption(escaped(story.on_x_not_run))
    else:
        for one in story.on_x:
            then = one.recomputed
            recomputed = f"By the ratings until then it would have been {then.status.as_text}." if then else ""
            st.markdown(escaped(f"{day(one.at)}: {one.as_text}. {recomputed}".strip()))
    if story.score is not None:
        with st.expander(
            plural(len(story.score.not_applied), "{n} rule was not applied", "{n} rules were not applied"),
            icon=":material/rule:",
        ):
            for rule in story.score.not_applied:
                st.markdown(f"- {escaped(rule)}")

    rules_link()


def _format_score(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
